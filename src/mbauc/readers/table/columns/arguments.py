"""Arguments that name columns and say what they are: checks, and errors about columns that are not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mbauc.checks import abbreviate, list_some
from mbauc.defaults import COLUMN_KINDS
from mbauc.errors import Advice

#: Kinds of columns that become features.
FEATURES = ("numeric", "category", "text", "time")
#: Times whose texts have the day before the month, or after it.
ORDERS = ("day-first", "month-first")


def name_asked(name: str, argument: str | None) -> str:
    """A column with the argument that asks for it, if there is one, for errors."""
    return repr(name) if argument is None else Advice.of_argument(argument) + f" {name!r}"


def no_such_column(what: str, name: str, names: Iterable[str], where: str) -> str:
    """What to say about a column that is not there."""
    names = list(names)
    shown = list_some(map(repr, names))
    low = name.lower()
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    close += [one for one in names if one.lower() == low or (len(low) > 2 and low in one.lower())]
    hint = f" Did you mean {close[0]!r}?" if close else ""
    if len(names) == 1:
        hint = " Is " + Advice.of_argument("delimiter") + " right?" if set(",;\t|") & set(names[0]) else hint
        return f"{where}: there is no column for " + what + f"; its only column is {shown}." + hint
    return f"{where}: there is no column for " + what + f"; its {len(names)} columns are {shown}.{hint}"


def check_types(types: Any) -> None:
    """Raise unless types say what columns are by their names."""
    if types is not None and not isinstance(types, Mapping):
        raise ValueError(f"types must be a dict such as {{'zip': 'category'}}, got {abbreviate(types)}.")


def check_names(argument: str, given: Any) -> None:
    """Raise unless an argument lists columns."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        one = f"; write [{given!r}]" if isinstance(given, str) else ""
        raise ValueError(f"{argument} must be a list of names, got {abbreviate(given)}{one}.")


def collect_kinds(
    named: Mapping[str, str | None], types: Mapping[str, str], ignore: Sequence[str], id: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """What the user says a column is, and in which argument."""
    said: dict[str, tuple[str, str]] = {}

    def note(name: Any, kind: str, how: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"{how} must name columns by text, got {name!r}.")
        if name in said and said[name][0] != kind:
            both = Advice.of_argument(said[name][1]) + " and " + Advice.of_argument(how)
            raise ValueError(f"column {name!r} is both " + both + "; choose one of the two.")
        said[name] = (kind, how)

    for what, column in named.items():
        if column is not None:
            # clusters are no features, as groups are none
            note(column, "group" if what == "cluster" else what, what)
    for argument, given in (("ignore", ignore), ("id", id)):
        check_names(argument, given)
        for name in given:
            note(name, argument, argument)
    for name, kind in types.items():
        if kind not in COLUMN_KINDS:
            raise ValueError(
                f"types[{name!r}] must be one of {', '.join(map(repr, COLUMN_KINDS))}, got {kind!r}."
            )
        note(name, kind, "types")
    return said
