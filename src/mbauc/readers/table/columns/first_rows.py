"""A first look at the files of a table, on which it is decided what their columns are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.plan import Column, ColumnPlan, no_such_column
from mbauc.readers.table.encoding.feature_kinds import CategoryFeature
from mbauc.readers.table.encoding.learning import text_names
from mbauc.readers.table.encoding.table_encoding import TableEncoding
from mbauc.readers.table.faults import SkippedRows, stop
from mbauc.readers.table.files.csv_table import CsvTable
from mbauc.readers.table.files.parquet_table import ParquetTable
from mbauc.readers.table.files.pieces import Report

Table = CsvTable | ParquetTable

#: Rows, or bytes, on which the plan is decided; how many must not depend on the blocks.
LOOK_ROWS, _LOOK_BYTES = 50_000, 1 << 28


def first_rows(tables: Sequence[Table], unread: Collection[str], on_error: str, where: str) -> Any:
    """The first rows, with all columns of the first file; those that nobody will read are empty."""
    arrow = pyarrow()
    skipped = SkippedRows()
    report: Report = stop if on_error == "stop" else skipped.note
    names = tables[0].column_names
    read = [name for name in names if name not in unread]
    held: list[Any] = []
    rows = size = 0
    pieces = (piece for table in tables for piece in table.pieces(read, report))
    for piece in pieces:
        held.append(piece.table)
        rows, size = rows + piece.table.num_rows, size + piece.table.nbytes
        if rows >= LOOK_ROWS or size >= _LOOK_BYTES:
            break
    if not rows:
        why = f"there are no rows that can be used. {skipped}" if skipped.count else "there are no rows"
        raise ValueError(f"{where}: {why}.")
    try:
        first = arrow.concat_tables(held, promote_options="permissive")
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # files of several types; reading says more
        first = held[0]
    first = first.slice(0, LOOK_ROWS)
    columns = dict(zip(first.column_names, first.columns, strict=True))
    nothing = arrow.nulls(first.num_rows)
    return arrow.table({name: columns.get(name, nothing) for name in names})


def left_out(tables: Sequence[Table]) -> dict[str, str]:
    """Why columns cannot be features, whatever is in them."""
    first, *others = tables
    reasons = {
        name: "name of a folder, the same for all files"
        for name, value in first.folder_columns.items()
        if all(table.folder_columns.get(name, "") == value for table in others)
    }
    known = set(first.column_names)
    for table in others:
        for name in table.column_names:
            if name not in known:
                reasons.setdefault(name, f"the first file does not have it, {table.file} does")
    return reasons


def learned_plan(first: Any, encoding: TableEncoding, label: str, weight: str | None, where: str) -> ColumnPlan:
    """The plan of an encoding that was learned earlier."""
    names = list(first.column_names)
    present = set(names)
    for what, name in (("the label", label), ("the weight", weight)):
        if name is not None and name not in present:
            raise ValueError(no_such_column(f"{what} {name!r}", name, names, where))
    known = {column.name: column for column in encoding.columns}
    kinds = {label: "label", weight: "weight"}
    columns = [
        known.get(name) or Column(name, kinds.get(name, "ignore"), "the encoding does not use it")
        for name in names
    ]
    columns += [column for name, column in known.items() if name not in present]
    return ColumnPlan(tuple(columns), first.num_rows)


def widths(plan: ColumnPlan, encoding: TableEncoding) -> dict[str, str]:
    """What each column becomes, in words."""
    told: dict[str, str] = {}
    features = {feature.name: feature for feature in encoding.features}
    for column in plan.features:
        own = [features[name] for name in text_names(column) or [column.name]]
        if encoding.hash_dim is not None and all(isinstance(feature, CategoryFeature) for feature in own):
            words = f"{len(own)} × " if len(own) > 1 else ""
            told[column.name] = f"{words}hashed"
        else:
            width = sum(feature.width for feature in own)
            told[column.name] = f"{width:,} column{'s' if width != 1 else ''}"
    return told
