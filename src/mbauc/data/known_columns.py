"""LIBSVM rows whose columns a model knows; columns that it has not seen have no weight and are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbauc.data.block import Block
from mbauc.data.libsvm.source import LibsvmSource

#: Columns that a file may have: more than that, and indices would not fit into 32 bits.
_MOST = 2**31 - 1


class KnownColumns:
    """The first columns of LIBSVM files.

    Parameters
    ----------
    paths : path or sequence of paths
        Files.
    n_features : int
        Columns to keep.
    zero_based : bool
        Whether columns are counted from 0.
    classes : sequence of two labels
        Both labels, negative first.
    options
        Further options of :class:`~mbauc.data.LibsvmSource`.
    """

    def __init__(self, paths: Any, n_features: int, zero_based: bool, classes: Any, **options: Any) -> None:
        self._source = LibsvmSource(paths, n_features=_MOST, zero_based=zero_based, classes=classes, **options)
        self.n_features, self.classes = n_features, self._source.classes

    @property
    def about_rows(self) -> int | None:
        """About how many rows there are."""
        return self._source.about_rows

    def fingerprint(self) -> dict[str, object]:
        """What the blocks depend on."""
        return {"source": "KnownColumns", "n_features": self.n_features, "of": self._source.fingerprint()}

    def __iter__(self) -> Iterator[Block]:
        """The blocks without other columns."""
        for block in self._source:
            yield block._replace(X=block.X[:, : self.n_features])
