"""How raw rows become the columns that a model has weights for: those of a table, or of LIBSVM text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.libsvm.known_columns import KnownColumns, UnlabelledLibsvm
from mbauc.readers.table.encoding.schema import LAYOUT, check_encoding, check_names
from mbauc.readers.table.encoding.table_encoding import TableEncoding
from mbauc.readers.table.source import TableSource
from mbauc.readers.table.unlabelled import UnlabelledTable


@dataclass(frozen=True)
class TableLayout:
    """Columns of CSV, TSV or Parquet files.

    Attributes
    ----------
    encoding : TableEncoding
        How columns become numbers.
    label : str
        Column of the labels.
    positive : tuple
        Labels that count as positive, as the user said; empty if the larger one does.
    weight : str or None
        Column of the weights.
    names : tuple of str or None
        Names of the columns of text files that have no line of names, as the user said.
    delimiter : str or None
        What separates the fields of text files, as the user said; None if it is told from the first lines.
    """

    encoding: TableEncoding
    label: str
    positive: tuple[Any, ...] = ()
    weight: str | None = None
    names: tuple[str, ...] | None = None
    delimiter: str | None = None

    @property
    def n_features(self) -> int:
        """Number of columns that weights are for."""
        return self.encoding.n_features

    def source(self, paths: Any, classes: Any, **options: Any) -> TableSource:
        """Other files with the same columns."""
        return TableSource(
            paths,
            label=self.label,
            positive=list(self.positive) or None,
            classes=tuple(classes),
            weight=self.weight,
            encoding=self.encoding,
            names=self.names,
            delimiter=self.delimiter,
            **options,
        )

    def unlabelled(self, paths: Any, classes: Any = None, **options: Any) -> UnlabelledTable:
        """Other files with the same columns, to be scored; the label may be missing."""
        return UnlabelledTable(paths, self.encoding, names=self.names, delimiter=self.delimiter, **options)

    def feature_names(self) -> list[str]:
        """Names of the columns."""
        return self.encoding.feature_names

    def scales(self) -> tuple[NDArray[np.float64], bool]:
        """By what the numbers of each column were divided, and whether by standard deviations."""
        return self.encoding.scales, self.encoding.standardised

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; ``names`` and ``delimiter`` only where the user said them."""
        told = {
            "kind": "table",
            "encoding": self.encoding.to_dict(),
            "label": self.label,
            "positive": list(self.positive),
            "weight": self.weight,
        }
        if self.names is not None:
            told["names"] = list(self.names)
        if self.delimiter is not None:
            told["delimiter"] = self.delimiter
        return told


@dataclass(frozen=True)
class LibsvmLayout:
    """Numbered columns of LIBSVM text."""

    n_features: int
    zero_based: bool

    def source(self, paths: Any, classes: Any, **options: Any) -> KnownColumns:
        """Other files; columns that the model has not seen are left out."""
        if any(isinstance(side, tuple | list) for side in classes):  # some labels against all others
            positive = classes[1]
            return KnownColumns(paths, self.n_features, self.zero_based, None, positive=positive, **options)
        return KnownColumns(paths, self.n_features, self.zero_based, tuple(classes), **options)

    def unlabelled(self, paths: Any, classes: Any, **options: Any) -> UnlabelledLibsvm:
        """Other files to be scored; labels may be any numbers."""
        return UnlabelledLibsvm(paths, self.n_features, self.zero_based, classes, **options)

    def feature_names(self) -> list[str]:
        """The numbers of the columns, as they stand in the files."""
        first = 0 if self.zero_based else 1
        return [str(column) for column in range(first, first + self.n_features)]

    def scales(self) -> tuple[NDArray[np.float64], bool]:
        """Columns come as they are."""
        return np.ones(self.n_features), False

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {"kind": "libsvm", "n_features": self.n_features, "zero_based": self.zero_based}


def layout_from_dict(told: Mapping[str, Any]) -> TableLayout | LibsvmLayout:
    """What ``to_dict`` gave.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    LAYOUT.check(told, "layout")
    if told["kind"] == "libsvm":
        return LibsvmLayout(told["n_features"], told["zero_based"])
    encoding = TableEncoding.from_dict(told["encoding"])
    check_encoding(encoding)
    names = told.get("names")
    check_names(names)
    layout = TableLayout(
        encoding,
        told["label"],
        tuple(told["positive"]),
        told["weight"],
        None if names is None else tuple(names),
        told.get("delimiter"),
    )
    if layout.to_dict() != told:
        raise ValueError("columns that would not be written as they are told")
    return layout
