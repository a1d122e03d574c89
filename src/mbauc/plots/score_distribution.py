"""Scores of both classes."""

from __future__ import annotations

from typing import Any, Self

from mbauc.metrics.curves import Histogram, histogram
from mbauc.metrics.ranked import RankedScores
from mbauc.plots.display import ScoreDisplay, options_of
from mbauc.plots.figure import axes_or_new


class ScoreDistributionDisplay(ScoreDisplay):
    """Histogram of the scores of each class.

    Parameters
    ----------
    scores : Histogram
        Share of each class per bin.
    threshold : float, optional
        Threshold to mark.
    name : str, optional
        Name of the model.
    pos_label : label, optional
        Positive label.

    Attributes
    ----------
    negatives_, positives_ : matplotlib StepPatch
        The distribution of each class.
    threshold_ : matplotlib Line2D or None
        The threshold.
    ax_, figure_
        Axes and figure of the last drawing.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = np.random.default_rng(0).standard_normal(1000) + y
    >>> display = ScoreDistributionDisplay.from_predictions(y, s, name="signal", threshold=1.5)
    >>> display.positives_.get_label()
    'signal: positives (label 1)'
    """

    negatives_: Any
    positives_: Any
    threshold_: Any

    def __init__(
        self,
        scores: Histogram,
        threshold: float | None = None,
        *,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.scores, self.threshold, self.name, self.pos_label = scores, threshold, name, pos_label

    @classmethod
    def measure(cls, ranked: RankedScores, *, threshold: float | None = None, name: str | None = None) -> Self:
        """Compute the display without drawing it; ``threshold`` is a score to mark."""
        return cls(histogram(ranked), threshold, name=name)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax, name
            As for :meth:`RocBandDisplay.plot`.
        **kwargs
            Passed to matplotlib's ``stairs`` of both classes.
        """
        ax = axes_or_new(ax, 6.4, 4.0)
        positives = "positives" if self.pos_label is None else f"positives (label {self.pos_label})"
        self.negatives_, self.positives_ = (
            ax.stairs(
                shares,
                self.scores.edges,
                **options_of(
                    "patch", kwargs, fill=True, alpha=0.45, hatch=hatch, label=self._label(name, text)
                ),
            )
            for shares, text, hatch in (
                (self.scores.minus, "negatives", ""),
                (self.scores.plus, positives, "//"),
            )
        )
        self.threshold_ = None
        if self.threshold is not None:
            self.threshold_ = ax.axvline(
                self.threshold, color="black", linestyle="--", linewidth=1, label="threshold"
            )
        ax.set(xlabel="score", ylabel="share of rows in the class")
        ax.margins(y=0.25)  # room for the legend
        return self._finish(ax)
