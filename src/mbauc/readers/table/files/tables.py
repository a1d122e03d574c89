"""Table files opened as what they are."""

from __future__ import annotations

from collections.abc import Sequence

from mbauc.readers.table.files.csv_table import CsvTable
from mbauc.readers.table.files.parquet_table import ParquetTable
from mbauc.readers.table.files.paths import Paths, find_tables

Table = CsvTable | ParquetTable


def open_tables(
    paths: Paths, delimiter: str | None = None, names: Sequence[str] | str | None = None
) -> tuple[list[Table], list[str] | None]:
    """The tables that paths stand for, and the names of columns that hold for those without a header line.

    Parameters
    ----------
    paths : path or sequence of paths
        See :func:`~mbauc.readers.table.files.paths.find_tables`.
    delimiter, names : optional
        How text is read; see :class:`~mbauc.readers.table.files.csv_table.CsvTable`. ``names="auto"`` counts
        the columns of the first text file.
    """
    tables: list[Table] = []
    for file in find_tables(paths):
        if file.is_parquet:
            tables.append(ParquetTable(file))
            continue
        table = CsvTable(file, delimiter, names)
        names = None if names is None else table.names
        tables.append(table)
    return tables, names if names is None or isinstance(names, list) else list(names)
