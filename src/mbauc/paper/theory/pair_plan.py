"""The answer to "how many pairs do I need", with all it is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from mbauc.paper.theory.bounds import Constants
from mbauc.paper.theory.measured import Measured
from mbauc.paper.theory.pairs_needed import PairsNeeded, Quantities


@dataclass(frozen=True)
class PairPlan:
    """Result of :func:`plan_pairs`; ``str(plan)`` is a readable summary.

    Attributes
    ----------
    pairs : int or "all"
        Number of pairs, for ``MBAClassifier(l1=plan.l1, l2=plan.l2, pairs=plan.pairs)``.
    needed : PairsNeeded
        Number of pairs required by each proof, even if the data has fewer.
    quantities : Quantities
        R_x, R_w, norms of Σ and the other quantities in the bounds.
    n_positive, n_negative : int
        Number of rows of each class, without rows of weight 0.
    l1, l2 : float
        The penalties; l2 as selected if it was "auto".
    delta, epsilon : float or None
        The requested distance of the weights, or of the objective; absolute.
    p : float
        Probability that the guarantee fails.
    constants : {"rigorous", "paper"}
        Which formulas were used.
    exact_norm : float
        ‖w_N‖.
    measured : tuple of Measured
        Measured errors of sampled pairs; empty if none were sampled.
    """

    pairs: int | Literal["all"]
    needed: PairsNeeded
    quantities: Quantities
    n_positive: int
    n_negative: int
    l1: float
    l2: float
    delta: float | None
    epsilon: float | None
    p: float
    constants: Constants
    exact_norm: float
    measured: tuple[Measured, ...]

    @property
    def n_pairs(self) -> int:
        """Number N of pairs in the data."""
        return self.n_positive * self.n_negative

    def __str__(self) -> str:
        return "\n".join([*self._question(), *self._bounds(), *self._measurements(), *self._costs()])

    def _question(self) -> list[str]:
        q = self.quantities
        if self.delta is None:
            wanted = f"objective within {self.epsilon:.3g} of its minimum"
        else:
            wanted = f"‖w_S - w_N‖ ≤ {self.delta:.3g}"
            if self.exact_norm > 0:
                wanted += f", {self.delta / self.exact_norm:.3g} of ‖w_N‖ = {self.exact_norm:.3g}"
        answer = "all" if isinstance(self.pairs, str) else f"{self.pairs:,}"
        if not isinstance(self.pairs, str) and 2 * self.pairs > self.n_positive + self.n_negative:
            answer += " (all of them, exactly, are fewer rows to read)"
        return [
            f"pairs to draw: {answer}",
            f"wanted:  {wanted}, with probability {1 - self.p:.4g}",
            f"data:    {self.n_positive:,} positives × {self.n_negative:,} negatives = {self.n_pairs:,} pairs, "
            f"{q.d:,} features",
            f"sizes:   R_x = {q.R_x:.3g}, R_w = {q.R_w:.3g}, ‖Σ‖ = {q.sigma_norm:.3g}, tr Σ = {q.trace:.3g}, "
            f"m = {q.modulus:.3g}  (l1 = {self.l1:.3g}, l2 = {self.l2:.3g})",
        ]

    def _bounds(self) -> list[str]:
        paper = self.constants == "paper"
        lines = ["claimed (constants as printed, not all of which hold):" if paper else "proved (rigorous):"]
        for route in self.needed.routes:
            mark = "  <- fewest" if route is self.needed.best and len(self.needed.routes) > 1 else ""
            lines.append(f"    {route.name:<10}{route.pairs:>9.2g} pairs{mark}")
        if isinstance(self.pairs, str):
            lines.append(
                f"    no bound asks for fewer than the {self.n_pairs:,} pairs of the data: take all of them"
            )
        return lines

    def _measurements(self) -> list[str]:
        if not self.measured:
            return ["measured: nothing (too few pairs, too many columns to solve for often, or not wanted)"]
        what = "objective above its minimum" if self.delta is None else "‖w_S - w_N‖"
        lines = [
            f"measured: {what} over {self.measured[0].draws} draws",
            f"    {'pairs':>9}{'median':>10}{'largest':>10}{'promised':>10}",
        ]
        # any weights lie within √R_w of zero, so that this much is true of every sample
        trivial = math.inf if self.delta is None else self.exact_norm + math.sqrt(self.quantities.R_w)
        for row in self.measured:
            promise = f"{row.guaranteed:.2g}" if row.guaranteed < trivial else "nothing"
            lines.append(f"    {row.pairs:>9,}{row.median:>10.2g}{row.largest:>10.2g}{promise:>10}")
        return lines

    def _costs(self) -> list[str]:
        n = self.n_positive + self.n_negative
        return [
            f"This plan has read the {n:,} rows twice; the exact fit over all pairs reads them once.",
            f"S pairs are 2 S rows: beyond {n // 2:,} pairs a sample reads more than the exact fit does.",
        ]
