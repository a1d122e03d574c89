"""What commands say, to people or as JSON."""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import textwrap
import unicodedata
from pathlib import Path
from typing import Any

from mbauc.cli.advice import in_options
from mbauc.runtime.progress import clear_line


class Usage(Exception):
    """The command cannot be meant like that; exit code 2."""


class Output:
    """Speaks to people on the terminal, or to scripts in one JSON object at the end."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            sys.stdout.write(escape_controls(text) + "\n")
            sys.stdout.flush()

    def note(self, text: str, indent: int, head: str = "note") -> None:
        """A note for people, in lines that fit the screen; ``indent`` is the width of ``head`` and a gap."""
        width = max(shutil.get_terminal_size().columns, 40)
        lines = textwrap.wrap(
            escape_controls(text), width - indent, break_long_words=False, break_on_hyphens=False
        )
        self.say(head.ljust(indent) + ("\n" + " " * indent).join(lines))

    def finish(self, result: dict[str, Any]) -> int:
        """The result for scripts; the exit code."""
        if self.as_json:
            sys.stdout.write(json.dumps(as_json(result), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
        return 0


def describe_size(size: int) -> str:
    """The size of a file, in bytes, with a unit in which it is not 0.

    Examples
    --------
    >>> describe_size(37_512), describe_size(8_049_000)
    ('38 kB', '8.0 MB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{math.ceil(size / 1e3)} kB"


def escape_controls(text: str) -> str:
    """Text in which nothing moves the cursor, changes colours or turns the writing round."""
    return "".join(
        c
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )


def as_json(value: Any) -> Any:
    """A value as JSON has it; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if hasattr(value, "tolist"):  # numpy
        return as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def note_skipped(options: argparse.Namespace, *sources: Any) -> dict[str, Any]:
    """Say on standard error which rows were left out of sources; for scripts, how many."""
    count = 0
    for source in sources:
        skipped = getattr(source, "skipped", None)
        if skipped is not None and skipped.count:
            count += skipped.count
            note_left_out(options, str(skipped))
    return {"skipped": count}


def note_left_out(options: argparse.Namespace, skipped: str) -> None:
    """Say on standard error what a source says of rows that it skipped, to the user of a command."""
    note(in_options(skipped, vars(options)))


def note(text: str) -> None:
    """A note on standard error, which scripts and people see alike."""
    clear_line()
    sys.stderr.write(escape_controls(f"mbauc: note: {text}") + "\n")
