"""Columns ranked by what they add to scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mbauc.basis.feature_map import WAVES
from mbauc.checks import check_choice, check_whole
from mbauc.estimators.additive.auc_without import auc_without
from mbauc.plots.display import Display, options_of
from mbauc.plots.figure import axes_or_new
from mbauc.plots.term_style import RAISES, shorten, terms_of


class ImportanceDisplay(Display):
    """Importance of columns or terms: the standard deviation of their contributions to the log-odds.

    Parameters
    ----------
    names : sequence of str
        Names of the columns or terms.
    importance : array-like
        Standard deviations of their contributions to the log-odds.
    lost : array-like, optional
        Decrease of AUC without each; see :func:`mbauc.auc_without`.
    name : str, optional
        Name of the ranker.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars, the most important last.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> display = ImportanceDisplay(["age", "rooms"], [0.8, 0.2], lost=[0.05, -0.001]).plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['rooms', 'age']
    """

    bars_: Any

    def __init__(
        self,
        names: Sequence[str],
        importance: ArrayLike,
        *,
        lost: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        self.names, self.importance = [str(one) for one in names], np.asarray(importance, dtype=np.float64)
        self.lost = None if lost is None else np.asarray(lost, dtype=np.float64)
        self.name = name
        for what, values in (("importance", self.importance), ("lost", self.lost)):
            if values is not None and values.shape != (len(self.names),):
                raise ValueError(f"{what} must have one number for each of {len(self.names):,} names.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        by: str = "column",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the importance of the columns or terms of a ranker.

        Parameters
        ----------
        estimator : TableRanker, AdditiveAUCClassifier or AdditiveTerms
            Fitted; the estimator itself if X and y are given.
        X, y : optional
            Held-out rows and labels, to measure the decrease of AUC without each.
        by : {"column", "term"}, default="column"
            Whether to combine interactions with their columns, or to show them separately.
        name : str, optional
            Name of the ranker.
        ax, **kwargs
            As for :meth:`plot`.
        """
        check_choice("by", by, ("column", "term"))
        terms = terms_of(estimator)
        if by == "column":
            found = terms.column_importance()
        else:
            found = {one.name: one.importance for one in terms.ranked()}
            found |= {WAVES: terms.waves} if terms.waves > 0 else {}
        lost = None
        if X is not None:
            if y is None:
                raise ValueError("X without y: pass the labels of the rows as well.")
            measured = auc_without(estimator, X, y, by="column" if by == "column" else "term")
            place = dict(zip(measured.names, measured.lost.tolist(), strict=True))
            lost = [place[one] for one in found]
        return cls(list(found), list(found.values()), lost=lost, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, top: int = 20, **kwargs: Any) -> Self:
        """Draw the most important columns or terms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the title, instead of that of the display.
        top : int, default=20
            Maximum number of bars; those of zero importance are omitted.
        **kwargs
            Passed to matplotlib's ``barh``.
        """
        check_whole("top", top)
        order = np.argsort(-self.importance, kind="stable")[:top]
        order = order[self.importance[order] > 0][::-1]
        ax = axes_or_new(ax, 6.4, 1.1 + 0.27 * max(order.size, 4))
        style = options_of("patch", kwargs, color=RAISES, alpha=0.85, height=0.72)
        self.bars_ = ax.barh(range(order.size), self.importance[order], **style)
        ax.set_yticks(range(order.size), [shorten(self.names[k]) for k in order], fontsize=8)
        ax.set(xlabel="importance (standard deviation of the log-odds)")
        if self.lost is not None:
            style = {"va": "center", "fontsize": 8, "color": "0.3", "transform": ax.get_yaxis_transform()}
            for place, k in enumerate(order):
                ax.text(1.02, place, f"{-self.lost[k]:+.4f}".replace("-", "−"), **style)
            ax.set_title("AUC change without the column", loc="right", fontsize=8, color="0.3")
        left_out = int(np.count_nonzero(self.importance > 0)) - order.size
        if left_out > 0:
            ax.set_title(f"{left_out} more not shown", loc="left", fontsize=8, color="0.3")
        above = self._label(name)
        if above:
            ax.set_title(above, fontsize=10)
        return self._finish(ax, legend=None)
