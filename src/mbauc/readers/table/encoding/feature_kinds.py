"""What a column of a table becomes: a scaled number, or a feature for each value of a category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.columns.values import Texts

#: Stands for a missing value in names of features.
MISSING = "(missing)"
#: Stands for values without a column of their own.
OTHER = "(other)"


@dataclass(frozen=True)
class NumericFeature:
    """A numeric column: ``(x - center) / scale``, and ``fill`` where x is missing."""

    #: Name of the column.
    name: str
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0
    #: Whether a second feature is 1 where x is missing.
    indicator: bool = False
    #: Whether, where categories are hashed, a missing value is hashed as an empty text.
    hashes_missing: bool = True

    @property
    def width(self) -> int:
        """Number of features."""
        return 2 if self.indicator else 1

    def feature_names(self) -> Iterator[str]:
        """Names of the features."""
        yield self.name
        if self.indicator:
            yield f"{self.name}={MISSING}"


@dataclass(frozen=True)
class CategoryFeature:
    """A category column, or a part of a time column: one feature for each value, or hashed ones."""

    #: Name of the column, for parts with the part (``hour.weekday``).
    name: str
    #: Values with a feature of their own; None if values are hashed.
    categories: tuple[str, ...] | None = None
    #: Whether missing values, and values without a feature of their own, have one.
    has_missing: bool = False
    has_other: bool = False

    @property
    def width(self) -> int:
        """Number of features; 0 if they are hashed into slots that all share."""
        return 0 if self.categories is None else len(self.categories) + self.has_missing + self.has_other

    def feature_names(self) -> Iterator[str]:
        """Names of the features."""
        for value in self.categories or ():
            yield f"{self.name}={value}"
        if self.has_missing:
            yield f"{self.name}={MISSING}"
        if self.has_other:
            yield f"{self.name}={OTHER}"

    def places_of_values(self, texts: Texts) -> tuple[Texts, NDArray[np.int64]]:
        """Which of the features is 1, for each text that occurs and, at last, a missing one; -1 for none."""
        known = {value: place for place, value in enumerate(self.categories or ())}
        missing = len(known) if self.has_missing else -1
        other = len(known) + self.has_missing if self.has_other else -1
        used = texts.drop_unused()
        table = [known.get(value, other) for value in used.values.to_pylist()]
        return used, np.array([*table, missing], dtype=np.int64)


def scale_numbers(
    feature: NumericFeature, values: NDArray[np.float64], out: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Write the feature's values; returns which are missing."""
    missing = np.isnan(values)
    np.subtract(values, feature.center, out=out)
    np.divide(out, feature.scale, out=out)
    if missing.any():
        out[missing] = feature.fill
    return missing


def feature_to_dict(feature: NumericFeature | CategoryFeature) -> dict[str, Any]:
    """A feature's attributes and its ``kind``, for JSON."""
    description: dict[str, Any] = asdict(feature)
    if isinstance(feature, CategoryFeature):
        categories = None if feature.categories is None else list(feature.categories)
        return {"kind": "category"} | description | {"categories": categories}
    if feature.hashes_missing:
        del description["hashes_missing"]
    return {"kind": "numeric"} | description


def feature_from_dict(description: dict[str, Any]) -> NumericFeature | CategoryFeature:
    """A feature from its attributes and its ``kind``."""
    kind = description.pop("kind")
    if kind == "numeric":
        return NumericFeature(**description)
    if description["categories"] is not None:
        description["categories"] = tuple(description["categories"])
    return CategoryFeature(**description)


def check_features(
    features: Sequence[NumericFeature | CategoryFeature], columns: Sequence[Column], hashed: bool
) -> None:
    """Raise a ValueError for features, of the right types, that these columns of a table have never given."""
    expected = [name for column in columns for name in (column.text_names or [column.name])]
    numeric = {column.name for column in columns if column.kind == "numeric"}
    for feature in features:
        name = abbreviate(feature.name)
        if isinstance(feature, NumericFeature) != (feature.name in numeric):
            raise ValueError(f"the feature {name} does not fit its column")
        if isinstance(feature, NumericFeature):
            if feature.scale == 0:
                raise ValueError(f"the scale of {name} is 0")
        elif (feature.categories is None) != hashed:
            raise ValueError(f"{name} is {'not ' if hashed else ''}hashed, unlike the other columns")
    if sorted(expected) != sorted(feature.name for feature in features):
        raise ValueError("features and columns of the encoding do not fit each other")
