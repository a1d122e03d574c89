"""Pieces of a table as they come out of a file: Arrow columns, and where in the file each row stands."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow


class Piece(NamedTuple):
    """Some consecutive rows of a file."""

    #: The rows.
    table: Any
    #: Name of the file.
    file: str
    #: What ``places`` counts.
    unit: str
    #: Where each row stands: lines of a text file, or rows of a Parquet file, counted from 1.
    places: NDArray[np.int64]

    def place(self, row: int) -> str:
        """Where a row stands, in words."""
        return f"{self.file}, {self.unit} {int(self.places[row]):,}"


def place_number(place: str) -> int:
    """The number in the words of a place.

    Examples
    --------
    >>> place_number("clicks.csv, line 1,204")
    1204
    """
    return int(place.rpartition(" ")[2].replace(",", ""))


def cut_blocks(pieces: Iterable[Piece], block_rows: int) -> Generator[Piece, None, None]:
    """The same rows of one file in pieces of ``block_rows`` rows; the last one may be shorter."""
    held: list[Piece] = []
    count = 0
    for piece in pieces:
        held.append(piece)
        count += piece.table.num_rows
        if count < block_rows:
            continue
        # a piece by itself stays as it is: chunks, empty ones too, would have to be copied into one
        held = [part for part in held if part.table.num_rows]
        table = _join([part.table for part in held])
        places = np.concatenate([part.places for part in held])
        start = 0
        while count - start >= block_rows:
            yield piece._replace(
                table=table.slice(start, block_rows), places=places[start : start + block_rows]
            )
            start += block_rows
        held = [piece._replace(table=table.slice(start), places=places[start:])]
        count -= start
    if count:
        table = _join([part.table for part in held])
        yield held[0]._replace(table=table, places=np.concatenate([part.places for part in held]))


def _join(tables: Sequence[Any]) -> Any:
    """Rows of one file; a column of numbers becomes texts, of the same numbers, where others are texts."""
    arrow = pyarrow()
    first, *others = tables
    for place, field in enumerate(first.schema):
        if any(table.schema.field(place).type != field.type for table in others):
            text = arrow.field(field.name, arrow.string())
            tables = [
                table.set_column(place, text, table.column(place).cast(arrow.string())) for table in tables
            ]
    return arrow.concat_tables(tables)
