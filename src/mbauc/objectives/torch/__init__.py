"""Losses over all pairs for PyTorch: a function of the scores of a batch, and a module.

Needs ``mbauc[torch]``. See ``docs/user_guide/objectives.md``.
"""

try:
    import torch  # noqa: F401
except ImportError:
    raise ImportError(
        "mbauc.objectives.torch needs PyTorch; install it with: pip install 'mbauc[torch]' "
        "(or install the build for your machine from pytorch.org)"
    ) from None

from mbauc.objectives.torch.loss import PairwiseAUCLoss, pairwise_auc_loss

__all__ = ["PairwiseAUCLoss", "pairwise_auc_loss"]
