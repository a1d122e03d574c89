"""Plots for people who would rather look than read; needs matplotlib (the extra ``plots``)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbauc.atomic import atomic_write
from mbauc.metrics import roc_auc_interval
from mbauc.metrics.placements import checked_scores

_POINTS = 2000


def roc_plot(
    y: ArrayLike, scores: Mapping[str, ArrayLike], path: str | os.PathLike[str], title: str = ""
) -> None:
    """Write the ROC curves of some scorers to a PNG file, each with its AUC and 95% interval.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two-valued labels.
    scores : mapping from a name to an array-like of shape (n,)
        Scores of each scorer.
    path : path
        Where to write; replaced whole or not at all.
    title : str
        Above the plot.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 6.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":", label="chance 0.5000")
    for name, s in scores.items():
        false_alarm, detection = _curve(y, s)
        axes.plot(false_alarm, detection, linewidth=1.8, label=f"{name} {roc_auc_interval(y, s)}")
    axes.set(xlabel="false alarm rate", ylabel="detection rate", title=title, xlim=(0, 1), ylim=(0, 1.005))
    axes.set_aspect("equal")
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(loc="lower right", fontsize=8, frameon=True)
    with atomic_write(path) as stream:
        figure.savefig(stream, format="png")


def _curve(y: ArrayLike, s: ArrayLike) -> tuple[Any, Any]:
    """False alarm and detection rates at thresholds spread over both classes."""
    positive, values, _ = checked_scores(y, s)
    plus, minus = np.sort(values[positive]), np.sort(values[~positive])
    levels = np.linspace(0, 1, _POINTS // 2)
    thresholds = np.unique(np.concatenate([np.quantile(plus, levels), np.quantile(minus, levels)]))[::-1]
    rates = [1 - np.searchsorted(part, thresholds, side="left") / part.size for part in (minus, plus)]
    false_alarm, detection = (np.concatenate([[0.0], rate, [1.0]]) for rate in rates)
    return false_alarm, detection
