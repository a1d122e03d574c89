"""ROC curve with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_choice, check_share
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.intervals.binomial import clopper_pearson
from mbauc.metrics.intervals.delong import AucInterval, auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design, warn_of_few_rows
from mbauc.metrics.neyman_pearson import DetectionInterval, NpBand, detection_at, promise_band
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import auc
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


class RocBandDisplay(ScoreDisplay):
    """ROC curve with pointwise confidence intervals and the Neyman–Pearson band.

    Create it with :meth:`from_predictions` or :meth:`from_estimator`, which accept the parameters of
    :meth:`measure` and :meth:`plot`, or directly from a curve, such as that of a known distribution.

    Parameters
    ----------
    false_alarm, detection : array-like of shape (m,)
        False-positive and true-positive rates of the curve, by increasing false-positive rate.
    low, high : array-like of shape (m,), optional
        Confidence interval of each true-positive rate.
    interval : AucInterval, optional
        AUC with DeLong's interval.
    roc_auc : float, optional
        AUC, if there is no interval.
    band : NpBand, optional
        Neyman–Pearson band; see :func:`mbauc.metrics.neyman_pearson.np_roc_band`.
    detections : sequence of DetectionInterval, default=()
        True-positive rates at fixed false-positive rates, with intervals.
    confidence : float, default=0.95
        Confidence level of the pointwise intervals.
    name : str, optional
        Name of the curve.
    pos_label : label, optional
        Positive label.

    Attributes
    ----------
    line_, fill_, band_, detections_, chance_level_ : matplotlib artists
        The curve, its pointwise intervals, the Neyman–Pearson band, the true-positive rates at fixed
        false-positive rates and the diagonal; None if not drawn.
    ax_, figure_
        Axes and figure of the last drawing.

    Notes
    -----
    Both bands are as in :func:`mbauc.report.report_html`; each is valid for a threshold fixed in advance.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = np.random.default_rng(0).standard_normal(1000) + y
    >>> display = RocBandDisplay.from_predictions(y, s, name="signal", x_scale="log", at=[0.1, 0.01])
    >>> display.line_.get_label()
    'signal: AUC 0.7122 (95% interval 0.6579 to 0.7609)'
    >>> print(display.detections[0])
    P_D 0.3100 at P_F 0.1 (95% interval 0.1506 to 0.4349)
    """

    line_: Any
    fill_: Any
    band_: Any
    detections_: Any
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
        detections: Sequence[DetectionInterval] = (),
        confidence: float = 0.95,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.false_alarm, self.detection = curve_points(false_alarm=false_alarm, detection=detection)
        self.low, self.high = band_ends(low, high, false_alarm=self.false_alarm)
        self.interval, self.roc_auc = interval, roc_auc if interval is None else interval.auc
        self.band, self.detections, self.confidence = band, list(detections), confidence
        self.name, self.pos_label = name, pos_label

    @classmethod
    def measure(
        cls,
        ranked: RankedScores,
        *,
        confidence: float = 0.95,
        delta: float | None = 0.05,
        at: Sequence[float] = (),
        name: str | None = None,
    ) -> Self:
        """Compute the display without drawing it.

        Parameters
        ----------
        ranked : RankedScores
            Labels and scores with rows of both classes.
        confidence : float, default=0.95
            Confidence level of the interval of the AUC (none if a class has fewer than two rows) and of the
            pointwise intervals.
        delta : float or None, default=0.05
            Probability of exceeding the limit of the false-positive rate; None for no Neyman–Pearson band.
        at : sequence of float, default=()
            False-positive rates at which to show :func:`mbauc.metrics.neyman_pearson.detection_interval`, which
            accounts for a threshold estimated from the same rows; only without weights.
        name : str, optional
            Name of the curve.

        Warns
        -----
        FewRowsWarning
            If a class has few rows for this AUC: its interval tends to be too narrow.
        """
        confidence = check_share("confidence", confidence)
        rates = [check_share("at", rate) for rate in at]
        if rates and ranked.weight is not None:
            raise ValueError("at needs unweighted rows; leave out sample_weight, or at.")
        curve = roc_curve(ranked, spread_thresholds(ranked))
        low, high = clopper_pearson(curve.found, curve.positives, confidence)
        interval = None
        if min(curve.positives, curve.negatives) >= 2:
            design = frequency_design(ranked)
            interval = auc_interval(ranked, design, confidence)
            warn_of_few_rows(design.effective_sizes, interval.auc, design.kinds)
        band = None
        if delta is not None:
            band = promise_band(ranked, curve.threshold[::-1], check_share("delta", delta))
        return cls(
            false_alarm=curve.false_alarm,
            detection=curve.detection,
            low=low,
            high=high,
            interval=interval,
            roc_auc=auc(ranked) if interval is None else None,
            band=band,
            detections=[detection_at(ranked, rate, confidence) for rate in rates],
            confidence=confidence,
            name=name,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = True,
        x_scale: Literal["linear", "log"] = "linear",
        **kwargs: Any,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure.
        name : str, optional
            Name for the legend, instead of that of the display.
        plot_chance_level : bool, default=True
            Whether to draw the diagonal.
        x_scale : {"linear", "log"}, default="linear"
            Scale of the false-positive rate. A logarithmic axis begins at most one decade below the first false
            positive.
        **kwargs
            Passed to matplotlib's ``plot`` of the curve.

        Returns
        -------
        self
        """
        check_choice("x_scale", x_scale, ("linear", "log"))
        ax = axes_or_new(ax)
        log = x_scale == "log"
        # on a logarithmic axis nothing is known left of the first false alarm, and what is straight is bent
        style = {"drawstyle": "steps-post"} if log else {}
        seen = self.false_alarm > 0 if log else slice(None)
        x, fresh = self.false_alarm[seen], not ax.has_data()
        self.line_ = self._draw_line(
            ax, x, self.detection[seen], self._label(name, self._auc()), kwargs, **style
        )
        self.fill_ = self.band_ = self.detections_ = self.chance_level_ = None
        if self.low is not None and self.high is not None:
            label = f"{percent(self.confidence)} interval of each point"
            self.fill_ = self._draw_band(
                ax, x, self.low[seen], self.high[seen], label, self.line_, step="post" if log else None
            )
        if self.band is not None:
            # a promise between two thresholds has to use the higher one: steps
            self.band_ = ax.fill_between(
                self.band.false_alarm[::-1], self.band.low[::-1], self.band.high[::-1], step="post",
                facecolor="none", edgecolor=self.line_.get_color(), alpha=0.7, linewidth=0.8, linestyle="--",
                label=f"Neyman–Pearson band, {percent(1 - self.band.delta)} confidence",
            )  # fmt: skip
        if self.detections:
            self.detections_ = self._draw_detections(ax)
        floor = self._floor() if log else 0.0
        if log:
            floor = floor if fresh or ax.get_xscale() != "log" else min(floor, ax.get_xlim()[0])
            ax.set_xscale("log")
        if plot_chance_level:
            diagonal = np.geomspace(floor, 1.0, 100) if log else np.array([0, 1])
            (self.chance_level_,) = ax.plot(diagonal, diagonal, label="chance", **PLAIN_LINE)
        ax.set(xlabel="false-alarm rate", ylabel=with_label("detection rate", self.pos_label))
        ax.set(xlim=(floor, 1), ylim=(0, 1.005))
        return self._finish(ax, "upper left" if log else "lower right")

    def _draw_detections(self, ax: Any) -> Any:
        middle, low, high = np.array([(one.detection, one.low, one.high) for one in self.detections]).T
        confidence = percent(self.detections[0].confidence)
        return ax.errorbar(
            [one.false_alarm for one in self.detections], middle,
            yerr=np.maximum(0.0, [middle - low, high - middle]),
            fmt="o", markersize=4, capsize=3, color=self.line_.get_color(),
            label=f"{confidence} interval at a fixed false-alarm rate",
        )  # fmt: skip

    def _floor(self) -> float:
        """Where a logarithmic axis begins: the decade below the lowest rate that was measured."""
        rates = [*self.false_alarm, *(one.false_alarm for one in self.detections)]
        return float(10.0 ** np.floor(np.log10(0.99 * min((rate for rate in rates if rate > 0), default=1.0))))

    def _auc(self) -> str:
        if self.interval is None:
            return "" if self.roc_auc is None else f"AUC {self.roc_auc:.4f}"
        ends = f"{self.interval.low:.4f} to {self.interval.high:.4f}"
        return f"AUC {self.interval.auc:.4f} ({percent(self.interval.confidence)} interval {ends})"
