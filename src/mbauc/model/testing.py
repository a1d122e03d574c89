"""Rows that a model is tested on: held out of a training, or others, with their labels and scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, FewRowsWarning, NoPairsError
from mbauc.losses import PairWeights
from mbauc.metrics import AucInterval, roc_auc_interval
from mbauc.metrics.grouped import GroupedAuc
from mbauc.model.hold_out import HoldOut
from mbauc.model.model import RankerModel
from mbauc.model.seen_files import file_marks
from mbauc.readers.table.groups import distinct_values, name_group
from mbauc.rows.groups import check_groups, group_keys
from mbauc.rows.source import Source, about_rows
from mbauc.rows.split import RowSubset
from mbauc.runtime.progress import progress

Array = NDArray[np.float64]

#: Rows of a class below which intervals tend to be too narrow.
_FEW = 100


@dataclass(frozen=True)
class Tested:
    """Labels and scores of rows that a model was not trained on."""

    y: NDArray[np.int8]
    s: Array
    weight: Array | None
    groups: NDArray[Any] | None = None
    #: what rows belong together with, where that is neither a group nor nothing
    clusters: NDArray[Any] | None = None

    @classmethod
    def join(cls, parts: list[Tested]) -> Tested | None:
        """Rows of several tests as one; None without any.

        Each fold has a model of its own. Where a fold holds out high rows by chance, its model was trained on
        lower ones and scores lower, so that scores of several folds rank worse together than each by itself:
        about 0.46 instead of 0.5 for 200 rows of noise. So folds are shifted to one midpoint of their classes.
        """
        if len(parts) < 2:
            return parts[0] if parts else None
        midpoints = np.array([part.midpoint for part in parts])
        common = float(np.average(midpoints, weights=[part.y.size for part in parts]))
        shifted = [replace(part, s=part.s + (common - own)) for part, own in zip(parts, midpoints, strict=True)]

        def joined(name: str) -> Any:
            values = [getattr(part, name) for part in shifted]
            return None if any(one is None for one in values) else np.concatenate(values)

        return cls(*(joined(field.name) for field in fields(cls)))

    @property
    def midpoint(self) -> float:
        """Half way between the mean scores of the classes; the mean of a class that is alone."""
        means = []
        for label in (0, 1):
            own = self.y == label
            weight = np.ones(own.sum()) if self.weight is None else self.weight[own]
            if weight.sum() > 0:
                means.append(np.average(self.s[own], weights=weight))
        return float(np.mean(means)) if means else 0.0

    def in_units_of(self, model: RankerModel) -> Tested:
        """With log-odds as scores of a model: what a model of the same kind gave them."""
        return replace(self, s=self.s / model.slope) if model.slope > 0 else self

    def interval(self, confidence: float = 0.95) -> AucInterval:
        """AUC with its interval; weights count as repeated rows, and rows of a cluster may depend on others.

        Where rows are few, :meth:`describe_few_rows` says so.
        """
        with warnings.catch_warnings(action="ignore", category=FewRowsWarning):
            return roc_auc_interval(
                self.y,
                self.s,
                sample_weight=self.weight,
                weights=None if self.weight is None else "frequency",
                clusters=self.clusters if self.weight is None else None,
                confidence=confidence,
            )

    def counted_interval(self) -> AucInterval:
        """AUC of the pairs that count, with its interval: within groups, if two of them have both classes."""
        found = self.grouped()
        return self.interval() if found is None or found.aucs.size < 2 else found.interval()

    def describe_too_few(self) -> str:
        """Why there is no interval: rows or clusters of a class are too few; nothing where there are enough."""
        if self.y.size < 2 or min(np.bincount(self.y, minlength=2)[:2]) < 2:
            positives = int(self.y.sum())
            return (
                f"a confidence interval needs two rows of each class, got {positives:,} positives and "
                f"{self.y.size - positives:,} negatives"
            )
        if self.clusters is None or self.weight is not None:
            return ""
        negatives, positives = (np.unique(self.clusters[self.y == label]).size for label in (0, 1))
        if min(positives, negatives) >= 2:
            return ""
        return (
            "a confidence interval needs two held-out clusters of each class, got "
            f"{positives:,} with positives and {negatives:,} with negatives"
        )

    def describe_few_rows(self) -> str:
        """What to know of an interval of so few rows; nothing where there are enough."""
        fewest = min(int(np.count_nonzero(self.y == label)) for label in (0, 1))
        if fewest >= _FEW:
            return ""
        return (
            f"the smaller class has {fewest:,} test rows: below {_FEW} the confidence interval tends to be "
            "too narrow"
        )

    def grouped(self) -> GroupedAuc | None:
        """AUCs within groups, where each pair counts; None without groups that have rows of both classes."""
        pairs = None if self.groups is None else self.pairs()
        return None if pairs is None else GroupedAuc.of(pairs, self.s)

    def pairs(self, *, equal_groups: bool = False) -> PairWeights | None:
        """The pairs that count, within groups if there are any; None without one."""
        groups = None if self.groups is None else check_groups(self.groups, self.y.size)
        try:
            return PairWeights.build(self.y == 1, self.weight, groups, equal_groups=equal_groups)
        except NoPairsError:
            return None


class NoRowsError(ValueError):
    """There are no rows to test on."""


def select_held_out(model: RankerModel, source: Source) -> Source:
    """The rows that a model's training held out, of all rows of its files; or an error if there are none."""
    drawn = model.trained_on.get("held_out")
    if not isinstance(drawn, dict):
        why = (
            "after its test the model was refitted on all rows"
            if isinstance(model.trained_on.get("tested"), dict)
            else "the training held none out, or the model was updated since"
        )
        raise ValueError(
            f"there are no held-out rows: {why}. Use other rows, or keep the tested model. "
            + Advice("Train with {refit}.", command="Train with 'mbauc fit --keep-tested'.", refit=False)
        )
    trained = [mark for mark in model.trained_on.get("files", []) if isinstance(mark, dict)]
    if [mark.get("digest") for mark in trained] != [mark["digest"] for mark in file_marks(source)]:
        raise ValueError(
            "the held-out rows cannot be found again: pass the files that the model was trained on, unchanged "
            "and in the same order."
        )
    return RowSubset(source, HoldOut.from_record(drawn).split(source), held_out=True)


