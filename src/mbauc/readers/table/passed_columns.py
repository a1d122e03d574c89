"""Columns of files that are passed on with the scores of their rows, in one type for all files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.files import FrameTable, ParquetTable, Table


@dataclass(frozen=True)
class PassedColumns:
    """Names and types of columns as in the files; texts where files do not agree."""

    schema: Any

    @classmethod
    def of(cls, tables: Sequence[Table], keep: Sequence[str]) -> PassedColumns:
        """These columns of some tables."""
        arrow = pyarrow()
        types: dict[str, set[Any]] = {name: set() for name in keep}
        for table in tables:
            known = {}
            if isinstance(table, FrameTable):
                known = {field.name: field.type for field in table.schema}
            if isinstance(table, ParquetTable):
                known = {field.name: field.type for field in pyarrow("parquet").read_schema(table.file.path)}
            for name in types:
                kind = known.get(name, arrow.string())  # text files, and names of folders
                types[name].add(kind.value_type if arrow.types.is_dictionary(kind) else kind)
        return cls(
            arrow.schema(
                (name, next(iter(kinds)) if len(kinds) == 1 else arrow.string())
                for name, kinds in types.items()
            )
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @property
    def nothing(self) -> Any:
        """An Arrow table of these columns without rows."""
        return self.schema.empty_table()

    def select(self, table: Any) -> Any:
        """These columns of an Arrow table."""
        selected = table.select(self.schema.names)
        return selected if selected.schema == self.schema else selected.cast(self.schema)
