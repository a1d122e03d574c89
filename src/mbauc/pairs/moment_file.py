"""Pair moments as arrays and back: what a file of moments, a model file and a checkpoint hold of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import MomentFileError
from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.closed_pairs import ClosedPairs
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.scatter import PackedScatters, WeightedMean
from mbauc.pairs.scatter.weighted_mean import HEAVIEST
from mbauc.store import container
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.arrays import Declared
from mbauc.store.file_kind import FileKind

MOMENT_FILE = FileKind(
    "set of pair moments",
    MomentFileError,
    "Copy it again, or save the moments again from the data (PairMoments.save)",
)


def _schema(name: str) -> dict[str, ArrayOf]:
    return {
        f"{name}_count": ArrayOf("U", pattern="[0-9]{1,40}"),  # may exceed 64 bits
        f"{name}_weight": ArrayOf("<f8", low=0, high=HEAVIEST),
        f"{name}_squared_weight": ArrayOf("<f8", low=0),
        f"{name}_mean": ArrayOf("<f8", ("d",)),
    }


#: The arrays of moments.
MOMENTS = Arrays(
    {
        "scatters": ArrayOf("<f8", ("d+1", "d")),
        "sampled": ArrayOf("|b1"),
        **_schema("positive"),
        **_schema("negative"),
    },
    together={"pairs_scatter": ArrayOf("<f8", ("d", "d")), **_schema("pairs")},
    optional={"pairs_row_norms": ArrayOf("<f8", (2,), low=0)},
    sizes={"d": range(1, 2**31)},
)


def encode_moments(sums: MomentSums) -> dict[str, Any]:
    """All sums as named arrays of numbers and text, which are not copied."""
    classes, pairs = sums.classes, sums.pairs
    arrays = {
        "sampled": np.bool_(sums.sampled),
        "scatters": classes.packed.buffer,
        **_encode("positive", classes.positive),
        **_encode("negative", classes.negative),
    }
    if pairs is not None:
        arrays |= _encode("pairs", pairs.differences)
        arrays["pairs_scatter"] = pairs.scatter
        if pairs.row_norms is not None:
            arrays["pairs_row_norms"] = np.array(pairs.row_norms)
    return arrays


def decode_moments(arrays: Mapping[str, NDArray[Any]]) -> MomentSums:
    """The sums in arrays that are as :data:`MOMENTS` describes them; other arrays are ignored."""
    pairs = None
    if "pairs_scatter" in arrays:
        norms = arrays.get("pairs_row_norms")
        pairs = ClosedPairs(
            _decode("pairs", arrays),
            arrays["pairs_scatter"],
            None if norms is None else (float(norms[0]), float(norms[1])),
        )
    plus, minus = (_decode(name, arrays) for name in ("positive", "negative"))
    classes = ClassMoments(plus, minus, PackedScatters(arrays["scatters"]))
    return MomentSums(classes, pairs, bool(arrays["sampled"]))


def _encode(name: str, sums: WeightedMean) -> dict[str, Any]:
    return {
        f"{name}_count": np.str_(sums.count),
        f"{name}_weight": np.float64(sums.weight),
        f"{name}_squared_weight": np.float64(sums.squared_weight),
        f"{name}_mean": sums.mean,
    }


def _decode(name: str, arrays: Mapping[str, NDArray[Any]]) -> WeightedMean:
    return WeightedMean(
        int(str(arrays[f"{name}_count"])),
        float(arrays[f"{name}_weight"]),
        float(arrays[f"{name}_squared_weight"]),
        arrays[f"{name}_mean"],
    )


def write_moments(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write encoded moments to a file, whole or not at all."""
    container.write(path, MOMENT_FILE, {}, arrays)


def read_moments(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Encoded moments from a file; no more memory than it is long."""

    def select(about: dict[str, Any], declared: Declared) -> Collection[str]:
        MOMENTS.check_declared(declared)
        return declared

    _, arrays = container.read(path, MOMENT_FILE, select)
    try:
        MOMENTS.check_values(arrays)
    except ValueError as error:
        raise MOMENT_FILE.reject_content(os.fsdecode(path), error) from error
    return arrays
