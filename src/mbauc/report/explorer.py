"""The threshold explorer of a report as HTML: its controls, and what stands there before anybody moves them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mbauc.report.text import count, embedded_json, percent, score_text, short_percent
from mbauc.report.thresholds import SLIDER_STEPS, START, Position, ThresholdTable, slider_decades, start

if TYPE_CHECKING:
    from mbauc.model import Threshold

#: Cost ratio that the page starts with; exponents of ten at the ends of its slider.
_COST, _COST_ENDS = 10, (-2, 6)


def explorer_html(table: ThresholdTable, own: Threshold | None, beside: str) -> str:
    """Controls, the result with something beside it, and the table of thresholds that the script reads."""
    return (
        f'<div class="controls">{_controls(table, own)}</div>{_result(start(table), beside)}'
        f'<script type="application/json" id="thresholds">{embedded_json(table.to_dict())}</script>'
    )


def _controls(table: ThresholdTable, own: Threshold | None) -> str:
    modes = [("limit", "Limit of false alarms"), ("cost", "Costs")]
    about = ""
    if own is not None and table.chosen is not None:
        modes.insert(0, ("own", "The model’s threshold"))
        about = f'<p data-mode="own">{_promise(own)}</p>'
    radios = "".join(
        f'<label for="mode-{mode}"><input type="radio" name="mode" id="mode-{mode}" value="{mode}" '
        f'autocomplete="off"{" checked" if k == 0 else ""}>{text}</label>'
        for k, (mode, text) in enumerate(modes)
    )
    limit = _slider(
        "limit",
        "Largest share of these negatives that may raise an alarm",
        (-SLIDER_STEPS * slider_decades(table.negatives), 0),
        START,
        "Share, such as 0.01 or 1%",
    )
    cost = _slider(
        "cost",
        "Cost of a missed positive, in false alarms",
        (SLIDER_STEPS * _COST_ENDS[0], SLIDER_STEPS * _COST_ENDS[1]),
        _COST,
        "Ratio, such as 10",
    )
    first = modes[0][0]
    return (
        f"<fieldset><legend>Set the threshold by</legend>{radios}{about}"
        f'<div data-mode="limit"{"" if first == "limit" else " hidden"}>{limit}'
        '<p class="soft">The limit is for these rows. For a promise about rows to come, '
        "<code>mbauc threshold</code> cuts higher. The lowest of the thresholds in this page that keeps the "
        "limit is taken; of many rows not every score is among them.</p></div>"
        f'<div data-mode="cost" hidden>{cost}</div>'
        "<noscript><p>Moving the threshold needs JavaScript. The numbers below are those of the first choice."
        "</p></noscript></fieldset>"
    )


def _promise(own: Threshold) -> str:
    if own.false_alarm is None or own.confidence is None:
        return "Set by hand, without a promise about false alarms."
    return (
        f"Found on {count(own.negatives)} negative rows so that alarms are raised for at most "
        f"{short_percent(own.false_alarm)} of the negatives, with {short_percent(own.confidence)} confidence."
    )


def _slider(name: str, label: str, ends: tuple[int, int], value: float, hint: str) -> str:
    at = round(SLIDER_STEPS * math.log10(value))
    return (
        f'<label for="{name}-slider">{label}</label>'
        f'<input type="range" id="{name}-slider" min="{ends[0]}" max="{ends[1]}" step="1" value="{at}" '
        'autocomplete="off">'
        f'<label for="{name}-number">{hint}</label>'
        f'<input type="text" inputmode="decimal" id="{name}-number" value="{value:g}" autocomplete="off">'
    )


def _result(at: Position, beside: str) -> str:
    positives, negatives = at.found + at.missed, at.false_alarms + at.quiet
    saying = (
        f"Finds {count(at.found)} of {count(positives)} positives, with {count(at.false_alarms)} false "
        f"alarm{'' if at.false_alarms == 1 else 's'} among {count(negatives)} negatives."
    )
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
        '<output class="saying" id="saying" for="limit-slider limit-number cost-slider cost-number">'
        f"{saying}</output>"
        '<div class="plots"><div><div class="scroll"><table><caption>Rates at this threshold</caption>'
        '<thead><tr><th scope="col">Rate</th><th scope="col">Here</th><th scope="col">95% interval</th></tr>'
        f"</thead><tbody>{rates}"
        f'<tr><th scope="row">False alarms, at most</th><td>{_data("promise", at.promise)}</td>'
        "<td>95% confidence</td></tr>"
        f'<tr data-mode="cost" hidden><th scope="row">Cost, in false alarms</th>'
        f"<td>{_data('cost', at.cost, count)}</td><td></td></tr>"
        '<tr><th scope="row">Alarm for scores above</th><td colspan="2">'
        f"{_data('threshold', at.threshold, score_text)}</td></tr></tbody></table></div>"
        '<div class="scroll"><table><caption>Confusion table</caption><thead><tr><th scope="col">Row is</th>'
        '<th scope="col">Alarm</th><th scope="col">No alarm</th></tr></thead><tbody>'
        f'<tr><th scope="row">positive</th><td>{_data("found", at.found, count)}</td>'
        f"<td>{_data('missed', at.missed, count)}</td></tr>"
        f'<tr><th scope="row">negative</th><td>{_data("false-alarms", at.false_alarms, count)}</td>'
        f"<td>{_data('quiet', at.quiet, count)}</td></tr></tbody></table></div></div>{beside}</div>"
    )


def _data(name: str, value: float, text: object = percent) -> str:
    """A number with its exact value beside its text."""
    words = "–" if math.isnan(value) else text(value)  # type: ignore[operator]
    exact = repr(float(value)) if math.isfinite(value) else ""
    return f'<data id="at-{name}" value="{exact}">{words}</data>'
