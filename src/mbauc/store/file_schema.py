"""Schemas of JSON values; schemas of arrays are in ``array_schema``.

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
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mbauc.checks import abbreviate, truncate

#: Longest place that an error names.
_PLACE = 160
#: Lists and objects within each other, at most: what comes after must be able to walk through them.
_DEPTH = 32
_LARGEST = sys.float_info.max


class Schema(ABC):
    """What a value should be."""

    @abstractmethod
    def describe(self) -> str:
        """The schema in words."""

    def check(self, value: Any, where: str) -> None:
        """Raise a ValueError if a value is anything else."""
        if not self._fits(value):
            raise ValueError(f"{where} must be {self.describe()}, got {abbreviate(value)}")

    def _fits(self, value: Any) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Schema):
    """A finite number; with ``whole``, one without a fraction. Truth values are none."""

    low: float = -_LARGEST
    high: float = _LARGEST
    whole: bool = False

    def describe(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        above = f" of at least {self.low:g}" if self.low > -_LARGEST else ""
        below = f" of at most {self.high:g}" if self.high < _LARGEST else ""
        return f"{kind}{above}{' and' if above and below else ''}{below}"

    def _fits(self, value: Any) -> bool:
        number = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        return number and self.low <= value <= self.high


class Flag(Schema):
    """True or false."""

    def describe(self) -> str:
        return "true or false"

    def _fits(self, value: Any) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True)
class Text(Schema):
    """A text that a pattern matches as a whole."""

    pattern: str = "(?s:.*)"
    words: str = "a text"

    def describe(self) -> str:
        return self.words

    def _fits(self, value: Any) -> bool:
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None


class Choice(Schema):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def describe(self) -> str:
        *others, last = (repr(word) for word in self._words)
        return f"{', '.join(others)} or {last}" if others else last

    def _fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self._words


@dataclass(frozen=True)
class Nullable(Schema):
    """Null, or a value of a schema."""

    inner: Schema

    def describe(self) -> str:
        return f"{self.inner.describe()} or null"

    def check(self, value: Any, where: str) -> None:
        if value is not None:
            self.inner.check(value, where)


class Either(Schema):
    """A value of one of several schemas."""

    def __init__(self, *kinds: Schema) -> None:
        self._kinds = kinds

    def describe(self) -> str:
        return " or ".join(kind.describe() for kind in self._kinds)

    def _fits(self, value: Any) -> bool:
        for kind in self._kinds:
            try:
                kind.check(value, "")
            except ValueError:
                continue
            return True
        return False


@dataclass(frozen=True)
class ListOf(Schema):
    """A list of items of a schema, within limits of its length."""

    item: Schema
    least: int = 0
    most: int | None = None

    def describe(self) -> str:
        number = f"{self.least} " if self.least == self.most else ""
        filled = "non-empty " if self.least and not number else ""
        return f"a {filled}list of {number}items, each {self.item.describe()}"

    def check(self, value: Any, where: str) -> None:
        super().check(value, where)
        for place, item in enumerate(value):
            self.item.check(item, f"{where}[{place}]")

    def _fits(self, value: Any) -> bool:
        return isinstance(value, list) and self.least <= len(value) <= (self.most or len(value))


@dataclass(frozen=True)
class Record(Schema):
    """An object: entries that it must have and may have, and what all others must be (None: there are none)."""

    fields: Mapping[str, Schema]
    optional: Mapping[str, Schema] = field(default_factory=dict)
    others: Schema | None = None

    def describe(self) -> str:
        return "an object"

    def check(self, value: Any, where: str) -> None:
        super().check(value, where)
        for name in self.fields:
            if name not in value:
                raise ValueError(f"{where} lacks {name!r}")
        for name, one in value.items():
            kind = self.fields.get(name) or self.optional.get(name) or self.others
            if kind is None:
                raise ValueError(f"{where} has the entry {abbreviate(name)}, which this mbauc does not know")
            kind.check(one, f"{where}[{abbreviate(name)}]")

    def _fits(self, value: Any) -> bool:
        return isinstance(value, dict)


@dataclass(frozen=True)
class Tagged(Schema):
    """An object of one of several kinds, which one of its entries names."""

    tag: str
    kinds: Mapping[str, Record]

    def describe(self) -> str:
        return "an object"

    def check(self, value: Any, where: str) -> None:
        tag = Choice(*self.kinds)
        Record({self.tag: tag}, others=Json()).check(value, where)
        kind = self.kinds[value[self.tag]]
        Record({self.tag: tag, **kind.fields}, kind.optional, kind.others).check(value, where)


@dataclass(frozen=True)
class Json(Schema):
    """Anything that JSON has, as long as programs can go through it and compute with its numbers."""

    depth: int = _DEPTH

    def describe(self) -> str:
        return "a value of JSON"

    def check(self, value: Any, where: str) -> None:
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
