"""Plots of known distributions: two frameworks side by side, and detection against signal-to-noise ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbauc.estimators import MBAClassifier
from mbauc.paper.detection.hypotheses import Hypotheses
from mbauc.paper.detection.mixture import GaussianMixture
from mbauc.plots.figure import axes_or_new, new_figure, rates_grid

__all__ = ["detection_snr_plot", "frameworks_plot"]


def frameworks_plot(
    hypotheses: Hypotheses | None = None,
    *,
    rows: int = 400,
    positive: float = 0.3,
    false_alarm: float = 0.05,
    random_state: Any = 0,
) -> Any:
    """The two frameworks of Section II side by side, in the plane (Figure 1).

    Left, detection theory: contours of the two densities and the boundary of the Neyman–Pearson detector with
    a false-alarm rate. Right, learning: rows drawn from them and the line that MBA finds, cut where that share
    of the drawn negatives lies above it. Both are titled with their true AUC (on the left from draws, where
    there is no closed form).

    Parameters
    ----------
    hypotheses : Hypotheses in two dimensions, optional
        A mixture of two against one if not given.
    rows : int, default=400
        Rows to draw.
    positive : float, default=0.3
        Share of positive ones.
    false_alarm : float, default=0.05
        False-alarm rate.
    random_state
        Seed of the rows.

    Returns
    -------
    matplotlib Figure
    """
    if hypotheses is None:
        hypotheses = Hypotheses(
            GaussianMixture([[2.2, 0.4], [0.4, 2.4]], [np.diag([0.5, 0.9]), np.diag([0.9, 0.5])]),
            GaussianMixture([-0.4, -0.4], [[1.1, -0.3], [-0.3, 1.1]]),
        )
    if hypotheses.positive.dimension != 2:
        raise ValueError(
            f"hypotheses must be in two dimensions to be drawn, got {hypotheses.positive.dimension}."
        )
    figure = new_figure(9.6, 4.9)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    X, y = hypotheses.sample(rows, positive, random_state)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    plane = np.column_stack([across.ravel(), up.ravel()])

    for mixture, colour in ((hypotheses.positive, "tab:red"), (hypotheses.negative, "tab:blue")):
        density = np.exp(mixture.log_density(plane)).reshape(across.shape)
        left.contour(across, up, density, levels=5, colors=colour, linewidths=0.9)
    curve = hypotheses.curve(100_000)
    ratio = hypotheses.log_likelihood_ratio(plane).reshape(across.shape)
    left.contour(
        across, up, ratio, levels=[curve.detector(false_alarm).log_eta], colors="black", linewidths=1.8
    )
    left.set_title(f"Detection: densities known\nlikelihood ratio, AUC {curve.auc:.3f}", fontsize=10)

    ranker = MBAClassifier().fit(X, y)
    for label, colour, name in ((0, "tab:blue", "negative rows"), (1, "tab:red", "positive rows")):
        right.scatter(*X[y == label].T, s=9, color=colour, alpha=0.6, linewidths=0, label=name)
    s = ranker.decision_function(X)
    cut = float(np.quantile(s[y == 0], 1 - false_alarm))
    line = ranker.decision_function(plane).reshape(across.shape)
    right.contour(across, up, line, levels=[cut], colors="black", linewidths=1.8)
    auc = hypotheses.linear_curve(ranker.coef_[0]).auc
    right.set_title(f"Learning: {rows} rows known\nMBA's linear score, AUC {auc:.3f}", fontsize=10)
    for panel in (left, right):
        panel.plot([], [], color="black", linewidth=1.8, label=f"threshold at P_F = {false_alarm:g}")
        panel.set(xlabel="x₁", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    left.set_ylabel("x₂")
    left.plot([], [], color="tab:red", label="density under H⁺")
    left.plot([], [], color="tab:blue", label="density under H⁻")
    for panel in (left, right):
        panel.legend(loc="lower left", fontsize=8)
    return figure


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
    false_alarms : sequence of float, default=(0.01, 0.0001, 1e-06)
        False-alarm rates, one colour each.
    samples : int, default=100000
        Draws for the Neyman–Pearson detector where it has no closed form.
    title : str, default=""
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
