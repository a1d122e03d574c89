"""The section about groups: its numbers are those of the metrics, and nothing in a name is read as HTML."""

import re

import numpy as np
import pytest
from report_cases import HOSTILE, make_model, make_rows, of_model

from mbauc.metrics import group_table, grouped_roc_auc_interval, roc_auc_interval
from mbauc.metrics.ranked import RankedScores
from mbauc.report import by_group, report_html
from mbauc.report.evaluation import evaluate

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning"),
    pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning"),
]


def rows(n=6000, n_groups=80, seed=0):
    """Rows of groups of different sizes whose scores cannot be compared with each other."""
    y, s = make_rows(n, 0.2, gap=1.2, seed=seed)
    rng = np.random.default_rng(seed)
    groups = np.minimum(rng.geometric(0.04, n), n_groups) - 1
    return y, s + 2 * rng.standard_normal(n_groups)[groups], groups


def cells(page, caption):
    """The rows of the table with that caption."""
    table = re.search(f"<caption>{caption}</caption>.*?</table>", page, re.S).group()
    return [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall("<tr>(.*?)</tr>", table, re.S)[1:]
    ]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_numbers_are_those_of_the_metrics(weighted):
    y, s, groups = rows()
    weight = np.arange(y.size) % 3 + 1.0 if weighted else None
    page = report_html(y, s, sample_weight=weight, model=make_model(), groups=groups, group_name="day")
    overall = roc_auc_interval(y, s, sample_weight=weight, weights="frequency" if weighted else None)
    found = [overall] + [
        grouped_roc_auc_interval(y, s, groups, sample_weight=weight, equal_groups=equal)
        for equal in (False, True)
    ]
    assert [row[1:] for row in cells(page, "AUC over all rows and within groups")] == [
        [f"{one.auc:.4f}", f"{one.low:.4f} to {one.high:.4f}"] for one in found
    ]
    captions = {"lost": "Groups with the most misranked pairs", "pairs": "Groups with the most pairs"}
    for sort, caption in captions.items():
        table, shown = group_table(y, s, groups, sample_weight=weight, sort=sort), cells(page, caption)
        assert len(shown) == (10 if sort == "lost" else 50)
        for k, row in enumerate(shown):
            assert row[0] == str(table.group[k])
            assert row[1:4] == [f"{table.rows[k]:,.0f}", f"{table.positives[k]:,.0f}", f"{table.auc[k]:.4f}"]
    assert "AUC within groups" in page


def test_the_picture_holds_all_pairs_and_all_groups():
    y, s, groups = rows()
    found = evaluate(y, s, origin=of_model(make_model()), groups=groups).groups
    assert found.bins.pairs.sum() == pytest.approx(1.0)
    assert found.bins.groups.sum() == pytest.approx(1.0)
    within = sum(y[groups == g].sum() * (1 - y[groups == g]).sum() for g in np.unique(groups))
    assert found.within == pytest.approx(within / (y.sum() * (1 - y).sum()))


def test_without_groups_there_is_no_such_section():
    y, s, _ = rows()
    page = report_html(y, s, model=make_model())
    assert "By group" not in page
    assert "within groups" not in page


def test_names_of_groups_are_texts():
    y, s, groups = rows(n_groups=len(HOSTILE))
    names = np.array(HOSTILE, dtype=object)[groups]
    page = report_html(y, s, model=make_model(), groups=names, group_name=HOSTILE[0])
    plain = report_html(y, s, model=make_model(), groups=groups)
    for tag in ("<script", "<img", "<iframe", "<style"):
        assert page.count(tag) == plain.count(tag)


def test_many_groups_make_no_large_page():
    y, s = make_rows(60_000, 0.4)
    page = report_html(y, s, model=make_model(), groups=np.arange(y.size) // 3)
    assert len(page) < 2_000_000
    assert len(cells(page, "Groups with the most pairs")) == 50


def notes(y, s, groups):
    return " ".join(evaluate(y, s, origin=of_model(make_model()), groups=groups).warnings)


def test_what_to_know_of_groups_is_said():
    y, s, groups = rows()
    assert "groups" not in notes(y, s, groups)
    assert "1 of 81 groups (1 rows) contain only one class" in notes(
        np.append(y, 1), np.append(s, 0.0), np.append(groups, 99)
    )
    assert "too few for a reliable confidence interval" in notes(y, s, groups % 3)
    rate = np.linspace(0.02, 0.6, 80)[groups]
    mixed = (np.random.default_rng(1).random(y.size) < rate).astype(int)
    assert "part of the ranking only separates groups" in notes(mixed, rate + 1e-3 * s, groups)


def test_groups_without_pairs_are_said():
    y, s = make_rows(300, 0.3)
    found = evaluate(y, s, origin=of_model(make_model()), groups=np.arange(300))
    assert found.groups is None
    assert "No group has rows of both classes; the AUC within groups is undefined." in found.warnings
    assert "By group" not in report_html(y, s, model=make_model(), groups=np.arange(300))
    with pytest.raises(ValueError, match="groups must have a value for each of the 300 rows"):
        evaluate(y, s, origin=of_model(make_model()), groups=np.arange(3))


def test_one_group_has_no_interval_over_groups():
    y, s = make_rows(300, 0.3)
    page = report_html(y, s, model=make_model(), groups=np.zeros(300))
    (_, auc, interval), *_ = cells(page, "AUC over all rows and within groups")[1:]
    assert (auc, interval) == (f"{roc_auc_interval(y, s).auc:.4f}", "–")


def test_an_error_is_not_taken_for_groups_without_pairs(monkeypatch):
    def fail(*_):
        raise ValueError("something else")

    y, s, groups = rows(60, 5)
    monkeypatch.setattr(by_group, "pairs_within_groups", fail)
    with pytest.raises(ValueError, match="something else"):
        by_group.measure_groups(RankedScores.validate(y, s), groups, "day")
