"""TableRanker: a table in, the best ranker out, with nothing set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from mbauc.checks import abbreviate, check_flag, check_number, check_share
from mbauc.defaults import BINS, HOLD_OUT, SEARCH_ROWS, SEED, TABLE_LOSS, FeatureChoice
from mbauc.errors import NotTestedWarning
from mbauc.estimators.additive.explain import Explanation
from mbauc.estimators.additive.settings import check_search
from mbauc.estimators.additive.terms import AdditiveTerms
from mbauc.estimators.scorer import LinearScorer
from mbauc.estimators.validation import restore_on_failure
from mbauc.losses import PairLoss
from mbauc.metrics.intervals import AucInterval, Weights
from mbauc.model.explaining import explain_files
from mbauc.model.hold_out import HoldOut, choose_hold_out
from mbauc.model.layout import TableLayout
from mbauc.model.model import RankerModel
from mbauc.model.model_file import load_model, save_model
from mbauc.model.promise import find_promise
from mbauc.model.scoring import score_files
from mbauc.model.testing import Tested
from mbauc.model.training import Training, train
from mbauc.ranker.description import describe_ranker
from mbauc.ranker.tables import LabelledTable, is_path, name_columns
from mbauc.readers.table.columns.arguments import check_types
from mbauc.readers.table.columns.plan import ColumnPlan
from mbauc.readers.table.source import TableSource
from mbauc.report import report_html
from mbauc.report.terms_section import model_terms
from mbauc.rows.labels import as_labels, distinct_labels, has_label_sets
from mbauc.runtime.progress import show_wait
from mbauc.runtime.seeds import integer_seed
from mbauc.runtime.warn import warn
from mbauc.store.atomic import atomic_write

Array = NDArray[np.float64]


class TableRanker(ClassifierMixin, BaseEstimator):
    """Ranker for raw tables: numbers, categories, texts, dates and missing values, without preprocessing.

    It infers the type of each column, encodes the table, selects features (linear, curves, or curves with
    interactions) and penalties by cross-validation, evaluates the model on held-out rows, and then refits it to
    all rows. :meth:`describe` reports what was done and why. ``mbauc fit`` does the same on the command line.

    Parameters
    ----------
    features : {"auto", "linear", "curves", "interactions", "fourier"}, default="auto"
        As for :class:`AdditiveAUCClassifier`.
    loss : str or PairLoss, default="auto"
        As for :class:`AdditiveAUCClassifier`. ``"auto"`` selects the loss by held-out AUC for tables of at most
        ``search_rows`` rows, and otherwise uses the squared loss, in one pass.
    types : mapping from names to kinds, optional
        Column types that override the inferred ones: ``"numeric"``, ``"category"``, ``"text"`` (short free
        text, whose frequent words become columns of codes), ``"time"``, or ``"id"`` and ``"ignore"``, which are
        not used as features.
    ignore : sequence of str, optional
        Columns not to use.
    on_error : {"stop", "skip"}, default="stop"
        Whether ``fit`` raises an error at an invalid row, or skips it.
    positive : label or collection of labels, optional
        The positive label or labels; by default the larger of two.
    interactions, bins, search_rows
        As for :class:`AdditiveAUCClassifier`.
    hold_out : "auto", "last" or float, default="auto"
        Held-out rows of the test: a random share, or the last fifth of the rows (``"last"``). ``"auto"`` takes
        the latest fifth of a table with a time, cross-validation with out-of-fold scores where rows are few,
        and otherwise a random fifth. 0 for no test.
    refit : bool, default=True
        Whether the final model is refitted to all rows, including the held-out ones.
    false_alarm : float, optional
        Upper limit of the false-positive rate of :meth:`predict`, which holds with probability ``confidence``
        (Neyman-Pearson). The threshold is set on the held-out rows, so the model is not refitted to them.
    confidence : float, default=0.95
        Probability with which the limit ``false_alarm`` holds.
    weights : {"frequency", "sampling"}, default="frequency"
        Meaning of row weights: number of equal rows, or inverse sampling probability.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample, the folds and the held-out rows.
    n_jobs, verbose
        As for :class:`MBAClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels, negative first; False and True if either class consists of several labels.
    auc_ : AucInterval or None
        Held-out AUC with its confidence interval, within groups if ``fit`` had a ``group``; None without a
        test.
    plan_ : ColumnPlan
        Type of each column, and how it was inferred.
    model_ : RankerModel
        The model as saved to a file.
    tested_ : Tested or None
        Labels and scores of the held-out rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Names of the columns, if they have any.

    See Also
    --------
    AdditiveAUCClassifier : the underlying estimator, for numbers and codes.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mbauc import TableRanker
    >>> rng = np.random.default_rng(0)
    >>> amount, country = rng.lognormal(4, 1, 4000), rng.choice(["at", "de", "fr"], 4000)
    >>> table = pd.DataFrame({"amount": amount, "country": country})
    >>> risk = np.log(amount) + 2 * (country == "fr") + rng.logistic(size=4000)
    >>> fraud = np.where(risk > 8, "fraud", "ok")
    >>> ranker = TableRanker(positive="fraud").fit(table, fraud)
    >>> ranker.auc_.auc > 0.7, ranker.classes_.tolist()
    (True, ['ok', 'fraud'])
    >>> ranker.predict_proba(table.head(2)).shape
    (2, 2)
    """

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        features: FeatureChoice = "auto",
        loss: str | PairLoss = TABLE_LOSS,
        *,
        types: Mapping[str, str] | None = None,
        ignore: Sequence[str] | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        positive: Any = None,
        interactions: int | Sequence[tuple[Any, Any]] | None = None,
        bins: int = BINS,
        search_rows: int = SEARCH_ROWS,
        hold_out: float | Literal["auto", "last"] = "auto",
        refit: bool = True,
        false_alarm: float | None = None,
        confidence: float = 0.95,
        weights: Weights = "frequency",
        random_state: Any = SEED,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.loss = loss
        self.types = types
        self.ignore = ignore
        self.on_error = on_error
        self.positive = positive
        self.interactions = interactions
        self.bins = bins
        self.search_rows = search_rows
        self.hold_out = hold_out
        self.refit = refit
        self.false_alarm = false_alarm
        self.confidence = confidence
        self.weights = weights
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # -- fitting -----------------------------------------------------------------------------------------

    @restore_on_failure
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        label: str | None = None,
        weight: str | None = None,
        time: str | None = None,
        cluster: str | None = None,
        group: str | None = None,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Infer column types, select features and penalties, test on held-out rows, and fit to all rows.

        Parameters
        ----------
        X : data frame, Arrow table, dict of columns, array, or path
            The table: a pandas or polars frame, an Arrow table, a dict or an array of numbers; or files, a
            folder or a pattern of CSV, TSV or Parquet, of any size, with ``label``.
        y : array-like of shape (n,), optional
            Labels, if they are not a column of the table.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, if not a column of the table.
        label, weight : str, optional
            Columns of the table with the labels and weights.
        time : str, optional
            Time column: the latest rows are held out for the test. It may also be a feature.
        cluster : str, optional
            Column of dependent rows, such as those of a user or a patient. The rows of a cluster are either all
            trained on or all held out, and the confidence interval accounts for clusters. Not used as a
            feature.
        group : str, optional
            Column of groups, such as a query, a user or a day: only pairs within a group count, in the loss, in
            the selection of features and in the test (``auc_``). Not used as a feature, and not needed for
            scoring. Whole groups are held out at random, even if the table has a time. With ``time``,
            ``cluster`` or ``hold_out="last"``, these determine the held-out rows, and a group may be split.
        memory, checkpoint
            As for :meth:`AdditiveAUCClassifier.fit_source`.
        """
        self._check_settings(label=label, weight=weight, time=time, cluster=cluster, group=group)
        table = LabelledTable.validate(self, X, y, sample_weight, label, weight)
        if cluster is not None and cluster == group:
            raise ValueError("a group is never split between training and test rows; leave out cluster.")
        source = TableSource(
            table.rows,
            label=table.label,
            positive=None if table.classes is not None else self.positive,
            classes=None if table.classes is None else (0, 1),
            weight=table.weight,
            group=group,
            cluster=cluster,
            types={name: kind for name, kind in table.types.items() if name not in (group, cluster)}
            | dict(self.types or {}),
            ignore=() if self.ignore is None else self.ignore,
            on_error=self.on_error,
            encode="codes",
            verbose=bool(self.verbose),
        )
        training = self._training(source, time, cluster, memory, checkpoint)
        with show_wait("", show=training.verbose):
            model, tested = train(source, source.layout, training, about={"columns": len(source.plan.columns)})
        if table.classes is not None:
            model = replace(model, classes=table.classes)
        self._store(model, tested, source.plan)
        untested = next((one for one in model.trained_on["notes"] if one.startswith("not tested")), None)
        if tested is None and untested is not None:
            warn(f"auc_ is None; {untested}.", NotTestedWarning)
        if self.false_alarm is not None:
            if tested is None:
                raise ValueError(
                    "false_alarm needs rows that the ranker was not trained on, and none were held out; set "
                    "hold_out=0.2."
                )
            self.model_ = model.with_threshold(
                find_promise(tested, self.false_alarm, self.confidence).threshold
            )
        return self

    def _check_settings(self, **columns: Any) -> None:
        """Raise for what no table could make sense of, before anything is read."""
        for name, column in columns.items():
            if column is not None and not isinstance(column, str):
                raise ValueError(f"{name} must be the name of a column of X, got {abbreviate(column)}.")
        check_search(self)
        check_flag("refit", self.refit)
        check_types(self.types)
        if self.false_alarm is not None:
            check_share("false_alarm", self.false_alarm)
        check_share("confidence", self.confidence)

    def _training(
        self, source: TableSource, time: str | None, cluster: str | None, memory: Any, checkpoint: Any
    ) -> Training:
        seed = integer_seed(self.random_state)
        interactions: Any = self.interactions
        if isinstance(interactions, Iterable) and not isinstance(interactions, str):
            interactions = [tuple(pair) for pair in interactions]
        settings = {
            "features": self.features,
            "loss": self.loss,
            "interactions": interactions,
            "bins": self.bins,
            "search_rows": self.search_rows,
            "weights": self.weights,
            "random_state": seed,
            "n_jobs": self.n_jobs,
        }
        return Training(
            {name: value for name, value in settings.items() if value is not None},
            grouped=source.has_groups,
            hold_out=self._hold_out(source, seed, time, cluster),
            refit=self._keeps_all,
            calibrate=True,
            memory=memory,
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            verbose=bool(self.verbose),
        )

    @property
    def _keeps_all(self) -> bool:
        """Whether the model is trained on all rows at last; a promise is about rows that it has not seen."""
        return bool(self.refit) and self.false_alarm is None

    def _hold_out(self, source: TableSource, seed: int, time: str | None, cluster: str | None) -> HoldOut:
        """The rows to test on, as asked for or as fits the table."""
        if time is not None and cluster is not None:
            raise ValueError("time and cluster both select the test rows; pass one of them.")
        if isinstance(self.hold_out, str) and self.hold_out not in ("auto", "last"):
            raise ValueError(f"hold_out must be 'auto', 'last' or a share of the rows, got {self.hold_out!r}.")
        share = HOLD_OUT if isinstance(self.hold_out, str) else check_number("hold_out", self.hold_out, low=0.0)
        if time is not None:
            return HoldOut(share, seed, "time", time)
        if cluster is not None:
            return HoldOut(share, seed, "cluster", cluster)
        if self.hold_out == "last":
            return HoldOut(share, seed, "last")
        found = HoldOut(share, seed)
        if self.hold_out != "auto":
            return found
        return choose_hold_out(source, found, grouped=source.has_groups, folds=self._keeps_all)[0]

    def _store(self, model: RankerModel, tested: Tested | None, plan: ColumnPlan) -> None:
        self.model_, self.tested_, self.plan_ = model, tested, plan
        self.classes_ = _list_classes(model)
        self.auc_: AucInterval | None = None if tested is None else tested.counted_interval()

    # -- scoring -----------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """Score of each row; the higher, the more likely positive."""
        rows = self.encode_rows(X)
        return self.model_.score(rows)

    def scorer(self) -> LinearScorer:
        """What scores encoded rows; see :meth:`encode_rows`."""
        check_is_fitted(self)
        return self.model_.scorer

    def encode_rows(self, X: Any) -> Any:
        """Rows of a table as the matrix that :meth:`scorer` takes: numbers, and codes of levels."""
        check_is_fitted(self)
        return self._encoding.transform(name_columns(self, X), extra="ignore")

    @property
    def term_means_(self) -> Array | None:
        """Mean contribution of each curve and heat map to the scores; None for a linear model."""
        check_is_fitted(self)
        return None if self.model_.terms is None else self.model_.terms.term_means

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), negative first."""
        scores = self.decision_function(X)
        return self.model_.scorer.probabilities(scores)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`, without overflow."""
        scores = self.decision_function(X)
        return self.model_.scorer.log_probabilities(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels: positive above the threshold, that of ``false_alarm`` or at probability ½."""
        scores = self.decision_function(X)
        if self.model_.threshold is None:
            positive = self.model_.probability(scores) > 0.5
        else:
            positive = scores > self.model_.threshold.value
        return np.asarray(self.classes_[positive.astype(np.intp)])

    @property
    def _encoding(self) -> Any:
        layout = self.model_.layout
        if not isinstance(layout, TableLayout):
            raise ValueError(
                "the model was trained on LIBSVM text, not on a table; load it with mbauc.model.load_model."
            )
        return layout.encoding

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of :meth:`predict`."""
        predicted = self.predict(X) == self.classes_[1]
        positive = self._is_positive(y, predicted.size).astype(np.bool_)
        return float(accuracy_score(positive, predicted, sample_weight=sample_weight))

    def score_files(
        self, paths: Any, out: str | os.PathLike[str] | None, *, keep: Sequence[str] = (), **options: Any
    ) -> dict[str, Any]:
        """Score files of any size block by block and write a table; see :func:`mbauc.model.score_files`."""
        check_is_fitted(self)
        return score_files(self.model_, paths, out, keep=keep, **options)

    # -- what it did -------------------------------------------------------------------------------------

    def explain(self, X: Any, n: int = 5) -> list[Explanation]:
        """Explain scores by the ``n`` largest contributions to each; see :func:`mbauc.explain`."""
        check_is_fitted(self)
        rows = X if is_path(X) else name_columns(self, X)
        return [one.explanation for one in explain_files(self.model_, rows, n=n)]

    def terms(self) -> AdditiveTerms:
        """Curves and heat maps as numbers, in log-odds; :mod:`mbauc.plots` draws them from the ranker."""
        check_is_fitted(self)
        found = model_terms(self.model_)
        if found is None:
            raise ValueError("this model is linear and has no curves; see model_.coef.")
        return found

    def describe(self) -> str:
        """Describe the fit in words: columns, features, penalties and the test."""
        check_is_fitted(self)
        return describe_ranker(self.model_, self.plan_, self.auc_)

    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: ArrayLike | None = None, *, title: str = ""
    ) -> None:
        """Write an HTML report: AUC, thresholds, curves and calibration.

        Parameters
        ----------
        path : path
            File to write.
        X, y : table and labels, optional
            Test rows and their labels, not used for training; by default the held-out rows.
        title : str, default=""
            Heading of the page.
        """
        check_is_fitted(self)
        encoded = None
        if X is not None:
            encoded = self.encode_rows(X)
            labels, scores, weight = self._is_positive(y, encoded.shape[0]), self.model_.score(encoded), None
            groups = None
        elif y is not None:
            raise ValueError("pass both X and y, or neither for the held-out rows.")
        elif self.tested_ is None:
            raise ValueError("no rows were held out to report on; pass X and y that are new to the ranker.")
        else:
            labels, scores, weight = self.tested_.y, self.tested_.s, self.tested_.weight
            groups = self.tested_.groups
        page = report_html(
            labels,
            scores,
            sample_weight=weight,
            model=self.model_,
            groups=groups,
            group_name=self.model_.group or "group",
            X=encoded,
            title=title,
        )
        with atomic_write(path) as stream:
            stream.write(page.encode())

    def _is_positive(self, y: ArrayLike | None, n_rows: int) -> NDArray[np.int8]:
        """1 for rows with a positive label, 0 for others."""
        if y is None:
            raise ValueError("pass y, the labels of X.")
        labels = as_labels(y)
        if labels.shape != (n_rows,):
            raise ValueError(f"y must have a label for each of {n_rows:,} rows, got shape {labels.shape}.")
        negative, positive = (set(side) if isinstance(side, tuple) else {side} for side in self.model_.classes)
        distinct = distinct_labels(labels).tolist()
        unknown = [one for one in distinct if one not in negative | positive]
        # of several negative labels training may have seen some only
        if unknown and (len(negative) == 1 or len(unknown) == len(distinct)):
            known = ", ".join(map(repr, [*negative, *positive]))
            raise ValueError(f"y holds {unknown[0]!r}; the labels in training were {known}.")
        return np.array([one in positive for one in labels.tolist()], dtype=np.int8)

    # -- to a file and back ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; :func:`mbauc.load` and all commands of ``mbauc`` read it."""
        check_is_fitted(self)
        save_model(self.model_, path)

    @classmethod
    def of(cls, model: RankerModel) -> Self:
        """Build a fitted ranker from a model, such as one of a file; without ``plan_`` and ``tested_``."""
        known = set(cls().get_params()) - {"types", "ignore", "positive"}
        ranker = cls(**{name: value for name, value in model.settings.items() if name in known})
        ranker.model_, ranker.classes_, ranker.tested_, ranker.auc_ = model, _list_classes(model), None, None
        encoding = ranker._encoding
        ranker.plan_ = ColumnPlan(encoding.columns, 0).with_widths(encoding.describe_widths())
        names = [column.name for column in encoding.columns]
        ranker.n_features_in_, ranker.feature_names_in_ = len(names), np.array(names, dtype=object)
        return ranker


def load(path: str | os.PathLike[str]) -> TableRanker:
    """Load a ranker from a file written by :meth:`TableRanker.save` or ``mbauc fit``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mbauc
    >>> table = {"bid": [0.1, 0.4, 0.3, 0.9] * 30, "site": list("abab") * 30, "click": [0, 1, 0, 1] * 30}
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.mbauc")
    >>> mbauc.TableRanker(hold_out=0).fit(table, label="click").save(path)
    >>> mbauc.load(path).predict({"bid": [0.5], "site": ["b"]})
    array([1])
    """
    return TableRanker.of(load_model(path))


def _list_classes(model: RankerModel) -> NDArray[Any]:
    """Labels of the two sides; whether a row is positive where a side has several, which have no label."""
    return np.array([False, True]) if has_label_sets(model.classes) else model.labels
