"""OnlineLogisticRegression: the paper's OLR, also called ONLR."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mbauc.estimators.linear import ProbabilisticRanker
from mbauc.paper.rivals.blocks import RowBlock, Table
from mbauc.paper.rivals.online import Array, OnlineRanker, State, check_step, check_unchanged

#: What "auto" divides by the mean squared norm: the best of a grid on real data, docs/results/rivals.md.
AUTO_STEP = 64.0


class OnlineLogisticRegression(OnlineRanker, ProbabilisticRanker):
    """Logistic regression by online gradient descent, one row per step, with learning rate O(1/√t).

    The paper's OLR (Table III) and ONLR (Table II). With s = w'x + b and y = ±1, step t is ::

        g = -y / (1 + exp(y s))
        w ← w / (1 + ηₜ l2) - ηₜ g x,   b ← b - ηₜ g,   ηₜ = eta0 / √t

    It uses single rows instead of pairs. With enough rows of both classes it ranks well nevertheless, because
    log-odds are the optimal score for AUC.

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        Initial learning rate. ``"auto"`` is 64 for the intercept, and for the weights 64 over the mean ‖x‖² of
        the rows so far, later changes of which apply to earlier steps as well, so that neither the units of X
        nor a small first row matter. A number is used for both.
    l2 : float, default=0.0
        Strength of the penalty ½ l2 ‖w‖² relative to the mean loss of a row. Its step is implicit, so it cannot
        overshoot.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    max_iter : int, default=1
        Maximum number of passes over the rows.
    tol : float, optional
        Stop if the mean loss has not improved by ``tol`` for ``n_iter_no_change`` consecutive passes. None
        makes all passes.
    n_iter_no_change : int, default=5
        Number of passes without improvement before stopping; see ``tol``.
    shuffle : bool, default=True
        Whether ``fit`` shuffles the rows before each pass. False keeps their order, as ``partial_fit`` always
        does.
    random_state : int, Generator, RandomState or None
        Seed of the shuffling.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Class labels, negative first.
    slope_ : float
        1: ``decision_function`` is the log-odds.
    loss_curve_ : list of float
        Mean loss of each pass of ``fit``, and of each block since, evaluated on each row before its step
        (progressive validation); an out-of-sample estimate in the first pass.
    n_iter_ : int
        Number of passes of the last ``fit``.
    t_ : int
        Number of steps so far.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X had column names.

    Notes
    -----
    Cost a row: O(k) for k entries, whatever the number of columns; memory O(d) besides X.

    Tips: one pass is enough only on large data; on small data increase ``max_iter``. Columns of very different
    scale slow down convergence: scale them, or use :class:`FTRLProximal`, which has a learning rate per column.
    Do not pass rows sorted by class with ``shuffle=False``. The automatic learning rate was tuned for AUC;
    where probabilities matter, use a smaller one (``eta0=1`` on scaled columns) or more passes.

    References
    ----------
    Zinkevich 2003, Online convex programming and generalized infinitesimal gradient ascent. Gultekin et al.,
    MBA: Mini-Batch AUC Optimization.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc.paper.rivals import OnlineLogisticRegression
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> rival = OnlineLogisticRegression(max_iter=5, random_state=0).fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], rival.decision_function(X[4000:])), 3)
    0.955
    """

    slope_ = 1.0
    _may_diverge = False
    _not_negative = ("l2",)

    def __init__(
        self,
        eta0: float | Literal["auto"] = "auto",
        *,
        l2: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(max_iter, tol, n_iter_no_change, random_state, verbose)
        self.eta0 = eta0
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle

    def _check_settings(self) -> None:
        super()._check_settings()
        check_step(self.eta0)

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        # steps, intercept, shrinkage, mean squared norm
        auto = isinstance(self.eta0, str)
        return State(
            rng=rng, w=np.zeros(n_features), clock=np.array([0.0, 0.0, 1.0, 0.0 if auto else 1.0]), auto=auto
        )

    def _learn(self, state: State, table: Table, block: RowBlock, first_pass: bool, loss: Array) -> int:
        from mbauc.paper.rivals.kernels.online_logistic import learn

        auto = isinstance(self.eta0, str)
        eta0 = AUTO_STEP if auto else float(self.eta0)
        return int(
            learn(
                *block.arrays,
                block.order,
                block.positive,
                state.w,
                state.clock,
                eta0,
                eta0 if self.fit_intercept else 0.0,
                auto,
                float(self.l2),
                loss,
            )
        )

    def _check_stream(self, state: State) -> None:
        if state.auto != isinstance(self.eta0, str):
            check_unchanged("eta0", self.eta0, "auto" if state.auto else "a number")

    def _longest_step(self, state: State, n_rows: int) -> float:
        return 0.0 if isinstance(self.eta0, str) else float(self.eta0)

    def _weights(self, state: State) -> tuple[Array, float]:
        _, intercept, shrinkage, mean = state.clock
        return state.w * (shrinkage / mean if mean > 0 else 0.0), float(intercept)
