"""AdaOAM: the paper's AdaAUC."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.checks import check_number
from mbauc.paper.rivals.blocks import Block, Table
from mbauc.paper.rivals.class_statistics import StatisticsRanker, draws_of, empty_statistics, statistics_of
from mbauc.paper.rivals.online import Array, State


class AdaOAM(StatisticsRanker):
    """Adaptive online AUC maximisation: the gradients of OPAUC with a rate for each column.

    The paper's AdaAUC. With g the gradient of :class:`OPAUC`, a step is, for each column i, ::

        Gᵢ ← Gᵢ + gᵢ²,   Hᵢ = delta + √Gᵢ
        wᵢ ← wᵢ - eta0 / Hᵢ · gᵢ

    and in the sparse variant, ``l1 > 0``, weights are then drawn towards zero: ::

        wᵢ ← sign(wᵢ) max(0, |wᵢ| - l1 eta0 / Hᵢ)

    Parameters
    ----------
    eta0 : float
        Size of the steps; the first step of a column has about this length.
    l1 : float
        Penalty l1 ‖w‖₁ of the sparse variant (SAdaOAM); 0 is AdaOAM.
    l2 : float
        λ of the paper.
    delta : float
        Keeps Hᵢ from zero.
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
    sparse variant takes the composite mirror descent step of adaptive gradients (Duchi, Hazan, Singer
    2011). Its authors postpone the shrinkage of columns that a row does not touch; here every column is
    touched, because S w is dense, so that nothing is left to postpone.

    The analysis assumes ‖w‖ ≤ 1/√λ; weights are not projected there, since the penalty draws them in anyway.

    Weights that are zero in the exact solution are zero after most steps, but not after a row whose own
    gradient is larger than l1.

    Tips: less sensitive to units and to ``eta0`` than OPAUC with a number for ``eta0``, but not free of it:
    try powers of ten around 0.1. Gᵢ never forgets, so that large first steps on unscaled columns slow down
    all later ones.

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
        self.eta0 = eta0
        self.l1 = l1
        self.l2 = l2
        self.delta = delta
        self.rank = rank
        self.centred = centred
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("eta0", self.eta0, low=0.0, open_low=True)
        check_number("l1", self.l1, low=0.0)
        check_number("l2", self.l2, low=0.0)
        check_number("delta", self.delta, low=0.0)

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        return State(
            rng=rng,
            w=np.zeros(n_features),
            clock=np.zeros(1),
            squares=np.zeros(n_features),
            **empty_statistics(n_features, self.rank),
        )

    def _learn(self, state: State, table: Table, block: Block, first_pass: bool, loss: Array) -> int:
        from mbauc.paper.rivals.kernels.ada_oam import learn

        return int(
            learn(
                *block.arrays,
                block.order,
                block.positive,
                draws_of(state, block, first_pass),
                state.w,
                state.clock,
                state.squares,
                *statistics_of(state),
                float(self.eta0),
                float(self.delta),
                float(self.l1),
                float(self.l2),
                bool(self.centred),
                first_pass,
                loss,
            )
        )
