"""A threshold that keeps a false-alarm promise, from rows that a model was not trained on."""

from __future__ import annotations

from mbauc.errors import Advice
from mbauc.metrics.neyman_pearson import false_alarm_threshold, negatives_needed
from mbauc.model.model import RankerModel, Threshold, clear_cut
from mbauc.model.testing import Tested


def promise_threshold(
    model: RankerModel, tested: Tested | None, false_alarm: float, confidence: float = 0.95
) -> RankerModel:
    """The model with the lowest threshold that keeps a limit of false alarms with a probability.

    Parameters
    ----------
    model : RankerModel
        The model.
    tested : Tested or None
        Labels and scores of rows that it was not trained on.
    false_alarm : float
        Largest share of the negatives that may raise an alarm.
    confidence : float
        Probability with which that is kept (Neyman-Pearson order statistics).
    """
    if tested is None:
        raise ValueError(
            "a false-alarm promise needs rows that the model was not trained on; none were held out. "
            + Advice("Use {hold_out}.", hold_out=0.2)
        )
    if tested.weight is not None:
        raise ValueError("a false-alarm promise is about single rows; it cannot be made from weighted ones.")
    negatives, needed = int((tested.y == 0).sum()), negatives_needed(false_alarm, 1 - confidence)
    if negatives < needed:
        raise ValueError(
            f"a promise of at most {false_alarm:g} false alarms with {confidence:g} confidence needs "
            f"{needed:,} negative rows, got {negatives:,}. Allow more false alarms, less confidence, or give "
            "more rows."
        )
    found = false_alarm_threshold(tested.s[tested.y == 0], false_alarm, 1 - confidence)
    cut = clear_cut(found.threshold, tested.s)
    return model.with_threshold(Threshold(cut, false_alarm, confidence, found.n_negatives))
