"""What Spark runs in Python on an executor, from Arrow batches to Arrow batches."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from mbauc.errors import PartError
from mbauc.metrics.ranked import RankedScores
from mbauc.rows.parts.protocol import Merge, Task
from mbauc.runtime.threads import single_threaded_blas

#: What a task sends back: its part, whether it failed, and its pickled result or error.
RESULT = "part long, failed boolean, payload binary"
_RESULT_SCHEMA = pa.schema([("part", pa.int64()), ("failed", pa.bool_()), ("payload", pa.binary())])
#: Scores as rows to be sorted; ``failed`` is a pickled error.
SCORES = "positive boolean, score double, weight double, failed binary"
_SCORES_SCHEMA = pa.schema(
    [("positive", pa.bool_()), ("score", pa.float64()), ("weight", pa.float64()), ("failed", pa.binary())]
)

#: Items of a part from its Arrow batches.
Items = Callable[[Iterable[pa.RecordBatch]], Iterable[Any]]


class Running:
    """Runs a task on the batches of a partition; sends its result, or each item of it."""

    def __init__(self, task: Task, items: Items, each: bool = False) -> None:
        self._task, self._items, self._each = task, items, each

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For mapInArrow."""
        number = TaskContext.get().partitionId()
        try:
            # other tasks are at work on the other cores
            with single_threaded_blas():
                result = self._task(number, self._items(batches))
        except ValueError as error:
            # an error in the data is a result: Spark would try again, and bury it in a trace
            yield _row(number, _as_part_error(number, error), failed=True)
            return
        for one in result if self._each else [result]:
            yield _row(number, one)


def make_merger(merge: Merge) -> Callable[[tuple[Any, ...], pa.Table], pa.Table]:
    """Merges the results of neighbouring parts; a plain function, because Spark looks at its signature."""

    def merged(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        # one after the other where they are: a sorted copy of large ones would be beyond Arrow's 2 GB
        number, order = key[0].as_py(), np.argsort(table["part"].to_numpy(), kind="stable").tolist()
        failed, payloads = table["failed"].to_pylist(), table["payload"]
        for place in order:
            if failed[place]:
                return pa.Table.from_batches([_row(number, open_payload(payloads[place]), failed=True)])
        return pa.Table.from_batches([_row(number, _merge_payloads(merge, [payloads[k] for k in order]))])

    merged.__annotations__ = {"key": tuple[pa.Scalar, ...], "table": pa.Table, "return": pa.Table}
    return merged


def _merge_payloads(merge: Merge, payloads: list[Any]) -> Any:
    """One result of several that stand in order, which are opened one at a time."""
    with single_threaded_blas():  # other tasks are at work on the other cores
        return reduce(merge, map(open_payload, payloads))


class Scoring:
    """Scores of a partition as rows to be sorted."""

    def __init__(self, task: Task, items: Items) -> None:
        self._task, self._items = task, items

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For mapInArrow."""
        number, failure = TaskContext.get().partitionId(), None
        try:
            scores = self._task(number, self._items(batches))
        except ValueError as error:
            failure = pickle.dumps(_as_part_error(number, error))
            scores = RankedScores(np.zeros(1, dtype=bool), np.zeros(1))
        failed = pa.array([failure] * scores.values.size, pa.binary())
        yield pa.RecordBatch.from_arrays(
            [pa.array(scores.positive), pa.array(scores.values), pa.array(scores.weights), failed],
            names=["positive", "score", "weight", "failed"],
        )


def make_ranker(
    summarise: Callable[[Any], Any],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Sums up a range of scores."""

    def rank(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches), _SCORES_SCHEMA)
        positive, score, weight = (table[name].to_numpy() for name in ("positive", "score", "weight"))
        yield _row(
            TaskContext.get().partitionId(), summarise(RankedScores(positive.astype(bool), score, weight))
        )

    return rank


def unpickle(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """Items that a task kept; its error is raised again."""
    for batch in batches:
        for failed, payload in zip(batch["failed"], batch["payload"], strict=True):
            found = open_payload(payload)
            if failed.as_py():
                raise found
            yield found


def open_payload(payload: Any) -> Any:
    """A result or an error, from the scalar that it was sent as."""
    return pickle.loads(payload.as_buffer())


def _row(part: int, result: Any, *, failed: bool = False) -> pa.RecordBatch:
    payload = pickle.dumps(result, protocol=5)
    return pa.RecordBatch.from_arrays(
        [pa.array([part], pa.int64()), pa.array([failed]), pa.array([payload], pa.binary())],
        schema=_RESULT_SCHEMA,
    )


def _as_part_error(number: int, error: ValueError) -> PartError:
    return error if isinstance(error, PartError) else PartError(number, str(error))
