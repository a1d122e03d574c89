"""The file ``.mbauc``: a model as a JSON text and plain arrays, in a :mod:`mbauc.model.sealed_file`.

The text has the keys ``format``, ``layout``, ``classes``, ``intercept``, ``slope``, ``l1``, ``l2``,
``threshold``, ``settings``, ``trained_on`` and ``path``; the arrays are ``coef`` and, where the moments are
kept, ``moments.scatters`` and for each class its count, weights and mean. The same model gives the same bytes.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from mbauc.model.layout import layout_from_dict
from mbauc.model.model import RankerModel, Threshold
from mbauc.model.sealed_file import not_understood, read_sealed, write_sealed
from mbauc.moment_file import arrays_of, moments_of

FORMAT = "mbauc model"
_PREFIX = "moments."
#: What a file of moments alone says of itself.
_OWN = ("format", "version")


def save_model(model: RankerModel, path: str | os.PathLike[str], *, moments: bool = True) -> None:
    """Write a model; the file is replaced whole or not at all.

    Parameters
    ----------
    model : RankerModel
        What to write. In ``trained_on`` and ``path`` numbers that are not finite become None, and what JSON
        does not have becomes text.
    path : path
        Usually with the ending ``.mbauc``.
    moments : bool
        Whether to write the moments, ``8 d (d + 1)`` bytes, so that training can go on.

    Raises
    ------
    DiskFullError
        If there is no room; what stood at ``path`` is kept.
    """
    arrays: dict[str, Any] = {"coef": model.coef}
    if moments and model.moments is not None:
        kept = {name: array for name, array in arrays_of(model.moments).items() if name not in _OWN}
        arrays |= {_PREFIX + name: array for name, array in kept.items()}
    about = {
        "format": FORMAT,
        "layout": model.layout.to_dict(),
        "classes": list(model.classes),
        "intercept": model.intercept,
        "slope": model.slope,
        "l1": model.l1,
        "l2": model.l2,
        "threshold": None if model.threshold is None else asdict(model.threshold),
        "settings": model.settings,
        "trained_on": _record(model.trained_on),
        "path": _record(model.path),
    }
    write_sealed(path, {name: _plain(value, name) for name, value in about.items()}, arrays)


def load_model(path: str | os.PathLike[str], *, moments: bool = True) -> RankerModel:
    """Read a model. Nothing in the file is ever run.

    Parameters
    ----------
    path : path
        A file that :func:`save_model` or ``mbauc fit`` wrote.
    moments : bool
        Whether to read the moments, if there are any; to score rows they are not needed.

    Raises
    ------
    ModelFileError
        If the file is something else, is damaged, or comes from a later version.
    """
    name = os.fsdecode(path)
    about, arrays = read_sealed(name, lambda array: moments or not array.startswith(_PREFIX))
    try:
        return _model(about, arrays)
    except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise not_understood(name, error) from error


def _model(about: dict[str, Any], arrays: dict[str, Any]) -> RankerModel:
    if about["format"] != FORMAT:
        raise ValueError(f"format {about['format']!r}, expected {FORMAT!r}")
    for name, kind in (("classes", list), ("settings", dict), ("trained_on", dict), ("path", list)):
        if not isinstance(about[name], kind):
            raise ValueError(f"{name} is a {type(about[name]).__name__}, expected a {kind.__name__}")
    kept = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    told = about["threshold"]
    if arrays["coef"].dtype.kind != "f":
        raise ValueError("weights that are no numbers")
    negative, positive = (_side(side) for side in about["classes"])
    return RankerModel(
        layout_from_dict(about["layout"]),
        (negative, positive),
        arrays["coef"],
        **{name: about[name] for name in ("intercept", "slope", "l1", "l2")},
        threshold=None if told is None else Threshold(**told),
        moments=moments_of(kept) if kept else None,
        settings=about["settings"],
        trained_on=about["trained_on"],
        path=[dict(point) for point in about["path"]],
    )


def _side(labels: Any) -> Any:
    side = tuple(labels) if isinstance(labels, list) else labels
    labels = side if isinstance(side, tuple) else (side,)
    if not labels or not all(isinstance(label, str | int | float) for label in labels):
        raise ValueError(f"labels {labels!r}, expected numbers, truth values or texts")
    return side


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
        "and dicts. As random_state give a whole number or None."
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
