"""``mbauc calibrate``: probabilities that fit new rows."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.cli.data_files import files
from mbauc.cli.new_rows import add_held_out, add_model, score_new_rows
from mbauc.cli.options import add_command, add_data, add_out, add_share
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output

_DESCRIPTION = """\
Fits the map from scores to probabilities on labelled rows that are new to the model. Three maps are tried:
that of training, logistic regression on the score (Platt scaling), and isotonic regression. The simplest
whose log-loss on held-out rows is within one standard error of the lowest is selected. Scores, their order
and the threshold do not change; 'mbauc score' and 'mbauc evaluate' use the new probabilities. With --share
the probabilities are for rows with another share of positives than DATA has.
"""
_EXAMPLES = """\
examples:
  mbauc calibrate model.mbauc yesterday.csv -o calibrated.mbauc
  mbauc calibrate model.mbauc sample.csv --share 0.001 -o calibrated.mbauc
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "calibrate", _DESCRIPTION, _EXAMPLES)
    add_model(parser)
    add_data(parser)
    add_share(parser, "probabilities")
    add_held_out(parser, "probabilities are overconfident")
    add_out(parser, "model with the new probabilities to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Choose the map and write the model."""
    check_writable(options.out, options.force)
    import numpy as np
    from scipy.special import expit

    from mbauc.metrics.calibration import choose_calibration
    from mbauc.metrics.probabilities import calibration_error, normalized_entropy
    from mbauc.model import load_model, save_model

    model, output = load_model(options.model), Output(options.json)
    with files(options) as paths:
        why = "Their scores are overfitted, and the probabilities would be overconfident."
        rows = score_new_rows(model, paths, options, why, "overconfident")
    y, s, weight = rows.tested.y, rows.tested.s, rows.tested.weight
    if np.unique(y).size < 2:
        one = "positive" if y[0] else "negative"
        raise ValueError(f"calibration needs rows of both classes; all {y.size:,} rows are {one}.")
    current = model.current_calibration
    found = choose_calibration(y, s, sample_weight=weight, current=current)
    kept = found.calibration is current
    kind = f"{current.kind}, unchanged" if kept else found.calibration.kind
    output.say(f"map           {kind}: {found.reason}")
    numbers = {}
    for name, measure, form in (
        ("normalized_entropy", normalized_entropy, "entropy       {:.4f} before, {:.4f} after (normalised"),
        ("calibration_error", calibration_error, "calibration   error {:.5f} before, {:.5f} after (mean"),
    ):
        before, after = (
            measure(y, p, sample_weight=weight) for p in (current.probability(s), expit(found.log_odds))
        )
        output.say(form.format(before, after) + ", on held-out rows)")
        numbers[name] = {"before": before, "after": after}
    if not kept:
        model = model.with_calibration(found.calibration, rows.marks)
    if options.share is not None:
        model = model.with_share(options.share)
        output.say(f"share         probabilities are for a share of positives of {options.share:g}")
    save_model(model, options.out)
    output.say(f"wrote         {options.out}")
    return output.finish(
        {
            "model": options.out,
            "map": found.calibration.kind,
            "kept": kept,
            "reason": found.reason,
            "log_loss": found.log_loss,
            **numbers,
            "share": options.share,
            **rows.left_out,
        }
    )
