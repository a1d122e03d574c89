"""Rows of sampled pairs: the same pairs however rows are cut into parts.

Without ids a row is known by its rank within its class, counted over the parts in their order. With ids it is
known by a keyed hash of its id. Each row then has a random clock that rings at a rate of its weight, and pairs
are the first S rings of each class: draws with replacement in proportion to the weights, in whatever order the
rows come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block
from mbauc.rows.finite import require_finite
from mbauc.rows.labels import Labels, check_classes
from mbauc.rows.matrix import stack_rows
from mbauc.rows.parts.keys import next_keys, row_keys, uniform
from mbauc.rows.parts.label_counts import LabelCounts, count_labels
from mbauc.rows.parts.protocol import PartedRows, Parts
from mbauc.rows.reading import Item, visit_blocks
from mbauc.rows.schema import Schema
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]
Index = NDArray[np.intp]


class Sample(NamedTuple):
    """Pairs that were drawn: rows that hold them, and the numbers of both rows of each pair."""

    block: Block
    pairs: tuple[Index, Index]


# -- who is drawn ---------------------------------------------------------------------------------------------


class Drawer:
    """Draws rows of one class with replacement, in proportion to their weight."""

    def __init__(self, index: Index, weight: Array | None, stream: np.random.Generator) -> None:
        self._rows, self._stream = index, stream
        self._upper = None if weight is None else np.cumsum(weight[index])

    def draw(self, size: int) -> Index:
        """Numbers of ``size`` drawn rows."""
        if self._upper is None:
            return np.asarray(self._rows[self._stream.integers(self._rows.size, size=size)])
        place = np.searchsorted(self._upper, self._stream.random(size) * self._upper[-1], side="right")
        return np.asarray(self._rows[np.minimum(place, self._rows.size - 1)])


def make_drawers(block: Block, random_state: Any, subset: Index | None = None) -> tuple[Drawer, Drawer]:
    """What draws the positives and the negatives of a block, or of some of its rows."""
    groups = block.rows_of(True, subset), block.rows_of(False, subset)
    _require_rows((groups[0].size, groups[1].size))
    plus, minus = (
        Drawer(rows, block.weight, stream) for rows, stream in zip(groups, _streams(random_state), strict=True)
    )
    return plus, minus


def draw_rows(block: Block, pairs: int, random_state: Any, subset: Index | None = None) -> tuple[Index, Index]:
    """Row numbers of the positives and negatives of ``pairs`` drawn pairs."""
    plus, minus = make_drawers(block, random_state, subset)
    return plus.draw(pairs), minus.draw(pairs)


def draw_ranks(sizes: tuple[int, int], pairs: int, random_state: Any) -> tuple[Index, Index]:
    """The same draw from rows without weights, as places among the rows of each class."""
    _require_rows(sizes)
    streams = _streams(random_state)
    plus, minus = (stream.integers(size, size=pairs) for stream, size in zip(streams, sizes, strict=True))
    return plus, minus


def _streams(random_state: Any) -> list[np.random.Generator]:
    """One generator per class, so that the draws of a class do not depend on the size of the rounds."""
    return list(generator(random_state).spawn(2))


def _require_rows(sizes: tuple[int, int]) -> None:
    for size, missing in zip(sizes, ("positive", "negative"), strict=True):
        if size == 0:
            raise ValueError(f"there are no {missing} rows to draw from; pairs need both classes.")


# -- from parts -----------------------------------------------------------------------------------------------


def draw_sample(rows: PartedRows, pairs: int, random_state: Any) -> tuple[Sample, LabelCounts]:
    """Rows of ``pairs`` drawn pairs, collected here, and counts of all rows; memory must hold the rows drawn.

    Two jobs: one for the labels, one for the rows. Weights of rows without ids are brought here, 9 bytes a row,
    in one job more, except for a source: its labels and weights are listed at once.
    """
    parts, schema = rows.parts, rows.schema
    if rows.with_ids:
        counts = count_labels(parts, schema, rows.classes)
        return _draw_by_id(parts, schema, counts, pairs, random_state), counts
    if parts.kind == "source":
        counts, ranks = _draw_from_list(parts, schema, check_classes(rows.classes), pairs, random_state)
    else:
        counts = count_labels(parts, schema, rows.classes)
        if rows.weighted or counts.weighted:
            if 18 * sum(counts.sizes) > parse_memory(None):
                raise ValueError(
                    f"weights of {sum(counts.sizes):,} rows do not fit into the driver's memory; pass an id "
                    "column (id=…), so that workers draw the weighted pairs."
                )
            _, ranks = _draw_from_list(parts, schema, counts.classes, pairs, random_state)
        else:
            ranks = draw_ranks(counts.sizes, pairs, random_state)
    return _fetch_ranks(parts, schema, counts, ranks), counts


def _fetch_ranks(parts: Parts, schema: Schema, counts: LabelCounts, ranks: tuple[Index, Index]) -> Sample:
    """The rows of these ranks within their class, each once."""
    (plus, i), (minus, j) = (np.unique(side, return_inverse=True) for side in ranks)
    fetched = parts.collect(FetchRanks(schema, counts.classes, (plus, minus), counts.offsets))
    pieces = [[piece[side] for piece in fetched if piece[side] is not None] for side in (0, 1)]
    for side, wanted in zip(pieces, (plus, minus), strict=True):
        if sum(X.shape[0] for X in side) != wanted.size:
            raise ValueError(
                "rows moved between two jobs: a partition has other rows than when they were counted. Persist "
                "or cache the data, or pass an id column (id=…)."
            )
    X = stack_rows([*pieces[0], *pieces[1]])
    return Sample(Block(X, np.arange(X.shape[0]) < plus.size), (i, j + plus.size))


@dataclass(frozen=True)
class FetchRanks:
    """Task: the rows of some ranks within their class, ``wanted`` in rising order, positives first."""

    schema: Schema
    classes: NDArray[Any]
    wanted: tuple[Index, Index]
    offsets: NDArray[np.int64]

    def __call__(self, number: int, blocks: Iterable[Item]) -> tuple[Any, Any]:
        """Rows of each class, or None."""
        seen = [int(count) for count in self.offsets[number]]
        picked: tuple[list[Any], list[Any]] = ([], [])

        def pick(block: Block) -> None:
            for side in (0, 1):
                own = block.rows_of(side == 0)
                low, high = np.searchsorted(self.wanted[side], [seen[side], seen[side] + own.size])
                if high > low:
                    numbers = own[self.wanted[side][low:high] - seen[side]]
                    picked[side].append(block.X[numbers])
                    require_finite(picked[side][-1], numbers)
                seen[side] += own.size

        visit_blocks(number, blocks, self.schema, Labels(self.classes), pick)
        return stack_rows(picked[0]), stack_rows(picked[1])


# -- with weights -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ListWeights:
    """Task: label and weight of each row of positive weight; None for weights that are all one."""

    schema: Schema
    classes: NDArray[Any]

    def __call__(self, number: int, blocks: Iterable[Item]) -> tuple[NDArray[np.bool_], Array | None]:
        """Which rows are positive, and their weights."""
        labels: list[NDArray[np.bool_]] = [np.zeros(0, dtype=np.bool_)]
        weights: list[Array | None] = [None]

        def note(block: Block) -> None:
            labels.append(block.positive[block.used])
            weights.append(None if block.weight is None else block.weight[block.used])

        visit_blocks(number, blocks, self.schema, Labels(self.classes), note)
        return np.concatenate(labels), _join_weights(weights, [part.size for part in labels])


def _join_weights(weights: list[Array | None], sizes: list[int]) -> Array | None:
    if all(weight is None for weight in weights):
        return None
    return np.concatenate(
        [np.ones(size) if weight is None else weight for weight, size in zip(weights, sizes, strict=True)]
    )


def _draw_from_list(
    parts: Parts, schema: Schema, classes: NDArray[Any], pairs: int, random_state: Any
) -> tuple[LabelCounts, tuple[Index, Index]]:
    """Counts of the rows of each part, and ranks that are drawn from the labels and weights of all rows."""
    listed = parts.labels_only().collect(ListWeights(schema, classes))
    blocks = [Block(None, positive, weight) for positive, weight in listed]
    table = [[_count_class(block, side) for side in (True, False)] for block in blocks]
    positive = np.concatenate([block.positive for block in blocks])
    weight = _join_weights([block.weight for block in blocks], [block.n_rows for block in blocks])
    plus, minus = draw_rows(Block(None, positive, weight), pairs, random_state)
    ranks = np.where(positive, np.cumsum(positive), np.cumsum(~positive)) - 1
    return LabelCounts(classes, np.array(table)), (ranks[plus], ranks[minus])


def _count_class(block: Block, positive: bool) -> tuple[float, float, float]:
    own = block.rows_of(positive)
    if block.weight is None:
        return own.size, own.size, own.size
    weight = block.weight[own]
    return own.size, float(weight.sum()), float(weight @ weight)


# -- by id ----------------------------------------------------------------------------------------------------


class Rings(NamedTuple):
    """Rows whose clock has rung, and when: ``times`` in rising order of ``rows`` and of time."""

    X: Any
    rows: Index
    times: Array


@dataclass(frozen=True)
class RingClocks:
    """Task: rows of each class that are drawn before a time."""

    schema: Schema
    classes: NDArray[Any]
    seeds: tuple[int, int]
    until: tuple[float, float]

    def __call__(self, number: int, blocks: Iterable[Item]) -> tuple[Rings | None, Rings | None]:
        """Rows and times of each class."""
        part = _Ringing(self)
        visit_blocks(number, blocks, self.schema, Labels(self.classes), part.add)
        return _join(part.rings[0]), _join(part.rings[1])


@dataclass
class _Ringing:
    task: RingClocks
    rings: tuple[list[Rings], list[Rings]] = field(default_factory=lambda: ([], []))

    def add(self, block: Block) -> None:
        if block.ids is None:
            raise ValueError("a draw by id needs the ids of the rows.")
        for side in (0, 1):
            own = block.rows_of(side == 0)
            weight = np.ones(own.size) if block.weight is None else block.weight[own]
            keys = row_keys(block.ids[own], self.task.seeds[side])
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
                X = block.X[own[which]]
                require_finite(X, own[which])
                self.rings[side].append(Rings(X, row, np.concatenate(times)))


def _join(rings: list[Rings]) -> Rings | None:
    if not rings:
        return None
    starts = np.cumsum([0, *(one.X.shape[0] for one in rings)])
    rows = np.concatenate([one.rows + start for one, start in zip(rings, starts, strict=False)])
    return Rings(stack_rows([one.X for one in rings]), rows, np.concatenate([one.times for one in rings]))


def _draw_by_id(parts: Parts, schema: Schema, counts: LabelCounts, pairs: int, random_state: Any) -> Sample:
    seeds = [int(seed) for seed in generator(random_state).integers(2**63 - 1, size=2)]
    totals = [counts.class_weight(positive)[0] for positive in (True, False)]
    if not all(totals):
        raise ValueError(
            f"pairs need both classes; there are {counts.sizes[0]:,} positives of positive weight."
        )
    expected = pairs + 8.0 * np.sqrt(pairs) + 16.0
    while True:
        until = (expected / totals[0], expected / totals[1])
        fetched = parts.collect(RingClocks(schema, counts.classes, (seeds[0], seeds[1]), until))
        sides = [_join([part[side] for part in fetched if part[side] is not None]) for side in (0, 1)]
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
    return Sample(Block(stack_rows(X), np.arange(first) < X[0].shape[0]), (drawn[0], drawn[1]))
