"""The pairs of a batch as tensors on its device: who is paired with whom, and how much each pair counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mbauc.losses import Region


@dataclass(frozen=True)
class BatchPairs:
    """As :class:`mbauc.losses.PairWeights`, with the group of each row in place of the starts of groups.

    Pair (i, j) of the same group counts ``aᵢ bⱼ``; all together count 1.
    """

    #: numbers of the positive and of the negative rows
    plus: Tensor
    minus: Tensor
    #: aᵢ and bⱼ
    plus_weight: Tensor
    minus_weight: Tensor
    #: their groups, from 0; None where all rows are one group
    plus_group: Tensor | None
    minus_group: Tensor | None
    n_groups: int

    @classmethod
    def build(
        cls, positive: Tensor, weight: Tensor, groups: Tensor | None, *, equal_groups: bool
    ) -> BatchPairs | None:
        """Pairs of rows whose labels, weights and groups are given; None if there are none."""
        plus, minus = torch.nonzero(positive).ravel(), torch.nonzero(~positive).ravel()
        if not plus.numel() or not minus.numel():
            return None
        if groups is None:
            pairs = cls(plus, minus, weight[plus], weight[minus], None, None, 1)
        else:
            codes = torch.unique(groups, return_inverse=True)[1]
            n_groups = int(codes.max()) + 1
            pairs = cls(plus, minus, weight[plus], weight[minus], codes[plus], codes[minus], n_groups)
        count = pairs.sum_plus(pairs.plus_weight) * pairs.sum_minus(pairs.minus_weight)
        if not bool(count.sum() > 0):
            return None
        if equal_groups:
            share = torch.where(count > 0, 1.0 / count.clamp_min(torch.finfo(count.dtype).tiny), 0.0)
            share = share / (count > 0).sum()
        else:
            share = (1.0 / count.sum()).expand(pairs.n_groups)
        return replace(pairs, plus_weight=pairs.plus_weight * pairs.to_plus(share))

    def sum_plus(self, values: Tensor) -> Tensor:
        """Sum over the positives of each group."""
        return sum_groups(values, self.plus_group, self.n_groups)

    def sum_minus(self, values: Tensor) -> Tensor:
        """Sum over the negatives of each group."""
        return sum_groups(values, self.minus_group, self.n_groups)

    def to_plus(self, of_groups: Tensor) -> Tensor:
        """For each positive the number of its group."""
        return of_groups if self.plus_group is None else of_groups[self.plus_group]

    def to_minus(self, of_groups: Tensor) -> Tensor:
        """For each negative the number of its group."""
        return of_groups if self.minus_group is None else of_groups[self.minus_group]

    def select(self, region: Region, scores: Tensor) -> BatchPairs:
        """The pairs that count, as ``Region.select`` has it."""
        if region.is_whole:
            return self
        high, low = scores[self.plus], scores[self.minus]
        b = _keep(self.minus_weight, -low, self.minus_group, self.n_groups, region.min_fpr, region.max_fpr)
        a = _keep(self.plus_weight, high, self.plus_group, self.n_groups, 0.0, 1.0 - region.min_tpr)
        before = self.sum_plus(self.plus_weight) * self.sum_minus(self.minus_weight)
        after = self.sum_plus(a) * self.sum_minus(b)
        factor = torch.where(after > 0, before / torch.where(after > 0, after, 1.0), 0.0)
        return replace(self, plus_weight=a * self.to_plus(factor), minus_weight=b)


def sum_groups(values: Tensor, group: Tensor | None, n_groups: int) -> Tensor:
    """Sums by group, along the last axis."""
    if group is None:
        return values.sum(-1, keepdim=True)
    zeros = values.new_zeros(*values.shape[:-1], n_groups)
    return zeros.index_add(-1, group, values)


def sort_by_group(keys: Tensor, group: Tensor | None) -> Tensor:
    """Order of rows by group, and within one by rising keys."""
    order = torch.argsort(keys, stable=True)
    return order if group is None else order[torch.argsort(group[order], stable=True)]


def _keep(weight: Tensor, keys: Tensor, group: Tensor | None, n_groups: int, low: float, high: float) -> Tensor:
    """The weight of the rows between two shares of their group, in rising order of keys; equal keys share."""
    order = sort_by_group(keys, group)
    own = torch.zeros_like(order) if group is None else group[order]
    key, size = keys[order], weight[order]
    is_new = (key[1:] != key[:-1]) | (own[1:] != own[:-1])
    run = torch.cat([is_new.new_zeros(1), is_new]).cumsum(0)
    in_run = sum_groups(size, run, size.numel())
    group_of_run = torch.zeros_like(run).index_copy(0, run, own)
    whole = sum_groups(weight, group, n_groups)
    end = in_run.cumsum(0) - (whole.cumsum(0) - whole)[group_of_run]
    whole = whole[group_of_run]
    kept = (torch.minimum(end, high * whole) - torch.maximum(end - in_run, low * whole)).clamp_min(0.0)
    share = kept / torch.where(in_run > 0, in_run, 1.0)
    return torch.empty_like(weight).index_copy(0, order, size * share[run])
