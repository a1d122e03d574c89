"""The search as a fit runs it: which kinds are tried on the sample, which is taken, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Steps
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.fourier import FourierMap
from mbauc.basis.pooling import PooledLevels, carry_strength
from mbauc.basis.smoothing import SmoothBasis, smooth_features
from mbauc.errors import Advice
from mbauc.estimators.additive.coordinates import FoldedRows
from mbauc.estimators.additive.crossed import PairChooser
from mbauc.estimators.additive.search import FeatureSearch, Found, SearchSettings
from mbauc.estimators.additive.search_rows import SearchRows, weigh_indicators
from mbauc.features import FourierFeatures
from mbauc.features.column_units import ColumnUnits
from mbauc.rows.block import Block
from mbauc.rows.matrix import as_dense
from mbauc.rows.parts.folds import FoldsByRank, limit_folds
from mbauc.rows.parts.group_folds import deal_groups
from mbauc.rows.parts.row_sample import RowSample

Array = NDArray[np.float64]
Pairs = Sequence[tuple[int, int]]

#: Levels of all categories together that are tried where the sample is not all rows: 50,000 rows of so many
#: coordinates take 0.8 GB.
_MOST_LEVELS = 2_000


@dataclass(frozen=True, eq=False)
class Chosen:
    """Features to fit, and the penalty of each of their coordinates.

    Attributes
    ----------
    kind : str
        "linear", "curves" or "interactions".
    features : FeatureMap
        The features.
    basis : SmoothBasis
        Their coordinates.
    strength : ndarray
        Penalty of each coordinate, in units of the noise: l2 times its factor is 2ν times it.
    reason : str
        Why these, in a sentence or two.
    tried : tuple of Found
        All that was tried, without its rows.
    rows : FoldedRows
        The rows of the sample in all coordinates of the search, of which ``columns`` are used.
    columns : ndarray of int
        Which of the coordinates of ``rows`` those of ``basis`` are; none where these were too many to be tried.
    """

    kind: str
    features: FeatureMap
    basis: SmoothBasis
    strength: Array
    reason: str
    tried: tuple[Found, ...]
    rows: FoldedRows
    columns: NDArray[np.intp]


def choose_features(
    sample: RowSample,
    kinds: Sequence[ColumnKind],
    wanted: str,
    pairs: Pairs | int | None,
    *,
    design: DesignSettings,
    settings: SearchSettings,
    n_folds: int,
    rng: np.random.Generator,
    frequencies: bool = False,
    n_jobs: int | None = None,
) -> Chosen:
    """Features for the rows of a sample: of the kind that is wanted, or of the kind that ranks best.

    The simplest kind whose held-out AUC is within one standard error of the next one's is taken: curves if they
    are ahead of straight lines by more than one, paired by fold; interactions if they are ahead of curves by
    more than one on the first fold, which had no say in which pairs of columns there are. Of rows with groups
    only pairs within these count, and a group is in one fold.

    Where the sample is not all rows and categories have more than 2,000 levels together, kinds and penalties
    are tried with the most frequent levels of each; what is chosen has all of them.

    Parameters
    ----------
    sample : RowSample
        The rows.
    kinds : sequence of ColumnKind
        What their columns are.
    wanted : str
        "auto", "linear", "curves", "interactions" or "fourier".
    pairs : sequence of (int, int), int or None
        Interactions, how many of them at most, or None for the default.
    design, settings : DesignSettings, SearchSettings
        How fine features are, and how much is tried.
    n_folds : int
        Folds of the cross-validation.
    rng : Generator
        Draws the folds.
    frequencies : bool, default=False
        Whether a weight k stands for k equal rows.
    n_jobs : int, optional
        Threads.
    """
    block = sample.block
    X = as_dense(block.X)
    features = design_features(X, sample.share, kinds, design)
    if wanted == "fourier":
        features = replace(features, waves=_draw_waves(X, block.positive, kinds, rng))
    fold = _draw_folds(block, n_folds, rng)
    # rows of a fold together, so that they need no copy
    order = np.argsort(fold, kind="stable")
    X = X[order]
    codes, pooled = features.codes(X, n_jobs), None
    if not sample.is_whole:
        totals = weigh_indicators(features, codes, sample.share[order])
        pooled = PooledLevels.of(features, totals, _MOST_LEVELS)
    if pooled is not None:
        features, codes = pooled.features, pooled.codes(codes)
    rows = SearchRows(
        codes,
        features.number_values(X),
        block.positive[order],
        None if block.weight is None else block.weight[order],
        sample.share[order],
        fold[order],
        frequencies,
        n_jobs,
        None if features.waves is None else features.waves.encode(X),
        tuple(column.width for column in features.columns),
        None if block.groups is None else block.groups[order],
    )
    search = FeatureSearch(rows, features, settings)
    chosen = _Choice(search, wanted, pairs).run()
    return chosen if pooled is None else _with_all_levels(chosen, pooled, totals, search)


def _draw_folds(block: Block, n_folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The fold of each row: even ones of both classes, or of whole groups."""
    if block.groups is not None:
        keys, code = np.unique(block.groups, return_inverse=True)
        sides = [np.bincount(code[block.positive == side], minlength=keys.size) for side in (True, False)]
        return deal_groups(np.column_stack(sides), n_folds, 1, rng)[1][0][code]
    sizes = int(block.positive.sum()), int((~block.positive).sum())
    return FoldsByRank.draw(sizes, limit_folds(sizes, n_folds), rng).for_part(0).assign(block)


