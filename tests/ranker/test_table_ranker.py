"""TableRanker: tables of any kind in, one tested ranker out."""

import pickle
import warnings

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
from mbauc.errors import DataWarning, NotTestedWarning
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
    assert all(len(line) <= 112 for line in said.partition("labels")[2].splitlines()), said
    assert " ".join(ranker.model_.trained_on["choice"].split()) in " ".join(said.split())
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
    assert "all rows, by 5-fold cross-validation" in ranker.describe()


def test_a_checkpoint_is_taken_up_again_by_the_same_rows_alone(tmp_path):
    table, y = make_table(300)
    table = table.drop(columns="when")

    def fit(y, **settings):
        ranker = TableRanker("linear", positive="fraud", hold_out=0, n_jobs=1)
        return ranker.fit(table, y, **settings).model_.coef

    kept = {"memory": "500MB", "checkpoint": tmp_path}
    other = np.roll(y, 1)
    first = fit(y, **kept)
    sample = (tmp_path / "sample.state").read_bytes()
    np.testing.assert_array_equal(fit(y, **kept), first)
    assert (tmp_path / "sample.state").read_bytes() == sample
    np.testing.assert_array_equal(fit(other, **kept), fit(other))
    assert (tmp_path / "sample.state").read_bytes() != sample


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
        (lambda t, y: TableRanker().fit(pl.from_pandas(t).lazy(), y), r"X is a LazyFrame.*pass X\.collect\(\)"),
        (lambda t, y: TableRanker().fit(t, y, time="when", cluster="country"), "pass one of them"),
        (lambda t, y: TableRanker().fit(t.assign(y=y), label="why"), "there is no column for label 'why'"),
        (lambda t, y: TableRanker(hold_out=0, false_alarm=0.1).fit(t, y), "none were held out"),
        (lambda t, y: TableRanker(false_alarm=1e-4).fit(t, y), "needs 29,956 negative rows"),
        (
            lambda t, y: TableRanker(false_alarm=2).fit(t, y),
            "false_alarm must be a finite number greater than 0",
        ),
        (
            lambda t, y: TableRanker(false_alarm=0.1, confidence=0).fit(t, y),
            "confidence must be a finite number",
        ),
        (lambda t, y: TableRanker().fit(t, y, cluster="land"), "there is no column for cluster 'land'"),
        (
            lambda t, y: TableRanker().fit(t, y, cluster=["country"]),
            "cluster must be the name of a column of X",
        ),
        (lambda t, y: TableRanker().fit(t, y, time=t["when"]), "time must be the name of a column of X"),
        (
            lambda t, y: TableRanker().fit(np.zeros((len(y), 2)), y, group=np.arange(len(y))),
            "group must be the name of a column of X",
        ),
        (lambda t, y: TableRanker().fit(t.assign(y=y), label="y", cluster="y"), "both label and cluster"),
        (
            lambda t, y: TableRanker(types={"card": "numeric"}).fit(t, y, cluster="card"),
            "column 'card' is both cluster and types; choose one of the two",
        ),
        (lambda t, y: TableRanker().fit(t, y, time="vip"), "column 'vip' must hold times.*booleans"),
        (lambda t, y: TableRanker().fit(t, y, time="nope"), "there is no column for time 'nope'"),
        (
            lambda t, y: TableRanker().fit(t.assign(g=1), y, cluster="g"),
            "column 'g' has 1 distinct values, too few",
        ),
        (lambda t, y: TableRanker(types=["card"]).fit(t, y), "types must be a dict"),
        (
            lambda t, y: TableRanker().fit(t.assign(n=[10**30] * len(t)), y),
            "column 'n' cannot be read: .*too large",
        ),
        (
            lambda t, y: TableRanker().fit({"a": 1.5, "b": "x"}, y),
            r"column 'a' must hold a value for each row, got 1.5",
        ),
        (lambda t, y: TableRanker().fit(t.to_dict("records"), y), "got a list of dicts"),
        (
            lambda t, y: TableRanker().fit(pl.DataFrame({"n": pl.Series(range(len(y))).cast(pl.Int128)}), y),
            "column 'n' has the type Int128, which cannot be read. Cast it first, to Int64",
        ),
        (
            lambda t, y: TableRanker().fit({"cat": ["\ud800", "a"] * (len(y) // 2)}, y),
            r"column 'cat' holds '\\ud800', which cannot be encoded as UTF-8.*encoding",
        ),
        (
            lambda t, y: TableRanker().fit({"x": np.arange(len(y), dtype=np.longdouble)}, y),
            r"column 'x' has the type .*, which cannot be read. Use astype\(float\)",
        ),
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
    monkeypatch.setattr("mbauc.model.odd_columns._LOOK_ROWS", 500)
    table, y = make_table(1500)
    half = np.arange(1500) < 750
    # the same in the first half only, which is no constant
    table = table.assign(late=np.where(half, 1.0, table["amount"].fillna(0)), same=7.0, again=7.0)
    table["drift"] = np.arange(1500) + np.random.default_rng(0).normal(size=1500)
    table["answer"] = (y == "fraud") + 0.0
    said = TableRanker("linear", positive="fraud", hold_out=0, n_jobs=1).fit(table, y).describe()
    assert "columns 'same', 'again' are constant (the same value in all rows)" in said
    assert "column 'answer' alone has an AUC of 1.000" in said
    assert "'late' is constant" not in said
    assert "'late' are constant" not in said
    assert "in the last fifth of the rows" in said


@pytest.mark.parametrize(
    "spell",
    [
        lambda when: when.dt.strftime("%d.%m.%Y"),
        lambda when: when.dt.strftime("%m/%d/%Y %I:%M %p"),
        lambda when: when.dt.strftime("%Y/%m/%d"),
        lambda when: " " + when.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        lambda when: when.dt.strftime("%Y-%m-%d").mask(when.index % 50 == 0, "NA"),
    ],
)
def test_times_in_all_spellings_that_are_taken_for_times_hold_the_latest_out(spell):
    table, y = make_table(2500)
    when = table["when"]
    ranker = TableRanker("linear", n_jobs=1).fit(table.assign(when=spell(when)), y == "fraud")
    assert "latest 20% of the rows by 'when'" in ranker.describe()
    latest = (when.dt.floor("D") > when.dt.floor("D").quantile(0.8)).to_numpy() & (table.index != 0)
    assert np.isclose(ranker.tested_.y.size, latest.sum(), rtol=0.1)


def test_the_time_of_day_is_no_time_to_hold_the_latest_out_by():
    table, y = make_table(600)
    ranker = TableRanker("linear", n_jobs=1).fit(table.assign(when=table["when"].dt.time), y == "fraud")
    assert ranker.plan_["when"].kind == "time"
    assert ranker.auc_ is not None


@pytest.mark.parametrize("kept", [{"false_alarm": 0.2}, {"refit": False}])
def test_where_rows_are_few_the_model_that_is_kept_is_the_one_that_was_tested(kept):
    table, y = make_table(300)
    ranker = TableRanker("linear", positive="fraud", n_jobs=1, **kept).fit(table.drop(columns="when"), y)
    assert "in 5 folds" not in ranker.describe()
    assert "then trained on all rows" not in ranker.describe()
    assert (
        sum(ranker.model_.trained_on[name] for name in ("positives", "negatives")) + ranker.tested_.y.size
        == 300
    )


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        (
            lambda y: np.where(y == "fraud", 1, 0),
            "y holds 0; the labels in training were 'ok', 'fraud'",
        ),
        (lambda y: np.where(y == "fraud", "Fraud", "ok"), "y holds 'Fraud'; the labels in training were"),
        (lambda y: pd.Series(y).mask(y == "ok"), "y contains NaN or None"),
    ],
)
def test_a_report_is_of_labels_that_are_known(fitted, tmp_path, labels, error):
    ranker, table, y = fitted
    with pytest.raises(ValueError, match=error):
        ranker.report(tmp_path / "page.html", table, labels(y))
    with pytest.raises(ValueError, match="pass both X and y"):
        ranker.report(tmp_path / "page.html", y=y)
    ranker.report(tmp_path / "page.html", table, y)
    assert not list(tmp_path.glob("*.tmp"))


def test_what_cannot_be_scored_is_said(fitted, tmp_path):
    ranker, table, _ = fitted
    with pytest.raises(ValueError, match=r"expected booleans in column 'vip', .* got int64"):
        ranker.decision_function(table.assign(vip=table["vip"].astype(int)))
    with pytest.raises(TypeError, match="score_files scores files"):
        ranker.predict("today.csv")
    for reasons in (0, 1):
        with pytest.raises(ValueError, match=r"keep must be a list of names, got 'card'; write \['card'\]"):
            ranker.score_files(table, tmp_path / "s.csv", keep="card", reasons=reasons)
    with pytest.raises(ValueError, match="there are no rows to explain"):
        ranker.explain(table.head(0))


def test_no_rows_have_no_scores(fitted):
    ranker, table, _ = fitted
    assert ranker.decision_function(table.head(0)).shape == (0,)
    assert ranker.predict_proba(table.head(0)).shape == (0, 2)
    assert ranker.predict(table.head(0)).shape == (0,)


def test_sparse_columns_are_read_as_others_are():
    table, y = make_table(400)
    dense = table[["amount", "count"]].fillna(0).astype(float)
    ranker = TableRanker("linear", hold_out=0, n_jobs=1).fit(dense, y)
    sparse = dense.astype(pd.SparseDtype(float, 0.0))
    assert np.array_equal(ranker.decision_function(sparse), ranker.decision_function(dense))


@pytest.mark.parametrize("how", [{"hold_out": "last"}, {"hold_out": 0.999}])
def test_a_test_that_could_not_be_made_is_warned_of(how):
    table, y = make_table(400)
    order = np.argsort(y)
    with pytest.warns(NotTestedWarning, match=r"auc_ is None; not tested: .*[^.]\.$"):
        ranker = TableRanker("linear", n_jobs=1, **how).fit(table.iloc[order], y[order])
    assert ranker.auc_ is None


@pytest.mark.parametrize("seed", range(4))
def test_of_few_clusters_two_are_held_out(seed):
    table, y = make_table(600)
    table["country"] = np.arange(600) % 4
    ranker = TableRanker("linear", random_state=seed, n_jobs=1).fit(table, y, cluster="country")
    assert ranker.tested_.y.size in (300, 450)
    assert ranker.auc_.low < ranker.auc_.high


@pytest.mark.parametrize("values", [["a", None, "b", "c"], [1.0, np.nan, 2.0, 3.0], ["a", " ", "b", "c"]])
def test_a_row_without_a_cluster_is_refused(values):
    table, y = make_table(600)
    table["patient"] = np.resize(np.array(values, dtype=object), 600)
    with pytest.raises(ValueError, match=r"column 'patient' has no value in row 1, counted from 0.*cluster"):
        TableRanker("linear", n_jobs=1).fit(table, y, cluster="patient")


def test_times_without_a_value_are_no_clusters():
    table, y = make_table(600)
    table["day"] = np.resize(np.array(["2024-01-01", "NaT", "2024-01-02", "2024-01-03"], "M8[D]"), 600)
    with pytest.raises(ValueError, match="column 'day' has no value in row 1"):
        TableRanker("linear", n_jobs=1).fit(table, y, cluster="day")


def test_a_cluster_that_files_lack_is_named(tmp_path):
    table, y = make_table(200)
    table.assign(t=y).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(ValueError, match=r"b.csv: there is no column for cluster 'nope'"):
        TableRanker().fit(tmp_path / "b.csv", label="t", cluster="nope")


@pytest.mark.parametrize("features", ["auto", "linear"])
@pytest.mark.parametrize("how", [{}, {"hold_out": 0}, {"hold_out": 0.2, "refit": False}])
def test_a_column_of_weights_that_leaves_no_row_is_named(features, how):
    table, y = make_table(400)
    ranker = TableRanker(features, n_jobs=1, **how)
    with pytest.raises(ValueError, match=r"the column of weight='w' is zero for all rows; at least one"):
        ranker.fit(table.assign(y=y, w=0.0), label="y", weight="w")
    with pytest.raises(ValueError, match=r"the column of weight='w' is zero for all rows of class 'fraud'"):
        ranker.set_params(positive="fraud").fit(table.assign(y=y, w=y != "fraud"), label="y", weight="w")


def test_clusters_of_one_class_each_are_no_test():
    table, y = make_table(600)
    table["country"] = np.where(y == "fraud", "a", np.where(np.arange(600) % 2, "b", "c"))
    with pytest.warns(
        NotTestedWarning, match="of the clusters held out|one class|too few|no positive|no negative"
    ):
        TableRanker("linear", n_jobs=1).fit(table, y, cluster="country")


@pytest.mark.parametrize(("decimals", "kind"), [(1, "category"), (6, "id")])
def test_a_few_texts_among_numbers_are_told(decimals, kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    charge = [f"{value:.{decimals}f}" for value in x]
    charge[99] = "abc"
    table = pd.DataFrame({"charge": charge, "size": rng.normal(size=600)})
    y = (x + rng.logistic(size=600) > 0).astype(int)
    ranker = TableRanker(hold_out=0, features="linear", n_jobs=1).fit(table, y)
    assert ranker.plan_["charge"].kind == kind
    assert "because 1 of 600 values is not a number ('abc'). Correct the data" in " ".join(
        ranker.describe().split()
    )
    assert "types={'charge': 'numeric'} with on_error='skip'" in " ".join(ranker.describe().split())
    advised = TableRanker(
        hold_out=0, features="linear", n_jobs=1, types={"charge": "numeric"}, on_error="skip"
    ).fit(table, y)
    assert advised.plan_["charge"].kind == "numeric"
    assert sum(advised.model_.trained_on[side] for side in ("positives", "negatives")) == 599
    assert "no number" not in advised.describe()


def test_codes_with_a_few_letters_are_no_mistake():
    rng = np.random.default_rng(0)
    plain = [f"{k:05d}" for k in rng.integers(0, 50, 600)]
    plain[5] = "K1A"
    table = pd.DataFrame({"zip": plain, "size": rng.normal(size=600)})
    ranker = TableRanker(hold_out=0, features="linear", n_jobs=1).fit(table, rng.integers(0, 2, 600))
    assert "no number" not in ranker.describe()


def test_columns_of_which_no_value_is_known_are_warned_of(tmp_path, recwarn):
    rng = np.random.default_rng(0)
    vip, x = rng.choice(["True", "False"], 400), rng.normal(size=400)
    table = pd.DataFrame({"vip": vip, "shop": rng.choice(["a", "b"], 400), "x": x})
    y = (x + (vip == "True") + rng.logistic(size=400) > 0).astype(int)
    ranker = TableRanker(hold_out=0, features="linear", n_jobs=1).fit(table, y)
    recwarn.clear()
    ranker.decision_function(table)
    other = table.assign(vip=np.where(vip == "True", "yes", "no"))
    ranker.decision_function(other.head(19))
    other.to_csv(tmp_path / "other.csv", index=False)
    assert not recwarn.list
    said = r"column 'vip': none of its 400 values was seen in training, such as '(yes|no)'; training had"
    with pytest.warns(DataWarning, match=said):
        ranker.decision_function(other)
    with pytest.warns(DataWarning, match=said):
        ranker.score_files(tmp_path / "other.csv", tmp_path / "scores.csv")
    with pytest.warns(DataWarning, match="'vip': none of its 399 values"):
        ranker.decision_function(other.assign(vip=[None, *other["vip"][1:]]))


def test_the_name_of_a_column_instead_of_labels_is_refused_with_advice():
    table = pd.DataFrame({"x": [0.5, 1.5, 2.5], "click": [0, 1, 1]})
    with pytest.raises(ValueError, match=r"y must hold a label for each row, got 'click'; pass label='click'"):
        TableRanker().fit(table, "click")


def test_a_positive_label_that_never_occurs_is_refused():
    table = pd.DataFrame({"x": np.arange(90.0), "y": ["a", "b", "c"] * 30})
    ranker = TableRanker(positive=["b", "q"], hold_out=0)
    with pytest.raises(ValueError, match="names 'q', which never occurs in y; the labels are 'a', 'b', 'c'"):
        ranker.fit(table[["x"]], table["y"])
    with pytest.raises(ValueError, match="expected the label 'q' in column 'y', but it never occurs"):
        ranker.fit(table, label="y")


@pytest.mark.parametrize("missing", [np.nan, None])
def test_rows_without_a_label_are_left_out_if_asked_for(missing):
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=300), rng.integers(1, 3, 300)
    y = (x + rng.logistic(size=300) > 0).astype(object)
    y[[3, 70]] = missing
    y = y.astype(float) if missing is np.nan else y
    table = pd.DataFrame({"x": x, "z": rng.normal(size=300)})
    settings = {"hold_out": 0, "features": "linear", "n_jobs": 1}
    with pytest.raises(ValueError, match="contains NaN"):
        TableRanker(**settings).fit(table, y)
    found = TableRanker(on_error="skip", **settings).fit(table, y, weight)
    known = ~pd.isna(y)
    wanted = TableRanker(**settings).fit(table[known], y[known].astype(float), weight[known])
    np.testing.assert_allclose(found.decision_function(table), wanted.decision_function(table))


def test_refit_is_true_or_false():
    table, y = make_table(60)
    with pytest.raises(ValueError, match="refit must be True or False, got 'no'"):
        TableRanker(refit="no").fit(table, y)


def test_a_file_that_is_read_is_not_replaced_by_its_scores(tmp_path):
    table, y = make_table(300)
    ranker = TableRanker("linear", hold_out=0).fit(table, y)
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    before = path.read_bytes()
    for given in (path, [path], tmp_path, str(tmp_path / "*.csv")):
        with pytest.raises(ValueError, match=r"out='.*rows\.csv' would replace a file that is read"):
            ranker.score_files(given, path)
    assert path.read_bytes() == before
    assert ranker.score_files(path, tmp_path / "scores.csv")["rows"] == 300


@pytest.mark.parametrize(("labels", "positive"), [([1, 2, 0], 0), (["ok", "maybe", "fraud"], "fraud")])
def test_where_a_side_has_several_labels_rows_are_positive_or_not(labels, positive):
    rng = np.random.default_rng(0)
    x = rng.normal(size=900)
    names = np.array(labels, dtype=object)
    y = np.where(x > 0.5, names[2], names[rng.integers(0, 2, 900)])
    ranker = TableRanker("linear", positive=positive, hold_out=0).fit({"x": x}, y)
    assert ranker.classes_.tolist() == [False, True]
    predicted = ranker.predict({"x": x})
    assert predicted.dtype == bool
    assert (predicted == (y == positive)).mean() > 0.9
    assert ranker.score({"x": x}, y) == (predicted == (y == positive)).mean()


def test_times_of_another_zone_are_warned_of(tmp_path):
    table, y = make_table(400)
    table["when"] = pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(np.arange(400), "h")
    TableRanker("linear", hold_out=0, n_jobs=1).fit(table, y).save(tmp_path / "m.mbauc")
    ranker = mbauc.load(tmp_path / "m.mbauc")
    with warnings.catch_warnings(action="error"):
        wanted = ranker.decision_function(table)
        ranker.decision_function(table.assign(when=table["when"].dt.tz_localize(None)))
        ranker.score_files(table, tmp_path / "s.csv")
    other = table.assign(when=table["when"].dt.tz_convert("America/New_York"))
    other.to_parquet(tmp_path / "new.parquet")
    said = "column 'when' has times in the zone 'America/New_York', and had 'Europe/Berlin' in training"
    with pytest.warns(DataWarning, match=said):
        assert (ranker.decision_function(other) != wanted).any()
    with pytest.warns(DataWarning, match=said) as caught:
        ranker.score_files(tmp_path / "new.parquet", tmp_path / "s.csv")
    assert len(caught) == 1


@pytest.mark.parametrize("zone", ["Etc/UTC", "UTC", "+00:00"])
def test_names_of_one_zone_are_the_same(zone):
    table, y = make_table(400)
    table["when"] = pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(np.arange(400), "h")
    ranker = TableRanker("linear", hold_out=0, n_jobs=1).fit(table, y)
    with warnings.catch_warnings(action="error"):
        ranker.decision_function(table.assign(when=table["when"].dt.tz_convert(zone)))
