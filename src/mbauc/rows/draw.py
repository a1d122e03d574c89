"""Rows of sampled pairs: the same pairs however rows are cut into parts.

Without ids a row is known by its rank within its class, counted over the parts in their order: the draw is the
one that a fit on one machine makes. With ids it is known by a keyed hash of its id. Each row then has a random
clock that rings at a rate of its weight, and pairs are the first S rings of each class: draws with replacement
in proportion to the weights, in whatever order the rows come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.operator.from_pairs import require_finite
from mbauc.pairs.sampling import draw_ranks, draw_rows
from mbauc.rows.block import Rows
from mbauc.rows.keys import next_keys, row_keys, uniform
from mbauc.rows.label_counts import Census
from mbauc.rows.matrix import is_sparse
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock, Parts
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]


class Drawn(NamedTuple):
    """Rows of sampled pairs.

    Attributes
    ----------
    rows : Rows
        Each row that was drawn, once.
    pairs : (ndarray, ndarray)
        Numbers of the positive and of the negative row of each pair.
    """

    rows: Rows
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]]


def draw(
    parts: Parts,
    layout: Layout,
    census: Census,
    pairs: int,
    random_state: Any,
    *,
    weighted: bool,
    with_ids: bool,
) -> Drawn:
    """Rows for so many pairs, brought to the driver; its memory must hold them.

    One job without weights, or with ids; two with weights and without ids, for which the driver needs 9 bytes
    a row more.
    """
    if with_ids:
        return _draw_by_id(parts, layout, census, pairs, random_state)
    if weighted or census.weighted:
        wanted = _ranks_by_weight(parts, layout, census, pairs, random_state)
    else:
        wanted = draw_ranks(census.sizes, pairs, random_state)
    unique = [np.unique(side, return_inverse=True) for side in wanted]
    task = FetchRanks(layout, census.classes, (unique[0][0], unique[1][0]), census.offsets)
    fetched = parts.collected(task)
    found = [[piece[side] for piece in fetched if piece[side] is not None] for side in (0, 1)]
    for side, (ranks, _) in zip(found, unique, strict=True):
        if sum(X.shape[0] for X in side) != ranks.size:
            raise ValueError(
                "rows moved between two jobs: a part had other rows than when they were counted. Keep the data "
                "as it is (persist or cache it), or name an id column."
            )
    X = _stacked([*found[0], *found[1]])
    plus, minus = unique[0][1], unique[1][1] + unique[0][0].size
    positive = np.arange(X.shape[0]) < unique[0][0].size
    return Drawn(Rows(X, positive, None), (plus, minus))


@dataclass(frozen=True)
class FetchRanks:
    """Task: the rows of some ranks within their class, ``wanted`` in rising order, positives first."""

    layout: Layout
    classes: NDArray[Any]
    wanted: tuple[NDArray[np.int64], NDArray[np.int64]]
    offsets: NDArray[np.int64]

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> tuple[Any, Any]:
        """Rows of each class, or None."""
        seen = [int(count) for count in self.offsets[number]]
        picked: tuple[list[Any], list[Any]] = ([], [])

        def pick(rows: PartRows) -> None:
            positive = rows.positive(self.classes)
            for side, mask in enumerate((positive, ~positive)):
                own = np.flatnonzero(mask & rows.used)
                low, high = np.searchsorted(self.wanted[side], [seen[side], seen[side] + own.size])
                if high > low:
                    numbers = own[self.wanted[side][low:high] - seen[side]]
                    picked[side].append(rows.X[numbers])
                    require_finite(picked[side][-1], numbers)
                seen[side] += own.size

        visit_rows(number, blocks, self.layout, pick)
        return _stacked(picked[0]), _stacked(picked[1])


# -- with weights -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ListWeights:
    """Task: label and weight of each row of positive weight."""

    layout: Layout
    classes: NDArray[Any]

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> tuple[NDArray[np.bool_], Array]:
        """Which rows are positive, and their weights."""
        labels: list[NDArray[np.bool_]] = [np.zeros(0, dtype=np.bool_)]
        weights: list[Array] = [np.zeros(0)]

        def note(rows: PartRows) -> None:
            labels.append(rows.positive(self.classes)[rows.used])
            weights.append(np.ones(rows.y.size) if rows.weight is None else rows.weight[rows.used])

        visit_rows(number, blocks, self.layout, note)
        return np.concatenate(labels), np.concatenate(weights)


def _ranks_by_weight(
    parts: Parts, layout: Layout, census: Census, pairs: int, random_state: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if 18 * sum(census.sizes) > parse_memory(None):
        raise ValueError(
            f"weights of {sum(census.sizes):,} rows do not fit into the driver's memory; name an id column "
            "(id=…), with which weighted pairs are drawn where the rows are."
        )
    found = parts.without_features().collected(ListWeights(layout, census.classes))
    positive = np.concatenate([labels for labels, _ in found])
    rows = Rows(None, positive, np.concatenate([weight for _, weight in found]))
    drawn = draw_rows(rows, pairs, random_state)
    ranks = np.where(positive, np.cumsum(positive), np.cumsum(~positive)) - 1
    return ranks[drawn[0]], ranks[drawn[1]]


# -- by id ----------------------------------------------------------------------------------------------------


class Rings(NamedTuple):
    """Rows whose clock has rung, and when: ``times`` in rising order of ``rows`` and of time."""

    X: Any
    rows: NDArray[np.intp]
    times: Array


@dataclass(frozen=True)
class RingClocks:
    """Task: rows of each class that are drawn before a time."""

    layout: Layout
    classes: NDArray[Any]
    seeds: tuple[int, int]
    until: tuple[float, float]

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> tuple[Rings | None, Rings | None]:
        """Rows and times of each class."""
        part = _Ringing(self)
        visit_rows(number, blocks, self.layout, part.add)
        return part.rings(0), part.rings(1)


@dataclass
class _Ringing:
    task: RingClocks
    found: tuple[list[Rings], list[Rings]] = field(default_factory=lambda: ([], []))

    def add(self, rows: PartRows) -> None:
        if rows.ids is None:
            raise ValueError("a draw by id needs the ids of the rows.")
        positive = rows.positive(self.task.classes)
        for side, mask in enumerate((positive, ~positive)):
            own = np.flatnonzero(mask & rows.used)
            weight = np.ones(own.size) if rows.weight is None else rows.weight[own]
            keys = row_keys(rows.ids[own], self.task.seeds[side])
            place, time = np.arange(own.size), np.zeros(own.size)
            places, times = [], []
            while place.size:
                time = time - np.log(uniform(keys)) / weight[place]
                early = time <= self.task.until[side]
                place, time, keys = place[early], time[early], next_keys(keys[early])
                places.append(place)
                times.append(time)
            drawn = np.concatenate([np.arange(0), *places])
            which, row = np.unique(drawn, return_inverse=True)
            if which.size:
                X = rows.X[own[which]]
                require_finite(X, own[which])
                self.found[side].append(Rings(X, row, np.concatenate(times)))

    def rings(self, side: int) -> Rings | None:
        return _together(self.found[side])


def _together(found: list[Rings]) -> Rings | None:
    if not found:
        return None
    starts = np.cumsum([0, *(rings.X.shape[0] for rings in found)])
    rows = np.concatenate([rings.rows + start for rings, start in zip(found, starts, strict=False)])
    return Rings(_stacked([rings.X for rings in found]), rows, np.concatenate([rings.times for rings in found]))


def _draw_by_id(parts: Parts, layout: Layout, census: Census, pairs: int, random_state: Any) -> Drawn:
    seeds = [int(seed) for seed in generator(random_state).integers(2**63 - 1, size=2)]
    totals = [census.class_weight(positive)[0] for positive in (True, False)]
    if not all(totals):
        raise ValueError(
            f"pairs need both classes; there are {census.sizes[0]:,} positives of positive weight."
        )
    expected = pairs + 8.0 * np.sqrt(pairs) + 16.0
    while True:
        until = (expected / totals[0], expected / totals[1])
        fetched = parts.collected(RingClocks(layout, census.classes, (seeds[0], seeds[1]), until))
        sides = [_together([part[side] for part in fetched if part[side] is not None]) for side in (0, 1)]
        if all(rings is not None and rings.times.size >= pairs for rings in sides):
            break
        expected *= 2
    X, first, drawn = [], 0, []
    for rings in sides:
        chosen = rings.rows[np.argsort(rings.times, kind="stable")[:pairs]]  # type: ignore[union-attr]
        kept, places = np.unique(chosen, return_inverse=True)
        X.append(rings.X[kept])  # type: ignore[union-attr]
        drawn.append(places + first)
        first += kept.size
    positive = np.arange(first) < X[0].shape[0]
    return Drawn(Rows(_stacked(X), positive, None), (drawn[0], drawn[1]))


def _stacked(pieces: list[Any]) -> Any:
    if not pieces:
        return None
    if any(is_sparse(X) for X in pieces):
        return sp.vstack([sp.csr_array(X) for X in pieces], format="csr")
    return np.concatenate(pieces)
