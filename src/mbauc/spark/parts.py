"""Parts of a Spark DataFrame: a job is one mapInArrow, and a tree of merges behind it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from mbauc.cluster.parts import FAN_IN, Merge, Task, merge_in_order
from mbauc.cluster.rank_sums import RankedScores, RankSums
from mbauc.errors import PartError
from mbauc.spark.columns import Columns

#: What a task sends back: its part, whether it failed, and its pickled result or error.
_RESULT = "part long, failed boolean, payload binary"
_SCHEMA = pa.schema([("part", pa.int64()), ("failed", pa.bool_()), ("payload", pa.binary())])
#: Results that the driver merges itself, without a tree.
_AT_THE_DRIVER = 8

Items = Callable[[Iterable[pa.RecordBatch]], Iterable[Any]]


class SparkParts:
    """Partitions of a DataFrame; see :class:`mbauc.cluster.parts.Parts`.

    Parameters
    ----------
    frame : DataFrame
        With the columns that ``items`` reads.
    items : callable
        Items of a part from its Arrow batches.
    labels : SparkParts, optional
        The same rows without features.
    """

    #: A cell of a Spark row has at most 2³¹ bytes.
    largest_result = 1.8e9

    def __init__(self, frame: DataFrame, items: Items, labels: SparkParts | None = None) -> None:
        self._frame, self._items, self._labels = frame, items, labels
        self._persisted = False

    @classmethod
    def of(cls, frame: DataFrame, columns: Columns) -> SparkParts:
        """Blocks of the rows of a DataFrame."""
        bare = columns.without_features()
        labels = cls(frame.select(*map(column_named, bare.names)), bare.blocks)
        return cls(frame.select(*map(column_named, columns.names)), columns.blocks, labels)

    def merged(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree."""
        results = self._mapped(task)
        for _ in range(_levels(self._frame)):
            groups = results.withColumn("part", F.floor(F.col("part") / FAN_IN))
            results = groups.groupBy("part").applyInArrow(_merging(merge), _RESULT)
        return merge_in_order(merge, _opened(results))

    def collected(self, task: Task) -> list[Any]:
        """The results of all parts, in their order."""
        return _opened(self._mapped(task))

    def kept(self, task: Task) -> SparkParts:
        """Parts of what a task makes of each part, held by the executors, on disk if memory is short."""
        return SparkParts(self._mapped(task, each=True), _unpickled)._held()

    def steady(self) -> SparkParts:
        """The same parts, cached: a shuffle, or columns left out, would put rows into other places."""
        kept = SparkParts(self._frame.select("*"), self._items)._held()
        if self._labels is not None:
            names = map(column_named, self._labels._frame.columns)
            kept._labels = SparkParts(kept._frame.select(*names), self._labels._items)
        return kept

    def _held(self) -> SparkParts:
        self._frame, self._persisted = self._frame.persist(StorageLevel.MEMORY_AND_DISK), True
        return self

    def without_features(self) -> SparkParts:
        """The same rows as labels, weights and ids alone."""
        return self if self._labels is None else self._labels

    def ranked(self, task: Task) -> RankSums:
        """Sort the scores of all parts into ranges, and sum up each where it lies."""
        scores = self._frame.mapInArrow(
            _Scores(task, self._items), "positive boolean, score double, weight double, failed binary"
        ).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            failed = scores.where("failed is not null").limit(1).collect()
            if failed:
                raise pickle.loads(failed[0].failed)
            ranges = scores.repartitionByRange(F.col("score")).mapInArrow(_Ranks(), _RESULT)
            sums = _opened(ranges)
        finally:
            scores.unpersist()
        result: RankSums = sum(sums[1:], sums[0])
        return result

    def release(self) -> None:
        """Let go of the parts, if they are held here; what a caller has cached stays."""
        if self._persisted:
            self._frame.unpersist()

    def _mapped(self, task: Task, each: bool = False) -> DataFrame:
        return self._frame.mapInArrow(_Running(task, self._items, each), _RESULT)


