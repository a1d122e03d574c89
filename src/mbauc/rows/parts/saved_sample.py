"""A sample of rows that a checkpoint keeps, so that a later run of a fit need not read all rows for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block
from mbauc.rows.fingerprint import fingerprint_as_json
from mbauc.rows.matrix import as_dense
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.row_sample import RowSample, sample_rows
from mbauc.rows.parts.source import SourceParts
from mbauc.store.array_schema import ArrayOf, Arrays


def _check_classes(arrays: Mapping[str, NDArray[Any]]) -> None:
    if arrays["positive"].all() or not arrays["positive"].any():
        raise ValueError("a sample must have rows of both classes")


#: Name of the state in a checkpoint.
_NAME = "sample"
_SAMPLE = Arrays(
    {
        "X": ArrayOf("<f8", ("rows", "columns")),
        "missing": ArrayOf("|b1", ("rows", "columns")),
        "positive": ArrayOf("|b1", ("rows",)),
        "share": ArrayOf("<f8", ("rows",), low=0),
        "sizes": ArrayOf("<i8", (2,), low=1),
        "fingerprint": ArrayOf("U"),
    },
    optional={"weight": ArrayOf("<f8", ("rows",), low=0), "groups": ArrayOf("<u8", ("rows",))},
    agree=_check_classes,
)


def sample_once(rows: PartedRows, most: int, seed: int) -> RowSample:
    """A sample of rows as :func:`~mbauc.rows.parts.row_sample.sample_rows` draws it, at most once a checkpoint.

    It is kept where a source has a checkpoint and a ``fingerprint()``, and taken from there as long as that
    stays the same; ``most`` and ``seed`` are of the checkpoint's identity. Disk: 8 bytes a value.
    """
    parts = rows.parts
    if not isinstance(parts, SourceParts) or parts.checkpoint is None:
        return sample_rows(rows, most, seed)
    now = fingerprint_as_json(parts.source)
    if now is None:
        return sample_rows(rows, most, seed)
    mark = json.dumps(now)
    kept = parts.checkpoint.load(_NAME, _SAMPLE, columns=rows.schema.n_features)
    if kept is not None and str(kept["fingerprint"]) == mark:
        X = np.where(kept["missing"], np.nan, kept["X"])
        block = Block(X, kept["positive"], kept.get("weight"), groups=kept.get("groups"))
        return RowSample(block, kept["share"], tuple(kept["sizes"].tolist()), np.asarray(rows.classes))
    sample = sample_rows(rows, most, seed)
    parts.checkpoint.save(_NAME, _describe(sample, mark))
    return sample


def _describe(sample: RowSample, mark: str) -> dict[str, Any]:
    block = sample.block
    X = as_dense(block.X)
    missing = np.isnan(X)
    arrays = {
        "X": np.where(missing, 0.0, X),
        "missing": missing,
        "positive": block.positive,
        "share": sample.share,
        "sizes": np.array(sample.sizes, dtype=np.int64),
        "fingerprint": np.str_(mark),
    }
    more = {"weight": block.weight, "groups": block.groups}
    return arrays | {name: values for name, values in more.items() if values is not None}
