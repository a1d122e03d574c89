"""What a matrix of codes has to learn from the rows: which texts are levels, and which words count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from mbauc.readers.hashing import hash_features
from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.plan import Column, ColumnPlan
from mbauc.readers.table.columns.times import PARTS, parts_of
from mbauc.readers.table.encoding.code_columns import CodeColumn
from mbauc.readers.table.encoding.table_encoding import TableEncoding
from mbauc.readers.table.encoding.word_codes import make_word_columns
from mbauc.readers.table.encoding.word_learner import WordLearner
from mbauc.rows.hashing.texts import Hashes

#: Hashes that are kept to count distinct values: 1.6% standard error beyond that many.
_KEPT_HASHES = 4_096
#: Slots for each distinct value, and of a column at most: a tenth of the values share one.
_SLOTS_A_VALUE, _MOST_SLOTS = 10, 2**24


class DistinctCount:
    """About how many distinct texts there are, from the smallest of their hashes: exact up to 4,096.

    Of hashes spread evenly over ``[0, 1)``, the k-th smallest of m is at about ``k / m``. Neither the order of
    the texts nor repeats change it. ``O(1)`` memory.

    Examples
    --------
    >>> from mbauc.readers.table.encoding.code_learner import DistinctCount
    >>> count = DistinctCount("user")
    >>> count.update(["ann", "bob"])
    >>> count.update(["bob", "eve"])
    >>> count.value
    3
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._hashes: Hashes = np.empty(0, dtype=np.uint64)

    def update(self, texts: Iterable[str]) -> None:
        """Take in some texts."""
        found = hash_features(self._name, list(texts))
        self._hashes = np.union1d(self._hashes, found)[:_KEPT_HASHES]

    @property
    def value(self) -> int:
        """How many there are."""
        if self._hashes.size < _KEPT_HASHES:
            return int(self._hashes.size)
        return round((_KEPT_HASHES - 1) / (float(self._hashes[-1]) / 2.0**64))


class CodeLearner:
    """Learns levels of categories and words of texts from blocks of features, whose sizes change nothing.

    ``O(max_categories)`` memory for each category: a column with more levels is hashed, to ``hash_dim`` slots
    or, if that is None, to ten for each distinct value.
    """

    def __init__(self, plan: ColumnPlan, max_categories: int, hash_dim: int | None) -> None:
        self._plan = plan
        self._most = max_categories
        self._hash_dim = None if hash_dim is None else int(hash_dim)  # JSON knows no NumPy integers
        self._parts = {name for column in self.columns if column.kind == "time" for name in column.text_names}
        free = {column.name for column in self.columns if column.kind == "text"}
        names = [name for column in self.columns for name in column.text_names]
        self._levels: dict[str, set[str]] = {name: set() for name in names if name not in free}
        self._words = {name: WordLearner() for name in names if name in free}
        self._hashed: dict[str, DistinctCount] = {}

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it has to see; there is nothing to learn from numbers."""
        return tuple(column for column in self._plan.features if column.kind != "numeric")

    @property
    def needs_rows(self) -> bool:
        """Whether there is anything to learn from the rows."""
        return bool(self._levels or self._words)

    def update(self, features: Features) -> None:
        """Take in some rows."""
        for name, words in self._words.items():
            words.update(features.texts[name])
        for name, count in self._hashed.items():
            count.update(features.texts[name].drop_unused().values.to_pylist())
        for name in list(self._levels):
            levels = self._levels[name]
            levels.update(features.texts[name].drop_unused().values.to_pylist())
            if len(levels) > self._most and name not in self._parts:
                self._hashed[name] = DistinctCount(name)
                self._hashed[name].update(self._levels.pop(name))

    def encoding(self) -> TableEncoding:
        """The encoding of the rows so far."""
        used = {column.name for column in self._plan.features}
        codes = [code for column in self._plan.features for code in self._code_columns(column)]
        twice = next((name for name, count in Counter(c.name for c in codes).items() if count > 1), None)
        if twice is not None:
            raise ValueError(
                f"a text column would become the column {twice!r}, but there is another column of that name. "
                "Rename one of the two, or leave it out."
            )
        return TableEncoding(
            self._plan.features,
            (),
            code_columns=tuple(codes),
            other_columns=tuple(c.name for c in self._plan.columns if c.name not in used),
        )

    def _code_columns(self, column: Column) -> list[CodeColumn]:
        if column.kind == "numeric":
            return [CodeColumn(column.name)]
        if column.kind == "text":
            return make_word_columns(column.name, self._words[column.name].words())
        if column.kind == "time":  # in the order of the day and the week
            parts = zip(column.text_names, parts_of(column.form), strict=True)
            return [
                CodeColumn(name, tuple(level for level in PARTS[part] if level in self._levels[name]))
                for name, part in parts
            ]
        levels = self._levels.get(column.name)
        if levels is None:
            count = self._hashed[column.name].value
            slots = min(_SLOTS_A_VALUE * count, _MOST_SLOTS)
            return [CodeColumn(column.name, hashed=self._hash_dim or slots, n_texts=count)]
        return [CodeColumn(column.name, tuple(sorted(levels)))]
