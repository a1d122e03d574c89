"""ROC curves: on plain axes, on a logarithmic one, and on normal-deviate ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from mbauc.checks import check_number
from mbauc.metrics import d_prime, roc_auc_interval
from mbauc.metrics.placements import checked_scores, sorted_classes
from mbauc.paper.detection import DetectionCurve
from mbauc.plots.figure import axes_or_new, named, rates_grid

Array = NDArray[np.float64]

_POINTS = 2000


def roc_plot(y: ArrayLike, scores: Mapping[str, ArrayLike], *, title: str = "", ax: Any = None) -> Any:
    """ROC curves of some scorers, each with its AUC and 95% interval.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two-valued labels.
    scores : mapping from a name to an array-like of shape (n,)
        Scores of each scorer.
    title : str
        Above the plot.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":", label="chance 0.5000")
    for name, s in named("scores", scores).items():
        false_alarm, detection = empirical_curve(y, s)
        ax.plot(false_alarm, detection, linewidth=1.8, label=f"{name} {roc_auc_interval(y, s)}")
    ax.set(xlabel="false alarm rate", ylabel="detection rate", title=title, xlim=(0, 1), ylim=(0, 1.005))
    ax.set_aspect("equal")
    rates_grid(ax)
    ax.legend(loc="lower right", fontsize=8)
    return ax


def log_roc_plot(
    curves: Mapping[str, DetectionCurve | tuple[ArrayLike, ArrayLike]],
    *,
    floor: float = 1e-6,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Detection against a logarithmic false-alarm rate, as radar people draw it.

    Parameters
    ----------
    curves : mapping from a name to a detection curve or a pair (y, s)
        Known distributions are drawn down to ``floor``; labels and scores down to one false alarm among
        the negative rows, marked by a dot, because nothing below was measured.
    floor : float
        Left end of the axis.
    title, ax
        As for :func:`roc_plot`.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax, 7.0, 5.0)
    check_number("floor", floor, low=0.0, high=1.0, open_low=True, open_high=True)
    grid = np.geomspace(floor, 1.0, 400)
    for name, curve in named("curves", curves).items():
        if isinstance(curve, tuple | list):
            false_alarm, detection = empirical_curve(*curve)
            seen = false_alarm > 0
            line = ax.step(false_alarm[seen], detection[seen], where="post", linewidth=1.6, label=name)[0]
            ax.plot(false_alarm[seen][0], detection[seen][0], "o", color=line.get_color(), markersize=4)
        else:
            ax.plot(grid, curve.detection(grid), linewidth=1.6, label=f"{name}, AUC {curve.auc:.4f}")
    ax.set(
        xscale="log",
        xlim=(floor, 1.0),
        ylim=(0, 1.005),
        xlabel="false alarm rate P_F",
        ylabel="detection rate P_D",
        title=title,
    )
    rates_grid(ax)
    ax.legend(loc="upper left", fontsize=8)
    return ax


def deviate_plot(y: ArrayLike, scores: Mapping[str, ArrayLike], *, title: str = "", ax: Any = None) -> Any:
    """ROC curves on normal-deviate axes, each with its d′.

    Normal scores of equal variance give a line of slope one that lies d′ above the diagonal; dotted lines mark
    d′ = 1, 2, 3. Another slope means unequal variances, a bend means scores that are not normal.

    Parameters
    ----------
    y, scores, title, ax
        As for :func:`roc_plot`.

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_or_new(ax)
    edge = float(ndtri(1e-4))
    ends = np.array([edge, -edge])
    for distance in (0, 1, 2, 3):
        ax.plot(ends, ends + distance, color="0.75", linewidth=0.8, linestyle=":")
        at = -edge - distance - 0.9  # near the upper end, where curves have left the line
        ax.annotate(f"d′ = {distance}", (at, at + distance + 0.05), fontsize=7, color="0.4", rotation=45)
    for name, s in named("scores", scores).items():
        false_alarm, detection = empirical_curve(y, s)
        inside = (false_alarm > 0) & (false_alarm < 1) & (detection > 0) & (detection < 1)
        ax.plot(
            ndtri(false_alarm[inside]),
            ndtri(detection[inside]),
            linewidth=1.6,
            label=f"{name}, d′ = {d_prime(y, s):.2f}",
        )
    ticks = ndtri([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])
    labels = [f"{ndtr(tick):.3g}" for tick in ticks]
    ax.set_xticks(ticks, labels, fontsize=8)
    ax.set_yticks(ticks, labels, fontsize=8)
    ax.set(xlim=(edge, -edge), ylim=(edge, -edge), title=title)
    ax.set(xlabel="false alarm rate, normal-deviate scale", ylabel="detection rate, normal-deviate scale")
    ax.set_aspect("equal")
    rates_grid(ax)
    ax.legend(loc="lower right", fontsize=8)
    return ax


def empirical_curve(y: ArrayLike, s: ArrayLike) -> tuple[Array, Array]:
    """False alarm and detection rates at thresholds spread over both classes and towards few false alarms."""
    positive, values, _ = checked_scores(y, s)
    plus, minus = sorted_classes(positive, values)
    # scores themselves, never between them: the first false alarms are single rows, and some may be infinite
    few = minus.size - np.geomspace(1, minus.size, _POINTS // 4)
    places = [np.linspace(0, part.size - 1, _POINTS // 4) for part in (plus, minus)]
    thresholds = np.unique(
        np.concatenate(
            [
                plus[places[0].astype(np.intp)],
                minus[places[1].astype(np.intp)],
                minus[few.astype(np.intp)],
                minus[-50:],
            ]
        )
    )[::-1]
    rates = [1 - np.searchsorted(part, thresholds, side="left") / part.size for part in (minus, plus)]
    false_alarm, detection = (np.concatenate([[0.0], rate, [1.0]]) for rate in rates)
    return false_alarm, detection
