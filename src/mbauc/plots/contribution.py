"""Why one row is ranked where it is: a waterfall of what is added up."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mbauc.checks import check_whole
from mbauc.estimators.additive.explain import Explanation, explain
from mbauc.estimators.additive.labels import format_log_odds
from mbauc.plots.display import Display, options_of
from mbauc.plots.figure import axes_or_new
from mbauc.plots.term_style import LOWERS, NEUTRAL, RAISES, shorten
from mbauc.rows.matrix import is_sparse


class ContributionDisplay(Display):
    """Waterfall chart of the score of one row: contributions from an average row to this one.

    Parameters
    ----------
    explanation : Explanation
        Explanation of the row; see :func:`mbauc.explain`.
    name : str, optional
        Name of the row, for the title.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The contributions, the first on top.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> from mbauc.estimators import LinearScorer
    >>> scorer = LinearScorer([2.0, -1.0], slope=1.0, names=["age", "income"])
    >>> display = ContributionDisplay.from_estimator(scorer, [[1.5, 1.0]])
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['start', 'age = 1.5', 'income = 1', 'this row']
    """

    bars_: Any

    def __init__(self, explanation: Explanation, *, name: str | None = None) -> None:
        self.explanation, self.name = explanation, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        row: int = 0,
        *,
        n: int = 10,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Explain a row and draw the chart.

        Parameters
        ----------
        estimator : ranker, TableRanker or LinearScorer
            Fitted ranker or scorer; see :func:`mbauc.explain`.
        X : array-like, sparse matrix or data frame of shape (n, d)
            Rows.
        row : int, default=0
            Position of the row to explain.
        n : int, default=10
            Maximum number of contributions to show; the others are combined.
        name : str, optional
            Name of the row, for the title.
        ax, **kwargs
            As for :meth:`plot`.
        """
        check_whole("row", row, low=0)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if row >= n_rows:
            raise ValueError(f"row must be below {n_rows:,}, the number of rows, got {row}.")
        one = _take(X, int(row))
        found = estimator.explain(one, n) if hasattr(estimator, "explain") else explain(estimator, one, n)
        return cls(found[0], name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the chart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the title, instead of that of the display.
        **kwargs
            Passed to matplotlib's ``barh``.
        """
        found = self.explanation
        steps = [(f"{one.name} = {one.value}", one.log_odds) for one in found.contributions]
        if found.n_rest:
            steps.append((f"{found.n_rest} more", found.rest))
        amounts = np.array([amount for _, amount in steps])
        starts = found.base + np.append(0.0, np.cumsum(amounts)[:-1]) if steps else np.zeros(0)
        ax = axes_or_new(ax, 7.0, 1.4 + 0.3 * max(len(steps) + 2, 4))
        at = np.arange(1, len(steps) + 1)
        style = options_of("patch", kwargs, height=0.7)
        if not {"color", "facecolor"} & style.keys():
            style["color"] = np.where(amounts > 0, RAISES, LOWERS)
        self.bars_ = ax.barh(at, amounts, left=starts, **style)
        ends = [found.base, *(starts + amounts), found.log_odds]
        for place, end in enumerate(ends[:-1]):
            ax.plot([end, end], [place - 0.35, place + 1.35], color="0.6", linewidth=0.8)
        last = len(steps) + 1
        ax.plot([found.base, found.log_odds], [0, last], linestyle="", marker="D", color=NEUTRAL, markersize=6)
        ax.set_yticks(
            range(last + 1), ["start", *(shorten(text, 52) for text, _ in steps), "this row"], fontsize=8
        )
        ax.invert_yaxis()
        low, high = min(ends), max(ends)
        span = (high - low) or 1.0
        ax.set_xlim(low - 0.16 * span, high + 0.2 * span)
        for place, amount in enumerate(amounts.tolist(), start=1):
            right = max(starts[place - 1], starts[place - 1] + amount)
            ax.text(right + 0.012 * span, place, format_log_odds(amount), va="center", fontsize=8, color="0.2")
        for place, value in ((0, found.base), (last, found.log_odds)):
            ax.text(value + 0.025 * span, place, format_log_odds(value), va="center", fontsize=8, weight="bold")
        ax.set(xlabel="log-odds" if found.probability is not None else "score")
        tail = "" if found.probability is None else f": probability {found.probability:.2%}"
        ax.set_title((self._label(name) or "this row") + tail, fontsize=10)
        self._finish(ax, legend=None)
        ax.grid(visible=False, axis="y")
        return self


def _take(X: Any, row: int) -> Any:
    """One row of what may be a table, a matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[row : row + 1]
    if is_sparse(X):
        return X.tocsr()[[row]]
    return X[row : row + 1]
