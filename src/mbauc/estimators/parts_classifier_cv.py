"""MBAClassifierCV on a cluster, whatever the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.classifier_cv import MBAClassifierCV
from mbauc.estimators.held_out import compare_binormal
from mbauc.estimators.parts_classifier import (
    ClusterRows,
    cluster_moments,
    column_sums,
    pack,
    remember_columns,
    total,
)
from mbauc.estimators.parts_held_out import FoldScores, ScoreBlocks, ScoreKept, add_fold_scores
from mbauc.estimators.search import MomentSearch, Part, binormal_and_risk, for_splits
from mbauc.estimators.validation import check_factors, keeps_state_on_failure
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.column_sums import ColumnSums
from mbauc.pairs.operator.lost_digits_of_parts import warn_of_lost_digits
from mbauc.pairs.operator.of_parts import ClusterPairRows
from mbauc.rows.folds import FoldRule, fold_rules
from mbauc.rows.label_counts import take_census
from mbauc.rows.parts import Parts
from mbauc.runtime.seeds import generator
from mbauc.solvers.choice import choose_cluster_solver
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Bytes of weights that go to the workers at a time.
_WEIGHTS = 1 << 28


class ClusterClassifierCV(MBAClassifierCV):
    """What :class:`mbauc.dask.MBAClassifierCV` and :class:`mbauc.spark.MBAClassifierCV` share."""

    @keeps_state_on_failure
    def _fit_rows(self, rows: ClusterRows) -> None:
        """Choose the penalties and fit to rows on a cluster."""
        self._check_settings()
        if not isinstance(self.pairs, str):
            raise ValueError(
                f"pairs={self.pairs!r}: cross-validation on a cluster uses all pairs, in the same pass; leave "
                "pairs='all'."
            )
        if not (self.cv is None or isinstance(self.cv, int | np.integer)):
            raise ValueError(
                f"cv={self.cv!r}: on a cluster cv is a number of folds. To hold out groups of rows together, "
                "give their group as id."
            )
        with rows.in_order() as ordered:
            self._fit_ordered(ordered)
        remember_columns(self, rows.layout)

    def _fit_ordered(self, rows: ClusterRows) -> None:
        layout, n_folds = rows.layout, int(self.cv or 5)
        factors = check_factors(self.penalty_factors, layout.n_features)
        census = None if rows.with_ids else take_census(rows.parts, layout, rows.classes)
        if census is not None:
            rows = replace(rows, classes=census.classes)
        rules = fold_rules(census, n_folds, int(self.repeats), generator(self.random_state))
        self.solver_ = choose_cluster_solver(
            self.solver, layout.n_features, rows.parts.largest_result, n_folds, len(rules)
        )
        truth = ClusterTruth()
        if self.solver_.name == "gram":
            frequencies = self._has_frequencies
            found = [cluster_moments(rows, 1, rule, frequencies=frequencies) for rule in rules]
            self.classes_ = found[0][1]
            search: Any = _moment_search([folds for folds, _ in found], factors, self._scaling())
            truth.job = BlockScores(rows, self.classes_, rules)
            truth.smaller = min(search.whole.counts)
            self._decide(search, truth)
        else:
            sums, self.classes_ = column_sums(rows, rules[0])
            searches = [PackedFolds(rows, sums, self.classes_, rules[0])]
            try:
                searches.extend(
                    PackedFolds(rows, column_sums(rows, rule)[0], self.classes_, rule) for rule in rules[1:]
                )
                search = PackedSearch(searches, factors, self._scaling(), self._has_frequencies)
                truth.job = search
                truth.smaller = int(searches[0].total.counts.min())
                self._decide(search, truth)
            finally:
                for one in searches:
                    one.kept.release()

    def _held_out_scores(
        self, search: Any, truth: Any, l1: list[float], l2: list[float]
    ) -> tuple[Array, Array, Array | None, list[Array]]:
        """As on one machine, but with one more pass over the rows for all splits of a repeat together."""
        if not isinstance(truth, ClusterTruth):  # rows in memory
            return super()._held_out_scores(search, truth, l1, l2)
        tol, max_iter = self._tolerance(), int(self.max_iter)
        grids = []
        for number in range(len(search.held_out)):
            W = search.training(number).grid(l1, l2, tol=tol, max_iter=max_iter)
            grids.append(W.reshape(-1, W.shape[-1]))
        with_auc = self.scoring == "roc_auc"
        gram = self.solver_.name == "gram"
        scored = truth.job.scores(grids, with_auc) if with_auc or not gram else []
        if gram:
            statistics = [search.statistics(number, W) for number, W in enumerate(grids)]
        else:
            statistics = [binormal_and_risk(*one.class_statistics()) for one in scored]
        binormal, risk = (np.array(values) for values in zip(*statistics, strict=True))
        aucs = np.array([one.auc for one in scored]) if with_auc else None
        return binormal, risk, aucs, grids


class ClusterTruth:
    """Knows the AUC of held-out rows from a job over them."""

    job: Any = None
    smaller: int = 0

    def auc(self, rows: Any, W: Array) -> Array:
        """Not asked for: all splits are scored in one job."""
        raise NotImplementedError

    def mean_auc(self, held_out: list[Any], weights: list[Array]) -> float:
        """Not known without another pass over the rows."""
        return float("nan")

    def compare(self, actual: float, binormal: float) -> None:
        """Warn if moments and rows disagree about the AUC by more than chance."""
        if np.isfinite(actual):
            compare_binormal(actual, binormal, self.smaller)


class BlockScores:
    """Scores of held-out rows from the rows themselves."""

    def __init__(self, rows: ClusterRows, classes: NDArray[Any], rules: list[FoldRule]) -> None:
        self._rows, self._classes, self._rules = rows, classes, rules

    def scores(self, grids: list[Array], with_auc: bool) -> list[FoldScores]:
        """Of each split under its weights; one job for each repeat."""
        found: list[FoldScores] = []
        for rule in self._rules:
            W = grids[len(found) : len(found) + rule.n_folds]
            task = ScoreBlocks(self._rows.layout, self._classes, rule, W)
            found += self._rows.parts.merged(task, add_fold_scores)
        return found


class _WholeSearch(MomentSearch):
    """A search that knows the moments of all rows."""

    whole: PairMoments


def _moment_search(found: list[list[PairMoments]], factors: Array, scale: Scaling) -> _WholeSearch:
    parts, whole = [], None
    for folds in found:
        both = sum(folds[1:], folds[0])
        whole = whole or both
        for fold in folds:
            if not fold.has_pairs:
                raise ValueError("a fold is left with one class; AUC needs both. Use fewer folds.")
            parts.append(Part(fold, whole=both))
    search = _WholeSearch(whole, parts, list(range(len(parts))), factors, scale)  # type: ignore[arg-type]
    search.whole = whole  # type: ignore[assignment]
    return search


class PackedFolds:
    """Compact rows on the workers, each with its fold."""

    def __init__(
        self, rows: ClusterRows, sums: list[ColumnSums], classes: NDArray[Any], rule: FoldRule
    ) -> None:
        if any(not one.counts.all() for one in sums):
            raise ValueError("a fold is left with one class; AUC needs both. Use fewer folds.")
        self.sums, self.total = sums, total(sums)
        self.kept: Parts = pack(rows, sums, classes, rule)

    def training(self, fold: int | None) -> ClusterPairRows:
        """Rows of all folds but one."""
        if fold is None:
            return ClusterPairRows(self.kept, self.total, self.total)
        others = total([one for k, one in enumerate(self.sums) if k != fold])
        return ClusterPairRows(self.kept, others, self.total, fold)


class PackedSearch:
    """Splits of compact rows; the training rows of a split are those of the other folds."""

    def __init__(self, repeats: list[PackedFolds], factors: Array, scale: Scaling, frequencies: bool) -> None:
        self._repeats, self._factors = repeats, factors
        self.held_out = [(one, fold) for one in repeats for fold in range(len(one.sums))]
        pairs = repeats[0].training(None)
        warn_of_lost_digits(pairs, repeats[0].kept)
        self._columns = pairs.columns
        self.problem = Problem(pairs.as_frequencies() if frequencies else pairs, factors, scale=scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""
        folds, fold = self.held_out[number]
        return Problem(folds.training(fold), self._factors, scale=self._scale)

    def scores(self, grids: list[Array], with_auc: bool) -> list[FoldScores]:
        """Of each split under its weights, so many weights at a time as go to the workers at once."""
        found: list[FoldScores] = []
        for one in self._repeats:
            columns = self._columns
            W = [grid[:, columns] for grid in grids[len(found) : len(found) + len(one.sums)]]
            step = max(1, int(_WEIGHTS / (8 * columns.size * len(W))))
            pieces = [
                one.kept.merged(ScoreKept([w[k : k + step] for w in W], with_auc), add_fold_scores)
                for k in range(0, len(W[0]), step)
            ]
            found += [_joined([piece[fold] for piece in pieces]) for fold in range(len(W))]
        return found


def _joined(pieces: list[FoldScores]) -> FoldScores:
    """Scores of the same rows under more weights."""
    sums = np.concatenate([piece.sums for piece in pieces], axis=2)
    return FoldScores(sums, [counted for piece in pieces for counted in piece.counts])
