"""Figure 1 on simulated data: known distributions on the left, rows and a learned line on the right."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.estimators import MBAClassifier
from mbauc.paper.detection import GaussianMixture, Hypotheses
from mbauc.plots.figure import new_figure


def frameworks_plot(
    hypotheses: Hypotheses | None = None,
    *,
    rows: int = 400,
    positive: float = 0.3,
    alpha: float = 0.05,
    random_state: Any = 0,
) -> Any:
    """The two frameworks of Section II side by side, in the plane.

    Left, detection theory: contours of the two densities and the boundary of the Neyman–Pearson detector with
    false-alarm rate alpha. Right, learning: rows drawn from them and the line that MBA finds, cut where alpha
    of the drawn negatives lie above it. Both are titled with their true AUC (on the left from draws, where
    there is no closed form).

    Parameters
    ----------
    hypotheses : Hypotheses in two dimensions, optional
        A mixture of two against one if not given.
    rows : int
        Rows to draw.
    positive : float
        Share of positive ones.
    alpha : float
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
    left.contour(across, up, ratio, levels=[curve.detector(alpha).log_eta], colors="black", linewidths=1.8)
    left.set_title(f"Detection: densities known\nlikelihood ratio, AUC {curve.auc:.3f}", fontsize=10)

    ranker = MBAClassifier().fit(X, y)
    for label, colour, name in ((0, "tab:blue", "negative rows"), (1, "tab:red", "positive rows")):
        right.scatter(*X[y == label].T, s=9, color=colour, alpha=0.6, linewidths=0, label=name)
    s = ranker.decision_function(X)
    cut = float(np.quantile(s[y == 0], 1 - alpha))
    line = ranker.decision_function(plane).reshape(across.shape)
    right.contour(across, up, line, levels=[cut], colors="black", linewidths=1.8)
    auc = hypotheses.linear_curve(ranker.coef_[0]).auc
    right.set_title(f"Learning: {rows} rows known\nMBA's linear score, AUC {auc:.3f}", fontsize=10)
    for panel in (left, right):
        panel.plot([], [], color="black", linewidth=1.8, label=f"threshold at P_F = {alpha:g}")
        panel.set(xlabel="x₁", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    left.set_ylabel("x₂")
    left.plot([], [], color="tab:red", label="density under H⁺")
    left.plot([], [], color="tab:blue", label="density under H⁻")
    for panel in (left, right):
        panel.legend(loc="lower left", fontsize=8)
    return figure
