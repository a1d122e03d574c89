"""MBAClassifierCV: penalties chosen by cross-validation in one pass over the data."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_number
from mbauc.errors import PenaltyWarning
from mbauc.estimators.held_out import HeldOut, Truth
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.search import MomentSearch, Part, ProductSearch, Search
from mbauc.estimators.splits import Split, given_splits, stratified_splits
from mbauc.estimators.validation import (
    check_factors,
    columns_named,
    keeps_state_on_failure,
    validated_training_data,
)
from mbauc.metrics.intervals import Weights
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Rows
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator
from mbauc.runtime.threads import thread_count
from mbauc.runtime.warn import warn
from mbauc.solvers.choice import Solver, SolverChoice, Workload, choose_solver
from mbauc.solvers.leave_one_out import l2_grid
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

Scoring = Literal["roc_auc", "binormal_auc", "risk"]

#: Default grid of l2, in units of the mean diagonal of Σ.
L2_GRID = np.logspace(-6, 3, 20)
#: Default grid of l1 where only their number is given, in units of max|μ|.
_L1_SMALLEST = 1e-3
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

    The others are those of :class:`MBAClassifier`.

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

    @keeps_state_on_failure
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
        rows, classes = validated_training_data(self, X, y, sample_weight, reset=True)
        factors = check_factors(self.penalty_factors, rows.X.shape[1])
        rng = generator(self.random_state)
        rounds = self._rounds(rows, groups, rng)

        self.solver_ = self._chosen_solver(rows, rounds)
        with columns_named(X):
            search = (self._moment_search if self.solver_.name == "gram" else self._product_search)(
                rows, rounds, rng, factors
            )
            self._decide(search, HeldOut(rows, thread_count(self.n_jobs)))
        self.classes_ = classes
        return self

    # -- the steps of fit --------------------------------------------------------------------------------

    def _decide(self, search: Search, truth: Truth) -> None:
        """Choose the penalties and store the fit to all rows."""
        l1, l2 = self._grids(search.problem)
        results = self._score(search, truth, l1, l2)
        best = self._choose(results)
        i, j = divmod(best, len(l2))
        scores = results["mean_test_score"][i * len(l2) : (i + 1) * len(l2)]
        if not self.one_standard_error:
            warn_at_the_edge(l2, j, scores)
        problem = search.problem
        self._settle(problem, problem.solve(l1[i], l2[j], tol=self._tolerance(), max_iter=int(self.max_iter)))
        self.cv_results_ = results
        self.best_index_ = best
        self.best_score_ = float(results["mean_test_score"][best])
        self.n_splits_ = len(search.held_out)

    def _check_settings(self) -> None:
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

    def _rounds(self, rows: Rows, groups: Any, rng: np.random.Generator) -> list[list[Split]]:
        if self.cv is None or isinstance(self.cv, int | np.integer):
            used = np.concatenate([rows.of_class(True), rows.of_class(False)])
            return stratified_splits(rows.positive, used, int(self.cv or 5), int(self.repeats), rng)
        if self.repeats != 1:
            raise ValueError("repeats draws new folds and needs cv to be a number; give a repeated splitter.")
        return given_splits(self.cv, rows.X, rows.positive, groups)

    def _chosen_solver(self, rows: Rows, rounds: list[list[Split]]) -> SolverChoice:
        n_l1 = (
            self.l1_grid
            if isinstance(self.l1_grid, int | np.integer)
            else np.count_nonzero(_values("l1_grid", self.l1_grid) if self.l1_grid is not None else 0)
        )
        return choose_solver(
            self.solver,
            Workload.of(rows.X, None if isinstance(self.pairs, str) else 2 * int(self.pairs)),
            # moments of each fold are kept, and of the total
            parse_memory(None) / (1 + max(len(splits) for splits in rounds) / 3),
            n_l1=int(n_l1),
            n_l2=L2_GRID.size if self.l2_grid is None else len(_values("l2_grid", self.l2_grid)),
            n_fits=1 + sum(len(splits) for splits in rounds),
        )

    def _moment_search(
        self, rows: Rows, rounds: list[list[Split]], rng: np.random.Generator, factors: Array
    ) -> Search:
        total, parts = self._accumulate(rows, rounds, rng)
        return MomentSearch(
            total, parts, [s.test for splits in rounds for s in splits], factors, self._scaling()
        )

    def _product_search(
        self, rows: Rows, rounds: list[list[Split]], rng: np.random.Generator, factors: Array
    ) -> Search:
        splits = [split for splits in rounds for split in splits]
        return ProductSearch(
            rows,
            splits,
            lambda subset: self._operator_of(rows, rng, subset),
            factors,
            self._scaling(),
        )

    def _accumulate(
        self, rows: Rows, rounds: list[list[Split]], rng: np.random.Generator
    ) -> tuple[PairMoments, list[Part]]:
        """Moments of all rows, and of the training and test rows of each split."""
        total: PairMoments | None = None
        parts: list[Part] = []
        exact = isinstance(self.pairs, str)
        used = rows.of_class(True).size + rows.of_class(False).size
        with progress(used * len(rounds), "cross-validation", show=bool(self.verbose)) as advance:

            def of(subset: NDArray[np.intp] | None) -> PairMoments:
                moments = self._moments_of(rows, rng, subset, advance)
                if not moments.has_pairs:
                    raise ValueError(
                        "a split is left with one class once rows of zero weight are dropped; "
                        "AUC needs both classes."
                    )
                return moments

            for splits in rounds:
                tests = [of(split.test) for split in splits]
                held_out = sum(split.test.size for split in splits)
                partition = splits[0].train is None and held_out in (used, rows.positive.size)
                if partition:
                    # the folds of this round are all rows once: no pass of its own for the total
                    whole = sum(tests[1:], tests[0])
                    total = total or whole
                elif total is None:
                    total = of(None)
                for split, test in zip(splits, tests, strict=True):
                    if split.train is not None:
                        parts.append(Part(test, train=of(split.train)))
                    elif partition or exact:
                        parts.append(Part(test, whole=whole if partition else total))
                    else:
                        # other pairs were drawn for the total than for the test rows: nothing to subtract
                        others = np.setdiff1d(np.arange(rows.positive.size), split.test)
                        parts.append(Part(test, train=of(others)))
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

    def _held_out_scores(
        self, search: Search, truth: Truth, l1: list[float], l2: list[float]
    ) -> tuple[Array, Array, Array | None, list[Array]]:
        """Binormal AUC, risk and, if asked for, AUC of each grid point on each split; else the weights too."""
        tol, max_iter = self._tolerance(), int(self.max_iter)
        kept: list[Array] = []
        statistics: list[tuple[Array, Array]] = []
        aucs: list[Array] = []
        for number, held_out in enumerate(search.held_out):
            W = search.training(number).grid(l1, l2, tol=tol, max_iter=max_iter)
            W = W.reshape(-1, W.shape[-1])
            statistics.append(search.statistics(number, W))
            if self.scoring == "roc_auc":
                aucs.append(truth.auc(held_out, W))
            else:
                kept.append(W)
        binormal, risk = (np.array(values) for values in zip(*statistics, strict=True))
        return binormal, risk, np.array(aucs) if aucs else None, kept

    def _score(self, search: Search, truth: Truth, l1: list[float], l2: list[float]) -> dict[str, Any]:
        """Scores of every grid point on every split, in the shape of ``GridSearchCV.cv_results_``."""
        binormal, risk, aucs, kept = self._held_out_scores(search, truth, l1, l2)
        tables = {"binormal_auc": binormal, "risk": -risk} | ({} if aucs is None else {"roc_auc": aucs})
        table = tables[self.scoring]

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
        if self.scoring == "roc_auc":
            actual = float(results["mean_test_score"][best])
        else:
            actual = truth.mean_auc(search.held_out, [W[best] for W in kept])
        truth.compare(actual, float(results["mean_test_binormal_auc"][best]))
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

    ``scores`` are those of all values of l2, for the l1 that was chosen.
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
            f"one may be better. Pass a longer l2_grid{', or scale=True' if place == 0 else ''}.",
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
