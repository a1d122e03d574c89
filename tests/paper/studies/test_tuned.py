"""Losses over all pairs against tuned rivals, and fitting for the top of the list, on made-up rows."""

import csv

import numpy as np
import pytest
from scipy.stats import norm

from mbauc.errors import NotAvailableError
from mbauc.metrics import compare_roc_auc, partial_roc_auc, roc_auc
from mbauc.paper.datasets.registry import DataSet
from mbauc.paper.studies.benchmark import partial_auc, runs, tuned, tuned_page
from mbauc.paper.studies.benchmark.tuned import AUTO, RIVALS, Rival, RunSplit, Tuned

# what is chosen from few made-up rows may well be at an edge
pytestmark = [
    pytest.mark.filterwarnings("ignore::mbauc.errors.PenaltyWarning"),
    pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning"),
]


def _made_up(name, folder=None, random_state=0):
    if name == "w7a":
        raise NotAvailableError("w7a is not available: looked in /somewhere")
    rng = np.random.default_rng(len(name))
    y = (rng.random(400) < 0.3).astype(np.int8)
    X = (rng.standard_normal((400, 4)) + 0.5 * y[:, None]) * [1, 10, 0.1, 0]
    return DataSet(name, X[:200], y[:200], X[200:], y[200:])


@pytest.fixture
def made_up(monkeypatch):
    for cached in (runs.load_rows, runs.fingerprint):
        cached.cache_clear()
    monkeypatch.setattr(runs, "load", _made_up)
    yield
    for cached in (runs.load_rows, runs.fingerprint):
        cached.cache_clear()


def made_study(**gains):
    """A study with the gain and the standard error of auto over each rival, in points."""
    records = {}
    for dataset, (gain, stderr) in gains.items():
        found = {}
        for place, key in enumerate(tuned_page.NAMES):
            own = 0.0 if key == AUTO else gain + place
            found[key] = {
                "auc": 0.9 - own / 100, "gain": own / 100, "stderr": stderr / 100, "setting": 1.0,
                "choice": "any", "seconds": 0.0,
            }  # fmt: skip
        records[dataset, 0] = {"methods": found, "seconds": 0.0}
    return Tuned(tuned.Settings(), records)


# -- rivals ---------------------------------------------------------------------------------------------------


def split(n=300):
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 0], n // 3).astype(np.int64)
    X = (rng.standard_normal((n, 4)) + 0.7 * y[:, None]) * [1.0, 5.0, 0.2, 0.0]
    return RunSplit(X, y, X, y)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.key)
def test_a_rival_has_weights_for_each_setting_that_do_not_hang_on_the_others(rival):
    part = split()
    some = rival.grid[3:6]
    together = rival.weights(some, part.X, part.y)
    assert together.shape == (3, 4)
    alone = rival.weights(some[-1:], part.X, part.y)[0]
    # solvers stop near the minimum, on the way from another setting at another point
    np.testing.assert_allclose(
        together[-1] / np.abs(together[-1]).max(), alone / np.abs(alone).max(), atol=2e-3
    )
    assert roc_auc(part.y, part.X @ alone) > 0.6


def test_a_rival_takes_the_setting_and_the_columns_that_rank_held_out_rows_best():
    part = split()
    fold = np.arange(part.y.size) % 5

    def weights(grid, X, y):
        # right only with standardised columns and the second setting
        standard = abs(X[:, 0].std() - 1) < 0.2 and abs(X[:, 1].std() - 1) < 0.2
        return np.array([[1.0 if standard and value == 2.0 else -1.0, 0, 0, 0] for value in grid])

    found = tuned.tune(Rival("r", "r", "s", (1.0, 2.0, 3.0), weights), part, fold, True)
    assert (found.setting, found.choice) == (2.0, "columns standardised")
    assert found.weights[0] == pytest.approx(1 / part.X[:, 0].std())


def test_gains_are_those_of_the_paired_test(made_up):
    record = tuned.one_run("german", 0, tuned.QUICK, None)
    assert set(record["methods"]) == set(tuned_page.NAMES)
    part = runs.split_rows("german", 0, runs.Settings(), None)
    auto = record["methods"][AUTO]
    assert (auto["gain"], auto["stderr"]) == (0.0, 0.0)
    other = record["methods"]["tuned-logistic"]
    assert other["gain"] == pytest.approx(auto["auc"] - other["auc"])
    fold = tuned.draw_folds(part.y, np.random.default_rng([0, 5, runs.DATASETS.index("german"), 0]))
    theirs = part.X_test @ tuned.tune(RIVALS[0], part, fold, False).weights
    ours = part.X_test @ tuned._fit_pairs("auto", part, tuned.QUICK).weights
    test = compare_roc_auc(part.y_test, [ours, theirs])
    assert other["stderr"] == pytest.approx(test.stderr[0, 1])


# -- verdicts -------------------------------------------------------------------------------------------------


