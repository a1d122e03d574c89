"""What commands say, to people or as JSON, and where they may write."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import textwrap
import unicodedata
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from mbauc.store.atomic import real_path


class Usage(Exception):
    """The command cannot be meant like that; exit code 2."""


class Output:
    """Speaks to people on the terminal, or to scripts in one JSON object at the end.

    Parameters
    ----------
    as_json : bool
        Whether to keep quiet until the end.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            sys.stdout.write(harmless(text) + "\n")
            sys.stdout.flush()

    def note(self, text: str, indent: int) -> None:
        """A note for people, in lines that fit the screen; ``indent`` is the width of what stands before it."""
        width = max(shutil.get_terminal_size().columns, 40)
        lines = textwrap.wrap(harmless(text), width - indent, break_long_words=False, break_on_hyphens=False)
        self.say("note".ljust(indent) + ("\n" + " " * indent).join(lines))

    def done(self, told: dict[str, Any]) -> int:
        """The result for scripts; the exit code."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(told), indent=1, allow_nan=False, ensure_ascii=False) + "\n")
        return 0


def harmless(text: str) -> str:
    """Text in which nothing moves the cursor, changes colours or turns the writing round."""
    return "".join(
        c
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )


def plain(value: Any) -> Any:
    """A value as JSON has it; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def add_command(
    commands: Any, name: str, summary: str, description: str, example: str
) -> argparse.ArgumentParser:
    """A command with the options that all have, and an example below its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description if "\n" in description else textwrap.fill(description, 100),
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_out(parser: argparse.ArgumentParser, what: str, *, required: bool = True) -> None:
    """``-o FILE`` and ``--force``."""
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", required=required, help=what)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def may_write(path: Path, force: bool, option: str = "-o", *, finished: bool | int = False) -> None:
    """Raise unless a file may be written: it is not there, or may be replaced.

    ``finished`` says that a run was found which may have written it, so that nothing may be left to do.
    """
    if str(path) == "-":
        raise Usage(f"{option} -: this cannot go to standard output; name a file.")
    if path.is_dir():
        raise Usage(f"{option} {path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise Usage(f"{option} {path}: the folder {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise Usage(f"{option} {path}: the folder {path.parent} cannot be written to.")
    try:
        real_path(path)
    except OSError as error:
        raise Usage(f"{option} {path}: {error.strerror}; name another file.") from None
    if path.exists() and not path.is_file():
        raise Usage(f"{option} {path} is no ordinary file, which would have to be replaced; name another one.")
    if force or not path.exists():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        done = " If the run of this checkpoint wrote it, nothing is left to do." if finished else ""
        raise Usage(f"{path} exists already; name another file, or pass --force to replace it.{done}")
    sys.stderr.write(f"{path} exists already. Replace it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Usage(f"{path} was left as it is.")


def note_skipped(*sources: Any) -> dict[str, Any]:
    """Say on standard error which rows were left out of sources; for scripts, how many."""
    count = 0
    for source in sources:
        skipped = getattr(source, "skipped", None)
        if skipped is not None and skipped.count:
            count += skipped.count
            sys.stderr.write(harmless(f"mbauc: note: {left_out(skipped)}") + "\n")
    return {"skipped": count}


def left_out(skipped: Any) -> str:
    """What a source says of rows that it skipped, as a sentence."""
    from mbauc.cli.advice import in_options

    return f"left out {in_options(str(skipped)).replace(' skipped', '', 1)}"


# -- types of options --------------------------------------------------------------------------------------


def whole(text: str) -> int:
    """A whole number of at least 0, as 1000000, 1_000_000, 1,000,000 or 1e6."""
    try:
        value = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or value.adjusted() > 30 or value != int(value) or value < 0:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least 0, such as 1000000 or 1e6, got {text!r}"
        )
    return int(value)


def jobs(text: str) -> int:
    """A number of threads of at least 1."""
    value = whole(text)
    if not 1 <= value <= 4096:
        raise argparse.ArgumentTypeError(f"expected a number of threads from 1 to 4096, got {text!r}")
    return value


def seed(text: str) -> int:
    """A whole number that fits into 32 bits."""
    value = whole(text)
    if value >= 2**32:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {2**32 - 1:,}, got {text!r}")
    return value


def any_number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}")
    return value


def number(text: str) -> float:
    """A number of at least 0."""
    value = any_number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")
    return value


def number_or_auto(text: str) -> float | str:
    """A number of at least 0, or ``auto``."""
    return "auto" if text == "auto" else number(text)


def pairs(text: str) -> int | str:
    """``all``, or a number of pairs of at least 1."""
    if text == "all":
        return text
    value = whole(text)
    if not 1 <= value <= 10**12:
        raise argparse.ArgumentTypeError(f"expected 'all' or a number from 1 to 1e12, got {text!r}")
    return value


def rate(text: str) -> float:
    """A number strictly between 0 and 1."""
    value = number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {text!r}")
    return value


def memory(text: str) -> int:
    """Bytes, from a size such as ``4GB``."""
    from mbauc.runtime.memory import parse_memory

    try:
        return parse_memory(int(text) if text.isdecimal() else text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in (part.strip() for part in text.split(",")) if name]
