"""Folds that hold out whole groups, dealt out evenly where the groups can be counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block, Columns
from mbauc.rows.labels import distinct_labels
from mbauc.rows.parts.folds import FoldRule, FoldsByGroup, PartFolds
from mbauc.rows.parts.protocol import Parts
from mbauc.rows.reading import visit_columns
from mbauc.rows.schema import Schema
from mbauc.runtime.warn import warn

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]

#: Groups that are dealt out one by one: 12 bytes each, with every task. More are even enough by their hashes.
MOST_DEALT_GROUPS = 1 << 20


class GroupCounts(NamedTuple):
    """Rows of each group, by class."""

    #: in rising order
    keys: Keys
    #: shape (groups, 2)
    sizes: Counts


@dataclass(frozen=True)
class CountGroups:
    """Task: rows of positive weight of each group, by label."""

    schema: Schema

    def __call__(self, number: int, blocks: Iterable[Columns]) -> dict[Any, tuple[Keys, Counts]]:
        """Keys and numbers of rows by label."""
        found: dict[Any, list[tuple[Keys, Counts]]] = {}

        def count(first: int, columns: Columns) -> None:
            _, y, weight, _, groups = columns
            if groups is None:
                raise ValueError("folds by groups need the groups of the rows.")
            for label in distinct_labels(y).tolist():
                own = y == label if weight is None else (y == label) & (weight > 0)
                found.setdefault(label, []).append(np.unique(groups[own], return_counts=True))

        visit_columns(number, blocks, self.schema, count)
        return {label: _add_up(each) for label, each in found.items()}


def _add_up(counted: list[tuple[Keys, Counts]]) -> tuple[Keys, Counts]:
    keys, codes = np.unique(np.concatenate([keys for keys, _ in counted]), return_inverse=True)
    sizes = np.zeros(keys.size, dtype=np.int64)
    np.add.at(sizes, codes, np.concatenate([counts for _, counts in counted]))
    return keys, sizes


def count_groups(parts: Parts, schema: Schema) -> GroupCounts:
    """Count the rows of each group, in one job that needs no features."""
    by_label: dict[Any, list[tuple[Keys, Counts]]] = {}
    for part in parts.labels_only().collect(CountGroups(schema)):
        for label, counted in part.items():
            by_label.setdefault(label, []).append(counted)
    classes = [_add_up(counted) for counted in by_label.values()][:2]
    keys = np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *(own for own, _ in classes)]))
    sizes = np.zeros((keys.size, 2), dtype=np.int64)
    for side, (own, counts) in enumerate(classes):
        sizes[np.searchsorted(keys, own), side] = counts
    return GroupCounts(keys, sizes)


def deal_groups(
    sizes: Counts, n_folds: int, repeats: int, rng: np.random.Generator
) -> tuple[int, list[NDArray[np.int32]]]:
    """How many folds there can be, and for each repeat that of each group; large ones are shared out evenly.

    Each fold has a group with rows of both classes.

    Parameters
    ----------
    sizes : ndarray of shape (groups, 2)
        Rows of each group, by class.
    n_folds, repeats : int
        What was asked for.
    rng : numpy.random.Generator
        Draws the folds.
    """
    pairs = sizes[:, 0] * sizes[:, 1].astype(np.float64)
    paired = int(np.count_nonzero(pairs))
    if paired < 2:
        raise ValueError(
            f"cross-validation needs at least 2 groups with rows of both classes, got {paired}: one to train "
            "on, one to test on."
        )
    if paired < n_folds:
        warn(
            f"{paired} groups have rows of both classes, fewer than cv={n_folds}; using {paired} folds.",
            UserWarning,
        )
    n_folds, rounds = min(paired, n_folds), []
    for _ in range(repeats):
        # the largest first, dealt out in turns; equal ones in random order
        order = np.lexsort((rng.random(pairs.size), -pairs))
        fold = np.empty(pairs.size, dtype=np.int32)
        for start in range(0, pairs.size, n_folds):
            own = order[start : start + n_folds]
            fold[own] = rng.permutation(n_folds)[: own.size]
        rounds.append(fold)
    return n_folds, rounds


@dataclass(frozen=True)
class FoldsOfGroups:
    """Folds of groups that are known, the same wherever their rows are."""

    n_folds: int
    #: in rising order
    keys: Keys
    #: of each group
    folds: NDArray[np.int32]

    def for_part(self, number: int) -> PartFolds:
        """Folds of the rows of a part: the same in all."""
        return self

    def assign(self, block: Block) -> NDArray[Any]:
        """Fold of each row; -1 for those without weight."""
        groups = np.asarray(block.groups)
        place = np.minimum(np.searchsorted(self.keys, groups), self.keys.size - 1)
        if (self.keys[place] != groups)[block.used].any():
            raise ValueError(
                "the data changed while it was read: it has groups that were not there when they were counted. "
                "Start again when nothing writes to it."
            )
        fold = self.folds[place].astype(np.int32)
        fold[~block.used] = -1
        return fold


def group_fold_rules(
    counts: GroupCounts, n_folds: int, repeats: int, rng: np.random.Generator
) -> list[FoldRule]:
    """One rule for each repeat, by the keys of the groups if these are very many."""
    if counts.keys.size > MOST_DEALT_GROUPS:
        return [FoldsByGroup(n_folds, int(rng.integers(2**63 - 1))) for _ in range(repeats)]
    n_folds, rounds = deal_groups(counts.sizes, n_folds, repeats, rng)
    return [FoldsOfGroups(n_folds, counts.keys, folds) for folds in rounds]
