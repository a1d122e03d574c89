"""Columns of a table that a training warns of: of doubtful kind, or odd by what is in some rows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mbauc.estimators.column_findings import ColumnFinding, inspect_columns, tell_findings
from mbauc.features.row_codes import encoding_kinds
from mbauc.model.hold_out import tested_late
from mbauc.readers.table.encoding import TableEncoding
from mbauc.rows.source import Source, about_rows
from mbauc.rows.taken import take_first

#: Rows that are looked at, at most, and numbers in them.
_LOOK_ROWS, _LOOK_NUMBERS = 20_000, 4_000_000
#: Rows that are looked through for these, at most.
_MOST_LOOKED_THROUGH = 2_000_000


def find_odd_columns(source: Source, *, by_rows: bool) -> list[ColumnFinding]:
    """Columns that may be something else than they were taken for; ``by_rows`` also what is odd in them."""
    columns = getattr(getattr(source, "plan", None), "columns", ())
    found = [ColumnFinding(one.name, one.kind, other=one.doubt) for one in columns if one.doubt]
    return [*found, *(_look_at_rows(source) if by_rows else ())]


def tell_odd_columns(record: Mapping[str, Any]) -> list[str]:
    """What a model's record has of such columns, in sentences."""
    found = [ColumnFinding(**one) for one in record.get("findings", [])]
    return tell_findings(found, tested_late=tested_late(record))


def _look_at_rows(source: Source) -> list[ColumnFinding]:
    """What is odd about columns of codes, by rows from all over; nothing where that would take long."""
    encoding = getattr(source, "encoding", None)
    if not isinstance(encoding, TableEncoding) or not encoding.code_columns:
        return []
    rows, most = about_rows(source), min(_LOOK_ROWS, _LOOK_NUMBERS // len(encoding.code_columns))
    if rows is None or rows > _MOST_LOOKED_THROUGH:
        return []
    X, y, _ = take_first(source, rows, every=max(1, -(-rows // most)))
    kinds = encoding_kinds(encoding)
    whole, words = (
        [place for place, code in enumerate(encoding.code_columns) if (code.word is not None) == is_word]
        for is_word in (False, True)
    )
    found = inspect_columns(X[:, whole], y, [kinds[place] for place in whole])
    # single words say little each, unless one gives the label away
    by_words = inspect_columns(X[:, words], y, [kinds[place] for place in words], ordered=False)
    found += [one for one in by_words if one.finding == "leaking"]
    # hours, weekdays and words are left out with the column that they are of
    parts = {name: one.name for one in encoding.columns if one.kind == "time" for name in one.text_names}
    parts |= {code.name: code.source for code in encoding.code_columns if code.source is not None}
    return [replace(one, of=parts.get(one.column)) for one in found]
