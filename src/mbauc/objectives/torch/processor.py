"""Losses over the pairs of a batch by the compiled sums of :mod:`mbauc.losses`, whatever the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mbauc.errors import NoPairsError
from mbauc.losses import PairLoss, PairObjective, PairWeights, Region
from mbauc.objectives.torch.batch import Batch


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


def on_processor(batch: Batch, loss: PairLoss, region: Region, *, equal_groups: bool) -> Tensor | None:
    """The loss of a batch, with the scores brought here and the gradient back; None if there are no pairs."""
    positive, weight = batch.positive.cpu().numpy(), batch.weight.cpu().numpy().astype(np.float64, copy=False)
    groups = None if batch.groups is None else batch.groups.cpu().numpy()
    try:
        pairs = PairWeights.build(positive, weight, groups, equal_groups=equal_groups)
    except NoPairsError:
        return None
    scores = batch.scores
    around = PairObjective(loss, pairs, region).expand(
        scores.detach().cpu().numpy().astype(np.float64, copy=False)
    )
    value = torch.as_tensor(around.value, dtype=scores.dtype, device=scores.device)
    gradient = torch.as_tensor(around.gradient, dtype=scores.dtype, device=scores.device)
    return known_gradient(scores, value, gradient)


def known_gradient(scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    """The value, for autograd."""
    found: Tensor = KnownGradient.apply(scores, value, gradient)
    return found
