"""``mbauc update``: continue training with new rows."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.argument_types import number
from mbauc.cli.data_files import files, open_like
from mbauc.cli.options import add_command, add_data, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, note_skipped

if TYPE_CHECKING:
    from mbauc.metrics import AucInterval
    from mbauc.model import RankerModel

_DESCRIPTION = """\
Trains a linear model further with the rows of new files, without the old rows: the result is the same as
training on old and new rows together. With --decay below 1 the old rows count less. The threshold and the
calibration are dropped, because they were set for the old weights. The AUC of the old model on the new
rows, which it has not seen, is printed first, then that of the updated model on the same rows.
"""
_EXAMPLES = """\
example, every night:
  mbauc update model.mbauc today.csv --decay 0.99 -o model.mbauc --force
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "update", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote, with moments")
    add_data(parser)
    add_out(parser, "model file to write; may be MODEL itself, with --force")
    parser.add_argument(
        "--decay", type=number, default=1.0, metavar="F", help="weight of the old rows, in (0, 1] (default: 1)"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="accept files that the model was trained on; their rows then count twice",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn and write."""
    check_writable(options.out, options.force)
    if not 0 < options.decay <= 1:
        raise Usage(f"--decay must be above 0 and at most 1, got {options.decay:g}.")
    from mbauc.model import load_model, save_model
    from mbauc.model.seen_files import find_seen_files, list_names
    from mbauc.model.update import update_model

    old, output = load_model(options.model), Output(options.json)
    with files(options) as paths:
        source = open_like(old, paths, options)
        seen = find_seen_files(old.trained_on.get("files"), source)
        if seen and old.moments is not None and not options.again:
            raise ValueError(
                f"{options.model} was already trained on {list_names(seen)}; these rows would count twice. "
                "Leave them out, or pass --again if this is intended."
            )
        before = _auc(old, source, options)
        model = update_model(old, source, decay=options.decay, verbose=not options.json)
        left_out = note_skipped(options, source)
        after = _auc(model, source, options)
    if before is not None and after is not None:
        known = f", some of which are training rows ({list_names(seen)})" if seen else ""
        output.say(f"AUC before   {before} on these rows{known}")
        output.say(f"AUC after    {after.auc:.4f} on the same rows, now training rows")
    sizes = model.moments.effective_sizes if model.moments is not None else (0.0, 0.0)
    output.say(
        f"trained on {sizes[0]:,.0f} positives and {sizes[1]:,.0f} negatives (effective), l2 = {model.l2:g}"
    )
    if old.threshold is not None:
        output.say("the threshold was dropped: set a new one with 'mbauc threshold'")
    if old.calibration is not None:
        output.say("the calibration was dropped: calibrate again with 'mbauc calibrate'")
    save_model(model, options.out)
    output.say(f"wrote {options.out}")
    return output.finish(
        {
            "model": options.out,
            "l1": model.l1,
            "l2": model.l2,
            "auc_before": None if before is None else asdict(before),
            "auc_after": None if after is None else after.auc,
            "seen": list(seen),
            "trained_on": model.trained_on,
            **left_out,
        }
    )


def _auc(model: RankerModel, source: Any, options: argparse.Namespace) -> AucInterval | None:
    """How well a model ranks rows; None where they are of one class, or the model cannot learn from them."""
    from mbauc.model.testing import NoRowsError, score_source

    if model.moments is None:
        return None
    try:
        tested = score_source(model, source, verbose=not options.json)
    except NoRowsError:
        return None
    return tested.interval() if 0 < tested.y.sum() < tested.y.size else None