def _draw_waves(
    X: Array, positive: NDArray[np.bool_], kinds: Sequence[ColumnKind], rng: np.random.Generator
) -> FourierMap:
    """Waves of the numeric columns, as fast as ranks held-out rows best."""
    numeric = np.array([not kind.categorical for kind in kinds])
    if not numeric.any():
        raise ValueError(
            Advice("{features} needs numeric columns", features="fourier")
            + "; there are none. "
            + Advice("Use {features}.", features="auto")
        )
    too_large = numeric & ColumnUnits.from_rows(X).overflows
    if too_large.any():
        name = kinds[int(np.flatnonzero(too_large)[0])].name
        raise ValueError(
            f"X holds values in column {name!r} whose squares overflow float64; rescale the column."
        )
    fitted = FourierFeatures(random_state=int(rng.integers(2**31))).fit(X[:, numeric], positive).map_
    center, unit = np.zeros(len(kinds)), np.zeros(len(kinds))
    center[numeric], unit[numeric] = fitted.center, fitted.unit
    return replace(fitted, center=center, unit=unit)


@dataclass
class _Choice:
    search: FeatureSearch
    wanted: str
    pairs: Pairs | int | None

    def run(self) -> Chosen:
        """The features that are wanted, or the simplest that are not beaten by more than a standard error."""
        if self.wanted == "linear":
            found = self.search.linear()
            return self._finish(found, f"linear terms, as requested: held-out AUC {found.auc:.4f}", (found,))
        if self.wanted == "fourier":
            found = self.search.fourier()
            return self._finish(
                found, f"random Fourier features, as requested: held-out AUC {found.auc:.4f}", (found,)
            )
        curves = self.search.curves()
        if self.wanted == "curves":
            return self._finish(curves, f"curves, as requested: held-out AUC {curves.auc:.4f}", (curves,))
        base, said = curves, f"curves: held-out AUC {curves.auc:.4f}"
        tried: tuple[Found, ...] = (curves,)
        if self.wanted == "auto":
            base, tried, said = self._compare_lines(curves)
        limit = self.search.settings.most_crossed // self.search.settings.coarse**2
        most = min(self.pairs, limit) if isinstance(self.pairs, int) else self.search.most_pairs
        given = None if self.pairs is None or isinstance(self.pairs, int) else list(self.pairs)
        if most == 0 or given == []:
            return self._finish(base, said + "; no interactions, as requested", tried)
        if given is not None and len(given) > limit:
            if self.wanted == "auto":
                reason = (
                    f"{said}; none of the {len(given):,} requested interactions is used, because at most "
                    f"{limit} can be compared on held-out rows; features 'interactions' uses all without this "
                    "comparison"
                )
                return self._finish(base, reason, tried)
            found = self.search.cross_all(curves, given)
            reason = f"{len(given):,} interactions, as requested (too many to compare on held-out rows); {said}"
            return self._finish(found, reason, tried)
        chooser = PairChooser(given, most)
        crossed = self.search.interactions(curves, base, chooser)
        if crossed is None:
            return self._finish(base, said + "; no interactions detected", tried)
        if self.wanted == "auto" and crossed.gain <= crossed.error:
            features = crossed.first.crossed.features
            number = self._tell_number(features, limit)
            change = "changes" if len(features.pairs) == 1 else "change"
            return self._finish(
                base,
                f"{said}; {number} {change} the held-out AUC by {crossed.gain:+.4f}, not more than one "
                f"standard error ({crossed.error:.4f})",
                tried,
            )
        found = self.search.take(crossed, curves, chooser)
        number = self._tell_number(found.features, limit)
        if crossed.first.crossed.narrow:
            number += " and curves of a subset of the columns, the strongest and those that interact"
        change = "it changes" if len(found.features.pairs) == 1 else "they change"
        return self._finish(
            found,
            f"{number}: {change} the held-out AUC by {crossed.gain:+.4f} (standard error "
            f"{crossed.error:.4f}); without them, {said}",
            (*tried, found),
        )

    def _tell_number(self, features: FeatureMap, limit: int) -> str:
        """How many interactions there are, and whether more were asked for than can be tried."""
        count = len(features.pairs)
        number = f"{count} interaction{'s' if count != 1 else ''}"
        if isinstance(self.pairs, int) and count == limit < self.pairs:
            number += f" (the most that can be compared on held-out rows; up to {self.pairs:,} requested)"
        return number

    def _compare_lines(self, curves: Found) -> tuple[Found, tuple[Found, ...], str]:
        """Straight lines or curves, what was tried, and what is said of it."""
        if not self.search.has_curves:
            said = f"held-out AUC {curves.auc:.4f}; no column has enough values for a curve"
            lines = replace(curves, kind="linear")
            return lines, (lines,), f"category levels and linear terms: {said}"
        linear = self.search.linear()
        gap, error = self.search.compare(curves, linear)
        if gap > error:
            return (
                curves,
                (linear, curves),
                f"curves: held-out AUC {curves.auc:.4f}, {gap:.4f} above linear terms (standard error "
                f"{error:.4f} over the folds)",
            )
        return (
            linear,
            (linear, curves),
            f"linear terms: held-out AUC {linear.auc:.4f}; curves change it by {gap:+.4f}, not more than one "
            f"standard error ({error:.4f} over the folds)",
        )

    def _finish(self, found: Found, reason: str, tried: tuple[Found, ...]) -> Chosen:
        reason = f"{reason}. Penalties: {found.how}."
        features, basis = found.features, found.basis
        rows = self.search.folded_rows(found)
        if found.kind in ("linear", "fourier"):
            features = _drop_curves(features)
            totals = _totals(features, self.search.features, self.search.rows.totals(self.search.features))
            basis = smooth_features(features, totals, functions=self.search.functions)
        return Chosen(found.kind, features, basis, found.strength, reason, tried, rows, found.columns)