class _Running:
    """Runs a task on the batches of a partition; sends its result, or each item of it."""

    def __init__(self, task: Task, items: Items, each: bool) -> None:
        self._task, self._items, self._each = task, items, each

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = TaskContext.get().partitionId()
        try:
            result = self._task(number, self._items(batches))
        except ValueError as error:
            # an error in the data is a result: Spark would try again, and bury it in a trace
            yield _row(number, _as_part_error(number, error), failed=True)
            return
        for one in result if self._each else [result]:
            yield _row(number, one)


def _merging(merge: Merge) -> Callable[[tuple[Any, ...], pa.Table], pa.Table]:
    """Merges the results of neighbouring parts; a plain function, because Spark looks at its signature."""

    def merged(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        rows, number = table.to_pylist(), key[0].as_py()
        failed = [pickle.loads(row["payload"]) for row in rows if row["failed"]]
        if failed:
            first = min(failed, key=lambda error: error.part)
            return pa.Table.from_batches([_row(number, first, failed=True)])
        results = sorted((pickle.loads(row["payload"]) for row in rows), key=lambda pair: pair[0])
        together = merge_in_order(merge, [result for _, result in results])
        return pa.Table.from_batches([_row(number, together, place=results[0][0])])

    merged.__annotations__ = {"key": tuple[pa.Scalar, ...], "table": pa.Table, "return": pa.Table}
    return merged


class _Scores:
    """Scores of a partition as rows to be sorted."""

    def __init__(self, task: Task, items: Items) -> None:
        self._task, self._items = task, items

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number, failure = TaskContext.get().partitionId(), None
        try:
            positive, values, weight = self._task(number, self._items(batches))
        except ValueError as error:
            failure = pickle.dumps(_as_part_error(number, error))
            positive, values, weight = np.zeros(1, dtype=bool), np.zeros(1), None
        weights = np.ones(values.size) if weight is None else weight
        failed = pa.array([failure] * values.size, pa.binary())
        yield pa.RecordBatch.from_arrays(
            [pa.array(positive), pa.array(values), pa.array(weights), failed],
            names=["positive", "score", "weight", "failed"],
        )


class _Ranks:
    """Sums up a range of scores."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number = TaskContext.get().partitionId()
        found = list(batches)
        sums = RankSums()
        if found:
            table = pa.Table.from_batches(found)
            arrays = [table[name].to_numpy() for name in ("positive", "score", "weight")]
            sums = RankSums.of(RankedScores(arrays[0].astype(bool), arrays[1], arrays[2]))
        yield _row(number, sums)


def _row(part: int, result: Any, *, failed: bool = False, place: int | None = None) -> pa.RecordBatch:
    """A result as a batch of one row; results carry the first of the parts that they come from."""
    payload = pickle.dumps(result if failed else (part if place is None else place, result), protocol=5)
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int64()), pa.array([failed]), pa.array([payload], pa.binary())], schema=_SCHEMA
    )


def _unpickled(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """Items that a task kept; its error is raised again."""
    for batch in batches:
        for failed, payload in zip(batch["failed"], batch["payload"], strict=True):
            found = pickle.loads(payload.as_buffer())
            if failed.as_py():
                raise found
            yield found[1]


def _opened(results: DataFrame) -> list[Any]:
    """The results of all parts at the driver, in the order of the parts."""
    rows = results.collect()
    failed = [pickle.loads(row.payload) for row in rows if row.failed]
    if failed:
        raise min(failed, key=lambda error: error.part)
    pairs = sorted((pickle.loads(row.payload) for row in rows), key=lambda pair: pair[0])
    return [result for _, result in pairs]


def _as_part_error(number: int, error: ValueError) -> PartError:
    return error if isinstance(error, PartError) else PartError(number, str(error))


def _levels(frame: DataFrame) -> int:
    """Levels of merges before the driver takes over."""
    count, levels = frame.rdd.getNumPartitions(), 0
    while count > _AT_THE_DRIVER:
        count, levels = -(-count // FAN_IN), levels + 1
    return levels


def column_named(name: str) -> Any:
    """A column by its very name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")
