"""``mbauc fit --features``: curves and interactions, and which other options they go with."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.cli.argument_types import name_list, whole
from mbauc.cli.output import Usage
from mbauc.defaults import BINS, FEATURES

#: Options of columns that say how these become numbers for straight lines.
_FOR_LINES = ("encode", "signed", "scale", "missing")
#: Options that only straight lines have, and their values that ask for nothing.
_LINES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((*_FOR_LINES, "hash_dim", "like", "max_fpr", "min_tpr", "decay"), (None,)),
    **{"l1": (0.0,), "l2": ("auto",), "cv": (0,), "pairs": ("all",), "solver": ("auto",)},
    **dict.fromkeys(("equal_groups", "no_moments"), (False,)),
}
#: Options that belong to --features.
_OWN = ("cross", "bins")


def add_features(parser: argparse.ArgumentParser) -> None:
    """``--features``, ``--cross`` and ``--bins``."""
    group = parser.add_argument_group("curves and interactions")
    group.add_argument(
        "--features",
        choices=FEATURES,
        help="linear: a straight line for each number; curves: a curve for each number; interactions: curves, "
        "and "
        "heat maps for pairs of columns; auto: the simplest of these within one standard error of the best on "
        "held-out rows; fourier: straight lines and random Fourier features of all numbers, for many smooth "
        "columns such as pixels (default: auto for tables; a linear model of scaled numbers and hashed "
        "categories with options of linear models, such as --encode)",
    )
    group.add_argument(
        "--cross",
        type=_two_names,
        action="append",
        metavar="A,B",
        help="pair of columns that may interact; repeat for more pairs (default: pairs found by screening). "
        "Implies --features interactions",
    )
    group.add_argument(
        "--bins", type=_bins, metavar="N", help=f"largest number of bins of a curve (default: {BINS})"
    )


def choose_features(options: argparse.Namespace) -> None:
    """Curves and interactions where nothing asks for straight lines; for tables."""
    asked = [name for name, nothing in _LINES.items() if getattr(options, name) not in nothing]
    if options.features is None and not asked:
        options.features = "auto"


def check_features(options: argparse.Namespace) -> None:
    """Raise for options that do not go together; --cross sets what it implies."""
    if options.cross is not None:
        if options.features in ("linear", "curves", "fourier"):
            raise Usage(
                f"--cross needs interactions, but --features {options.features} has none; leave out one of the "
                "two, or pass --features interactions."
            )
        options.features = "interactions"
    if options.features is None:
        given = next((name for name in _OWN if getattr(options, name) is not None), None)
        if given is not None:
            raise Usage(f"--{given} applies to curves only; add --features curves.")
        return
    if options.features in ("linear", "fourier") and options.bins is not None:
        raise Usage(
            f"--bins applies to curves only, but --features {options.features} has none; leave out one of the "
            "two, or pass --features curves."
        )
    for name in _FOR_LINES:
        if getattr(options, name) is not None:
            raise Usage(
                f"--{name} applies to linear models only and cannot be combined with --features. Leave out one "
                "of the two."
            )


def feature_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Settings that the options ask for."""
    given = {"features": options.features, "bins": options.bins}
    return {name: value for name, value in given.items() if value is not None}


def find_crossed(options: argparse.Namespace, layout: Any) -> dict[str, Any]:
    """The pairs of --cross as columns of the rows, as a setting; or an error that names the columns."""
    if options.cross is None:
        return {}
    from mbauc.checks import list_some

    names = layout.feature_names()
    places = {name: place for place, name in enumerate(names)}
    for name in (name for pair in options.cross for name in pair):
        if name not in places:
            raise Usage(
                f"--cross: there is no feature column {name!r}; feature columns are {list_some(names)}."
            )
    return {"interactions": [sorted(places[name] for name in pair) for pair in options.cross]}


def _two_names(text: str) -> tuple[str, str]:
    names = name_list(text)
    if len(set(names)) != 2 or len(names) != 2:
        raise argparse.ArgumentTypeError(f"expected two different columns A,B, got {text!r}")
    return names[0], names[1]


def _bins(text: str) -> int:
    value = whole(text)
    if not 2 <= value <= 1024:
        raise argparse.ArgumentTypeError(f"expected a number of bins from 2 to 1024, got {text!r}")
    return value
