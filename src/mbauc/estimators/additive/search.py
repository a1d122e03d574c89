"""Which features, and under which penalties, rank held-out rows best: straight lines, curves, interactions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.screening import Screened, screen_pairs
from mbauc.basis.smoothing import SmoothBasis, smooth_features, with_pairs
from mbauc.estimators.additive.coordinates import FoldedRows, Statistics
from mbauc.metrics.comparisons import compare_roc_auc
from mbauc.solvers.evidence import maximise_evidence

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: Strengths of one penalty for all coordinates that are tried: one over the variance of a log-odds weight.
COMMON = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Multiples of strengths that the moments suggest for each term.
SUGGESTED = (1.0, 3.0, 10.0)
#: What interactions cost more than curves, under one penalty for all.
CROSSED = 10.0
#: Confidence of an interval of one standard error on each side.
_ONE_ERROR = 0.6826894921370859
#: Coordinates of all curves together, about; of one curve at least.
_MOST_COORDINATES, _LEAST_FUNCTIONS = 1_200, 3
#: Kinds of features, the one to prefer first.
KINDS = ("linear", "curves", "interactions")


@dataclass(frozen=True)
class SearchSettings:
    """How much is tried.

    Attributes
    ----------
    functions, coarse : int
        Coordinates of a curve, and of each of the two columns of an interaction, at most.
    most_pairs : int
        Interactions, at most.
    """

    functions: int = 16
    coarse: int = 5
    most_pairs: int = 24


@dataclass(frozen=True, eq=False)
class Candidate:
    """Penalties of some coordinates: a strength for each, and how they came about."""

    how: str
    strength: Array


@dataclass(frozen=True, eq=False)
class Found:
    """Features with penalties, and what they did on held-out rows.

    Attributes
    ----------
    kind : str
        "linear", "curves" or "interactions".
    features : FeatureMap
        The features; those of "linear" are among those of "curves".
    basis : SmoothBasis
        Their coordinates.
    columns : ndarray of int
        Coordinates that are used.
    strength : ndarray
        Penalty of each of these, in units of the noise: l2 times factor is 2ν times it.
    auc : float
        Mean over the held-out folds.
    by_fold : ndarray
        AUC of each of them.
    how : str
        How the penalties were chosen.
    """

    kind: str
    features: FeatureMap
    basis: SmoothBasis
    columns: Index
    strength: Array
    auc: float
    by_fold: Array
    how: str


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows that features are chosen on."""

    #: indicators of each column
    codes: NDArray[np.int32]
    numbers: Array
    positive: NDArray[np.bool_]
    weight: Array | None
    #: what each row stands for among all rows, classes together
    share: Array
    fold: NDArray[np.int32]
    frequencies: bool = False
    n_jobs: int | None = None

    def totals(self, features: FeatureMap) -> list[Array]:
        """Weight of each indicator of each column."""
        return [
            np.bincount(self.codes[:, j], self.share, minlength=column.width).astype(np.float64)
            for j, column in enumerate(features.columns)
        ]

    def fold_rows(self, basis: SmoothBasis, features: FeatureMap, fold: NDArray[np.int32]) -> FoldedRows:
        """The rows in coordinates."""
        Z = basis.rows(features, self.codes, self.numbers)
        return FoldedRows(Z, self.positive, self.weight, fold, self.frequencies, self.n_jobs)


