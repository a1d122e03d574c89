"""The threshold explorer of a report as HTML: its controls, and its output before they are moved."""

from __future__ import annotations

import math

from mbauc.metrics.operating_point import START, OperatingPoint, starting_point
from mbauc.metrics.thresholds import SLIDER_STEPS, ThresholdTable, slider_decades
from mbauc.report.origin import Origin
from mbauc.report.text import count, dump_json, percent, score_text

#: Cost ratio that the page starts with.
_COST = 10
#: Exponents of ten at the ends of the slider of cost ratios.
_COST_ENDS = (-2, 6)
#: Number of alarms that the page starts with, and that in 10,000 rows.
_ALARMS, _RATE = 100, 100
#: What each way to choose asks for.
_ABOUT = {
    "limit": "A false-alarm rate such as 0.01 or 1%. The limit holds on these rows. A guarantee for new rows "
    "needs a higher threshold: <code>mbauc threshold --false-alarm</code>.",
    "alarms": "The number of alarms that can be reviewed. These are {rows} rows; enter another daily volume "
    "below, under “Production data”.",
    "rate": "A limit for any number of rows: 50 means that 0.5% of them can be reviewed.",
    "cost": "The cost of one missed positive, in false alarms. The threshold with the lowest total cost is "
    "selected.",
    "hand": "A score. The nearest threshold stored in this page is selected.",
}


def explorer_html(table: ThresholdTable, origin: Origin, beside: str) -> str:
    """Controls, the result with something beside it, and the table of thresholds that the script reads."""
    at = starting_point(table)
    return (
        f'<div class="controls">{_modes(table, origin)}</div>'
        f'<div class="bar"><div class="controls">{_sliders(table, at)}</div>{_summary(at)}</div>'
        f'<div class="plots"><div>{_rates(at)}{_confusion(at)}{_rule(at, origin)}{_in_use(table)}'
        f"</div>{beside}</div>"
        f'<script type="application/json" id="thresholds">{dump_json(table.to_dict())}</script>'
    )


# -- controls -------------------------------------------------------------------------------------------------


def _modes(table: ThresholdTable, origin: Origin) -> str:
    modes = [
        ("limit", "False-alarm rate"),
        ("alarms", "Number of alarms"),
        ("rate", "Alarms per 10,000 rows"),
        ("cost", "Cost"),
        ("hand", "Score"),
    ]
    about = dict(_ABOUT)
    if table.chosen is not None:
        modes.insert(0, ("own", "The model’s threshold"))
        about["own"] = origin.about_threshold()
    first = modes[0][0]
    radios = "".join(
        f'<label for="mode-{mode}"><input type="radio" name="mode" id="mode-{mode}" value="{mode}" '
        f'autocomplete="off"{" checked" if mode == first else ""}>{text}</label>'
        for mode, text in modes
    )
    rows = count(table.rows)
    notes = "".join(
        f'<p class="soft" data-mode="{mode}"{"" if mode == first else " hidden"}>{text.format(rows=rows)}</p>'
        for mode, text in about.items()
    )
    return (
        f"<fieldset><legend>Set the threshold by</legend>{radios}{notes}"
        "<noscript><p>Changing the threshold needs JavaScript. The figures below are for the first option."
        "</p></noscript></fieldset>"
    )


def _sliders(table: ThresholdTable, at: OperatingPoint) -> str:
    rows, shown = table.rows, "limit" if table.chosen is None else "own"
    decades = slider_decades(rows)
    limits = (-SLIDER_STEPS * slider_decades(table.negatives), 0)
    dials = [
        ("limit", "Maximum false-alarm rate", limits, START),
        (
            *("alarms", "Maximum number of alarms", (0, SLIDER_STEPS * decades)),
            min(_ALARMS, max(1, math.floor(rows / 10))),
        ),
        (
            "rate",
            "Maximum number of alarms per 10,000 rows",
            (SLIDER_STEPS * (4 - decades), SLIDER_STEPS * 4),
            _RATE,
        ),
        (
            *("cost", "Cost of a missed positive, in false alarms"),
            *((SLIDER_STEPS * _COST_ENDS[0], SLIDER_STEPS * _COST_ENDS[1]), _COST),
        ),
    ]
    found = "".join(
        _dial(mode, label, ends, round(SLIDER_STEPS * math.log10(value)), f"{value:g}", mode == shown)
        for mode, label, ends, value in dials
    )
    # to the right scores rise, down the table they fall
    last = table.cut.size - 2
    row = min(at.row, last)
    return found + _dial(
        "hand", "Threshold: alarm for scores above", (0, last), last - row, repr(float(table.cut[row])), False
    )


def _dial(mode: str, label: str, ends: tuple[int, int], place: int, value: str, shown: bool) -> str:
    return (
        f'<div data-mode="{mode}"{"" if shown else " hidden"}>'
        f'<label for="{mode}-slider">{label}</label><div class="dial">'
        f'<input type="range" id="{mode}-slider" min="{ends[0]}" max="{ends[1]}" step="1" '
        f'value="{place}" autocomplete="off">'
        f'<label class="unseen" for="{mode}-number">{label}, as a number</label>'
        f'<input type="text" inputmode="decimal" id="{mode}-number" value="{value}" autocomplete="off"></div>'
        "</div>"
    )