def _with_all_levels(
    chosen: Chosen, pooled: PooledLevels, totals: list[Array], search: FeatureSearch
) -> Chosen:
    """What was chosen with fewer levels of categories, with all of them: in coordinates that were not tried."""
    features, totals = pooled.restore(chosen.features, totals)
    functions = search.crossed_functions(features) if chosen.features.pairs else search.functions
    basis = smooth_features(features, totals, functions=functions, coarse=search.settings.coarse)
    return replace(
        chosen,
        features=features,
        basis=basis,
        strength=carry_strength(chosen.strength, chosen.basis, basis),
        reason=f"{chosen.reason} Compared with the {pooled.limit:,} most frequent levels of each category.",
        columns=np.zeros(0, dtype=np.intp),
    )


def _drop_curves(features: FeatureMap) -> FeatureMap:
    """The same columns, with one bin for numbers that have a straight line."""
    lines = {number.column for number in features.numbers}
    columns = tuple(
        Steps(np.zeros(0), column.centers[:1]) if j in lines and isinstance(column, Steps) else column
        for j, column in enumerate(features.columns)
    )
    return FeatureMap(features.names, columns, features.numbers, waves=features.waves)


def _totals(pruned: FeatureMap, features: FeatureMap, totals: list[Array]) -> list[Array]:
    """Weight of each indicator once bins have been taken together."""
    return [
        own if after.width == before.width else np.array([own[:-1].sum(), own[-1]])
        for after, before, own in zip(pruned.columns, features.columns, totals, strict=True)
    ]
