"""Scores of the rows of files as a table, block by block."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mbauc.checks import check_whole
from mbauc.model.model import RankerModel
from mbauc.model.reasons import ExplainedScores, explain_blocks
from mbauc.readers.input_files import is_read
from mbauc.readers.table.arrow import pyarrow
from mbauc.runtime.progress import progress
from mbauc.store.atomic import atomic_write

_PARQUET = (".parquet", ".parq", ".pq")
#: Endings of compressed files that are not written.
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd", ".lz4", ".zip", ".7z")
#: Endings that promise something else.
_OTHERS = (".xlsx", ".xls", ".json", ".jsonl", ".feather", ".arrow", ".orc", ".html", ".mbauc")


def table_format(out: str | os.PathLike[str]) -> str:
    """What a table of scores is to be, by the name of its file: "parquet", "csv.gz", or "csv" otherwise.

    Raises
    ------
    ValueError
        For the endings of other compressed files, and of what is no table of text.

    Examples
    --------
    >>> table_format("scores.csv.gz"), table_format("scores.pq"), table_format("scores")
    ('csv.gz', 'parquet', 'csv')
    """
    before, last = ["", "", *(ending.lower() for ending in Path(out).suffixes)][-2:]
    if last in _PARQUET:
        return "parquet"
    if last == ".gz" and before not in _PARQUET:
        return "csv.gz"
    if last in _PACKED or last in _OTHERS:
        raise ValueError(f"{out}: expected a name that ends in .parquet, .csv or .csv.gz, got {before + last}.")
    return "csv"


def score_files(
    model: RankerModel,
    paths: Any,
    out: str | os.PathLike[str] | None,
    *,
    keep: Sequence[str] = (),
    reasons: int = 0,
    on_error: Literal["stop", "skip"] = "stop",
    verbose: bool = False,
) -> dict[str, Any]:
    r"""Score files and write a table: Parquet if ``out`` ends in .parquet, otherwise CSV, compressed for .gz.

    The table has the columns of ``keep``, or by default the row number (``row``: from 0 over all files,
    including skipped rows); then ``score``, ``probability``, ``alarm`` if the model has a threshold, and
    ``reason_1``, ``reason_2``, … if requested. Memory: a few blocks of rows.

    Parameters
    ----------
    model : RankerModel
        Model to score with.
    paths : path or sequence of paths
        Files in the format of the training data; labels are not needed. Lines of LIBSVM text must begin with
        any number in place of the label.
    out : path or None
        File to write, atomically; None for CSV on standard output.
    keep : sequence of str, default=()
        Columns of the files to copy to the output.
    reasons : int, default=0
        Number of reasons: the columns that raise the score most, as texts such as ``amount=950 (+1.32)`` with
        the value and its contribution in log-odds, as in ``mbauc explain``. A row has fewer reasons if fewer
        columns contribute 0.005 or more.
    on_error : {"stop", "skip"}, default="stop"
        Whether an invalid row raises an error or is skipped.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Returns
    -------
    dict
        Counts of ``rows`` scored, ``alarms`` and ``skipped`` rows; ``left_out``, the reasons for skipping in
        words; and, for a CSV file, ``formulas``: texts that a spreadsheet would interpret as formulas.

    Raises
    ------
    ValueError
        At an invalid row, or, with ``on_error="skip"``, if all rows are invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc import MBAClassifier
    >>> from mbauc.readers import TableSource
    >>> from mbauc.model import RankerModel, score_files
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "clicks.csv").write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,0.7\n0,c,1.0\n1,b,1.1\n")
    >>> source = TableSource(folder / "clicks.csv", label="click", encode="onehot")
    >>> ranker = MBAClassifier(l2=0.1).fit_source(source)
    >>> model = RankerModel.of(ranker, source.layout, source.classes)
    >>> _ = (folder / "today.csv").write_text("site,bid\nb,2.0\na,2.0\n")
    >>> score_files(model, folder / "today.csv", folder / "scores.csv")["rows"]
    2
    >>> (folder / "scores.csv").read_text().splitlines()[0]
    '"row","score","probability"'
    >>> _ = score_files(model, folder / "today.csv", folder / "why.csv", reasons=1)
    >>> [line.split(",")[-1] for line in (folder / "why.csv").read_text().splitlines()]
    ['"reason_1"', '"site=b (+117.84)"', '"bid=2 (+109.63)"']
    """
    check_whole("reasons", reasons, low=0)
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    if out is not None and is_read(out, [path for path in given if isinstance(path, str | os.PathLike)]):
        raise ValueError(f"out={os.fspath(out)!r} would replace a file that is read; name another one.")
    rows = model.layout.unlabelled(paths, model.classes, on_error=on_error)
    blocks = explain_blocks(model, rows, keep, reasons) if reasons else _score_blocks(model, rows, keep)
    count = alarms = formulas = 0
    text = out is None or table_format(out) != "parquet"
    with _writer(out) as write, progress(rows.about_rows, "scoring", show=verbose) as advance:
        for numbers, s, kept, texts in blocks:
            table = _table(model, numbers, kept, s, texts)
            write(table)
            count += s.size
            formulas += _formulas(table) if text else 0
            if model.threshold is not None:
                alarms += int(np.count_nonzero(s > model.threshold.value))
            advance(s.size)
        if not count and rows.skipped.count:  # before the file is in its place
            raise ValueError("no row could be scored, and nothing was written; " + str(rows.skipped))
    left_out = str(rows.skipped) if rows.skipped.count else ""
    return {
        "rows": count,
        "alarms": alarms,
        "skipped": rows.skipped.count,
        "left_out": left_out,
        "formulas": formulas,
    }


def _score_blocks(model: RankerModel, rows: Any, keep: Sequence[str]) -> Iterator[ExplainedScores]:
    features = None if model.terms is None else model.terms.features
    for numbers, scores, kept in rows.score_rows(model.coef, keep, features):
        yield ExplainedScores(numbers, scores + model.intercept, kept, [])


def _table(model: RankerModel, numbers: Any, kept: Any, s: Any, reasons: Sequence[Any]) -> Any:
    """Scores as an Arrow table, beside the columns to pass on or the numbers of the rows."""
    arrow = pyarrow()
    columns: dict[str, Any] = {name: kept[name] for name in kept.column_names} if kept is not None else {}
    if not columns:
        columns["row"] = arrow.array(numbers)
    for name, values in (("score", s), ("probability", model.probability(s))):
        columns[_free(name, columns)] = arrow.array(values)
    if model.threshold is not None:
        columns[_free("alarm", columns)] = arrow.array(s > model.threshold.value)
    for place, texts in enumerate(reasons, 1):
        columns[_free(f"reason_{place}", columns)] = arrow.array(texts, type=arrow.string())
    return arrow.table(columns)


def _formulas(table: Any) -> int:
    """How many texts a spreadsheet would run: they begin as formulas do, and are no numbers."""
    compute, found = pyarrow("compute"), 0
    for column in table.columns:
        if pyarrow().types.is_string(column.type):
            begins = compute.match_substring_regex(column, r"^[=+@\t\r-]")
            number = compute.match_substring_regex(column, r"^[+-]?[\d., ()/-]*$")
            found += compute.sum(compute.and_(begins, compute.invert(number))).as_py() or 0
    return int(found)


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
    kind = table_format(out)
    with atomic_write(out) as stream:
        if kind == "csv.gz":
            # no name and no time in it: the same scores give the same bytes
            with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed, _csv(packed) as write:
                yield write
        else:
            with (_parquet if kind == "parquet" else _csv)(stream) as write:
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
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
