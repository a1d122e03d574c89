"""The most important curves and heat maps as small pictures on one page."""

from __future__ import annotations

from typing import Any

from mbauc.checks import check_whole
from mbauc.estimators.additive.terms import Curve
from mbauc.plots.curve import CurveDisplay
from mbauc.plots.figure import new_figure
from mbauc.plots.interaction import InteractionDisplay
from mbauc.plots.term_style import shorten, terms_of

#: Pictures beside each other, and levels of a category in a small picture.
_ACROSS, _LEVELS = 3, 9
#: Cells across a heat map up to which there is room for numbers.
_FEW_CELLS = 5


def curves_figure(estimator: Any, n: int = 12, *, interactions: bool = True) -> Any:
    """Figure with a panel for each of the most important terms, in order of importance.

    Parameters
    ----------
    estimator : TableRanker, AdditiveAUCClassifier or AdditiveTerms
        Fitted.
    n : int, default=12
        Maximum number of panels.
    interactions : bool, default=True
        Whether to include heat maps of interactions.

    Returns
    -------
    matplotlib Figure
        For :func:`save_figure`. ``O(features)`` time.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import AdditiveAUCClassifier
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> ranker = AdditiveAUCClassifier("curves", random_state=0).fit(X, X[:, 0] ** 2 > 1)
    >>> len(curves_figure(ranker, n=1).axes)
    1
    """
    check_whole("n", n)
    shown = [one for one in terms_of(estimator).ranked() if interactions or isinstance(one, Curve)][:n]
    if not shown:
        raise ValueError("no column changes the score: all curves are flat, and there is nothing to draw.")
    across = min(_ACROSS, len(shown))
    down = -(-len(shown) // across)
    figure = new_figure(4.2 * across, 3.2 * down)
    for place, one in enumerate(shown, start=1):
        ax = figure.add_subplot(down, across, place)
        if isinstance(one, Curve):
            CurveDisplay(one).plot(ax, top=_LEVELS)
            if one.kind == "category":
                ax.set_ylabel("")
            else:
                ax.set_xlabel("")
        else:
            InteractionDisplay(one).plot(ax, numbers=max(one.values.shape) <= _FEW_CELLS)
            ax.tick_params(labelsize=6)
        ax.set_title(shorten(one.name, 44), fontsize=10, loc="left")
    return figure
