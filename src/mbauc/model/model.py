"""A trained ranker: weights, threshold, and how raw rows become the columns that the weights are for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.estimators.additive.classifier import AdditiveAUCClassifier
from mbauc.estimators.additive.scorer import AdditiveScorer
from mbauc.estimators.capabilities import is_quadratic
from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.pairwise import PairwiseAUCClassifier
from mbauc.estimators.scorer import LinearScorer
from mbauc.estimators.solved_ranker import SolvedRanker
from mbauc.losses import Region
from mbauc.metrics.calibration import Calibration
from mbauc.model.hashed_names import with_hashed_names
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.objective import describe_measure, describe_objective, region_of
from mbauc.model.terms import ModelTerms
from mbauc.model.threshold import Threshold
from mbauc.pairs.moments import PairMoments
from mbauc.rows.labels import has_label_sets
from mbauc.rows.parts.mapped import MappedSource
from mbauc.rows.source import GroupedScores, ScoredBlock, score_blocks

Array = NDArray[np.float64]

#: Settings that say how a fit runs and not what it finds; they stay on the machine that they were given on.
RUNNING = ("n_jobs", "verbose")


@dataclass(frozen=True)
class RankerModel:
    r"""A trained model with its preprocessing, as stored in a file ``.mbauc``.

    Attributes
    ----------
    layout : TableLayout or LibsvmLayout
        Encoding of raw rows as columns; for an additive model, as numbers and codes.
    classes : tuple of two labels
        Labels as in the data, negative first; a class of several labels is a tuple.
    coef : ndarray of shape (d,)
        Weights of the columns, or of the features of an additive model. Read-only.
    intercept, slope : float
        Scores are x'w + intercept; log-odds are slope times score.
    l1, l2 : float
        Penalties.
    threshold : Threshold or None
        Decision threshold, if one was set.
    moments : PairMoments or None
        Moments of the training data, needed for updates and merges.
    settings : dict
        Parameters of the estimator.
    trained_on : dict
        Information about the training: files, rows, time, and held-out metrics.
    path : list of dict
        Penalties tried and their held-out scores.
    terms : ModelTerms or None
        For an additive model, the encoding of columns as features (curves, levels and interactions) and their
        description; None for a linear model.
    calibration : Calibration or None
        Map from scores to log-odds, used instead of the slope; see :func:`mbauc.metrics.fit_calibration`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc import MBAClassifier
    >>> from mbauc.readers import TableSource
    >>> from mbauc.model import RankerModel
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
    >>> _ = path.write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,0.7\n0,c,1.0\n1,b,1.1\n")
    >>> source = TableSource(path, label="click", encode="onehot")
    >>> ranker = MBAClassifier(l2=0.1).fit_source(source)
    >>> model = RankerModel.of(ranker, source.layout, source.classes)
    >>> model.score(model.layout.encoding.transform({"site": ["b", "a"], "bid": [2.0, 2.0]})).round(2)
    array([0.75, 0.05])
    """

    layout: TableLayout | LibsvmLayout
    classes: tuple[Any, Any]
    coef: Array
    intercept: float
    slope: float
    l1: float
    l2: float
    threshold: Threshold | None = None
    moments: PairMoments | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    trained_on: dict[str, Any] = field(default_factory=dict)
    path: list[dict[str, float]] = field(default_factory=list)
    terms: ModelTerms | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        coef = np.array(self.coef, dtype=np.float64)
        size, what = self.layout.n_features, "columns"
        if self.terms is not None:
            if self.terms.features.n_columns != size:
                raise ValueError(
                    f"terms must have the layout's {size:,} columns, got {self.terms.features.n_columns:,}."
                )
            size, what = self.terms.features.n_features, "features"
        if coef.shape != (size,):
            raise ValueError(f"coef must have one weight for each of {size:,} {what}, got shape {coef.shape}.")
        if not np.isfinite(coef).all():
            place = int(np.flatnonzero(~np.isfinite(coef))[0])
            raise ValueError(f"coef must be finite, got {coef[place]} for column {place:,}.")
        coef.flags.writeable = False
        object.__setattr__(self, "coef", coef)
        for name in ("intercept", "slope"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), low=-np.inf))
        for name in ("l1", "l2"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), low=0.0))
        if len(self.classes) != 2:
            raise ValueError(f"classes must be two labels, negative first, got {self.classes!r}.")
        if self.moments is not None and self.moments.n_features != coef.size:
            raise ValueError(
                f"moments must have the model's {coef.size:,} columns, got {self.moments.n_features:,}."
            )

    @classmethod
    def of(
        cls,
        ranker: SolvedRanker | AdditiveAUCClassifier,
        layout: TableLayout | LibsvmLayout,
        classes: Any,
        **rest: Any,
    ) -> RankerModel:
        """Build a model from a fitted estimator and the layout of its raw rows.

        Parameters
        ----------
        ranker : MBAClassifier, PairwiseAUCClassifier, one of them with CV, or AdditiveAUCClassifier
            Fitted.
        layout : TableLayout or LibsvmLayout
            Encoding of raw rows as columns.
        classes : sequence of two labels
            Labels as in the data, negative first.
        **rest
            Other attributes.
        """
        scorer = ranker.scorer()
        if isinstance(ranker, AdditiveAUCClassifier):
            rest.setdefault("terms", ModelTerms.of(ranker, layout.feature_names()))
        return cls(
            layout,
            tuple(classes),
            scorer.coef,
            scorer.intercept,
            float(ranker.slope_),
            float(getattr(ranker, "l1_", 0.0)),
            float(ranker.l2_),
            moments=getattr(ranker, "moments_", None),
            **rest,
        )

    @property
    def n_features(self) -> int:
        """Number of weights."""
        return int(self.coef.size)

    def feature_names(self) -> list[str]:
        """Names of the features; hashed columns list the values in them, if these were recorded."""
        if self.terms is not None:
            return self.terms.features.feature_names()
        return with_hashed_names(self.layout.feature_names(), self.trained_on)

    def largest_weights(self) -> Iterator[tuple[int, str, float]]:
        """Columns, names and weights by decreasing absolute weight, without zeros."""
        names = self.feature_names()
        order = np.argsort(-np.abs(self.coef), kind="stable")
        return ((int(k), names[k], float(self.coef[k])) for k in order if self.coef[k])

    @property
    def labels(self) -> NDArray[Any]:
        """The two labels, negative first; 0 and 1 if a class has several labels."""
        if has_label_sets(self.classes):
            return np.array([0, 1])
        if len({type(side) for side in self.classes}) == 1:
            return np.array(self.classes)
        labels = np.empty(2, dtype=object)  # a number and a text would become two texts
        labels[:] = self.classes
        return labels

    @property
    def scorer(self) -> LinearScorer:
        """The part of the model that computes scores, with :attr:`labels`."""
        weights = (self.coef, self.intercept, self.slope, self.labels)
        if self.terms is not None:
            return AdditiveScorer(*weights, features=self.terms.features, calibration=self.calibration)
        return LinearScorer(*weights, calibration=self.calibration)

    @property
    def cut(self) -> float:
        """Score above which a row is predicted positive: the threshold, or 0 (probability ½)."""
        return 0.0 if self.threshold is None else float(self.threshold.value)

    def score(self, X: Any) -> Array:
        """Scores of rows that are encoded as the model's columns."""
        self._check_columns("X", X.shape[1])
        return self.scorer.scores(X)

    def _check_columns(self, name: str, came: int) -> None:
        columns = self.layout.n_features
        if came != columns:
            raise ValueError(f"{name} must have the model's {columns:,} columns, got {came:,}.")

    def scales(self) -> tuple[Array, bool]:
        """Divisors of the numeric columns, and whether they are standard deviations."""
        return self.layout.scales() if self.terms is None else (np.ones(self.n_features), False)

    def probability(self, scores: Array) -> Array:
        """Probability of the positive class for scores."""
        return self.scorer.probability(scores)

    def label(self, scores: Array) -> NDArray[Any]:
        """Predicted labels for scores: positive above :attr:`cut`."""
        return self.scorer.predict(scores, self.cut)

    def score_blocks(self, source: Any) -> Iterator[ScoredBlock | GroupedScores]:
        """Labels, scores, weights and groups of the blocks of a source."""
        self._check_columns("the source", source.n_features)
        if self.terms is not None:
            source = MappedSource(source, self.terms.features, None)
        for block in score_blocks(source, self.coef):
            yield block._replace(scores=block.scores + self.intercept)

    def with_threshold(
        self, threshold: Threshold | None, files: list[dict[str, Any]] | None = None
    ) -> RankerModel:
        """Copy of the model with another threshold; ``files`` lists the data it was chosen on, if known."""
        return replace(self, threshold=threshold, trained_on=self._found_on("threshold_files", files))

    def with_calibration(
        self, calibration: Calibration | None, files: list[dict[str, Any]] | None = None
    ) -> RankerModel:
        """Copy of the model with another calibration; scores and threshold do not change.

        Parameters
        ----------
        calibration : Calibration or None
            Map from scores to log-odds; None for that of the training.
        files : list of dict, optional
            Data to which it was fitted, if known.
        """
        return replace(self, calibration=calibration, trained_on=self._found_on("calibration_files", files))

    def _found_on(self, name: str, files: list[dict[str, Any]] | None) -> dict[str, Any]:
        record = {key: value for key, value in self.trained_on.items() if key != name}
        return record | {name: files} if files else record

    @property
    def current_calibration(self) -> Calibration:
        """The calibration in use: ``calibration``, or the slope of the training."""
        return self.calibration or Calibration("moments", self.slope, share=self._trained_share())

    def _trained_share(self) -> float | None:
        """Share of positives in the training; None where nobody knows."""
        plus, minus = (self.trained_on.get(name) for name in ("positives", "negatives"))
        if self.moments is not None:
            plus, minus = self.moments.weights
        elif getattr(self.layout, "weight", None) is not None and self.settings.get("weights") != "frequency":
            return None  # the record has effective sizes, and not the weights
        if not (isinstance(plus, float | int) and isinstance(minus, float | int) and plus > 0 and minus > 0):
            return None
        rate = self.settings.get("negative_rate", 1.0)
        return float(plus / (plus + minus / rate))

    def with_share(self, share: float) -> RankerModel:
        """Copy of the model for another base rate; only probabilities change.

        Log-odds are shifted by the difference of the prior log-odds. This is exact if the distribution within
        each class is unchanged, as when negatives were downsampled for training.

        Parameters
        ----------
        share : float
            Base rate (share of positives) in production, between 0 and 1.
        """
        return replace(self, calibration=self.current_calibration.with_share(share))

    @property
    def is_quadratic(self) -> bool:
        """Whether the model minimises the squared loss over the whole ROC curve, and so can have moments."""
        return is_quadratic(self.settings)

    @property
    def group(self) -> str | None:
        """Column of the groups for ranking within groups, if there is one."""
        return getattr(self.layout, "group", None)

    def describe_objective(self) -> str:
        """The objective of the training, in words."""
        return describe_objective(self.settings, self.group)

    @property
    def region(self) -> Region:
        """The requested region of the ROC curve; cross-validation may have fitted a larger one."""
        asked = self.trained_on.get("asked")
        return region_of(asked if isinstance(asked, dict) else self.settings)

    def describe_measure(self) -> str:
        """The held-out metric of the training, in words."""
        return describe_measure(self.region, self.group)

    def describe_asked(self) -> str | None:
        """The requested objective if the training minimised another one, in words; otherwise None."""
        if self.region == region_of(self.settings):
            return None
        return f"{self.describe_measure()}, for which this objective was best on held-out rows"

    def estimator_settings(self) -> dict[str, Any]:
        """Settings that are parameters of the estimator, except :data:`RUNNING`."""
        known = set(self._kind()().get_params()) - set(RUNNING)
        return {name: value for name, value in self.settings.items() if name in known}

    def estimator(self) -> MBAClassifier | PairwiseAUCClassifier | AdditiveAUCClassifier:
        """Convert to a fitted scikit-learn estimator, for rows that are encoded as the model's columns.

        With moments it can be updated (``partial_fit``) and has standard errors. ``solution_`` and ``n_iter_``
        are not available. ``predict`` uses the threshold 0.
        """
        settings, penalties = self.estimator_settings(), {"l1": self.l1, "l2": self.l2}
        if self.terms is not None:
            ranker = AdditiveAUCClassifier.restore(self.scorer, settings)  # type: ignore[arg-type]
            for name, values in self.terms.arrays().items():
                setattr(ranker, f"{name}_", values)
            return ranker
        if not self.is_quadratic:
            return PairwiseAUCClassifier.restore(self.scorer, settings, **penalties)
        return MBAClassifier.restore(self.scorer, settings, moments=self.moments, **penalties)

    def _kind(self) -> type[MBAClassifier | PairwiseAUCClassifier | AdditiveAUCClassifier]:
        if self.terms is not None:
            return AdditiveAUCClassifier
        return MBAClassifier if self.is_quadratic else PairwiseAUCClassifier
