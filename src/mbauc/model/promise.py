"""A threshold that keeps a false-alarm promise, from rows that a model was not trained on."""

from __future__ import annotations

from typing import NamedTuple

from mbauc.errors import Advice
from mbauc.metrics.neyman_pearson import false_alarm_threshold, negatives_needed
from mbauc.model.testing import Tested
from mbauc.model.threshold import Threshold, clear_cut


class Promise(NamedTuple):
    """A threshold, and the probability with which it does not keep its promise."""

    threshold: Threshold
    violation_probability: float


def find_promise(tested: Tested, false_alarm: float, confidence: float) -> Promise:
    """The lowest threshold that keeps a limit of false alarms with a probability.

    Parameters
    ----------
    tested : Tested
        Labels and scores of rows that a model was not trained on.
    false_alarm : float
        Largest share of the negatives that may raise an alarm.
    confidence : float
        Probability with which that is kept (Neyman-Pearson order statistics).
    """
    if tested.weight is not None:
        raise ValueError(
            "a false-alarm guarantee needs unweighted rows, and these have weights; leave out the weights, or "
            "set the threshold by a rule without a guarantee."
        )
    negative = tested.s[tested.y == 0]
    needed = negatives_needed(false_alarm, 1 - confidence)
    if negative.size < needed:
        raise ValueError(
            f"a promise of at most {false_alarm:g} false alarms with {confidence:g} confidence needs "
            f"{needed:,} negative rows, got {negative.size:,}. "
            + Advice(
                "Raise false_alarm, lower confidence, or give more rows.",
                command="Raise --false-alarm, lower --confidence, or give more rows.",
            )
        )
    found = false_alarm_threshold(negative, alpha=false_alarm, delta=1 - confidence)
    cut = clear_cut(found.threshold, tested.s)
    return Promise(Threshold(cut, false_alarm, confidence, found.n_negatives), found.violation_probability)