def test_the_interval_holds_for_all_rivals_of_a_set():
    study = made_study(a9a=(-0.2, 0.02))
    verdict = tuned_page.judge(study, "a9a")
    place = list(tuned_page.NAMES).index("tuned-logistic")
    assert verdict.rival == "tuned-logistic"  # the one with the highest AUC
    gain = -0.2 + place
    assert verdict.gain == pytest.approx(gain)
    assert verdict.low == pytest.approx(gain - norm.ppf(1 - 0.025 / len(RIVALS)) * 0.02)


@pytest.mark.parametrize(
    ("gain", "stderr", "says"),
    [
        (-3.1, 0.001, "interval excludes"),
        (-3.5, 0.01, "the linear model is better"),
        (-3.5, 1.0, "ahead, but not significantly"),
        (-3.0, 1.0, "too few test rows"),
        (-3.2, 0.1, "interval is inconclusive"),
    ],
)
def test_exceptions_say_why(gain, stderr, says):
    # the first rival stands in fourth place and is three points further down
    lines = list(tuned_page._conclusions(made_study(a9a=(gain, stderr)), ["a9a"]))
    assert says in lines[-1]


def test_circles_are_adjusted_for_all_comparisons():
    tests = len(RIVALS)
    # alone significant (p = 0.03), but not among so many
    alone = made_study(a9a=(-3.0, 1e9))
    assert tuned_page.find_significant(alone, ["a9a"]) == {}
    z = norm.ppf(1 - 0.03 / 2)
    found = alone.records["a9a", 0]["methods"]["tuned-logistic"]
    found |= {"gain": z * 0.01, "stderr": 0.01}
    assert tuned_page.find_significant(alone, ["a9a"]) == {}
    found |= {"gain": -norm.ppf(1 - 0.04 / 2 / tests) * 0.01}
    assert tuned_page.find_significant(alone, ["a9a"]) == {("a9a", "tuned-logistic"): "○"}


def test_the_page_names_what_is_better_and_worse():
    text = "\n\n".join(
        tuned_page.write_section(made_study(a9a=(0.1, 0.01), ijcnn=(-4.0, 0.01)), ["a9a", "ijcnn"])
    )
    assert "*auto* is significantly worse than: ijcnn (logistic)." in text
    assert "It is significantly better than the best linear model on: a9a." in text
    assert "Exception: ijcnn, -1.00 points against logistic" in text
    rows = list(tuned_page.list_runs(made_study(a9a=(0.1, 0.01)), ("a9a",)))
    assert len(rows) == len(tuned_page.NAMES)
    assert all(len(row) == len(tuned_page.HEAD) for row in rows)


# -- the top of the list --------------------------------------------------------------------------------------


def test_the_top_is_that_of_the_definition():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [200, 50])
    s = rng.standard_normal(250) + y
    detections, area = partial_auc._look_at_top(y, s, None, 0.1)
    # 20 false alarms are allowed: all positives above the 21st highest negative
    assert detections == pytest.approx((s[y == 1] > np.sort(s[y == 0])[-21]).mean())
    assert area == pytest.approx(partial_roc_auc(y, s, max_fpr=0.1))


def test_rows_that_count_twice_are_rows_twice():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [60, 30])
    s, times = rng.standard_normal(90) + y, rng.integers(1, 4, 90)
    np.testing.assert_allclose(
        partial_auc._look_at_top(y, s, times.astype(float), 0.2),
        partial_auc._look_at_top(np.repeat(y, times), np.repeat(s, times), None, 0.2),
    )


def test_the_bootstrap_draws_within_classes_and_sees_a_better_scorer():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [400, 200])
    noise = rng.standard_normal(600)
    scores = {partial_auc.WHOLE_TUNED: noise + y, partial_auc.PARTIAL: noise + 4 * y}
    settings = partial_auc.Settings(max_fpr=0.1, samples=50)
    gains = partial_auc.bootstrap(y, scores, settings, rng)
    assert not gains[partial_auc.WHOLE_TUNED].any()
    assert gains[partial_auc.PARTIAL].shape == (50, 2)
    assert (gains[partial_auc.PARTIAL] > 0).all()


def test_the_page_of_the_top(made_up, tmp_path):
    settings = partial_auc.Settings(max_fpr=0.2, samples=20, thorough=False)
    study = partial_auc.run(settings, tmp_path, ("a9a", "w7a"), n_jobs=1)
    table, page = partial_auc.render(study, ("a9a", "w7a"), tmp_path)
    rows = {row["algorithm"]: row for row in csv.DictReader(table.open())}
    assert list(rows) == list(partial_auc.NAMES)
    base = rows[partial_auc.WHOLE_TUNED]
    assert float(base["gain"]) == float(base["low"]) == 0.0
    for row in rows.values():
        gained = float(row["detections"]) - float(base["detections"])
        assert float(row["gain"]) == pytest.approx(gained, abs=2e-6)
        assert float(row["low"]) <= float(row["high"])
    text = page.read_text()
    assert "Not available: w7a (https://" in text
    assert "/somewhere" not in text
