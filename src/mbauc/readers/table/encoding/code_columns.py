"""Columns of a matrix of codes: numbers as they are, levels of categories by number, slots of hashed texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.readers.hashing import hash_keys
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.columns.values import Texts


@dataclass(frozen=True)
class CodeColumn:
    """What the numbers in one column of a matrix of codes mean; NaN is a missing value in all of them.

    A numeric column has neither ``levels`` nor ``hashed``: its numbers are values. A category has either.

    Attributes
    ----------
    name : str
        Name of the table's column, for parts of times with the part (``hour.weekday``).
    levels : tuple of str or None
        Texts that the codes 0, 1, … stand for; the code after the last is any other text.
    hashed : int or None
        Number of slots that texts are hashed into; a code is a slot.
    n_texts : int or None
        About how many distinct texts were hashed in training; None if that is not known, as from a file.

    Examples
    --------
    >>> from mbauc.readers import CodeColumn
    >>> site = CodeColumn("site", levels=("a", "b"))
    >>> site.is_numeric, site.n_codes
    (False, 3)
    """

    name: str
    levels: tuple[str, ...] | None = None
    hashed: int | None = None
    n_texts: int | None = field(default=None, compare=False, repr=False)

    @property
    def is_numeric(self) -> bool:
        """Whether its numbers are values, not codes."""
        return self.levels is None and self.hashed is None

    @property
    def n_codes(self) -> int:
        """Codes that may occur, that of other texts among them; 0 for a numeric column."""
        if self.levels is not None:
            return len(self.levels) + 1
        return self.hashed or 0

    def describe(self) -> str:
        """What its numbers are, in words."""
        if self.levels is not None:
            return f"{len(self.levels):,} level{'s' if len(self.levels) != 1 else ''}"
        if self.hashed is None:
            return "numbers"
        slots = f"{self.hashed:,} slots"
        if self.n_texts is None:
            return slots
        shared = 1.0 - (1.0 - 1.0 / self.hashed) ** (self.n_texts - 1)
        return f"{slots} ({shared:.1%} of values share one)"

    def write_codes(self, texts: Texts, out: NDArray[np.float64]) -> None:
        """Write the codes of some rows. ``O(rows)`` time, and a look-up for each distinct text."""
        if self.hashed is not None:
            table = (hash_keys(self.name, texts.values, self.hashed) >> 1).astype(np.float64)
            lengths = pyarrow("compute").binary_length(texts.values).to_numpy(zero_copy_only=False)
            table[:-1][lengths == 0] = np.nan
            table[-1] = np.nan
        else:
            known = {level: code for code, level in enumerate(self.levels or ())}
            texts = texts.drop_unused()
            codes = [known.get(text, len(known)) for text in texts.values.to_pylist()]
            table = np.array([*codes, np.nan])
        # the code -1 of a missing text is the last place
        table.take(texts.codes, out=out, mode="wrap")

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        levels = None if self.levels is None else list(self.levels)
        return {"name": self.name, "levels": levels, "hashed": self.hashed}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> CodeColumn:
        """What :meth:`to_dict` gave."""
        levels = description["levels"]
        return cls(description["name"], None if levels is None else tuple(levels), description["hashed"])


def check_code_columns(codes: Sequence[CodeColumn], columns: Sequence[Column]) -> None:
    """Raise a ValueError for columns of codes that these columns of a table have never given."""
    if [code.name for code in codes] != [name for c in columns for name in c.text_names or [c.name]]:
        raise ValueError("codes and columns of the encoding do not fit each other")
    numeric = {column.name for column in columns if column.kind == "numeric"}
    for code in codes:
        name = abbreviate(code.name)
        if code.is_numeric != (code.name in numeric):
            raise ValueError(f"the codes of {name} do not fit its column")
        if code.levels is not None and code.hashed is not None:
            raise ValueError(f"{name} has both levels and slots")
        if code.levels is not None and len(set(code.levels)) < len(code.levels):
            raise ValueError(f"{name} has a level twice")
