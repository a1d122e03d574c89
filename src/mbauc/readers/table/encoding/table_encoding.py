"""A fitted encoding: how the columns of a table become a matrix, apart from the data it was learned from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import abbreviate, check_choice
from mbauc.errors import Advice
from mbauc.readers.hashing import hash_keys
from mbauc.readers.table.arrow import as_arrow_table, column_names
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.guess import is_index_name
from mbauc.readers.table.columns.plan import Column, no_such_column
from mbauc.readers.table.encoding.feature_kinds import (
    MISSING,
    CategoryFeature,
    NumericFeature,
    feature_from_dict,
    scale_numbers,
)
from mbauc.readers.table.encoding.schema import ENCODING
from mbauc.readers.table.encoding.sparse_rows import CodedEntries, gather_keys, key_type, sparse_rows
from mbauc.readers.table.faults import report_faults

#: Name of the format of an encoding as JSON.
_FORMAT = "mbauc table encoding"
#: Version of that format.
_VERSION = 1
#: Columns up to which blocks may be dense.
_NARROW = 1_000
#: Share of nonzero entries from which such blocks are dense: about where dense moments begin to be faster.
_DENSE_SHARE = 0.25


class NumberEntries(NamedTuple):
    """A numeric column, scaled: one entry of each row, all in one column of the matrix."""

    column: int
    values: NDArray[np.float64]


class TableEncoding:
    r"""How the columns of a table become a matrix: learned once, applied to any table with these columns.

    Made by :class:`~mbauc.readers.TableSource`; :meth:`to_dict` and :meth:`from_dict` store it and load it.
    Numeric columns come as they are or scaled, categories one-hot or hashed.

    - **Hashed**: the numeric columns come first, in columns of their own, so that no category can collide
      with a large number. Then ``hash_dim`` columns follow, shared by all categories
      (:mod:`mbauc.readers.hashing`); values that collide in a row add up. A missing value, of a numeric column
      too unless it is to be the mean, is hashed as an empty text.
    - **One-hot**: in the order of the table's columns. A value that was not learned is zero in all columns of
      its category, or 1 in ``(other)`` where rare values were pooled: a ranker has learned nothing about it,
      and a column that is zero in all training rows gets no weight. A numeric value that is missing, in a
      column that never had missing ones, becomes the mean.

    ``O(entries)`` time and memory.

    Attributes
    ----------
    columns : tuple of Column
        The columns that are used, and how their values are read.
    features : tuple of NumericFeature and CategoryFeature
        What they become.
    hash_dim : int or None
        Number of hashed columns; None if there are none.
    signed : bool
        Whether hashed features have signs.
    other_columns : tuple of str
        Columns that the table had and that are not used.
    starts : list of int
        First column of the matrix for each feature, and the first hashed one.
    n_features : int
        Number of columns of the matrix.
    dense : bool
        Whether matrices are dense: at most 1,000 columns, of which a quarter or more is not zero. CSR
        otherwise.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import pandas as pd
    >>> from mbauc.readers import TableEncoding, TableSource
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
    >>> _ = path.write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,\n")
    >>> encoding = TableSource(path, label="click", encode="onehot").encoding
    >>> encoding.feature_names
    ['site=a', 'site=b', 'bid', 'bid=(missing)']
    >>> encoding = TableEncoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    >>> encoding.transform(pd.DataFrame({"bid": [0.25, None], "site": ["b", "new"]})).tolist()
    [[0.0, 1.0, -1.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        columns: tuple[Column, ...],
        features: tuple[NumericFeature | CategoryFeature, ...],
        *,
        hash_dim: int | None = None,
        signed: bool = False,
        other_columns: tuple[str, ...] = (),
    ) -> None:
        if hash_dim is not None:
            hash_dim = int(hash_dim)  # JSON knows no NumPy integers
            # numbers first, so that the hashed columns are one range
            features = tuple(sorted(features, key=lambda feature: isinstance(feature, CategoryFeature)))
        self.columns = columns
        self.features = features
        self.hash_dim = hash_dim
        self.signed = bool(signed)
        self.other_columns = other_columns
        self.starts: list[int] = np.cumsum([0, *(feature.width for feature in features)]).tolist()
        self.n_features: int = self.starts[-1] + (hash_dim or 0)
        self.dense: bool = self.n_features <= _NARROW and len(features) >= _DENSE_SHARE * self.n_features

    def __repr__(self) -> str:
        kind = "one-hot" if self.hash_dim is None else f"hashed to {self.hash_dim:,}"
        return f"TableEncoding({len(self.columns)} columns → {self.n_features:,} features, {kind})"

    # -- names ---------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix: ``bid``, ``site=a``, ``hash#17``. A new list, ``O(d)``."""
        names = [name for feature in self.features for name in feature.feature_names()]
        return names + [f"hash#{slot}" for slot in range(self.hash_dim or 0)]

    def describe_widths(self) -> dict[str, str]:
        """What each column of the table becomes, in words."""
        widths: dict[str, str] = {}
        features = {feature.name: feature for feature in self.features}
        for column in self.columns:
            own = [features[name] for name in column.text_names or [column.name]]
            if self.hash_dim is not None and all(isinstance(feature, CategoryFeature) for feature in own):
                widths[column.name] = f"{len(own)} × hashed" if len(own) > 1 else "hashed"
            else:
                width = sum(feature.width for feature in own)
                widths[column.name] = f"{width:,} column{'s' if width != 1 else ''}"
        return widths

    @property
    def scales(self) -> NDArray[np.float64]:
        """By what numbers were divided, for each column of the matrix; 1 for categories. ``O(d)``."""
        scales = np.ones(self.n_features)
        for feature, start in self._placed_features():
            if isinstance(feature, NumericFeature):
                scales[start] = feature.scale
        return scales

    @property
    def standardised(self) -> bool:
        """Whether numbers were centred, which goes with their standard deviations as scales."""
        return any(isinstance(feature, NumericFeature) and feature.center != 0 for feature in self.features)

    @property
    def first_hashed(self) -> int:
        """Column of the matrix from which on they are hashed; ``n_features`` if none are."""
        return self.starts[-1]

    # -- use -----------------------------------------------------------------------------------------

    def transform(self, table: Any, *, extra: str = "error") -> Any:
        """The matrix of a table.

        Parameters
        ----------
        table : Arrow table, pandas or polars frame, or dict of columns
            With the columns that were learned, in any order. Those that the first table had and that are not
            used (labels, ids) may be there or not.
        extra : {"error", "ignore"}
            What to do about columns that the first table did not have.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
        """
        check_choice("extra", extra, ("error", "ignore"))
        names = column_names(table)
        wanted = [column.name for column in self.columns]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"the table has two columns named {twice!r}; give each a name of its own.")
        present, known = set(names), {*wanted, *self.other_columns}
        absent = [name for name in wanted if name not in present]
        if absent:
            raise ValueError(no_such_column(f"{', '.join(map(repr, absent))}", absent[0], names, "the table"))
        more = [name for name in names if name not in known and not is_index_name(name)]
        if more and extra == "error":
            shown = ", ".join(map(repr, more[:20]))
            raise ValueError(
                f"the table has columns that were not learned: {shown}. Drop them, or pass extra='ignore'."
            )
        columns = as_arrow_table(table, wanted)
        if not columns.num_rows:  # where types mean nothing
            shape = (0, self.n_features)
            return np.zeros(shape) if self.dense else sp.csr_array(shape, dtype=np.float64)
        try:
            features, faults = read_features(columns, self.columns, "the table")
        except ValueError as error:  # what it advises are arguments that only a source of files has
            said = str(error)
            raise ValueError(f"{said.fact} Convert it first." if isinstance(said, Advice) else said) from None
        report_faults(faults, lambda row: f"row {row:,} of the table (counted from 0)", _stop)
        return self.matrix(features)

    def matrix(self, features: Features) -> Any:
        """The matrix of features that were read already."""
        if self.dense:
            return self._dense_matrix(features)
        numeric = [start for f, start in self._placed_features() if isinstance(f, NumericFeature)]
        numbers = np.empty((len(numeric), features.rows))
        entries = [one for one in self.encode(features, out=numbers) if isinstance(one, CodedEntries)]
        keys = gather_keys(entries, features.rows, key_type(self.n_features))
        return sparse_rows(
            keys,
            numbers,
            np.array(numeric, dtype=np.int64),
            self.n_features,
            sort=self.hash_dim is not None,
        )

    def _dense_matrix(self, features: Features) -> NDArray[np.float64]:
        X = np.zeros((features.rows, self.n_features))
        rows = np.arange(features.rows)
        for one in self.encode(features):
            if isinstance(one, NumberEntries):
                X[:, one.column] = one.values
            else:
                keys = one.keys[one.codes]
                used = keys >= 0
                # a row occurs once in each step, so that collisions add up
                X[rows[used], keys[used] >> 1] += np.where(keys[used] & 1, -1.0, 1.0)
        return X

    def scores(self, features: Features, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """``matrix(features) @ coef`` up to rounding: sums run by columns of the table, in their order.

        A weight is looked up once for each distinct value, and gathered for each row. ``O(n)`` time for each
        column of the table, and no memory beyond a number a row.
        """
        from mbauc.readers.table import kernels

        total = np.zeros(features.rows)
        for one in self.encode(features):
            if isinstance(one, NumberEntries):
                total += np.multiply(one.values, coef[one.column], out=one.values)
            else:
                weights = coef[np.maximum(one.keys, 0) >> 1]
                weights = np.where(one.keys < 0, 0.0, np.where(one.keys & 1, -weights, weights))
                kernels.add_gathered(one.codes, weights, total)
        return total

    def slot_contents(self, features: Features, columns: set[int]) -> Iterator[tuple[int, str, str, int]]:
        """What falls into hashed columns: (column, name, value, rows), a value perhaps more than once."""
        for one in self.encode(features):
            if isinstance(one, NumberEntries):
                continue
            slots, last = one.keys >> 1, one.keys.size - 1
            counts = np.bincount(np.where(one.codes < 0, last, one.codes), minlength=slots.size)
            for place in np.flatnonzero(np.isin(slots, list(columns)) & (counts > 0)).tolist():
                value = one.values[place].as_py() if place < len(one.values) else ""
                yield int(slots[place]), one.name, value or MISSING, int(counts[place])

    def encode(
        self, features: Features, out: NDArray[np.float64] | None = None
    ) -> Iterator[NumberEntries | CodedEntries]:
        """What each column becomes, in the order of the features: the one walk that all else consumes.

        Parameters
        ----------
        features : Features
            Rows that were read.
        out : ndarray of shape (numeric columns, rows), optional
            Where the numbers of each numeric column go; by default the next column overwrites them.
        """
        room = itertools.repeat(np.empty(features.rows)) if out is None else iter(out)
        for feature, start in self._placed_features():
            if isinstance(feature, CategoryFeature):
                texts = features.texts[feature.name]
                if feature.categories is None:
                    keys = self._hash_keys(feature.name, texts.values)
                else:
                    texts, places = feature.places_of_values(texts)
                    keys = np.where(places < 0, -1, 2 * (start + places)).astype(key_type(self.n_features))
                yield CodedEntries(feature.name, texts.codes, keys, texts.values)
                continue
            values = next(room)
            missing = scale_numbers(feature, features.numbers[feature.name], out=values)
            yield NumberEntries(start, values)
            hashed = self.hash_dim is not None and feature.hashes_missing
            if (feature.indicator or hashed) and missing.any():
                key = 2 * (start + 1) if feature.indicator else int(self._hash_keys(feature.name, [])[0])
                keys = np.array([key, -1], dtype=key_type(self.n_features))
                yield CodedEntries(feature.name, np.where(missing, 0, -1).astype(np.int32), keys)

    def _placed_features(self) -> Iterator[tuple[NumericFeature | CategoryFeature, int]]:
        """Features and their first columns."""
        return zip(self.features, self.starts, strict=False)

    def _hash_keys(self, name: str, values: Any) -> NDArray[Any]:
        """Keys of hashed values, and of a missing one."""
        return hash_keys(
            name,
            values,
            self.hash_dim or 0,
            first=self.first_hashed,
            signed=self.signed,
            kind=key_type(self.n_features),
        )

    # -- to a file and back --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, texts, lists and dicts, for JSON."""
        columns = [
            {"name": c.name, "kind": c.kind, "spelling": c.spelling, "form": c.form} for c in self.columns
        ]
        features = []
        for feature in self.features:
            description: dict[str, Any] = asdict(feature)
            if isinstance(feature, CategoryFeature):
                description["categories"] = None if feature.categories is None else list(feature.categories)
            elif feature.hashes_missing:
                del description["hashes_missing"]
            features.append(
                {"kind": "category" if isinstance(feature, CategoryFeature) else "numeric"} | description
            )
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "columns": columns,
            "features": features,
            "hash_dim": self.hash_dim,
            "signed": self.signed,
            "other_columns": list(self.other_columns),
        }

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> TableEncoding:
        """What :meth:`to_dict` gave.

        Raises
        ------
        ValueError
            If it is something else, or of a later version.
        """
        if not isinstance(description, Mapping) or description.get("format") != _FORMAT:
            raise ValueError(f"expected a dict with format {_FORMAT!r}, as TableEncoding.to_dict gives.")
        if description.get("version") != _VERSION:
            raise ValueError(
                f"the encoding has version {description.get('version')!r}, this mbauc reads {_VERSION}. "
                "Update mbauc."
            )
        try:
            ENCODING.check(dict(description), "encoding")
            encoding = cls(
                tuple(Column(**column, why="learned earlier") for column in description["columns"]),
                tuple(feature_from_dict(dict(feature)) for feature in description["features"]),
                hash_dim=description["hash_dim"],
                signed=description["signed"],
                other_columns=tuple(description["other_columns"]),
            )
            encoding._check_features()
        except ValueError as error:
            raise ValueError(f"the encoding is incomplete or broken ({error}). Write it again.") from None
        return encoding

    def _check_features(self) -> None:
        """Raise a ValueError for features, of the right types, that no table has given."""
        expected = [n for c in self.columns for n in (c.text_names or [c.name])]
        numeric = {c.name for c in self.columns if c.kind == "numeric"}
        hashed = self.hash_dim is not None
        for feature in self.features:
            name = abbreviate(feature.name)
            if isinstance(feature, NumericFeature) != (feature.name in numeric):
                raise ValueError(f"the feature {name} does not fit its column")
            if isinstance(feature, NumericFeature):
                if feature.scale == 0:
                    raise ValueError(f"the scale of {name} is 0")
            elif (feature.categories is None) != hashed:
                raise ValueError(f"{name} is {'not ' if hashed else ''}hashed, unlike the other columns")
        if sorted(expected) != sorted(feature.name for feature in self.features):
            raise ValueError("features and columns of the encoding do not fit each other")


def _stop(place: str, reason: str, message: str) -> None:
    """Raise at the first row that cannot be used, without advice that only a source of files can follow."""
    fact = message.fact if isinstance(message, Advice) else message
    raise ValueError(f"{place}: {fact} Correct it, or drop the row.")
