"""Curves and interactions on rows of which a fold is held out: pairs, coordinates, what they gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.screening import Screened
from mbauc.basis.smoothing import SmoothBasis
from mbauc.estimators.additive.coordinates import FoldedRows, Statistics, pick
from mbauc.estimators.additive.gain import mean_gain, paired_gain
from mbauc.estimators.additive.penalties import Penalties

Array = NDArray[np.float64]
Index = NDArray[np.intp]


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
        kept = screened.pairs[: min(self.most, int((screened.gains > 0).sum()))]
        return [(int(a), int(b)) for a, b in kept]


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
        return pick(self.rows.weight, self.rows.fold == 0)

    @property
    def held_out_groups(self) -> NDArray[np.uint64] | None:
        """Groups of the rows that are held out, if there are some."""
        return pick(self.rows.groups, self.rows.fold == 0)

    @cached_property
    def penalties(self) -> Penalties:
        """Penalties to try."""
        return Penalties.of(self.basis)

    def suggest(
        self, statistics: Statistics, places: Sequence[int], start: Array | None = None
    ) -> Array | None:
        """Strengths by term, if some of the penalties at these places need them."""
        return self.penalties.suggest(statistics, start) if self.penalties.needs_suggestion(places) else None


@dataclass(frozen=True, eq=False)
class Round:
    """Interactions on one fold: scores of its rows under all penalties, their AUC, and scores without them."""

    crossed: CrossedRows
    scores: Array
    aucs: Array
    before: Array
    #: strengths by term that the rows suggest, if they were tried
    by_term: Array | None

    @classmethod
    def run(cls, crossed: CrossedRows, before: Array) -> Round:
        """Weights from the rows that are not held out, scores of those that are."""
        statistics = crossed.rows.statistics(0)
        places = range(crossed.penalties.count)
        by_term = crossed.suggest(statistics, places)
        W = statistics.solve(crossed.penalties.strengths(places, by_term), crossed.rows.n_threads)
        scores = crossed.rows.held_out(0, W)
        return cls(crossed, scores, crossed.rows.auc(0, scores), before, by_term)

    def gain(self, place: int, frequencies: bool) -> tuple[float, float]:
        """What scores under one of the penalties gain, and its standard error."""
        crossed = self.crossed
        return paired_gain(
            crossed.held_out_labels,
            self.scores[place],
            self.before,
            crossed.held_out_weight,
            frequencies,
            crossed.held_out_groups,
        )


@dataclass(frozen=True, eq=False)
class Interactions:
    """What interactions gain over simpler features on held-out rows.

    Attributes
    ----------
    first : Round
        The first round, on the first fold.
    n_rounds, best : int
        How many rounds there were, and which of the penalties did best.
    by_fold : ndarray
        Its AUC in each round.
    gain, error : float
        By how much it is ahead, and the standard error of that.
    """

    first: Round
    n_rounds: int
    best: int
    by_fold: Array
    gain: float
    error: float

    @classmethod
    def of(cls, rounds: Sequence[Round], frequencies: bool) -> Interactions:
        """From rounds, whose rows have weights of one kind."""
        # rounds may differ in how many coordinates, and so penalties, there are
        count = min(one.aucs.size for one in rounds)
        table = np.array([one.aucs[:count] for one in rounds])
        best = int(np.argmax(table.mean(axis=0)))
        gain, error = mean_gain([one.gain(best, frequencies) for one in rounds])
        return cls(rounds[0], len(rounds), best, table[:, best], gain, error)


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
