"""Weighted sums of features, straight from the codes of a table's columns: scoring needs no matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.encoding.feature_kinds import CategoryFeature, scaled
from mbauc.readers.table.encoding.table_encoding import TableEncoding

Array = NDArray[np.float64]


def feature_scores(encoding: TableEncoding, features: Features, coef: Array) -> Array:
    """``encoding.matrix(features) @ coef`` up to rounding: sums run by columns of the table, in their order.

    A weight is looked up once for each distinct value, and gathered for each row. ``O(n)`` time for each column
    of the table, and no memory beyond a number a row.

    Parameters
    ----------
    encoding : TableEncoding
        What columns become.
    features : Features
        Rows that were read.
    coef : ndarray of shape (n_features,)
        Weights.
    """
    from mbauc.readers.table import kernels

    total = np.zeros(features.rows)
    values = np.empty(features.rows)
    for feature, start in zip(encoding.features, encoding.starts, strict=False):
        if isinstance(feature, CategoryFeature):
            texts = features.texts[feature.name]
            if feature.categories is None:
                weights = _hashed_weights(encoding, feature.name, texts.values, coef)
            else:
                texts, places = feature.places_of_values(texts)
                weights = np.where(places < 0, 0.0, coef[start + np.maximum(places, 0)])
            kernels.add_gathered(texts.codes, weights, total)
            continue
        missing = scaled(feature, features.numbers[feature.name], out=values)
        values *= coef[start]
        total += values
        if feature.indicator:
            total[missing] += coef[start + 1]
        elif encoding.hashes_missing(feature) and missing.any():
            total[missing] += _hashed_weights(encoding, feature.name, [], coef)[0]
    return total


def _hashed_weights(encoding: TableEncoding, name: str, values: object, coef: Array) -> Array:
    """Weights of hashed values with their signs, and of a missing one."""
    keys = encoding.hashed_keys(name, values)
    return np.asarray(np.where(keys & 1, -coef[keys >> 1], coef[keys >> 1]))
