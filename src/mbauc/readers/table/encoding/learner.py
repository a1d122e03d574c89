"""What an encoding has to learn from the rows: categories, means and scales, in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_flag, check_whole
from mbauc.defaults import ENCODE, HASH_DIM, MAX_CATEGORIES, MISSING, SCALE, SIGNED
from mbauc.errors import Advice
from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.plan import Column, ColumnPlan
from mbauc.readers.table.encoding.feature_kinds import CategoryFeature, NumericFeature
from mbauc.readers.table.encoding.statistics import HOW, ColumnStatistics
from mbauc.readers.table.encoding.table_encoding import TableEncoding

#: Distinct values of a column that are counted before one-hot gives up.
_MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class EncodingSettings:
    """How columns are to be encoded; see :class:`~mbauc.readers.TableSource`."""

    encode: str = ENCODE
    hash_dim: int | None = None
    signed: bool = SIGNED
    missing: str = MISSING
    scale: str | None = SCALE
    max_categories: int = MAX_CATEGORIES

    def check(self) -> None:
        """Raise if a setting makes no sense."""
        check_choice("encode", self.encode, ("hash", "onehot", "codes"))
        if self.hash_dim is not None:
            check_whole("hash_dim", self.hash_dim, low=2)
        check_flag("signed", self.signed)
        check_choice("missing", self.missing, ("category", "mean"))
        if self.scale is not None:
            check_choice("scale", self.scale, HOW)
        check_whole("max_categories", self.max_categories)


class EncodingLearner:
    """Learns an encoding from blocks of features; their sizes and order change nothing but rounding."""

    def __init__(self, plan: ColumnPlan, settings: EncodingSettings) -> None:
        self._plan = plan
        self._settings = settings
        columns = plan.features
        self._numeric = [column.name for column in columns if column.kind == "numeric"]
        self._texts = [name for column in columns for name in column.text_names]
        # a table without categories has nothing to hash
        self._hashed = settings.encode == "hash" and bool(self._texts)
        self._statistics = ColumnStatistics(len(self._numeric)) if self._numeric else None
        self._counts: dict[str, dict[str, int]] = {name: {} for name in self._texts}
        self._missing = dict.fromkeys([*self._numeric, *self._texts], 0)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns it has to see."""
        return self._plan.features

    @property
    def needs_rows(self) -> bool:
        """Whether there is anything to learn from the rows."""
        of_numbers = self._settings.scale is not None or self._settings.missing == "mean"
        return not self._hashed or (bool(self._numeric) and of_numbers)

    @property
    def numbers_only(self) -> bool:
        """Whether all columns are numeric, so that a matrix of them differs from the encoded one by scales."""
        return not self._texts

    def matrix(self, features: Features) -> NDArray[np.float64] | None:
        """The numeric columns of some rows, as they are; None if there are none."""
        if not self._numeric:
            return None
        X = np.empty((features.rows, len(self._numeric)), order="F")
        for column, name in zip(X.T, self._numeric, strict=True):
            column[:] = features.numbers[name]
        return X

    def update(self, features: Features, numbers: ColumnStatistics | None = None) -> None:
        """Take in some rows; statistics of their :meth:`matrix` may be known already."""
        if self._statistics is not None:
            numbers = numbers or ColumnStatistics.of_block(self.matrix(features))
            self._statistics.merge(numbers)
            for name, count in zip(self._numeric, (features.rows - numbers.count).tolist(), strict=True):
                self._missing[name] += count
        if self._hashed:
            return
        for name in self._texts:
            codes, values = features.texts[name].drop_unused()
            occurs = np.bincount(codes + 1, minlength=len(values) + 1)
            self._missing[name] += int(occurs[0])
            counts = self._counts[name]
            for value, count in zip(values.to_pylist(), occurs[1:].tolist(), strict=True):
                if count:
                    counts[value] = counts.get(value, 0) + count
            if len(counts) > _MOST_VALUES:
                raise ValueError(
                    f"column {name!r} has more than {_MOST_VALUES:,} distinct values, too many for "
                    + Advice("{encode}. ", encode="onehot")
                    + Advice(
                        "Use {encode}, or leave the column out with {ignore}.", encode="hash", ignore=[name]
                    )
                )

    def encoding(self) -> TableEncoding:
        """The encoding of the rows so far."""
        features: list[NumericFeature | CategoryFeature] = []
        learned = self._means_and_scales()
        for column in self._plan.features:
            if column.kind == "numeric":
                features.append(self._numeric_feature(column.name, learned))
            else:
                features += [self._category_feature(name) for name in column.text_names]
        used = {column.name for column in self._plan.features}
        return TableEncoding(
            self._plan.features,
            tuple(features),
            hash_dim=(self._settings.hash_dim or HASH_DIM) if self._hashed else None,
            signed=self._settings.signed,
            other_columns=tuple(c.name for c in self._plan.columns if c.name not in used),
        )

    def _means_and_scales(self) -> dict[str, tuple[float, float]]:
        """Of the numeric columns; 0 and 1 where they were not to be learned."""
        how, count = self._settings.scale, len(self._numeric)
        means, scales = np.zeros(count), np.ones(count)
        if self._statistics is not None and self.needs_rows:
            means = self._statistics.mean
            scales = scales if how is None else self._statistics.scale(how)
        return dict(zip(self._numeric, zip(means.tolist(), scales.tolist(), strict=True), strict=True))

    def _numeric_feature(self, name: str, learned: Mapping[str, tuple[float, float]]) -> NumericFeature:
        mean, scale = learned[name]
        center = mean if self._settings.scale == "standard" else 0.0
        indicator = self._settings.missing == "category" and not self._hashed and self._missing[name] > 0
        if self._settings.missing == "category" and (indicator or self._hashed):
            return NumericFeature(name, center, scale, 0.0, indicator)
        fill = (mean - center) / scale
        return NumericFeature(name, center, scale, fill, hashes_missing=self._settings.missing == "category")

    def _category_feature(self, name: str) -> CategoryFeature:
        if self._hashed:
            return CategoryFeature(name)
        counts = self._counts[name]
        # the most frequent, and of equals the first in order, so that the order of the rows does not matter
        kept = sorted(counts, key=lambda value: (-counts[value], value))[: self._settings.max_categories]
        return CategoryFeature(name, tuple(sorted(kept)), self._missing[name] > 0, len(kept) < len(counts))
