"""Losses over the pairs of a batch in operations of PyTorch, for scores that are on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mbauc.losses import Exponential, Logistic, PairLoss, Region, Squared, TruncatedSquares
from mbauc.objectives.torch.batch import Batch
from mbauc.objectives.torch.batch_pairs import BatchPairs, sort_by_group, sum_groups
from mbauc.objectives.torch.processor import known_gradient, on_processor

#: Pairs that are looked at together.
_BLOCK = 1 << 24
#: Pairs up to which each of them is looked at; beyond, sums on the processor are faster.
_MANY = 1 << 30


def on_device(batch: Batch, loss: PairLoss, region: Region, *, equal_groups: bool) -> Tensor | None:
    """The loss of a batch where its scores are, if it can be summed there; None if there are no pairs."""
    operation = next((OPERATIONS[kind] for kind in OPERATIONS if isinstance(loss, kind)), None)
    few = batch.scores.numel() ** 2 // 4 <= _MANY
    if operation is None or (isinstance(loss, Logistic) and not few):
        return on_processor(batch, loss, region, equal_groups=equal_groups)
    pairs = BatchPairs.build(batch.positive, batch.weight, batch.groups, equal_groups=equal_groups)
    if pairs is None:
        return None
    return operation(loss, pairs.select(region, batch.scores.detach()), batch.scores)


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


def logistic(_: PairLoss, pairs: BatchPairs, scores: Tensor, *, block: int = _BLOCK) -> Tensor:
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
    return known_gradient(scores, value, gradient)


#: How losses are summed on a device.
OPERATIONS: dict[type[PairLoss], Callable[[PairLoss, BatchPairs, Tensor], Tensor]] = {
    Squared: squared,
    TruncatedSquares: truncated_squares,
    Exponential: exponential,
    Logistic: logistic,
}
