"""Who is compared on what: all that the runs and the pages of a study need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mbauc.paper.studies.tables.methods import FOLDS, GRIDS, METHODS, Method, baseline
from mbauc.paper.studies.tables.sets import TABLES, Table


@dataclass(frozen=True)
class Comparison:
    """A study of methods on tables."""

    #: Of the page, and how ledgers and scores begin.
    name: str
    tables: Mapping[str, Table]
    methods: Mapping[str, Method]
    #: From a method to the one that it is compared with.
    baseline: Callable[[str], str]
    #: Packages that the rivals come from.
    packages: tuple[str, ...]
    #: What else the rivals' results depend on.
    rivals_depend_on: Mapping[str, Any]


REAL_TABLES = Comparison(
    "tables",
    TABLES,
    METHODS,
    baseline,
    ("lightgbm", "interpret-core", "pandas"),
    {"folds": FOLDS, "grids": GRIDS},
)
