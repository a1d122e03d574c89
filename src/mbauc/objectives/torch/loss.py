"""A loss over all pairs of a batch, as a function and as a module of PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mbauc.checks import check_flag
from mbauc.losses import PairLoss, Region, get_loss
from mbauc.objectives.torch.batch import Batch
from mbauc.objectives.torch.device import on_device
from mbauc.objectives.torch.processor import on_processor


def pairwise_auc_loss(
    scores: Tensor,
    y: Tensor,
    sample_weight: Tensor | None = None,
    groups: Tensor | None = None,
    *,
    loss: str | PairLoss = "squared_hinge",
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    equal_groups: bool = False,
) -> Tensor:
    """Pairwise AUC loss of a batch: weighted mean over all pairs of a positive and a negative row.

    ``O(n log n)`` at most, so a batch may be the whole data set. Sums are in float64 where the device has it,
    whatever the type of the scores. Scores on the CPU use the compiled loops of :mod:`mbauc.losses`. On a GPU,
    squared, hinge and exponential losses take ``O(n log n)``; the logistic loss is summed pair by pair up to
    2³⁰ pairs, and beyond on the CPU, from a copy of the scores.

    Parameters
    ----------
    scores : Tensor of shape (n,) or (n, 1)
        Outputs of a model, on any device.
    y : Tensor of shape (n,) or (n, 1)
        Labels: 1 or True for positive rows, 0, -1 or False for others.
    sample_weight : Tensor of shape (n,), optional
        Weight of each row; the weight of a pair is the product of the weights of its rows.
    groups : Tensor of shape (n,), optional
        Group of each row, as a number: only rows of the same group are paired.
    loss : str or PairLoss, default="squared_hinge"
        ``"squared_hinge"``, ``"logistic"``, ``"squared"``, ``"exponential"`` or ``"hinge"`` (smoothed), or a
        custom loss, which is computed on the CPU.
    max_fpr : float, default=1.0
        Upper limit of the false-positive rate, in (0, 1]. Only the highest-scored negatives of the batch are
        then in pairs: at 0.01, one of a hundred.
    min_tpr : float, default=0.0
        Lower limit of the true-positive rate, in [0, 1).
    equal_groups : bool, default=False
        Whether groups have equal weight instead of pairs.

    Returns
    -------
    Tensor
        Scalar loss; 0, with a gradient of 0, for a batch without pairs.

    Notes
    -----
    Second derivatives are not supported; on the CPU they raise an error.

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([0.2, 1.0, -0.5, 0.4], requires_grad=True)
    >>> value = pairwise_auc_loss(scores, torch.tensor([0, 1, 0, 1]))
    >>> value.backward()
    >>> round(value.item(), 4)
    0.0862
    >>> scores.grad
    tensor([ 0.2500, -0.0500,  0.0250, -0.2250])
    """
    check_flag("equal_groups", equal_groups)
    kind, region = get_loss(loss), Region(max_fpr=max_fpr, min_tpr=min_tpr)
    if equal_groups and groups is None:
        raise ValueError("equal_groups=True needs groups; pass the group of each row of the batch.")
    batch = Batch.check(scores, y, sample_weight, groups)
    if not bool(batch.scores.detach().isfinite().all()):
        value = batch.scores.sum() * torch.nan  # a loop that scales its loss must see it
    else:
        evaluate = on_processor if scores.device.type == "cpu" else on_device
        found = evaluate(batch, kind, region, equal_groups=bool(equal_groups))
        value = batch.scores.sum() * 0.0 if found is None else found
    return value.to(_type_of_result(scores))


class PairwiseAUCLoss(nn.Module):
    """:func:`pairwise_auc_loss` as a module.

    Parameters
    ----------
    loss, max_fpr, min_tpr, equal_groups
        As for :func:`pairwise_auc_loss`.

    Examples
    --------
    >>> import torch
    >>> criterion = PairwiseAUCLoss("logistic", max_fpr=0.5)
    >>> criterion
    PairwiseAUCLoss(loss='logistic', max_fpr=0.5, min_tpr=0.0, equal_groups=False)
    >>> round(criterion(torch.tensor([0.0, 2.0, 1.0]), torch.tensor([0, 1, 0])).item(), 4)
    0.3133
    """

    def __init__(
        self,
        loss: str | PairLoss = "squared_hinge",
        *,
        max_fpr: float = 1.0,
        min_tpr: float = 0.0,
        equal_groups: bool = False,
    ) -> None:
        super().__init__()
        check_flag("equal_groups", equal_groups)
        get_loss(loss), Region(max_fpr=max_fpr, min_tpr=min_tpr)  # both refuse what they do not know
        self.loss, self.max_fpr, self.min_tpr, self.equal_groups = loss, max_fpr, min_tpr, equal_groups

    def forward(
        self, scores: Tensor, y: Tensor, sample_weight: Tensor | None = None, groups: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch; arguments as for :func:`pairwise_auc_loss`."""
        return pairwise_auc_loss(
            scores,
            y,
            sample_weight,
            groups,
            loss=self.loss,
            max_fpr=self.max_fpr,
            min_tpr=self.min_tpr,
            equal_groups=self.equal_groups,
        )

    def extra_repr(self) -> str:
        """The settings, for ``repr``."""
        names = ("loss", "max_fpr", "min_tpr", "equal_groups")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


def _type_of_result(scores: Tensor) -> torch.dtype:
    """That of the scores; float32 for halves."""
    return torch.float32 if scores.dtype in (torch.float16, torch.bfloat16) else scores.dtype
