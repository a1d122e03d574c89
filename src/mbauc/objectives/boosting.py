"""What boosting asks of a loss: gradient and Hessian diagonal row by row, and a metric to stop by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_flag, check_number
from mbauc.losses import PairLoss, Region, SmoothHinge, Squared, get_loss
from mbauc.objectives.pair_terms import BoostedRows, PairTerms
from mbauc.rows.groups import check_groups

Array = NDArray[np.float64]

#: Smallest curvature, as a mean over the pairs of a row.
_MIN_CURVATURE = 1e-3
#: The same for the hinge, which has none where it falls as a line: a step is as long as its slope there.
_MIN_CURVATURE_OF_HINGE = 1.0


@dataclass(frozen=True, eq=False)
class Boosting:
    """A loss over pairs for boosting; a library's own calls it as the library does."""

    loss: PairLoss
    terms: PairTerms
    whole: float
    min_curvature: float

    @classmethod
    def build(
        cls,
        loss: str | PairLoss,
        max_fpr: float,
        min_tpr: float,
        whole: float,
        groups: ArrayLike | None,
        equal_groups: bool,
        min_curvature: float | None,
    ) -> Self:
        """From what a caller passed."""
        check_flag("equal_groups", equal_groups)
        found = get_loss(loss)
        if min_curvature is None:
            min_curvature = _MIN_CURVATURE_OF_HINGE if isinstance(found, SmoothHinge) else _MIN_CURVATURE
        check_number("min_curvature", min_curvature, low=0.0)
        check_number("whole", whole, low=0.0, high=1.0)
        region = Region(max_fpr=max_fpr, min_tpr=min_tpr)
        given = None if groups is None else check_groups(groups, np.shape(groups)[0])
        terms = PairTerms(region, given, bool(equal_groups))
        return cls(found, terms, float(whole), float(min_curvature))

    def derivatives(self, rows: BoostedRows) -> tuple[Array, Array]:
        """Gradient and Hessian diagonal of the mean over pairs, times half the rows that they are worth."""
        pairs = self.terms.pairs(rows)
        parts = [(0.5 * pairs.worth, pairs.chosen)]
        if not self.terms.region.is_whole:
            parts = [((1.0 - self.whole) * parts[0][0], pairs.chosen), (self.whole * parts[0][0], pairs.all)]
        gradient, hessian = np.zeros(pairs.scores.size), np.zeros(pairs.scores.size)
        for scale, some in parts:
            around = self.loss.expand(some, pairs.scores)
            # the squared loss has curvature 1 in each pair
            least = self.min_curvature * Squared().expand(some, pairs.scores).diagonal
            gradient += scale * around.gradient
            hessian += scale * np.maximum(around.diagonal, least)
        return gradient, hessian
