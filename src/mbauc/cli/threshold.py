"""``mbauc threshold``: a cut by a false-alarm promise, a number of alarms, or a cost."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mbauc.cli.advice import in_options
from mbauc.cli.argument_types import any_number, number, rate, whole
from mbauc.cli.data_files import files
from mbauc.cli.new_rows import NewRows, add_held_out, add_model, score_new_rows
from mbauc.cli.options import add_command, add_data, add_out, add_share
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage
from mbauc.cli.positive import majority_hint

if TYPE_CHECKING:
    from mbauc.metrics.operating_point import OperatingPoint, Rate
    from mbauc.model import RankerModel, Threshold

_DESCRIPTION = """\
Sets a threshold from labelled rows by one of the rules below, and reports detections, false alarms and
precision. -o writes a model that has the threshold; 'mbauc score' then raises alarms.

--share gives the share of positives in production, if it differs from DATA: alarms, precision and costs are
computed for it. The rows must be new to the model; rows of its training are refused, because on them every
figure is too good. If there is one file only, train with 'mbauc fit --keep-tested': --held-out then uses the
rows that were held out.
"""
_EXAMPLES = """\
examples:
  mbauc threshold model.mbauc yesterday.csv --false-alarm 0.01 --confidence 0.95 -o armed.mbauc
  mbauc threshold model.mbauc yesterday.csv --top 50 -o armed.mbauc
  mbauc fit train.csv --label fraud --keep-tested -o model.mbauc
  mbauc threshold model.mbauc train.csv --held-out --false-alarm 0.01 -o armed.mbauc
  mbauc threshold model.mbauc yesterday.csv --alarms-per-10000 20 --share 0.001 -o armed.mbauc
  mbauc threshold model.mbauc yesterday.csv --cost 50 -o armed.mbauc
  mbauc threshold model.mbauc --at=-0.0125 -o armed.mbauc
"""
#: Default limit of the false-alarm rate.
_FALSE_ALARM = 0.05
#: Default confidence of the promise.
_CONFIDENCE = 0.95
#: Options of the rules, one of which may be given.
_RULES = ("false_alarm", "top", "alarms_per_10000", "cost", "at")
#: Rows to which numbers of alarms are referred.
_ROWS = 10_000


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "threshold",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_model(parser)
    data = add_data(parser)
    rules = parser.add_argument_group("rules (one of them; default: --false-alarm)")
    rules.add_argument(
        "--false-alarm",
        type=rate,
        metavar="RATE",
        help="lowest threshold whose false-alarm rate on new rows is at most RATE, such as 0.01 or 1%%, with "
        f"probability --confidence, by the Neyman-Pearson order-statistic rule (default: {_FALSE_ALARM})",
    )
    rules.add_argument(
        "--confidence",
        type=rate,
        metavar="P",
        help=f"probability that the limit holds on new rows (default: {_CONFIDENCE})",
    )
    rules.add_argument(
        "--top",
        type=whole,
        metavar="N",
        help="lowest threshold that raises at most N alarms in as many rows as DATA has, such as one day's "
        "capacity",
    )
    rules.add_argument(
        "--alarms-per-10000",
        type=number,
        metavar="N",
        help="lowest threshold that raises at most N alarms per 10,000 rows",
    )
    rules.add_argument(
        "--cost",
        type=number,
        metavar="C",
        help="threshold of least cost, if a missed positive costs as much as C false alarms",
    )

    class At(argparse.Action):
        """A threshold set by hand, which needs no rows."""

        def __call__(self, _: Any, options: argparse.Namespace, value: Any, option: str | None = None) -> None:
            options.at, data.required = value, False

    rules.add_argument(
        "--at",
        type=any_number,
        action=At,
        metavar="SCORE",
        help="a threshold of your own; needs no DATA, without a guarantee",
    )
    add_share(parser, "alarms, precision and costs")
    add_held_out(parser, "there is no guarantee")
    add_out(parser, "model with the threshold to write", required=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Find the cut, or set it."""
    given = [name for name in _RULES if getattr(options, name) is not None]
    if "at" in given:
        return _set(options)
    if len(given) > 1:
        raise Usage(
            f"{_option(given[0])} and {_option(given[1])} cannot be combined: give one rule for the threshold."
        )
    rule = given[0] if given else "false_alarm"
    if rule != "false_alarm" and options.confidence is not None:
        raise Usage(
            f"--confidence applies to --false-alarm only, {_option(rule)} has no guarantee. Leave it out."
        )
    if options.out is not None:
        check_writable(options.out, options.force)
    import numpy as np

    from mbauc.metrics.operating_point import InUse, choose_threshold
    from mbauc.metrics.ranked import RankedScores
    from mbauc.metrics.thresholds import threshold_table
    from mbauc.model import load_model, save_model

    model, output = load_model(options.model), Output(options.json)
    with files(options) as paths:
        why = "On new rows the threshold would raise more false alarms and find fewer positives."
        rows = score_new_rows(model, paths, options, why, "without a guarantee")
    y, s, weight = rows.tested.y, rows.tested.s, rows.tested.weight
    ranked = RankedScores(y == 1, s, weight)
    positives, negatives = (int(np.count_nonzero(y == label)) for label in (1, 0))
    if rule == "false_alarm":
        threshold, violation = _promise(options, model, rows)
    else:
        if not positives or not negatives:
            missing = "negative" if positives else "positive"
            raise ValueError(f"{_option(rule)} needs rows of both classes; DATA has no {missing} rows.")
        threshold, violation = _cut(rule, getattr(options, rule), options.share, ranked), None
    output.say(f"threshold     {_shortest(threshold.value, s)}: raise the alarm where the score is above it")
    output.say(f"{'false alarms' if rule == 'false_alarm' else 'chosen for':12}  {_describe(threshold, rows)}")
    found: dict[str, Any] = {}
    if positives and negatives:
        table = threshold_table(ranked, threshold.value)
        at = choose_threshold(table, in_use=InUse.of(table, _ROWS, options.share))
        found = _say_rates(output, at, options.share, options.cost)
    if options.out is not None:
        save_model(model.with_threshold(threshold, rows.marks), options.out)
        output.say(f"wrote         {options.out}")
    else:
        output.say("not written   -o FILE writes the model with this threshold, for alarms in 'mbauc score'")
    return output.finish(
        {
            "threshold": threshold.value,
            "rule": rule,
            "number": threshold.number if threshold.rule else threshold.false_alarm,
            "false_alarm": threshold.false_alarm,
            "confidence": threshold.confidence,
            "violation_probability": violation,
            "negatives": negatives,
            "positives": positives,
            "share": options.share,
            **found,
            "model": options.out,
            **rows.left_out,
        }
    )


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _promise(options: argparse.Namespace, model: RankerModel, rows: NewRows) -> tuple[Threshold, float | None]:
    """The lowest cut that keeps a promise, and the probability that it does not."""
    from mbauc.model.promise import find_promise
    from mbauc.model.threshold import Threshold

    limit = _FALSE_ALARM if options.false_alarm is None else options.false_alarm
    confidence = _CONFIDENCE if options.confidence is None else options.confidence
    negatives = int((rows.tested.y == 0).sum())
    try:
        found = find_promise(rows.tested, limit, confidence)
    except ValueError as error:
        hint = majority_hint(model, rows.tested.y.size - negatives, negatives)
        raise ValueError(in_options(error) + hint) from None
    if rows.seen:
        return Threshold(found.threshold.value, rule="false_alarm", number=limit), None
    return found