def _in_use(table: ThresholdTable) -> str:
    rows = table.rows
    return (
        '<details class="controls"><summary>Production data: different volume or share of positives</summary>'
        '<p class="soft">Test files often contain a larger share of positives than production data. Enter the '
        "expected share to adjust precision, number of alarms and cost.</p>"
        '<label for="share-number">Share of positives in production</label>'
        '<input type="text" inputmode="decimal" id="share-number" autocomplete="off" '
        f'placeholder="{percent(table.prevalence)}">'
        '<label for="rows-number">Rows in production, for example per day</label>'
        '<input type="text" inputmode="decimal" id="rows-number" autocomplete="off" '
        f'placeholder="{count(rows)}"></details>'
    )


def _rule(at: OperatingPoint, origin: Origin) -> str:
    """How to raise alarms with this threshold; the script changes the numbers in it."""
    hidden = " hidden" if origin.threshold is not None or not math.isfinite(at.cut) else ""
    return (
        f'<div id="command-part"{hidden}><p>To use this threshold:</p>'
        f'<div class="command"><code id="command" dir="ltr">{origin.rule(at)}</code>'
        f"{_copy('command')}</div></div>"
    )


def _copy(what: str) -> str:
    """A button that copies an element; the script shows it."""
    return f'<button type="button" data-copy="{what}" class="controls" hidden>Copy</button>'


# -- initial output -------------------------------------------------------------------------------------------


def _summary(at: OperatingPoint) -> str:
    positives, negatives = at.found + at.missed, at.false_alarms + at.quiet
    inputs = " ".join(f"{mode}-{kind}" for mode in _ABOUT for kind in ("slider", "number"))
    return (
        f'<output class="saying" id="saying" for="{inputs}">'
        f"Finds {count(at.found)} of {count(positives)} positives, with {count(at.false_alarms)} false "
        f"alarm{'' if at.false_alarms == 1 else 's'} among {count(negatives)} negatives.</output>"
    )


def _rates(at: OperatingPoint) -> str:
    rates = "".join(
        f'<tr><th scope="row">{words}</th><td>{_data(name, rate.value)}</td>'
        f"<td>{_data(name + '-low', rate.low)} to {_data(name + '-high', rate.high)}</td></tr>"
        for words, name, rate in (
            ("Detection rate", "detection", at.detection),
            ("False-alarm rate", "false_alarm", at.false_alarm),
            ("Precision", "precision", at.precision),
        )
    )
    return (
        '<div class="scroll"><table class="wide"><caption>Rates at this threshold</caption>'
        '<thead><tr><th scope="col">Rate</th><th scope="col">Measured</th>'
        '<th scope="col">95% interval</th></tr>'
        f"</thead><tbody>{rates}"
        f'<tr><th scope="row">False-alarm rate, upper bound</th><td>{_data("promise", at.promise)}</td>'
        "<td>95% confidence</td></tr>"
        '<tr data-in-use hidden><th scope="row">Alarms in production</th>'
        f"<td>{_data('alarms', at.alarms, count)}</td>"
        "<td>expected</td></tr>"
        '<tr data-in-use hidden><th scope="row">Precision in production</th>'
        f"<td>{_data('alarms-precision', at.alarms_precision)}</td><td>expected</td></tr>"
        f'<tr data-mode="cost" hidden><th scope="row">Cost, in false alarms</th>'
        f"<td>{_data('cost', at.cost, count)}</td><td></td></tr>"
        '<tr><th scope="row">Alarm for scores above</th>'
        f"<td>{_data('threshold', at.cut, score_text)}</td><td>{_copy('at-threshold')}</td></tr>"
        "</tbody></table></div>"
    )


def _confusion(at: OperatingPoint) -> str:
    return (
        '<div class="scroll"><table class="wide"><caption>Confusion matrix</caption><thead><tr>'
        '<th scope="col">Class</th><th scope="col">Alarm</th><th scope="col">No alarm</th></tr></thead><tbody>'
        f'<tr><th scope="row">positive</th><td>{_data("found", at.found, count)}</td>'
        f"<td>{_data('missed', at.missed, count)}</td></tr>"
        f'<tr><th scope="row">negative</th><td>{_data("false-alarms", at.false_alarms, count)}</td>'
        f"<td>{_data('quiet', at.quiet, count)}</td></tr></tbody></table></div>"
    )


def _data(name: str, value: float, text: object = percent) -> str:
    """A number with its exact value beside its text."""
    words = "–" if math.isnan(value) else text(value)  # type: ignore[operator]
    exact = repr(float(value)) if math.isfinite(value) else ""
    return f'<data id="at-{name}" value="{exact}">{words}</data>'
