"""Losses by name."""

from __future__ import annotations

from mbauc.losses.exponential import Exponential
from mbauc.losses.logistic import Logistic
from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.squared import Squared
from mbauc.losses.truncated_squares import SmoothHinge, SquaredHinge

#: A new loss is one file and one name here.
LOSSES: dict[str, type[PairLoss]] = {
    loss.name: loss for loss in (Squared, SquaredHinge, SmoothHinge, Logistic, Exponential)
}


def get_loss(loss: str | PairLoss) -> PairLoss:
    """Get a loss by name; a loss object is returned unchanged.

    Parameters
    ----------
    loss : str or PairLoss
        A name in ``LOSSES``, or a loss object.

    Examples
    --------
    >>> get_loss("logistic").name
    'logistic'
    """
    if isinstance(loss, PairLoss):
        if not isinstance(getattr(loss, "name", None), str):
            raise ValueError(f"loss must have a name: set the class attribute name of {type(loss).__name__}.")
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        known = ", ".join(repr(name) for name in LOSSES)
        raise ValueError(f"loss must be one of {known}, or a PairLoss, got {loss!r}.")
    return LOSSES[loss]()