def _cut(rule: str, value: float, share: float | None, ranked: Any) -> Threshold:
    """The cut that serves a purpose best, of all scores."""
    from mbauc.metrics.curves import roc_curve
    from mbauc.metrics.operating_point import InUse, choose_row
    from mbauc.model.threshold import Threshold, clear_cut

    curve = roc_curve(ranked)
    in_use = InUse.of(curve, _ROWS if rule == "alarms_per_10000" else None, share)
    row = choose_row(curve, in_use=in_use, **{"cost_ratio" if rule == "cost" else "alarms": value})
    cut = clear_cut(float(curve.threshold[row]), ranked.values)
    return Threshold(cut, negatives=int((~ranked.positive).sum()), rule=rule, number=float(value))


def _describe(threshold: Threshold, rows: NewRows) -> str:
    from mbauc.model.seen_files import list_names

    if not rows.seen:
        return threshold.describe()
    return (
        f"no guarantee: the model was trained on {list_names(rows.seen)}; the rate on new rows will exceed "
        f"{threshold.number:.3g}"
        if threshold.rule == "false_alarm"
        else f"{threshold.describe()}; the model was trained on {list_names(rows.seen)}"
    )


def _say_rates(output: Output, at: OperatingPoint, share: float | None, cost: float | None) -> dict[str, Any]:
    """What a cut does, with 95% intervals; the same for scripts."""
    from mbauc.report.text import count

    def interval(one: Rate, form: str = ".2%") -> str:
        if one.value != one.value:
            return "none"
        return f"{one.value:{form}} (95% interval {one.low:{form}} to {one.high:{form}})"

    alarms, precision = at.rates_in_use(share)
    where = "" if share is None else f", where {share:g} of the rows are positive"
    scaled = type(alarms)(*(_ROWS * end for end in alarms))
    positives, negatives = at.found + at.missed, at.false_alarms + at.quiet
    output.say(f"detections    {count(at.found)} of {count(positives)} positives, {interval(at.detection)}")
    output.say(
        f"              false alarms {count(at.false_alarms)} of {count(negatives)} negatives, "
        f"{interval(at.false_alarm, '.3%')}"
    )
    output.say(f"alarms        {interval(scaled, ',.1f')} per 10,000 rows{where}")
    right = (
        f"{interval(precision)} of the alarms are positives"
        if precision.value == precision.value
        else "no alarms"
    )
    output.say(f"precision     {right}{where}")
    result: dict[str, Any] = {"detected": at.found, "false_alarms": at.false_alarms}
    named = {
        "detection": at.detection,
        "false_alarm": at.false_alarm,
        "precision": precision,
        "alarms_per_10000": scaled,
    }
    for name, one in named.items():
        rate_name = f"{name}_rate" if name in ("detection", "false_alarm") else name
        result |= {rate_name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    if cost is not None:
        spent = cost * (1 - at.detection.value) * positives * at.in_use.positive
        spent += at.false_alarms * at.in_use.negative
        output.say(f"cost          {spent:,.1f} false alarms per 10,000 rows{where}")
        result["cost_per_10000"] = spent
    return result


def _shortest(cut: float, s: Any) -> str:
    """A threshold in as few digits as raise the same alarms."""
    alarms = (s > cut).sum()
    texts = (f"{cut:.{digits}g}" for digits in range(3, 18))
    return next(text for text in texts if (s > float(text)).sum() == alarms)


def _set(options: argparse.Namespace) -> int:
    """Write a model with a threshold set by hand."""
    for name in (*_RULES[:-1], "confidence", "share"):
        if getattr(options, name) is not None:
            raise Usage(f"--at sets the threshold by hand and cannot be combined with {_option(name)}.")
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
    output.say("false alarms  no guarantee: the threshold was set by hand")
    output.say(f"wrote         {options.out}")
    return output.finish(
        {"threshold": options.at, "false_alarm": None, "confidence": None, "model": options.out}
    )
