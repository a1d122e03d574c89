"""The search for penalties, and for a loss, by cross-validation: what is the same for every loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_whole
from mbauc.defaults import FOLDS
from mbauc.estimators.capabilities import Way, check_capabilities
from mbauc.estimators.cross_validation.grids import are_chosen, check_grids, warn_at_the_edge
from mbauc.estimators.cross_validation.held_out import HeldOut, HeldOutBlock, HeldOutParts, ScorePackedRows
from mbauc.estimators.cross_validation.measure import Measure
from mbauc.estimators.cross_validation.problems import PackedSplits, SplitProblems
from mbauc.estimators.cross_validation.results import Candidate, Tried
from mbauc.estimators.cross_validation.splits import (
    Split,
    collect_splits,
    draw_group_splits,
    draw_stratified_splits,
    keep_groups_apart,
)
from mbauc.estimators.fitting import PairSettings
from mbauc.estimators.solved_ranker import SolvedRanker
from mbauc.estimators.source_fit import check_source
from mbauc.estimators.validation import (
    name_columns,
    remember_columns,
    require_pairs_within_groups,
    restore_on_failure,
    validate_training_data,
)
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldRule, fold_rules
from mbauc.rows.parts.group_folds import count_groups, group_fold_rules
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source, count_rows
from mbauc.runtime.seeds import generator
from mbauc.runtime.threads import blas_for_matrix
from mbauc.solvers import Solution

Array = NDArray[np.float64]

#: Rows of a source from which on folds are drawn by the numbers of rows, not within each class.
_MANY = 2_000_000


class PenaltySearch(SolvedRanker):
    """A ranker whose penalties are those that rank held-out rows best."""

    @restore_on_failure
    def fit_source(self, source: Source) -> Self:
        """Select the penalties and refit to all rows of a source of blocks, such as files.

        Requires a number of folds as ``cv`` and uses all pairs. One pass counts the labels for stratified
        folds; above two million rows, folds are assigned by a hash of the row number instead. A second pass
        accumulates or packs the folds. Held-out scores are counted in bins: AUC is exact up to several thousand
        distinct scores per fold, and the midpoint of narrow bounds beyond.

        Parameters
        ----------
        source : Source
            As for ``fit_source`` of the estimator without cross-validation.

        Returns
        -------
        self
        """
        check_source(source)
        show, many = bool(self.verbose), count_rows(source) > _MANY
        return self.fit_parts(rows_in_source(source, with_ids=many, title="cross-validation", show=show))

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> Self:
        """Select the penalties and refit to rows in parts; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        Parameters
        ----------
        rows : PartedRows
            Parts of rows with their metadata.

        Returns
        -------
        self
        """
        self._check_settings()
        way: Way = "cluster folds" if rows.parts.kind == "cluster" else "source folds"
        check_capabilities(way, self._asked(rows.grouped))
        with rows.in_order() as ordered:
            by_rank = not (ordered.with_ids or ordered.grouped)
            counts = count_labels(ordered.parts, ordered.schema, ordered.classes) if by_rank else None
            if counts is not None:
                ordered = replace(ordered, classes=counts.classes)
            n_folds, rng = int(self.cv or FOLDS), generator(self.random_state)
            rules: list[FoldRule] = (
                group_fold_rules(count_groups(ordered.parts, ordered.schema), n_folds, int(self.repeats), rng)
                if ordered.grouped
                else fold_rules(counts, n_folds, int(self.repeats), rng)
            )
            self._fit_folds(ordered, rules)
        remember_columns(self, rows.schema)
        return self

    # -- what losses differ in -----------------------------------------------------------------------------

    @abstractmethod
    def _split_block(
        self, block: Block, rounds: list[list[Split]], settings: PairSettings, rng: np.random.Generator
    ) -> SplitProblems[Any]:
        """The problems of splits of rows in memory."""

    def _held_out_block(self, block: Block, splits: SplitProblems[Any]) -> Block:
        """The rows over the columns that weights of the splits are over."""
        return block

    @abstractmethod
    def _fit_folds(self, rows: PartedRows, rules: list[FoldRule]) -> None:
        """Choose the penalties and fit to rows in parts that keep their order, or have ids."""

    @abstractmethod
    def _try(self, splits: SplitProblems[Any], held_out: HeldOut) -> Tried:
        """What was tried, and how it ranks the held-out rows of each split."""

    @abstractmethod
    def _choose(self, tried: Tried) -> int:
        """The place of the candidate to take."""

    @abstractmethod
    def _solve_chosen(self, problem: Any, chosen: Candidate) -> tuple[Any, Solution]:
        """The problem of all rows for the loss that was chosen, and its solution."""

    def _solve_best(self, problem: Any, tried: Tried) -> tuple[int, tuple[Any, Solution]]:
        """The place of the candidate to take, its problem of all rows, and its solution."""
        best = self._choose(tried)
        return best, self._solve_chosen(problem, tried.find(best))

    # -- the steps of a search -----------------------------------------------------------------------------

    def _search_block(self, X: Any, y: Any, sample_weight: Any, groups: Any, *, within_groups: bool) -> Self:
        """Choose the penalties and fit to rows in memory."""
        self._check_settings()
        check_capabilities("memory folds", self._asked(within_groups and groups is not None))
        own = groups if within_groups else None
        block, classes = validate_training_data(self, X, y, sample_weight, groups=own, reset=True)
        require_pairs_within_groups(block)
        rng = generator(self.random_state)
        rounds = self._draw_splits(block, groups, rng)
        settings = PairSettings.from_estimator(self)
        # BLAS threads that have worked on Σ would wait for more beside ours, which score the held-out rows
        with name_columns(X), blas_for_matrix(block.n_features):
            splits = self._split_block(block, rounds, settings, rng)
            tests = [split.test for one in rounds for split in one]
            block = self._held_out_block(block, splits)
            self._decide(splits, HeldOutBlock(block, tests, settings.n_threads, self._measure()))
        self.classes_ = classes
        return self

    def _draw_splits(self, block: Block, groups: Any, rng: np.random.Generator) -> list[list[Split]]:
        if self.cv is None or isinstance(self.cv, int | np.integer):
            draw = draw_stratified_splits if block.groups is None else draw_group_splits
            if groups is not None and block.groups is None:
                raise ValueError(
                    f"groups would be ignored: cv={self.cv!r} draws folds of single rows. To keep groups "
                    "together give a splitter, such as sklearn.model_selection.GroupKFold; to count pairs "
                    "within groups only, set within_groups=True."
                )
            return draw(block, int(self.cv or FOLDS), int(self.repeats), rng)
        if self.repeats != 1:
            raise ValueError("repeats draws new folds and needs cv to be a number; give a repeated splitter.")
        rounds = collect_splits(self.cv, block.X, block.positive, groups)
        return rounds if block.groups is None else keep_groups_apart(rounds, block.groups)

    def _measure(self) -> Measure:
        """What held-out scores are judged by."""
        return Measure(equal_groups=bool(self.equal_groups))

    @contextmanager
    def _pack(self, rows: PartedRows, rules: list[FoldRule]) -> Iterator[list[PackedRows]]:
        """Packed rows for each repeat, which workers hold until the context ends."""
        repeats: list[PackedRows] = []
        try:
            for rule in rules:
                repeats.append(PackedRows(rows, rule))
                rows = replace(rows, classes=repeats[0].classes)
            self.classes_ = repeats[0].classes
            yield repeats
        finally:
            for one in repeats:
                one.release()

    def _decide_packed(self, repeats: list[PackedRows], make: Any, grouped: bool) -> None:
        """Choose the penalties and fit to packed rows."""
        smaller = int(repeats[0].total.counts.min())
        splits: PackedSplits[Any] = PackedSplits(
            repeats, make, self._scaling(), PairSettings.from_estimator(self), grouped=grouped
        )
        measure = self._measure()
        kept = measure if grouped or not measure.region.is_whole else None
        self._decide(splits, HeldOutParts(smaller, [ScorePackedRows(one, kept) for one in repeats]))

    def _decide(self, splits: SplitProblems[Any], held_out: HeldOut) -> None:
        """Choose the penalties and store the fit to all rows."""
        tried = self._try(splits, held_out)
        best, found = self._solve_best(splits.problem, tried)
        chosen = tried.find(best)
        if not self.one_standard_error and (chosen.region is None or chosen.region.is_whole):
            l2, place, scores = tried.path(best)
            warn_at_the_edge(l2, place, scores)
        self._store_solution(*found)
        self.cv_results_ = tried.results()
        self.best_index_ = best
        self.best_score_ = float(tried.means[best])
        self.n_splits_ = splits.n_splits

    def _check_settings(self) -> None:
        check_capabilities("memory folds", self.get_params(deep=False))
        super()._check_settings()
        check_whole("repeats", self.repeats)
        if isinstance(self.cv, int | np.integer) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {self.cv}.")
        if isinstance(self.cv, str | float | bool):
            raise ValueError(
                f"cv must be a whole number, a splitter or an iterable of splits, got {self.cv!r}."
            )
        check_grids(self.l1_grid, self.l2_grid)

    def _penalties_are_chosen(self) -> bool:
        return are_chosen(self.l1_grid, self.l2_grid)
