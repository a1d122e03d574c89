"""Detection against the signal-to-noise ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbauc.paper.detection import Hypotheses
from mbauc.plots.figure import axes_or_new, rates_grid


def detection_snr_plot(
    family: Callable[[float], Hypotheses],
    snr_db: ArrayLike,
    *,
    false_alarms: Sequence[float] = (1e-2, 1e-4, 1e-6),
    samples: int = 100_000,
    title: str = "",
    ax: Any = None,
) -> Any:
    """P_D against SNR at fixed false-alarm rates: Neyman–Pearson detector solid, linear score dashed.

    The linear score is the one that MBA finds with infinitely many pairs; its rates are exact.

    Parameters
    ----------
    family : callable
        From a signal-to-noise ratio in decibels to the two hypotheses.
    snr_db : array-like
        Signal-to-noise ratios.
    false_alarms : sequence of float
        False-alarm rates, one colour each.
    samples : int
        Draws for the Neyman–Pearson detector where it has no closed form.
    title : str
        Above the plot.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax, 7.0, 4.8)
    levels = np.atleast_1d(np.asarray(snr_db, dtype=np.float64))
    best, linear = [], []
    for level in levels:
        both = family(float(level))
        best.append(both.curve(samples).detection(np.asarray(false_alarms)))
        linear.append(both.linear_curve(both.linear_weights()).detection(np.asarray(false_alarms)))
    for number, rate in enumerate(false_alarms):
        colour = f"C{number}"
        ax.plot(levels, [row[number] for row in best], color=colour, label=f"P_F = {rate:g}")
        ax.plot(levels, [row[number] for row in linear], color=colour, linestyle="--")
    ax.plot([], [], color="0.3", linestyle="--", label="linear score")
    ax.set(xlabel="SNR (dB)", ylabel="detection rate P_D", title=title, ylim=(0, 1.005))
    rates_grid(ax)
    ax.legend(loc="upper left", fontsize=8)
    return ax
