"""A sample of the rows of each class, the same however rows are cut into parts.

Each row has random bits of its own: a keyed hash of its id, or of its rank within its class, counted over the
parts in their order. The sample are the rows with the smallest: of two parts it is among the samples of both.
Rows of a group have the bits of their group, and a sample has whole groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, NonFiniteError
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels, check_classes
from mbauc.rows.matrix import is_sparse, stack_rows
from mbauc.rows.parts.keys import row_keys
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import SourceParts
from mbauc.rows.reading import Item, visit_blocks
from mbauc.rows.schema import Schema

Array = NDArray[np.float64]

#: A sample in the making may hold this many times its rows before the largest keys are dropped.
_SLACK = 2
#: Groups with rows of both classes that a sample needs.
_LEAST_GROUPS = 2


@dataclass
class ClassSample:
    """Rows of one class with the smallest keys, and how many rows there were."""

    most: int
    rows: int = 0
    weight: float = 0.0
    keys: NDArray[np.uint64] | None = None
    X: Any = None
    weights: Array | None = None

    def add(self, X: Any, keys: NDArray[np.uint64], weights: Array) -> None:
        """Take in some rows, all of them sampled from ``rows`` others that are counted elsewhere."""
        if self.keys is not None:
            X = stack_rows([self.X, X])
            keys, weights = np.append(self.keys, keys), np.append(self.weights, weights)  # type: ignore[arg-type]
        self.X, self.keys, self.weights = X, keys, weights
        if keys.size > _SLACK * self.most:
            self.trim(self.most)

    def trim(self, most: int) -> None:
        """Keep the rows with the smallest keys, in the order of the keys."""
        if self.keys is not None:
            kept = np.argsort(self.keys, kind="stable")[:most]
            self.X, self.keys, self.weights = self.X[kept], self.keys[kept], self.weights[kept]  # type: ignore[index]

    @property
    def largest(self) -> np.uint64:
        """Rows with larger keys than this need not be looked at."""
        if self.keys is None or self.keys.size < self.most:
            return np.uint64(2**64 - 1)
        return np.uint64(np.partition(self.keys, self.most - 1)[self.most - 1])

    def merge(self, other: ClassSample) -> ClassSample:
        """The sample of the rows of both."""
        self.rows, self.weight = self.rows + other.rows, self.weight + other.weight
        if other.keys is not None:
            self.add(other.X, other.keys, other.weights)  # type: ignore[arg-type]
        return self


@dataclass(frozen=True)
class SampleRows:
    """Task: a sample of the rows of each class of a part, positives first."""

    schema: Schema
    classes: NDArray[Any]
    most: int
    seed: int
    #: rows of each class before each part; None where rows have ids
    offsets: NDArray[np.int64] | None

    def __call__(self, number: int, blocks: Iterable[Item]) -> tuple[ClassSample, ClassSample]:
        """The samples of both classes."""
        samples = ClassSample(self.most), ClassSample(self.most)
        seen = [0, 0] if self.offsets is None else self.offsets[number].tolist()

        def pick(block: Block) -> None:
            _refuse_infinite(block.X)
            for side, sample in enumerate(samples):
                own = block.rows_of(side == 0)
                if block.groups is not None:
                    keys = row_keys(block.groups[own], self.seed)
                elif self.offsets is None and block.ids is not None:
                    keys = row_keys(block.ids[own], self.seed + side)
                else:
                    keys = row_keys(np.arange(seen[side], seen[side] + own.size), self.seed + side)
                seen[side] += own.size
                weights = np.ones(own.size) if block.weight is None else block.weight[own]
                sample.rows, sample.weight = sample.rows + own.size, sample.weight + float(weights.sum())
                small = keys <= sample.largest
                if small.any():
                    sample.add(block.X[own[small]], keys[small], weights[small])

        visit_blocks(number, blocks, self.schema, Labels(self.classes), pick)
        for sample in samples:
            sample.trim(self.most)
        return samples


def _merge(
    first: tuple[ClassSample, ClassSample], second: tuple[ClassSample, ClassSample]
) -> tuple[ClassSample, ClassSample]:
    return first[0].merge(second[0]), first[1].merge(second[1])


@dataclass(frozen=True, eq=False)
class RowSample:
    """Sampled rows, positives first, each class in a random order of its own.

    Attributes
    ----------
    block : Block
        The rows with their weights, and their groups if they have some.
    share : ndarray of shape (n,)
        What each row stands for, so that classes have the weights that they have in the data.
    sizes : (int, int)
        Rows of the data, (positives, negatives).
    classes : ndarray of shape (2,)
        Negative first.
    """

    block: Block
    share: Array
    sizes: tuple[int, int]
    classes: NDArray[Any]

    @property
    def is_whole(self) -> bool:
        """Whether all rows are in it."""
        return self.block.n_rows == sum(self.sizes)


def sample_rows(rows: PartedRows, most: int, seed: int) -> RowSample:
    """A sample of ``most`` rows, half of each class where there are enough. Memory: twice that.

    Of rows with groups whole groups, whose rows together are no more than ``most``, whatever their classes.

    One job, or two where rows are with workers: labels are counted first. Missing values may be among the rows,
    infinite ones may not.

    Parameters
    ----------
    rows : PartedRows
        The data.
    most : int
        Rows of the sample, at most.
    seed : int
        Of the keys of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.rows.block import Block
    >>> from mbauc.rows.parts.memory import rows_in_memory
    >>> block = Block(np.arange(50.0).reshape(-1, 1), np.arange(50) < 5)
    >>> sample = sample_rows(rows_in_memory(block), 20, seed=0)
    >>> sample.block.n_rows, int(sample.block.positive.sum()), sample.sizes
    (20, 5, (5, 45))
    """
    by_id, parts = rows.with_ids, rows.parts
    if isinstance(parts, SourceParts):
        # a pass of its own, over rows with missing values, which nobody can rank yet
        parts = parts.over(parts.source, title="sampling rows")
    if parts.kind == "cluster":
        counts = count_labels(parts, rows.schema, rows.classes)
        classes, offsets = counts.classes, None if by_id else counts.offsets
    else:
        classes, offsets = check_classes(rows.classes), None if by_id else np.zeros((1, 2), dtype=np.int64)
    plus, minus = parts.reduce(SampleRows(rows.schema, classes, most, seed, offsets), _merge)
    for sample, name in ((plus, "positive"), (minus, "negative")):
        if not sample.rows:
            raise ValueError(f"there are no {name} rows; AUC needs both classes.")
    room = max(most // 2, most - minus.rows), max(most // 2, most - plus.rows)
    if rows.grouped:
        room = _fit_groups(plus, minus, most)
    plus.trim(room[0])
    minus.trim(room[1])
    X = stack_rows([plus.X, minus.X])
    positive = np.arange(X.shape[0]) < plus.X.shape[0]
    weight = np.concatenate([plus.weights, minus.weights])
    share = np.concatenate([_stand_for(plus), _stand_for(minus)])
    groups = np.concatenate([plus.keys, minus.keys]) if rows.grouped else None
    block = Block(X, positive, None if (weight == 1.0).all() else weight, groups=groups)
    return RowSample(block, share, (plus.rows, minus.rows), classes)


def _fit_groups(plus: ClassSample, minus: ClassSample, most: int) -> tuple[int, int]:
    """Rows of both classes that are of the first groups by key, as many groups as have ``most`` rows together.

    Each class holds the ``most`` rows with the smallest keys, so that these groups are there as a whole.
    """
    own = [np.sort(np.asarray(sample.keys)) for sample in (plus, minus)]
    keys, counts = np.unique(np.concatenate(own), return_counts=True)
    fits = np.cumsum(counts) <= most
    for sample, held in zip((plus, minus), own, strict=True):
        if held.size < sample.rows:
            # rows of the last group may have been dropped
            fits &= keys < held[-1]
    kept = keys[fits]
    # folds need groups with pairs to train on and to test on; where all rows are here, others say so
    paired = np.isin(kept, own[0], kind="sort") & np.isin(kept, own[1], kind="sort")
    if paired.sum() < _LEAST_GROUPS and kept.size < keys.size:
        raise ValueError(
            f"the search sample of {most:,} rows keeps groups whole, and {paired.sum()} of its groups have "
            f"rows of both classes; at least {_LEAST_GROUPS} are needed. "
            + Advice("Search on more rows: {search_rows}.", search_rows=10 * most)
        )
    first, second = (int(np.searchsorted(held, kept[-1], "right")) for held in own)
    return first, second


def _stand_for(sample: ClassSample) -> Array:
    weights: Array = sample.weights  # type: ignore[assignment]
    # the sum of all weights depends on how rows are cut, in its last bits; edges of bins must not
    return np.asarray(weights * float(np.float32(sample.weight / weights.sum())))


def _refuse_infinite(X: Any) -> None:
    values = X.data if is_sparse(X) else X
    if not np.isinf(values).any():
        return
    if is_sparse(X):
        entries = X.tocoo()
        place = int(np.flatnonzero(np.isinf(entries.data))[0])
        raise NonFiniteError(int(entries.row[place]), int(entries.col[place]), float(entries.data[place]))
    row, column = (int(one) for one in np.argwhere(np.isinf(X))[0])
    raise NonFiniteError(row, column, float(X[row, column]))
