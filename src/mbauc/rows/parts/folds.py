"""Which fold a row is held out in, the same however rows are cut into parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block
from mbauc.rows.parts.keys import row_keys
from mbauc.rows.parts.label_counts import LabelCounts
from mbauc.runtime.warn import warn

#: Rows whose folds are drawn one by one: a byte or two each, on the driver and with every task.
MOST_RANKED_ROWS = 1 << 28


def _shuffle_folds(size: int, n_splits: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Fold of each row of a class, in folds of equal size."""
    return rng.permutation(np.arange(size, dtype=np.int32) % n_splits)


class PartFolds(Protocol):
    """Folds of the rows of one part, asked for in their order."""

    @property
    def n_folds(self) -> int:
        """How many there are."""

    def assign(self, block: Block) -> NDArray[Any]:
        """Fold of each row; -1 for those without weight."""


class FoldRule(Protocol):
    """Assigns each row of a data set to a fold."""

    @property
    def n_folds(self) -> int:
        """How many there are."""

    def for_part(self, number: int) -> PartFolds:
        """Folds of the rows of a part."""


@dataclass(frozen=True)
class FoldsByRank:
    """Folds drawn for the rows of each class in their order, as in a fit on one machine."""

    n_folds: int
    #: fold of the positives and of the negatives, over all parts
    folds: tuple[NDArray[Any], NDArray[Any]]
    #: rows of each class before each part, shape (parts, 2)
    offsets: NDArray[np.int64]

    @classmethod
    def draw(
        cls,
        sizes: tuple[int, int],
        n_folds: int,
        rng: np.random.Generator,
        offsets: NDArray[np.int64] | None = None,
    ) -> FoldsByRank:
        """As scikit-learn's stratified folds, at random; without offsets there is one part."""
        kind = np.uint8 if n_folds <= 1 << 8 else np.uint16 if n_folds <= 1 << 16 else np.int32
        plus, minus = (_shuffle_folds(size, n_folds, rng).astype(kind) for size in sizes)
        return cls(n_folds, (plus, minus), np.zeros((1, 2), dtype=np.int64) if offsets is None else offsets)

    def for_part(self, number: int) -> PartFolds:
        """Folds of the rows of a part."""
        return _Counter(self, *self.offsets[number].tolist())


@dataclass
class _Counter:
    rule: FoldsByRank
    plus: int
    minus: int

    @property
    def n_folds(self) -> int:
        return self.rule.n_folds

    def assign(self, block: Block) -> NDArray[Any]:
        result = np.full(block.n_rows, -1, dtype=np.int32)
        for side, name in ((True, "plus"), (False, "minus")):
            own = block.rows_of(side)
            start = getattr(self, name)
            result[own] = self.rule.folds[0 if side else 1][start : start + own.size]
            setattr(self, name, start + own.size)
        return result


@dataclass(frozen=True)
class FoldsById:
    """Folds from the ids of the rows; rows of one id are held out together.

    Needs no count of the rows beforehand, and no memory. Folds are of equal size in expectation.
    """

    n_folds: int
    seed: int

    def for_part(self, number: int) -> PartFolds:
        """Folds of the rows of a part."""
        return _Keyed(self.n_folds, self.seed, "ids")


@dataclass(frozen=True)
class FoldsByGroup:
    """Folds from the groups of the rows: a group is held out as a whole, the same wherever its rows are.

    Needs no count of the groups beforehand and no memory. Folds have equal numbers of groups in expectation,
    which very many groups come near to.
    """

    n_folds: int
    seed: int

    def for_part(self, number: int) -> PartFolds:
        """Folds of the rows of a part."""
        return _Keyed(self.n_folds, self.seed, "groups")


@dataclass(frozen=True)
class _Keyed:
    n_folds: int
    seed: int
    by: Literal["ids", "groups"]

    def assign(self, block: Block) -> NDArray[Any]:
        known = block.ids if self.by == "ids" else block.groups
        if known is None:
            raise ValueError(f"folds by {self.by} need the {self.by} of the rows.")
        fold = (row_keys(known, self.seed) % np.uint64(self.n_folds)).astype(np.int32)
        fold[~block.used] = -1
        return fold


def limit_folds(sizes: tuple[int, int], n_folds: int) -> int:
    """How many folds there can be so that each holds both classes; fewer than asked for are warned of."""
    smaller = min(sizes)
    if smaller < 2:
        raise ValueError(
            f"cross-validation needs at least 2 rows of each class (one to train on, one to test on); "
            f"the smaller class has n_samples={smaller} of {sum(sizes):,}."
        )
    if smaller < n_folds:
        warn(
            f"The smaller class has {smaller} rows, fewer than cv={n_folds}; using {smaller} folds, so "
            "that each holds both classes.",
            UserWarning,
        )
    return min(smaller, n_folds)


def fold_rules(
    counts: LabelCounts | None, n_folds: int, repeats: int, rng: np.random.Generator
) -> list[FoldRule]:
    """One rule for each repeat, by the ids of the rows if these have not been counted."""
    if counts is None:
        return [FoldsById(n_folds, int(rng.integers(2**63 - 1))) for _ in range(repeats)]
    n_folds = limit_folds(counts.sizes, n_folds)
    if sum(counts.sizes) > MOST_RANKED_ROWS:
        raise ValueError(
            f"a list with the folds of {sum(counts.sizes):,} rows is too large to send to each task; pass an "
            "id column (id=…), whose hash determines the fold."
        )
    return [FoldsByRank.draw(counts.sizes, n_folds, rng, counts.offsets) for _ in range(repeats)]
