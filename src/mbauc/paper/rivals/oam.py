"""OAM: online AUC maximisation with a buffer for each class."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.paper.rivals.blocks import RowBlock, Table
from mbauc.paper.rivals.online import (
    Array,
    OnlineRanker,
    State,
    check_unchanged,
    class_means,
    halfway,
    limit_rows,
)


class OAM(OnlineRanker):
    """Online AUC maximisation: pairwise hinge loss against a random sample of the other class.

    Each class has a buffer of ``buffer_size`` rows, at any time a uniform sample of those seen (reservoir
    sampling). A row x of class y = ±1 is compared with every row b in the buffer of the other class, of which
    N rows have been seen, with Cₜ = C max(1, N / buffer_size), so that the buffer stands for all of them.

    ``update="sequential"`` makes a passive-aggressive step for one b after another, ::

        ℓ = max(0, 1 - y w'(x - b)),   w ← w + min(Cₜ / 2, ℓ / ‖x - b‖²) y (x - b)

    and ``update="gradient"`` one step for all b with y w'(x - b) ≤ 1 under the same w, ::

        w ← w + Cₜ / 2 · y Σ (x - b)

    The factor ½ is that of the objective ½ ‖w‖² + C/2 · Σ losses; descriptions without it use half of this C.

    Parameters
    ----------
    C : float, default=1e-05
        Aggressiveness: maximum step size.
    update : {"sequential", "gradient"}, default="sequential"
        OAM_seq or OAM_gra.
    buffer_size : int, default=100
        Number of rows in the buffer of each class; 100 in the paper.
    max_iter, tol, n_iter_no_change, shuffle, random_state, verbose
        As for :class:`OnlineLogisticRegression`; ``random_state`` is also the seed of the buffers.

    Attributes
    ----------
    coef_, classes_, loss_curve_, n_iter_, t_, n_features_in_, feature_names_in_
        As for :class:`OnlineLogisticRegression`; the loss is the mean hinge loss against the buffer, 0 while
        that is empty, and with ``"sequential"`` after the steps for the rows of the buffer before.
    intercept_ : ndarray of shape (1,)
        Places 0 halfway between the scores of the two class means; the method itself has no intercept.

    Notes
    -----
    Cost a row: O(B k) for k entries and a buffer of B rows, whatever the number of columns; memory O(d + B k)
    besides X. When a buffer is full, row N of its class takes a slot drawn from 1 … N, or none if that is
    beyond the buffer: the published rule in one draw. The published algorithm has one pass; in later ones N
    stays as it is, and each renews a full buffer about once.

    Tips: tune ``C`` over powers of ten from 1e-6 up. Because Cₜ grows with the number of rows seen, a value
    tuned on a sample is too large for all rows: the last steps of a pass are the largest. Scale the columns: on
    very different scales neither update converges, and more passes can make it worse.

    References
    ----------
    Zhao, Hoi, Jin, Yang 2011, Online AUC Maximization.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc.paper.rivals import OAM
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> rival = OAM(random_state=0).fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], rival.decision_function(X[4000:])), 3)
    0.957
    """

    _may_diverge = False
    _positive = ("C",)

    def __init__(
        self,
        C: float = 1e-5,
        *,
        update: Literal["sequential", "gradient"] = "sequential",
        buffer_size: int = 100,
        max_iter: int = 1,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(max_iter, tol, n_iter_no_change, random_state, verbose)
        self.C = C
        self.update = update
        self.buffer_size = buffer_size
        self.shuffle = shuffle

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("update", self.update, ("sequential", "gradient"))
        check_whole("buffer_size", self.buffer_size)

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        return State(
            rng=rng,
            w=np.zeros(n_features),
            clock=np.zeros(1),
            apart=np.zeros(n_features),
            sums=np.zeros((2, n_features)),
            seen=np.zeros(2, dtype=np.int64),
            buffers=Buffers(int(self.buffer_size), n_features),
        )

    def _learn(self, state: State, table: Table, block: RowBlock, first_pass: bool, loss: Array) -> int:
        from mbauc.paper.rivals.kernels.oam import learn

        state.buffers.make_room(block, table.longest)
        taken = int(
            learn(
                *block.arrays,
                block.order,
                block.positive,
                state.rng.random(block.order.size),
                state.w,
                state.apart,
                state.sums,
                state.seen,
                state.buffers.columns,
                state.buffers.values,
                state.buffers.sizes,
                float(self.C),
                self.update == "sequential",
                first_pass,
                loss,
            )
        )
        state.clock[0] += taken
        return taken

    def _rows_a_block(self, table: Table) -> int:
        return limit_rows(table, 4.0 * int(self.buffer_size) * table.longest)

    def _longest_step(self, state: State, n_rows: int) -> float:
        return float(self.C) * (float(state.seen.sum()) + n_rows)

    def _check_stream(self, state: State) -> None:
        check_unchanged("buffer_size", self.buffer_size, state.buffers.sizes.shape[1])

    def _weights(self, state: State) -> tuple[Array, float]:
        return state.w, halfway(state.w, class_means(state))


class Buffers:
    """The rows held of both classes, dense or sparse as the latest block is.

    ``columns[c, b]`` (None if dense) and ``values[c, b]`` up to ``sizes[c, b]`` are row b of class c.
    """

    def __init__(self, capacity: int, n_features: int) -> None:
        self.n_features = n_features
        self.columns: NDArray[Any] | None = None
        self.values = np.zeros((2, capacity, 0))
        self.sizes = np.zeros((2, capacity), dtype=np.int64)

    def make_room(self, block: RowBlock, longest: int) -> None:
        """Make room for a block whose longest row has ``longest`` entries."""
        if block.columns is None:
            self._make_dense()
        else:
            self._make_sparse(block.columns.dtype)
        missing = longest - self.values.shape[2]
        if missing > 0:
            grown = ((0, 0), (0, 0), (0, missing))
            self.values = np.pad(self.values, grown)
            if self.columns is not None:
                self.columns = np.pad(self.columns, grown)

    def _make_dense(self) -> None:
        if self.columns is None:
            return
        values = np.zeros((*self.sizes.shape, self.n_features))
        for c, b in np.argwhere(self.sizes > 0):
            size = self.sizes[c, b]
            values[c, b, self.columns[c, b, :size]] = self.values[c, b, :size]
        self.columns, self.values = None, values
        self.sizes[:] = self.n_features

    def _make_sparse(self, dtype: Any) -> None:
        if self.columns is None:
            width = self.values.shape[2]
            self.columns = np.broadcast_to(np.arange(width, dtype=dtype), self.values.shape).copy()
        elif self.columns.dtype.itemsize < dtype.itemsize:
            self.columns = self.columns.astype(dtype)
