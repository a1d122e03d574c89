"""What a false-alarm promise buys: the Neyman–Pearson band, and detection at fixed false-alarm rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_number
from mbauc.metrics.neyman_pearson import detection_interval, np_roc_band
from mbauc.plots.figure import axes_or_new, named, rates_grid
from mbauc.plots.roc import empirical_curve


def np_band_plot(
    y: ArrayLike,
    s: ArrayLike,
    *,
    delta: float = 0.05,
    alpha: float | None = None,
    title: str = "",
    ax: Any = None,
) -> Any:
    """ROC curve with its Neyman–Pearson band.

    Read it from the false-alarm limit that you want to keep with probability 1 - delta: the band above it is
    where the detection rate lies. It is to the right of the plain curve, which is what keeping a promise costs.

    Parameters
    ----------
    y, s : array-like of shape (n,)
        Labels and scores of rows that the scorer was not trained on.
    delta : float
        Probability of breaking the limit.
    alpha : float, optional
        A limit to mark.
    title : str
        Above the plot.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    if alpha is not None:
        check_number("alpha", alpha, low=0.0, high=1.0)
    band = np_roc_band(y, s, delta)
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
    ax.plot(*empirical_curve(y, s), color="black", linewidth=1.2, label="ROC curve of these rows")
    ax.fill_between(
        band.false_alarm,
        band.low,
        band.high,
        alpha=0.35,
        linewidth=0,
        label=f"Neyman–Pearson band, each limit kept with probability {100 * (1 - delta):g}%",
    )
    if alpha is not None:
        ax.axvline(alpha, color="tab:red", linewidth=1, linestyle="--", label=f"false-alarm limit {alpha:g}")
    ax.set(xlabel="false alarm rate", ylabel="detection rate", title=title, xlim=(0, 1), ylim=(0, 1.005))
    ax.set_aspect("equal")
    rates_grid(ax)
    ax.legend(loc="lower right", fontsize=8)
    return ax


def detection_interval_plot(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    false_alarms: Sequence[float] = (0.1, 0.03, 0.01, 0.003, 0.001),
    confidence: float = 0.95,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Detection rate at fixed false-alarm rates, with confidence intervals, for some scorers side by side.

    Parameters
    ----------
    y, scores, title, ax
        As for :func:`mbauc.plots.roc_plot`.
    false_alarms : sequence of float
        False-alarm rates.
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax, 7.0, 4.6)
    rates = sorted(false_alarms)
    style = {"fmt": "o", "markersize": 4, "capsize": 3}
    for number, (name, s) in enumerate(named("scores", scores).items()):
        found = [detection_interval(y, s, rate, confidence) for rate in rates]
        middle = np.array([one.detection for one in found])
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        # side by side rather than on top of each other
        x = np.arange(len(rates)) + (number - (len(scores) - 1) / 2) * 0.16
        ax.errorbar(x, middle, yerr=np.maximum(0.0, [middle - low, high - middle]), label=name, **style)
    ax.set_xticks(np.arange(len(rates)), [f"{rate:g}" for rate in rates])
    ax.set(
        xlabel="false alarm rate P_F",
        ylabel=f"detection rate P_D, {100 * confidence:g}% intervals",
        title=title,
        ylim=(0, 1.005),
    )
    rates_grid(ax)
    ax.legend(loc="upper left", fontsize=8)
    return ax
