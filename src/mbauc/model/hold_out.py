"""Which rows a training is tested on: drawn at random, the last ones, whole clusters, or all by folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_number, check_whole
from mbauc.defaults import HOLD_OUT, SEED
from mbauc.errors import Advice
from mbauc.readers.table.columns.times import seconds_of_texts
from mbauc.readers.table.groups import distinct_values, name_group
from mbauc.rows.hashing.texts import hash_columns
from mbauc.rows.source import Source, about_rows, unpack_block
from mbauc.rows.split import GivenSplit, RandomSplit, Split

#: Ways to hold rows out.
WAYS = ("random", "last", "time", "cluster", "folds")
#: Folds where rows are few, and rows of the smaller class that a random part has to have.
_FOLDS, _ENOUGH = 5, 50
#: Rows up to which classes are counted to find out.
_COUNTED = 50_000
#: Share of the rows that may be held out at least and at most, where times are few.
_LEAST, _MOST = 0.02, 0.5


class FewTimesError(ValueError):
    """Times are too few to tell the last rows from the others."""


@dataclass(frozen=True)
class HoldOut:
    """Which rows are held out to test on.

    Attributes
    ----------
    share : float
        Of the rows, in [0, 1); 0 for none.
    seed : int
        Of what is drawn.
    by : {"random", "last", "time", "cluster", "folds"}
        Rows drawn at random; the last ones as they stand; those with the latest values of a column; all rows of
        some values of a column, drawn at random; or each row once, by folds.
    column : str or None
        The column of times or of clusters.
    """

    share: float = HOLD_OUT
    seed: int = SEED
    by: str = "random"
    column: str | None = None

    def __post_init__(self) -> None:
        check_number("hold_out", self.share, low=0.0, high=1.0, open_high=True)
        check_whole("seed", self.seed, low=0)
        check_choice("by", self.by, WAYS)

    @property
    def n_folds(self) -> int:
        """Folds by which each row is held out once; 1 for a part of the rows."""
        return _FOLDS if self.by == "folds" else 1

    def splits(self, source: Source) -> list[Split]:
        """The splits to test on, one for each fold."""
        if self.by == "folds":
            return [RandomSplit(self.share, self.seed, k, _FOLDS) for k in range(_FOLDS)]
        return [self.split(source)]

    def split(self, source: Source) -> Split:
        """Which rows of a source are held out; by a column in one pass."""
        if self.by == "random":
            return RandomSplit(self.share, self.seed)
        if self.by == "last":
            n_rows = _count(source)[0]
            return GivenSplit(np.arange(n_rows) >= n_rows - max(1, round(self.share * n_rows)))
        if self.column is None or not hasattr(source, "column"):
            raise ValueError(f"rows can be held out by {self.by} only with a table and the name of a column.")
        values = source.column(self.column, self.by)
        if self.by == "time":
            form = next((one.form for one in _columns(source) if one.name == self.column), "")
            return GivenSplit(_take_latest(values, self.share, self.column, form))
        return GivenSplit(_draw_clusters(values, self.share, self.seed, self.column))

    def clusters(self, source: Source, split: Split) -> NDArray[Any] | None:
        """Clusters of the rows that are held out, by number; None where rows are not held out by clusters."""
        if self.by != "cluster" or self.column is None or not isinstance(split, GivenSplit):
            return None
        values = source.column(self.column)  # type: ignore[attr-defined]
        return np.unique(values[split.mask].astype(str), return_inverse=True)[1]

    def describe(self) -> str:
        """In words, for people."""
        share = f"{100 * self.share:g}%"
        return {
            "random": f"{share} of the rows, drawn at random",
            "last": f"the last {share} of the rows",
            "time": f"the latest {share} of the rows by {self.column!r}",
            "cluster": f"the rows of {share} of the values of {self.column!r}",
            "folds": f"all rows, by {_FOLDS}-fold cross-validation",
        }[self.by]

    def to_record(self) -> dict[str, Any]:
        """For the record of a model; a random part as it has always been written."""
        return {"share": self.share, "seed": self.seed} if self.by == "random" else asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> HoldOut:
        """What :meth:`to_record` gave."""
        return cls(**record)


def choose_hold_out(source: Source, hold_out: HoldOut, *, grouped: bool, folds: bool) -> tuple[HoldOut, str]:
    """How to test on a source where nobody says how, and why.

    A table with a column of times is tested on its end; rows of groups at random, whole groups; where random
    rows would be too few for an interval, each row is tested once, by folds. These test several models: pass
    ``folds=False`` where the one that was tested is kept.
    """
    if hold_out.share == 0 or hold_out.by != "random" or grouped:
        return hold_out, ""
    # the time of day comes back each day: none of its values is the latest
    times = [one.name for one in _columns(source) if one.kind == "time" and one.form != "time of day"]
    for name in times:
        found = HoldOut(hold_out.share, hold_out.seed, "time", name)
        try:
            found.split(source)
        except FewTimesError:
            continue
        return found, f"{name!r} is a time, and new rows will be later than the training rows"
    known = about_rows(source)
    if folds and known is not None and known <= _COUNTED:
        n_rows, positives = _count(source)
        if hold_out.share * min(positives, n_rows - positives) < _ENOUGH:
            return HoldOut(hold_out.share, hold_out.seed, "folds"), "a held-out share would have too few rows"
    return hold_out, ""


def tested_late(record: Mapping[str, Any]) -> bool:
    """Whether the test of a model was on the last rows, by the model's record."""
    tested = record.get("tested")
    where = str(tested.get("rows", "")) if isinstance(tested, Mapping) else ""
    return where.startswith(("the last ", "the latest "))


