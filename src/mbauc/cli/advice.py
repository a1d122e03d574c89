"""What the library advises in Python, said in the words of the command line.

Errors and warnings advise arguments as Python has them: ``positive='fraud'``, ``types={'depth': 'category'}``.
Here each becomes an option; where the command at hand lacks it, the command that has it is named.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Collection
from typing import Any

from mbauc.cli.data_options import COLUMN_OPTIONS

#: Arguments that are options, and a command that has them.
_OWNERS = dict.fromkeys((*COLUMN_OPTIONS, "on_error", "solver", "l1", "l2", "memory", "checkpoint"), "fit") | {
    "inputs": "export"
}
#: Arguments whose option has another name.
_RENAMED = {"n_jobs": "jobs", "random_state": "seed", "keep": "id"}
_NAME = "|".join(sorted([*_OWNERS, *_RENAMED], key=len, reverse=True))
_VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|…|True|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
#: An argument with its value; in the path of a file, label=1 means something else.
_ARGUMENT = re.compile(rf"(?<![\w/\\.='\"-])({_NAME})=({_VALUE})(?![\w/\\…]|\.\w)")
#: An argument that is to be looked at.
_BARE = re.compile(rf"\b([Cc]heck|[Pp]ass|no column for) ({_NAME})\b(?!=)")
#: What only Python has.
_PHRASES = {
    ", or TableSource(…, encoding=first.layout.encoding)": "",
    " If these are rows of one class out of two, name both: classes=(negative, positive).": "",
    "; to threshold them yourself read them with read_libsvm(labels='raw')": "; --positive names classes",
    ", and TableEncoding.transform to make them": ", and make them before",
    "Make the source again when": "Run the command again when",
    "the same call with": "the same command with",
}


def as_options(message: str, available: Collection[str] | None = None) -> str:
    """An error's advice in the words of the command line.

    Parameters
    ----------
    message : str
        As the library says it.
    available : collection of str, optional
        Names of the options that the command at hand has; all of them if None.

    Examples
    --------
    >>> as_options("Pass types={'depth': 'category'}, or on_error='skip'.", {"on_error"})
    "Pass --types depth=category (of 'mbauc fit'), or --on-error skip."
    """
    for phrase, words in _PHRASES.items():
        message = message.replace(phrase, words)

    def option(name: str) -> tuple[str, str]:
        own = _RENAMED.get(name, name)
        lacks = available is not None and own not in available
        return "--" + own.replace("_", "-"), f" (of 'mbauc {_OWNERS.get(own, 'fit')}')" if lacks else ""

    def told(found: re.Match[str]) -> str:
        name, whose = option(found[1])
        return f"{name}{_words(found[2])}{whose}"

    def bare(found: re.Match[str]) -> str:
        name, whose = option(found[2])
        return f"{found[1]} {name}{whose}"

    return _BARE.sub(bare, _ARGUMENT.sub(told, message))


def _words(value: str) -> str:
    """What follows an option, after a space; nothing for a flag."""
    if value == "True":
        return ""
    if value == "[…]":
        return " A,B,…"
    try:
        said: Any = ast.literal_eval(value)
    except (SyntaxError, ValueError):  # an ellipsis stands for something
        said = value.strip("[]{}").replace("'", "").replace(": ", "=").replace(":", "=")
        return f" {said}"
    if isinstance(said, dict):
        said = ",".join(f"{name}={one}" for name, one in said.items())
    elif isinstance(said, list):
        said = ",".join(map(str, said))
    return f" {shlex.quote(str(said))}"
