"""How many pairs do I need: the bounds of Section IV for given data, beside what samples of it really do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from sklearn.base import clone

from mbauc.checks import check_choice, check_flag, check_number, check_whole
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.moments import PairMoments
from mbauc.paper.theory.bounds import Constants, check_probability, weight_bound
from mbauc.paper.theory.measured import Measured, measure_draws, sizes_to_try
from mbauc.paper.theory.pair_plan import PairPlan
from mbauc.paper.theory.pairs_needed import (
    Quantities,
    guaranteed_distance,
    guaranteed_gap,
    pairs_needed,
)
from mbauc.paper.theory.radius import squared_radius
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels, find_classes
from mbauc.runtime.progress import progress, show_wait
from mbauc.runtime.threads import thread_count
from mbauc.solvers import Penalty, Solution
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Share of ‖w_N‖ that weights may be off by by default.
_DELTA = 0.1
#: Optimality of all solutions that are compared; far below any distance of interest.
_TOL = 1e-8
#: Steps of a solver, at most.
_MAX_ITER = 10_000


def plan_pairs(
    X: Any,
    y: ArrayLike,
    *,
    l1: float = 0.0,
    l2: float | Literal["auto"] = "auto",
    delta: float | None = None,
    epsilon: float | None = None,
    relative: bool = True,
    p: float = 0.05,
    constants: Constants = "rigorous",
    feature_map: Any = None,
    sample_weight: ArrayLike | None = None,
    measure: bool = True,
    draws: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PairPlan:
    """Plan the number of sampled pairs for weights close to those of all pairs (Theorem 4).

    Computes the quantities of the bounds from the data, returns the smallest number of pairs that any of the
    proofs requires, or ``"all"`` if the data has no more than that, and measures the actual error of samples,
    because the bounds are loose. It costs more than the exact fit: use it to study the method, or to plan for
    similar data.

    Parameters
    ----------
    X, y
        As for :meth:`PairMoments.from_arrays`.
    l1 : float, default=0.0
        λ₁ of Eq. (14).
    l2 : float or "auto", default="auto"
        λ₂ of Eq. (14). ``"auto"`` takes the value that ``MBAClassifier(l2="auto")`` selects from all pairs; fit
        with ``l2=plan.l2``, because the bound holds for a fixed penalty.
    delta : float, optional
        Maximum ‖w_S - w_N‖; 0.1 if neither delta nor epsilon is given.
    epsilon : float, optional
        Maximum L_N(w_S) - L_N(w_N), in units of the objective, instead of delta.
    relative : bool, default=True
        Whether delta is relative to ‖w_N‖ or absolute.
    p : float, default=0.05
        Probability that the guarantee fails, in (0, 1).
    constants : {"rigorous", "paper"}, default="rigorous"
        Proven constants, or Eq. (28) as printed.
    feature_map : transformer, optional
        Applied to X first (a clone, by its ``fit_transform``); its number of features F replaces d. The
        transformed rows are held in memory.
    sample_weight : array-like of shape (n,), optional
        Weight of each row; rows are sampled in proportion to it.
    measure : bool, default=True
        Whether to measure the error of sampled pairs: S = 1,000, 10,000 and 100,000, as long as that is fewer
        than all pairs and takes a few seconds.
    draws : int, default=10
        Number of repetitions for each S.
    random_state : int, Generator, RandomState or None
        Seed of the samples; the planned number of pairs does not depend on it.
    n_jobs
        As for :meth:`PairMoments.from_arrays`.
    verbose : bool, default=False
        Show progress bars on a terminal.

    Returns
    -------
    PairPlan

    Notes
    -----
    One pass for the moments, ``O(n d²)``, one for R_x, ``O(n d)``, and ``O(d³)`` for eigenvalues; then
    ``O(draws · (S d² + d³))`` for each S that is tried. Memory: a few d×d matrices and blocks of 2 MB a thread.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.paper.theory import plan_pairs
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(40_000) < 0.2
    >>> X = np.clip(rng.standard_normal((40_000, 3)), -2, 2) + 0.5 * y[:, None]
    >>> plan = plan_pairs(X, y, l2=1.0, delta=0.2, random_state=0, draws=5)
    >>> plan.pairs, plan.needed.route
    (94052, 'direct')
    >>> [bool(row.largest < row.guaranteed) for row in plan.measured]
    [True, True, True]
    """
    p = check_probability(p)
    _check_settings(l1, l2, delta, epsilon, relative, constants, measure, draws)
    n_threads = thread_count(n_jobs)
    find_classes(y)
    X = X if feature_map is None else _map_features(feature_map, X, y)
    rows = Block.checked(X, y, sample_weight, Labels())
    with progress(rows.X.shape[0], "pair moments", show=verbose) as advance:
        moments = accumulate_block(rows, n_threads, advance=advance)
    with show_wait(f"solving for {moments.n_features:,} columns", show=verbose):
        exact = _Exact.of(moments, float(l1), l2)
    kept = None if rows.weight is None else np.flatnonzero(rows.weight > 0)
    quantities = exact.quantities(squared_radius(rows.X, _mean_row(moments), kept, n_threads))
    if epsilon is None:
        delta = _distance(_DELTA if delta is None else delta, relative, exact.norm)
    needed = pairs_needed(quantities, delta=delta, epsilon=epsilon, p=p, constants=constants)
    measured: tuple[Measured, ...] = ()
    if measure:
        promise = guaranteed_distance if epsilon is None else guaranteed_gap
        measured = measure_draws(
            rows,
            sizes_to_try(rows, moments.n_pairs, draws),
            draws,
            exact.distance if epsilon is None else exact.gap,
            lambda pairs: promise(pairs, quantities, p=p, constants=constants),
            random_state,
            n_threads,
            verbose=verbose,
        )
    return PairPlan(
        pairs=needed.pairs if needed.pairs < moments.n_pairs else "all",
        needed=needed,
        quantities=quantities,
        n_positive=moments.counts[0],
        n_negative=moments.counts[1],
        l1=exact.penalty.l1,
        l2=exact.penalty.l2,
        delta=delta,
        epsilon=epsilon,
        p=p,
        constants=constants,
        exact_norm=exact.norm,
        measured=measured,
    )


@dataclass(frozen=True)
class _Exact:
    """Eq. (14) over all pairs, solved: what samples are compared with."""

    sigma: Array
    mu: Array
    penalty: Penalty
    solution: Solution

    @classmethod
    def of(cls, moments: PairMoments, l1: float, l2: float | str) -> _Exact:
        problem = Problem(moments, np.ones(moments.n_features), scale=False)
        wanted: Any = l2 if isinstance(l2, str) else float(l2)
        solution = problem.solve(l1, wanted, tol=_TOL, max_iter=_MAX_ITER)
        penalty = Penalty(l1, solution.l2, problem.factors)
        return cls(moments.second_moment, moments.mean_difference, penalty, solution)

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.solution.coef))

    def quantities(self, R_x: float) -> Quantities:
        values = eigvalsh(self.sigma, check_finite=False)
        largest = max(0.0, float(values[-1]))
        # an eigenvalue that rounding may have made counts as none
        smallest = float(values[0]) - values.size * np.finfo(np.float64).eps * largest
        return Quantities(
            d=values.size,
            R_x=R_x,
            R_w=weight_bound(self.penalty.l1, self.penalty.l2),
            sigma_norm=largest,
            trace=float(np.trace(self.sigma)),
            l2=self.penalty.l2,
            smallest=max(0.0, smallest),
        )

    def weights(self, moments: PairMoments) -> Array:
        """The weights that other moments lead to under the same penalty."""
        sampled = Problem(moments, self.penalty.factors, scale=False)
        return sampled.solve(self.penalty.l1, self.penalty.l2, tol=_TOL, max_iter=_MAX_ITER).coef

    def distance(self, moments: PairMoments) -> float:
        return float(np.linalg.norm(self.weights(moments) - self.solution.coef))

    def gap(self, moments: PairMoments) -> float:
        w = self.weights(moments)
        value = 0.5 * w @ self.sigma @ w - w @ self.mu + self.penalty.value(w)
        return max(0.0, float(value) - self.solution.objective)


def _check_settings(
    l1: Any, l2: Any, delta: Any, epsilon: Any, relative: Any, constants: Any, measure: Any, draws: Any
) -> None:
    """Raise for settings that no data could make sense of, before any work."""
    check_number("l1", l1, low=0.0)
    if isinstance(l2, str):
        if l2 != "auto":
            raise ValueError(f"l2 must be a number of at least 0 or 'auto', got {l2!r}.")
    else:
        weight_bound(l1, l2)
    if delta is not None and epsilon is not None:
        raise ValueError(
            f"give delta or epsilon, not both, got delta={delta!r}, epsilon={epsilon!r}: delta is a distance "
            "of the weights, epsilon one of the objective."
        )
    for name, value in (("delta", delta), ("epsilon", epsilon)):
        if value is not None:
            check_number(name, value, low=0.0, open_low=True)
    check_flag("relative", relative)
    check_choice("constants", constants, ("rigorous", "paper"))
    check_flag("measure", measure)
    check_whole("draws", draws)


def _map_features(feature_map: Any, X: Any, y: ArrayLike) -> Any:
    """X through a copy of the map, which stays as it was."""
    if not hasattr(feature_map, "fit_transform"):
        raise ValueError(
            f"feature_map must have fit_transform, as scikit-learn's transformers do, got {feature_map!r}."
        )
    return clone(feature_map, safe=False).fit_transform(X, y)


def _mean_row(moments: PairMoments) -> Array:
    """Weighted mean over the rows of both classes."""
    return np.asarray(np.average(moments.class_means, axis=0, weights=moments.weights))


def _distance(delta: float, relative: bool, norm: float) -> float:
    """δ as a distance."""
    if not relative:
        return float(delta)
    if norm == 0.0:
        raise ValueError(
            f"delta={delta!r} is a share of ‖w_N‖, which is 0: all weights are zero under this penalty. "
            "Lower l1, or give a distance with relative=False."
        )
    return delta * norm
