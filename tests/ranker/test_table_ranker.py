"""TableRanker: tables of any kind in, one tested ranker out."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mbauc
from mbauc import TableRanker
from mbauc.metrics import roc_auc

_DRAWN = "rows to test on and folds are drawn row by row, so that a weight is not a repeated row"


def make_table(n=1500, seed=0):
    """A table of numbers, texts, truth values, dates, gaps and names of rows, and labels."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n),
            "country": rng.choice(["at", "de", "fr", None], n),
            "vip": rng.random(n) < 0.5,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 60, n), unit="h"),
            "count": pd.array(rng.poisson(2, n), dtype="Int64"),
            "card": [f"c{k:05d}" for k in rng.permutation(n)],
        }
    )
    table.loc[rng.random(n) < 0.1, "amount"] = np.nan
    risk = (
        np.log(table["amount"].fillna(5))
        + 2.0 * (table["country"] == "fr")
        + 0.3 * table["count"].astype(float)
    )
    y = np.where(risk + rng.logistic(size=n) > 6.0, "fraud", "ok")
    return table, y


@pytest.fixture(scope="module")
def fitted():
    table, y = make_table()
    return TableRanker(positive="fraud", hold_out=0.3, n_jobs=1).fit(table, y), table, y


def test_what_it_says_of_itself(fitted):
    ranker, _, y = fitted
    assert ranker.classes_.tolist() == ["ok", "fraud"]
    assert ranker.auc_.low < ranker.auc_.auc < ranker.auc_.high
    assert ranker.plan_["card"].kind == "id"
    assert ranker.plan_["when"].kind == "time"
    said = ranker.describe()
    for part in (
        "'fraud' is positive",
        "test AUC",
        "30% of the rows, drawn at random; then trained on all rows",
    ):
        assert part in said
    assert ranker.model_.trained_on["positives"] == (y == "fraud").sum()


def test_tables_of_all_kinds_give_the_same_scores(fitted):
    ranker, table, y = fitted
    scores = ranker.decision_function(table)
    assert roc_auc(y == "fraud", scores) > 0.75
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    for form in (pl.from_pandas(table), arrow, dict(zip(arrow.column_names, arrow.columns, strict=True))):
        np.testing.assert_array_equal(ranker.decision_function(form), scores)
    # ids need not be there
    np.testing.assert_array_equal(ranker.decision_function(table.drop(columns="card")), scores)


def test_files_and_frames_give_the_same_model(tmp_path):
    table, y = make_table(800)
    whole = table.assign(y=y)
    whole.to_parquet(tmp_path / "rows.parquet")
    settings = {"positive": "fraud", "hold_out": 0.25, "n_jobs": 1}
    of_file = TableRanker(**settings).fit(tmp_path / "rows.parquet", label="y")
    of_frame = TableRanker(**settings).fit(whole, label="y")
    beside = TableRanker(**settings).fit(table, y)
    np.testing.assert_array_equal(of_file.decision_function(table), of_frame.decision_function(table))
    np.testing.assert_array_equal(beside.decision_function(table), of_frame.decision_function(table))
    assert of_file.auc_ == of_frame.auc_ == beside.auc_


def test_saved_loaded_pickled_and_cloned(fitted, tmp_path):
    ranker, table, _ = fitted
    ranker.save(tmp_path / "fraud.mbauc")
    scores = ranker.decision_function(table)
    for other in (mbauc.load(tmp_path / "fraud.mbauc"), pickle.loads(pickle.dumps(ranker))):
        np.testing.assert_array_equal(other.decision_function(table), scores)
        assert other.predict(table.head(9)).tolist() == ranker.predict(table.head(9)).tolist()
        assert "test AUC" in other.describe()
    assert clone(ranker).get_params() == ranker.get_params()


def test_probabilities_and_reasons(fitted):
    ranker, table, _ = fitted
    p = ranker.predict_proba(table.head(50))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (np.argsort(p[:, 1]) == np.argsort(ranker.decision_function(table.head(50)))).all()
    [why] = ranker.explain(table.head(1), n=2)
    assert len(why.contributions) == 2


def test_scores_of_files(fitted, tmp_path):
    ranker, table, _ = fitted
    table.to_parquet(tmp_path / "today.parquet")
    summary = ranker.score_files(tmp_path / "today.parquet", tmp_path / "scores.parquet", keep=["card"])
    assert summary["rows"] == len(table)
    found = pd.read_parquet(tmp_path / "scores.parquet")
    np.testing.assert_allclose(found["score"], ranker.decision_function(table))


def test_a_threshold_that_keeps_a_promise():
    table, y = make_table(3000)
    ranker = TableRanker(positive="fraud", false_alarm=0.1, n_jobs=1).fit(table, y)
    # of the rows held out at most that many negatives raise an alarm, and the model has not seen them
    tested = ranker.tested_
    assert (tested.s[tested.y == 0] > ranker.model_.cut).mean() <= 0.1
    assert ranker.model_.trained_on["positives"] < (y == "fraud").sum()
    assert "at most 0.1 of the negatives" in ranker.describe()


