"""ROC curve with intervals."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from mbauc.metrics import roc_auc
from mbauc.metrics.delong import AucInterval, roc_auc_interval
from mbauc.metrics.design import Weights
from mbauc.metrics.neyman_pearson import NpBand
from mbauc.metrics.thresholds import ThresholdTable, exact_limits, threshold_table
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


class RocBandDisplay(ScoreDisplay):
    """ROC curve with the interval of each point and the Neyman–Pearson band.

    Parameters
    ----------
    false_alarm, detection : array-like of shape (m,)
        The curve.
    low, high : array-like of shape (m,), optional
        Ends of the interval of each detection rate.
    interval : AucInterval, optional
        AUC with DeLong's interval.
    roc_auc : float, optional
        AUC where there is no interval.
    band : NpBand, optional
        What a false-alarm promise leaves of the curve.
    confidence : float
        That of the interval of each point.
    name : str, optional
        Of the curve.
    pos_label : label, optional
        The positive one.

    Attributes
    ----------
    line_, fill_, band_, chance_level_ : matplotlib artists
        The curve, the intervals of its points, the Neyman–Pearson band and the diagonal; None if not drawn.
    ax_, figure_
        Where they were drawn.

    Notes
    -----
    Both bands are those of :func:`mbauc.report.report_html`, each right for a threshold that was fixed before.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = np.random.default_rng(0).standard_normal(1000) + y
    >>> display = RocBandDisplay.from_predictions(y, s, name="signal")
    >>> display.line_.get_label()
    'signal: AUC 0.7122 (95% interval 0.6579 to 0.7609)'
    """

    line_: Any
    fill_: Any
    band_: Any
    chance_level_: Any

    def __init__(
        self,
        *,
        false_alarm: ArrayLike,
        detection: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        interval: AucInterval | None = None,
        roc_auc: float | None = None,
        band: NpBand | None = None,
        confidence: float = 0.95,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.false_alarm, self.detection = curve(false_alarm=false_alarm, detection=detection)
        self.low, self.high = band_ends(low, high, false_alarm=self.false_alarm)
        self.interval, self.roc_auc = interval, roc_auc if interval is None else interval.auc
        self.band, self.confidence = band, confidence
        self.name, self.pos_label = name, pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        confidence: float = 0.95,
        delta: float | None = 0.05,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n,)
            Two-valued labels, and scores that are higher for positive rows.
        sample_weight : array-like of shape (n,), optional
            For how many equal rows each row counts.
        confidence : float
            Of the interval of the AUC (none if a class has less than two rows) and of that of each point.
        delta : float or None
            Probability of breaking a false-alarm limit; None for no Neyman–Pearson band.
        pos_label : label, optional
            The positive one; the larger if not given.
        name : str, optional
            For the legend; "Classifier" if not given.
        ax, **kwargs
            As for :meth:`plot`.

        Warns
        -----
        FewRowsWarning
            If a class has few rows for that AUC: its interval tends to be too narrow.
        """
        confidence = inner_share("confidence", confidence)
        if delta is not None:
            delta = inner_share("delta", delta)
        rows = scored_rows("y_score", y_true, y_score, sample_weight, pos_label)
        table = threshold_table(rows.tally())
        low, high = exact_limits(table.found, table.positives, confidence)
        interval = None
        if min(table.positives, table.negatives) >= 2:
            meaning: Weights | None = None if rows.weight is None else "frequency"
            interval = roc_auc_interval(*rows[:3], weights=meaning, confidence=confidence)
        display = cls(
            false_alarm=table.false_alarms / table.negatives,
            detection=table.found / table.positives,
            low=low,
            high=high,
            interval=interval,
            roc_auc=roc_auc(*rows[:3]) if interval is None else None,
            band=None if delta is None else _promised(table, delta),
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
            Whether to draw the diagonal.
        **kwargs
            For matplotlib's ``plot`` of the curve.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax)
        label = with_name(self.name if name is None else name, self._auc())
        (self.line_,) = ax.plot(self.false_alarm, self.detection, **options_of("line", kwargs, label=label))
        self.fill_ = self.band_ = self.chance_level_ = None
        if self.low is not None:
            self.fill_ = ax.fill_between(
                self.false_alarm, self.low, self.high, color=self.line_.get_color(), alpha=0.2, linewidth=0,
                label=f"{percent(self.confidence)} interval of each point",
            )  # fmt: skip
        if self.band is not None:
            # a promise between two thresholds has to use the higher one: steps
            self.band_ = ax.fill_between(
                self.band.false_alarm[::-1], self.band.low[::-1], self.band.high[::-1], step="post",
                facecolor="none", edgecolor=self.line_.get_color(), alpha=0.7, linewidth=0.8, linestyle="--",
                label=f"Neyman–Pearson band, limits kept with {percent(1 - self.band.delta)}",
            )  # fmt: skip
        if plot_chance_level:
            (self.chance_level_,) = ax.plot([0, 1], [0, 1], label="chance", **PLAIN_LINE)
        ax.set(xlabel="false alarm rate", ylabel=with_label("detection rate", self.pos_label))
        ax.set(xlim=(0, 1), ylim=(0, 1.005))
        return self._done(ax, "lower right")

    def _auc(self) -> str:
        if self.interval is None:
            return "" if self.roc_auc is None else f"AUC {self.roc_auc:.4f}"
        ends = f"{self.interval.low:.4f} to {self.interval.high:.4f}"
        return f"AUC {self.interval.auc:.4f} ({percent(self.interval.confidence)} interval {ends})"


def _promised(table: ThresholdTable, delta: float) -> NpBand:
    """What is promised at each threshold, by the counts of the table."""
    # the limit of one side is the upper one of two sides that are broken twice as often
    limit = exact_limits(table.false_alarms, table.negatives, 2 * (1 - delta) - 1)[1]
    low, high = exact_limits(table.found, table.positives, 1 - delta)
    return NpBand(limit[::-1], low[::-1], high[::-1], table.threshold[::-1], delta)
