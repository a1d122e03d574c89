"""Which features, and under which penalties, rank held-out rows best: straight lines, curves, interactions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.screening import Screened, screen_pairs
from mbauc.basis.smoothing import SmoothBasis, smooth_features, with_pairs
from mbauc.estimators.additive.coordinates import FoldedRows, pick
from mbauc.estimators.additive.crossed import CrossedRows, Interactions, PairChooser, Round, keep_columns
from mbauc.estimators.additive.gain import mean_gain, paired_gain, residuals
from mbauc.estimators.additive.penalties import CROSSED, Penalties
from mbauc.estimators.additive.search_rows import SearchRows
from mbauc.runtime.threads import run_threads

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: One strength for all where nothing is known.
_USUAL = 10.0
#: Penalties that are tried on all folds, those best on the first: how many, up to a number of coordinates.
_FINALISTS = ((200, 10), (600, 5), (float("inf"), 2))
#: Coordinates with interactions beyond which these are tried on one fold.
_MANY_CROSSED = 1_000
#: Columns beyond which interactions come with the curves of few: those of the pairs, and these strongest.
_MANY_COLUMNS, _STRONGEST = 100, 16
#: Coordinates of curves beyond which they come with those of few alone.
_MOST_WIDE = 1_500
#: Rows up to which interactions are tried on two folds, unless they gain nothing on the first, or so many
#: standard errors.
_FEW_ROWS, _DECIDED = 5_000, 2.0
#: Rows that each interaction needs.
_ROWS_FOR_A_PAIR = 50
#: Coordinates of all curves together, about; of one curve at least.
_MOST_COORDINATES, _LEAST_FUNCTIONS = 1_200, 3


@dataclass(frozen=True)
class SearchSettings:
    """How much is tried.

    Attributes
    ----------
    functions, coarse : int
        Coordinates of a curve, and of each of the two columns of an interaction, at most.
    most_pairs : int
        Interactions, at most.
    most_crossed : int
        Coordinates of interactions up to which these are tried on held-out rows.
    """

    functions: int = 24
    coarse: int = 5
    most_pairs: int = 24
    most_crossed: int = 2_000


@dataclass(frozen=True, eq=False)
class Found:
    """Features with penalties, and what they did on held-out rows.

    Attributes
    ----------
    kind : str
        "linear", "curves", "interactions" or "fourier".
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
    held_out : tuple of ndarray
        Scores of the rows of each fold from weights of the others; none of interactions.
    """

    kind: str
    features: FeatureMap
    basis: SmoothBasis
    columns: Index
    strength: Array
    auc: float
    by_fold: Array
    how: str
    held_out: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class _TriedFold:
    """Scores of the rows of a fold under some penalties, their AUCs, and strengths by term from other rows."""

    scores: Array
    aucs: Array
    by_term: Array | None


@dataclass
class FeatureSearch:
    """Tries kinds of features on rows, the simplest first."""

    rows: SearchRows
    features: FeatureMap
    settings: SearchSettings = SearchSettings()

    def __post_init__(self) -> None:
        self._totals = self.rows.totals(self.features)
        numeric = sum(isinstance(column, Steps) for column in self.features.columns) or 1
        #: coordinates of a curve, at most
        self.functions = max(_LEAST_FUNCTIONS, min(self.settings.functions, _MOST_COORDINATES // numeric))
        self.basis = smooth_features(self.features, self._totals, functions=self.functions)
        self.folded = self.rows.fold_rows(self.basis, self.features, self.rows.fold)

    # -- straight lines and curves -----------------------------------------------------------------------

    def linear(self) -> Found:
        """Numbers as they are, and levels of categories."""
        return self._try_folds("linear", self._linear_columns())

    @property
    def has_curves(self) -> bool:
        """Whether curves have more coordinates than straight lines."""
        return self._linear_columns().size < self.basis.roughness.size

    def curves(self) -> Found:
        """A curve for each numeric column."""
        return self._try_folds("curves", np.arange(self.basis.roughness.size))

    def fourier(self) -> Found:
        """Straight lines, and waves of all numeric columns."""
        wave = [term.kind == "waves" for term in self.features.terms()]
        waves = np.flatnonzero(np.asarray(wave)[self.basis.group])
        return self._try_folds("fourier", np.union1d(self._linear_columns(), waves))

    def _linear_columns(self) -> Index:
        """Coordinates of numbers, of levels, of missing values, and of bins that have no number beside them."""
        keep, lines = [], {number.column for number in self.features.numbers}
        for term, (_, columns) in zip(self.features.terms(), self.basis.reduction.places(), strict=True):
            own = np.arange(columns.start, columns.stop)
            if term.kind == "waves":
                continue
            if term.kind == "steps" and term.columns[0] in lines:
                # of a curve only what it says of missing values
                missing = self._totals[term.columns[0]][-1] > 0
                own = own[-1:] if missing else own[:0]
            keep.append(own)
        found = np.concatenate(keep) if keep else np.zeros(0, dtype=np.intp)
        # where nothing varies, the one coordinate of zeros
        return found if found.size else np.zeros(1, dtype=np.intp)

    def _try_folds(self, kind: str, columns: Index) -> Found:
        """Penalties of some coordinates, by the AUC of all folds; where these are many, most by one fold."""
        folded, penalties = self.folded, Penalties.of(self.basis, columns)
        places = np.arange(penalties.count)
        first = self._try_fold(penalties, columns, 0, places, None, folded.n_threads)
        # other folds start from what the first suggests, side by side
        finalists = next(count for most, count in _FINALISTS if columns.size <= most)
        places = np.sort(np.argsort(-first.aucs, kind="stable")[:finalists])
        others = run_threads(
            lambda k: self._try_fold(penalties, columns, k, places, first.by_term),
            range(1, folded.n_folds),
            folded.n_threads,
        )
        by_fold = np.array([first.aucs[places], *(one.aucs for one in others)])
        winner = int(np.argmax(by_fold.mean(axis=0)))
        best, by_term = int(places[winner]), first.by_term
        held_out = (first.scores[best], *(one.scores[winner] for one in others))
        if penalties.needs_suggestion([best]):
            by_term = penalties.suggest(folded.statistics().select(columns), by_term)
        [strength] = penalties.strengths([best], by_term)
        aucs, how = by_fold[:, winner], penalties.describe(best)
        return Found(
            kind, self.features, self.basis, columns, strength, float(aucs.mean()), aucs, how, held_out
        )

    def _try_fold(
        self,
        penalties: Penalties,
        columns: Index,
        k: int,
        places: Index,
        start: Array | None,
        n_threads: int = 1,
    ) -> _TriedFold:
        """Penalties at some places on the rows of a fold; strengths by term begin at ``start``."""
        statistics = self.folded.statistics(k).select(columns)
        by_term = penalties.suggest(statistics, start) if penalties.needs_suggestion(places) else None
        W = statistics.solve(penalties.strengths(places, by_term), n_threads)
        scores = self.folded.held_out(k, W, columns)
        return _TriedFold(scores, self.folded.auc(k, scores), by_term)

    def compare(self, after: Found, before: Found) -> tuple[float, float]:
        """By how much one kind is ahead of another on the rows of all folds, and the standard error of that."""
        rows = self.rows
        gains = []
        for k, (new, old) in enumerate(zip(after.held_out, before.held_out, strict=True)):
            own = rows.fold == k
            gain = paired_gain(
                rows.positive[own],
                new,
                old,
                pick(rows.weight, own),
                rows.frequencies,
                pick(rows.groups, own),
            )
            gains.append(gain)
        return mean_gain(gains)

    # -- interactions ------------------------------------------------------------------------------------

    def screen(self, curves: Found, held_out: int = -1) -> Screened:
        """Pairs of columns by what they would add to curves, seen on the rows of all folds but one."""
        train = self.rows.fold != held_out
        statistics = self.folded.statistics(held_out).select(curves.columns)
        [w] = statistics.solve(curves.strength[None, :])
        scores = self.folded.Z[train][:, curves.columns] @ w
        residual = residuals(
            scores, self.rows.positive[train], pick(self.rows.weight, train), pick(self.rows.groups, train)
        )
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

    @property
    def most_pairs(self) -> int:
        """Interactions that are screened for, at most: where rows are few, fewer."""
        return min(self.settings.most_pairs, max(1, self.rows.positive.size // _ROWS_FOR_A_PAIR))

    def interactions(self, curves: Found, base: Found, pairs: PairChooser) -> Interactions | None:
        """What curves and interactions gain over simpler features on held-out rows.

        Pairs are chosen on the rows of the other folds, so that the gain is an honest one: on two folds, or on
        one where rows or coordinates are many, or where that decides. None where no pair is promising.
        """
        rounds: list[Round] = []
        for k in range(2 if self.rows.positive.size <= _FEW_ROWS else 1):
            chosen = pairs(self.screen(curves, k) if pairs.screens else None)
            if not chosen:
                return None
            before = base.held_out[k]
            # of many columns the curves of all, or of few
            kinds = self._widths() if k == 0 else (rounds[0].crossed.narrow,)
            tries = [Round.run(self.cross(chosen, k, narrow=narrow), before) for narrow in kinds]
            rounds.append(max(tries, key=lambda one: float(one.aucs.max())))
            found = Interactions.of(rounds, self.rows.frequencies)
            decided = found.gain <= 0.0 or found.gain > _DECIDED * found.error
            if decided or rounds[0].crossed.basis.roughness.size > _MANY_CROSSED:
                break
        return found

    def take(self, crossed: Interactions, curves: Found, pairs: PairChooser) -> Found:
        """Curves and interactions; where two folds have chosen pairs, those that all rows choose."""
        final, start, best = crossed.first.crossed, crossed.first.by_term, [crossed.best]
        if crossed.n_rounds > 1 and pairs.screens:
            final, start = self.cross(pairs(self.screen(curves)), 0, narrow=final.narrow), None
        [strength] = final.penalties.strengths(best, final.suggest(final.rows.statistics(), best, start))
        self._crossed = final.rows
        return Found(
            "interactions",
            final.features,
            final.basis,
            np.arange(strength.size),
            strength,
            float(crossed.by_fold.mean()),
            crossed.by_fold,
            final.penalties.describe(crossed.best),
        )

    def _widths(self) -> tuple[bool, ...]:
        """Whether interactions are tried with the curves of few columns, of all, or both."""
        if self.features.n_columns <= _MANY_COLUMNS:
            return (False,)
        return (True,) if self.basis.roughness.size > _MOST_WIDE else (False, True)

    def cross_all(self, curves: Found, pairs: list[tuple[int, int]]) -> Found:
        """Curves and interactions that are too many to be tried: under one penalty, that of curves if any."""
        features = with_pairs(self.features, pairs)
        basis = smooth_features(features, self._totals, functions=self.functions, coarse=self.settings.coarse)
        ratio = curves.strength / self.basis.roughness
        own = float(ratio[0]) if np.allclose(ratio, ratio[0]) else _USUAL
        strength = own * np.where(basis.is_interaction, CROSSED, 1.0) * basis.roughness
        nothing = np.zeros(0)
        how = f"{own:.3g} for curves, {CROSSED:g} times that for interactions"
        return Found("interactions", features, basis, np.arange(0), strength, float("nan"), nothing, how)

    def cross(self, pairs: list[tuple[int, int]], held_out: int, *, narrow: bool) -> CrossedRows:
        """Rows in the coordinates of curves and interactions; if ``narrow``, of the columns that matter."""
        features, totals, rows = self.features, self._totals, self.rows
        if narrow:
            kept = {j for pair in pairs for j in pair} | self._strongest(held_out)
            features, totals = keep_columns(features, totals, kept)
            known = [one in features.numbers for one in self.features.numbers]
            codes = rows.collapse(features, kept)
            rows = replace(rows, codes=codes, numbers=rows.numbers[:, known])
        features = with_pairs(features, pairs)
        basis = smooth_features(
            features, totals, functions=self.crossed_functions(features), coarse=self.settings.coarse
        )
        fold = (self.rows.fold != held_out).astype(np.int32)
        return CrossedRows(features, basis, rows.fold_rows(basis, features, fold), narrow)

    def _strongest(self, held_out: int) -> set[int]:
        """Columns whose own curves would gain most, seen on the rows of all folds but one."""
        statistics = self.folded.statistics(held_out)
        gain = (statistics.mu**2 - statistics.noise) / (1.0 + 10.0 * statistics.noise * self.basis.roughness)
        by_term = np.bincount(self.basis.group, gain)
        by_column = np.zeros(self.features.n_columns)
        for term, own in zip(self.features.terms(), by_term, strict=False):
            by_column[term.columns[0]] += own
        return set(np.argsort(-by_column, kind="stable")[:_STRONGEST].tolist())

    def crossed_functions(self, features: FeatureMap) -> int:
        """Coordinates of a curve; more where fewer columns are left."""
        numeric = sum(isinstance(one, Steps) and one.edges.size > 0 for one in features.columns) or 1
        return max(self.functions, min(self.settings.functions, _MOST_COORDINATES // numeric))

    def folded_rows(self, found: Found) -> FoldedRows:
        """Rows in the coordinates of what was found; where these were too many, in those of curves."""
        if not found.columns.size:
            return self.folded
        return self._crossed if found.kind == "interactions" else self.folded