def test_columns_and_rows_are_left_out_as_asked_for():
    table, y = make_table(600)
    table.loc[3, "amount"] = np.inf
    ranker = TableRanker("linear", ignore=["card", "when"], on_error="skip", hold_out=0, n_jobs=1)
    ranker.fit(table, y == "fraud")
    assert ranker.plan_["when"].kind == "ignore"
    assert sum(ranker.model_.trained_on[name] for name in ("positives", "negatives")) == 599


def test_in_pipelines_and_cross_validation():
    table, y = make_table(600)
    ranker = TableRanker("linear", hold_out=0, n_jobs=1)
    scores = cross_val_score(make_pipeline(ranker), table, y == "fraud", cv=2, scoring="roc_auc")
    assert scores.min() > 0.6


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ({"time": "when"}, "the latest 20% of the rows by 'when'"),
        ({"cluster": "country"}, "the rows of 20% of the values of 'country'"),
    ],
)
def test_rows_are_held_out_as_asked_for(how, rows):
    table, y = make_table(900)
    table["country"] = np.random.default_rng(1).integers(0, 40, len(table))
    ranker = TableRanker("linear", positive="fraud", n_jobs=1).fit(table, y, **how)
    assert ranker.model_.trained_on["tested"]["rows"].startswith(rows)
    if "cluster" in how:
        assert ranker.plan_["country"].kind == "group"


def test_a_table_with_a_time_is_tested_on_its_end():
    table, y = make_table(2500)
    y[table["when"] > table["when"].quantile(0.8)] = "ok"
    y[table["when"].idxmax()] = "fraud"
    ranker = TableRanker("linear", positive="fraud", n_jobs=1).fit(table, y)
    assert "latest 20% of the rows by 'when'" in ranker.describe()


def test_few_rows_are_tested_by_folds():
    table, y = make_table(300)
    ranker = TableRanker("linear", positive="fraud", n_jobs=1).fit(table.drop(columns="when"), y)
    assert ranker.tested_.y.size == 300
    assert "each once, in 5 folds" in ranker.describe()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            lambda t, y: TableRanker().fit(t),
            "requires y to be passed, but the target y is None",
        ),
        (lambda t, y: TableRanker().fit(t.assign(y=y), y, label="y"), "not both"),
        (lambda t, y: TableRanker().fit(t, y[:-1]), "1,500 rows and y has 1,499 labels"),
        (lambda t, y: TableRanker(positive="x").fit(t, y), r"positive='x' must name some of the labels"),
        (lambda t, y: TableRanker().fit("no.csv", label="y"), "no.csv"),
        (lambda t, y: TableRanker().fit("no.csv", y), "name the column of the labels with label="),
        (lambda t, y: TableRanker(hold_out="first").fit(t, y), "hold_out must be"),
        (lambda t, y: TableRanker().fit(t.assign(l=[[1]] * len(t)), y), r"Leave it out with ignore=\['l'\]"),
        (lambda t, y: TableRanker().fit(pd.concat([t, t], axis=1), y), "two columns named 'amount'"),
        (lambda t, y: TableRanker().fit(t[[]], y), "X has no columns"),
        (lambda t, y: TableRanker().fit(pl.from_pandas(t).lazy(), y), r"call .collect\(\) first"),
        (lambda t, y: TableRanker().fit(t, y, time="when", cluster="country"), "pass one of them"),
        (lambda t, y: TableRanker().fit(t.assign(y=y), label="why"), "there is no column for label 'why'"),
        (lambda t, y: TableRanker(hold_out=0, false_alarm=0.1).fit(t, y), "none were held out"),
        (lambda t, y: TableRanker(false_alarm=1e-4).fit(t, y), "needs 29,956 negative rows"),
    ],
)
def test_what_cannot_be_is_said(call, error):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=error):
        call(*make_table())


@parametrize_with_checks(
    [TableRanker("linear", hold_out=0, n_jobs=1)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": _DRAWN,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_odd_columns_are_told_by_rows_from_all_over_the_table(monkeypatch):
    monkeypatch.setattr("mbauc.model.training._LOOK_ROWS", 500)
    table, y = make_table(1500)
    half = np.arange(1500) < 750
    # the same in the first half only, which is no constant
    table = table.assign(late=np.where(half, 1.0, table["amount"].fillna(0)), same=7.0, again=7.0)
    table["drift"] = np.arange(1500) + np.random.default_rng(0).normal(size=1500)
    table["answer"] = (y == "fraud") + 0.0
    said = TableRanker("linear", positive="fraud", hold_out=0, n_jobs=1).fit(table, y).describe()
    assert "columns 'same', 'again' have the same value in all rows each" in said
    assert "column 'answer' alone has an AUC of 1.000" in said
    assert "'late' have the same" not in said
    assert "other values in the last fifth of the rows" in said
