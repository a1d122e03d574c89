"""The plan of the columns of files, from a first look at their rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.arguments import check_names, check_types
from mbauc.readers.table.columns.plan import ColumnPlan, Judge, plan_columns
from mbauc.readers.table.faults import SkippedRows
from mbauc.readers.table.files import Table

#: Rows on which the plan is decided, at most; the number must not depend on the blocks.
LOOK_ROWS = 50_000
#: Bytes of them, at most.
_LOOK_BYTES = 1 << 28


def plan_tables(
    tables: Sequence[Table],
    *,
    label: str,
    weight: str | None,
    group: str | None,
    cluster: str | None,
    types: Mapping[str, str] | None,
    ignore: Sequence[str],
    id: Sequence[str],
    on_error: str,
    judge: Judge,
    where: str,
) -> ColumnPlan:
    """Decide on the first rows of some files what their columns are; see :func:`.plan.plan_columns`."""
    check_types(types)
    for argument, given in (("ignore", ignore), ("id", id)):
        check_names(argument, given)
    others = (name for name, kind in (types or {}).items() if kind in ("group", "id", "ignore"))
    unread = {name for name in (*ignore, *id, *others, group, cluster) if isinstance(name, str)}
    return plan_columns(
        _read_first_rows(tables, unread, on_error, where),
        label=label,
        weight=weight,
        group=group,
        cluster=cluster,
        types=types,
        ignore=ignore,
        id=id,
        left_out=_find_unusable(tables),
        judge=judge,
        where=where,
    )


def _read_first_rows(tables: Sequence[Table], unread: Collection[str], on_error: str, where: str) -> Any:
    """The first rows, with all columns of the first file; columns that will not be read are empty."""
    arrow = pyarrow()
    skipped = SkippedRows()
    names = tables[0].column_names
    read = [name for name in names if name not in unread]
    held: list[Any] = []
    rows = size = 0
    pieces = (piece for table in tables for piece in table.pieces(read, skipped.report(on_error)))
    for piece in pieces:
        held.append(piece.table)
        rows, size = rows + piece.table.num_rows, size + piece.table.nbytes
        if rows >= LOOK_ROWS or size >= _LOOK_BYTES:
            break
    if not rows:
        raise ValueError(f"{where}: " + skipped.tell_empty())
    try:
        first = arrow.concat_tables(held, promote_options="permissive")
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # files of several types; reading says more
        first = held[0]
    first = first.slice(0, LOOK_ROWS)
    columns = dict(zip(first.column_names, first.columns, strict=True))
    nothing = arrow.nulls(first.num_rows)
    return arrow.table({name: columns.get(name, nothing) for name in names})


def _find_unusable(tables: Sequence[Table]) -> dict[str, str]:
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
