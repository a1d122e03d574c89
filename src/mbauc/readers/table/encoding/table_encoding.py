"""A fitted encoding: how the columns of a table become a matrix, apart from the data it was learned from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_choice
from mbauc.errors import Advice
from mbauc.readers.hashing import hash_keys
from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.encoding.code_columns import CodeColumn, check_code_columns, describe_codes
from mbauc.readers.table.encoding.feature_kinds import (
    MISSING,
    CategoryFeature,
    NumericFeature,
    check_features,
    feature_from_dict,
    feature_to_dict,
    scale_numbers,
)
from mbauc.readers.table.encoding.frame_rows import read_frame_rows, select_columns
from mbauc.readers.table.encoding.other_zones import OtherZones
from mbauc.readers.table.encoding.schema import ENCODING
from mbauc.readers.table.encoding.sparse_rows import CodedEntries, gather_keys, key_type, sparse_rows
from mbauc.readers.table.encoding.unseen_levels import UnseenLevels
from mbauc.readers.table.encoding.word_codes import write_words

#: Name of the format of an encoding as JSON.
_FORMAT = "mbauc table encoding"
#: Versions of that format: without codes, with them, and with free texts.
_VERSION, _CODES_VERSION, _TEXT_VERSION = 1, 2, 3
#: Columns up to which blocks may be dense.
_NARROW = 1_000
#: Share of nonzero entries from which such blocks are dense: about where dense moments begin to be faster.
_DENSE_SHARE = 0.25


class NumberEntries(NamedTuple):
    """A numeric column, scaled: one entry of each row, all in one column of the matrix."""

    column: int
    values: NDArray[np.float64]


class TableEncoding:
    r"""Fitted encoding of the columns of a table as a numeric matrix.

    Created by :class:`~mbauc.readers.TableSource`; stored and restored by :meth:`to_dict` and
    :meth:`from_dict`. Numeric columns are optionally scaled; categories are one-hot encoded, hashed or encoded
    as integer codes.

    - **Hashed**: the numeric columns come first, in columns of their own, so that no category can collide
      with a large number. Then ``hash_dim`` columns follow, shared by all categories
      (:mod:`mbauc.readers.hashing`); values that collide in a row add up. A missing value, of a numeric column
      too unless it is to be the mean, is hashed as an empty text.
    - **One-hot**: in the order of the table's columns. A value that was not learned is zero in all columns of
      its category, or 1 in ``(other)`` where rare values were pooled: a ranker has learned nothing about it,
      and a column that is zero in all training rows gets no weight. A numeric value that is missing, in a
      column that never had missing ones, becomes the mean.

    - **Codes**: one column for each column of the table or part of a time, in their order; several for free
      texts. Numbers come as they are, categories as the number of their level: 0 to L - 1, and L for a text
      that was not learned. A category with very many levels comes as slots of a hash. Free texts become a
      column of 0 and 1 for each of their most frequent words, and one with the number of words. Missing values
      are NaN. Such a matrix is for curves and levels, not for weights; ``code_columns`` says what its
      columns mean.

    ``O(entries)`` time and memory.

    Attributes
    ----------
    columns : tuple of Column
        The columns used, and how their values are parsed.
    features : tuple of NumericFeature and CategoryFeature
        Their encodings; empty for codes.
    code_columns : tuple of CodeColumn
        Meaning of the columns of a matrix of codes; otherwise empty.
    hash_dim : int or None
        Number of hashed columns; None if there are none.
    signed : bool
        Whether hashed features have signs.
    other_columns : tuple of str
        Unused columns of the training table.
    starts : list of int
        First column of the matrix for each feature, and the first hashed one.
    n_features : int
        Number of columns of the matrix.
    dense : bool
        Whether matrices are dense: at most 1,000 columns, of which a quarter or more is not zero. CSR
        otherwise. Dense ones have one column after another in memory. Codes are always dense.

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
        code_columns: tuple[CodeColumn, ...] = (),
    ) -> None:
        if hash_dim is not None:
            hash_dim = int(hash_dim)  # JSON knows no NumPy integers
            # numbers first, so that the hashed columns are one range
            features = tuple(sorted(features, key=lambda feature: isinstance(feature, CategoryFeature)))
        self.columns = columns
        self.features = features
        self.code_columns = code_columns
        self.hash_dim = hash_dim
        self.signed = bool(signed)
        self.other_columns = other_columns
        widths = [1] * len(code_columns) if code_columns else [feature.width for feature in features]
        self.starts: list[int] = np.cumsum([0, *widths]).tolist()
        self.n_features: int = self.starts[-1] + (hash_dim or 0)
        self.dense: bool = bool(code_columns) or (
            self.n_features <= _NARROW and len(features) >= _DENSE_SHARE * self.n_features
        )
        self._code_places: dict[str, list[int]] = {}
        for place, column in enumerate(code_columns):
            self._code_places.setdefault(column.reads, []).append(place)

    def __repr__(self) -> str:
        kind = "one-hot" if self.hash_dim is None else f"hashed to {self.hash_dim:,}"
        kind = "codes" if self.code_columns else kind
        return f"TableEncoding({len(self.columns)} columns → {self.n_features:,} features, {kind})"

    # -- names ---------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix: ``bid``, ``site=a``, ``hash#17``. A new list, ``O(d)``."""
        if self.code_columns:
            return [column.name for column in self.code_columns]
        names = [name for feature in self.features for name in feature.feature_names()]
        return names + [f"hash#{slot}" for slot in range(self.hash_dim or 0)]

    def describe_widths(self) -> dict[str, str]:
        """Describe the encoding of each column in words."""
        widths: dict[str, str] = {}
        if self.code_columns:
            return {column.name: describe_codes(self.codes_of(column)) for column in self.columns}
        features = {feature.name: feature for feature in self.features}
        for column in self.columns:
            own = [features[name] for name in column.text_names or [column.name]]
            if self.hash_dim is not None and all(isinstance(feature, CategoryFeature) for feature in own):
                widths[column.name] = f"{len(own)} × hashed" if len(own) > 1 else "hashed"
            else:
                width = sum(feature.width for feature in own)
                widths[column.name] = f"{width:,} column{'s' if width != 1 else ''}"
            if column.kind == "text":
                widths[column.name] += ", as a category"
        return widths

    def codes_of(self, column: Column) -> list[CodeColumn]:
        """The columns of codes that encode a column of the table, in order."""
        names = column.text_names or [column.name]
        return [self.code_columns[place] for name in names for place in self._code_places.get(name, ())]

    @property
    def scales(self) -> NDArray[np.float64]:
        """Divisor of each column of the matrix; 1 for categories. ``O(d)``."""
        scales = np.ones(self.n_features)
        for feature, start in self._placed_features():
            if isinstance(feature, NumericFeature):
                scales[start] = feature.scale
        return scales

    @property
    def standardised(self) -> bool:
        """Whether numeric columns were standardised (centred, and divided by their standard deviations)."""
        return any(isinstance(feature, NumericFeature) and feature.center != 0 for feature in self.features)

    @property
    def first_hashed(self) -> int:
        """First hashed column of the matrix; ``n_features`` if there are none."""
        return self.starts[-1]

    def known_levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each category whose levels were all kept."""
        names = {column.name for column in self.columns if column.kind == "category"}
        found = {code.name: code.levels for code in self.code_columns if code.levels is not None}
        for feature in self.features:
            if isinstance(feature, CategoryFeature) and feature.categories and not feature.has_other:
                found[feature.name] = feature.categories
        return {name: levels for name, levels in found.items() if name in names}

    # -- use -----------------------------------------------------------------------------------------

    def transform(self, table: Any, *, extra: str = "error") -> Any:
        """Encode a table as a matrix.

        Parameters
        ----------
        table : Arrow table, pandas or polars frame, or dict of columns
            Table with the training columns in any order. Unused columns of the training table (labels, ids) are
            optional.
        extra : {"error", "ignore"}, default="error"
            Whether columns that were not in the training table raise an error or are ignored.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
        """
        check_choice("extra", extra, ("error", "ignore"))
        rows = select_columns(table, [column.name for column in self.columns], self.other_columns, extra)
        if not rows.num_rows:  # where types mean nothing
            shape = (0, self.n_features)
            return np.zeros(shape) if self.dense else sp.csr_array(shape, dtype=np.float64)
        zones = OtherZones(self.columns)
        zones.look(rows.schema)
        zones.warn()
        unseen = UnseenLevels(self.known_levels())
        if not self.code_columns:
            features = read_frame_rows(rows, self.columns)
            unseen.look(features)
            unseen.warn()
            return self.matrix(features)
        X = np.empty((rows.num_rows, self.n_features), order="F")
        for column in self.columns:  # one by one: there may be no room for all of them twice
            features = read_frame_rows(rows, [column])
            unseen.look(features)
            self._write_codes(features, X)
        unseen.warn()
        return X

    def matrix(self, features: Features) -> Any:
        """Encode features that have already been read."""
        if self.code_columns:
            codes = np.empty((features.rows, self.n_features), order="F")
            self._write_codes(features, codes)
            return codes
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

    def _write_codes(self, features: Features, X: NDArray[np.float64]) -> None:
        """Write the columns that were read."""
        for name, values in features.numbers.items():
            X[:, self._code_places[name][0]] = values
        for name, texts in features.texts.items():
            first, *more = self._code_places[name]
            columns = self.code_columns[first : first + 1 + len(more)]
            if columns[0].word is None:
                columns[0].write_codes(texts, out=X[:, first])
            else:
                write_words(columns, texts, out=X[:, first : first + len(columns)])

    def _dense_matrix(self, features: Features) -> NDArray[np.float64]:
        # one column after another, as they come: rows would be written a number at a time
        X = np.zeros((features.rows, self.n_features), order="F")
        rows = np.arange(features.rows)
        numeric = [X[:, start] for f, start in self._placed_features() if isinstance(f, NumericFeature)]
        for one in self.encode(features, out=numeric):
            if isinstance(one, CodedEntries):
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
                kernels.add_gathered(one.codes, _weights_of_keys(one.keys, coef), total)
        return total

    def column_scores(
        self, features: Features, coef: NDArray[np.float64]
    ) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Contribution of each column of the table to the scores, hashed or not; they sum to ``scores``.

        Missing-value indicators and parts of a time belong to their column. New arrays, ``O(n)`` time each.
        """
        from mbauc.readers.table import kernels

        owner = self._owners()
        numeric = {start: feature.name for feature, start in self._placed_features()}
        found: dict[str, NDArray[np.float64]] = {}
        for one in self.encode(features):
            if isinstance(one, NumberEntries):
                found[owner[numeric[one.column]]] = one.values * coef[one.column]
            else:
                total = found.setdefault(owner[one.name], np.zeros(features.rows))
                kernels.add_gathered(one.codes, _weights_of_keys(one.keys, coef), total)
        yield from found.items()

    def column_deviations(
        self, X: Any, coef: NDArray[np.float64], weight: NDArray[np.float64] | None = None
    ) -> dict[str, float]:
        """Standard deviation of the contribution of each column of the table to the scores, from the matrix.

        Hashed columns are not included, because they cannot be separated in the matrix.
        """
        added: dict[str, NDArray[np.float64]] = {}
        for name, own in self._owned_columns():
            added[name] = np.asarray(X[:, own] @ coef[own]) + added.get(name, 0.0)
        return {
            name: float(np.sqrt(np.average((one - np.average(one, weights=weight)) ** 2, weights=weight)))
            for name, one in added.items()
        }

    def column_means(self, means: NDArray[np.float64], coef: NDArray[np.float64]) -> dict[str, float]:
        """Mean contribution of each column of the table to the scores, given means of the matrix columns.

        The contribution of hashed values, which share columns, is taken to be 0.
        """
        found = dict.fromkeys((column.name for column in self.columns), 0.0)
        for name, own in self._owned_columns():
            found[name] += float(means[own] @ coef[own])
        return found

    def _owners(self) -> dict[str, str]:
        """Which column of the table each feature belongs to: parts of a time to their column."""
        return {name: column.name for column in self.columns for name in column.text_names or [column.name]}

    def _owned_columns(self) -> Iterator[tuple[str, slice]]:
        """Columns of the matrix that belong to one column of the table alone, and its name."""
        owner = self._owners()
        for feature, start in self._placed_features():
            if feature.width:
                yield owner[feature.name], slice(start, start + feature.width)

    def slot_contents(self, features: Features, columns: set[int]) -> Iterator[tuple[int, str, str, int]]:
        """Values in hashed columns as (column, name, value, rows); a value may occur more than once."""
        for one in self.encode(features):
            if isinstance(one, NumberEntries):
                continue
            slots, last = one.keys >> 1, one.keys.size - 1
            counts = np.bincount(np.where(one.codes < 0, last, one.codes), minlength=slots.size)
            for place in np.flatnonzero(np.isin(slots, list(columns)) & (counts > 0)).tolist():
                value = one.values[place].as_py() if place < len(one.values) else ""
                yield int(slots[place]), one.name, value or MISSING, int(counts[place])

    def encode(
        self, features: Features, out: Iterable[NDArray[np.float64]] | None = None
    ) -> Iterator[NumberEntries | CodedEntries]:
        """Iterate over the encoded features in order.

        Parameters
        ----------
        features : Features
            Rows that were read.
        out : arrays, one for each numeric column, optional
            Output arrays for the numeric columns; by default one buffer is reused for all columns.
        """
        if self.code_columns:
            raise ValueError(
                "columns were encoded as codes, which have no weights of their own: codes of categories are in "
                "no order, and missing values are NaN. " + Advice("Use {encode}.", encode="onehot")
            )
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
        """The encoding as a dict for JSON."""
        columns = [
            {"name": c.name, "kind": c.kind, "spelling": c.spelling, "form": c.form} for c in self.columns
        ]
        version = _CODES_VERSION if self.code_columns else _VERSION
        description = {
            "format": _FORMAT,
            "version": _TEXT_VERSION if any(c.kind == "text" for c in self.columns) else version,
            "columns": columns,
            "features": [feature_to_dict(feature) for feature in self.features],
            "hash_dim": self.hash_dim,
            "signed": self.signed,
            "other_columns": list(self.other_columns),
        }
        if not self.code_columns:
            return description
        return description | {"codes": [c.to_dict() for c in self.code_columns]}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> TableEncoding:
        """Restore an encoding from the output of :meth:`to_dict`.

        Raises
        ------
        ValueError
            If the argument is invalid, or from a later version.
        """
        if not isinstance(description, Mapping) or description.get("format") != _FORMAT:
            raise ValueError(f"expected a dict with format {_FORMAT!r}, as TableEncoding.to_dict gives.")
        if description.get("version") not in (_VERSION, _CODES_VERSION, _TEXT_VERSION):
            raise ValueError(
                f"the encoding has version {description.get('version')!r}, this mbauc reads up to "
                f"{_TEXT_VERSION}. Update mbauc."
            )
        try:
            ENCODING.check(dict(description), "encoding")
            encoding = cls(
                tuple(Column(**column, why="learned earlier") for column in description["columns"]),
                tuple(feature_from_dict(dict(feature)) for feature in description["features"]),
                hash_dim=description["hash_dim"],
                signed=description["signed"],
                other_columns=tuple(description["other_columns"]),
                code_columns=tuple(CodeColumn.from_dict(column) for column in description.get("codes", ())),
            )
            if encoding.code_columns:
                if encoding.features or encoding.hash_dim is not None:
                    raise ValueError("it has both codes and features")
                check_code_columns(encoding.code_columns, encoding.columns)
            else:
                check_features(encoding.features, encoding.columns, encoding.hash_dim is not None)
        except ValueError as error:
            raise ValueError(f"the encoding is incomplete or broken ({error}). Write it again.") from None
        return encoding


def _weights_of_keys(keys: NDArray[Any], coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of each distinct value, with the sign of its hash; 0 for one that has no column."""
    weights = coef[np.maximum(keys, 0) >> 1]
    return np.where(keys < 0, 0.0, np.where(keys & 1, -weights, weights))
