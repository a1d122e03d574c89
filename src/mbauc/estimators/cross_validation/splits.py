"""Which rows are held out: splits of the rows for cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldsByRank, limit_folds
from mbauc.rows.parts.group_folds import deal_groups

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to test on.

    ``train`` is None where it is the complement of ``test``, so that its moments are total minus test.
    """

    test: Rows
    train: Rows | None = None


def draw_stratified_splits(
    block: Block, n_splits: int, repeats: int, rng: np.random.Generator
) -> list[list[Split]]:
    """Random folds of the used rows with the same share of positives each; a list of splits for each repeat."""
    sizes = block.rows_of(True).size, block.rows_of(False).size
    n_splits = limit_folds(sizes, n_splits)
    rounds = []
    for _ in range(repeats):
        fold = FoldsByRank.draw(sizes, n_splits, rng).for_part(0).assign(block)
        rounds.append([Split(np.flatnonzero(fold == k)) for k in range(n_splits)])
    return rounds


def draw_group_splits(block: Block, n_splits: int, repeats: int, rng: np.random.Generator) -> list[list[Split]]:
    """Random folds that keep groups together, the large ones shared out evenly; a list for each repeat."""
    codes = np.unique(np.asarray(block.groups), return_inverse=True)[1]
    sizes = [np.bincount(codes[block.rows_of(side)], minlength=int(codes.max()) + 1) for side in (True, False)]
    n_splits, rounds = deal_groups(np.column_stack(sizes), n_splits, repeats, rng)
    return [[Split(np.flatnonzero(fold[codes] == k)) for k in range(n_splits)] for fold in rounds]


def keep_groups_apart(rounds: list[list[Split]], groups: NDArray[np.uint64]) -> list[list[Split]]:
    """The same splits; where a group is cut in two, training pairs are those among the training rows."""
    kept: list[list[Split]] = []
    every = np.arange(groups.size)
    for splits in rounds:
        if all(split.train is None and not _cuts(groups, split.test) for split in splits):
            kept.append(splits)
            continue
        for split in splits:
            train = np.setdiff1d(every, split.test) if split.train is None else split.train
            kept.append([Split(split.test, train)])
    return kept


def _cuts(groups: NDArray[np.uint64], test: Rows) -> bool:
    """Whether a group has rows among the test rows and elsewhere."""
    inside = np.zeros(groups.size, dtype=bool)
    inside[test] = True
    return bool(np.intersect1d(groups[inside], groups[~inside]).size)


def collect_splits(cv: Any, X: Any, positive: NDArray[np.bool_], groups: Any) -> list[list[Split]]:
    """Splits of a scikit-learn splitter or of an iterable of (train, test), grouped into partitions.

    Consecutive splits whose test sets are disjoint and whose training sets are the complements form one
    list; any other split is a list of its own.
    """
    n = positive.size
    rounds: list[list[Split]] = []
    covered = np.zeros(n, dtype=bool)
    y = positive.astype(np.int64)
    for number, (train, test) in enumerate(_indices(_splitter(cv, y).split(X, y, groups), n)):
        _check_both_classes(positive, test, f"the test rows of split {number}")
        _check_both_classes(positive, train, f"the training rows of split {number}")
        mask = np.zeros(n, dtype=bool)
        mask[test] = True
        if mask[train].any():
            raise ValueError(f"split {number} has rows in both train and test; they must be disjoint.")
        if train.size + test.size != n or mask.sum() != test.size or np.unique(train).size != train.size:
            rounds.append([Split(test, train)])
            covered[:] = True
        else:
            if not rounds or (covered & mask).any():
                rounds.append([])
                covered[:] = False
            rounds[-1].append(Split(test))
            covered |= mask
    if not rounds:
        raise ValueError("cv yields no splits; at least one is needed.")
    return rounds


def _splitter(cv: Any, y: NDArray[np.int64]) -> Any:
    if hasattr(cv, "split"):
        return cv
    pairs = list(cv)
    for number, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"split {number} of cv must be a pair (train, test) of index arrays.")
    return check_cv(pairs, y)


def _indices(pairs: Any, n: int) -> Iterator[tuple[Rows, Rows]]:
    for number, pair in enumerate(pairs):
        train, test = (np.asarray(side) for side in pair)
        for side in (train, test):
            mask = side.dtype == bool and side.shape == (n,)
            if not mask and not (side.ndim == 1 and (side.dtype.kind in "iu" or side.size == 0)):
                raise ValueError(
                    f"split {number} of cv must name rows by whole numbers or by a mask of {n:,} booleans, got "
                    f"{side.dtype} of shape {side.shape}."
                )
        train, test = (
            np.flatnonzero(side) if side.dtype == bool else side.astype(np.intp) for side in (train, test)
        )
        for side in (train, test):
            if side.size and (side.min() < -n or side.max() >= n):
                raise ValueError(f"split {number} of cv names a row outside the {n:,} rows of X.")
        yield train % n, test % n


def _check_both_classes(positive: NDArray[np.bool_], subset: Rows, what: str) -> None:
    count = int(positive[subset].sum())
    if not 0 < count < subset.size:
        raise ValueError(
            f"{what} hold {count:,} positives and {subset.size - count:,} negatives; AUC needs both classes. "
            "Use fewer or stratified splits."
        )
