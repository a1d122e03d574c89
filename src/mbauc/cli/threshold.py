"""``mbauc threshold``: a cut that keeps a false-alarm promise."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import any_number, rate
from mbauc.cli.data_files import files, open_like, open_ungrouped
from mbauc.cli.options import add_command, add_data, add_out
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, note_skipped
from mbauc.cli.positive import majority_hint

_DESCRIPTION = """\
Finds the lowest threshold that keeps the false-alarm rate at most --false-alarm with probability --confidence
(the Neyman-Pearson order-statistic rule), and says how many positives it detects. The rows must be new to the
model: from rows that it was trained on the promise would be broken, and is refused. If there is one file only,
--held-out takes the rows of it that 'mbauc fit' held out. -o writes a model that has the threshold; 'mbauc
score' raises alarms with it.
--at sets a threshold that you chose yourself, without rows and without a promise.
"""
_EXAMPLES = """\
examples:
  mbauc threshold model.mbauc yesterday.csv --false-alarm 0.01 --confidence 0.95 -o armed.mbauc
  mbauc threshold model.mbauc --at=-0.0125 -o armed.mbauc
"""
#: Default limit of the false-alarm rate.
_FALSE_ALARM = 0.05
#: Default confidence of the promise.
_CONFIDENCE = 0.95


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "threshold", "a cut that keeps a false-alarm promise", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    data = add_data(parser)
    parser.add_argument("--false-alarm", type=rate, metavar="RATE", help=f"limit (default: {_FALSE_ALARM})")
    parser.add_argument("--confidence", type=rate, help=f"that the limit is kept (default: {_CONFIDENCE})")

    class At(argparse.Action):
        """A threshold set by hand, which needs no rows."""

        def __call__(self, _: Any, options: argparse.Namespace, value: Any, option: str | None = None) -> None:
            options.at, data.required = value, False

    parser.add_argument(
        "--at", type=any_number, action=At, metavar="SCORE", help="set this threshold: no DATA, no promise"
    )
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="of the training file, take the rows that 'mbauc fit' held out",
    )
    parser.add_argument(
        "--on-training-rows",
        action="store_true",
        help="take rows that the model was trained on; then there is no promise",
    )
    add_out(parser, "model with the threshold to write", required=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Find the cut, or set it."""
    if options.at is not None:
        return _set(options)
    if options.false_alarm is None:
        options.false_alarm = _FALSE_ALARM
    if options.confidence is None:
        options.confidence = _CONFIDENCE
    if options.out is not None:
        check_writable(options.out, options.force)
    from mbauc.metrics.intervals.binomial import clopper_pearson
    from mbauc.metrics.neyman_pearson import false_alarm_threshold, negatives_needed
    from mbauc.model import Threshold, load_model, save_model
    from mbauc.model.threshold import clear_cut
    from mbauc.model.seen_files import file_marks, find_seen_files, list_names
    from mbauc.model.testing import score_source, select_held_out

    model, output = load_model(options.model), Output(options.json)
    with files(options) as paths:
        # which rows were held out depends on their groups
        source = (open_like if options.held_out else open_ungrouped)(model, paths, options)
        marks, seen = file_marks(source), find_seen_files(model.trained_on.get("files"), source)
        rows = source
        if options.held_out:
            rows, seen = select_held_out(model, source), []
        if seen and not options.on_training_rows:
            kept = (
                " --held-out takes those that 'mbauc fit' held out;" if "held_out" in model.trained_on else ""
            )
            raise ValueError(
                f"the model was trained on rows of {list_names(seen)}. On new rows it would raise more false "
                "alarms than a promise made from these. Give rows that it has not seen, such as another day, "
                f"or a part of the file that was set aside before 'mbauc fit'.{kept} --on-training-rows takes "
                "all of these, without a promise."
            )
        tested = score_source(model, rows, verbose=not options.json)
        left_out = note_skipped(source)
    if tested.weight is not None:
        raise ValueError("a false-alarm promise is about single rows; it cannot be made from weighted ones.")
    negatives, positive = int((tested.y == 0).sum()), tested.s[tested.y == 1]
    needed = negatives_needed(options.false_alarm, 1 - options.confidence)
    if negatives < needed:
        raise ValueError(
            f"a promise of at most {options.false_alarm:g} false alarms with {options.confidence:g} confidence "
            f"needs {needed:,} negative rows, got {negatives:,}. Raise --false-alarm, lower --confidence, or "
            f"give more rows.{majority_hint(model, positive.size, negatives)}"
        )
    found = false_alarm_threshold(tested.s[tested.y == 0], options.false_alarm, 1 - options.confidence)
    cut = clear_cut(found.threshold, tested.s)
    detected = int((positive > cut).sum())
    low, high = clopper_pearson(detected, positive.size, options.confidence) if positive.size else (0.0, 1.0)
    output.say(f"threshold     {_shortest(cut, tested.s)}: raise the alarm where the score is above it")
    threshold = Threshold(cut, options.false_alarm, options.confidence, found.n_negatives)
    if seen:
        threshold = Threshold(cut)
        output.say(
            f"false alarms  no promise: the model was trained on {list_names(seen)}, and new rows will raise "
            f"more than {options.false_alarm:.3g}"
        )
    else:
        output.say(
            f"false alarms  at most {options.false_alarm:.3g} of the negatives, with {options.confidence:.3g} "
            f"confidence (from {found.n_negatives:,} negatives)"
        )
    if positive.size:
        output.say(
            f"detections    {detected:,} of {positive.size:,} positives, {detected / positive.size:.1%} "
            f"({100 * options.confidence:g}% interval {float(low):.1%} to {float(high):.1%})"
        )
    if options.out is not None:
        save_model(model.with_threshold(threshold, marks), options.out)
        output.say(f"wrote         {options.out}")
    return output.finish(
        {
            "threshold": cut,
            "false_alarm": threshold.false_alarm,
            "confidence": threshold.confidence,
            "violation_probability": None if seen else found.violation_probability,
            "negatives": found.n_negatives,
            "positives": positive.size,
            "detected": detected,
            "detection_rate": detected / positive.size if positive.size else None,
            "detection_low": float(low),
            "detection_high": float(high),
            "model": options.out,
            **left_out,
        }
    )


def _shortest(cut: float, s: Any) -> str:
    """A threshold in as few digits as raise the same alarms."""
    alarms = (s > cut).sum()
    texts = (f"{cut:.{digits}g}" for digits in range(3, 18))
    return next(text for text in texts if (s > float(text)).sum() == alarms)


def _set(options: argparse.Namespace) -> int:
    """Write a model with a threshold set by hand."""
    for name in ("false_alarm", "confidence"):
        if getattr(options, name) is not None:
            raise Usage(f"--at makes no promise; leave out --{name.replace('_', '-')}, or leave out --at.")
    if options.data:
        raise Usage(
            f"--at needs no rows; leave out {' '.join(options.data)}. 'mbauc evaluate' says what a model's "
            "threshold does on rows."
        )
    if options.out is None:
        raise Usage("--at needs -o FILE, the model with the threshold to write.")
    check_writable(options.out, options.force)
    from mbauc.model import Threshold, load_model, save_model

    model, output = load_model(options.model), Output(options.json)
    save_model(model.with_threshold(Threshold(options.at)), options.out)
    output.say(f"threshold     {options.at!r}: raise the alarm where the score is above it")
    output.say("false alarms  no promise: the threshold was set by hand")
    output.say(f"wrote         {options.out}")
    return output.finish(
        {"threshold": options.at, "false_alarm": None, "confidence": None, "model": options.out}
    )
