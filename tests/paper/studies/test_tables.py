"""The study of real tables, with made-up tables and stand-ins for the methods."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from mbauc.cli.main import main
from mbauc.errors import CheckpointError, NotAvailableError
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.paper.studies.tables import page, runs, sets, summary, task
from mbauc.paper.studies.tables.findings import Facts, Findings, Outcome, Settings
from mbauc.paper.studies.tables.methods import AUTO, GRIDS, LIGHTGBM, METHODS, Method
from mbauc.paper.studies.tables.sets import TABLES, Rows, Table
from mbauc.paper.studies.tables.task import Task

pytest.importorskip("pandas")

NAN = float("nan")
FACTS = Facts(500, 400, 20, 3, 150)


def outcome(auc=0.8, gain=0.0, stderr=0.01, seconds=1.0, error=""):
    return Outcome(auc, auc - 0.02, auc + 0.02, gain, stderr, seconds, 200.0, 190.0, 0.0, "any", error)


def made_findings(outcomes, **more):
    """Findings of outcomes by table, split and method."""
    records = {
        key: {**FACTS._asdict(), **one._asdict(), "seconds": 2.0, "data": "x"} for key, one in outcomes.items()
    }
    return Findings(Settings(), records, **more)


# -- figures --------------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 99))
def test_figures_are_those_of_plain_formulas(n_tables, n_splits, seed):
    rng = np.random.default_rng(seed)
    names = list(TABLES)[:n_tables]
    gains = rng.normal(0, 0.02, (n_tables, n_splits))
    errors = rng.uniform(0.002, 0.01, (n_tables, n_splits))
    times = rng.uniform(0.1, 2.0, (2, n_tables, n_splits))
    outcomes = {}
    for i, name in enumerate(names):
        for j in range(n_splits):
            outcomes[name, j, AUTO] = outcome(0.8 + gains[i, j], gains[i, j], errors[i, j], times[0, i, j])
            outcomes[name, j, LIGHTGBM] = outcome(seconds=times[1, i, j])
    found = made_findings(outcomes)
    p_values = []
    for i, name in enumerate(names):
        value, stderr = 100 * gains[i].mean(), 100 * errors[i].mean()
        gain = found.gain(name, AUTO)
        assert gain.value == pytest.approx(value)
        assert gain.high == pytest.approx(value + norm.ppf(0.975) * stderr)
        p_values.append(2 * norm.sf(abs(value) / stderr))
        assert gain.p_value == pytest.approx(p_values[-1])
        assert found.ratios(AUTO, LIGHTGBM)[name] == pytest.approx(times[0, i].mean() / times[1, i].mean())
    # Holm: the k-th smallest times what is left, never smaller than the one before
    largest, expected = 0.0, {}
    for rank, i in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (n_tables - rank) * p_values[i]))
        expected[names[i]] = largest
    assert found.adjusted(AUTO) == pytest.approx(expected)
    better, worse, level = found.judge(AUTO)
    means = dict(zip(names, gains.mean(axis=1), strict=True))
    assert better == [name for name in names if expected[name] < 0.05 and means[name] > 0]
    assert worse == [name for name in names if expected[name] < 0.05 and means[name] < 0]
    assert sorted(better + worse + level) == sorted(names)
    means, shared = found.shared_means([AUTO, LIGHTGBM])
    assert shared == names
    assert means[AUTO] == pytest.approx(100 * (0.8 + gains.mean(axis=1).mean()))


def test_a_method_that_failed_on_one_split_has_no_mean():
    found = made_findings(
        {
            ("german", 0, AUTO): outcome(),
            ("german", 1, AUTO): outcome(NAN, NAN, NAN, NAN, error="no memory"),
            ("german", 0, LIGHTGBM): outcome(),
            ("german", 1, LIGHTGBM): outcome(),
        }
    )
    assert found.outcomes("german", AUTO) == []
    assert found.gain("german", AUTO) is None
    assert found.adjusted(AUTO) == {}
    assert found.ratios(AUTO, LIGHTGBM) == {}
    assert found.shared_means([AUTO, LIGHTGBM]) == ({}, [])
    assert "auto failed on german: no memory." in page.page(found)


def test_equal_scores_are_no_difference():
    found = made_findings({("mushrooms", 0, AUTO): outcome(1.0, 0.0, 0.0)})
    assert found.gain("mushrooms", AUTO) == (0.0, 0.0, 0.0, 1.0)
    assert found.judge(AUTO).level == ["mushrooms"]


# -- the page -------------------------------------------------------------------------------------------------


def written(gains, **more):
    """The page of one split of each table, auto that far from LightGBM, in points."""
    outcomes = {}
    for name, gain in gains.items():
        outcomes[name, 0, AUTO] = outcome(0.8 + gain / 100, gain / 100, 0.001, 3.0)
        outcomes[name, 0, LIGHTGBM] = outcome(0.8, 0.0, 0.0, 2.0)
        outcomes[name, 0, "lightgbm-tuned"] = outcome(0.81, 0.0, 0.0, 30.0)
    return page.page(made_findings(outcomes, **more))


def test_losses_stand_beside_wins():
    text = written({"bank": 1.5, "german": -0.9, "madelon": -5.0, "ijcnn": -1.2, "w1a": 0.1})
    assert "auto at its defaults 78.90, LightGBM at its defaults 80.00 (-1.10 points)" in text
    assert "significantly better on 1 (bank); significantly worse on 3 (german, madelon, ijcnn)" in text
    assert "no significant difference on 1 (w1a)" in text
    assert f"madelon, -5.00 points; {summary.EXPLANATIONS['madelon']}." in text
    assert "ijcnn, -1.20 points; no explanation is known." in text
    assert "behind: german" not in text
    assert "over LightGBM at its defaults: median 1.5, largest 1.5 (bank), 5 tables" in text
    assert "over LightGBM, tuned: median 0.1" in text
    assert "| bank | **81.50** ● | 80.00 |" in text
    assert "| ijcnn | 78.80 ○ | **80.00** |" in text
    assert "| mean | 78.90 | 80.00 |" in text
    assert "| madelon | **-5.00 (-5.20 to -4.80)** | 0 | 1.5 |" in text
    assert "num_leaves 7, learning_rate 0.05, n_estimators 300" in text
    assert text.splitlines()[-1].startswith("Seed 0; python")


def test_the_number_of_splits_is_told_once():
    def text(**settings):
        return page.page(Findings(Settings(**settings), {}))

    one = text(small_splits=1, large_splits=1)
    assert "into random stratified halves: one split. No fit" in one
    assert "Their standard error measures" in one
    assert "means over" not in one
    several = text(small_splits=5, large_splits=3)
    assert (
        "halves: 5 splits below 20,000 rows, 3 above. AUCs, times and gains are means over the splits."
        in several
    )
    assert "that of one split, which is conservative. It measures" in several
    assert "halves: 4 splits. AUCs" in text(small_splits=4, large_splits=4)


def test_an_explanation_needs_a_loss():
    text = written({"madelon": 0.3})
    assert summary.EXPLANATIONS["madelon"] not in text
    assert "nowhere more than 1 point behind" in text


def test_what_is_missing_is_named():
    text = written({"bank": 0.0}, missing={"adult": "/somewhere"}, absent={"ebm": "interpret is not installed"})
    assert "Tables not available on this machine: adult (https://" in text
    assert "EBM: interpret is not installed." in text
    assert "/somewhere" not in text


def test_disturbed_times_are_named():
    disturbed = outcome(seconds=5.0)._replace(others=0.7)
    found = made_findings({("bank", 0, AUTO): disturbed, ("bank", 0, LIGHTGBM): outcome()})
    assert "inflated by other programs on the same cores: auto on bank." in page.page(found)


# -- runs -----------------------------------------------------------------------------------------------------


class Stand(LogisticRegression):
    """Ranks by one column; counts its fits."""

    fits = 0

    def fit(self, X, y):
        Stand.fits += 1
        return super().fit(np.asarray(X)[:, :1], y)

    def decision_function(self, X):
        return super().decision_function(np.asarray(X)[:, :1])


class Broken(LogisticRegression):
    def fit(self, X, y):
        raise ValueError("too hard")


def _read_made_up(_folder, provided=False):
    rng = np.random.default_rng(3)
    y = np.tile([0, 1, 0], 100)
    X = rng.standard_normal((300, 3)) + y[:, None] * [0.5, 1.0, 0.0]
    return Rows(X[:200], y[:200], X[200:], y[200:]) if provided else Rows(X, y)


def _refuse(_folder):
    raise NotAvailableError("not here")


@pytest.fixture
def stand_ins(monkeypatch):
    for cached in (sets.load_table, sets.fingerprint):
        cached.cache_clear()
    monkeypatch.setitem(TABLES, "german", Table("german", "https://german", _read_made_up))
    monkeypatch.setitem(TABLES, "usps", Table("usps", "https://usps", lambda f: _read_made_up(f, True)))
    monkeypatch.setitem(TABLES, "bank", Table("bank", "https://bank", _refuse))
    kinds = {AUTO: Stand, LIGHTGBM: LogisticRegression, "ebm": Broken}
    for key, kind in kinds.items():
        one, warm_up = (lambda seed, kind=kind: kind()), (lambda seed: LogisticRegression())
        requires = "mbauc" if key == AUTO else "sklearn"
        monkeypatch.setitem(METHODS, key, Method(key, METHODS[key].name, one, warm_up, requires))
    monkeypatch.setattr(runs, "run_apart", _run_here)
    Stand.fits = 0
    yield
    for cached in (sets.load_table, sets.fingerprint):
        cached.cache_clear()


def _run_here(one, most_seconds):
    try:
        found, scores = task.run_here(one)
    except ValueError as error:
        return {"error": str(error)}, None
    return {**found, "error": ""}, scores


ASKED = ("bank", "german", "usps"), (AUTO, LIGHTGBM, "ebm", "curves")


def test_runs_resume_and_ours_can_be_run_again_alone(stand_ins, tmp_path):
    few = Settings(small_splits=2)
    found = runs.run(few, tmp_path, *ASKED)
    assert Stand.fits == 3  # two halves, and the split that is provided
    assert found.missing == {"bank": "not here"}
    assert "curves" in found.methods
    assert {("german", 1, AUTO), ("usps", 0, LIGHTGBM)} <= set(found.records)
    assert ("usps", 1, AUTO) not in found.records
    assert {error for _, key, error in found.errors() if key == "ebm"} == {"too hard"}
    again = runs.run(few, tmp_path, *ASKED)
    assert Stand.fits == 3
    first, second = page.render(found, tmp_path)
    before = first.read_bytes(), second.read_bytes()
    page.render(again, tmp_path)
    assert (first.read_bytes(), second.read_bytes()) == before
    # more splits: what is there is kept
    runs.run(Settings(small_splits=3), tmp_path, *ASKED)
    assert Stand.fits == 4
    (tmp_path / "tables_ours.ledger").unlink()
    runs.run(few, tmp_path, *ASKED)
    assert Stand.fits == 7
    (tmp_path / "tables_scores" / "usps-0-lightgbm.npy").unlink()
    with pytest.raises(CheckpointError, match=r"usps-0-lightgbm\.npy is missing"):
        runs.run(few, tmp_path, *ASKED)


def test_gains_are_those_of_the_paired_test(stand_ins, tmp_path):
    found = runs.run(Settings(), tmp_path, ("usps",), (AUTO, LIGHTGBM))
    X, y, X_test, y_test = _read_made_up(None, True)
    ours = Stand().fit(X, y).decision_function(X_test)
    theirs = LogisticRegression().fit(X, y).decision_function(X_test)
    auto, other = (found.outcomes("usps", key)[0] for key in (AUTO, LIGHTGBM))
    assert auto.auc == pytest.approx(roc_auc(y_test, ours))
    assert auto.low < auto.auc < auto.high
    assert (other.gain, other.gain_stderr) == (0.0, 0.0)
    with pytest.warns(match="too narrow"):
        test = compare_roc_auc(y_test, [ours, theirs])
    assert (auto.gain, auto.gain_stderr) == pytest.approx((test.difference[0, 1], test.stderr[0, 1]))


def test_halves_are_stratified_and_differ():
    rows = _read_made_up(None)
    first, second = (runs.split_rows(rows, number, 0) for number in (0, 1))
    assert first.facts == Facts(150, 150, 3, 0, 50)
    assert not np.array_equal(first.X, second.X)
    assert np.array_equal(first.X, runs.split_rows(rows, 0, 0).X)


def test_the_file_has_all_figures(stand_ins, tmp_path):
    found = runs.run(Settings(), tmp_path, ("usps",), (AUTO, LIGHTGBM))
    table, _ = page.render(found, tmp_path)
    rows = list(csv.DictReader(table.open()))
    assert [row["method"] for row in rows] == [AUTO, LIGHTGBM]
    assert float(rows[0]["auc"]) == found.outcomes("usps", AUTO)[0].auc


# -- methods and tasks ----------------------------------------------------------------------------------------


def test_methods_have_their_limits():
    assert METHODS["svm"].takes(10_000, 500)
    assert not METHODS["svm"].takes(10_001, 2)
    assert not METHODS["ebm-tuned"].takes(2_000, 500)
    assert len(GRIDS["lightgbm-tuned"]) == 10
    assert max(one["n_estimators"] for one in GRIDS["lightgbm-tuned"]) <= 500
    absent = Method("a", "a", None, requires="no_such_module")
    assert absent.explain_absence() == "no_such_module is not installed"


def made_up_frame(n=60):
    import pandas as pd

    rng = np.random.default_rng(0)
    number = rng.standard_normal(n)
    number[:3] = NAN
    texts = pd.Series(rng.choice(["x", "y", None], n)).astype("category")
    return pd.DataFrame({"number": number, "text": texts}), (rng.random(n) < 0.4).astype(np.int64)


@pytest.mark.parametrize("key", ["logistic", "svm"])
def test_linear_rivals_and_svms_take_frames_with_gaps_and_new_texts(key):
    frame, y = made_up_frame()
    model = METHODS[key].make(0).fit(frame, y)
    other = frame.assign(text=frame["text"].cat.rename_categories({"x": "never seen"}))
    assert np.isfinite(task.score_rows(model, other)).all()
    array = frame[["number"]].to_numpy()
    assert np.isfinite(task.score_rows(METHODS[key].make(0).fit(array, y), array)).all()


def test_a_search_says_what_it_chose():
    X, y = _read_made_up(None)[:2]
    model = METHODS["logistic-tuned"].make(0).fit(X, y)
    assert task.describe_choice(model).startswith("C ")
    assert task.describe_choice(LogisticRegression()) == ""


def test_the_warm_up_has_columns_of_the_same_kinds():
    frame, _ = made_up_frame()
    for X in (frame, frame[["number"]], frame[["text"]]):
        made_up, y = task.make_up_rows(X, 0)
        assert set(map(str, made_up.dtypes)) == set(map(str, X.dtypes))
        assert len(made_up) == len(y)
    assert task.make_up_rows(np.zeros((5, 3)), 0)[0].shape == (400, 3)


@pytest.mark.slow
def test_a_task_in_a_process_of_its_own():
    X, y = _read_made_up(None)[:2]
    ballast = np.ones(40_000_000)  # 320 MB of this process are not the other one's
    found, scores = task.run_apart(Task(METHODS["logistic"].make, METHODS["logistic"].make, X, y, X, 0), 60)
    assert found["error"] == ""
    assert 0 < found["fit_seconds"] < 60
    if not math.isnan(found["peak_mb"]):
        assert found["before_mb"] <= found["peak_mb"] < 310
    expected = METHODS["logistic"].make(0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)
    del ballast
    found, scores = task.run_apart(Task(METHODS["logistic"].make, METHODS["logistic"].make, X, 0 * y, X, 0), 60)
    assert "ValueError" in found["error"]
    assert scores is None
    assert task.run_apart(Task(METHODS["svm"].make, METHODS["svm"].make, X, y, X, 0), 0.01) == (
        {"error": "stopped after 0.01 seconds"},
        None,
    )


# -- tables and command ---------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "shape", "texts", "positives"),
    [
        ("bank", "bank-additional.zip", (41_188, 20), 10, 4_640),
        ("adult", "adult.csv.bz2", (32_561, 10), 8, 7_841),
        ("credit", "credit.csv.bz2", (30_000, 23), 0, 6_636),
        ("telco", "telco.csv.bz2", (7_043, 19), 15, 1_869),
        ("avazu", "avazu.first9999.csv.bz2", (9_999, 22), 22, 1_706),
        ("criteo", "criteo.raw8000.tsv.bz2", (8_000, 39), 26, 1_728),
    ],
)
def test_raw_tables(shared_file, name, file, shape, texts, positives):
    rows = TABLES[name].read(shared_file(file).parent)
    assert rows.X.shape == shape
    assert sum(str(kind) == "category" for kind in rows.X.dtypes) == texts
    assert rows.y.sum() == positives
    assert not set(TABLES[name].left_out).intersection(rows.X.columns)


@pytest.mark.parametrize("arguments", [["--tables", "a9z"], ["--methods", "xgboost"], ["--splits", "0"]])
def test_unknown_names_are_usage_errors(arguments, capsys):
    with pytest.raises(SystemExit) as done:
        main(["reproduce", "tables", *arguments])
    assert done.value.code == 2
    assert "expected" in capsys.readouterr().err


def test_options_of_other_experiments_are_refused(tmp_path, capsys):
    assert main(["reproduce", "table1", "--tables", "bank", "--out", str(tmp_path)]) == 1
    assert "--tables is for the experiments tables and one_door" in capsys.readouterr().err
    assert main(["reproduce", "tables", "--datasets", "bank", "--out", str(tmp_path)]) == 1
    assert "--tables" in capsys.readouterr().err
    assert main(["reproduce", "one_door", "--methods", "auto", "--out", str(tmp_path)]) == 1
    assert "--methods: one_door has no auto; choose out of table-ranker," in capsys.readouterr().err


def test_the_command_writes_the_page(stand_ins, tmp_path, capsys):
    asked = ["--tables", "german", "--methods", "auto,lightgbm", "--splits", "1", "--out", str(tmp_path)]
    assert main(["reproduce", "tables", *asked]) == 0
    assert "# Additive models on real tables" in (tmp_path / "tables.md").read_text()
    assert "tables.csv" in capsys.readouterr().out
