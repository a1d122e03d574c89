"""``mbauc merge``: one model of several that saw different rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import number, number_or_auto
from mbauc.cli.options import add_command, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, note

_DESCRIPTION = """\
Merges models that were trained on different rows, on different machines or days, into the model that
training on all rows would have given. They must have the same columns, labels and settings: train the first
with 'mbauc fit', and the others with 'mbauc fit --like first.mbauc', which reuses its columns and scales.

A model made by 'mbauc update' includes the rows of the model that it started from: merging the two counts
those rows twice.
"""
_EXAMPLES = """\
example, on two machines and then on one of them:
  mbauc fit east.csv --label click --hash-dim 2000 -o east.mbauc
  mbauc fit west.csv --like east.mbauc -o west.mbauc
  mbauc merge east.mbauc west.mbauc -o both.mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "merge", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="two or more model files")
    parser.add_argument("--l1", type=number, metavar="λ₁", help="lasso penalty (default: the models' own)")
    parser.add_argument(
        "--l2", type=number_or_auto, metavar="λ₂", help="ridge penalty, or auto (default: the models' own)"
    )
    add_out(parser, "model file to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Join and write."""
    if len(options.models) < 2:
        raise Usage("two or more models are needed to merge.")
    check_writable(options.out, options.force)
    from mbauc.model import load_model, save_model
    from mbauc.model.seen_files import find_repeated_files, list_names
    from mbauc.model.update import merge_models

    output = Output(options.json)
    several = [load_model(path) for path in options.models]
    model = merge_models(several, l1=options.l1, l2=options.l2)
    counts = model.moments.counts if model.moments is not None else (0, 0)
    output.say(f"merged {counts[0]:,} positives and {counts[1]:,} negatives, l2 = {model.l2:g}")
    twice = find_repeated_files(one.trained_on.get("files") for one in several)
    if twice:
        note(f"rows of {list_names(twice)} are in more than one of the models and count twice.")
    if any(one.threshold is not None for one in several):
        output.say("thresholds were dropped: set a new one with 'mbauc threshold'")
    save_model(model, options.out)
    output.say(f"wrote {options.out}")
    return output.finish({"model": options.out, "positives": counts[0], "negatives": counts[1], "l2": model.l2})
