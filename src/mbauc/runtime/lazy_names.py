"""Public names of a package that are imported when first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose public names are in the given modules."""
    names = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = names[name] = getattr(import_module(places[name]), name)
        return value

    def show() -> list[str]:
        return sorted({*names, *places})

    return get, show
