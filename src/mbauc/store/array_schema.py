"""What the arrays of a file should be: first as the file declares them, before they are read, then as they are.

Examples
--------
>>> sums = Arrays({"mean": ArrayOf("<f8", ("d",)), "scatter": ArrayOf("<f8", ("d", "d"))})
>>> sums.check_declared({"mean": ("<f8", (3,)), "scatter": ("<f8", (3, 3))})
{'d': 3}
>>> sums.check_declared({"mean": ("<f8", (3,)), "scatter": ("<f8", (3, 2**60))})
Traceback (most recent call last):
ValueError: the array 'scatter' must have the shape (3, 3), got (3, 1152921504606846976)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.store.file_schema import Text

_LARGEST = sys.float_info.max

#: A size that is known, or those that there may be.
Size = int | Collection[int]


@dataclass(frozen=True)
class ArrayOf:
    """An array: its type, its shape, and the range of its numbers or the form of its texts.

    A type is as NumPy writes it, such as ``<f8``, or several of which it may be one; ``U`` is text of any
    length. A name in a shape stands for the same size wherever it occurs; ``d+1`` is one more. Numbers are
    finite by default; bounds may be one for each entry.
    """

    dtype: str | tuple[str, ...]
    shape: tuple[int | str, ...] = ()
    low: float | tuple[float, ...] = -_LARGEST
    high: float | tuple[float, ...] = _LARGEST
    pattern: str = "(?s:.*)"

    def check_values(self, array: NDArray[Any], name: str) -> None:
        """Raise a ValueError for numbers out of range, or a text of another form. No memory for numbers."""
        if self.dtype == "U":
            for text in array.ravel().tolist():
                Text(self.pattern, f"a text of the form {self.pattern}").check(text, name)
        elif array.dtype.kind != "b" and array.size:
            several = isinstance(self.low, tuple) or isinstance(self.high, tuple)
            least, most = (array, array) if several else (array.min().item(), array.max().item())
            # NaN is neither
            if not (np.all(least >= self.low) and np.all(most <= self.high)):
                bounds = "finite" if self == ArrayOf(self.dtype, self.shape) else "within their bounds"
                raise ValueError(f"the numbers of {name!r} must be {bounds}, got {_extremes(array)}")


def _extremes(array: NDArray[Any]) -> str:
    return f"values from {array.min()} to {array.max()}" if array.size > 1 else f"{array.max()}"


@dataclass(frozen=True)
class Arrays:
    """Arrays that belong together: those that there must be, all or none, may be, and what others must be.

    ``sizes`` are those that named ones may have; ``agree`` raises a ValueError if arrays do not go together.
    """

    required: Mapping[str, ArrayOf]
    together: Mapping[str, ArrayOf] = field(default_factory=dict)
    optional: Mapping[str, ArrayOf] = field(default_factory=dict)
    others: ArrayOf | None = None
    sizes: Mapping[str, Size] = field(default_factory=dict)
    agree: Callable[[Mapping[str, NDArray[Any]]], None] = lambda arrays: None

    def _kind(self, name: str) -> ArrayOf | None:
        return self.required.get(name) or self.together.get(name) or self.optional.get(name) or self.others

    def check_declared(
        self, declared: Mapping[str, tuple[str, tuple[int, ...]]], **sizes: Size
    ) -> dict[str, int]:
        """Raise a ValueError unless types and shapes are as described; the sizes that the names stand for."""
        wanted = list(self.required)
        if any(name in declared for name in self.together):
            wanted += self.together
        missing = [name for name in wanted if name not in declared]
        if missing:
            raise ValueError(f"it lacks the array {missing[0]!r}")
        known: dict[str, int] = {}
        allowed = {**self.sizes, **sizes}
        order = [*wanted, *(name for name in declared if name not in wanted)]
        for name in order:
            kind, (dtype, shape) = self._kind(name), declared[name]
            if kind is None:
                raise ValueError(f"it has the array {abbreviate(name)}, which this mbauc does not know")
            types = kind.dtype if isinstance(kind.dtype, tuple) else (kind.dtype,)
            if dtype not in types and not (types == ("U",) and re.fullmatch("<U[0-9]+", dtype)):
                types_text = " or ".join(types)
                raise ValueError(
                    f"the array {abbreviate(name)} must be of type {types_text}, got {abbreviate(dtype)}"
                )
            fits = len(shape) == len(kind.shape) and all(
                _bound(size, n, known, allowed) for size, n in zip(kind.shape, shape, strict=True)
            )
            if not fits:
                needed = ", ".join(str(_describe_size(size, known, allowed)) for size in kind.shape)
                raise ValueError(
                    f"the array {abbreviate(name)} must have the shape ({needed}), "
                    f"got {abbreviate(tuple(shape))}"
                )
        return known

    def check_values(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise a ValueError unless the content of arrays with the right shapes is as described."""
        for name, array in arrays.items():
            kind = self._kind(name)
            if kind is not None:
                kind.check_values(array, name)
        self.agree(arrays)


def _bound(size: int | str, n: int, known: dict[str, int], allowed: Mapping[str, Size]) -> bool:
    """Whether n is the size that is meant; a name that is new stands for it from now on."""
    if isinstance(size, int):
        return n == size
    name, _, more = size.partition("+")
    own = n - int(more or 0)
    if name not in known:
        limit = allowed.get(name, own)
        if own < 0 or not (own == limit if isinstance(limit, int) else own in limit):
            return False
        known[name] = own
    return own == known[name]


def _describe_size(size: int | str, known: dict[str, int], allowed: Mapping[str, Size]) -> int | str:
    name, _, more = str(size).partition("+")
    number = size if isinstance(size, int) else known.get(name, allowed.get(name))
    return number + int(more or 0) if isinstance(number, int) else size
