"""Theorem 4: how many pairs bring the weights within a distance, and what distance a number of pairs brings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mbauc.checks import check_choice, check_number, check_whole
from mbauc.paper.theory.bernstein import Bernstein
from mbauc.paper.theory.bounds import (
    Constants,
    check_dimension,
    check_positive,
    check_probability,
    check_size,
    mean_inequality,
    printed_linear_inequality,
    residual_inequality,
    second_moment_inequality,
)


@dataclass(frozen=True, kw_only=True)
class Quantities:
    """Quantities on which the bounds depend; the number N of all pairs is not one of them.

    Attributes
    ----------
    d : int
        Number of features, or F of them after a feature map.
    R_x : float
        Largest squared distance of any row from one fixed point.
    R_w : float
        Largest squared norm of the weights; see :func:`~mbauc.paper.theory.weight_bound`.
    sigma_norm, trace : float
        Largest eigenvalue and trace of Σ_N.
    l2 : float
        λ₂ of Eq. (14).
    smallest : float
        Smallest eigenvalue of Σ_N, or a lower bound such as 0.

    Examples
    --------
    >>> q = Quantities(d=10, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=2.0, l2=0.1, smallest=0.05)
    >>> round(q.modulus, 2)
    0.15
    """

    d: int
    R_x: float
    R_w: float
    sigma_norm: float
    trace: float
    l2: float = 0.0
    smallest: float = 0.0

    def __post_init__(self) -> None:
        check_dimension(self.d)
        check_positive("R_w", self.R_w)
        for name in ("R_x", "sigma_norm", "trace", "l2", "smallest"):
            check_size(name, getattr(self, name))

    @property
    def modulus(self) -> float:
        """Strong convexity m of the objective over all pairs: l2 plus the smallest eigenvalue of Σ_N."""
        return self.l2 + self.smallest


@dataclass(frozen=True)
class Route:
    """One proof, and the number of pairs it requires.

    Attributes
    ----------
    name : {"objective", "direct", "residual"}
        ``"objective"`` is that of Theorem 4, through the value of the objective. ``"direct"`` bounds the
        weights by the errors of both moments, ``"residual"`` by the gradient at w_N.
    quadratic, linear : int
        Number of pairs required by the second and by the first moment; a residual has only a linear part.
    """

    name: str
    quadratic: int
    linear: int

    @property
    def pairs(self) -> int:
        """Sufficient number of pairs: the larger of both terms."""
        return max(self.quadratic, self.linear, 1)


@dataclass(frozen=True)
class PairsNeeded:
    """Sufficient number of pairs by each applicable proof.

    Attributes
    ----------
    routes : tuple of Route
        In a fixed order.
    """

    routes: tuple[Route, ...]

    @property
    def best(self) -> Route:
        """The proof that requires the fewest pairs."""
        return min(self.routes, key=lambda route: route.pairs)

    @property
    def pairs(self) -> int:
        """Smallest number of pairs that is proven to be sufficient."""
        return self.best.pairs

    @property
    def route(self) -> str:
        """Name of the proof that requires the fewest pairs."""
        return self.best.name


def pairs_needed(
    quantities: Quantities,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    p: float = 0.05,
    constants: Constants = "rigorous",
) -> PairsNeeded:
    """Number S of pairs for which w_S is close to w_N with probability at least 1 - p (Theorem 4).

    Close means ‖w_S - w_N‖ ≤ δ, or L_N(w_S) - L_N(w_N) ≤ ε in the objective of Eq. (14). ``O(1)``.

    Parameters
    ----------
    quantities : Quantities
        Norms of the data, the weights and the moments.
    delta, epsilon : float
        Tolerance; pass exactly one of the two. δ requires a strongly convex objective: l2 > 0 or a positive
        definite Σ_N.
    p : float, default=0.05
        Probability that the guarantee fails, in (0, 1).
    constants : {"rigorous", "paper"}, default="rigorous"
        ``"paper"`` is Eq. (28) as printed, with ε = m δ²/2 if δ is given. ``"rigorous"`` also includes the two
        proofs that bound δ directly instead of through ε.

    Returns
    -------
    PairsNeeded

    Notes
    -----
    With γ for ‖Σ_S - Σ_N‖ and t for ‖μ_S - μ_N‖ or, last, the length of the residual:

    - objective: γ = ε / (2 R_w), t = ε / (4 √R_w), p/2 each, where ε = m δ²/2: S ~ 1/δ⁴;
    - direct: γ = m δ / (2 √R_w), t = m δ / 2, p/2 each: S ~ 1/δ²;
    - residual: t = l2 δ, where l2 > 0: S ~ 1/δ².

    Examples
    --------
    >>> q = Quantities(d=10, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=2.0, l2=0.1)
    >>> needed = pairs_needed(q, delta=0.1)
    >>> needed.pairs, needed.route
    (435203, 'residual')
    >>> {route.name: f"{route.pairs:.1e}" for route in needed.routes}
    {'objective': '3.9e+09', 'direct': '2.7e+06', 'residual': '4.4e+05'}
    """
    check_choice("constants", constants, ("rigorous", "paper"))
    p = check_probability(p)
    if (delta is None) == (epsilon is None):
        raise ValueError(
            f"give either delta or epsilon, got delta={delta!r}, epsilon={epsilon!r}: delta is a distance of "
            "the weights, epsilon one of the objective."
        )
    if delta is None:
        epsilon = check_number("epsilon", epsilon, low=0.0, open_low=True)
        return PairsNeeded((_objective(quantities, constants).route("epsilon", epsilon, epsilon, p),))
    delta = check_number("delta", delta, low=0.0, open_low=True)
    _require_modulus(quantities)
    return PairsNeeded(
        tuple(
            proof.route("delta", delta, proof.target(delta, quantities.modulus), p)
            for proof in _proofs(quantities, constants)
        )
    )


def guaranteed_gap(
    pairs: int, quantities: Quantities, *, p: float = 0.05, constants: Constants = "rigorous"
) -> float:
    """Smallest ε guaranteed for S pairs: the inverse of :func:`pairs_needed`. ``O(1)``.

    Parameters
    ----------
    pairs : int
        Number S of pairs.
    quantities, p, constants
        As for :func:`pairs_needed`.

    Examples
    --------
    >>> q = Quantities(d=10, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=2.0, l2=0.1)
    >>> pairs_needed(q, epsilon=guaranteed_gap(1_000_000, q)).pairs
    1000000
    """
    check_whole("pairs", pairs)
    check_choice("constants", constants, ("rigorous", "paper"))
    return _objective(quantities, constants).bound(int(pairs), check_probability(p))


def guaranteed_distance(
    pairs: int, quantities: Quantities, *, p: float = 0.05, constants: Constants = "rigorous"
) -> float:
    """Smallest δ guaranteed for S pairs: the inverse of :func:`pairs_needed`. ``O(1)``.

    Weights are never further apart than 2 √R_w, so a larger value is vacuous.

    Parameters
    ----------
    pairs : int
        Number S of pairs.
    quantities, p, constants
        As for :func:`pairs_needed`.

    Examples
    --------
    >>> q = Quantities(d=10, R_x=1.0, R_w=2.5, sigma_norm=0.5, trace=2.0, l2=0.1)
    >>> [round(guaranteed_distance(10**k, q), 3) for k in (3, 5, 7)]
    [2.271, 0.21, 0.021]
    """
    check_whole("pairs", pairs)
    check_choice("constants", constants, ("rigorous", "paper"))
    p = check_probability(p)
    _require_modulus(quantities)
    return min(
        proof.distance(proof.bound(int(pairs), p), quantities.modulus)
        for proof in _proofs(quantities, constants)
    )


@dataclass(frozen=True)
class _Term:
    """An inequality used at threshold ``slope`` · target, for its share of the probability to fail."""

    inequality: Bernstein
    slope: float
    share: float

    def pairs(self, target: float, p: float) -> float:
        return self.inequality.pairs(self.slope * target, self.share * p)

    def bound(self, pairs: int, p: float) -> float:
        return self.inequality.threshold(pairs, self.share * p) / self.slope


@dataclass(frozen=True)
class _Proof:
    """The inequalities that together bound a target: the objective (of order δ²) or a distance."""

    name: str
    quadratic: _Term | None
    linear: _Term
    of_objective: bool = False

    def target(self, delta: float, modulus: float) -> float:
        return modulus * delta**2 / 2 if self.of_objective else delta

    def distance(self, target: float, modulus: float) -> float:
        return math.sqrt(2 * target / modulus) if self.of_objective else target

    def route(self, name: str, asked: float, target: float, p: float) -> Route:
        quadratic = 0.0 if self.quadratic is None else self.quadratic.pairs(target, p)
        linear = self.linear.pairs(target, p)
        if not math.isfinite(quadratic + linear):
            raise ValueError(
                f"{name} must be larger, got {asked!r}: its number of pairs overflows. Use all pairs."
            )
        return Route(self.name, math.ceil(quadratic), math.ceil(linear))

    def bound(self, pairs: int, p: float) -> float:
        linear = self.linear.bound(pairs, p)
        return linear if self.quadratic is None else max(linear, self.quadratic.bound(pairs, p))


def _objective(q: Quantities, constants: Constants) -> _Proof:
    """(32): the gap is at most R_w ‖Σ_S - Σ_N‖ + |(w_N - w_S)'(μ_N - μ_S)|, each half of ε."""
    quadratic = _Term(second_moment_inequality(q.d, q.R_x, q.sigma_norm, constants), 1 / (2 * q.R_w), 0.5)
    if constants == "paper":
        linear = _Term(printed_linear_inequality(q.R_x, q.R_w, q.sigma_norm), 0.5, 0.5)
    else:
        linear = _Term(mean_inequality(q.d, q.R_x, q.trace), 1 / (4 * math.sqrt(q.R_w)), 0.5)
    return _Proof("objective", quadratic, linear, of_objective=True)


def _proofs(q: Quantities, constants: Constants) -> Iterator[_Proof]:
    """All that lead to a distance of the weights."""
    yield _objective(q, constants)
    if constants == "paper":
        return
    root, m = math.sqrt(q.R_w), q.modulus
    yield _Proof(
        "direct",
        _Term(second_moment_inequality(q.d, q.R_x, q.sigma_norm, constants), m / (2 * root), 0.5),
        _Term(mean_inequality(q.d, q.R_x, q.trace), m / 2, 0.5),
    )
    if q.l2 > 0:
        yield _Proof("residual", None, _Term(residual_inequality(q.d, q.R_x, q.R_w), q.l2, 1.0))


def _require_modulus(quantities: Quantities) -> None:
    if quantities.modulus == 0.0:
        raise ValueError(
            "delta needs l2 > 0 or smallest > 0 (the smallest eigenvalue of Σ), got 0 for both: the best "
            "weights may not be unique, so no distance to them can be promised. Raise l2, or give epsilon."
        )
