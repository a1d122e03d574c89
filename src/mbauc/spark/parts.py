"""Parts of a Spark DataFrame: a job is one mapInArrow, and a tree of merges behind it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.storagelevel import StorageLevel

from mbauc.rows.parts.protocol import TOGETHER, Kind, Merge, Task, fan_in
from mbauc.runtime.memory import parse_memory
from mbauc.spark.columns import Columns
from mbauc.spark.tasks import RESULT, SCORES, Items, Running, Scoring, make_merger, make_ranker, unpickle

#: A cell of a Spark row has at most 2³¹ bytes.
_CELL = 1.8e9
#: Results that the driver merges itself, at most.
_AT_THE_DRIVER = 8
#: Share of what the driver accepts from a job that results may take.
_SHARE = 0.8

_LIMIT = "spark.driver.maxResultSize"


class SparkParts:
    """Partitions of a DataFrame; see :class:`mbauc.rows.parts.protocol.Parts`.

    Parameters
    ----------
    frame : DataFrame
        With the columns that ``items`` reads.
    items : callable
        Items of a part from its Arrow batches.
    labels : SparkParts, optional
        The same rows without features.
    still : bool, default=False
        Whether the caller has cached the rows, which then keep their places.
    """

    kind: Kind = "cluster"

    def __init__(
        self, frame: DataFrame, items: Items, labels: SparkParts | None = None, *, still: bool = False
    ) -> None:
        self._frame, self._items, self._labels, self._still = frame, items, labels, still
        self._persisted, self._result_limit = False, _result_limit(frame)
        self.largest_result = min(_CELL, _SHARE * self._result_limit)
        #: How many results the first job had, and the size of the largest.
        self._results: tuple[int, int] | None = None

    @classmethod
    def from_frame(cls, frame: DataFrame, columns: Columns) -> SparkParts:
        """Blocks of the rows of a DataFrame."""
        # mapInArrow trips over dots and backticks
        sources = {name: exact_column(name) for name in columns.names}
        if _share_dtype(frame, columns.features):
            # one array a row goes to Python faster than as many numbers
            together = F.array(*[sources[name] for name in columns.features])
            columns = columns.in_one_array()
            sources = {name: sources.get(name, together) for name in columns.names}
        plain = {name: f"c{number}" for number, name in enumerate(sources)}
        rows = frame.select(*[sources[name].alias(alias) for name, alias in plain.items()])
        bare = columns.labels_only()
        labels = cls(rows.select(*[plain[name] for name in bare.names]), bare.blocks)
        return cls(rows, columns.blocks, labels, still=frame.storageLevel != StorageLevel.NONE)

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree."""
        results = self._run(task)
        if self._results is not None:
            return self._merge(results, merge)
        # only now is it known how many parts an adaptive plan has: their results wait where they are
        with _hold_frame(results) as waiting:
            error = F.when(F.col("failed"), F.col("payload")).alias("error")
            found = waiting.select("part", "failed", F.length("payload").alias("size"), error).collect()
            _raise_first([row.error for row in sorted(found, key=_part) if row.failed])
            if not found:
                raise ValueError("there are no rows; at least one row of each class is needed.")
            self._results = len(found), max(row.size for row in found)
            return self._merge(waiting, merge)

    def _merge(self, results: DataFrame, merge: Merge) -> Any:
        left, size = self._results or (0, 0)
        n, room = fan_in(size), min(_SHARE * self._result_limit, TOGETHER)
        while left > 1 and (left > _AT_THE_DRIVER or left * size > room):
            left = -(-left // n)
            groups = results.withColumn("group", F.floor(F.col("part") / n)).repartition(left, "group")
            results = groups.groupBy("group").applyInArrow(make_merger(merge), RESULT)
        return reduce(merge, _collect(results))

    def collect(self, task: Task) -> list[Any]:
        """The results of all parts, in their order."""
        return _collect(self._run(task))

    def persist(self, task: Task) -> SparkParts:
        """Parts of what a task makes of each part, held by the executors, on disk if memory is short."""
        return SparkParts(self._run(task, each=True), unpickle)._hold()

    def fix_order(self) -> SparkParts:
        """The same parts, cached: a shuffle, or columns left out, would put rows into other places."""
        if self._still:
            return SparkParts(self._frame, self._items, self._labels)
        steady = SparkParts(self._frame, self._items)._hold()
        if self._labels is not None:
            labels = steady._frame.select(*self._labels._frame.columns)
            steady._labels = SparkParts(labels, self._labels._items)
        return steady

    def labels_only(self) -> SparkParts:
        """The same rows as labels, weights and ids alone."""
        return self if self._labels is None else self._labels

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sort the scores of all parts into ranges, and sum up each where it lies."""
        with _hold_frame(self._frame.mapInArrow(Scoring(task, self._items), SCORES)) as scores:
            failed = scores.where("failed is not null").limit(1).collect()
            _raise_first([row.failed for row in failed])
            sums = _collect(scores.repartitionByRange("score").mapInArrow(make_ranker(summarise), RESULT))
        return sum(sums[1:], sums[0])

    def preview(self) -> None:
        """None: a look at the rows would be a job."""
        return None

    def release(self) -> None:
        """Let go of the parts, if they are held here; what a caller has cached stays."""
        if self._persisted:
            self._frame.unpersist()

    def _run(self, task: Task, each: bool = False) -> DataFrame:
        return self._frame.mapInArrow(Running(task, self._items, each), RESULT)

    def _hold(self) -> SparkParts:
        self._frame, self._persisted = _detach(self._frame).persist(StorageLevel.MEMORY_AND_DISK), True
        return self


def _share_dtype(frame: DataFrame, names: tuple[str, ...]) -> bool:
    """Whether several columns hold floating-point numbers of one size."""
    kinds = {name: field.dataType for name, field in zip(frame.columns, frame.schema.fields, strict=True)}
    found = {kinds.get(name) for name in names}
    return len(names) > 1 and found in ({T.FloatType()}, {T.DoubleType()})


@contextmanager
def _hold_frame(frame: DataFrame) -> Iterator[DataFrame]:
    held = _detach(frame).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield held
    finally:
        held.unpersist()


def _detach(frame: DataFrame) -> DataFrame:
    """The same rows as a plan that nobody else can have cached, so that letting it go takes nothing away."""
    token = F.lit(uuid4().hex)
    return frame.where(token == token)


def _collect(results: DataFrame) -> list[Any]:
    """The results of all parts at the driver, in the order of the parts."""
    try:
        rows = sorted(results.collect(), key=_part)
    except Exception as error:
        if _LIMIT not in str(error):
            raise
        raise ValueError(
            f"the results of a job are larger than the driver accepts ({_LIMIT}="
            f"{results.sparkSession.conf.get(_LIMIT, '1g')!r}); raise it when the session is started, or ask "
            "for fewer columns, pairs or settings at a time."
        ) from None
    _raise_first([row.payload for row in rows if row.failed])
    return [pickle.loads(row.payload) for row in rows]


def _part(row: Any) -> int:
    return int(row.part)


def _raise_first(errors: list[Any]) -> None:
    if errors:
        raise pickle.loads(errors[0])


def _result_limit(frame: DataFrame) -> float:
    """Bytes that the driver accepts from a job."""
    said = frame.sparkSession.conf.get(_LIMIT, "1g")
    size = int(said) if said.isdigit() else parse_memory(said, _LIMIT)
    return float(size) if size else float("inf")


def exact_column(name: str) -> Any:
    """A column by its very name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")
