"""The report as a page: one HTML file without anything from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from mbauc.metrics.intervals.delong import AucInterval
from mbauc.report.by_group import value_of
from mbauc.report.evaluation import Evaluation, evaluate
from mbauc.report.model_origin import ModelOrigin
from mbauc.report.origin import Origin, read_labels
from mbauc.report.pieces import Section
from mbauc.report.sections import sections
from mbauc.report.text import count, escape, escape_name, percent, short_percent

if TYPE_CHECKING:
    from mbauc.model import RankerModel


def report_html(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    model: RankerModel | None = None,
    positive: Any = None,
    probabilities: ArrayLike | Literal[False] | None = None,
    groups: ArrayLike | None = None,
    group_name: str = "group",
    segments: Mapping[str, ArrayLike] | None = None,
    time: ArrayLike | None = None,
    time_name: str = "time",
    X: Any = None,
    title: str = "",
    data_name: str = "",
    model_name: str = "",
    warnings: Iterable[str] = (),
    generated: Any = None,
) -> str:
    """Evaluation report of the scores of any model, as a self-contained HTML page.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two-valued labels of held-out rows; the larger is positive. With ``model``, 1 for positive and 0 for
        negative.
    y_score : array-like of shape (n,)
        Scores of the rows by any model, higher for rows that are more likely positive.
    sample_weight : array-like of shape (n,), optional
        Row weights as frequencies: weight k counts as k equal rows.
    model : RankerModel, optional
        The model, if it is one of this library. Adds its weights or curves, training and threshold, and
        commands to set another threshold.
    positive : label, optional
        The positive label; all others are negative.
    probabilities : array-like of shape (n,) or False, optional
        Probabilities of the positive class, for a section on calibration. By default those of ``model``, or the
        scores if all are between 0 and 1, which the page then states; False for none.
    groups : array-like of shape (n,), optional
        Group of each row, such as its query, user or day, for a section on AUC within groups.
    group_name : str, default="group"
        Name of the groups.
    segments : mapping of str to array-like of shape (n,), optional
        Columns, by name, for AUC by segment. Numeric columns with many values are binned by quintiles.
    time : array-like of shape (n,), optional
        Dates, times or other sortable values, for AUC over time, to detect degradation.
    time_name : str, default="time"
        Name of the time.
    X : ndarray or sparse matrix of shape (n, d), or callable, optional
        The rows encoded as the model's columns, or a callable that returns selected rows, given their numbers
        in increasing order. For an additive model some rows are then explained; with a matrix, column
        importances are shown as well.
    title, data_name, model_name : str
        Heading, name of the data, and file of the model, for the command that sets a threshold.
    warnings : iterable of str, default=()
        Further warnings to show in the report.
    generated : optional
        Time of the report, shown unchanged; by default no time is shown.

    Returns
    -------
    str
        The page, to be written in UTF-8. Below 2 MB for any number of rows; text from the data is escaped.

    Notes
    -----
    ``O(n log n)`` time, about three copies of the scores. Intervals assume independent rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(600) < 0.3, "churned", "stayed")
    >>> s = rng.standard_normal(600) + 2.0 * (y == "churned")
    >>> page = report_html(y, s, positive="churned", segments={"plan": rng.choice(["a", "b"], 600)})
    >>> page[:15], "By segment" in page, "Weights" in page, len(page) < 2_000_000
    ('<!DOCTYPE html>', True, False, True)
    """
    if model is None:
        mask, classes = read_labels(y_true, positive)
        y_true, origin = mask.astype(np.int8), Origin(classes, probabilities)
    else:
        if positive is not None:
            raise ValueError(
                "positive is for scores without a model; with one, y_true is 1 for positive rows, else 0."
            )
        origin = ModelOrigin(model.classes, probabilities, model=model, X=X, model_name=model_name)
    found = evaluate(
        y_true,
        y_score,
        sample_weight,
        origin=origin,
        groups=groups,
        group_name=group_name,
        segments=segments,
        time=time,
        time_name=time_name,
    )
    return page_html(found, title=title, data_name=data_name, warnings=warnings, generated=generated)


def page_html(
    found: Evaluation,
    *,
    title: str = "",
    data_name: str = "",
    warnings: Iterable[str] = (),
    generated: Any = None,
) -> str:
    """The page of an evaluation that was made already; see :func:`report_html`."""
    heading = title or "Evaluation report"
    style, script = _part("style.css"), _part("explorer.js") if found.ranking else ""
    parts = list(sections(found, data_name))
    links = "".join(
        f'<li><a href="#{part.name}">{part.heading}</a></li>'
        for outer in parts
        for part in (outer, *outer.inner)
    )
    body = "".join(map(_section, parts))
    about = " · ".join(
        [f"Rows: {escape_name(data_name)}"] * bool(data_name)
        + [f"{escape(generated)}"] * (generated is not None)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape_name(heading)}</h1><p class="soft">{about}</p></header>\n<main>'
        f"{_headline(found)}{_warnings([*found.warnings, *warnings])}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>{body}</main>\n'
        '<footer class="soft"><p>Made by mbauc. This file is self-contained and loads '
        "nothing from the network.</p></footer>\n"
        f"{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
    )


def _section(part: Section) -> str:
    return (
        f'<section aria-labelledby="{part.name}"><h2 id="{part.name}">{part.heading}</h2>{part.content}'
        f"{''.join(map(_section, part.inner))}</section>"
    )


def _part(name: str) -> str:
    return files("mbauc.report").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and only the style and the script of this page may be used."""
    hashes = {
        kind: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for kind, text in (("style-src", style), ("script-src", script))
        if text
    }
    rules = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    return "; ".join([*rules, *(f"{kind} {value}" for kind, value in hashes.items())])


# -- above the sections ---------------------------------------------------------------------------------------


def _headline(found: Evaluation) -> str:
    total = found.positives + found.negatives
    cards = [
        ("Rows", count(total), "" if not found.weighted else f"total weight of {count(found.rows)} rows"),
        ("Positives", count(found.positives), f"{percent(found.positives / total)} of the rows"),
    ]
    ranking = found.ranking
    if ranking:
        ends = ranking.interval
        between = f"95% interval {ends.low:.4f} to {ends.high:.4f}" if ends else "too few rows for an interval"
        parts = [
            (
                f"Partial AUC, {short_percent(part)}",
                f"{area:.4f}",
                f"false alarms ≤ {short_percent(part)}; chance 0.5",
            )
            for part, area in ranking.partial.items()
        ]
        cards = [
            ("AUC", f"{ranking.auc:.4f}", between),
            *_group_card(found),
            *parts,
            ("Average precision", f"{ranking.average_precision:.4f}", f"chance {found.positives / total:.4f}"),
            *cards,
        ]
    items = "".join(
        f'<div><dt>{name}</dt><dd class="big">{big}</dd><dd>{small}</dd></div>' for name, big, small in cards
    )
    return f'<dl class="headline">{items}</dl>'


def _group_card(found: Evaluation) -> Iterator[tuple[str, str, str]]:
    if found.groups:
        auc = found.groups.pairs
        ends = f"95% interval {auc.low:.4f} to {auc.high:.4f}" if isinstance(auc, AucInterval) else "one group"
        yield "AUC within groups", f"{value_of(auc):.4f}", ends


def _warnings(texts: list[str]) -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{escape_name(text, 1000)}</li>" for text in texts)
    return (
        '<section class="warnings" aria-labelledby="warnings"><h2 id="warnings">Warnings</h2>'
        f"<ul>{items}</ul></section>"
    )
