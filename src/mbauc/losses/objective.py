"""What a fit lowers: a loss over the pairs of some rows, all of them or those of a region of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import Expansion, PairLoss
from mbauc.losses.pair_weights import PairWeights
from mbauc.losses.region import Region


@dataclass(frozen=True)
class PairObjective:
    """Objective of a pairwise loss over all pairs, or over those in a region of the ROC curve.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.losses import PairWeights, get_loss
    >>> pairs = PairWeights.build(np.array([True, False, False]))
    >>> around = PairObjective(get_loss("squared_hinge"), pairs).expand(np.array([0.5, 0.0, -2.0]))
    >>> around.value, around.gradient.tolist()
    (0.0625, [-0.25, 0.25, 0.0])
    """

    loss: PairLoss
    pairs: PairWeights
    region: Region = field(default_factory=Region)

    @property
    def at_zero(self) -> float:
        """The objective at equal scores, for any selection of rows."""
        return float(self.loss.of_margins(np.zeros(1))[0])

    def expand(self, scores: NDArray[np.float64]) -> Expansion:
        """Second-order expansion around scores, for the rows that are selected at them."""
        return self.loss.expand(self.region.select(self.pairs, scores), scores)
