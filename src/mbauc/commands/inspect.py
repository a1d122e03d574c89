"""``mbauc inspect``: what is in a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.commands.terminal import Output, add_command, whole

_DESCRIPTION = """\
Shows the largest weights by the names of their columns, the penalties, what the model was trained on and how it
did on rows held out. Hashed columns with large weights show the values that were most frequent in them.
"""
_EXAMPLES = """\
example:
  mbauc inspect model.mbauc --top 30
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "inspect", "what is in a model: weights, penalties, training data", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    parser.add_argument(
        "--top", type=whole, default=20, metavar="N", help="weights to show (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show it."""
    from itertools import islice

    from mbauc.model import load_model

    model, output = load_model(options.model), Output(options.json)
    record = model.trained_on
    negative, positive = model.classes
    top = list(islice(model.largest_weights(), options.top))
    used = int((model.coef != 0).sum())
    output.say(
        f"ranks      {positive!r} above {negative!r} by {model.n_features:,} columns, {used:,} with weight"
    )
    output.say(f"penalties  l1 = {model.l1:g}, l2 = {model.l2:g}")
    if record.get("files"):
        names = ", ".join(str(entry.get("name")) for entry in record["files"][:5])
        output.say(f"trained    on {names}{', …' if len(record['files']) > 5 else ''}")
    if "positives" in record:
        output.say(f"           {record['positives']:,.0f} positives, {record['negatives']:,.0f} negatives")
    if "finished" in record:
        output.say(f"           {record['finished']}, mbauc {record.get('mbauc')}, {record.get('solver')}")
    if "tested" in record:
        tested = record["tested"]
        output.say(
            f"test AUC   {tested['auc']:.4f} ({tested['confidence']:.0%} interval {tested['low']:.4f} to "
            f"{tested['high']:.4f}) on {tested['positives'] + tested['negatives']:,} rows"
        )
    if model.threshold is not None:
        cut = model.threshold
        output.say(
            f"threshold  {cut.value:.9g}: at most {cut.false_alarm:g} false alarms with {cut.confidence:g} "
            "confidence"
        )
    output.say(f"moments    {'kept: mbauc update and merge work' if model.moments else 'not in the file'}")
    for note in record.get("notes", []):
        output.say(f"note       {note}")
    output.say()
    shown = [_short(name, 80) for _, name, _ in top]
    width = max(map(len, shown), default=0)
    for name, (_, _, weight) in zip(shown, top, strict=True):
        output.say(f"{name:{width}}  {weight:+.6g}")
    if used > len(top):
        output.say(f"… and {used - len(top):,} more")
    return output.done(
        {
            "classes": [negative, positive],
            "columns": model.n_features,
            "nonzero": used,
            "l1": model.l1,
            "l2": model.l2,
            "intercept": model.intercept,
            "threshold": None if model.threshold is None else vars(model.threshold),
            "moments": model.moments is not None,
            "weights": [{"column": column, "name": name, "weight": weight} for column, name, weight in top],
            "trained_on": record,
            "path": model.path,
        }
    )


def _short(name: str, most: int) -> str:
    """A name in one line that cannot move the cursor."""
    name = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return name if len(name) <= most else name[: most - 1] + "…"
