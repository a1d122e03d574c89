import csv
import dataclasses

import numpy as np
import pytest

from mbauc import MBAClassifier, sample_pairs
from mbauc.errors import CheckpointError, NotAvailableError
from mbauc.metrics import roc_auc
from mbauc.paper.datasets.registry import DataSet, find, load
from mbauc.paper.studies import table1
from mbauc.paper.studies.benchmark import figure3, runs, table3, tuned
from mbauc.paper.studies.benchmark.methods import CONVERGED, METHODS, PRINTED, SETTINGS
from mbauc.paper.studies.benchmark.runs import Benchmark, Settings, is_halved, one_run, run, split_rows
from mbauc.paper.studies.printed import table3 as printed_table3

# what is chosen from few made-up rows may well be at an edge
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mbauc.errors.PenaltyWarning"),
    pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning"),
]

TINY = Settings(provided_runs=3, halves_runs=4, few=2, thorough=False)


def _made_up(name, folder=None, random_state=0):
    if name == "w7a":
        raise NotAvailableError("w7a is not available: looked in /somewhere")
    rng = np.random.default_rng(len(name))
    y = (rng.random(400) < 0.3).astype(np.int8)
    X = (rng.standard_normal((400, 5)) + 0.5 * y[:, None]) * [1, 10, 0.1, 1, 0]
    return DataSet(name, X[:200], y[:200], X[200:], y[200:])


@pytest.fixture
def made_up(monkeypatch):
    for cached in (runs.load_rows, runs.fingerprint):
        cached.cache_clear()
    monkeypatch.setattr(runs, "load", _made_up)
    monkeypatch.setattr(table1, "load", _made_up)
    yield
    for cached in (runs.load_rows, runs.fingerprint):
        cached.cache_clear()


# -- the protocol ---------------------------------------------------------------------------------------------


def test_halves_are_new_in_every_run_and_provided_splits_are_not(made_up):
    assert is_halved("german")
    assert not is_halved("a9a")
    first, again, other = (split_rows("german", number, TINY, None) for number in (0, 0, 1))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert first.y.size == first.y_test.size == 200
    assert abs(int(first.y.sum()) - int(first.y_test.sum())) <= 1
    assert np.array_equal(split_rows("a9a", 0, TINY, None).X, split_rows("a9a", 1, TINY, None).X)


def test_columns_are_divided_by_their_largest_training_value(made_up):
    part = split_rows("a9a", 0, TINY, None)
    data = _made_up("a9a")
    largest = np.abs(data.X).max(axis=0)
    largest[largest == 0] = 1
    np.testing.assert_allclose(part.X, data.X / largest)
    np.testing.assert_allclose(part.X_test, data.X_test / largest)


def test_settings_are_chosen_once_on_the_same_rows(made_up, tmp_path):
    study = run(TINY, tmp_path, datasets=("a9a", "german"), n_jobs=2)
    for method in PRINTED:
        assert len({one.setting for one in study.outcomes("a9a", method.key)}) == 1
    assert len({one.auc for one in study.outcomes("a9a", "mba-l2")}) == 3  # other draws
    assert len({one.auc for one in study.outcomes("german", "mba-exact")}) == 4  # other halves
    assert len(study.outcomes("german", "logistic")) == TINY.few
    assert not study.outcomes("german", CONVERGED[0].key)


def test_a_thorough_run_has_everybody(made_up):
    record = one_run("german", 0, dataclasses.replace(TINY, thorough=True), None)
    assert set(record["methods"]) == {method.key for method in METHODS}
    for method in METHODS:
        assert record["methods"][method.key]["setting"] in method.contender.grid


