"""Where the scores of a report come from: any model, of which nothing but its scores is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.metrics.probabilities import check_probabilities
from mbauc.metrics.ranked import RankedScores, check_lengths
from mbauc.report.pieces import Section
from mbauc.report.text import class_name, escape_name
from mbauc.rows.labels import as_labels, distinct_labels, find_classes

if TYPE_CHECKING:
    from mbauc.metrics.operating_point import OperatingPoint
    from mbauc.metrics.thresholds import ThresholdTable
    from mbauc.model import Threshold

#: Names and values of facts.
Facts = list[tuple[str, str]]


def read_labels(y_true: Any, positive: Any = None) -> tuple[NDArray[np.bool_], tuple[Any, Any]]:
    """Which rows are positive, and what both classes are called, the negative one first.

    Without ``positive`` there are two labels, of which the larger is positive, or 0 and 1, one of which may be
    missing.

    Examples
    --------
    >>> read_labels(["good", "bad", "good"], "bad")
    (array([False,  True, False]), ('good', 'bad'))
    """
    labels = as_labels(y_true, "y_true")
    if positive is not None:
        mask = np.asarray(labels == positive)
        if mask.shape != labels.shape or not mask.any():
            seen = ", ".join(map(repr, distinct_labels(labels)[:5].tolist()))
            raise ValueError(
                f"y_true never has the label {positive!r}; its labels are {seen}. "
                + Advice("Check {positive}.")
            )
        others = distinct_labels(labels[~mask]).tolist() if not mask.all() else ["others"]
        return mask, (others[0] if len(others) == 1 else tuple(others), positive)
    if labels.dtype.kind in "biuf" and bool(((labels == 0) | (labels == 1)).all()):
        return labels == 1, (0, 1)
    negative, larger = find_classes(labels, "y_true").tolist()
    return np.asarray(labels == larger), (negative, larger)


@dataclass(frozen=True)
class Origin:
    """Scores of any model; what is known of one adds to it in a class of its own.

    Attributes
    ----------
    classes : tuple
        What negative and positive rows are called.
    given : array-like, False or None
        Probabilities; False if there are none, None if scores are some where they lie between 0 and 1.
    """

    classes: tuple[Any, Any] = (0, 1)
    given: Any = None

    @property
    def threshold(self) -> Threshold | None:
        """The model's own threshold."""
        return None

    def probabilities(self, ranked: RankedScores) -> RankedScores | None:
        """Probabilities in place of the scores, if there are any."""
        if self.given is False:
            return None
        if self.given is None:
            return ranked if are_probabilities(ranked.values) else None
        values = np.asarray(self.given, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"probabilities must have one number for each row, got shape {values.shape}.")
        check_lengths(ranked.values.size, values.size, "y_true", "probabilities")
        check_probabilities(values, "probabilities")
        return RankedScores(ranked.positive, values, ranked.weight)

    def notes(self, table: ThresholdTable | None) -> Iterator[str]:
        """What to know of the model before believing the numbers."""
        return iter(())

    def sections(self, ranked: RankedScores) -> Iterator[Section]:
        """What scores are made of."""
        return iter(())

    def facts(self, ranked: RankedScores) -> tuple[Facts, Facts, str]:
        """Facts for everybody, facts for experts, and what stands below these."""
        if self.given is None and are_probabilities(ranked.values):
            words = "the scores, interpreted as probabilities because all lie between 0 and 1"
            return [("Probabilities", words)], [], ""
        return [], [], ""

    def about_threshold(self) -> str:
        """What the model's own threshold promises."""
        return ""

    def rule(self, at: OperatingPoint) -> str:
        """How to raise alarms with a threshold, as HTML; the script changes ``command-at`` in it."""
        return f'<span>score &gt; <span id="command-at">{at.cut!r}</span></span>'

    def describe_classes(self) -> tuple[str, str]:
        """Both classes as HTML, the negative one first."""
        negative, positive = (escape_name(class_name(side)) for side in self.classes)
        return negative, positive


def are_probabilities(values: NDArray[np.float64]) -> bool:
    """Whether numbers may be probabilities: between 0 and 1, and not the verdicts 0 and 1 alone."""
    if not values.size or values.min() < 0.0 or values.max() > 1.0:
        return False
    return bool(((values > 0.0) & (values < 1.0)).any())
