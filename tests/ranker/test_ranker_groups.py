"""TableRanker over the pairs within groups."""

import re

import numpy as np
import pandas as pd
import pytest

import mbauc
from mbauc import TableRanker
from mbauc.errors import NoPairsError
from mbauc.metrics import grouped_roc_auc, grouped_roc_auc_interval

pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")


def make_table(n=3000, n_queries=150, seed=0):
    """Clicks within queries: the shown price is higher, and clicks are more, where a query is a good one."""
    rng = np.random.default_rng(seed)
    query = rng.integers(n_queries, size=n)
    level = 2 * rng.standard_normal(n_queries)[query]
    price, rank = rng.standard_normal(n), rng.integers(1, 11, n)
    y = np.abs(rank - 5.5) - 2.5 - 2 * price + 3 * level + rng.standard_normal(n) > 0
    table = pd.DataFrame({"price": price + 2 * level, "rank": rank, "query": [f"q{one}" for one in query]})
    return table, y.astype(int)


@pytest.fixture(scope="module")
def rows():
    return make_table()


@pytest.fixture(scope="module")
def ranker(rows):
    table, y = rows
    return TableRanker("curves", n_jobs=1).fit(table, y, group="query")


def test_it_ranks_within_groups(ranker, rows):
    table, y = make_table(seed=1)
    without = table.drop(columns="query")
    scores = ranker.decision_function(without)
    assert grouped_roc_auc(y, scores, table["query"]) > 0.75
    np.testing.assert_array_equal(ranker.decision_function(table), scores)
    over_all = TableRanker("curves", n_jobs=1).fit(rows[0].drop(columns="query"), rows[1])
    assert grouped_roc_auc(y, over_all.decision_function(without), table["query"]) < 0.7


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_the_group_is_no_feature_and_the_test_is_within_groups(ranker):
    assert ranker.plan_["query"].kind == "group"
    assert ranker.model_.terms.features.names == ("price", "rank")
    tested = ranker.tested_
    expected = grouped_roc_auc_interval(tested.y, tested.s, tested.groups)
    assert ranker.auc_ == expected
    assert f"test AUC    {expected} within each 'query'" in ranker.describe()
    assert ranker.model_.trained_on["tested"]["within_groups"] == expected.auc


def test_whole_groups_are_held_out(rows):
    table, y = rows
    kept = TableRanker("linear", n_jobs=1, refit=False).fit(table, y, group="query")
    sizes = sorted(np.unique(kept.tested_.groups, return_counts=True)[1].tolist())
    known = table["query"].value_counts().tolist()
    assert 0.1 < sum(sizes) / len(table) < 0.3
    assert all(known.count(size) >= sizes.count(size) for size in set(sizes))


def test_files_give_the_same(ranker, rows, tmp_path):
    table, y = rows
    table.assign(click=y).to_parquet(tmp_path / "clicks.parquet")
    filed = TableRanker("curves", n_jobs=1).fit(tmp_path / "clicks.parquet", label="click", group="query")
    np.testing.assert_allclose(filed.decision_function(table), ranker.decision_function(table), atol=1e-12)
    assert filed.auc_ == ranker.auc_
    filed.save(tmp_path / "clicks.mbauc")
    again = mbauc.load(tmp_path / "clicks.mbauc")
    assert again.model_.group == "query"
    assert re.search(r"test AUC +0\.\d+ \(95% interval .*\) within each 'query'", again.describe())


def test_the_report_tells_of_groups(ranker, tmp_path):
    ranker.report(tmp_path / "page.html")
    assert "query" in (tmp_path / "page.html").read_text()


def test_a_table_with_a_time_is_tested_on_groups(rows):
    table, y = rows
    table = table.assign(when=pd.date_range("2024-01-01", periods=len(table), freq="h"))
    ranker = TableRanker("linear", n_jobs=1).fit(table, y, group="query")
    assert "drawn at random" in ranker.describe()
    later = TableRanker("linear", n_jobs=1).fit(table, y, group="query", time="when")
    assert "latest 20% of the rows by 'when'" in later.describe()
    assert "within each 'query'" in later.describe()


def test_a_column_of_an_array_may_be_the_group(rows):
    table, y = rows
    X = np.column_stack([table["price"], table["rank"], table["query"].str[1:].astype(int)])
    ranker = TableRanker("linear", n_jobs=1).fit(X, y, group="x2")
    assert ranker.plan_["x2"].kind == "group"


def test_what_cannot_be_fitted_is_said(rows):
    table, y = rows
    with pytest.raises(ValueError, match="there is no column for group 'user'"):
        TableRanker().fit(table, y, group="user")
    with pytest.raises(ValueError, match="never split between training and test rows; leave out cluster"):
        TableRanker().fit(table, y, group="query", cluster="query")
    with pytest.raises(NoPairsError, match="no group has rows of both classes"):
        TableRanker().fit(table.assign(query=y), y, group="query")
    table = table.assign(query=table["query"].where(table.index != 5))
    with pytest.raises(ValueError, match="expected a group in column 'query', got none"):
        TableRanker().fit(table, y, group="query")
