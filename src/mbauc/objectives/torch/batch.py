"""Rows of a batch, checked, and in the type that sums are taken in."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor


class Batch(NamedTuple):
    """Scores, labels, weights and groups of a batch, on the device of the scores."""

    scores: Tensor
    positive: Tensor
    weight: Tensor
    groups: Tensor | None

    @classmethod
    def check(cls, scores: Any, y: Any, sample_weight: Any, groups: Any) -> Batch:
        """From what a caller passed, or an error that says what is wrong with it."""
        values = _column("scores", scores)
        if not values.is_floating_point():
            raise TypeError(f"scores must be floating point numbers, got {values.dtype}.")
        # Apple's devices have no float64
        exact = values.to(torch.float32 if values.device.type == "mps" else torch.float64)
        return cls(
            exact,
            _positive(_column("y", y, values)),
            torch.ones_like(exact) if sample_weight is None else _weights(sample_weight, values, exact.dtype),
            None if groups is None else _groups(groups, values),
        )


def _column(name: str, values: Any, scores: Tensor | None = None) -> Tensor:
    """A tensor with a number for each row, on the device of the scores."""
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(values).__name__}.")
    column = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if column.ndim != 1:
        raise ValueError(f"{name} must have one value a row, shape (n,) or (n, 1), got {tuple(values.shape)}.")
    if scores is not None and column.shape != scores.shape:
        raise ValueError(f"{name} has {column.numel():,} rows, scores have {scores.numel():,}.")
    return column if scores is None else column.to(scores.device)


def _positive(y: Tensor) -> Tensor:
    if y.dtype == torch.bool:
        return y
    positive = y == 1
    if not bool((positive | (y == 0) | (y == -1)).all()):
        other = y[~(positive | (y == 0) | (y == -1))][0].item()
        raise ValueError(f"y must hold 1 for positive rows and 0 or -1 for others, got {other!r}.")
    return positive


def _weights(sample_weight: Any, scores: Tensor, dtype: torch.dtype) -> Tensor:
    weight = _column("sample_weight", sample_weight, scores).detach().to(dtype)
    if not bool(((weight >= 0) & weight.isfinite()).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    return weight


def _groups(groups: Any, scores: Tensor) -> Tensor:
    column = _column("groups", groups, scores)
    if column.is_floating_point() or column.is_complex():
        raise TypeError(f"groups must be whole numbers, got {column.dtype}.")
    return column
