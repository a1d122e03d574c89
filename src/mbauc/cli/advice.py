"""What errors and warnings advise, with the options of the command line in place of Python's arguments."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from typing import Any

from mbauc.errors import Advice

#: Arguments that are options of commands, and the first command that has each.
OWNERS = dict.fromkeys(
    (
        *("label", "positive", "weight", "ignore", "id", "types", "encode", "hash_dim", "signed", "scale"),
        *("missing", "delimiter", "names", "on_error", "l1", "l2", "pairs", "decay", "solver", "memory"),
        *("checkpoint", "cv", "jobs", "seed", "loss", "group", "equal_groups", "max_fpr", "min_tpr"),
        *("hold_out", "features", "time", "cluster"),
    ),
    "fit",
) | {"segment": "evaluate", "inputs": "export"}
#: Arguments whose option has another name.
_RENAMED = {"n_jobs": "jobs", "random_state": "seed", "keep": "id", "groups": "group"}


def in_options(said: BaseException | str, available: Collection[str] | None = None) -> str:
    """What an error, a warning or a text says, for the user of a command.

    Parameters
    ----------
    said : exception, warning or str
        As the library made it.
    available : collection of str, optional
        Names of the options that the command at hand has; all of them if None. Other options are named with the
        command that has them.

    Examples
    --------
    >>> advice = Advice("Pass {types}, or {on_error}.", types={"depth": "category"}, on_error="skip")
    >>> in_options(ValueError(advice), {"on_error"})
    "Pass --types depth=category (of 'mbauc fit'), or --on-error skip."
    """
    if isinstance(said, BaseException):
        said = _text(said)
    if not isinstance(said, Advice):
        return said

    def write(name: str, *value: Any) -> str:
        name = _RENAMED.get(name, name)
        owner = OWNERS[name]
        whose = f" (of 'mbauc {owner}')" if available is not None and name not in available else ""
        return option(name, *value) + whose

    return said.for_command(write)


def _text(error: BaseException) -> str:
    """What an error says; of errors of the system, without the number that it has for them."""
    if isinstance(error, OSError) and error.errno is not None and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: " + error.strerror
    advice = vars(error).get("advice")
    return advice if isinstance(advice, Advice) else str(error)


def option(name: str, *value: Any) -> str:
    """An option as it is typed, with its value if there is one; nothing follows a flag.

    Examples
    --------
    >>> option("types", {"depth": "category", "time of day": "time"})
    "--types 'depth=category,time of day=time'"
    >>> option("hash_dim", ...), option("signed", True)
    ('--hash-dim …', '--signed')
    """
    words = [f"--{name.replace('_', '-')}"]
    match value:
        case () | (True,):
            pass
        case (e,) if e is ...:
            words.append("…")
        case ([e],) if e is ...:
            words.append("A,B,…")
        case (dict() as given,):
            pairs = (f"{key}={'…' if one is ... else one}" for key, one in given.items())
            words.append(_quote(",".join(pairs)))
        case (list() | tuple() as given,):
            words.append(_quote(",".join(map(str, given))))
        case (one,):
            words.append(_quote(str(one)))
    return " ".join(words)


def _quote(text: str) -> str:
    """A word for a shell; an ellipsis needs no quotes, since nobody types it."""
    return text if "…" in text and text.translate({ord("…"): "", ord("="): ""}).isalnum() else shlex.quote(text)
