"""Precision against recall with intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_share
from mbauc.metrics.curves import average_precision, roc_curve
from mbauc.metrics.intervals.binomial import clopper_pearson
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import spread_thresholds
from mbauc.plots.display import (
    PLAIN_LINE,
    ScoreDisplay,
    band_ends,
    curve_points,
    percent,
    with_label,
)
from mbauc.plots.figure import axes_or_new


class PrecisionBandDisplay(ScoreDisplay):
    """Precision-recall curve with pointwise confidence intervals of the precision.

    The curve and the intervals (Clopper–Pearson) hold for data with the same share of positives.

    Parameters
    ----------
    recall, precision : array-like of shape (m,)
        The curve, by increasing recall.
    low, high : array-like of shape (m,), optional
        Confidence interval of each precision.
    average_precision : float, optional
        Average precision: area below the step curve.
    prevalence : float, optional
        Share of positives: the precision of random scores.
    confidence : float, default=0.95
        Confidence level of the intervals.
    name : str, optional
        Name of the curve.
    pos_label : label, optional
        Positive label.

    Attributes
    ----------
    line_, fill_, chance_level_ : matplotlib artists
        The curve, its confidence intervals and the prevalence; None if not drawn.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = np.random.default_rng(0).standard_normal(1000) + y
    >>> display = PrecisionBandDisplay.from_predictions(y, s, name="signal")
    >>> display.line_.get_label()
    'signal: average precision 0.2387'
    """

    line_: Any
    fill_: Any
    chance_level_: Any

    def __init__(
        self,
        *,
        recall: ArrayLike,
        precision: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        average_precision: float | None = None,
        prevalence: float | None = None,
        confidence: float = 0.95,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.recall, self.precision = curve_points(recall=recall, precision=precision)
        self.low, self.high = band_ends(low, high, recall=self.recall)
        self.average_precision, self.prevalence, self.confidence = average_precision, prevalence, confidence
        self.name, self.pos_label = name, pos_label

    @classmethod
    def measure(cls, ranked: RankedScores, *, confidence: float = 0.95, name: str | None = None) -> Self:
        """Compute the display without drawing it; ``confidence`` is that of the intervals."""
        confidence = check_share("confidence", confidence)
        curve = roc_curve(ranked, spread_thresholds(ranked)).with_alarms()
        low, high = clopper_pearson(curve.found, curve.alarms, confidence)
        return cls(
            recall=curve.detection,
            precision=curve.found / curve.alarms,
            low=low,
            high=high,
            average_precision=average_precision(ranked),
            prevalence=curve.prevalence,
            confidence=confidence,
            name=name,
        )

    def plot(
        self, ax: Any = None, *, name: str | None = None, plot_chance_level: bool = True, **kwargs: Any
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax, name
            As for :meth:`RocBandDisplay.plot`.
        plot_chance_level : bool, default=True
            Whether to draw the prevalence.
        **kwargs
            Passed to matplotlib's ``plot`` of the curve.
        """
        ax = axes_or_new(ax)
        average = "" if self.average_precision is None else f"average precision {self.average_precision:.4f}"
        # up to the first point the curve is as high as there
        recall, precision = np.append(0.0, self.recall), np.append(self.precision[:1], self.precision)
        label = self._label(name, average)
        self.line_ = self._draw_line(ax, recall, precision, label, kwargs, drawstyle="steps-pre")
        self.fill_ = self.chance_level_ = None
        if self.low is not None and self.high is not None:
            low, high = (np.append(end[:1], end) for end in (self.low, self.high))
            label = f"{percent(self.confidence)} interval of each point"
            self.fill_ = self._draw_band(ax, recall, low, high, label, self.line_, step="pre")
        if plot_chance_level and self.prevalence is not None:
            level = [self.prevalence, self.prevalence]
            (self.chance_level_,) = ax.plot([0, 1], level, label=f"chance {self.prevalence:.4g}", **PLAIN_LINE)
        ax.set(xlabel="recall (detection rate)", ylabel=with_label("precision", self.pos_label))
        ax.set(xlim=(0, 1), ylim=(0, 1.005))
        return self._finish(ax)