@dataclass
class FeatureSearch:
    """Tries kinds of features on rows, the simplest first; what it did is in ``notes``."""

    rows: SearchRows
    features: FeatureMap
    settings: SearchSettings = SearchSettings()
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._totals = self.rows.totals(self.features)
        numeric = sum(isinstance(column, Steps) for column in self.features.columns) or 1
        functions = max(_LEAST_FUNCTIONS, min(self.settings.functions, _MOST_COORDINATES // numeric))
        self.basis = smooth_features(self.features, self._totals, functions=functions)
        self.folded = self.rows.fold_rows(self.basis, self.features, self.rows.fold)

    # -- straight lines and curves -----------------------------------------------------------------------

    def linear(self) -> Found:
        """Numbers as they are, and levels of categories."""
        return self._try_folds("linear", self._linear_columns())

    def curves(self) -> Found:
        """A curve for each numeric column."""
        return self._try_folds("curves", np.arange(self.basis.roughness.size))

    def _linear_columns(self) -> Index:
        """Coordinates of numbers, of levels, of columns with two values, and of missing values."""
        keep = []
        for term, (_, columns) in zip(self.features.terms(), self.basis.reduction.places(), strict=True):
            column, own = self.features.columns[term.columns[0]], np.arange(columns.start, columns.stop)
            if isinstance(column, Steps) and term.kind == "steps" and column.edges.size != 1:
                # of a curve only what it says of missing values
                missing = self._totals[term.columns[0]][-1] > 0
                own = own[-1:] if missing else own[:0]
            keep.append(own)
        return np.concatenate(keep) if keep else np.zeros(0, dtype=np.intp)

    def _try_folds(self, kind: str, columns: Index) -> Found:
        folded, basis = self.folded, self.basis
        statistics = Statistics.of(folded.whole).select(columns)
        candidates = self._candidates(statistics, basis.roughness[columns], basis.group[columns], None)
        strengths = np.array([one.strength for one in candidates])
        table = np.empty((folded.n_folds, len(candidates)))
        for k in range(folded.n_folds):
            W = Statistics.of(folded.training(k)).select(columns).solve(strengths)
            table[k] = folded.auc(k, folded.held_out(k, W, columns))
        best = int(np.argmax(table.mean(axis=0)))
        chosen = candidates[best]
        return Found(
            kind,
            self.features,
            basis,
            columns,
            chosen.strength,
            float(table[:, best].mean()),
            table[:, best],
            chosen.how,
        )

    def _candidates(
        self, statistics: Statistics, roughness: Array, group: Index, crossed: NDArray[np.bool_] | None
    ) -> list[Candidate]:
        """One strength for all coordinates, and strengths by term that the moments suggest."""
        factors = roughness if crossed is None else np.where(crossed, CROSSED, 1.0) * roughness
        found = [Candidate(f"one strength of {one:g}", one * factors) for one in COMMON]
        _, own = np.unique(group, return_inverse=True)
        evidence = maximise_evidence(statistics.covariance, statistics.mu, statistics.noise, roughness, own)
        by_term = evidence.strength[own] * roughness
        found += [Candidate(f"a strength for each term, times {one:g}", one * by_term) for one in SUGGESTED]
        return found

    # -- interactions ------------------------------------------------------------------------------------

    def screen(self, curves: Found) -> Screened:
        """Pairs of columns by what they would add to curves, seen on the rows of all folds but the first."""
        train = self.rows.fold != 0
        statistics = Statistics.of(self.folded.training(0)).select(curves.columns)
        [w] = statistics.solve(curves.strength[None, :])
        scores = self.folded.Z[train][:, curves.columns] @ w
        residual = residuals(scores, self.rows.positive[train], _pick(self.rows.weight, train))
        return screen_pairs(
            self.features,
            self.rows.codes[train],
            residual,
            self._totals,
            noise=statistics.noise,
            penalty=statistics.noise * CROSSED * 10.0,
            functions=self.settings.coarse,
            n_jobs=self.rows.n_jobs,
        )

    def interactions(self, curves: Found, pairs: Sequence[tuple[int, int]]) -> tuple[Found, float, float]:
        """Curves and these interactions; their gain over curves on the first fold, and its standard error."""
        features = with_pairs(self.features, list(pairs))
        basis = smooth_features(
            features, self._totals, functions=self._functions(), coarse=self.settings.coarse
        )
        fold = (self.rows.fold != 0).astype(np.int32)
        folded = self.rows.fold_rows(basis, features, fold)
        statistics = Statistics.of(folded.by_fold[1])
        candidates = self._candidates(statistics, basis.roughness, basis.group, basis.is_interaction)
        scores = folded.held_out(0, statistics.solve(np.array([one.strength for one in candidates])))
        aucs = folded.auc(0, scores)
        best = int(np.argmax(aucs))
        own = statistics.select(curves.columns)
        before = folded.held_out(0, own.solve(curves.strength[None, :]), curves.columns)[0]
        gain, error = paired_gain(
            folded.positive[fold == 0], scores[best], before, _pick(folded.weight, fold == 0)
        )
        found = Found(
            "interactions",
            features,
            basis,
            np.arange(basis.roughness.size),
            candidates[best].strength,
            float(aucs[best]),
            aucs[[best]],
            candidates[best].how,
        )
        self._crossed = folded
        return found, gain, error

    def _functions(self) -> int:
        sizes = [
            columns.stop - columns.start
            for term, (_, columns) in zip(self.features.terms(), self.basis.reduction.places(), strict=True)
            if term.kind == "steps"
        ]
        return max(sizes, default=self.settings.functions)

    def folded_rows(self, found: Found) -> FoldedRows:
        """Rows in the coordinates of what was found."""
        return self._crossed if found.kind == "interactions" else self.folded


def residuals(scores: Array, positive: NDArray[np.bool_], weight: Array | None) -> Array:
    """What is left of the gradient of the pairwise squared loss: minus its derivative by each score.

    For weights w = (C + …)⁻¹μ, C the mean of the covariances of the classes, a further feature z has the
    gradient Σ rᵢ zᵢ = μ_z - mean of the covariances of z and the score.
    """
    result = np.empty_like(scores)
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        share = np.ones(int(side.sum())) if weight is None else weight[side]
        share = share / share.sum()
        own = scores[side]
        result[side] = share * (sign - (own - share @ own) / 2)
    return result


def paired_gain(
    positive: NDArray[np.bool_], scores: Array, before: Array, weight: Array | None
) -> tuple[float, float]:
    """By how much the AUC of scores is above that of others on the same rows, and its standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = compare_roc_auc(positive, {"after": scores, "before": before}, weight, confidence=_ONE_ERROR)
    gain = float(compared.difference[0, 1])
    return gain, float(compared.high[0, 1] - gain)


def _pick(values: Array | None, mask: NDArray[np.bool_]) -> Array | None:
    return None if values is None else values[mask]
