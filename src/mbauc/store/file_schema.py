"""Schemas of JSON values; those of arrays are in ``array_schema``.

A value that does not fit is a ValueError that says where it stands, what was expected and what came, never
longer than a few lines.

Examples
--------
>>> point = Record({"l2": Number(low=0.0), "score": Nullable(Number())}, others=Json())
>>> ListOf(point).check([{"l2": 1.0, "score": 0.7}, {"l2": -1.0, "score": None}], "path")
Traceback (most recent call last):
ValueError: path[1]['l2'] must be a number of at least 0, got -1.0
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mbauc.checks import abbreviate, truncate

#: Longest place that an error names.
_PLACE = 160
#: Lists and objects within each other, at most: what comes after must be able to walk through them.
_DEPTH = 32
_LARGEST = sys.float_info.max


class Description(Protocol):
    """What a value should be."""

    @property
    def expected(self) -> str:
        """In words."""

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError if a value is anything else."""


def _require(fits: bool, what: Description, value: Any, where: str) -> None:
    if not fits:
        raise ValueError(f"{where} must be {what.expected}, got {abbreviate(value)}")


@dataclass(frozen=True)
class Number:
    """A finite number; with ``whole``, one without a fraction. Truth values are none."""

    low: float = -_LARGEST
    high: float = _LARGEST
    whole: bool = False

    @property
    def expected(self) -> str:
        """In words."""
        kind = "a whole number" if self.whole else "a number"
        above = f" of at least {self.low:g}" if self.low > -_LARGEST else ""
        below = f" of at most {self.high:g}" if self.high < _LARGEST else ""
        return f"{kind}{above}{' and' if above and below else ''}{below}"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        fits = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        _require(fits and self.low <= value <= self.high, self, value, where)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    expected: str = "true or false"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        _require(isinstance(value, bool), self, value, where)


@dataclass(frozen=True)
class Text:
    """A text that a pattern matches as a whole."""

    pattern: str = "(?s:.*)"
    expected: str = "a text"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        _require(isinstance(value, str) and re.fullmatch(self.pattern, value) is not None, self, value, where)


class Choice:
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    @property
    def expected(self) -> str:
        """In words."""
        *others, last = (repr(word) for word in self._words)
        return f"{', '.join(others)} or {last}" if others else last

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        _require(isinstance(value, str) and value in self._words, self, value, where)


@dataclass(frozen=True)
class Nullable:
    """Null, or what is described."""

    inner: Description

    @property
    def expected(self) -> str:
        """In words."""
        return f"{self.inner.expected} or null"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        if value is not None:
            self.inner.check(value, where)


class Either:
    """One of several kinds."""

    def __init__(self, *kinds: Description) -> None:
        self._kinds = kinds

    @property
    def expected(self) -> str:
        """In words."""
        return " or ".join(kind.expected for kind in self._kinds)

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        for kind in self._kinds:
            try:
                return kind.check(value, where)
            except ValueError:
                continue
        _require(False, self, value, where)


@dataclass(frozen=True)
class ListOf:
    """A list of such items."""

    item: Description
    least: int = 0
    most: int | None = None

    @property
    def expected(self) -> str:
        """In words."""
        number = f"{self.least} " if self.least == self.most else ""
        filled = "filled " if self.least and not number else ""
        return f"a {filled}list of {number}items, each {self.item.expected}"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        fits = isinstance(value, list) and self.least <= len(value) <= (self.most or len(value))
        _require(fits, self, value, where)
        for place, item in enumerate(value):
            self.item.check(item, f"{where}[{place}]")


@dataclass(frozen=True)
class Record:
    """An object with such entries.

    Attributes
    ----------
    fields : mapping
        Entries that it must have.
    optional : mapping
        Entries that it may have.
    others : Description or None
        What entries of any other name must be; None if there may be none.
    """

    fields: Mapping[str, Description]
    optional: Mapping[str, Description] = field(default_factory=dict)
    others: Description | None = None

    expected: str = "an object"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        _require(isinstance(value, dict), self, value, where)
        for name in self.fields:
            if name not in value:
                raise ValueError(f"{where} lacks {name!r}")
        for name, one in value.items():
            kind = self.fields.get(name) or self.optional.get(name) or self.others
            if kind is None:
                raise ValueError(f"{where} has the entry {abbreviate(name)}, which this mbauc does not know")
            kind.check(one, f"{where}[{abbreviate(name)}]")


@dataclass(frozen=True)
class Tagged:
    """An object of one of several kinds, which one of its entries names."""

    tag: str
    kinds: Mapping[str, Record]

    expected: str = "an object"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        tag = Choice(*self.kinds)
        Record({self.tag: tag}, others=Json()).check(value, where)
        kind = self.kinds[value[self.tag]]
        Record({self.tag: tag, **kind.fields}, kind.optional, kind.others).check(value, where)


@dataclass(frozen=True)
class Json:
    """Anything that JSON has, as long as programs can go through it and compute with its numbers."""

    depth: int = _DEPTH

    expected: str = "a value of JSON"

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError for anything else."""
        if isinstance(value, dict | list):
            if not self.depth:
                raise ValueError(f"{truncate(where, _PLACE)} is nested too deeply")
            inner = Json(self.depth - 1)
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for name, one in items:
                inner.check(one, f"{where}[{abbreviate(name)}]")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            Number().check(value, where)


#: One number, text, truth value or null.
SCALAR = Nullable(Either(Number(), Text(), Flag()))
