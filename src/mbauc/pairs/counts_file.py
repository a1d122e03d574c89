"""Counts of rows of ones as arrays and back: what a checkpoint holds while rows are still being counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.moment_file import MOMENTS
from mbauc.pairs.scatter import PackedScatters
from mbauc.pairs.scatter.counted import CountedScatters
from mbauc.store.array_schema import ArrayOf, Arrays

#: The arrays of moments, or of counts, which say so: X'X in place of the scatters, sums in place of the means.
COUNTS: Arrays = replace(MOMENTS, optional={**MOMENTS.optional, "counted": ArrayOf("|b1")})


def encode_counts(counted: CountedScatters) -> dict[str, Any]:
    """Counts as named arrays; the matrix is not copied. No row may wait to be counted."""
    arrays: dict[str, Any] = {
        "counted": np.bool_(True),
        "sampled": np.bool_(False),
        "scatters": counted.packed.buffer,
    }
    for name, n_rows, totals in zip(counted.packed.sides, counted.n_rows, counted.totals, strict=True):
        arrays |= {
            f"{name}_count": np.str_(n_rows),
            f"{name}_weight": np.float64(n_rows),
            f"{name}_squared_weight": np.float64(n_rows),
            f"{name}_mean": totals.astype(np.float64),
        }
    return arrays


def decode_counts(arrays: Mapping[str, NDArray[Any]]) -> CountedScatters:
    """Counts from what :func:`encode_counts` made of them, in the memory of the matrix."""
    totals = np.stack([arrays["positive_mean"], arrays["negative_mean"]])
    n_rows = tuple(int(str(arrays[f"{name}_count"])) for name in ("positive", "negative"))
    most = np.array(n_rows, dtype=np.float64)[:, None]
    if not ((totals == np.floor(totals)) & (totals >= 0) & (totals <= most)).all():
        raise ValueError("holds numbers of rows that cannot be")
    return CountedScatters(PackedScatters(arrays["scatters"]), totals.astype(np.int64), (n_rows[0], n_rows[1]))
