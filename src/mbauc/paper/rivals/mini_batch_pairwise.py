"""MiniBatchPairwise: the paper's MB-PSL and MB-PHL, and the other two surrogates of Eq. (7)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice
from mbauc.pairs.sampling import Pairing, check_batches
from mbauc.paper.rivals.blocks import Table
from mbauc.paper.rivals.online import (
    Array,
    OnlineRanker,
    State,
    auto_step,
    check_step,
    class_means,
    halfway,
)
from mbauc.runtime.progress import Advance

#: What "auto" divides by the largest squared norms: the best of a grid on real data, docs/results/rivals.md.
AUTO_STEP = {"squared": 30.0, "hinge": 100.0, "logistic": 300.0, "exponential": 30.0}
#: Losses whose automatic steps must not be longer than 1, because their slope grows without bounds.
_CURVED = ("squared", "exponential")

Loss = Literal["squared", "hinge", "logistic", "exponential"]


class MiniBatchPairwise(OnlineRanker):
    """Mini-batch stochastic gradient descent on a pairwise surrogate loss, with B pairs per step.

    Each step draws B positives x⁺ and B negatives x⁻ with replacement and moves against the mean gradient of
    φ(t), t = w'(x⁺ - x⁻), over the pairs among them: ::

        w ← w / (1 + ηₜ l2) - ηₜ mean φ'(t) (x⁺ - x⁻)

    ===============  =====================  =================
    loss             φ(t)                   the paper's name
    ===============  =====================  =================
    ``squared``      ½ (1 - t)²             MB-PSL
    ``hinge``        max(0, 1 - t)          MB-PHL
    ``logistic``     log(1 + exp(-t))       PLL
    ``exponential``  exp(-t)                PEL
    ===============  =====================  =================

    The squared loss is halved, as in Eq. (14), so that its minimum is the exact solution of
    :class:`mbauc.MBAClassifier` with the same ``l2``.

    Parameters
    ----------
    loss : {"squared", "hinge", "logistic", "exponential"}, default="squared"
        Surrogate φ.
    eta0 : float or "auto", default="auto"
        Initial learning rate. ``"auto"`` is 30, 100, 300 or 30 in the order of the losses above (a thirtieth of
        that with a constant rate) over the largest mean of ‖x⁺‖² + ‖x⁻‖² of a batch so far, so that the units
        of X do not matter; steps on the squared and the exponential loss are no longer than 1 over that. When
        it grows, the weights shrink with it, as if it had been known before. A number is used unchanged.
    learning_rate : {"invscaling", "constant"}, default="invscaling"
        ηₜ = η / √t, or η throughout.
    batch_size : int, default=32
        Number B of pairs per step.
    pairing : {"matched", "complete"}, default="matched"
        The B pairs as drawn (Eq. 16), or all B² pairs among the drawn rows.
    l2 : float, default=0.0
        Strength of the penalty ½ l2 ‖w‖² relative to the mean of φ; its step is implicit, so it cannot
        overshoot.
    max_iter : int, default=1
        Number of passes; each draws at least as many rows as there are, in n / 2B steps rounded up.
    tol, n_iter_no_change, random_state, verbose
        As for :class:`OnlineLogisticRegression`; ``random_state`` is the seed of the batches.

    Attributes
    ----------
    coef_, classes_, n_iter_, t_, n_features_in_, feature_names_in_
        As for :class:`OnlineLogisticRegression`.
    loss_curve_ : list of float
        Mean φ of each pass, evaluated on each batch before its step; NaN for a block of one class.
    intercept_ : ndarray of shape (1,)
        Places 0 halfway between the scores of the class means of the rows drawn; the method itself has no
        intercept.

    Notes
    -----
    Cost a drawn row: O(k) for k entries, whatever the number of columns; with
    ``pairing="complete"`` B / 2 values of φ more, none for the squared loss, where means of the scores are
    enough. Memory O(d) besides X, for dense rows O(B d).

    ``partial_fit`` makes one pass over pairs within its block, as in Section III of the paper: give it
    blocks of many rows and both classes.

    Tips: the hinge and the logistic loss tolerate large steps, the squared and especially the exponential loss
    do not. A larger B only averages: increase ``eta0`` or the number of passes with it.

    References
    ----------
    Gultekin et al., MBA: Mini-Batch AUC Optimization, Section V; Khalid, Ray, Chitsaz
    2018, Scalable Nonlinear AUC Maximization Methods (the hinge loss).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc.paper.rivals import MiniBatchPairwise
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> rival = MiniBatchPairwise("hinge", max_iter=5, random_state=0).fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], rival.decision_function(X[4000:])), 3)
    0.957
    """

    _not_negative = ("l2",)

    def __init__(
        self,
        loss: Loss = "squared",
        *,
        eta0: float | Literal["auto"] = "auto",
        learning_rate: Literal["invscaling", "constant"] = "invscaling",
        batch_size: int = 32,
        pairing: Pairing = "matched",
        l2: float = 0.0,
        max_iter: int = 1,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(max_iter, tol, n_iter_no_change, random_state, verbose)
        self.loss = loss
        self.eta0 = eta0
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.pairing = pairing
        self.l2 = l2

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("loss", self.loss, ("squared", "hinge", "logistic", "exponential"))
        check_step(self.eta0)
        check_choice("learning_rate", self.learning_rate, ("invscaling", "constant"))
        check_batches(self.batch_size, self.pairing)

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        # clock: steps, common factor of the weights, largest squared norms
        return State(
            rng=rng,
            w=np.zeros(n_features),
            clock=np.array([0.0, 1.0, 0.0]),
            sums=np.zeros((2, n_features)),
            seen=np.zeros(2),
        )

    def _order(self, table: Table, rng: np.random.Generator) -> NDArray[np.intp]:
        return np.arange(len(table))  # rows are drawn, not walked through

    def _pass(
        self, state: State, table: Table, order: NDArray[np.intp], first_pass: bool, advance: Advance
    ) -> float:
        from mbauc.paper.rivals.kernels.mini_batch_pairwise import learn
        from mbauc.paper.rivals.kernels.surrogates import CODES

        plus, minus = np.flatnonzero(table.positive), np.flatnonzero(~table.positive)
        if plus.size == 0 or minus.size == 0:
            return float("nan")
        size = int(self.batch_size)
        steps = -(-order.size // (2 * size))
        at_once = max(1, table.rows_a_block // (2 * size))
        auto = isinstance(self.eta0, str)
        loss = np.array([0.0, 1.0])
        for start in range(0, steps, at_once):
            shape = (min(at_once, steps - start), 2, size)
            draw = state.rng.random(shape)
            drawn = np.empty(shape, dtype=np.intp)
            drawn[:, 1] = plus[(draw[:, 1] * plus.size).astype(np.intp)]
            drawn[:, 0] = minus[(draw[:, 0] * minus.size).astype(np.intp)]
            block = table.block(drawn.ravel())
            places = drawn if block.columns is not None else block.order.reshape(shape)
            taken = learn(
                *block.arrays,
                places[:, 1],
                places[:, 0],
                state.w,
                state.clock,
                state.sums,
                state.seen,
                CODES[self.loss],
                self.pairing == "complete",
                auto_step(AUTO_STEP[self.loss], self.learning_rate) if auto else float(self.eta0),
                auto,
                1.0 if self.loss in _CURVED else np.inf,
                self.learning_rate == "constant",
                float(self.l2),
                loss,
            )
            if taken < shape[0]:
                self._raise_diverged()
            advance(drawn.size)
        return float(loss[0]) / steps

    def _weights(self, state: State) -> tuple[Array, float]:
        w = state.clock[1] * state.w
        return w, halfway(w, class_means(state))
