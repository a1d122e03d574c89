"""Losses over the pairs of a batch in operations of PyTorch, on the device of the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mbauc.losses import Exponential, PairLoss, PairObjective, Squared, TruncatedSquares
from mbauc.objectives.torch.batch_pairs import BatchPairs, sort_by_group, sum_groups

#: Pairs that are looked at together.
_BLOCK = 1 << 24


def squared(_: PairLoss, pairs: BatchPairs, scores: Tensor) -> Tensor:
    """½ Σ A B [(1 - gap)² + both variances] over groups; ``O(n)``."""
    a, b, high, low = pairs.plus_weight, pairs.minus_weight, scores[pairs.plus], scores[pairs.minus]
    A, B = pairs.sum_plus(a), pairs.sum_minus(b)
    mean_high = pairs.sum_plus(a * high) / torch.where(A > 0, A, 1.0)
    mean_low = pairs.sum_minus(b * low) / torch.where(B > 0, B, 1.0)
    spread_high = pairs.sum_plus(a * (high - pairs.to_plus(mean_high)) ** 2)
    spread_low = pairs.sum_minus(b * (low - pairs.to_minus(mean_low)) ** 2)
    return 0.5 * (A * B * (1.0 - mean_high + mean_low) ** 2 + B * spread_high + A * spread_low).sum()


def truncated_squares(loss: PairLoss, pairs: BatchPairs, scores: Tensor) -> Tensor:
    """½ Σ cₖ (k - m)₊² by a sort and running sums; ``O(n log n)``.

    Autograd is right through the sort: a pair that enters or leaves counts nothing there.
    """
    terms: Any = getattr(loss, "terms", ())
    scores = scores - scores.detach().mean()  # squares of what is left do not cancel
    a, b, high, low = pairs.plus_weight, pairs.minus_weight, scores[pairs.plus], scores[pairs.minus]
    group = None
    if pairs.plus_group is not None and pairs.minus_group is not None:
        group = torch.cat([pairs.plus_group, pairs.minus_group])
    powers = torch.stack([b, b * low, b * low**2])
    values = torch.cat([powers.new_zeros(3, high.numel()), powers], dim=1)
    ends = sum_groups(powers, pairs.minus_group, pairs.n_groups).cumsum(1)
    ends = ends if pairs.plus_group is None else ends[:, pairs.plus_group]
    total = scores.new_zeros(())
    for k, c in terms:
        order = sort_by_group(torch.cat([high.detach() - k, low.detach()]), group)
        place = torch.empty_like(order)
        place[order] = torch.arange(order.numel(), device=order.device)
        n, s, q = ends - values[:, order].cumsum(1)[:, place[: high.numel()]]
        gap = k - high
        total = total + 0.5 * c * (a * (n * gap**2 + 2.0 * gap * s + q)).sum()
    return total


def exponential(_: PairLoss, pairs: BatchPairs, scores: Tensor) -> Tensor:
    """exp(-m): in each group a product of two sums; ``O(n)``."""
    high, low = scores[pairs.plus], scores[pairs.minus]
    if pairs.minus_group is None:
        top = low.detach().amax(0, keepdim=True)
    else:
        lowest = low.new_full((pairs.n_groups,), -torch.inf)
        top = lowest.scatter_reduce(0, pairs.minus_group, low.detach(), "amax")
    up = pairs.sum_plus(pairs.plus_weight * torch.exp(pairs.to_plus(top) - high))
    down = pairs.sum_minus(pairs.minus_weight * torch.exp(low - pairs.to_minus(top)))
    return (up * down).sum()


#: Losses that autograd can see through.
OPERATIONS: dict[type[PairLoss], Callable[[PairLoss, BatchPairs, Tensor], Tensor]] = {
    Squared: squared,
    TruncatedSquares: truncated_squares,
    Exponential: exponential,
}


class KnownGradient(torch.autograd.Function):
    """A value whose gradient was found beside it."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        """The value."""
        ctx.save_for_backward(gradient)
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        """The gradient that was kept."""
        (gradient,) = ctx.saved_tensors
        return slope * gradient, None, None


def logistic(pairs: BatchPairs, scores: Tensor, *, block: int = _BLOCK) -> Tensor:
    """log(1 + exp(-m)) pair by pair, some at a time; ``O(n₊ n₋)``."""
    values = scores.detach()
    a, b, high, low = pairs.plus_weight, pairs.minus_weight, values[pairs.plus], values[pairs.minus]
    value, gradient = values.new_zeros(()), torch.zeros_like(values)
    step = max(1, block // low.numel())
    for start in range(0, high.numel(), step):
        some = slice(start, start + step)
        margin = high[some, None] - low
        slope = -torch.sigmoid(-margin)
        losses = torch.nn.functional.softplus(-margin)
        if pairs.plus_group is not None and pairs.minus_group is not None:
            together = pairs.plus_group[some, None] == pairs.minus_group
            slope, losses = slope * together, losses * together
        value += a[some] @ losses @ b
        gradient[pairs.plus[some]] = a[some] * (slope @ b)
        gradient[pairs.minus] -= b * (a[some] @ slope)
    return _known(scores, value, gradient)


def on_the_processor(objective: PairObjective, scores: Tensor) -> Tensor:
    """Any loss of :mod:`mbauc.losses`, with the scores of the batch brought there and the gradient back."""
    around = objective.expand(scores.detach().cpu().numpy().astype(np.float64, copy=False))
    value = torch.as_tensor(around.value, dtype=scores.dtype, device=scores.device)
    gradient = torch.as_tensor(around.gradient, dtype=scores.dtype, device=scores.device)
    return _known(scores, value, gradient)


def _known(scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    found: Tensor = KnownGradient.apply(scores, value, gradient)
    return found
