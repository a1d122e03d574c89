"""How the AUC of held-out rows settles as pairs are doubled."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.estimators.enough_pairs import FIRST_PAIRS
from mbauc.plots.figure import axes_or_new, rates_grid


def enough_pairs_plot(classifier: Any, *, title: str = "", ax: Any = None) -> Any:
    """AUC of the held-out rows and its 95% interval against the number of pairs, on a logarithmic axis.

    The inner bars are the 95% intervals of the gains, drawn around each AUC but the first: the bars that decide
    when to stop. All pairs, if they were needed, stand at the right end.

    Parameters
    ----------
    classifier : MBAClassifier
        Fitted with ``pairs="enough"``.
    title : str
        Above the plot.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    path = getattr(classifier, "pairs_path_", None)
    if not path:
        raise ValueError(
            "classifier has no pairs_path_; fit an MBAClassifier(pairs='enough') first, "
            f"got {classifier!r:.100}."
        )
    ax = axes_or_new(ax, 7.0, 4.6)
    x = FIRST_PAIRS / 2 * np.ones(len(path))
    for number, step in enumerate(path):
        x[number] = 2 * x[max(0, number - 1)] if step.pairs == "all" else step.pairs
    auc = np.array([step.auc for step in path])
    low, high = np.array([step.interval for step in path]).T
    ax.plot(x, auc, marker="o", markersize=4, label="AUC of held-out rows")
    ax.fill_between(x, low, high, alpha=0.2, linewidth=0)
    ax.vlines(x, low, high, color="C0", alpha=0.4, linewidth=1.5, label="95% interval of the AUC")
    later = [number for number, step in enumerate(path) if step.gain_interval is not None]
    if later:
        before = auc[[number - 1 for number in later]]
        ends = before + np.array([path[number].gain_interval for number in later]).T
        middle = auc[later]
        ax.errorbar(
            x[later],
            middle,
            yerr=np.maximum(0.0, [middle - ends[0], ends[1] - middle]),
            fmt="none",
            ecolor="black",
            elinewidth=1.2,
            capsize=3,
            label="95% interval of the gain over the step before",
        )
    ax.set_xscale("log", base=2)
    ax.set_xticks(x, [step.pairs if step.pairs == "all" else _short(step.pairs) for step in path])
    ax.minorticks_off()
    ax.set(xlabel="pairs", ylabel="AUC", title=title)
    rates_grid(ax)
    ax.legend(loc="best", fontsize=8)
    return ax


def _short(pairs: int) -> str:
    """16,000 as 16k: many numbers share an axis."""
    return f"{pairs // 1000:,}k" if pairs % 1000 == 0 else f"{pairs:,}"
