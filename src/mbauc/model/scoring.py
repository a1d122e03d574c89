"""Scores of the rows of files as a table, block by block."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mbauc.atomic import atomic_write
from mbauc.data.table.arrow import pyarrow
from mbauc.data.table.feature_scores import feature_scores
from mbauc.data.table.unlabelled import UnlabelledTable
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel
from mbauc.progress import progress


def score_files(
    model: RankerModel,
    paths: Any,
    out: str | os.PathLike[str] | None,
    *,
    keep: Sequence[str] = (),
    on_error: str = "stop",
    show: bool = False,
) -> dict[str, Any]:
    """Score files and write a table: Parquet if ``out`` ends in .parquet, CSV otherwise.

    The table has the columns of ``keep``, or the number of each row (``row``, from 0) if there are none; then
    ``score``, ``probability`` and, if the model has a threshold, ``alarm``. Memory: a few blocks of rows.

    Parameters
    ----------
    model : RankerModel
        What to score with.
    paths : path or sequence of paths
        Files like those that it was trained on; labels are not needed.
    out : path or None
        File to write, whole or not at all; None for CSV on standard output.
    keep : sequence of str
        Columns of the files to pass on.
    on_error : {"stop", "skip"}
        What to do at a row that cannot be read.
    show : bool
        Show a progress bar on a terminal.

    Returns
    -------
    dict
        Rows scored, alarms, and what was left out, in words.
    """
    rows, total = _rows(model.layout, paths, keep, on_error, model.classes)
    count = alarms = 0
    with _writer(out) as write, progress(total, "scoring", show=show) as advance:
        for first, numbers, kept, s in _scored(model, rows):
            table = _table(model, first, numbers, kept, s)
            write(table)
            count += s.size
            if model.threshold is not None:
                alarms += int(np.count_nonzero(s > model.threshold.value))
            advance(s.size)
    skipped = rows.skipped if isinstance(rows, UnlabelledTable) else None
    left_out = str(skipped) if skipped is not None and skipped.count else ""
    return {"rows": count, "alarms": alarms, "skipped": left_out}


def _rows(
    layout: TableLayout | LibsvmLayout, paths: Any, keep: Sequence[str], on_error: str, classes: Any
) -> tuple[Any, int | None]:
    """Rows without their labels, and how many there are if that is known."""
    if isinstance(layout, TableLayout):
        table = UnlabelledTable(paths, layout.encoding, keep=keep, on_error=on_error)
        return table, table.about_rows
    if keep:
        raise ValueError("LIBSVM text has no columns to keep; leave out --id.")
    source = layout.source(paths, classes, on_error=on_error)
    return source, source.about_rows


def _scored(model: RankerModel, rows: Any) -> Iterator[tuple[int, Any, Any, Any]]:
    """For each block its first row, the numbers of its rows from there, columns to pass on, and scores."""
    if isinstance(model.layout, TableLayout):
        for block in rows:
            s = feature_scores(model.layout.encoding, block.features, model.coef) + model.intercept
            yield block.first, np.arange(s.size) if block.rows is None else block.rows, block.kept, s
        return
    first = 0
    for block in rows:
        s = model.score(block.X)
        yield first, np.arange(s.size), None, s
        first += s.size


def _table(model: RankerModel, first: int, numbers: Any, kept: Any, s: Any) -> Any:
    """Scores as an Arrow table, beside the columns to pass on or the numbers of the rows."""
    arrow = pyarrow()
    columns: dict[str, Any] = {name: kept[name] for name in kept.column_names} if kept is not None else {}
    if not columns:
        columns["row"] = arrow.array(first + numbers)
    for name, values in (("score", s), ("probability", model.probability(s))):
        columns[_free(name, columns)] = arrow.array(values)
    if model.threshold is not None:
        columns[_free("alarm", columns)] = arrow.array(s > model.threshold.value)
    return arrow.table(columns)


def _free(name: str, taken: Any) -> str:
    """A name that no kept column has."""
    while name in taken:
        name += "_"
    return name


@contextmanager
def _writer(out: str | os.PathLike[str] | None) -> Iterator[Any]:
    """What writes tables one after the other to a file that is whole at the end, or not there."""
    if out is None:
        with _csv(sys.stdout.buffer) as write:
            yield write
        return
    parquet = Path(out).suffix.lower() in (".parquet", ".parq", ".pq")
    with atomic_write(out) as stream, (_parquet if parquet else _csv)(stream) as write:
        yield write


@contextmanager
def _csv(stream: Any) -> Iterator[Any]:
    csv = pyarrow("csv")
    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = csv.CSVWriter(stream, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _parquet(stream: Any) -> Iterator[Any]:
    arrow, parquet = pyarrow(), pyarrow("parquet")
    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            # scores are all different, so that a dictionary of them would be larger and take longer
            texts = [field.name for field in table.schema if not arrow.types.is_primitive(field.type)]
            writer = parquet.ParquetWriter(stream, table.schema, compression="zstd", use_dictionary=texts)
        writer.write_table(table if table.schema == writer.schema else table.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
