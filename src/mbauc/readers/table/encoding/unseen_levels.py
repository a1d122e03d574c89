"""Columns of which every value is new to an encoding: they tell a model nothing, and nobody may notice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbauc.errors import DataWarning
from mbauc.readers.table.columns.features import Features
from mbauc.runtime.warn import warn

#: Values of a column from which on it is odd that none is known.
_LEAST = 20


class UnseenLevels:
    """Counts values of categories until one is known; a column that never has one is warned of.

    Parameters
    ----------
    levels : mapping from names to collections of str
        The values that were learned, for each column.
    """

    def __init__(self, levels: Mapping[str, tuple[str, ...]]) -> None:
        self._unknown = {name: frozenset(known) for name, known in levels.items() if known}
        self._count = dict.fromkeys(self._unknown, 0)
        self._example: dict[str, str] = {}

    def look(self, features: Features) -> None:
        """Look at some rows. ``O(rows)`` for each column of which no value was known so far."""
        for name in [name for name in self._unknown if name in features.texts]:
            texts = features.texts[name].drop_unused()
            values = texts.values.to_pylist()
            if not self._unknown[name].isdisjoint(values):
                del self._unknown[name]
            elif values:
                self._count[name] += int(np.count_nonzero(texts.codes >= 0))
                self._example.setdefault(name, values[0])

    def warn(self) -> None:
        """Warn of each column that has values, of which none is known."""
        for name, known in self._unknown.items():
            if self._count[name] >= _LEAST:
                shown = ", ".join(map(repr, sorted(known)[:3])) + (", …" if len(known) > 3 else "")
                warn(
                    f"column {name!r}: none of its {self._count[name]:,} values was seen in training, such as "
                    f"{self._example[name]!r}; training had {shown}. Check how the values are spelled.",
                    DataWarning,
                )
