"""Calibration with intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_share
from mbauc.metrics.probabilities import Reliability, check_probabilities, reliability
from mbauc.metrics.ranked import RankedScores
from mbauc.plots.display import PLAIN_LINE, ScoreDisplay, options_of, percent, with_label
from mbauc.plots.figure import axes_or_new

#: What zero is on a logarithmic axis: below all that is shown.
_OUTSIDE = 1e-12


class ReliabilityDisplay(ScoreDisplay):
    """Reliability diagram (calibration curve) with confidence intervals.

    Rows are in up to 15 bins of equal size, fewer if a class is small; equal probabilities share a bin. The
    axes are logarithmic if the probabilities span decades.

    Parameters
    ----------
    bins : Reliability
        Mean predicted probability, observed share of positives and its interval, by bin.
    confidence : float, default=0.95
        Confidence level of the intervals.
    name : str, optional
        Name of the model.
    pos_label : label, optional
        Positive label.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The points.
    errorbar_ : matplotlib ErrorbarContainer
        The points and their intervals.
    ref_line_ : matplotlib Line2D or None
        The diagonal of perfect calibration.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> display = ReliabilityDisplay.from_predictions(rng.random(1000) < p, p, name="truth")
    >>> display.errorbar_.get_label()
    'truth: calibration error 3.9% (95% intervals)'
    """

    line_: Any
    errorbar_: Any
    ref_line_: Any

    def __init__(
        self, bins: Reliability, *, confidence: float = 0.95, name: str | None = None, pos_label: Any = None
    ) -> None:
        self.bins, self.confidence, self.name, self.pos_label = bins, confidence, name, pos_label

    @classmethod
    def measure(cls, ranked: RankedScores, *, confidence: float = 0.95, name: str | None = None) -> Self:
        """Compute the display without drawing it; ``confidence`` is that of the intervals."""
        confidence = check_share("confidence", confidence)
        check_probabilities(ranked.values, "y_prob")
        return cls(reliability(ranked, confidence), confidence=confidence, name=name)

    @classmethod
    def from_predictions(  # type: ignore[override]  # scikit-learn calls them y_prob, too
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the diagram from labels and probabilities of the positive class, and draw it.

        Parameters
        ----------
        y_true, y_prob : array-like of shape (n,)
            Two-valued labels, and probabilities of the positive class.
        sample_weight, pos_label, name, ax, **options
            As for :meth:`RocBandDisplay.from_predictions`.
        """
        return cls._from_rows("y_prob", y_true, y_prob, sample_weight, pos_label, name, ax, options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the diagram from predicted probabilities of an estimator, and draw it.

        Parameters
        ----------
        estimator : fitted classifier
            Binary classifier with ``predict_proba``.
        X, y, sample_weight, pos_label, name, ax, **options
            As for :meth:`RocBandDisplay.from_estimator`.
        """
        return super().from_estimator(
            estimator,
            X,
            y,
            sample_weight=sample_weight,
            response_method="predict_proba",
            pos_label=pos_label,
            name=name,
            ax=ax,
            **options,
        )

    def plot(self, ax: Any = None, *, name: str | None = None, ref_line: bool = True, **kwargs: Any) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure. Axes that are not empty keep their scale.
        name : str, optional
            Name for the legend, instead of that of the display.
        ref_line : bool, default=True
            Whether to draw the diagonal of perfect calibration.
        **kwargs
            Passed to matplotlib's ``errorbar``.
        """
        ax = axes_or_new(ax)
        fresh, bins = not ax.has_data(), self.bins
        log = ax.get_xscale() == "log" or (fresh and self._spans_decades())
        if log:
            ax.set(xscale="log", yscale="log")
        low, high = self._ends(log)
        if not fresh:
            low, high = min(low, max(ax.get_xlim()[0], 0.0)), max(high, ax.get_xlim()[1])
        # on a logarithmic axis points of zero stand at the lower end, and intervals from zero leave the plot
        predicted, seen = np.maximum(bins.predicted, low), np.maximum(bins.seen, low)
        ends = np.maximum(bins.low, _OUTSIDE if log else 0.0), bins.high
        text = f"calibration error {percent(float(f'{bins.error:.2g}'))} ({percent(self.confidence)} intervals)"
        style = options_of(
            "line", kwargs, label=self._label(name, text),
            marker="o", markersize=4, linestyle="none", capsize=2,
        )  # fmt: skip
        around = np.maximum([seen - ends[0], ends[1] - seen], 0.0)
        self.errorbar_ = ax.errorbar(predicted, seen, yerr=around, **style)
        self.line_ = self.errorbar_.lines[0]
        self.ref_line_ = None
        if ref_line:
            (self.ref_line_,) = ax.plot([low, 1], [low, 1], label="perfect calibration", **PLAIN_LINE)
        margin = (low / 1.25, high * 1.25) if log else (-0.02 * high, 1.02 * high)
        ax.set(xlim=margin, ylim=margin)
        ax.set(
            xlabel="mean predicted probability",
            ylabel=with_label("observed share of positives", self.pos_label),
        )
        return self._finish(ax)

    def _spans_decades(self) -> bool:
        return bool(np.median(self.bins.predicted) < self.bins.predicted.max() / 10)

    def _ends(self, log: bool) -> tuple[float, float]:
        """Lowest and highest share of the plot, the same for both axes."""
        bins = self.bins
        high = float(max(bins.predicted.max(), bins.high.max()))
        if not log:
            return 0.0, high
        shares = np.concatenate([bins.predicted, bins.seen])
        return float(10.0 ** np.floor(np.log10(max(1e-6, shares[shares > 0].min(initial=1.0))))), high