def test_budgets_are_equal():
    for method in METHODS:
        expected = {True: SETTINGS // 2, False: SETTINGS}[method in CONVERGED]
        assert len(method.contender.grid) == (1 if method.key == "mean-difference" else expected)
    assert len({method.key for method in METHODS}) == len(METHODS)


def test_what_is_done_is_not_done_again(made_up, tmp_path, monkeypatch):
    first = run(TINY, tmp_path, datasets=("german",), n_jobs=1)
    monkeypatch.setattr(runs, "one_run", lambda *_: pytest.fail("it ran again"))
    again = run(TINY, tmp_path, datasets=("german",), n_jobs=1)
    assert np.array_equal(first.auc("german", "oam"), again.auc("german", "oam"))


def test_other_files_under_the_same_name_are_not_mixed(made_up, tmp_path, monkeypatch):
    run(TINY, tmp_path, datasets=("german",), n_jobs=1)

    def others(name, folder=None, random_state=0):
        data = _made_up(name)
        return dataclasses.replace(data, X=data.X + 1e-9)

    monkeypatch.setattr(runs, "load", others)
    runs.load_rows.cache_clear()
    runs.fingerprint.cache_clear()
    with pytest.raises(CheckpointError, match="results of other files of german"):
        run(TINY, tmp_path, datasets=("german",), n_jobs=1)


def test_a_set_of_one_class_is_named(made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(
        runs, "load", lambda name, *_: dataclasses.replace(_made_up(name), y=np.zeros(200, dtype=np.int8))
    )
    with pytest.raises(ValueError, match="the training rows of german are of one class only"):
        run(TINY, tmp_path, datasets=("german",), n_jobs=1)


# -- the pages ------------------------------------------------------------------------------------------------


def test_table3_is_what_the_runs_say(made_up, tmp_path):
    datasets = ("a9a", "german", "w7a")
    study = run(TINY, tmp_path, datasets=datasets, n_jobs=1)
    tuned_study = tuned.run(tuned.QUICK, tmp_path, datasets=datasets, n_jobs=1)
    paths = table3.render(study, tuned_study, datasets, tmp_path)
    assert [path.name for path in paths] == [
        "table3.csv", "table3_runs.csv", "table3_tuned.csv", "table3.md",
    ]  # fmt: skip
    rows = {(row["dataset"], row["algorithm"]): row for row in csv.DictReader(paths[0].open())}
    assert set(next(iter(rows.values()))) == {
        "dataset", "algorithm", "auc_mean", "auc_std", "runs", "seconds", "paper_mean", "paper_std",
    }  # fmt: skip
    assert float(rows["german", "olr"]["auc_mean"]) == pytest.approx(
        study.auc("german", "olr").mean(), abs=1e-4
    )
    assert rows["german", "olr"]["paper_mean"] == "76.39"
    assert rows["german", "lda"]["paper_mean"] == ""
    assert rows["w7a", "mba-l2"]["runs"] == "0"
    assert float(rows["german", "pairs-auto"]["auc_mean"]) == pytest.approx(
        tuned_study.auc("german", "pairs-auto").mean(), abs=1e-4
    )
    page = paths[3].read_text()
    assert "| w7a | [not available](https://" in page
    assert "/somewhere" not in page
    assert "(○ 90.17 ± 0.03)" in page


def test_a_rival_is_compared_with_the_better_mba():
    def records(mba_l2, mba_l1, olr):
        for number, aucs in enumerate(zip(mba_l2, mba_l1, olr, strict=True)):
            found = {
                key: {"auc": auc, "setting": 1.0, "seconds": 0.0}
                for key, auc in zip(("mba-l2", "mba-l1", "olr"), aucs, strict=True)
            }
            yield ("german", number), {"methods": found, "seconds": 0.0}

    low, high = [0.70, 0.71, 0.72, 0.71], [0.80, 0.81, 0.82, 0.812]
    olr = PRINTED[2]
    assert table3.compare(Benchmark(TINY, dict(records(low, high, low))), "german", olr).plain == "●"
    assert table3.compare(Benchmark(TINY, dict(records(low, low, high))), "german", olr).plain == "○"
    assert table3.compare(Benchmark(TINY, dict(records(low, high, high))), "german", olr).plain == ""
    noisy = [0.79, 0.80, 0.80, 0.80]
    found = table3.compare(Benchmark(TINY, dict(records(low, high, noisy))), "german", olr)
    assert (found.plain, found.corrected) == ("●", "")  # halves share rows, and that costs the circle


def test_table1_marks_what_is_not_there(made_up, tmp_path):
    paths = table1.render(("german", "w7a"), None, tmp_path)
    page = paths[1].read_text()
    assert "| german | 200 (500) | 200 (500) | 5 (24) |" in page
    assert "| w7a | [not available](https://" in page


def test_figure3_draws_bands_for_growing_shares(made_up, tmp_path):
    pytest.importorskip("matplotlib")
    study = run(TINY, tmp_path, datasets=figure3.PANELS, n_jobs=1)
    paths = figure3.render(figure3.run(study, tmp_path, 2, n_jobs=1), tmp_path)
    rows = list(csv.DictReader(paths[0].open()))
    assert len(rows) == len(figure3.PANELS) * len(figure3.SHARES) * len(PRINTED)


def test_figure3_takes_settings_that_have_not_seen_its_test_rows(made_up, tmp_path):
    study = run(TINY, tmp_path, datasets=("german", "a9a"), n_jobs=1)
    asked = []

    class Spy(Benchmark):
        def outcomes(self, dataset, key):
            return _Asked(super().outcomes(dataset, key), lambda place: asked.append((dataset, place)))

    spy = Spy(study.settings, study.records)
    for number in (0, 2):
        figure3.one_run(spy, "german", number, None)
        figure3.one_run(spy, "a9a", number, None)
    assert set(asked) == {("german", 0), ("german", 2), ("a9a", 0)}


class _Asked(list):
    def __init__(self, parts, tell):
        super().__init__(parts)
        self.tell = tell

    def __getitem__(self, place):
        self.tell(place)
        return super().__getitem__(place)


def test_figure3_is_an_image(made_up, tmp_path):
    pytest.importorskip("matplotlib")
    study = run(TINY, tmp_path, datasets=figure3.PANELS, n_jobs=1)
    paths = figure3.render(figure3.run(study, tmp_path, 2, n_jobs=1), tmp_path)
    assert paths[1].read_bytes().startswith(b"\x89PNG")


# -- the real files -------------------------------------------------------------------------------------------


@pytest.mark.data
def test_the_author_s_split_gives_the_author_s_figures(shared_file):
    data = load("svmguide3.author", shared_file("svmguide3.author.train.bz2").parent)
    aucs = []
    for number in range(200):
        moments = sample_pairs(data.X, data.y, data.y.size, random_state=number)
        ranker = MBAClassifier(l2=1e-6).fit_moments(moments)
        aucs.append(roc_auc(data.y_test, ranker.decision_function(data.X_test)))
    assert np.mean(aucs) == pytest.approx(0.810, abs=0.003)
    exact = MBAClassifier(l2=1e-6).fit(data.X, data.y)
    assert roc_auc(data.y_test, exact.decision_function(data.X_test)) == pytest.approx(0.819, abs=0.001)


@pytest.fixture(scope="module")
def committed(request):
    path = request.config.rootpath / "docs" / "results" / "table3.csv"
    return {(row["dataset"], row["algorithm"]): row for row in csv.DictReader(path.open(encoding="utf-8"))}


@pytest.mark.parametrize(
    ("dataset", "below"), [*((n, 0.3) for n in ("a1a", "a9a", "ijcnn", "madelon", "usps")), ("w1a", 1.5)]
)
def test_the_committed_exact_fit_reaches_the_printed_mean(committed, dataset, below):
    ours = float(committed[dataset, "mba-exact"]["auc_mean"])
    assert ours >= printed_table3(dataset)["MBA-ℓ2"][0] - below


@pytest.mark.parametrize("dataset", ["german", "svmguide3", "bank", "mushrooms"])
def test_the_committed_halves_are_within_two_standard_deviations(committed, dataset):
    row = committed[dataset, "mba-exact"]
    assert int(row["runs"]) == 50
    printed = printed_table3(dataset)["MBA-ℓ2"][0]
    assert float(row["auc_mean"]) >= printed - 2 * float(row["auc_std"])


@pytest.mark.data
def test_the_best_penalty_on_w1a_is_close_to_the_printed_mean(shared_file):
    part = split_rows("w1a", 0, Settings(), shared_file("w1a.bz2").parent)
    aucs = []
    for l2 in np.geomspace(10, 1e-3, 17):
        ranker = MBAClassifier(l2=float(l2)).fit(part.X, part.y)
        aucs.append(100 * roc_auc(part.y_test, ranker.decision_function(part.X_test)))
    assert max(aucs) >= printed_table3("w1a")["MBA-ℓ2"][0] - 0.3


def test_every_set_of_the_table_is_on_record():
    for name in runs.DATASETS:
        assert find(name).printed is not None
