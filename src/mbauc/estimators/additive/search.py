"""Which features, and under which penalties, rank held-out rows best: straight lines, curves, interactions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.screening import Screened, screen_pairs
from mbauc.basis.smoothing import SmoothBasis, smooth_features, with_pairs
from mbauc.estimators.additive.coordinates import FoldedRows, Statistics
from mbauc.metrics.comparisons import compare_roc_auc
from mbauc.metrics.intervals import Weights
from mbauc.metrics.roc_auc import roc_auc
from mbauc.solvers.evidence import maximise_evidence

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: Strengths of one penalty for all coordinates that are tried: one over the variance of a log-odds weight.
COMMON = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Multiples of strengths that the moments suggest for each term.
SUGGESTED = (1.0, 3.0, 10.0)
#: What interactions cost more than curves, under one penalty for all.
CROSSED = 10.0
#: The same two for curves with interactions, which are tried on fewer rows.
CROSSED_COMMON, CROSSED_SUGGESTED = (3.0, 10.0, 30.0), (1.0, 3.0)
#: Coordinates from which on all penalties are tried on one fold, and the best of them on the others.
_MANY, _FINALISTS = 600, 3
#: Coordinates up to which each term may have a strength of its own: of curves, and with interactions.
_MOST_BY_TERM, _MOST_BY_TERM_CROSSED = 600, 950
#: Steps towards these strengths.
_STEPS, _STEPS_CROSSED = 8, 5
#: Columns beyond which interactions come with the curves of few: those of the pairs, and these strongest.
_MANY_COLUMNS, _STRONGEST = 100, 16
#: Rows up to which interactions are tried on two folds.
_FEW_ROWS = 5_000
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
    #: waves of each row, if there are some
    waves: Array | None = None
    #: indicators of each column
    widths: tuple[int, ...] = ()

    def totals(self, features: FeatureMap) -> list[Array]:
        """Weight of each indicator of each column."""
        return [
            np.bincount(self.codes[:, j], self.share, minlength=column.width).astype(np.float64)
            for j, column in enumerate(features.columns)
        ]

    def fold_rows(self, basis: SmoothBasis, features: FeatureMap, fold: NDArray[np.int32]) -> FoldedRows:
        """The rows in coordinates."""
        Z = basis.rows(features, self.codes, self.numbers, self.waves)
        return FoldedRows(Z, self.positive, self.weight, fold, self.frequencies, self.n_jobs)


@dataclass
class FeatureSearch:
    """Tries kinds of features on rows, the simplest first."""

    rows: SearchRows
    features: FeatureMap
    settings: SearchSettings = SearchSettings()

    def __post_init__(self) -> None:
        self._totals = self.rows.totals(self.features)
        numeric = sum(isinstance(column, Steps) for column in self.features.columns) or 1
        self._functions = max(_LEAST_FUNCTIONS, min(self.settings.functions, _MOST_COORDINATES // numeric))
        self.basis = smooth_features(self.features, self._totals, functions=self._functions)
        self.folded = self.rows.fold_rows(self.basis, self.features, self.rows.fold)

    # -- straight lines and curves -----------------------------------------------------------------------

    def linear(self) -> Found:
        """Numbers as they are, and levels of categories."""
        return self._try_folds("linear", self._linear_columns())

    def curves(self) -> Found:
        """A curve for each numeric column."""
        return self._try_folds("curves", np.arange(self.basis.roughness.size))

    def fourier(self) -> Found:
        """Straight lines, and waves of all numeric columns."""
        wave = [term.kind == "waves" for term in self.features.terms()]
        waves = np.flatnonzero(np.asarray(wave)[self.basis.group])
        return self._try_folds("fourier", np.union1d(self._linear_columns(), waves))

    def _linear_columns(self) -> Index:
        """Coordinates of numbers, of levels, of columns with two values, and of missing values."""
        keep = []
        for term, (_, columns) in zip(self.features.terms(), self.basis.reduction.places(), strict=True):
            column, own = self.features.columns[term.columns[0]], np.arange(columns.start, columns.stop)
            if term.kind == "waves":
                continue
            if isinstance(column, Steps) and term.kind == "steps" and column.edges.size != 1:
                # of a curve only what it says of missing values
                missing = self._totals[term.columns[0]][-1] > 0
                own = own[-1:] if missing else own[:0]
            keep.append(own)
        found = np.concatenate(keep) if keep else np.zeros(0, dtype=np.intp)
        # where nothing varies, the one coordinate of zeros
        return found if found.size else np.zeros(1, dtype=np.intp)

    def _try_folds(self, kind: str, columns: Index) -> Found:
        """Penalties of some coordinates, by the AUC of all folds; where these are many, most by one fold."""
        folded, basis = self.folded, self.basis
        roughness, group = basis.roughness[columns], basis.group[columns]
        table = np.full(
            (folded.n_folds, count_candidates(columns.size, COMMON, SUGGESTED, _MOST_BY_TERM)), np.nan
        )
        places = np.arange(table.shape[1])
        for k in range(folded.n_folds):
            statistics = Statistics.of(folded.training(k)).select(columns)
            candidates = list_candidates(statistics, roughness, group, COMMON, SUGGESTED, places)
            W = statistics.solve(np.array([one.strength for one in candidates]))
            table[k, places] = folded.auc(k, folded.held_out(k, W, columns))
            if k == 0 and columns.size > _MANY:
                places = np.sort(np.argsort(-table[0], kind="stable")[:_FINALISTS])
        best = int(places[np.argmax(table[:, places].mean(axis=0))])
        whole = Statistics.of(folded.whole).select(columns)
        [chosen] = list_candidates(whole, roughness, group, COMMON, SUGGESTED, [best])
        scores = table[:, best]
        return Found(
            kind, self.features, basis, columns, chosen.strength, float(scores.mean()), scores, chosen.how
        )

    # -- interactions ------------------------------------------------------------------------------------

    def screen(self, curves: Found, held_out: int = -1) -> Screened:
        """Pairs of columns by what they would add to curves, seen on the rows of all folds but one."""
        train = self.rows.fold != held_out
        statistics = Statistics.of(self.folded.training(held_out)).select(curves.columns)
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

    def interactions(self, curves: Found, base: Found, pairs: PairChooser) -> Interactions | None:
        """Curves and interactions, and what they gain over simpler features on held-out rows.

        Pairs are chosen on the rows of the other folds, so that the gain is an honest one: on two folds, or on
        one where rows are many. Those of the result are chosen on all rows. None where no pair is promising.
        """
        n_rounds = 2 if self.rows.positive.size <= _FEW_ROWS else 1
        rounds: list[_Round] = []
        for k in range(n_rounds):
            chosen = pairs(self.screen(curves, k) if pairs.screens else None)
            if not chosen:
                return None
            before = self._score_fold(base, k)
            if rounds:
                rounds.append(_Round.run(self._cross(chosen, k, narrow=rounds[0].crossed.narrow), before))
                continue
            # of many columns the curves of all, or of few
            kinds = (False, True) if self.features.n_columns > _MANY_COLUMNS else (False,)
            tries = [_Round.run(self._cross(chosen, k, narrow=narrow), before) for narrow in kinds]
            rounds.append(max(tries, key=lambda one: float(one.aucs.max())))
        aucs = [one.aucs for one in rounds]
        # rounds may differ in how many coordinates, and so penalties, there are
        table = np.array([one[: min(map(len, aucs))] for one in aucs])
        best = int(np.argmax(table.mean(axis=0)))
        gains = [
            paired_gain(
                one.crossed.held_out_labels,
                one.scores[best],
                one.before,
                one.crossed.held_out_weight,
                self.rows.frequencies,
            )
            for one in rounds
        ]
        gain, error = np.mean([gain for gain, _ in gains]), np.sqrt(np.sum([e**2 for _, e in gains])) / n_rounds
        final = rounds[0].crossed
        if n_rounds > 1 and pairs.screens:
            final = self._cross(pairs(self.screen(curves)), 0, narrow=final.narrow)
        strength = final.strengths(Statistics.of(final.rows.whole), [best])[0]
        self._crossed = final.rows
        found = Found(
            "interactions",
            final.features,
            final.basis,
            np.arange(strength.size),
            strength,
            float(table[:, best].mean()),
            table[:, best],
            final.describe(best),
        )
        return Interactions(found, float(gain), float(error))

    def _score_fold(self, found: Found, k: int) -> Array:
        """Scores of the rows of a fold from weights of the others."""
        statistics = Statistics.of(self.folded.training(k)).select(found.columns)
        return np.asarray(self.folded.held_out(k, statistics.solve(found.strength[None, :]), found.columns)[0])

    def _cross(self, pairs: list[tuple[int, int]], held_out: int, *, narrow: bool) -> CrossedRows:
        """Rows in the coordinates of curves and interactions; if ``narrow``, of the columns that matter."""
        features, totals, rows = self.features, self._totals, self.rows
        if narrow:
            kept = {j for pair in pairs for j in pair} | self._strongest(held_out)
            features, totals = keep_columns(features, totals, kept)
            known = [one in features.numbers for one in self.features.numbers]
            codes = np.where(
                [j in kept for j in range(features.n_columns)], rows.codes, _collapse(features, rows)
            )
            rows = replace(rows, codes=codes, numbers=rows.numbers[:, known])
        features = with_pairs(features, pairs)
        basis = smooth_features(
            features, totals, functions=self._crossed_functions(features), coarse=self.settings.coarse
        )
        fold = (self.rows.fold != held_out).astype(np.int32)
        return CrossedRows(features, basis, rows.fold_rows(basis, features, fold), narrow)

    def _strongest(self, held_out: int) -> set[int]:
        """Columns whose own curves would gain most, seen on the rows of all folds but one."""
        statistics = Statistics.of(self.folded.training(held_out))
        gain = (statistics.mu**2 - statistics.noise) / (1.0 + 10.0 * statistics.noise * self.basis.roughness)
        by_term = np.bincount(self.basis.group, gain)
        by_column = np.zeros(self.features.n_columns)
        for term, own in zip(self.features.terms(), by_term, strict=False):
            by_column[term.columns[0]] += own
        return set(np.argsort(-by_column, kind="stable")[:_STRONGEST].tolist())

    def _crossed_functions(self, features: FeatureMap) -> int:
        """Coordinates of a curve; more where fewer columns are left."""
        numeric = sum(isinstance(one, Steps) and one.edges.size > 0 for one in features.columns) or 1
        return max(self._functions, min(self.settings.functions, _MOST_COORDINATES // numeric))

    def folded_rows(self, found: Found) -> FoldedRows:
        """Rows in the coordinates of what was found."""
        return self._crossed if found.kind == "interactions" else self.folded


@dataclass(frozen=True, eq=False)
class Interactions:
    """Curves and interactions, and their gain over simpler features on held-out rows with its error."""

    found: Found
    gain: float
    error: float


@dataclass(frozen=True)
class PairChooser:
    """Pairs that are given, or the most promising ones up to a number."""

    given: Sequence[tuple[int, int]] | None
    most: int

    @property
    def screens(self) -> bool:
        """Whether pairs have to be screened."""
        return self.given is None

    def __call__(self, screened: Screened | None) -> list[tuple[int, int]]:
        """The pairs to fit."""
        if screened is None:
            return list(self.given or ())
        return screened.pairs[: min(self.most, int((screened.gains > 0).sum()))]


@dataclass(frozen=True, eq=False)
class CrossedRows:
    """Rows in the coordinates of curves and interactions; fold 0 is held out."""

    features: FeatureMap
    basis: SmoothBasis
    rows: FoldedRows
    #: whether there are curves of few columns only
    narrow: bool

    @property
    def held_out_labels(self) -> NDArray[np.bool_]:
        """Which of the rows that are held out are positive."""
        return np.asarray(self.rows.positive[self.rows.fold == 0])

    @property
    def held_out_weight(self) -> Array | None:
        """Weights of the rows that are held out."""
        return _pick(self.rows.weight, self.rows.fold == 0)

    def strengths(self, statistics: Statistics, places: Sequence[int] | None = None) -> Array:
        """Penalties to try, one row for each."""
        return np.array([one.strength for one in self._list(statistics, places)])

    def describe(self, place: int) -> str:
        """Penalties in words."""
        return _describe(CROSSED_COMMON, CROSSED_SUGGESTED)[place]

    def _list(self, statistics: Statistics, places: Sequence[int] | None) -> list[Candidate]:
        basis = self.basis
        tried = CROSSED_COMMON, CROSSED_SUGGESTED
        count = count_candidates(basis.roughness.size, *tried, _MOST_BY_TERM_CROSSED)
        return list_candidates(
            statistics,
            basis.roughness,
            basis.group,
            CROSSED_COMMON,
            CROSSED_SUGGESTED,
            range(count) if places is None else places,
            basis.is_interaction,
        )


@dataclass(frozen=True, eq=False)
class _Round:
    """Interactions on one fold: scores of its rows under all penalties, their AUC, and scores without them."""

    crossed: CrossedRows
    scores: Array
    aucs: Array
    before: Array

    @classmethod
    def run(cls, crossed: CrossedRows, before: Array) -> _Round:
        statistics = Statistics.of(crossed.rows.training(0))
        scores = crossed.rows.held_out(0, statistics.solve(crossed.strengths(statistics)))
        return cls(crossed, scores, crossed.rows.auc(0, scores), before)


def count_candidates(size: int, common: Sequence[float], suggested: Sequence[float], most: int) -> int:
    """How many penalties are tried: strengths by term only up to ``most`` coordinates."""
    return len(common) + (len(suggested) if size <= most else 0)


def list_candidates(
    statistics: Statistics,
    roughness: Array,
    group: Index,
    common: Sequence[float],
    suggested: Sequence[float],
    places: Sequence[int] | Index,
    crossed: NDArray[np.bool_] | None = None,
) -> list[Candidate]:
    """Penalties to try, of which only some ``places`` are asked for.

    First one strength for all coordinates, ``crossed`` ones costing more; then strengths by term, as moments
    suggest them, times a number.
    """
    factors = roughness if crossed is None else np.where(crossed, CROSSED, 1.0) * roughness
    said = _describe(common, suggested)
    by_term: Array | None = None
    found = []
    for place in places:
        if place < len(common):
            found.append(Candidate(said[place], common[place] * factors))
            continue
        if by_term is None:
            _, own = np.unique(group, return_inverse=True)
            start = np.ones(int(own.max(initial=0)) + 1)
            if crossed is not None:
                start[own[crossed]] = CROSSED
            evidence = maximise_evidence(
                statistics.covariance,
                statistics.mu,
                statistics.noise,
                roughness,
                own,
                start=start,
                max_iter=_STEPS if crossed is None else _STEPS_CROSSED,
            )
            by_term = evidence.strength[own] * roughness
        found.append(Candidate(said[place], suggested[place - len(common)] * by_term))
    return found


def _describe(common: Sequence[float], suggested: Sequence[float]) -> list[str]:
    return [f"one strength of {one:g}" for one in common] + [
        f"a strength for each term, times {one:g}" for one in suggested
    ]


def keep_columns(features: FeatureMap, totals: list[Array], kept: set[int]) -> tuple[FeatureMap, list[Array]]:
    """The same columns, of which all but some have one indicator, and one for missing values."""
    columns: list[Steps | Levels] = []
    after = []
    for j, (column, own) in enumerate(zip(features.columns, totals, strict=True)):
        if j in kept:
            columns.append(column)
            after.append(own)
            continue
        columns.append(
            Steps(np.zeros(0), column.centers[:1]) if isinstance(column, Steps) else Levels(np.zeros(0), ())
        )
        width = columns[-1].width
        after.append(np.append(np.append(np.zeros(width - 2), own[:-1].sum()), own[-1]))
    coarse = tuple(
        groups if j in kept else np.arange(columns[j].width, dtype=np.int32)
        for j, groups in enumerate(features.coarse)
    )
    numbers = tuple(number for number in features.numbers if number.column in kept)
    return replace(features, columns=tuple(columns), coarse=coarse, numbers=numbers), after


def _collapse(features: FeatureMap, rows: SearchRows) -> NDArray[np.int32]:
    """Codes of columns with one indicator: which rows have none is all they tell."""
    width = np.array([column.width for column in features.columns], dtype=np.int32)
    missing = rows.codes == [before - 1 for before in rows.widths]
    return np.where(missing, width - 1, width - 2).astype(np.int32)


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
    positive: NDArray[np.bool_],
    scores: Array,
    before: Array,
    weight: Array | None,
    frequencies: bool = False,
) -> tuple[float, float]:
    """By how much the AUC of scores is above that of others on the same rows, and its standard error."""
    if min(int(positive.sum()), int((~positive).sum())) < 2:
        after, old = (roc_auc(positive, one, sample_weight=weight) for one in (scores, before))
        return float(after - old), np.inf
    weights: Weights | None = None if weight is None else "frequency" if frequencies else "sampling"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = compare_roc_auc(
            positive, {"after": scores, "before": before}, weight, weights=weights, confidence=_ONE_ERROR
        )
    gain = float(compared.difference[0, 1])
    return gain, float(compared.high[0, 1] - gain)


def _pick(values: Array | None, mask: NDArray[np.bool_]) -> Array | None:
    return None if values is None else values[mask]
