"""The file ``.mbauc``: a model as values of JSON and plain arrays, in a :mod:`mbauc.store.container`.

The values are ``layout``, ``classes``, ``intercept``, ``slope``, ``l1``, ``l2``, ``threshold``, ``settings``,
``trained_on`` and ``path``, ``features`` of an additive model, and ``calibration`` where there is one; the
arrays are ``coef``, what is told of features and terms, and, where the moments are kept, ``moments.scatters``
and for each class its count, weights and mean. The same model gives the same bytes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from mbauc.errors import ModelFileError
from mbauc.metrics.calibration import Calibration
from mbauc.model.layout import layout_from_dict
from mbauc.model.model import RankerModel
from mbauc.model.model_schema import ABOUT, WEIGHTS
from mbauc.model.terms import ModelTerms
from mbauc.model.threshold import Threshold
from mbauc.pairs.moment_file import MOMENTS
from mbauc.pairs.moments import PairMoments
from mbauc.store import container
from mbauc.store.arrays import Declared
from mbauc.store.file_kind import FileKind

Item = TypeVar("Item")

MODEL_FILE = FileKind("model", ModelFileError, "Copy it again, or train again ('mbauc fit' or save_model)")
_PREFIX = "moments."
#: Entries of a threshold that only one chosen by a rule has.
_RULE = ("rule", "number")


def save_model(model: RankerModel, path: str | os.PathLike[str], *, moments: bool = True) -> None:
    """Save a model to a file, atomically.

    Parameters
    ----------
    model : RankerModel
        Model to save. In ``trained_on`` and ``path`` non-finite numbers become None, and values that JSON
        cannot represent become text. Entries of ``trained_on`` that mbauc defines must have their type
        (``files`` is a list); others are arbitrary.
    path : path
        File to write, usually ending in ``.mbauc``.
    moments : bool, default=True
        Whether to include the moments, ``8 d (d + 1)`` bytes, which updates and merges need.

    Raises
    ------
    DiskFullError
        If the disk is full; an existing file at ``path`` is kept.
    ValueError
        If the model cannot be represented in a file; nothing is written.
    """
    arrays: dict[str, Any] = {"coef": model.coef}
    if moments and model.moments is not None:
        arrays |= {_PREFIX + name: array for name, array in model.moments.encode().items()}
    about = {
        "layout": model.layout.to_dict(),
        "classes": list(model.classes),
        "intercept": model.intercept,
        "slope": model.slope,
        "l1": model.l1,
        "l2": model.l2,
        "threshold": None if model.threshold is None else _without_none(asdict(model.threshold), _RULE),
        "settings": model.settings,
        "trained_on": _record(model.trained_on),
        "path": _record(model.path),
    }
    if model.calibration is not None:
        about["calibration"] = asdict(model.calibration)
    if model.terms is not None:
        about["features"] = model.terms.features.to_dict()
        arrays |= model.terms.arrays()
    about = {name: _plain(value, name) for name, value in about.items()}
    # what could not be read again is not written
    ABOUT.check(about, "model")
    container.write(path, MODEL_FILE, about, arrays)


def load_model(path: str | os.PathLike[str], *, moments: bool = True) -> RankerModel:
    """Load a model from a file. No code in the file is executed.

    Parameters
    ----------
    path : path
        File written by :func:`save_model` or ``mbauc fit``.
    moments : bool, default=True
        Whether to load the moments, if there are any. They are not needed for scoring.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or has an unsupported format version.
    """
    name = os.fsdecode(path)

    def select(about: dict[str, Any], declared: Declared) -> list[str]:
        ABOUT.check(about, "about")
        of_moments, others = _split(declared)
        columns = WEIGHTS.check_declared(others)["columns"]
        if of_moments:
            MOMENTS.check_declared(of_moments, d=columns)
        return [array for array in declared if moments or not array.startswith(_PREFIX)]

    about, arrays = container.read(name, MODEL_FILE, select)
    try:
        return _model(about, arrays)
    except ValueError as error:
        raise MODEL_FILE.reject_content(name, error) from error


def _split(named: Mapping[str, Item]) -> tuple[dict[str, Item], dict[str, Item]]:
    """What belongs to the moments, under its own names, and the rest."""
    inner = {name.removeprefix(_PREFIX): one for name, one in named.items() if name.startswith(_PREFIX)}
    return inner, {name: one for name, one in named.items() if not name.startswith(_PREFIX)}


def _model(about: dict[str, Any], arrays: dict[str, Any]) -> RankerModel:
    of_moments, weights = _split(arrays)
    WEIGHTS.check_values(weights)
    if of_moments:
        MOMENTS.check_values(of_moments)
    threshold, features, calibration = about["threshold"], about.get("features"), about.get("calibration")
    if features is None and len(weights) > 1:
        raise ValueError("it has arrays of features, and no features")
    negative, positive = (tuple(side) if isinstance(side, list) else side for side in about["classes"])
    return RankerModel(
        layout_from_dict(about["layout"]),
        (negative, positive),
        weights["coef"],
        **{name: about[name] for name in ("intercept", "slope", "l1", "l2")},
        threshold=None if threshold is None else Threshold(**threshold),
        moments=PairMoments.decode(of_moments) if of_moments else None,
        settings=about["settings"],
        trained_on=about["trained_on"],
        path=about["path"],
        terms=None if features is None else ModelTerms.decode(features, weights),
        calibration=None if calibration is None else Calibration(**calibration),
    )


def _without_none(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None or name not in names}


def _plain(value: Any, where: str) -> Any:
    """A value as JSON has it, or an error that says where something else stands."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(one, f"{where}[{name!r}]") for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, f"{where}[{place}]") for place, one in enumerate(value)]
    if value is None or isinstance(value, str | int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{where} is {value}; a model file holds finite numbers.")
        return value
    raise ValueError(
        f"{where} is a {type(value).__name__}, which a model file cannot hold; it holds numbers, texts, lists "
        "and dicts. For random_state pass a whole number or None."
    )


def _record(value: Any) -> Any:
    """A record for people as JSON has it, at any price: a note must not keep a model from being saved."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _record(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_record(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
