"""What a fit takes at least, so that ``--memory`` is either kept or refused before anything is read."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.cli.data_files import is_libsvm
from mbauc.cli.output import Usage
from mbauc.defaults import BLOCK_ROWS, SEARCH_ROWS

#: Bytes that a fit takes however few rows and columns there are, measured with ``SHORT_BLOCKS``: interpreter,
#: libraries, compiling, buffers of whatever reads the files, and what the allocator does not give back.
_BASE = {"LIBSVM text": 450_000_000, "tables": 750_000_000}
#: Part of the base that rows and Σ may use.
_SPARE = 60_000_000
#: Bytes for each column beyond ``_FEW_COLUMNS``.
_COLUMN = 130
#: Columns that the base covers.
_FEW_COLUMNS = 100_000
#: Bytes for each entry of Σ.
_SIGMA = 24
#: Bytes for each test row beyond ``_FEW_TESTED``.
_TESTED = 60
#: Test rows that the base covers.
_FEW_TESTED = 500_000
#: Bytes for each row beyond ``_FEW_SWEPT`` of fits that keep numbers of each row, measured with all losses.
_SWEPT = 120
#: Such rows that the base covers.
_FEW_SWEPT = 100_000
#: Bytes for each value of a table that its reader holds at a time, beyond ``_FEW_VALUES``.
_VALUE = 60
#: Values that the base covers.
_FEW_VALUES = 3_000_000
#: Values that a reader holds at a time, at most.
_MOST_VALUES = 1 << 23
#: Bytes that the search for curves takes for each row of its sample, and for each of its values.
_SEARCHED, _SEARCHED_VALUE = 6_000, 200
#: Rows of that sample, at least.
_FEW_SEARCHED = 5_000
#: Rows of a block below ``_SHORT`` bytes of memory; wide tables have fewer.
SHORT_BLOCKS = 16_384
#: Rows of a block of a wide table, at least.
_FEWEST = 1_024
#: Bytes of memory below which blocks are short.
_SHORT = 1_500_000_000
#: Columns of a table beyond which it is wide: its short blocks have as many values as one of this width.
_NARROW = 40


class Room:
    """How far a limit of memory goes (in bytes, None for no limit) for files and their options."""

    def __init__(self, limit: int | None, paths: list[str], options: argparse.Namespace) -> None:
        self._limit, self._base, self._columns, self._for_sweeps = limit, 0, 0, 0
        if limit is None:
            return
        kind = "LIBSVM text" if is_libsvm(paths, options.format) else "tables"
        self._base = _BASE[kind]
        self._require(self._base, f"to read {kind}")
        if kind == "tables":
            self._columns = _columns(paths, options)
            values = min(self._columns * BLOCK_ROWS, _MOST_VALUES)
            self._base += _VALUE * max(values - _FEW_VALUES, 0)
            self._require(self._base, f"to read tables of {self._columns:,} columns")

    @property
    def block_rows(self) -> int:
        """Rows of a block: fewer where memory is short."""
        if self._limit is None or self._limit >= _SHORT:
            return BLOCK_ROWS
        return max(SHORT_BLOCKS * _NARROW // max(self._columns, _NARROW), _FEWEST)

    def require_for(self, source: Any, *, gram: bool, test_rows: int, swept_rows: int = 0) -> None:
        """Raise if the limit is too small for a fit, matrix-free or from Σ, and for its test rows.

        Losses other than the squared one, and groups, need some numbers of each of the ``swept_rows``.
        """
        columns = int(source.n_features)
        self._for_sweeps = _SWEPT * max(swept_rows - _FEW_SWEPT, 0)
        base = self._base + self._for_sweeps + _TESTED * max(test_rows - _FEW_TESTED, 0)
        if swept_rows:
            self._require(base, f"for numbers of {swept_rows:,} rows, which this loss, or groups, take")
        self._require(base + _COLUMN * max(columns - _FEW_COLUMNS, 0), f"with {columns:,} columns")
        if gram:
            self._require(base + _SIGMA * columns**2, f"with --solver gram and {columns:,} columns")

    def search_settings(self, columns: int) -> dict[str, int]:
        """Settings of a search for curves: a smaller sample where memory is short, the same for each run."""
        if self._limit is None:
            return {}
        row = _SEARCHED + _SEARCHED_VALUE * columns
        self._require(self._base + row * _FEW_SEARCHED, f"for curves of {columns:,} columns")
        rows = (self._limit - self._base) // (2 * row)
        return {"search_rows": min(max(rows, _FEW_SEARCHED), SEARCH_ROWS)}

    def for_rows(self) -> int | None:
        """What is left for the rows, or for Σ, beside what any fit takes."""
        from mbauc.runtime.memory import own_memory

        if self._limit is None:
            return None
        # a seventh is for what cannot be foreseen
        left = self._limit - self._limit // 7 - own_memory()
        return max(min(left, self._limit - self._base + _SPARE) - self._for_sweeps, 1 << 20)

    def _require(self, need: int, what: str) -> None:
        if self._limit is not None and self._limit < need:
            raise Usage(
                f"--memory {_format_bytes(self._limit)} is not enough for this fit: at least "
                f"{_format_bytes(need)} is needed {what}."
            )


def _columns(paths: list[str], options: argparse.Namespace) -> int:
    """How many columns a table has by its first file; 0 where that is not easily found."""
    from mbauc.readers.table.files import open_tables

    names = "auto" if options.names == ["auto"] else options.names
    try:
        (first, *_), _ = open_tables(paths[:1], options.delimiter, names)
    except (OSError, ValueError):
        return 0  # reading says more
    return len(first.column_names)


def _format_bytes(size: int) -> str:
    """Bytes as they are written after --memory, rounded up."""
    unit, name = (10**9, "GB") if size >= 10**10 else (10**6, "MB")
    return f"{-(-size // unit)}{name}"
