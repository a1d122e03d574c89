"""Which of two labels is positive by default, and whether that is plausible."""

from __future__ import annotations

import shlex
from typing import Any

#: Words that mean the positive class wherever they stand in sorted order.
_POSITIVE = ("yes", "y", "true", "t", "positive", "pos")


def majority_hint(model: Any, positives: float, negatives: float) -> str:
    """A sentence, after a space, if the positive label of a model looks like that of the ordinary rows.

    Of two words the later in sorted order is positive: 'legit' of 'fraud' and 'legit'. That is rarely meant
    where most rows have it.

    Parameters
    ----------
    model : RankerModel
        With its labels, and whether somebody said which is positive.
    positives, negatives : float
        Rows of each.
    """
    negative, positive = model.classes
    said = getattr(model.layout, "positive", ())
    words = isinstance(negative, str) and isinstance(positive, str) and positive.lower() not in _POSITIVE
    if said or not words or positives <= negatives:
        return ""
    share = positives / (positives + negatives)
    return (
        f" {positive!r} is the positive label because it sorts after {negative!r}, but {share:.1%} of the "
        f"rows are {positive!r}. If {negative!r} should rank first, retrain with "
        f"--positive {shlex.quote(negative)}."
    )
