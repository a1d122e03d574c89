"""Columns of a matrix of codes: numbers as they are, levels by number, slots of hashed texts, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """Meaning of one column of a matrix of codes (``encode="codes"``); NaN is always a missing value.

    A numeric column has neither ``levels`` nor ``hashed``; its entries are values. A categorical column has one
    of them. A column of free text becomes several numeric columns, each with a ``word``.

    Attributes
    ----------
    name : str
        Name of the column in the table, with the part for times (``hour.weekday``) and with the word for free
        text (``title has "refund"``).
    levels : tuple of str or None
        Categories with the codes 0, 1, …; the code after the last stands for any other value.
    hashed : int or None
        Number of hash slots; a code is a slot.
    n_texts : int or None
        Estimated number of distinct values hashed in training; None if unknown, as from a file.
    source : str or None
        For a word of free text, name of the column in the table; otherwise None.
    word : str or None
        The word whose presence (1) or absence (0) the column gives; empty for the number of words, None for
        other columns.

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
    source: str | None = field(default=None, repr=False)
    word: str | None = field(default=None, repr=False)

    @property
    def reads(self) -> str:
        """Name of the column or part that it is computed from."""
        return self.name if self.source is None else self.source

    @property
    def is_numeric(self) -> bool:
        """Whether entries are values instead of codes."""
        return self.levels is None and self.hashed is None

    @property
    def n_codes(self) -> int:
        """Number of codes, including that of unseen values; 0 for a numeric column."""
        if self.levels is not None:
            return len(self.levels) + 1
        return self.hashed or 0

    def describe(self) -> str:
        """Describe the entries in words."""
        if self.levels is not None:
            return f"{len(self.levels):,} level{'s' if len(self.levels) != 1 else ''}"
        if self.word is not None:
            return f"0 or 1 for {self.word!r}" if self.word else "number of words"
        if self.hashed is None:
            return "numbers"
        slots = f"{self.hashed:,} slots"
        if self.n_texts is None:
            return slots
        shared = 1.0 - (1.0 - 1.0 / self.hashed) ** (self.n_texts - 1)
        return f"{slots} ({shared:.1%} of values share one)"

    def write_codes(self, texts: Texts, out: NDArray[np.float64]) -> None:
        """Write the codes of a block of rows. ``O(rows)`` time, and one look-up for each distinct value."""
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
        """The attributes as a dict for JSON."""
        levels = None if self.levels is None else list(self.levels)
        words = {} if self.source is None else {"source": self.source, "word": self.word}
        return {"name": self.name, "levels": levels, "hashed": self.hashed, **words}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> CodeColumn:
        """Restore from the output of :meth:`to_dict`."""
        levels = description["levels"]
        return cls(
            description["name"],
            None if levels is None else tuple(levels),
            description["hashed"],
            source=description.get("source"),
            word=description.get("word"),
        )


def describe_codes(codes: Sequence[CodeColumn]) -> str:
    """What the columns of codes of one column of a table are, in words."""
    words = sum(bool(code.word) for code in codes)
    parts = [f"{words:,} word{'s' if words != 1 else ''}"] if words else []
    return " + ".join([*parts, *(code.describe() for code in codes if not code.word)])


def check_code_columns(codes: Sequence[CodeColumn], columns: Sequence[Column]) -> None:
    """Raise a ValueError for columns of codes that these columns of a table have never given."""
    made = list(dict.fromkeys(code.reads for code in codes))
    if made != [name for c in columns for name in c.text_names or [c.name]]:
        raise ValueError("codes and columns of the encoding do not fit each other")
    if len({code.name for code in codes}) < len(codes):
        raise ValueError("two codes have one name")
    numeric = {column.name for column in columns if column.kind == "numeric"}
    free = {column.name for column in columns if column.kind == "text"}
    for code in codes:
        name = abbreviate(code.name)
        if code.is_numeric != (code.reads in numeric or code.reads in free):
            raise ValueError(f"the codes of {name} do not fit its column")
        if (code.source is None, code.word is None) != (code.reads not in free,) * 2:
            raise ValueError(f"the words of {name} do not fit its column")
        if code.levels is not None and code.hashed is not None:
            raise ValueError(f"{name} has both levels and slots")
        if code.levels is not None and len(set(code.levels)) < len(code.levels):
            raise ValueError(f"{name} has a level twice")
    _check_words(codes, free)


def _check_words(codes: Sequence[CodeColumn], free: Iterable[str]) -> None:
    """Raise unless the columns of each free text stand together, its words first and their number at last."""
    for name in free:
        places = [place for place, code in enumerate(codes) if code.reads == name]
        words = [codes[place].word for place in places]
        together = places == list(range(places[0], places[-1] + 1))
        if not together or words[-1] != "" or not all(words[:-1]) or len(set(words)) < len(words):
            raise ValueError(f"the words of {abbreviate(name)} do not fit each other")
