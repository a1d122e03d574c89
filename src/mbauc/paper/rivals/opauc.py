"""OPAUC: one-pass AUC optimisation with running means and covariances."""

from __future__ import annotations

from typing import Any, Literal

from mbauc.checks import check_choice
from mbauc.paper.rivals.class_statistics import StatisticsRanker, Step
from mbauc.paper.rivals.online import auto_step, check_step

#: What "auto" divides by the largest curvature: the best of a grid on real data, docs/results/rivals.md.
AUTO_STEP = 10.0


class OPAUC(StatisticsRanker):
    """One-pass AUC optimisation: pairwise squared loss through class means and covariances.

    Each row is paired with all rows of the other class seen so far, through their mean c and covariance S. A
    row x of class y = ±1 makes the step ::

        g = l2 w - y (x - c) + (x - c) (x - c)'w + S w
        w ← w - ηₜ g

    with c and S of the other class, the gradient of ½ l2 ‖w‖² + ½ mean (1 - y w'(x - x'))². The minimum is the
    exact solution of :class:`mbauc.MBAClassifier` with the same ``l2``, which also needs one pass, but no
    learning rate: this class serves as a baseline.

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        Learning rate. ``"auto"`` is min(1, 10 / √t), or ⅓ with a constant rate, over the largest ‖x - c‖² + tr
        S + l2 seen so far, a bound on the curvature: with covariances in full or centred sketches weights
        cannot diverge, and the units of X do not matter. When the bound grows, the weights shrink with it, as
        if it had been known before. A number is used unchanged, as published.
    l2 : float, default=0.0
        λ of the paper.
    rank : int, optional
        τ of the low-rank variant for high dimensions (50 in the paper): S is taken from a sketch
        Z = Σ xᵢ rᵢ' with random rᵢ of τ normal numbers of variance 1/τ. None keeps S in full.
    centred : bool, default=True
        For the low-rank variant: take the mean out of the sketch, S ≈ (Z - n c h')(Z - n c h')' / n with h the
        mean of the rᵢ. False is the rule of the authors' code, S ≈ ZZ'/n - ‖h‖² c c', which removes only about
        1/n of the mean.
    learning_rate : {"invscaling", "constant"}, default="invscaling"
        ηₜ = η / √t, or η throughout as in the paper's experiments.
    max_iter, tol, n_iter_no_change, shuffle, random_state, verbose
        As for :class:`OnlineLogisticRegression`; ``random_state`` also draws the sketch.

    Attributes
    ----------
    coef_, classes_, loss_curve_, n_iter_, t_, n_features_in_, feature_names_in_
        As for :class:`OnlineLogisticRegression`; the loss is the one whose gradient is used, against the other
        class so far, 0 before that was seen.
    intercept_ : ndarray of shape (1,)
        Places 0 halfway between the scores of the two class means; the method itself has no intercept.

    Notes
    -----
    Cost a row: O(d²), memory O(d²), or O(d τ) for both in the low-rank variant, however sparse the row: S w is
    dense. Covariances are updated by Welford's algorithm, which agrees with the published formula without
    cancellation. A row makes no step before the other class has been seen. After the first pass of ``fit``
    means and covariances are fixed (the published algorithm has one pass), because counting the same rows again
    would not change them.

    Tips: ``max_iter`` beyond 1 and ``"invscaling"`` approach the exact solution; with ``"constant"`` the
    weights keep fluctuating around it. Scale the columns: the step size is limited by the largest eigenvalue of
    S, and directions of small eigenvalues converge slowly.

    References
    ----------
    Gao, Jin, Zhu, Zhou 2013, One-Pass AUC Optimization.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc.paper.rivals import OPAUC
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> rival = OPAUC(random_state=0).fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], rival.decision_function(X[4000:])), 3)
    0.956
    """

    _adaptive = False
    _not_negative = ("l2",)

    def __init__(
        self,
        eta0: float | Literal["auto"] = "auto",
        *,
        l2: float = 0.0,
        rank: int | None = None,
        centred: bool = True,
        learning_rate: Literal["invscaling", "constant"] = "invscaling",
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
        self.rank = rank
        self.centred = centred
        self.learning_rate = learning_rate
        self.shuffle = shuffle

    def _check_settings(self) -> None:
        super()._check_settings()
        check_step(self.eta0)
        check_choice("learning_rate", self.learning_rate, ("invscaling", "constant"))

    def _step(self) -> Step:
        auto = isinstance(self.eta0, str)
        eta0 = auto_step(AUTO_STEP, self.learning_rate) if auto else float(self.eta0)
        return Step(eta0, auto, self.learning_rate == "constant")
