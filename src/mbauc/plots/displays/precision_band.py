"""Precision against recall with intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mbauc.metrics.curves import average_precision
from mbauc.metrics.thresholds import exact_limits, threshold_table
from mbauc.plots.displays.display import (
    PLAIN_LINE,
    ScoreDisplay,
    band_ends,
    curve,
    inner_share,
    options_of,
    percent,
    with_label,
    with_name,
)
from mbauc.plots.displays.scored_rows import scored_rows
from mbauc.plots.figure import axes_or_new


class PrecisionBandDisplay(ScoreDisplay):
    """Precision against recall with the interval of each precision.

    The intervals (Clopper–Pearson) and the curve hold for data with as large a share of positives as here.

    Parameters
    ----------
    recall, precision : array-like of shape (m,)
        The curve, by rising recall.
    low, high : array-like of shape (m,), optional
        Ends of the interval of each precision.
    average_precision : float, optional
        Area below the steps of the curve.
    prevalence : float, optional
        Share of the positives: the precision of scores that say nothing.
    confidence : float
        That of the intervals.
    name : str, optional
        Of the curve.
    pos_label : label, optional
        The positive one.

    Attributes
    ----------
    line_, fill_, chance_level_ : matplotlib artists
        The curve, the intervals of its points and the prevalence; None if not drawn.
    ax_, figure_
        Where they were drawn.

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
        self.recall, self.precision = curve(recall=recall, precision=precision)
        self.low, self.high = band_ends(low, high, recall=self.recall)
        self.average_precision, self.prevalence, self.confidence = average_precision, prevalence, confidence
        self.name, self.pos_label = name, pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        confidence: float = 0.95,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label, name
            As for :meth:`RocBandDisplay.from_predictions`.
        confidence : float
            Of the interval of each precision.
        ax, **kwargs
            As for :meth:`plot`.
        """
        confidence = inner_share("confidence", confidence)
        rows = scored_rows("y_score", y_true, y_score, sample_weight, pos_label)
        tally = rows.tally()
        table = threshold_table(tally)
        some = table.found + table.false_alarms > 0
        found, alarms = table.found[some], (table.found + table.false_alarms)[some]
        low, high = exact_limits(found, alarms, confidence)
        display = cls(
            recall=found / table.positives,
            precision=found / alarms,
            low=low,
            high=high,
            average_precision=average_precision(tally),
            prevalence=table.positives / (table.positives + table.negatives),
            confidence=confidence,
            name="Classifier" if name is None else name,
            pos_label=rows.pos_label,
        )
        return display.plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, name: str | None = None, plot_chance_level: bool = True, **kwargs: Any
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            For the legend, in place of that of the display.
        plot_chance_level : bool
            Whether to draw the prevalence.
        **kwargs
            For matplotlib's ``plot`` of the curve.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax)
        average = "" if self.average_precision is None else f"average precision {self.average_precision:.4f}"
        label = with_name(self.name if name is None else name, average)
        # up to the first point the curve is as high as there
        recall, precision = np.append(0.0, self.recall), np.append(self.precision[:1], self.precision)
        style = options_of("line", kwargs, label=label, drawstyle="steps-pre")
        (self.line_,) = ax.plot(recall, precision, **style)
        self.fill_ = self.chance_level_ = None
        if self.low is not None and self.high is not None:
            low, high = (np.append(end[:1], end) for end in (self.low, self.high))
            self.fill_ = ax.fill_between(
                recall, low, high, step="pre", color=self.line_.get_color(), alpha=0.2, linewidth=0,
                label=f"{percent(self.confidence)} interval of each point",
            )  # fmt: skip
        if plot_chance_level and self.prevalence is not None:
            level = [self.prevalence, self.prevalence]
            (self.chance_level_,) = ax.plot([0, 1], level, label=f"chance {self.prevalence:.4g}", **PLAIN_LINE)
        ax.set(xlabel="recall (detection rate)", ylabel=with_label("precision", self.pos_label))
        ax.set(xlim=(0, 1), ylim=(0, 1.005))
        return self._done(ax)
