"""``mbauc completion``: a script that completes commands and options."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mbauc.cli.options import add_command
from mbauc.cli.output import Output

_EXAMPLES = """\
examples:
  mbauc completion bash > ~/.local/share/bash-completion/completions/mbauc
  mbauc completion zsh  > ~/.zfunc/_mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "completion",
        "Prints a script that completes commands, options and file names. Needs shtab (pip install "
        "'mbauc[completion]').",
        _EXAMPLES,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise ImportError("completion needs shtab: pip install 'mbauc[completion]'") from None
    from mbauc.cli.main import whole_parser

    class Completed(argparse.ArgumentParser):
        """A parser whose arguments that name files or folders are completed as such."""

        def add_argument(self, *names: Any, **rest: Any) -> argparse.Action:
            action = super().add_argument(*names, **rest)
            if action.metavar in ("FILE", "DATA", "MODEL"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.metavar == "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            return action

    script = shtab.complete(whole_parser(Completed), shell=options.shell)
    if not options.json:
        sys.stdout.write(script + "\n")
    return Output(options.json).finish({"shell": options.shell, "script": script})
