"""Pair moments on disk: one npz file of plain arrays with a format name and a version."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import MomentFileError
from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.closed_pairs import ClosedPairs
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.scatter import PackedScatters, WeightedMean
from mbauc.pairs.scatter.weighted_mean import HEAVIEST
from mbauc.store.archive import PlainArchive
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.atomic import atomic_write
from mbauc.store.file_schema import shortened, shown

FORMAT = "mbauc pair moments"
VERSION = 1


def _rows(name: str) -> dict[str, ArrayOf]:
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
        **_rows("positive"),
        **_rows("negative"),
    },
    together={"pairs_scatter": ArrayOf("<f8", ("d", "d")), **_rows("pairs")},
    sizes={"d": range(1, 2**31)},
)
#: What a file of moments alone says of itself.
_OWN = Arrays({"format": ArrayOf("U"), "version": ArrayOf("<i8")})
MOMENTS_FILE = replace(MOMENTS, required={**_OWN.required, **MOMENTS.required})


def _pack(name: str, sums: WeightedMean) -> dict[str, Any]:
    return {
        f"{name}_count": np.str_(sums.count),
        f"{name}_weight": np.float64(sums.weight),
        f"{name}_squared_weight": np.float64(sums.squared_weight),
        f"{name}_mean": sums.mean,
    }


def _unpack(name: str, arrays: Mapping[str, NDArray[Any]]) -> WeightedMean:
    return WeightedMean(
        int(str(arrays[f"{name}_count"])),
        float(arrays[f"{name}_weight"]),
        float(arrays[f"{name}_squared_weight"]),
        arrays[f"{name}_mean"],
    )


def arrays_of(moments: PairMoments) -> dict[str, Any]:
    """All of the moments as named arrays of numbers and text."""
    arrays = {
        "format": np.str_(FORMAT),
        "version": np.int64(VERSION),
        "sampled": np.bool_(moments.is_sampled),
        "scatters": moments.sums.classes.packed.buffer,
        **_pack("positive", moments.sums.classes.positive),
        **_pack("negative", moments.sums.classes.negative),
    }
    if moments.sums.pairs is not None:
        arrays |= _pack("pairs", moments.sums.pairs.differences)
        arrays["pairs_scatter"] = moments.sums.pairs.scatter
    return arrays


def save_moments(moments: PairMoments, path: str | os.PathLike[str]) -> None:
    """Write moments to ``path``, atomically."""
    with atomic_write(path) as stream:
        np.savez(stream, **arrays_of(moments))


def load_moments(path: str | os.PathLike[str]) -> PairMoments:
    """Read moments from ``path``; no more memory than the file is long."""
    try:
        with open(path, "rb") as stream:
            archive = PlainArchive(stream)
            _check_kind(archive, path)
            MOMENTS_FILE.check_declared(archive.declared)
            arrays = archive.read()
        MOMENTS_FILE.check_values(arrays)
        return moments_of(arrays)
    except MomentFileError:
        raise
    except ValueError as error:
        raise MomentFileError(
            f"{os.fsdecode(path)} does not hold pair moments, or was cut short ({shortened(str(error))}). "
            "Expected a file written by PairMoments.save; write it again from the data."
        ) from error


def _check_kind(archive: PlainArchive, path: str | os.PathLike[str]) -> None:
    """Raise for files of other programs and versions."""
    name = os.fsdecode(path)
    _OWN.check_declared({key: archive.declared[key] for key in _OWN.required if key in archive.declared})
    own = archive.read(_OWN.required)
    if str(own["format"]) != FORMAT:
        raise MomentFileError(
            f"{name} is not an mbauc file: expected the field format={FORMAT!r}, "
            f"found {shown(str(own['format']))}. Give a file written by PairMoments.save."
        )
    if int(own["version"]) != VERSION:
        raise MomentFileError(
            f"{name} has format version {int(own['version'])}, this mbauc reads version {VERSION}. "
            "Read it with the mbauc that wrote it, or a newer one."
        )


def moments_of(arrays: Mapping[str, NDArray[Any]]) -> PairMoments:
    """Moments from arrays that are as :data:`MOMENTS` describes them."""
    pairs = None
    if "pairs_scatter" in arrays:
        pairs = ClosedPairs(_unpack("pairs", arrays), arrays["pairs_scatter"])
    plus, minus = (_unpack(name, arrays) for name in ("positive", "negative"))
    classes = ClassMoments(plus, minus, PackedScatters(arrays["scatters"]))
    return PairMoments.from_sums(MomentSums(classes, pairs, bool(arrays["sampled"])))
