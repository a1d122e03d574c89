"""Gains and lift."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.curves import roc_curve
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import spread_thresholds
from mbauc.plots.display import PLAIN_LINE, ScoreDisplay, curve_points, with_label
from mbauc.plots.figure import axes_or_new

Array = NDArray[np.float64]


class GainsDisplay(ScoreDisplay):
    """Cumulative gains chart: share of the positives among the highest-scored rows.

    Parameters
    ----------
    share, found : array-like of shape (m,)
        Share of the rows, highest scores first, and share of all positives among them.
    prevalence : float, optional
        Share of positives in the data, for the curve of a perfect ranking.
    name : str, optional
        Name of the curve.
    pos_label : label, optional
        Positive label.

    Attributes
    ----------
    lift : ndarray of shape (m,)
        Lift: ratio of positives found to those among as many randomly drawn rows.
    line_, ideal_, chance_level_ : matplotlib artists
        The curve, that of a perfect ranking and that of random order; None if not drawn.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> display = GainsDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> display.found
    array([0.5, 0.5, 1. , 1. ])
    >>> display.lift
    array([2.        , 1.        , 1.33333333, 1.        ])
    """

    line_: Any
    ideal_: Any
    chance_level_: Any

    def __init__(
        self,
        share: ArrayLike,
        found: ArrayLike,
        *,
        prevalence: float | None = None,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.share, self.found = curve_points(share=share, found=found)
        self.prevalence, self.name, self.pos_label = prevalence, name, pos_label

    @classmethod
    def measure(cls, ranked: RankedScores, *, name: str | None = None) -> Self:
        """Compute the display without drawing it."""
        curve = roc_curve(ranked, spread_thresholds(ranked)).with_alarms()
        return cls(curve.alarms / curve.rows, curve.detection, prevalence=curve.prevalence, name=name)

    @property
    def lift(self) -> Array:
        """Lift: ratio of positives found to those among as many randomly drawn rows."""
        return np.asarray(self.found / self.share)

    def plot(
        self, ax: Any = None, *, name: str | None = None, plot_chance_level: bool = True, **kwargs: Any
    ) -> Self:
        """Draw the chart.

        Parameters
        ----------
        ax, name
            As for :meth:`RocBandDisplay.plot`.
        plot_chance_level : bool, default=True
            Whether to draw the line of random order.
        **kwargs
            Passed to matplotlib's ``plot`` of the curve.
        """
        ax = axes_or_new(ax)
        self.line_ = self._draw_line(ax, [0.0, *self.share], [0.0, *self.found], self._label(name), kwargs)
        self.ideal_ = self.chance_level_ = None
        if self.prevalence is not None:
            best = {**PLAIN_LINE, "linestyle": "--", "label": "at best"}
            (self.ideal_,) = ax.plot([0, self.prevalence, 1], [0, 1, 1], **best)
        if plot_chance_level:
            (self.chance_level_,) = ax.plot([0, 1], [0, 1], label="random", **PLAIN_LINE)
        ax.set(xlabel="share of the rows, highest scores first", xlim=(0, 1), ylim=(0, 1.005))
        ax.set(ylabel=with_label("share of the positives found", self.pos_label))
        return self._finish(ax, "lower right")
