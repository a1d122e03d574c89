"""Curves, interactions and explained rows on the page of a report."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from report_cases import HOSTILE, make_model, make_rows

from mbauc import AdditiveAUCClassifier, auc_without
from mbauc.model import RankerModel
from mbauc.model.terms import ModelTerms
from mbauc.report import report_html
from mbauc.report.explained_rows import choose_rows
from mbauc.report.terms_section import model_terms, terms_section


class CodeColumns:
    """A layout of columns that are numbers and codes, with any names."""

    def __init__(self, names):
        self.names, self.n_features = names, len(names)

    def feature_names(self):
        return self.names

    def scales(self):
        return np.ones(self.n_features), False


@pytest.fixture(scope="module")
def case():
    """A model of curves with names that would like to run, its rows and their labels."""
    rng = np.random.default_rng(0)
    n = 800
    X = np.column_stack([rng.standard_normal(n), np.exp(3 * rng.standard_normal(n)), rng.integers(0, 4, n)])
    y = (X[:, 0] * (X[:, 2] - 1.5) + 0.5 * rng.standard_normal(n) > 0.5).astype(int)
    X[:40, 0] = np.nan
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.array(HOSTILE[:4])[X[:, 2].astype(int)]})
    ranker = AdditiveAUCClassifier("interactions", interactions=[("a", "c")], random_state=0).fit(frame, y)
    names = [HOSTILE[0], HOSTILE[1], HOSTILE[4]]
    terms = ModelTerms.of(ranker, names)
    model = RankerModel(
        CodeColumns(names), (0, 1), ranker.coef_[0], ranker.intercept_[0], ranker.slope_, 0.0, 0.1, terms=terms
    )
    return model, ranker.encode_rows(frame), y


@pytest.fixture(scope="module")
def page(case):
    model, X, y = case
    return report_html(y, model.score(X), model=model, X=X)


def section(page, name):
    return page.partition(f'<h2 id="{name}"')[2].partition("<h2")[0]


def test_the_page_shows_curves_interactions_and_rows(case, page):
    model, X, y = case
    assert 'id="weights"' not in page
    terms = model_terms(model)
    assert len(re.findall(r"<figure>", section(page, "curves"))) == 3
    assert section(page, "interactions").count("<svg") == 1
    cells = terms.heat_maps[0].shares
    assert section(page, "interactions").count("<rect") == cells.size
    lost = auc_without(model.scorer, X, y, by="column").lost
    assert f"{-lost[0]:+.4f}".replace("-", "−") in section(page, "terms")
    missing = terms.curves[0].missing
    assert f"Missing values ({missing.share:.1%} of the rows)" in section(page, "curves")


def test_rows_are_explained_as_they_are_scored(case, page):
    model, X, y = case
    s = model.score(X)
    rows = section(page, "rows")
    shown = [int(row.replace(",", "")) for row in re.findall(r"<summary>Row ([\d,]+):", rows)]
    assert shown == [row for _, row in choose_rows(y == 1, s)]
    assert shown[0] == np.argmax(s)
    totals = re.findall(r"This row</th><td></td><td>([+−\d.]+)<", rows)
    expected = [f"{model.slope * s[row]:+.2f}".replace("-", "−") for row in shown]
    assert totals == expected
    # from a callable the same rows, without what needs all of them
    again = report_html(y, s, model=model, X=lambda numbers: X[numbers])
    assert section(again, "rows") == rows
    assert "AUC change without" not in again


def test_bars_of_all_columns_have_one_scale():
    rng = np.random.default_rng(0)
    strong, weak = rng.integers(0, 2, (2, 2000))
    y = rng.random(2000) < 0.1 + 0.7 * strong + 0.1 * weak
    frame = pd.DataFrame({"strong": np.array(["no", "yes"])[strong], "weak": np.array(["no", "yes"])[weak]})
    ranker = AdditiveAUCClassifier("curves", random_state=0).fit(frame, y)
    terms = ranker.terms()
    page = terms_section(terms).content + terms_section(terms).inner[0].content
    largest = {}
    for curve in terms.curves:
        table = page.partition(f"<h3><bdi>{curve.name}</bdi></h3>")[2].partition("</table>")[0]
        widths = [float(width) for width in re.findall(r'width="([\d.]+)"', table)]
        values = [level.value for _, level in curve.levels()]
        largest[curve.name] = max(map(abs, values)), max(widths)
    assert largest["strong"][1] == 100.0
    assert largest["weak"][1] == pytest.approx(100 * largest["weak"][0] / largest["strong"][0], abs=0.06)


def test_a_page_of_curves_is_light_and_runs_nothing(case, page):
    model, X, y = case
    assert len(page.encode()) < 500_000
    attributes = set()

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert tag not in ("img", "iframe")
            attributes.update(name for name, _ in attrs)

    Parser().feed(page)
    assert not [name for name in attributes if name.startswith("on") or name in ("style", "src")]
    assert "nan" not in re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.S).lower().split()
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    described = re.findall(r'aria-describedby="([^"]+)"', page)
    assert set(described) <= set(ids)
    assert report_html(y, model.score(X), model=model, X=X) == page


def test_rows_of_all_kinds_are_chosen_without_counting_them_twice_in_a_kind():
    y, s = make_rows(500, 0.1)
    chosen = choose_rows(y == 1, np.round(s, 1))
    kinds = {kind: [row for other, row in chosen if other == kind] for kind, _ in chosen}
    assert [len(rows) for rows in kinds.values()] == [6, 6, 6, 6]
    assert all(len(set(rows)) == 6 for rows in kinds.values())
    worst = kinds["Positives with the lowest scores"]
    assert (y[worst] == 1).all()
    assert np.round(s, 1)[worst].max() <= np.sort(np.round(s, 1)[y == 1])[5]
    assert choose_rows(np.zeros(3, bool), np.zeros(3))[:3] == [("Highest scores", k) for k in range(3)]
    assert len(choose_rows(np.zeros(0, bool), np.zeros(0))) == 0


def test_waves_are_one_line_of_the_page():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(300) > 0).astype(int)
    ranker = AdditiveAUCClassifier("fourier", random_state=0).fit(X, y)
    terms = ModelTerms.of(ranker, ["a", "b"])
    parts = ranker.coef_[0], ranker.intercept_[0], ranker.slope_, 0.0, 0.1
    model = RankerModel(CodeColumns(["a", "b"]), (0, 1), *parts, terms=terms)
    found = section(report_html(y, model.score(X), model=model, X=X), "terms")
    assert found.count("waves of all columns") == 1
    assert f"<td>{model_terms(model).waves:.3f}</td>" in found


def test_models_without_curves_have_weights_as_before():
    y, s = make_rows(300, 0.2)
    html = report_html(y, s, model=make_model(), X=np.zeros((300, 6)))
    assert 'id="weights"' in html
    assert 'id="terms"' not in html
