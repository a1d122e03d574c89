"""Warnings that point at the line of the caller, however deep in the package they arise."""

from __future__ import annotations

import inspect
import warnings

from mbauc.errors import Advice

#: Frames of the package, and of contexts that its functions open.
_WITHIN = __name__.partition(".")[0], "contextlib"


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something at the first line outside the package that led here."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WITHIN:
        level, frame = level + 1, frame.f_back
    # plain text, since others send warnings from process to process; the advice stays with it for our commands
    said = category(str.__str__(message))
    if isinstance(message, Advice):
        vars(said)["advice"] = message
    warnings.warn(said, stacklevel=level)
