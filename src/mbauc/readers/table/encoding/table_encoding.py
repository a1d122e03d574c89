"""A fitted encoding: how the columns of a table become a matrix, apart from the data it was learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_choice
from mbauc.readers.hashing import hash_features, hash_keys, hash_signs, hash_slots
from mbauc.readers.table.arrow import as_arrow_table, column_names
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.guess import is_index_name
from mbauc.readers.table.columns.plan import Column, no_such_column
from mbauc.readers.table.columns.values import Texts
from mbauc.readers.table.encoding.feature_kinds import (
    MISSING,
    CategoryFeature,
    NumericFeature,
    feature_from_dict,
    scaled,
)
from mbauc.readers.table.encoding.sparse_rows import key_type, keys_of_codes, sparse_rows
from mbauc.readers.table.faults import settled, stop

_FORMAT, _VERSION = "mbauc table encoding", 1
#: Up to so many columns blocks may be dense,
_NARROW = 1_000
#: if at least this share of their entries is not zero: about where dense moments begin to be faster.
_DENSE_SHARE = 0.25


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
    [[0.0, 1.0, 0.25, 0.0], [0.0, 0.0, 0.0, 1.0]]
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

    @property
    def scales(self) -> NDArray[np.float64]:
        """By what numbers were divided, for each column of the matrix; 1 for categories. ``O(d)``."""
        scales = np.ones(self.n_features)
        for feature, start in zip(self.features, self.starts, strict=False):
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
            told = ", ".join(map(repr, more[:20]))
            raise ValueError(
                f"the table has columns that were not learned: {told}. Drop them, or pass extra='ignore'."
            )
        columns = as_arrow_table(table, wanted)
        if not columns.num_rows:  # where types mean nothing
            shape = (0, self.n_features)
            return np.zeros(shape) if self.dense else sp.csr_array(shape, dtype=np.float64)
        try:
            features, faults = read_features(columns, self.columns, "the table")
            settled(faults, lambda row: f"row {row:,} of the table (counted from 0)", stop)
        except ValueError as error:
            raise ValueError(_without_options(str(error))) from None
        return self.matrix(features)

    def matrix(self, features: Features) -> Any:
        """The matrix of features that were read already."""
        if self.dense:
            X = np.zeros((features.rows, self.n_features))
            rows = np.arange(features.rows)
            for places, values in self._entries(features):
                if isinstance(places, int):
                    X[:, places] = values
                else:
                    used = places >= 0
                    # a row occurs once in each step, so that collisions add up
                    X[rows[used], places[used]] += values[used]
            return X
        numbers = np.empty((sum(isinstance(f, NumericFeature) for f in self.features), features.rows))
        number_columns: list[int] = []
        # entries ±1, feature by feature: what is known of each row, and the key that stands for it
        coded: list[tuple[NDArray[Any], NDArray[Any]]] = []
        kind = key_type(self.n_features)
        for feature, start in zip(self.features, self.starts, strict=False):
            if isinstance(feature, CategoryFeature):
                texts = features.texts[feature.name]
                if feature.categories is None:
                    coded.append((texts.codes, self.hashed_keys(feature.name, texts.values)))
                else:
                    keys = 2 * (start + np.arange(feature.width + 1))
                    keys[-1] = -1
                    coded.append((feature.places(texts).astype(np.int32), keys.astype(kind)))
                continue
            missing = scaled(feature, features.numbers[feature.name], out=numbers[len(number_columns)])
            number_columns.append(start)
            if feature.indicator or (self.hashes_missing(feature) and missing.any()):
                key = [2 * start + 2] if feature.indicator else self.hashed_keys(feature.name, [])
                coded.append((np.where(missing, 0, -1).astype(np.int32), np.array([*key, -1], dtype=kind)))
        keys = keys_of_codes(coded, features.rows, kind)
        hashed = self.hash_dim is not None
        return sparse_rows(
            keys, numbers, np.array(number_columns, dtype=np.int64), self.n_features, sort=hashed
        )

    def _entries(self, features: Features) -> Iterator[tuple[int | NDArray[np.int64], NDArray[np.float64]]]:
        """One entry a row, again and again: column (one for all, or one each; -1 for none) and value."""
        ones = np.ones(features.rows)
        for feature, start in zip(self.features, self.starts, strict=False):
            if isinstance(feature, CategoryFeature):
                texts = features.texts[feature.name]
                if feature.categories is None:
                    yield self._hashed(feature.name, texts)
                else:
                    places = feature.places(texts)
                    yield np.where(places >= 0, places + start, -1), ones
                continue
            values = np.empty(features.rows)
            missing = scaled(feature, features.numbers[feature.name], out=values)
            yield start, values
            if feature.indicator:
                yield np.where(missing, start + 1, -1), ones
            elif self.hashes_missing(feature) and missing.any():
                slots, signs = self._slots(feature.name, [""])
                yield np.where(missing, slots[0], -1), signs[0] * ones

    def hashes_missing(self, feature: NumericFeature) -> bool:
        """Whether a missing value of a numeric column is hashed as an empty text."""
        return self.hash_dim is not None and feature.hashes_missing

    def hashed_keys(self, name: str, values: Any) -> NDArray[Any]:
        """Keys of hashed features, and of a missing value."""
        return hash_keys(
            name,
            values,
            self.hash_dim or 0,
            first=self.first_hashed,
            signed=self.signed,
            kind=key_type(self.n_features),
        )

    def _slots(self, name: str, values: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Columns and values of hashed features."""
        hashes = hash_features(name, values)
        slots = hash_slots(hashes, self.hash_dim or 0) + self.first_hashed
        return slots, hash_signs(hashes) if self.signed else np.ones(hashes.size)

    def _hashed(self, name: str, texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        slots, signs = self._slots(name, texts.values)
        missing, sign = self._slots(name, [""])
        return np.r_[slots, missing][texts.codes], np.r_[signs, sign][texts.codes]

    def slot_contents(self, features: Features, columns: set[int]) -> Iterator[tuple[int, str, str, int]]:
        """What falls into hashed columns: (column, name, value, rows) for each distinct value."""
        if self.hash_dim is None:
            return
        for feature in self.features:
            if isinstance(feature, CategoryFeature):
                texts = features.texts[feature.name].used()
                slots = np.append(
                    self._slots(feature.name, texts.values)[0], self._slots(feature.name, [""])[0]
                )
                counts = np.bincount(
                    np.where(texts.codes < 0, slots.size - 1, texts.codes), minlength=slots.size
                )
                for place in np.flatnonzero(np.isin(slots, list(columns)) & (counts > 0)).tolist():
                    value = MISSING if place == slots.size - 1 else texts.values[place].as_py()
                    yield int(slots[place]), feature.name, value, int(counts[place])
            elif feature.hashes_missing:
                slot = int(self._slots(feature.name, [""])[0][0])
                rows = int(np.isnan(features.numbers[feature.name]).sum())
                if rows and slot in columns:
                    yield slot, feature.name, MISSING, rows

    # -- to a file and back --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, texts, lists and dicts, for JSON."""
        columns = [
            {"name": c.name, "kind": c.kind, "spelling": c.spelling, "form": c.form} for c in self.columns
        ]
        features = []
        for feature in self.features:
            told: dict[str, Any] = asdict(feature)
            if isinstance(feature, CategoryFeature):
                told["categories"] = None if feature.categories is None else list(feature.categories)
            elif feature.hashes_missing:
                del told["hashes_missing"]
            features.append({"kind": "category" if isinstance(feature, CategoryFeature) else "numeric"} | told)
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
    def from_dict(cls, told: Mapping[str, Any]) -> TableEncoding:
        """What :meth:`to_dict` gave.

        Raises
        ------
        ValueError
            If it is something else, or of a later version.
        """
        if not isinstance(told, Mapping) or told.get("format") != _FORMAT:
            raise ValueError(f"expected a dict with format {_FORMAT!r}, as TableEncoding.to_dict gives.")
        if told.get("version") != _VERSION:
            raise ValueError(
                f"the encoding has version {told.get('version')!r}, this mbauc reads {_VERSION}. Update mbauc."
            )
        try:
            columns = tuple(Column(**column, why="learned earlier") for column in told["columns"])
            features = tuple(feature_from_dict(dict(feature)) for feature in told["features"])
            return cls(
                columns,
                features,
                hash_dim=told["hash_dim"],
                signed=told["signed"],
                other_columns=tuple(told["other_columns"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the encoding is incomplete or broken ({error}). Write it again.") from None


def _without_options(message: str) -> str:
    """A message without advice to pass what only :class:`~mbauc.readers.TableSource` takes."""
    instead = {
        " Pass types=": "Correct it, or drop the row.",
        " Leave it out with ignore=": "Convert it first.",
    }
    for advice, other in instead.items():
        start, found, _ = message.rpartition(advice)
        if found:
            return f"{start} {other}"
    return message
