"""What pictures of curves, heat maps and contributions have in common: colours, scales and words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.estimators.additive.labels import short_number, short_numbers
from mbauc.estimators.additive.terms import AdditiveTerms
from mbauc.estimators.additive.value_axis import round_values, squeeze_width

Array = NDArray[np.float64]

#: Of what raises a score, of what lowers it, and of what says nothing.
RAISES, LOWERS, NEUTRAL = "#2166ac", "#b35806", "0.55"
#: Letters of names and levels, at most.
_LONGEST = 34


def terms_of(estimator: Any) -> AdditiveTerms:
    """Curves and heat maps of a fitted estimator, or those that are given."""
    if isinstance(estimator, AdditiveTerms):
        return estimator
    if not hasattr(estimator, "terms"):
        raise ValueError(
            f"estimator {type(estimator).__name__} has no curves; pass a fitted TableRanker or "
            "AdditiveAUCClassifier, of a pipeline its last step (pipeline[-1])."
        )
    check_is_fitted(estimator)
    found: AdditiveTerms = estimator.terms()
    return found


def term_name(estimator: Any, column: str | int) -> str:
    """Name of the curve of a column: of a fitted estimator's X by its number, of terms by its place."""
    if not isinstance(column, int | np.integer):
        return str(column)
    if not isinstance(estimator, AdditiveTerms):
        if not hasattr(estimator, "term_name"):
            raise ValueError(f"column must be a name, as terms() has it, got {column}.")
        return str(estimator.term_name(column))
    if not 0 <= column < len(estimator.curves):
        raise ValueError(f"column must be from 0 to {len(estimator.curves) - 1}, got {column}.")
    return estimator.curves[int(column)].name


def shorten(text: str, longest: int = _LONGEST) -> str:
    """A text that fits beside an axis; signs that matplotlib would take for formulas are kept as they are."""
    text = " ".join(text.split()) or "(no name)"
    if len(text) > longest:
        text = text[: longest * 2 // 3] + "…" + text[len(text) - longest // 3 + 1 :]
    return text.replace("$", r"\$")


def set_value_scale(ax: Any, centers: Array) -> None:
    """An axis of values, squeezed at the far end where a few are very large."""
    from matplotlib.ticker import MaxNLocator

    width = squeeze_width(centers)
    if width is None:
        ax.xaxis.set_major_locator(MaxNLocator(6))
    else:
        ax.set_xscale("asinh", linear_width=width)
        ax.set_xticks(round_values(centers, width))
        ax.xaxis.set_minor_locator(MaxNLocator(1))
        ax.minorticks_off()
    ax.xaxis.set_major_formatter(_short_formatter())


def _short_formatter() -> Any:
    """Ticks of an axis in a few letters each, and no two alike."""
    from matplotlib.ticker import Formatter

    class ShortFormatter(Formatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return short_number(float(x))

        def format_ticks(self, values: Any) -> list[str]:
            return short_numbers(values)

    return ShortFormatter()
