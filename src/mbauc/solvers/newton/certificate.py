"""How far weights can be from the minimum of a convex loss plus an elastic net, at most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]

#: Newton steps on the share of the tangent.
_STEPS = 6


def excess_bound(penalty: Penalty, w: Array, gradient: Array, loss: float) -> float:
    """Upper bound on F(w) - min F, F = L + h, for a convex loss L ≥ 0 and the elastic net h.

    L is above its tangent at w and above zero, hence above s times its tangent for each s between 0 and 1:
    ``L(v) ≥ s [L(w) + g'(v - w)]``. Adding h and taking the minimum over v on the right, feature by feature,

        F(w) - min F ≤ (1 - s) L(w) + h(w) + s g'w + Σⱼ hⱼ*(-s gⱼ),    hⱼ*(u) = (|u| - l1 fⱼ)₊² / (2 l2 fⱼ).

    The bound is the smallest over s. With l1 = 0 and s = 1 it is Σⱼ rⱼ² / (2 l2 fⱼ), r the gradient of F.
    Without l2 the last sum is zero as long as s |gⱼ| ≤ l1 fⱼ for all j, and infinite beyond. The bound is
    infinite if a feature without penalty has a gradient.

    Any subgradient g of L will do: where pairs are chosen by their ranks, that of the pairs that were chosen.
    A loss that is not convex (a region of the ROC curve that does not begin at a false-alarm rate of 0) has no
    such bound; the number then says how far w is from the minimum of the loss with its pairs as chosen at w.

    Parameters
    ----------
    penalty : Penalty
        l1, l2 and the factors.
    w, gradient : ndarrays of shape (d,)
        Weights, and the gradient of L there.
    loss : float
        L(w).

    Returns
    -------
    float
        Zero at the minimum, and never below F(w) - min F but for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> w, penalty = np.array([0.2, 0.0]), Penalty(0.3, 0.0, np.ones(2))
    >>> target = np.array([0.5, 0.2])
    >>> excess_bound(penalty, w, w - target, 0.5 * float((w - target) @ (w - target)))
    0.0
    """
    threshold, ridge = penalty.l1 * penalty.factors, penalty.l2 * penalty.factors
    size = np.abs(gradient)
    free = (ridge == 0.0) & (size > 0.0)
    longest = float((threshold[free] / size[free]).min(initial=1.0))
    if longest == 0.0:
        return float("inf")
    curved = ridge > 0.0
    size, threshold_of_curved, ridge = size[curved], threshold[curved], ridge[curved]
    own, along = penalty.value(w), float(gradient @ w)
    s, best = longest, np.inf
    for _ in range(1 + _STEPS):
        over = np.maximum(s * size - threshold_of_curved, 0.0)
        best = min(best, (1.0 - s) * loss + own + s * along + float((over**2 / (2.0 * ridge)).sum()))
        slope = along - loss + float((over * size / ridge).sum())
        bend = float((size**2 / ridge)[over > 0.0].sum())
        after = min(max(s - slope / bend, 0.0), longest) if bend > 0.0 else (0.0 if slope > 0.0 else longest)
        if after == s:
            break
        s = after
    return max(best, 0.0)
