"""MBAClassifierCV: penalties chosen by cross-validation in one pass over the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_number
from mbauc.errors import Advice, PenaltyWarning
from mbauc.estimators.capabilities import Way, check_capabilities
from mbauc.estimators.cross_validation.held_out import (
    HeldOut,
    HeldOutBlock,
    HeldOutParts,
    ScorePackedRows,
    ScoreRows,
    compare_binormal,
)
from mbauc.estimators.cross_validation.problems import (
    MomentSplits,
    OperatorSplits,
    PackedSplits,
    SplitMoments,
    SplitProblems,
)
from mbauc.estimators.cross_validation.splits import Split, collect_splits, draw_stratified_splits
from mbauc.estimators.fitting import PairSettings, build_moments, build_operator
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.source_fit import check_source
from mbauc.estimators.validation import (
    check_factors,
    name_columns,
    restore_on_failure,
    validate_training_data,
)
from mbauc.metrics.intervals import Weights
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import fold_rules
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.protocol import PartedRows, Preview
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source, count_rows
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator
from mbauc.runtime.warn import warn
from mbauc.solvers.choice import Demand, Solver, choose_for_rows
from mbauc.solvers.leave_one_out import l2_grid
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

Scoring = Literal["roc_auc", "binormal_auc", "risk"]

#: Default grid of l2, in units of the mean diagonal of Σ.
L2_GRID = np.logspace(-6, 3, 20)
#: Default grid of l1 where only their number is given, in units of max|μ|.
_L1_SMALLEST = 1e-3
#: Rows of a source from which on folds are drawn by the numbers of rows, not within each class.
_MANY = 2_000_000
#: A gain in score that makes a value beyond the edge of the grid worth a try.
_WORTH_MORE = 5e-3


class MBAClassifierCV(MomentRanker):
    """:class:`MBAClassifier` with l1 and l2 chosen by K-fold cross-validation in one pass over the data.

    The moments of each fold are accumulated once; the moments of a training set are the total minus its
    fold, so no row is read twice however many folds, repeats and grid points there are. Each grid point is
    then scored on the held-out folds, and the winner is fitted to the total.

    Parameters
    ----------
    l1_grid : sequence of float or int, optional
        Values of l1 to try; by default 0 alone (ridge). A whole number k asks for 0 and k values from
        max|μ| down to a thousandth of it.
    l2_grid : sequence of float, optional
        Values of l2 to try; by default 20 values from 1e-6 to 1000 times the mean diagonal of Σ, and more below
        if a column's own is smaller than that. A best value at the edge is warned of.
    cv : int, splitter or iterable of (train, test)
        Number of stratified folds, a scikit-learn splitter (grouped, time-ordered, …) or the splits
        themselves. Where training rows are not the complement of the test rows, as in a
        ``TimeSeriesSplit``, their moments are accumulated directly.
    repeats : int
        How often to draw new folds, if ``cv`` is a number; one more pass each.
    scoring : {"roc_auc", "binormal_auc", "risk"}
        What is maximised: the AUC of the held-out rows; the AUC that normal scores of their moments would
        have; or minus their pairwise squared risk. The last two need no second look at the rows, but for a
        few thousand to warn of heavy tails.
    one_standard_error : bool
        Take the most regularised grid point within one standard error of the best.
    pairs, pairing, batch_size, scale, penalty_factors, negative_rate, weights
        As for :class:`MBAClassifier`. A number of pairs is shared out over the folds.
    solver, tol, max_iter, n_jobs, verbose
        As for :class:`MBAClassifier`.
    random_state : None, int, Generator or RandomState
        Seed of the folds, which are drawn at random, and of sampled pairs.

    Attributes
    ----------
    l1_, l2_ : float
        The penalties chosen.
    best_score_ : float
        Mean held-out score of the chosen penalties.
    best_index_ : int
        Their place in ``cv_results_``.
    cv_results_ : dict of ndarrays
        As of ``GridSearchCV``, without times: ``param_l1``, ``param_l2``, ``split0_test_score`` …,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``params``; also the mean
        held-out ``mean_test_binormal_auc`` and ``mean_test_risk``.
    n_splits_ : int
        Number of splits over all repeats.

    The others are as in :class:`MBAClassifier`.

    Notes
    -----
    Time: that of one fit, plus ``O(d³)`` a split for all of ``l2_grid``, plus one product and one sort per
    grid point and row for ``scoring="roc_auc"``. Memory: that of one set of moments per fold,
    and two more.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mbauc import MBAClassifierCV
    >>> X, y = make_classification(2000, n_features=50, weights=[0.9], random_state=0)
    >>> ranker = MBAClassifierCV(random_state=0).fit(X, y)
    >>> round(ranker.best_score_, 3)
    0.986
    >>> ranker.cv_results_["mean_test_score"].shape
    (20,)
    """

    def __init__(
        self,
        l1_grid: ArrayLike | int | None = None,
        l2_grid: ArrayLike | None = None,
        *,
        cv: Any = 5,
        repeats: int = 1,
        scoring: Scoring = "roc_auc",
        one_standard_error: bool = False,
        pairs: int | Literal["all"] = "all",
        pairing: Literal["matched", "complete"] = "matched",
        batch_size: int = 1024,
        scale: bool | Literal["auto"] = "auto",
        penalty_factors: ArrayLike | None = None,
        negative_rate: float = 1.0,
        weights: Weights = "sampling",
        solver: Solver = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.l1_grid = l1_grid
        self.l2_grid = l2_grid
        self.cv = cv
        self.repeats = repeats
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.pairs = pairs
        self.pairing = pairing
        self.batch_size = batch_size
        self.scale = scale
        self.penalty_factors = penalty_factors
        self.negative_rate = negative_rate
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @restore_on_failure
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> MBAClassifierCV:
        """Choose the penalties and fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`MBAClassifier.fit`. Held-out scores are weighted too.
        groups : array-like of shape (n,), optional
            Passed to a splitter that keeps groups together.

        Returns
        -------
        self
        """
        self._check_settings()
        block, classes = validate_training_data(self, X, y, sample_weight, reset=True)
        factors = check_factors(self.penalty_factors, block.n_features)
        rng = generator(self.random_state)
        rounds = self._rounds(block, groups, rng)
        settings = PairSettings.from_estimator(self)
        demand = self._demand(max(len(splits) for splits in rounds), len(rounds))
        self.solver_ = choose_for_rows(
            rows_in_memory(block), demand, parse_memory(None), sample=self._preview(block)
        )
        with name_columns(X):
            flat = [split for splits in rounds for split in splits]
            if self.solver_.name == "gram":
                total, parts = self._accumulate(block, settings, rounds, rng)
                found: SplitProblems = MomentSplits(total, parts, factors, self._scaling())
            else:
                found = OperatorSplits(
                    block,
                    flat,
                    lambda subset: build_operator(block, settings, rng, subset),
                    factors,
                    self._scaling(),
                )
            self._decide(found, HeldOutBlock(block, [split.test for split in flat], settings.n_threads))
        self.classes_ = classes
        return self

    @restore_on_failure
    def fit_source(self, source: Source) -> MBAClassifierCV:
        """Choose the penalties and fit to all rows of a source of blocks, such as files.

        ``cv`` is a number of folds and ``pairs`` is "all". One pass counts the labels, so that each fold has
        its share of both; more than two million rows are in folds by a hash of their numbers instead. One pass
        adds up the folds, and one more scores held-out rows if ``scoring="roc_auc"``, counted in bins: exact up
        to several thousand distinct scores a fold, and the middle of a narrow bracket beyond.

        Parameters
        ----------
        source : Source
            As for :meth:`MBAClassifier.fit_source`.

        Returns
        -------
        self
        """
        check_source(source)
        show, many = bool(self.verbose), count_rows(source) > _MANY
        return self.fit_parts(rows_in_source(source, with_ids=many, title="cross-validation", show=show))

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> MBAClassifierCV:
        """Choose the penalties and fit to rows in parts; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        Parameters
        ----------
        rows : PartedRows
            Parts of rows, and what is known of them.

        Returns
        -------
        self
        """
        self._check_settings()
        way: Way = "cluster folds" if rows.parts.kind == "cluster" else "source folds"
        check_capabilities(way, self.get_params(deep=False))
        with rows.in_order() as ordered:
            self._fit_folds(ordered)
        self._remember_columns(rows.schema)
        return self

    # -- the steps of fit --------------------------------------------------------------------------------

    def _fit_folds(self, rows: PartedRows) -> None:
        """Choose the penalties and fit to rows in parts that keep their order, or have ids."""
        schema, n_folds = rows.schema, int(self.cv or 5)
        factors = check_factors(self.penalty_factors, schema.n_features)
        counts = None if rows.with_ids else count_labels(rows.parts, schema, rows.classes)
        if counts is not None:
            rows = replace(rows, classes=counts.classes)
        rules = fold_rules(counts, n_folds, int(self.repeats), generator(self.random_state))
        self.solver_ = choose_for_rows(rows, self._demand(n_folds, len(rules)), parse_memory(None))
        settings = PairSettings.from_estimator(self)
        if self.solver_.name == "gram":
            threads = settings.task_threads if rows.parts.kind == "cluster" else settings.n_threads
            found = [sum_moments(rows, threads, rule, frequencies=settings.frequencies) for rule in rules]
            self.classes_ = found[0][1]
            splits = MomentSplits.from_folds([folds for folds, _ in found], factors, self._scaling())
            smaller = min(sum(fold.counts[side] for fold in found[0][0]) for side in (0, 1))
            self._decide(
                splits, HeldOutParts(smaller, [ScoreRows(rows, self.classes_, rule) for rule in rules])
            )
            return
        repeats: list[PackedRows] = []
        try:
            for rule in rules:
                repeats.append(PackedRows(rows, rule))
                rows = replace(rows, classes=repeats[0].classes)
            self.classes_ = repeats[0].classes
            packed = PackedSplits(repeats, factors, self._scaling(), settings.frequencies)
            smaller = int(repeats[0].total.counts.min())
            self._decide(packed, HeldOutParts(smaller, [ScorePackedRows(one) for one in repeats]))
        finally:
            for one in repeats:
                one.release()

    def _decide(self, splits: SplitProblems, held_out: HeldOut) -> None:
        """Choose the penalties and store the fit to all rows."""
        problem = splits.problem
        l1, l2 = self._grids(problem)
        results = self._score(splits, held_out, l1, l2)
        best = self._choose(results)
        i, j = divmod(best, len(l2))
        scores = results["mean_test_score"][i * len(l2) : (i + 1) * len(l2)]
        if not self.one_standard_error:
            warn_at_the_edge(l2, j, scores)
        self._store_solution(
            problem, problem.solve(l1[i], l2[j], tol=self._tolerance(), max_iter=int(self.max_iter))
        )
        self.cv_results_ = results
        self.best_index_ = best
        self.best_score_ = float(results["mean_test_score"][best])
        self.n_splits_ = splits.n_splits

    def _check_settings(self) -> None:
        check_capabilities("memory folds", self.get_params(deep=False))
        super()._check_settings()
        if self.scoring not in ("roc_auc", "binormal_auc", "risk"):
            raise ValueError(f"scoring must be 'roc_auc', 'binormal_auc' or 'risk', got {self.scoring!r}.")
        check_number("repeats", self.repeats, low=1)
        if isinstance(self.cv, int | np.integer) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {self.cv}.")
        if isinstance(self.cv, str | float | bool):
            raise ValueError(
                f"cv must be a whole number, a splitter or an iterable of splits, got {self.cv!r}."
            )
        if isinstance(self.l1_grid, int | np.integer) and not isinstance(self.l1_grid, bool):
            check_number("l1_grid", self.l1_grid, low=1)
        elif self.l1_grid is not None:
            _values("l1_grid", self.l1_grid)
        if self.l2_grid is not None:
            _values("l2_grid", self.l2_grid)

    def _penalties_are_chosen(self) -> bool:
        return self.l2_grid is None and (self.l1_grid is None or isinstance(self.l1_grid, int | np.integer))

    def _rounds(self, block: Block, groups: Any, rng: np.random.Generator) -> list[list[Split]]:
        if self.cv is None or isinstance(self.cv, int | np.integer):
            return draw_stratified_splits(block, int(self.cv or 5), int(self.repeats), rng)
        if self.repeats != 1:
            raise ValueError("repeats draws new folds and needs cv to be a number; give a repeated splitter.")
        return collect_splits(self.cv, block.X, block.positive, groups)

    def _demand(self, n_folds: int, repeats: int) -> Demand:
        """What these settings ask of a solver."""
        if isinstance(self.l1_grid, int | np.integer):
            n_l1 = int(self.l1_grid)
        else:
            n_l1 = 0 if self.l1_grid is None else int(np.count_nonzero(_values("l1_grid", self.l1_grid)))
        n_l2 = L2_GRID.size if self.l2_grid is None else len(_values("l2_grid", self.l2_grid))
        return Demand(self.solver, n_l1=n_l1, n_l2=n_l2, n_folds=n_folds, repeats=repeats)

    def _preview(self, block: Block) -> Preview | None:
        """Rows of drawn pairs, of which there are two a pair; None for all pairs."""
        return None if isinstance(self.pairs, str) else Preview(block.X, 2 * int(self.pairs), in_blocks=False)

    def _accumulate(
        self, block: Block, settings: PairSettings, rounds: list[list[Split]], rng: np.random.Generator
    ) -> tuple[PairMoments, list[SplitMoments]]:
        """Moments of all rows, and of the training and test rows of each split."""
        total: PairMoments | None = None
        parts: list[SplitMoments] = []
        used = block.rows_of(True).size + block.rows_of(False).size
        with progress(used * len(rounds), "cross-validation", show=bool(self.verbose)) as advance:

            def of(subset: NDArray[np.intp] | None) -> PairMoments:
                moments = build_moments(block, settings, rng, subset, advance)
                if not moments.has_pairs:
                    raise ValueError(
                        "a split is left with one class once rows of zero weight are dropped; "
                        "AUC needs both classes."
                    )
                return moments

            for splits in rounds:
                tests = [of(split.test) for split in splits]
                held_out = sum(split.test.size for split in splits)
                partition = splits[0].train is None and held_out in (used, block.n_rows)
                if partition:
                    # the folds of this round are all rows once: no pass of its own for the total
                    whole = sum(tests[1:], tests[0])
                    total = total or whole
                elif total is None:
                    total = of(None)
                for split, test in zip(splits, tests, strict=True):
                    if split.train is not None:
                        parts.append(SplitMoments(test, train=of(split.train)))
                    elif partition or settings.are_all:
                        parts.append(SplitMoments(test, whole=whole if partition else total))
                    else:
                        # other pairs were drawn for the total than for the test rows: nothing to subtract
                        others = np.setdiff1d(np.arange(block.n_rows), split.test)
                        parts.append(SplitMoments(test, train=of(others)))
        return total, parts  # type: ignore[return-value]

    def _grids(self, problem: Problem) -> tuple[list[float], list[float]]:
        if self.l1_grid is None:
            l1 = [0.0]
        elif isinstance(self.l1_grid, int | np.integer):
            top = problem.largest_l1
            l1 = [0.0, *(top * np.geomspace(1.0, _L1_SMALLEST, int(self.l1_grid))[::-1])]
        else:
            l1 = _values("l1_grid", self.l1_grid)
        l2 = default_l2_grid(problem.variances) if self.l2_grid is None else _values("l2_grid", self.l2_grid)
        return l1, [float(value) for value in l2]

    def _score(
        self, splits: SplitProblems, held_out: HeldOut, l1: list[float], l2: list[float]
    ) -> dict[str, Any]:
        """Scores of every grid point on every split, in the shape of ``GridSearchCV.cv_results_``."""
        tol, max_iter, with_auc = self._tolerance(), int(self.max_iter), self.scoring == "roc_auc"
        grids: list[Array] = []

        def solve(problem: Problem) -> Array:
            W = problem.grid(l1, l2, tol=tol, max_iter=max_iter)
            W = W.reshape(-1, W.shape[-1])
            if not with_auc:
                grids.append(W)
            return W

        found = held_out.score(splits, solve, with_auc)
        binormal, risk = np.array([one.binormal for one in found]), np.array([one.risk for one in found])
        tables = {"binormal_auc": binormal, "risk": -risk}
        table = np.array([one.auc for one in found]) if with_auc else tables[self.scoring]

        results: dict[str, Any] = {
            "param_l1": np.repeat(l1, len(l2)),
            "param_l2": np.tile(l2, len(l1)),
            "params": [{"l1": a, "l2": b} for a in l1 for b in l2],
            **{f"split{k}_test_score": row for k, row in enumerate(table)},
            "mean_test_score": table.mean(axis=0),
            "std_test_score": table.std(axis=0),
            "mean_test_binormal_auc": binormal.mean(axis=0),
            "mean_test_risk": risk.mean(axis=0),
        }
        order = np.sort(-results["mean_test_score"])
        results["rank_test_score"] = 1 + np.searchsorted(order, -results["mean_test_score"]).astype(np.int32)
        best = int(np.argmax(results["mean_test_score"]))
        if with_auc:
            actual = float(results["mean_test_score"][best])
        else:
            actual = held_out.mean_auc([W[best] for W in grids])
        compare_binormal(actual, float(results["mean_test_binormal_auc"][best]), held_out.smaller)
        return results

    def _choose(self, results: dict[str, Any]) -> int:
        mean = results["mean_test_score"]
        best = int(np.argmax(mean))
        if not self.one_standard_error:
            return best
        n_splits = sum(key.startswith("split") for key in results)
        error = results["std_test_score"][best] / np.sqrt(max(n_splits - 1, 1))
        good = np.flatnonzero(mean >= mean[best] - error)
        # the largest l1 first, among those the largest l2
        return int(good[np.lexsort((results["param_l2"][good], results["param_l1"][good]))[-1]])


def default_l2_grid(variances: Array) -> Array:
    """20 values from 1e-6 to 1000 times the mean of the variances, or more if that drowns the smallest one."""
    mean = float(variances.mean()) or 1.0
    return l2_grid(mean, float(variances[variances > 0].min(initial=np.inf)), L2_GRID)


def warn_at_the_edge(l2: list[float], j: int, scores: Array) -> None:
    """Warn if the best l2 is the first or the last one tried, and better than its neighbour by 0.005 or more.

    ``scores`` belong to all values of l2, for the l1 that was chosen.
    """
    order = np.argsort(l2)
    place = int(np.flatnonzero(order == j)[0])
    if len(l2) < 3 or 0 < place < len(l2) - 1:
        return
    gain = scores[j] - scores[order[1 if place == 0 else -2]]
    if gain >= _WORTH_MORE:
        side, what = ("smallest", "smaller") if place == 0 else ("largest", "larger")
        warn(
            f"the best l2 is the {side} that was tried ({l2[j]:.3g}), {gain:.4f} ahead of the next: a {what} "
            "one may be better. "
            + Advice("Pass a longer {l2_grid}" + (", or {scale}." if place == 0 else "."), scale=True),
            PenaltyWarning,
        )


def _values(name: str, grid: Any) -> list[float]:
    try:
        values = np.asarray(grid, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {grid!r}.") from None
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must be a sequence of at least one number, got {grid!r}.")
    return [check_number(f"each value of {name}", float(value), low=0.0) for value in values]
