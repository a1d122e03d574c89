"""The command ``mbauc``."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from mbauc.cli import COMMANDS
from mbauc.cli.advice import in_options
from mbauc.cli.output import Usage, escape_controls, note

_EPILOG = """\
from a file to scores, in three commands ('mbauc threshold' adds alarms):
  mbauc fit train.csv --label click -o model.mbauc
  mbauc evaluate model.mbauc test.csv --report report.html
  mbauc score model.mbauc today.csv -o scores.parquet

Start with 'mbauc demo'; 'mbauc COMMAND --help' has examples.
Exit codes: 0 success; 1 the data, a file or a missing package; 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    if sys.stdout is None:  # closed by the parent process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if arguments is None:
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter is no reason to stop
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug, as_json = "--debug" in given, "--json" in given

    def fail(code: int, why: str, before: str = "mbauc: ") -> int:
        sys.stderr.write(escape_controls(before + why) + "\n")
        if as_json:
            sys.stdout.write(json.dumps({"error": why, "exit_code": code}, ensure_ascii=False) + "\n")
        return code

    options = argparse.Namespace(command=None)
    with _raise_on_signals(), _warnings_in_one_line(options):
        try:
            parser = _parser(next((word for word in given if not word.startswith("-")), None))
            parser.parse_args(given, options)
            if options.command is None:
                parser.print_help()
                return 2
            from mbauc.cli.out_files import check_inputs_stay

            check_inputs_stay(options)
            return int(options.run(options))
        except _WrongWords as error:
            raise SystemExit(fail(2, error.why, error.usage)) from None
        except Usage as error:
            return fail(2, str(error), f"mbauc {options.command}: ")
        except BrokenPipeError:
            # the reader of our output has closed it; leave nothing for the interpreter to flush
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if debug:
                raise
            return fail(1, in_options(error, vars(options)) or type(error).__name__)
        except Exception as error:
            if debug:
                raise
            shown = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            advice = "Run the same command with --debug for the traceback."
            return fail(1, f"internal error ({shown[:300]}). {advice}")
        except KeyboardInterrupt as error:
            if debug:
                raise
            why = in_options(error, vars(options)) or "interrupted; no incomplete file was written"
            return fail(130, f"{why}.", "\nmbauc: ")
        except _Terminated as error:
            with suppress(OSError):  # the terminal may be gone
                fail(128 + error.number, "terminated; no incomplete file was written.", "\nmbauc: ")
            return 128 + error.number


@contextmanager
def _warnings_in_one_line(options: argparse.Namespace) -> Iterator[None]:
    """Within this block warnings are for the user of a command, not of Python."""
    before = warnings.showwarning

    def show(message: Any, *rest: Any, **more: Any) -> None:
        note(in_options(message, vars(options)))

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def _raise_on_signals() -> Iterator[None]:
    """Within this block SIGTERM, and SIGHUP of a lost terminal, are exceptions: temporary files are removed."""

    def stop(number: int, frame: Any) -> None:
        raise _Terminated(number)

    before = {}
    try:
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # under nohup the command must continue
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Terminated(BaseException):
    """The process was asked to end, by the signal of this number."""

    def __init__(self, number: int) -> None:
        self.number = number


class _WrongWords(Exception):
    """Words that no command takes; ``usage`` says which it does."""

    def __init__(self, why: str, usage: str) -> None:
        self.why, self.usage = why, usage


class _Parser(argparse.ArgumentParser):
    """A parser that leaves it to others to say what is wrong, and to end."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse them; words that are left over are an error of the command that they were given to."""
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            wrong = next((word for word in rest if word.startswith("--")), "").split("=", 1)[0]
            close = get_close_matches(wrong, re.findall(r"--[\w-]+", self.format_usage()), n=1)
            hint = f". Did you mean {close[0]}?" if close else ""
            self.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        """Raise it."""
        raise _WrongWords(message, f"{self.format_usage()}{self.prog}: error: ")


def whole_parser(kind: type[argparse.ArgumentParser] = _Parser) -> argparse.ArgumentParser:
    """The parser with all commands in full, of a class of its own if that is wanted."""
    return _parser(None, whole=True, kind=kind)


def _parser(
    chosen: str | None, *, whole: bool = False, kind: type[argparse.ArgumentParser] = _Parser
) -> argparse.ArgumentParser:
    """A parser that knows the chosen command in full, and the others by name: they may be slow to import."""
    parser = kind(
        prog="mbauc",
        description="Ranks positives above negatives (AUC) on large, imbalanced data.",
        epilog=_EPILOG,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=16),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        if whole or name == chosen:
            import_module(module).add(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"mbauc {version('mbauc')}\n")
        parser.exit()
