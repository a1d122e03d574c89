"""AdaOAM: the paper's AdaAUC."""

from __future__ import annotations

from typing import Any

from mbauc.paper.rivals.class_statistics import StatisticsRanker, Step


class AdaOAM(StatisticsRanker):
    """Adaptive online AUC maximisation: OPAUC with an adaptive learning rate for each column.

    The paper's AdaAUC. With g the gradient of :class:`OPAUC`, a step is, for each column i, ::

        Gᵢ ← Gᵢ + gᵢ²,   Hᵢ = delta + √Gᵢ
        wᵢ ← wᵢ - eta0 / Hᵢ · gᵢ

    and in the sparse variant, ``l1 > 0``, weights are then soft-thresholded: ::

        wᵢ ← sign(wᵢ) max(0, |wᵢ| - l1 eta0 / Hᵢ)

    Parameters
    ----------
    eta0 : float, default=0.1
        Learning rate; the first step of a column has about this length.
    l1 : float, default=0.0
        Penalty l1 ‖w‖₁ of the sparse variant (SAdaOAM); 0 is AdaOAM.
    l2 : float, default=0.0
        λ of the paper.
    delta : float, default=1e-08
        Positive constant that keeps Hᵢ from zero.
    rank, centred
        As for :class:`OPAUC`: low-rank covariances for high dimensions.
    max_iter, tol, n_iter_no_change, shuffle, random_state, verbose
        As for :class:`OnlineLogisticRegression`; ``random_state`` also draws the sketch.

    Attributes
    ----------
    coef_, intercept_, classes_, loss_curve_, n_iter_, t_, n_features_in_, feature_names_in_
        As for :class:`OPAUC`.

    Notes
    -----
    Cost and memory a row as for :class:`OPAUC`: O(d²), or O(d τ) with ``rank``.

    The minimum is the exact solution of :class:`mbauc.MBAClassifier` with the same ``l1`` and ``l2``. The
    sparse variant uses the composite mirror descent step of adaptive gradients (Duchi, Hazan, Singer 2011).
    Lazy shrinkage, as of its authors, does not apply, because S w is dense and every row updates all columns.

    The analysis assumes ‖w‖ ≤ 1/√λ; weights are not projected, because the penalty bounds them.

    Weights that are zero in the exact solution are zero after most steps, but not after a row whose own
    gradient is larger than l1.

    Tips: less sensitive to units and to ``eta0`` than OPAUC with a number for ``eta0``, but not free of it: try
    powers of ten around 0.1. Gᵢ only grows, so large first gradients on unscaled columns slow down all later
    steps.

    References
    ----------
    Ding, Zhao, Hoi, Ong 2015, An Adaptive Gradient Method for Online AUC Maximization; and 2016, Adaptive
    Subgradient Methods for Online AUC Maximization (the sparse variant).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc.paper.rivals import AdaOAM
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> rival = AdaOAM(random_state=0).fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], rival.decision_function(X[4000:])), 3)
    0.955
    """

    _adaptive = True
    _positive = ("eta0",)
    _not_negative = ("l1", "l2", "delta")

    def __init__(
        self,
        eta0: float = 0.1,
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        delta: float = 1e-8,
        rank: int | None = None,
        centred: bool = True,
        max_iter: int = 1,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(max_iter, tol, n_iter_no_change, random_state, verbose)
        self.eta0 = eta0
        self.l1 = l1
        self.l2 = l2
        self.delta = delta
        self.rank = rank
        self.centred = centred
        self.shuffle = shuffle

    def _step(self) -> Step:
        return Step(float(self.eta0), delta=float(self.delta), l1=float(self.l1))
