import base64
import hashlib
import json
import re
import shlex
from datetime import datetime
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from report_cases import HOSTILE, make_model, make_rows, typical

from mbauc.metrics import roc_auc_interval
from mbauc.metrics.operating_point import choose_threshold
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import threshold_table
from mbauc.model import Threshold
from mbauc.report import report_html
from mbauc.report.svg import Axis
from mbauc.report.text import between, count, dump_json, escape, percent

VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """Elements of a page; a tag that is closed out of order is an error."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self._open = [], {}, []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, place in self._open:
            self.text[place] = self.text.get(place, "") + data

    def find(self, tag, **wanted):
        return [
            (attributes, self.text.get(k, ""))
            for k, (name, attributes) in enumerate(self.elements)
            if name == tag and all(attributes.get(key) == value for key, value in wanted.items())
        ]

    def by_id(self, name):
        (found,) = [self.text.get(k, "") for k, (_, a) in enumerate(self.elements) if a.get("id") == name]
        return found


def report_of(model, y, s, weight=None, **more):
    return report_html(y, s, sample_weight=weight, model=model, **more)


def cases():
    model, y, s = typical()
    yield "typical", (model, y, s)
    yield (
        "hostile",
        (
            make_model(HOSTILE, classes=(HOSTILE[0], tuple(HOSTILE[:3])), trained_on={HOSTILE[0]: HOSTILE}),
            y,
            np.round(s, 1),
        ),
    )
    small, scores = make_rows(60, 0.3)
    yield "small", (make_model(), small, scores)
    yield "weighted", (make_model(slope=1.8), y, s, np.random.default_rng(0).integers(0, 9, y.size) * 0.5)
    yield "separated", (make_model(slope=50.0), small, small * 2.0 + 0.01 * scores)
    yield "tied", (make_model(coef=np.zeros(6)), small, np.zeros(60))
    yield "one positive", (make_model(), np.arange(40) == 3, np.arange(40.0))
    yield "no positive", (make_model(), np.zeros(40), np.arange(40.0))
    yield "no negative", (make_model(), np.ones(1), np.zeros(1))
    yield (
        "two penalties",
        (
            make_model(
                path=[{"l1": a, "l2": b, "score": 0.8 - a - b / 9} for a in (0, 0.1) for b in (0, 1, 2)]
            ),
            small,
            scores,
        ),
    )


PAGES = dict(cases())


@pytest.fixture(scope="module")
def pages():
    words = {"title": HOSTILE[0], "data_name": HOSTILE[1], "warnings": HOSTILE, "generated": HOSTILE[2]}
    return {name: report_of(*case, **(words if name == "hostile" else {})) for name, case in PAGES.items()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(pages, name):
    html = pages[name]
    page = Page(html)
    assert len(html.encode()) < 500_000
    assert "nan" not in re.sub(r"<(style|script)\b.*?</\1>", "", html, flags=re.S).lower().split()
    assert page.elements[0] == ("html", {"lang": "en"})
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.elements:
        for key in ("for", "aria-describedby", "aria-labelledby"):
            assert set(attributes.get(key, "").split()) <= set(ids), (tag, attributes)
        if tag == "a":
            assert attributes["href"].removeprefix("#") in ids
        if tag == "input":
            assert page.find("label", **{"for": attributes["id"]})
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_and_runs_nothing_but_itself(pages, name):
    html = pages[name]
    page = Page(html)
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"img", "link", "iframe", "object", "embed", "base", "form"}
    )
    for tag, attributes in page.elements:
        assert not {"src", "srcset", "style", "action", "data", "xlink:href"} & set(attributes), (
            tag,
            attributes,
        )
        assert not [key for key in attributes if key.startswith("on")], (tag, attributes)
    (style,) = page.find("style")
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    scripts = [text for attributes, text in page.find("script") if not attributes]
    assert len(scripts) == (0 if name in ("no positive", "no negative") else 1)
    (policy,) = page.find("meta", **{"http-equiv": "Content-Security-Policy"})
    rules = dict(rule.split(" ", 1) for rule in policy[0]["content"].split("; "))
    assert rules["default-src"] == "'none'"
    for kind, texts in (("style-src", [style[1]]), ("script-src", scripts)):
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules.get(kind, "") == " ".join(f"'sha256-{value}'" for value in hashes)


def test_words_from_data_stay_words(pages):
    page = Page(pages["hostile"])
    names = [text for _, text in page.find("bdi")]
    assert HOSTILE[0] in names  # as text, and as the title
    assert page.find("title")[0][1] == HOSTILE[0]
    assert HOSTILE[1] in names
    assert "🦊 名前 é &amp; &lt;b&gt;" in names
    assert "(no name)" in names
    assert "zero \ufffd byte and line" in names
    assert "lone \ufffd half" in names
    assert max(map(len, names)) <= 1000
    pages["hostile"].encode("utf-8")
    plain = Page(pages["typical"])
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements}


def test_json_cannot_end_its_element():
    text = dump_json({"name": "</script><!--&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!--&"}
    with pytest.raises(ValueError, match="JSON"):
        dump_json(float("nan"))


def test_long_words_keep_both_ends():
    text = escape("abc" * 100 + "xyz", 60)
    assert len(text) == 60
    assert text.startswith("abcabc")
    assert text.endswith("xyz")


def test_numbers_as_text():
    assert [percent(v) for v in (0.1225, 0.0123456, 2e-7, 0.99987, 1.0, 0.0, np.nan)] == [
        "12.3%", "1.23%", "0.0000200%", "99.99%", "100%", "0%", "–",
    ]  # fmt: skip
    assert [count(v) for v in (1234567, 0.0, 1234.125, 0.3)] == ["1,234,567", "0", "1,234.13", "0.30"]


def test_the_page_shows_what_was_measured(pages):
    model, y, s = PAGES["typical"]
    page = Page(pages["typical"])
    interval = roc_auc_interval(y, s)
    big = [text for _, text in page.find("dd", **{"class": "big"})]
    assert big[0] == f"{interval.auc:.4f}"
    assert f"95% interval {interval.low:.4f} to {interval.high:.4f}" in [text for _, text in page.find("dd")]
    assert big[-2:] == ["20,000", count(y.sum())]

    table = threshold_table(RankedScores(y == 1, s, None), model.threshold.value)
    assert json.loads(page.by_id("thresholds")) == table.to_dict()
    at = choose_threshold(table)
    assert page.by_id("at-found") == count(((s > model.threshold.value) & (y == 1)).sum())
    assert page.by_id("at-false-alarms") == count(((s > model.threshold.value) & (y == 0)).sum())
    assert page.by_id("at-detection") == percent(at.detection.value)
    cut = float(page.by_id("at-threshold"))
    assert ((s > cut) == (s > model.threshold.value)).all()
    assert len(page.by_id("at-threshold")) <= 8

    rows = {attributes["class"]: text for attributes, text in page.find("table") if "class" in attributes}
    largest = int(np.abs(model.coef).argmax())
    assert rows["weights"].startswith(f"ColumnWeightcolumn {largest}")
    assert "Training: rows100,000" in rows["facts"]


def test_what_only_experts_understand_is_folded_away():
    record = {
        "solver": "gram: its moments are small",
        "positives": 7,
        "finished": "2026-03-01",
        "notes": ["odd"],
    }
    model, y, s = typical()
    html = report_html(y, s, model=make_model(slope=7.241, path=model.path, trained_on=record))
    before, _, details = html.partition("<summary>Technical details</summary>")
    details = details.partition("</details></section>")[0]
    for words in ("gram:", "Log-odds", "7.241", "l2 =", "penalty"):
        assert words in details, words
        shown = re.sub(r"<(style|script)\b.*?</\1>", "", before, flags=re.S)
        assert words not in shown, words
    assert "Training positives" in before
    assert "2026-03-01" in before
    assert "odd" in before


def test_the_command_names_the_model_in_words_that_a_shell_takes():
    y, s = PAGES["small"][1:]
    for name, model, out in (
        ("", "MODEL", "alarm.mbauc"),
        ("model.mbauc", "model.mbauc", "model-alarm.mbauc"),
        ("my model.mbauc", "my model.mbauc", "my model-alarm.mbauc"),
        ("it's <b>&amp;.mbauc", "it's <b>&amp;.mbauc", "it's <b>&amp;-alarm.mbauc"),
        ("$(rm -r x)`x`;.mbauc", "$(rm -r x)`x`;.mbauc", "$(rm -r x)`x`;-alarm.mbauc"),
        ("-rf.mbauc", "./-rf.mbauc", "-rf-alarm.mbauc"),
        ("new\nline.mbauc", "MODEL", "alarm.mbauc"),
        ("\x1b[2J.mbauc", "MODEL", "alarm.mbauc"),
        ("\u202eabc.mbauc", "MODEL", "alarm.mbauc"),
    ):
        page = Page(report_html(y, s, model=make_model(), model_name=name))
        words = ["mbauc", "threshold", model, "DATA", "--false-alarm", "0.05", "-o", out]
        assert shlex.split(page.by_id("command")) == words


def test_a_model_with_a_threshold_needs_no_command(pages):
    page = Page(pages["typical"])
    assert "hidden" in page.find("div", id="command-part")[0][0]
    assert "hidden" not in Page(pages["small"]).find("div", id="command-part")[0][0]


def test_intervals_have_as_many_digits_as_they_bear():
    ends = [(0.0000369, 0.00809), (0.0126, 0.0368), (0.518, 0.594), (0.0, 1.0), (0.99971, 0.99999), (0.0, 0.0)]
    assert [between(*pair) for pair in ends] == [
        "0.00–0.81%", "1.3–3.7%", "51.8–59.4%", "0–100%", "99.971–99.999%", "0–0%",
    ]  # fmt: skip


def test_without_a_threshold_the_explorer_starts_at_a_limit(pages):
    page = Page(pages["small"])
    _, y, s = PAGES["small"]
    at = choose_threshold(threshold_table(RankedScores(y == 1, s, None)), false_alarm=0.05)
    assert page.by_id("at-found") == count(at.found)
    assert not page.find("input", id="mode-own")
    assert page.find("input", id="mode-limit")[0][0].keys() >= {"checked"}


def test_marks_stand_where_the_threshold_is(pages):
    """The ring of the ROC plot, from its attributes."""
    page = Page(pages["typical"])
    model, y, s = PAGES["typical"]
    (place, _), *_ = page.find("g", **{"data-mark": "rates"})
    low, high, start, stop, log = map(float, place["data-x"].split())
    rate = (s[y == 0] > model.threshold.value).mean()
    assert (low, high, log) == (0.0, 1.0, 0.0)
    assert place["transform"] == f"translate({start + rate * (stop - start):.1f} 0)"


def warnings_of(*case, **more):
    page = Page(report_of(*case, **more))
    return " ".join(text for _, text in page.find("section", **{"class": "warnings"}))


@pytest.mark.slow
def test_what_a_reader_should_know_is_said():
    model, y, s = typical()
    assert warnings_of(model, y, s) == ""
    assert "the train.csv was old" in warnings_of(model, y, s, warnings=["the train.csv was old"])
    y, s = make_rows(1500, 0.2)
    small, scores = make_rows(60, 0.3)
    assert "tends to be too narrow" in warnings_of(make_model(), small, scores)
    assert "confidence interval of the AUC is wide" in warnings_of(make_model(), small, scores)
    near = np.where(np.arange(1500) == np.argmax(y), -1.0, y)  # one positive row below all others
    rests = f"narrow below {2 * int(y.sum())} rows of each class, and the smaller class has {int(y.sum())}."
    assert rests in warnings_of(make_model(), y, near)
    assert "Only 1 positive row:" in warnings_of(make_model(), np.arange(40) == 3, np.arange(40.0))
    assert "no positive rows" in warnings_of(make_model(), np.zeros(9), np.arange(9.0))
    assert "no negative rows" in warnings_of(make_model(), np.ones(9), np.arange(9.0))
    assert "are tied (equal scores)" in warnings_of(model, y, np.round(s))
    assert "All weights are zero" in warnings_of(make_model(coef=np.zeros(6)), y, s)
    assert "separate the classes perfectly" in warnings_of(model, y, y - 0.5 + 0.001 * s)
    assert "worse than chance" in warnings_of(model, y, -s)
    assert "contains 0.5" in warnings_of(model, y, np.random.default_rng(0).standard_normal(y.size))
    assert "not whole numbers" in warnings_of(model, y, s, np.full(y.size, 1.5))
    assert "not whole numbers" not in warnings_of(model, y, s, np.full(y.size, 2.0))
    assert "rows add up to" not in warnings_of(model, y, s, np.full(y.size, 2.0))
    assert "rows add up to" in warnings_of(model, y, s, np.full(y.size, 50.0))
    assert "too high overall" in warnings_of(make_model(slope=1.8), y, s + 1)
    assert "too low overall" in warnings_of(make_model(slope=1.8), y, s - 1)
    rng = np.random.default_rng(0)
    t = rng.standard_normal(20_000)
    fair = rng.random(t.size) < 1 / (1 + np.exp(-t))
    assert "Probabilities are poorly calibrated" in warnings_of(make_model(slope=2.5), fair, t)
    assert "Probabilities" not in warnings_of(make_model(slope=1.0), fair, t)
    broken = make_model(slope=1.8, threshold=Threshold(float(np.median(s)), 0.01, 0.95, 100))
    assert "limit of 1%: the false-alarm rate on these rows is 38.5% (95%" in warnings_of(broken, y, s)
    ends = [{"l1": 0.0, "l2": l2, "score": 0.8} for l2 in (0.01, 0.1, 1.0)]
    assert "l2 = 0.01 is the smallest one compared" in warnings_of(make_model(slope=1.8, path=ends), y, s)


def test_time_and_names_are_shown():
    _, y, s = PAGES["small"]
    html = report_html(
        y, s, model=make_model(), title="March", data_name="held.csv", generated=datetime(2026, 3, 1)
    )
    page = Page(html)
    assert page.find("h1")[0][1] == "March"
    assert "held.csv · 2026-03-01 00:00:00" in page.find("p")[0][1]
    assert report_html(y, s, model=make_model()) == report_html(y, s, model=make_model())


def test_wrong_rows_are_named():
    model = make_model()
    for y, s, words in (
        ([0, 1], [0.1, np.nan], "y_score has nan at row 1"),
        ([0, 1], [np.inf, 0.0], "y_score has inf at row 0"),
        ([0, 1, 1], [0.1, 0.2], "3 labels"),
        ([0, 2], [0.1, 0.2], "label 2 at row 1"),
        ([], [], "at least one row"),
        ([0, 1], [[0.1, 0.2]], "one score per row"),
    ):
        with pytest.raises(ValueError, match=words):
            report_html(y, s, model=model)
    with pytest.raises(ValueError, match="sample_weight"):
        report_html([0, 1], [0.1, 0.2], sample_weight=[1.0, -1.0], model=model)


# -- colours --------------------------------------------------------------------------------------------------


def luminance(colour):
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_read_in_light_and_dark():
    css = files("mbauc.report").joinpath("style.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in css.split("@media")[:2]]
    assert themes[0].keys() == themes[1].keys()
    for theme in themes:
        for ink in ("ink", "soft", "blue", "orange"):
            for paper in ("paper", "raised"):
                assert contrast(theme[ink], theme[paper]) >= 4.5, (ink, paper)
        assert contrast(theme["warn-ink"], theme["warn"]) >= 4.5


@pytest.mark.parametrize(("low", "high"), [(0.0, 5e-324), (-1e308, 1e308), (1.0, 1.0 + 2e-16), (0.0, 0.0)])
def test_an_axis_of_next_to_nothing_or_everything_has_ticks(low, high):
    ticks = Axis(low, high, "score").ticks()
    assert all(low <= value <= high and text for value, text in ticks)
