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
from mbauc.data.table.unlabelled import ScoringBlock, UnlabelledTable
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
    rows, total = _blocks(model.layout, paths, keep, on_error, model.classes)
    count = alarms = 0
    with _writer(out) as write, progress(total, "scoring", show=show) as advance:
        for block in rows:
            table = _scored(model, block, keep)
            write(table)
            count += table.num_rows
            if model.threshold is not None:
                alarms += int(np.count_nonzero(table["alarm"].to_numpy()))
            advance(table.num_rows)
    skipped = rows.skipped if isinstance(rows, UnlabelledTable) else None
    left_out = str(skipped) if skipped is not None and skipped.count else ""
    return {"rows": count, "alarms": alarms, "skipped": left_out}


def _blocks(
    layout: TableLayout | LibsvmLayout, paths: Any, keep: Sequence[str], on_error: str, classes: Any
) -> tuple[Any, int | None]:
    if isinstance(layout, TableLayout):
        table = UnlabelledTable(paths, layout.encoding, keep=keep, on_error=on_error)
        return table, table.n_rows
    if keep:
        raise ValueError("LIBSVM text has no columns to keep; leave out --id.")
    source = layout.source(paths, classes, on_error=on_error)
    return _numbered(source), source.about_rows


def _numbered(source: Any) -> Iterator[ScoringBlock]:
    arrow, first = pyarrow(), 0
    for block in source:
        yield ScoringBlock(block.X, arrow.table({}), first, None)
        first += block.X.shape[0]


def _scored(model: RankerModel, block: ScoringBlock, keep: Sequence[str]) -> Any:
    arrow = pyarrow()
    s = model.score(block.X)
    columns: dict[str, Any] = {}
    if keep:
        columns |= {name: block.kept[name] for name in keep}
    else:
        numbers = np.arange(s.size) if block.rows is None else block.rows
        columns["row"] = arrow.array(block.first + numbers)
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
    parquet = pyarrow("parquet")
    writer: Any = None

    def write(table: Any) -> None:
        nonlocal writer
        if writer is None:
            writer = parquet.ParquetWriter(stream, table.schema, compression="zstd")
        writer.write_table(table if table.schema == writer.schema else table.cast(writer.schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
