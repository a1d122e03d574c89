"""Table files opened as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mbauc.readers.table.files.csv_table import CsvTable
from mbauc.readers.table.files.frame_table import FrameTable, is_frame
from mbauc.readers.table.files.parquet_table import ParquetTable
from mbauc.readers.table.files.paths import find_tables

Table = CsvTable | ParquetTable | FrameTable


def open_tables(
    paths: Any,
    delimiter: str | None,
    names: Sequence[str] | str | None,
) -> tuple[list[Table], list[str] | None]:
    """The tables of some paths, and names for columns without a header; see :class:`.csv_table.CsvTable`.

    A data frame in the place of paths is a table as well.
    """
    if is_frame(paths):
        return [FrameTable(paths)], None
    tables: list[Table] = []
    for file in find_tables(paths):
        if file.is_parquet:
            tables.append(ParquetTable(file))
            continue
        table = CsvTable(file, delimiter, names)
        names = None if names is None else table.names
        tables.append(table)
    return tables, names if names is None or isinstance(names, list) else list(names)