def _columns(source: Source) -> tuple[Any, ...]:
    """What is known of the columns of a source of a table; nothing of others."""
    plan = getattr(source, "plan", None)
    return () if plan is None else tuple(plan.columns)


def _count(source: Source) -> tuple[int, int]:
    """Rows that can be used, and positive ones, in one pass."""
    rows = positives = 0
    for raw in source:
        labels = np.asarray(unpack_block(raw, "the source")[1])
        rows += labels.size
        positives += int(np.count_nonzero(labels == 1))
    return rows, positives


def _take_latest(values: NDArray[Any], share: float, name: str, form: str) -> NDArray[np.bool_]:
    """The rows of the latest times, all rows of a time on one side; a missing time is not late."""
    times = _as_numbers(values, name, form)
    known = np.isfinite(times)
    distinct, counts = np.unique(times[known], return_counts=True)
    later = np.append(np.cumsum(counts[::-1])[::-1][1:], 0) / max(values.size, 1)
    usable = np.flatnonzero((later >= min(_LEAST, share)) & (later <= max(_MOST, share)))
    if not usable.size:
        raise FewTimesError(
            f"column {name!r} has {distinct.size:,} distinct times, too few to hold out the latest "
            f"{100 * share:g}% of the rows. " + Advice("Use {hold_out} to take them at random.", hold_out=share)
        )
    cut = distinct[usable[np.argmin(np.abs(later[usable] - share))]]
    return np.asarray(known & (times > cut))


def _as_numbers(values: NDArray[Any], name: str, form: str) -> NDArray[np.float64]:
    """Times as numbers in their order, NaN where they are missing."""
    if values.dtype.kind == "M":
        numbers = values.astype("datetime64[us]").astype(np.int64).astype(np.float64)
        return np.where(np.isnat(values), np.nan, numbers)
    if values.dtype.kind == "b":
        raise ValueError(
            f"column {name!r} must hold times to hold out the latest rows, but holds booleans. Name a column "
            "of times, or of numbers that grow with time."
        )
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    places: dict[str, int] = {}
    texts = ("" if value is None else str(value) for value in values)
    codes = np.fromiter((places.setdefault(text, len(places)) for text in texts), np.intp, values.size)
    distinct = list(places)
    seconds, wrong = seconds_of_texts(distinct, form)
    if wrong.any():
        row = int(np.argmax(wrong[codes]))
        raise ValueError(
            f"column {name!r} must hold times to hold out the latest rows, but row {row:,} (counted from 0) "
            f"has {distinct[codes[row]]!r}. Write them as 2014-10-21 05:00 or as numbers. "
            + Advice("Dates that end with the year need {types}, or month-first.", types={name: "day-first"})
        )
    return np.asarray(seconds[codes])


def _draw_clusters(values: NDArray[Any], share: float, seed: int, name: str) -> NDArray[np.bool_]:
    """All rows of some values, drawn by a keyed hash: at least two, which an interval needs, and not all."""
    distinct, codes = distinct_values(values)
    missing = np.array([not name_group(value) for value in distinct], dtype=np.bool_)[codes]
    if missing.any():
        raise ValueError(
            f"column {name!r} has no value in row {int(np.argmax(missing)):,}, counted from 0; each row needs "
            "a cluster. Name it, or leave the row out."
        )
    _, cluster = np.unique(values.astype(str), return_inverse=True)
    n_clusters = int(cluster.max(initial=-1)) + 1
    if n_clusters < 3:
        raise ValueError(
            f"column {name!r} has {n_clusters} distinct values, too few to hold whole clusters out: two are "
            "needed to test on and one to train on."
        )
    keys = hash_columns(np.arange(n_clusters, dtype=np.uint64))
    keys = hash_columns(keys ^ hash_columns(np.array([int(seed)])))
    drawn = keys < np.uint64(int(share * 2.0**64))
    order = np.argsort(keys)
    drawn[order[:2]], drawn[order[-1]] = True, False
    return np.asarray(drawn[cluster])
