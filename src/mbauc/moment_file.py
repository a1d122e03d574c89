"""Pair moments on disk: one npz file of plain arrays with a format name and a version."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np

from mbauc.atomic import atomic_write
from mbauc.class_moments import ClassMoments
from mbauc.closed_pairs import ClosedPairs
from mbauc.errors import MomentFileError
from mbauc.moments import PairMoments
from mbauc.scatter import PackedScatters, WeightedMean

FORMAT = "mbauc pair moments"
VERSION = 1


def _pack(name: str, sums: WeightedMean) -> dict[str, Any]:
    return {
        f"{name}_count": np.str_(sums.count),  # may exceed 64 bits
        f"{name}_weight": np.float64(sums.weight),
        f"{name}_squared_weight": np.float64(sums.squared_weight),
        f"{name}_mean": sums.mean,
    }


def _unpack(name: str, arrays: Any, n_features: int) -> WeightedMean:
    mean = arrays[f"{name}_mean"]
    if mean.shape != (n_features,):
        raise ValueError(f"{name}_mean has shape {mean.shape}, expected {(n_features,)}")
    sums = WeightedMean(
        int(str(arrays[f"{name}_count"])),
        float(arrays[f"{name}_weight"]),
        float(arrays[f"{name}_squared_weight"]),
        np.asarray(mean, dtype=np.float64),
    )
    weights = np.array([sums.weight, sums.squared_weight])
    if sums.count < 0 or not ((weights >= 0) & (weights < np.inf)).all() or not np.isfinite(sums.mean).all():
        raise ValueError(f"the {name} rows have a count, weight or mean that no data can have")
    return sums


def arrays_of(moments: PairMoments) -> dict[str, Any]:
    """All of the moments as named arrays of numbers and text."""
    arrays = {
        "format": np.str_(FORMAT),
        "version": np.int64(VERSION),
        "sampled": np.bool_(moments._sampled),
        "scatters": moments._classes.packed.buffer,
        **_pack("positive", moments._classes.positive),
        **_pack("negative", moments._classes.negative),
    }
    if moments._pairs is not None:
        arrays |= _pack("pairs", moments._pairs.differences)
        arrays["pairs_scatter"] = moments._pairs.scatter
    return arrays


def save_moments(moments: PairMoments, path: str | os.PathLike[str]) -> None:
    """Write moments to ``path``, atomically."""
    with atomic_write(path) as stream:
        np.savez(stream, **arrays_of(moments))


def load_moments(path: str | os.PathLike[str]) -> PairMoments:
    """Read moments from ``path``."""
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream):
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as arrays:
                return _read(arrays, path)
    except (
        zipfile.BadZipFile,
        zlib.error,
        ArithmeticError,
        AttributeError,
        EOFError,
        KeyError,
        MemoryError,
        NotImplementedError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, MomentFileError | FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise MomentFileError(
            f"{os.fspath(path)} does not hold pair moments, or was cut short ({error}). "
            "Expected a file written by PairMoments.save; write it again from the data."
        ) from error


def _read(arrays: Any, path: str | os.PathLike[str]) -> PairMoments:
    if "format" not in arrays or str(arrays["format"]) != FORMAT:
        raise MomentFileError(
            f"{os.fspath(path)} is not an mbauc file: expected the field format={FORMAT!r}, "
            f"found the fields {sorted(arrays.files)[:5]}. Give a file written by PairMoments.save."
        )
    version = int(arrays["version"])
    if version != VERSION:
        raise MomentFileError(
            f"{os.fspath(path)} has format version {version}, this mbauc reads version {VERSION}. "
            "Read it with the mbauc that wrote it, or a newer one."
        )
    return moments_of(arrays)


def moments_of(arrays: Any) -> PairMoments:
    """Moments from the arrays that :func:`arrays_of` gave.

    Raises
    ------
    KeyError, ValueError
        If something is missing, or no data can have such moments.
    """
    buffer = np.ascontiguousarray(arrays["scatters"], dtype=np.float64)
    if buffer.ndim != 2 or buffer.shape[0] != buffer.shape[1] + 1:
        raise ValueError(f"scatters has shape {buffer.shape}, expected (d + 1, d)")
    if buffer.shape[1] < 1 or not np.isfinite(buffer).all():
        raise ValueError("the scatters are empty or not finite")
    d = buffer.shape[1]
    pairs = None
    if "pairs_scatter" in arrays:
        scatter = np.asarray(arrays["pairs_scatter"], dtype=np.float64)
        if scatter.shape != (d, d):
            raise ValueError(f"pairs_scatter has shape {scatter.shape}, expected {(d, d)}")
        if not np.isfinite(scatter).all():
            raise ValueError("pairs_scatter is not finite")
        pairs = ClosedPairs(_unpack("pairs", arrays, d), scatter)
    plus, minus = (_unpack(name, arrays, d) for name in ("positive", "negative"))
    classes = ClassMoments(plus, minus, PackedScatters(buffer))
    return PairMoments._make(classes, pairs, bool(arrays["sampled"]))
