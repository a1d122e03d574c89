"""Standard errors of the weights from the rows: how the weights change when one row is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.standard_errors.from_moments import drawing_covariance, inverse
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]

#: Numbers of a chunk of rows that is dense at a time.
_CHUNK = 1 << 19
#: A row whose leverage leaves no more than this would take a column's only values with it.
_SLACK = 1e-6


@dataclass(frozen=True)
class Fit:
    """Weights, and what they solve."""

    #: the weights, not all zero, and what was added to the diagonal of Σ, shape (d,)
    w: Array
    ridge: Array
    #: for which columns ``ridge`` is in proportion to their variance, which is estimated too, shape (d,)
    scaled: NDArray[np.bool_] | bool = False
    #: whether pairs are those within blocks
    within_block: bool = False
    #: what earlier blocks' weights are multiplied by at each block
    decay: float = 1.0
    #: pairs that were drawn; None for all pairs
    drawn: int | None = None
    #: whether drawn pairs stayed as they were drawn
    matched: bool = False


class RowErrors(NamedTuple):
    """Standard errors of the weights, and the rows that each class counted for, before any draw."""

    errors: Array
    effective_sizes: tuple[float, float]


def jackknife_standard_errors(blocks: Callable[[], Iterable[Block]], fit: Fit, n_threads: int) -> RowErrors:
    """Standard deviation of each weight over data sets like this one, whatever the distribution of the rows.

    Without a positive row x, the second moment of the pairs is ``Σ - τ (D - Σ)``, where ``D = d d' + C₋`` is
    that of its own pairs, d = x - m₋, and τ = q/(1 - q) for its share q of the weight of the positives. So the
    weights change by ::

        τ (B - τ d d')⁻¹ (r d + k),    r = d'w - 1,  k = C₋w + μ - Σw,  B = Σ + ridge + τ (Σ - C₋)

    with one more term where the columns' scales are estimated as well; Sherman and Morrison's formula needs B⁻¹
    once. The variance is the sum of ``(1 - q) change change'`` over the rows of both classes. Without weights
    and scales this is the jackknife to the last digit, without a single fit; with weights B is that of the
    mean τ. Within blocks a row has its pairs with the block's other class.

    Pairs that were drawn add the variance of the draw: each class's own over their number, and what matched
    pairs add to that as if rows were normal. Penalties are taken as given, weights that are zero as zero.

    Time ``O(n s²)`` for s weights that are not zero, two passes; memory of a few s×s matrices and some 20 MB.

    Parameters
    ----------
    blocks : callable
        Gives the rows, each time anew.
    fit : Fit
        What they were fitted with.
    n_threads : int
        Threads for the moments.
    """
    support = np.flatnonzero(fit.w)

    def select() -> Iterator[Block]:
        for block in blocks():
            yield block if support.size == fit.w.size else replace(block, X=block.X[:, support])

    total, number = PairMoments(support.size), 0
    for block in select():
        part = accumulate_block(block, n_threads)
        total = total.decayed(fit.decay) + (part.closed() if fit.within_block else part)
        number += 1
    sizes = total.effective_sizes
    if min(sizes) <= 1:
        raise ValueError("standard errors need at least two rows of each class.")
    scaled = np.broadcast_to(fit.scaled, fit.w.shape)[support]
    own = Fit(fit.w[support], fit.ridge[support], scaled, fit.within_block)
    leave_out = _LeaveOut(total, own)
    for age, block in enumerate(select()):
        leave_out.add(block, fit.decay ** (number - 1 - age))
    covariance = np.zeros_like(leave_out.system)
    for side, size in zip(leave_out.classes, sizes, strict=True):
        # rows that were drawn vary once more, by the draw
        share = 1.0 if fit.drawn is None else 1.0 + size / fit.drawn
        covariance += share * (side.inverse @ side.sum @ side.inverse)
    if fit.drawn is not None and fit.matched:
        covariance += drawing_covariance(total, own.w, leave_out.system) / fit.drawn
    errors = np.zeros_like(fit.w)
    errors[support] = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    return RowErrors(errors, sizes)


@dataclass
class _Class:
    """What leaving out a row of one class needs to know of the other, and the sum over those left out."""

    positive: bool
    weight: float
    inverse: Array
    #: of the other class: its mean, and its covariance times w
    mean: Array
    product: Array
    sum: Array


class _LeaveOut:
    """Sums up how the gradient changes for each row that is left out."""

    def __init__(self, total: PairMoments, fit: Fit) -> None:
        self._fit, self._total = fit, total
        second = total.second_moment
        self._gradient = second @ fit.w - total.mean_difference
        self.system = second + np.diag(fit.ridge)
        plus, minus = total.class_means
        self._centre = np.average([plus, minus], axis=0, weights=total.weights)
        variances = total.column_variances
        self._variances = np.where(variances > 0, variances, 1.0)
        self.classes = []
        for positive, mean in ((True, minus), (False, plus)):
            other = total.class_covariance(not positive)
            size = total.effective_sizes[0 if positive else 1]
            # within blocks the other class differs from block to block, and a row is next to nothing
            own = self.system if fit.within_block else self.system + (second - other) / (size - 1)
            weight = total.weights[0 if positive else 1]
            self.classes.append(_Class(positive, weight, inverse(own), mean, other @ fit.w, np.zeros_like(own)))

    def add(self, block: Block, factor: float) -> None:
        """Leave out each row of a block, whose weights have been multiplied by ``factor``."""
        w = self._fit.w
        if not self._fit.within_block:
            for side in self.classes:
                self._leave_out(block, side, side.mean, side.product, factor / side.weight, factor)
            return
        weights = [block.class_weight(side.positive)[0] for side in self.classes]
        if 0.0 in weights:
            return
        pairs = self._total.sums.pairs
        share = weights[0] * weights[1] * factor / pairs.differences.weight  # type: ignore[union-attr]
        for place, side in enumerate(self.classes):
            mean, product = _mean_and_product(block, not side.positive, w)
            self._leave_out(block, side, mean, product, share / weights[place], factor)

    def _leave_out(
        self, block: Block, side: _Class, mean: Array, product: Array, unit: float, factor: float
    ) -> None:
        w, rest = self._fit.w, product - self._gradient
        for D, weight in _chunks(block, side.positive):
            times, one = (weight, np.ones_like(weight)) if block.frequencies else (1.0, weight)
            q = unit * one
            if (q >= 1.0).any():
                raise ValueError(
                    "standard errors need at least two rows of each class that have pairs, because each row is "
                    "left out in turn."
                )
            tau = q / (1 - q)
            k = rest
            if np.any(self._fit.scaled):
                share = one * factor / sum(self._total.weights)
                odd = (D - self._centre) ** 2 / (1 - share)[:, None] / self._variances - 1.0
                k = rest + (share / (1 - share) / tau)[:, None] * odd * (self._fit.scaled * self._fit.ridge * w)
            D -= mean
            r = D @ w + (-1.0 if side.positive else 1.0)
            solved = D @ side.inverse
            slack = 1.0 - tau * np.einsum("ij,ij->i", solved, D)
            turned = solved @ k if k.ndim == 1 else np.einsum("ij,ij->i", solved, k)
            r = np.where(slack > _SLACK, (r + tau * turned) / np.maximum(slack, _SLACK), r)
            change = D
            change *= r[:, None]
            change += k
            change *= (tau * np.sqrt(times * (1 - q)))[:, None]
            side.sum += change.T @ change


def _chunks(block: Block, positive: bool) -> Iterator[tuple[Array, Array]]:
    """Dense rows of one class and their weights, in chunks of bounded size."""
    numbers = block.rows_of(positive)
    X = block.X.tocsr() if is_sparse(block.X) else block.X
    step = max(1, _CHUNK // X.shape[1])
    for start in range(0, numbers.size, step):
        some = numbers[start : start + step]
        part: Any = X[some]
        part = np.array(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        yield part, np.ones(some.size) if block.weight is None else block.weight[some]


def _mean_and_product(block: Block, positive: bool, w: Array) -> tuple[Array, Array]:
    """Mean of the rows of one class, and their covariance times w."""
    total = block.class_weight(positive)[0]
    mean = sum(weight @ part for part, weight in _chunks(block, positive)) / total
    centred = ((part - mean, weight) for part, weight in _chunks(block, positive))
    product = sum((weight * (part @ w)) @ part for part, weight in centred) / total
    return np.asarray(mean), np.asarray(product)
