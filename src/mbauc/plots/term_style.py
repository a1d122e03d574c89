"""What pictures of curves, heat maps and contributions have in common: colours, scales and words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.estimators.additive.labels import short_number
from mbauc.estimators.additive.terms import AdditiveTerms

Array = NDArray[np.float64]

#: Of what raises a score, of what lowers it, and of what says nothing.
RAISES, LOWERS, NEUTRAL = "#2166ac", "#b35806", "0.55"
#: Letters of names and levels, at most.
_LONGEST = 34
#: How many times farther the longer tail reaches before an axis is squeezed.
_SKEWED = 8.0


def terms_of(estimator: Any) -> AdditiveTerms:
    """Curves and heat maps of a fitted estimator, or those that are given."""
    if isinstance(estimator, AdditiveTerms):
        return estimator
    if not hasattr(estimator, "terms"):
        raise ValueError(
            f"estimator {type(estimator).__name__} has no curves; pass a fitted AdditiveAUCClassifier, of a "
            "pipeline its last step (pipeline[-1])."
        )
    check_is_fitted(estimator)
    found: AdditiveTerms = estimator.terms()
    return found


def shorten(text: str, longest: int = _LONGEST) -> str:
    """A text that fits beside an axis; signs that matplotlib would take for formulas are kept as they are."""
    text = " ".join(text.split()) or "(no name)"
    if len(text) > longest:
        text = text[: longest * 2 // 3] + "…" + text[len(text) - longest // 3 + 1 :]
    return text.replace("$", r"\$")


def signed(value: float) -> str:
    """Log-odds with a sign and two digits."""
    return f"{value:+.2f}".replace("-", "−")


def squeeze_width(centers: Array) -> float | None:
    """Where an axis changes from even to logarithmic steps; None for values that need no such axis."""
    low, middle, high = (float(centers[k]) for k in (0, centers.size // 2, -1))
    near, far = sorted((middle - low, high - middle))
    if centers.size < 12 or far < _SKEWED * max(near, 1e-12 * far) or far <= 0:
        return None
    distances = np.abs(centers - (0.0 if low <= 0 <= high else low))
    return float(np.quantile(distances[distances > 0], 0.25))


def set_value_scale(ax: Any, centers: Array) -> None:
    """An axis of values, squeezed at the far end where a few are very large."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    width = squeeze_width(centers)
    if width is None:
        ax.xaxis.set_major_locator(MaxNLocator(6))
    else:
        ax.set_xscale("asinh", linear_width=width)
        ax.set_xticks(_round_values(centers, width))
        ax.xaxis.set_minor_locator(MaxNLocator(1))
        ax.minorticks_off()
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(float(value))))


def _round_values(centers: Array, width: float) -> list[float]:
    """Powers of ten on both sides of zero, as many as have room."""
    low, high = float(centers[0]), float(centers[-1])
    first = int(np.floor(np.log10(width)))
    powers = [10.0**k for k in range(first, int(np.floor(np.log10(max(abs(low), abs(high))))) + 1)]
    inside = [value for value in [*(-p for p in powers), 0.0, *powers] if low <= value <= high]
    place = np.arcsinh(np.array(inside) / width)
    whole = float(np.arcsinh(high / width) - np.arcsinh(low / width))
    kept: list[int] = []
    # zero first, then from the outside to the middle: the ends of the axis are what people look for
    order = sorted(range(len(inside)), key=lambda k: (inside[k] != 0.0, -abs(inside[k])))
    for k in order:
        if all(abs(place[k] - place[other]) > 0.13 * whole for other in kept):
            kept.append(k)
    return [inside[k] for k in sorted(kept)]
