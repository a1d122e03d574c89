"""``mbauc merge``: one model of several that saw different rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.commands.terminal import Output, Usage, add_command, add_out, may_write

_DESCRIPTION = """\
Joins models that were trained on different rows, on different machines or days, into the one that training on
all of their rows would have given. They must have the same columns, labels and settings: train the first with
'mbauc fit' and the others with 'mbauc update' from it, or hash with the same --hash-dim.
"""
_EXAMPLES = """\
example:
  mbauc merge monday.mbauc tuesday.mbauc -o week.mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "merge", "join models that were trained on different machines", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="two or more model files")
    add_out(parser, "model file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Join and write."""
    if len(options.models) < 2:
        raise Usage("two or more models are needed to merge.")
    may_write(options.out, options.force)
    from mbauc.model import load_model, save_model
    from mbauc.model.update import merged

    output = Output(options.json)
    model = merged([load_model(path) for path in options.models])
    counts = model.moments.counts if model.moments is not None else (0, 0)
    output.say(f"joined {counts[0]:,} positives and {counts[1]:,} negatives, l2 = {model.l2:g}")
    save_model(model, options.out)
    output.say(f"wrote {options.out}")
    return output.done({"model": options.out, "positives": counts[0], "negatives": counts[1], "l2": model.l2})
