"""MBAClassifier on a cluster, whatever the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.enough_pairs import forget_path
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.validation import check_factors, keeps_state_on_failure
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.moments_of_parts import SumMoments, merge_moments
from mbauc.pairs.operator.column_sums import ColumnSums, SumColumns, merge_columns
from mbauc.pairs.operator.lost_digits_of_parts import check_overflow, warn_of_lost_digits
from mbauc.pairs.operator.of_parts import ClusterPairRows, PackRows
from mbauc.pairs.sampling import drawn_moments
from mbauc.rows.draw import draw
from mbauc.rows.folds import FoldRule
from mbauc.rows.label_counts import take_census
from mbauc.rows.label_meaning import settle_classes
from mbauc.rows.part_rows import Layout
from mbauc.rows.parts import Parts
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.threads import thread_count
from mbauc.solvers.choice import Workload, choose_cluster_solver, choose_solver


@dataclass(frozen=True)
class ClusterRows:
    """Rows on a cluster and what is known of them beforehand.

    Attributes
    ----------
    parts : Parts
    layout : Layout
    classes : sequence of two labels, or None
    weighted, with_ids : bool
        Whether blocks have weights and ids.
    """

    parts: Parts
    layout: Layout
    classes: Any = None
    weighted: bool = False
    with_ids: bool = False

    @contextmanager
    def in_order(self) -> Iterator[ClusterRows]:
        """The same rows in an order that can be counted on, unless they have ids."""
        if self.with_ids:
            yield self
            return
        parts = self.parts.steady()
        try:
            yield replace(self, parts=parts)
        finally:
            parts.release()


class ClusterClassifier(MBAClassifier):
    """What :class:`mbauc.dask.MBAClassifier` and :class:`mbauc.spark.MBAClassifier` share."""

    @keeps_state_on_failure
    def _fit_rows(self, rows: ClusterRows) -> None:
        """Fit to rows on a cluster."""
        self._check_settings()
        self._check_for_cluster()
        forget_path(self)
        n_features = rows.layout.n_features
        factors = check_factors(self.penalty_factors, n_features)
        if not isinstance(self.pairs, str):
            with rows.in_order() as ordered:
                self.classes_ = self._fit_sample(ordered, factors)
        else:
            self.solver_ = choose_cluster_solver(self.solver, n_features, rows.parts.largest_result)
            if self.solver_.name == "gram":
                found = cluster_moments(rows, self._task_threads(), frequencies=self._has_frequencies)
                [moments], self.classes_ = found
                self._solve(moments, factors)
            else:
                sums, self.classes_ = column_sums(rows)
                kept = pack(rows, sums, self.classes_)
                try:
                    pairs = ClusterPairRows(kept, sums[0], sums[0])
                    warn_of_lost_digits(pairs, kept)
                    self._solve(pairs.as_frequencies() if self._has_frequencies else pairs, factors)
                finally:
                    kept.release()
        self._remember_columns(rows.layout)

    def _fit_sample(self, rows: ClusterRows, factors: NDArray[np.float64]) -> NDArray[Any]:
        census = take_census(rows.parts, rows.layout, rows.classes)
        census = replace(census, frequencies=self._has_frequencies)
        drawn = draw(
            rows.parts,
            rows.layout,
            census,
            int(self.pairs),
            self.random_state,
            weighted=rows.weighted,
            with_ids=rows.with_ids,
        )
        self.solver_ = choose_solver(
            self.solver,
            Workload.of(drawn.rows.X, 2 * int(self.pairs)),
            parse_memory(None),
            n_l1=int(self.l1 > 0),
            given_l2=not isinstance(self.l2, str),
        )
        if self.solver_.name == "gram":
            moments = drawn_moments(
                drawn.rows,
                drawn.pairs,
                int(self.batch_size),
                self.pairing,
                thread_count(self.n_jobs),
                (census.class_weight(True), census.class_weight(False)),
            )
            self._solve(moments, factors)
        else:
            self._solve(self._sampled_operator(drawn.rows, drawn.pairs, census), factors)
        return census.classes

    def _check_for_cluster(self) -> None:
        if self.decay < 1 or self.within_block:
            name = "decay" if self.decay < 1 else "within_block"
            raise ValueError(
                f"{name}={getattr(self, name)!r} is for streams, whose blocks come one after the other; on a "
                "cluster there is no order among them. Use mbauc.MBAClassifier.partial_fit."
            )
        if self.pairs == "enough":
            raise ValueError("pairs='enough' is for rows in memory; on a cluster use pairs='all' or a number.")

    def _task_threads(self) -> int:
        return 1 if self.n_jobs is None else thread_count(self.n_jobs)

    def _remember_columns(self, layout: Layout) -> None:
        remember_columns(self, layout)


def remember_columns(ranker: MomentRanker, layout: Layout) -> None:
    """Store how many columns there are, and their names."""
    ranker.n_features_in_ = layout.n_features
    # as scikit-learn has it: names are texts, and numbers are no names
    if layout.names is not None and all(isinstance(name, str) for name in layout.names):
        ranker.feature_names_in_ = np.array(layout.names, dtype=object)
    elif hasattr(ranker, "feature_names_in_"):
        del ranker.feature_names_in_


def cluster_moments(
    rows: ClusterRows, n_threads: int, folds: FoldRule | None = None, *, frequencies: bool = False
) -> tuple[list[PairMoments], NDArray[Any]]:
    """Moments of all pairs, of each fold if there are folds, and the classes; one job."""

    def run(classes: Any) -> Any:
        return rows.parts.merged(SumMoments(rows.layout, classes, folds, n_threads), merge_moments)

    found, classes = settle_classes(run, rows.classes)
    return [moments.as_frequencies() for moments in found] if frequencies else found, classes


def column_sums(rows: ClusterRows, folds: FoldRule | None = None) -> tuple[list[ColumnSums], NDArray[Any]]:
    """Column sums of all rows, of each fold if there are folds, and the classes; one job."""

    def run(classes: Any) -> Any:
        return rows.parts.merged(SumColumns(rows.layout, classes, folds), merge_columns)

    sums, classes = settle_classes(run, rows.classes)
    plus, minus = np.sum([one.counts for one in sums], axis=0)
    if not plus or not minus:
        raise ValueError(
            f"there are no pairs ({plus:,} positives, {minus:,} negatives of positive weight); pairs need rows "
            "of both classes."
        )
    check_overflow(sums)
    return sums, classes


def pack(
    rows: ClusterRows, sums: list[ColumnSums], classes: NDArray[Any], folds: FoldRule | None = None
) -> Parts:
    """The rows in compact form, held by the workers."""
    order = sums[0].collector(total(sums)).order
    return rows.parts.kept(PackRows(rows.layout, classes, order.place_of, order.used, folds))


def total(sums: list[ColumnSums]) -> ColumnSums:
    """Column sums of all folds together."""
    return sum(sums[1:], sums[0])