def score_source(model: RankerModel, source: Source, *, verbose: bool = False) -> Tested:
    """Labels and scores of all rows of a source; 9 bytes a row, 8 more with weights and with groups."""
    labels, values, weights, groups = [], [], [], []
    with progress(about_rows(source), "scoring", show=verbose) as advance:
        for y, s, weight, *rest in model.score_blocks(source):
            labels.append(np.asarray(y, dtype=np.int8))
            values.append(s)
            weights.append(weight)
            groups += [group_keys(keys, len(y)) for keys in rest]
            advance(s.size)
    if not values:
        skipped = getattr(source, "skipped", None)
        why = " " + str(skipped) if skipped is not None and skipped.count else ""
        raise NoRowsError("there are no rows to test on." + why)
    weight = None
    if any(one is not None for one in weights):
        weight = np.concatenate(
            [np.ones(s.size) if one is None else one for one, s in zip(weights, values, strict=True)]
        )
    return Tested(
        np.concatenate(labels), np.concatenate(values), weight, np.concatenate(groups) if groups else None
    )


class GroupColumn(NamedTuple):
    """A column of a table, or query numbers, as groups: that of each row by number, and their names."""

    name: str
    codes: NDArray[np.intp]
    names: NDArray[Any]

    @classmethod
    def read(cls, source: Any, name: str) -> GroupColumn:
        """From the files of a source, for the rows of its blocks; one pass, or an error at a missing value."""
        distinct, codes = distinct_values(source.column(name, "group"))
        # values that differ in spaces alone are one group, as in a training
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(name_group(value), len(names)) for value in distinct])[codes]
        if "" in names:
            row = int(np.argmax(codes == names[""]))
            raise ValueError(
                f"column {name!r} has no value in row {row:,}, counted from 0; each row needs a group."
            )
        return cls(name, codes, np.array(list(names), dtype=object))
