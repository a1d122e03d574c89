"""What ``mbauc fit`` says of a fit: what was lowered, the test, and whether training can go on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbauc.cli.advice import in_options
from mbauc.cli.output import Output
from mbauc.cli.positive import majority_hint

if TYPE_CHECKING:
    from mbauc.model.training import Training

#: Bytes up to which what updates need is worth keeping.
_MOST_KEPT = 4 << 30


def say_result(output: Output, model: Any, tested: Any) -> None:
    """What was learned, from how many rows, and how it does on others."""
    from mbauc.model.odd_columns import tell_odd_columns

    record = model.trained_on
    if model.settings.get("loss") or model.group is not None:
        output.say(f"objective   {model.describe_objective()}{_tried(model)}")
        asked = model.describe_asked()
        if asked:
            output.say(f"requested   {asked}")
    if model.terms is not None:
        output.note(record["choice"], 12, "selected")
    else:
        chosen = " (cross-validated)" if model.path else ""
        output.say(f"penalties   l1 = {model.l1:g}, l2 = {model.l2:g}{chosen}")
    effective = "" if model.group is None else " (effective)"
    output.say(
        f"trained on  {record['positives']:,.0f} positives and {record['negatives']:,.0f} negatives{effective}"
    )
    if tested is not None:
        seen = record["tested"]["trained_on"]
        where = f"rows {record['tested']['rows'].removeprefix('rows ')}" if seen else "held-out rows"
        auc = _tell_within(record["tested"]) or tested.interval()
        output.say(f"test AUC    {auc} on {tested.y.size:,} {where}")
        if not seen:
            output.say(f"            ({record['tested']['rows']})")
        if "baseline" in record:
            other = record["baseline"]
            output.say(
                f"            {other['auc']:.4f} for logistic regression, trained on {other['rows']:,} rows "
                f"and tested on {other['tested']:,}"
            )
            if other["auc"] > record["tested"]["high"]:
                record["notes"].append(
                    "the test AUC of logistic regression is above the interval of this model; a common cause "
                    "is that the test rows differ from the training rows (drift). Try --features linear, or "
                    "leave out columns that drift"
                )
        if "within_groups" in record["tested"]:
            output.say(f"            {tested.interval()} over all pairs")
        for line in _test_lines(record["tested"]):
            output.say(f"            {line}")
        if seen:
            record["notes"].append("the test rows are training rows: the AUC on new rows will be lower")
    for sentence in tell_odd_columns(record):
        output.note(in_options(sentence), 12)
    linear = _linear_hint(model)
    if linear:
        record["notes"].append(linear)
    hint = majority_hint(model, record["positives"], record["negatives"])
    if hint:
        record["notes"].append(hint.strip())
    for note in record["notes"]:
        output.note(note, 12)


def _linear_hint(model: Any) -> str:
    """What may rank a part of the ROC curve better than a linear model of a table does."""
    from mbauc.model.layout import TableLayout

    region = model.region
    if model.terms is not None or region.is_whole or not isinstance(model.layout, TableLayout):
        return ""
    options, measure = "--min-tpr", "'mbauc compare'"
    if region.max_fpr < 1.0:
        options = "--max-fpr and --min-tpr" if region.min_tpr > 0.0 else "--max-fpr"
        measure = f"'mbauc evaluate --max-fpr {region.max_fpr:g}'"
    return (
        f"the model is linear, because of {options}. Without, curves are fitted, which may rank this part of "
        f"the ROC curve better. Fit both, and compare them on new rows with {measure}."
    )


def _tried(model: Any) -> str:
    """Which losses were tried, and how they did on rows held out."""
    scores = ", ".join(f"{name} {score:.4f}" for name, score in model.trained_on.get("losses", {}).items())
    return f" (held-out {model.describe_measure()}: {scores})" if scores else ""


def _tell_within(tested: dict[str, Any]) -> str:
    """How the test went within groups; nothing without groups."""
    if "within_groups" not in tested:
        return ""
    low, high = (tested.get(f"within_groups_{end}") for end in ("low", "high"))
    ends = "" if low is None else f" ({100 * tested['confidence']:g}% interval {low:.4f} to {high:.4f})"
    return f"{tested['within_groups']:.4f}{ends} within {tested['groups']:,} groups,"


def _test_lines(tested: dict[str, Any]) -> Iterator[str]:
    """How the test went where a part of the ROC curve counts."""
    if "region" in tested:
        within = ", within groups" if "within_groups" in tested else ""
        yield f"{tested['region']:.4f} in the requested region{within} (standardised partial AUC)"


def describe_updates(model: Any, training: Training, options: argparse.Namespace) -> str:
    """Whether the model can be trained further, and if not, what to do about it."""
    if options.no_moments:
        return "not possible: --no-moments was given"
    if training.is_additive:
        return "not possible: bins, levels and penalties depend on the rows; retrain on all rows"
    if not training.is_quadratic:
        return "not possible: updates need --loss squared over the whole ROC curve"
    if model.moments is not None:
        return "possible with 'mbauc update' and 'mbauc merge'"
    if model.group is not None:
        return "not possible: groups may continue in later files; retrain on all rows"
    if options.pairs != "all":
        return "not possible: --pairs samples pairs; updates need all pairs"
    size = 8 * model.n_features**2
    if size > _MOST_KEPT:
        return "not possible: too many columns for updates; --hash-dim 2000 reduces them"
    return (
        f"not possible: too many columns for updates; use --solver gram ({size / 1e6:,.0f} MB) or fewer columns"
    )
