"""Tables in Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.faults import Report
from mbauc.readers.table.files.paths import TableFile
from mbauc.readers.table.files.pieces import Piece

#: Rows that are decoded at a time, at most.
_ROWS = 65_536
#: Values that are decoded at a time, at most.
_VALUES = 1 << 23


class ParquetTable:
    """A table in a Parquet file; only the columns asked for are read."""

    def __init__(self, file: TableFile) -> None:
        self.file = file
        self._stamp = file.stamp()
        with self._open() as parquet:
            names = list(parquet.schema_arrow.names)
            types = pyarrow().types
            self._texts = {
                field.name
                for field in parquet.schema_arrow
                if types.is_string(field.type) or types.is_large_string(field.type)
            }
            #: Number of rows, and what a table in text can only estimate.
            self.n_rows: int = parquet.metadata.num_rows
            self.about_rows = self.n_rows
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"{file}: two columns are named {twice!r}; give each a name of its own.")
        self._own = set(names)
        #: Columns that stand in the names of its folders and not in the file, and their values.
        self.folder_columns = {name: value for name, value in file.partitions.items() if name not in self._own}
        self.column_names = [*names, *self.folder_columns]

    def stamp(self) -> dict[str, object]:
        """Which file it was when it was first read, for fingerprints."""
        return self.file.describe(self._stamp)

    def check_unchanged(self) -> None:
        """Raise if it is no longer the file that it was."""
        if self.file.stamp() != self._stamp:
            raise self.file.change_error()

    @contextmanager
    def _open(self, coded: Sequence[str] = ()) -> Iterator[Any]:
        arrow, parquet = pyarrow(), pyarrow("parquet")
        try:
            # without pre-buffering, which would hold whole row groups
            with parquet.ParquetFile(self.file.path, pre_buffer=False, read_dictionary=list(coded)) as opened:
                yield opened
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
            raise ValueError(f"{self.file}: cannot be read as Parquet ({error}). Write it again.") from None
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(f"{self.file}: the Parquet file is damaged ({error}). Fetch it again.") from None

    def pieces(
        self, columns: Sequence[str], report: Report, coded: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Generator[Piece, None, None]:
        """The rows from the first on, some ten thousand at a time; ``report`` is not needed here.

        Columns of texts that are ``coded`` come as dictionaries, as the file mostly has them: in a third
        of the time.
        """
        arrow = pyarrow()
        place = 1
        own = [name for name in columns if name in self._own]
        self.check_unchanged()
        with self._open([name for name in own if name in coded and name in self._texts]) as parquet:
            rows = max(1, min(_ROWS, _VALUES // max(1, len(own))))
            for batch in parquet.iter_batches(batch_size=rows, columns=own):
                table = arrow.Table.from_batches([batch]).select(own)
                for name in columns:
                    if name in self.folder_columns:
                        values = arrow.array([self.folder_columns[name]] * table.num_rows, arrow.string())
                        table = table.append_column(name, values)
                yield Piece(table, str(self.file), "row", np.arange(place, place + table.num_rows))
                place += table.num_rows
