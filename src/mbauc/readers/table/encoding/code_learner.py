"""What a matrix of codes has to learn from the rows: which texts are levels, in one pass."""

from __future__ import annotations

from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.plan import Column, ColumnPlan
from mbauc.readers.table.columns.times import PARTS, parts_of
from mbauc.readers.table.encoding.code_columns import CodeColumn
from mbauc.readers.table.encoding.table_encoding import TableEncoding


class CodeLearner:
    """Learns the levels of categories from blocks of features; their sizes and order change nothing.

    ``O(max_categories)`` memory for each category: a column with more levels is hashed and learns nothing.
    """

    def __init__(self, plan: ColumnPlan, max_categories: int, hash_dim: int) -> None:
        self._plan = plan
        self._most = max_categories
        self._hash_dim = int(hash_dim)  # JSON knows no NumPy integers
        self._parts = {name for column in self.columns if column.kind == "time" for name in column.text_names}
        self._levels: dict[str, set[str]] = {name: set() for c in self.columns for name in c.text_names}

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it has to see; there is nothing to learn from numbers."""
        return tuple(column for column in self._plan.features if column.kind != "numeric")

    @property
    def needs_rows(self) -> bool:
        """Whether there is anything to learn from the rows."""
        return bool(self._levels)

    def update(self, features: Features) -> None:
        """Take in some rows."""
        for name in list(self._levels):
            levels = self._levels[name]
            levels.update(features.texts[name].drop_unused().values.to_pylist())
            if len(levels) > self._most and name not in self._parts:
                del self._levels[name]

    def encoding(self) -> TableEncoding:
        """The encoding of the rows so far."""
        used = {column.name for column in self._plan.features}
        return TableEncoding(
            self._plan.features,
            (),
            code_columns=tuple(code for column in self._plan.features for code in self._code_columns(column)),
            other_columns=tuple(c.name for c in self._plan.columns if c.name not in used),
        )

    def _code_columns(self, column: Column) -> list[CodeColumn]:
        if column.kind == "numeric":
            return [CodeColumn(column.name)]
        if column.kind == "time":  # in the order of the day and the week
            parts = zip(column.text_names, parts_of(column.form), strict=True)
            return [
                CodeColumn(name, tuple(level for level in PARTS[part] if level in self._levels[name]))
                for name, part in parts
            ]
        levels = self._levels.get(column.name)
        if levels is None:
            return [CodeColumn(column.name, hashed=self._hash_dim)]
        return [CodeColumn(column.name, tuple(sorted(levels)))]
