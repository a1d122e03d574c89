"""Splits of sparse rows in memory, whose training rows share one set of compact rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.estimators.cross_validation.problems import MakeProblem, for_splits, require_classes
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings
from mbauc.pairs.operator.folded import FoldedRows
from mbauc.pairs.operator.lost_digits import warn_of_lost_digits
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.rows.block import Block
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.problem import Problem


class FoldedSplits:
    """Splits that train on all rows but the test rows, which are disjoint within a round.

    Memory beside X: its rows in compact form, and again for the second and later rounds; four vectors over the
    columns in use for each fold; and its column numbers over the columns in use, 4 or 8 bytes an entry.

    Parameters
    ----------
    block : Block
        The data.
    rounds : list of lists of Split
        Who is held out.
    settings : PairSettings
        Threads, and what weights mean.
    make : callable
        The problem of some pairs.
    scale : bool or "auto"
        What columns are divided by.
    """

    def __init__(
        self,
        block: Block,
        rounds: list[list[Split]],
        settings: PairSettings,
        make: MakeProblem[Problem],
        scale: Scaling,
    ) -> None:
        require_classes(block, [split for splits in rounds for split in splits])
        self._block, self._settings = replace(block, X=canonical_csr(block.X)), settings
        self._rounds, self._make = rounds, make
        self._places = [(number, fold) for number, splits in enumerate(rounds) for fold in range(len(splits))]
        self.n_splits = len(self._places)
        self._first = self._pack(rounds[0])
        self._latest = 0, self._first
        self.problem = make(self._count(self._first.whole), scale)
        self._scale = for_splits(scale, self.problem.scales)

    @staticmethod
    def suits(block: Block, rounds: list[list[Split]], settings: PairSettings) -> bool:
        """Whether rows, splits and pairs are such."""
        alone = all(split.train is None for splits in rounds for split in splits)
        return is_sparse(block.X) and block.groups is None and settings.are_all and alone

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""
        place, fold = self._places[number]
        if place == 0:
            rows = self._first
        else:
            if self._latest[0] != place:
                self._latest = 0, self._first  # what is there is given back first
                self._latest = place, self._pack(self._rounds[place])
            rows = self._latest[1]
        pairs = rows.training(fold)
        warn_of_lost_digits(pairs)
        return self._make(self._count(pairs), self._scale)

    def statistics(self, number: int, W: NDArray[np.float64]) -> None:
        """None: these need the scores of the rows."""

    def narrow_block(self) -> Block:
        """The rows over the columns in use, in the order that weights of a split are in."""
        X, order = self._block.X, self._first.order
        columns, values = order.place_of[X.indices], X.data
        unseen = columns >= order.used
        if unseen.any():  # in rows of weight zero only
            columns[unseen], values = 0, np.where(unseen, 0, values)
        indices = columns.astype(X.indptr.dtype)
        return replace(self._block, X=sp.csr_array((values, indices, X.indptr), shape=(X.shape[0], order.used)))

    def _pack(self, splits: list[Split]) -> FoldedRows:
        block, fold = self._block, np.full(self._block.n_rows, -1)
        for number, split in enumerate(splits):
            fold[split.test] = number
        strata = [block.rows_of(True), block.rows_of(False)]
        return FoldedRows(block.X, strata, block.weight, fold, self._settings.n_threads)

    def _count(self, pairs: SparsePairOperator) -> SparsePairOperator:
        return pairs.as_frequencies() if self._settings.frequencies else pairs
