"""``mbauc inspect``: what is in a model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import whole
from mbauc.cli.options import add_command
from mbauc.cli.output import Output, escape_controls
from mbauc.cli.plots import check_folder, write_plots

_DESCRIPTION = """\
Shows what is in a model file: the largest weights by column name, the penalties, the training data, and the
AUC on held-out rows. For hashed columns with large weights it shows the most frequent values in them.

For curves and interactions it shows the most important columns and pairs of columns (standard deviation of
their contribution, in log-odds), and the bins, levels or cells that add least and most, relative to the
mean row.
"""
_EXAMPLES = """\
example:
  mbauc inspect model.mbauc --top 30
  mbauc inspect model.mbauc --plots pictures
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "inspect", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    parser.add_argument(
        "--top",
        type=whole,
        default=20,
        metavar="N",
        help="number of weights, or columns, to show (default: %(default)s)",
    )
    parser.add_argument(
        "--plots",
        type=Path,
        metavar="FOLDER",
        help="folder for plots as PNG and SVG: curves, interactions and importance, or weights",
    )
    parser.add_argument("--force", action="store_true", help="write to FOLDER even if it is not empty")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show it."""
    if options.plots is not None:
        check_folder(options.plots, options.force)
    from itertools import islice

    from mbauc.model import load_model
    from mbauc.report.training_facts import training_facts, weight_meaning

    model, output = load_model(options.model), Output(options.json)
    record = model.trained_on
    negative, positive = model.classes
    top = list(islice(model.largest_weights(), min(options.top, model.n_features)))
    used = int((model.coef != 0).sum())
    columns = model.layout.n_features
    by = f"{columns:,} columns, {used:,} with nonzero weight"
    if model.terms is not None:
        by = f"{columns:,} columns and {len(model.terms.features.pairs):,} interactions, {used:,} weights"
    facts = [
        ("ranks", f"{positive!r} above {negative!r} by {by}"),
        ("objective", model.describe_objective()),
        *([("requested", asked)] if (asked := model.describe_asked()) else []),
        *([("penalties", f"l1 = {model.l1:g}, l2 = {model.l2:g}")] if model.terms is None else []),
    ]
    if model.threshold is not None:
        cut = model.threshold
        facts.append(("threshold", f"{cut.value!r}: {cut.describe()}"))
    if model.calibration is not None:
        facts.append(("probabilities", f"calibrated with a {model.calibration.kind!r} map"))
    plain = {key: value for key, value in record.items() if key != "solver"}  # that is for experts: --json
    updates = "possible with 'mbauc update' and 'mbauc merge'"
    if model.terms is not None:
        updates = "not possible: bins, levels and penalties depend on the rows; retrain on all rows"
    elif not model.is_quadratic or model.group is not None:
        updates = "not possible for this loss or these pairs: retrain on all rows"
    elif model.moments is None:
        updates = "not possible: the file has no moments"
    facts.append(("updates", updates))
    for name, value in [*facts, *training_facts(plain)]:
        output.say(f"{name.lower():18}  {value}")
    terms = [] if model.terms is None else model.terms.summarise(model.coef, model.slope)
    if terms:
        _say_terms(output, terms, options.top)
    else:
        output.say(f"\n{weight_meaning(model)}:\n")
        _say_weights(output, model, top, used)
    scales, _ = model.scales()
    pictures = [] if options.plots is None else write_plots(model, options.plots)
    if pictures:
        output.say(f"\nwrote {len(pictures)} pictures to {options.plots}")
    return output.finish(
        {
            "classes": [negative, positive],
            "columns": columns,
            "features": model.n_features,
            "nonzero": used,
            "lowered": model.describe_objective(),
            "asked": vars(model.region),
            "group": model.group,
            "l1": model.l1,
            "l2": model.l2,
            "intercept": model.intercept,
            "threshold": None if model.threshold is None else vars(model.threshold),
            "moments": model.moments is not None,
            "weights": [
                {"column": column, "name": name, "weight": weight, "per_unit": weight / scales[column]}
                for column, name, weight in top
            ],
            "terms": [one._asdict() for one in terms],
            "trained_on": record,
            "path": model.path,
            "plots": pictures,
        }
    )


def _say_weights(output: Output, model: Any, top: list[tuple[int, str, float]], used: int) -> None:
    """The largest weights, with what they are for."""
    shown = [_short(name, 80) for _, name, _ in top]
    width = max(map(len, shown), default=0)
    scales, _ = model.scales()
    for name, (column, _, weight) in zip(shown, top, strict=True):
        one = f"  ({weight / scales[column]:+.4g} per unit)" if scales[column] != 1 else ""
        output.say(f"{name:{width}}  {f'{weight:+.6g}':{12 if one else 0}}{one}")
    if used > len(top):
        output.say(f"… and {used - len(top):,} more")


def _say_terms(output: Output, terms: list[Any], most: int) -> None:
    """What columns and pairs of columns do to scores."""
    output.say("\nEffect of each column in log-odds: standard deviation over the rows, lowest and highest:\n")
    lines = [("column", "kind", "deviation", "lowest", "highest")]
    for one in terms[:most]:
        ends = [
            "" if label is None else f"{_short(label, 48)} ({effect:+.3g})"
            for label, effect in ((one.lowest, one.low), (one.highest, one.high))
        ]
        lines.append((_short(one.name, 48), one.kind, f"{one.deviation:.3f}", *ends))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        output.say("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
    if len(terms) > most:
        output.say(f"… and {len(terms) - most:,} more")


def _short(name: str, most: int) -> str:
    """A name in one line."""
    name = escape_controls(name.replace("\n", "\\n").replace("\t", "\\t"))
    return name if len(name) <= most else name[: most - 1] + "…"
