import math

import numpy as np
import pytest
from benchmarks.click_fit import __main__ as program
from benchmarks.click_fit.contender import OURS, all_contenders, installed_version
from benchmarks.click_fit.data import Rows, load
from benchmarks.click_fit.process import Rules, measured
from benchmarks.click_fit.race import Race
from benchmarks.click_fit.table import HEAD, notes, rows

from mbauc import MBAClassifier
from mbauc.metrics import roc_auc
from mbauc.paper.ledger import Ledger

pytestmark = pytest.mark.slow

DATA = Rows(rows=3000, columns=60)
BY_PENALTY = {1.0: 0.80, 0.3: 0.85, 0.1: 0.84, 0.03: 0.70}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return DATA.folder(tmp_path_factory.mktemp("rows"))


def test_rows_come_back_from_their_files(folder):
    X, y = DATA.made()
    (X_train, y_train), (X_test, y_test) = load(folder / "train.npz"), load(folder / "test.npz")
    assert X_train.shape == (3000, 60)
    assert X_test.shape == (600, 60)
    np.testing.assert_array_equal(np.vstack([X_train.toarray(), X_test.toarray()]), X.toarray())
    np.testing.assert_array_equal(np.concatenate([y_train, y_test]), y)


@pytest.mark.parametrize("name", all_contenders())
def test_contenders_take_their_settings_and_rank_positives_higher(name, folder, tmp_path):
    contender = all_contenders()[name]
    if not installed_version(contender):
        pytest.skip(f"{contender.distribution} is not installed")
    (X, y), (X_test, y_test) = load(folder / "train.npz"), load(folder / "test.npz")
    settings = [{}, *({**each, **contender.compared_at} for each in contender.searched(len(y))[:1])]
    data = contender.convert(X, y, tmp_path)
    for setting in settings:
        assert roc_auc(y_test, contender.scores(contender.fit(data, 1, **setting), X_test)) > 0.6


def test_all_linear_contenders_search_equally_many_penalties():
    found = {name: len(each.searched(1000)) for name, each in all_contenders().items() if each.linear}
    assert set(found.values()) == {4}, found


def test_tiny_run_from_rows_to_table_and_what_is_measured_stays_so(tmp_path, folder, monkeypatch, capsys):
    arguments = ["--rows=3000", "--columns=60", f"--only={OURS},sklearn_sgd", "--repeats=1", "--threads=1"]
    arguments += [f"--folder={folder.parent}", f"--results={tmp_path}"]
    (race,) = program.main(arguments).values()
    X, y = load(folder / "train.npz")
    X_test, y_test = load(folder / "test.npz")
    expected = roc_auc(y_test, MBAClassifier().fit(X, y).decision_function(X_test))
    assert race.auc(OURS, {}) == pytest.approx(expected, abs=1e-9)
    assert race.curve("sklearn_sgd")
    assert all(each["seconds"] > 0 and each["megabytes"] >= 0 for each in race.fits("sklearn_sgd"))
    table = rows(race, 60)
    assert [what for what, _, _ in table[:2]] == ["contender", "mbauc MBAClassifier"]
    assert len(table) == 1 + len(all_contenders())
    assert {cells.count(" | ") for _, cells, _ in table} == {len(HEAD) - 2}
    assert (tmp_path / "click_fit.png").stat().st_size > 10_000
    lines = (tmp_path / "click_fit.csv").read_text().splitlines()
    assert len(lines) == 1 + len(race.fits(OURS)) + len(race.fits("sklearn_sgd"))

    def refuse(*_, **__):
        raise AssertionError("measured again")

    monkeypatch.setattr(program, "measured", refuse)
    capsys.readouterr()
    program.main(arguments)
    assert "sklearn_sgd " not in capsys.readouterr().out
    with pytest.raises(AssertionError, match="measured again"):
        program.main([*arguments, "--again=sklearn_sgd"])


def test_a_bad_setting_and_a_slow_one_do_not_take_the_others_with_them(folder):
    settings = [{"no_such_setting": 1}, {"max_iter": 2, "tol": None}]
    first, second = measured("sklearn_sgd", settings, folder, Rules(threads=1))
    assert first["status"] == "failed"
    assert "no_such_setting" in first["why"]
    assert second["status"] == "done"
    (slow,) = measured("sklearn_sgd", settings, folder, Rules(threads=1, limit=0.0))
    assert (slow["status"], slow["limit"]) == ("limit", 0.0)


def _pretended(fits):
    """A ``measure`` that looks up (seconds, AUC) by contender and setting, and notes who was asked."""
    asked = []

    def measure(name, settings, stop_at=math.inf, remarks=False):
        for setting in settings:
            asked.append((name, setting))
            seconds, auc = fits(name, setting)
            common = {
                "contender": name,
                "version": installed_version(all_contenders()[name]),
                "setting": setting,
            }
            if seconds > 120:
                yield {**common, "status": "limit", "limit": 120.0}
                return
            yield {
                **common,
                "status": "done",
                "seconds": seconds,
                "auc": auc,
                "megabytes": 30.0,
                "csr_megabytes": 20.0,
                "converted": 0.0,
            }
            if auc >= stop_at:
                return

    return measure, asked


def _run(tmp_path, fits, only, **options):
    measure, asked = _pretended(fits)
    race = Race(Ledger(tmp_path / "race.ledger", {}), 1000, measure, only, **options)
    race.run()
    return race, asked


def _lbfgs(_, setting):
    """Ten iterations a second; the AUC of the penalty is nearly there after 20."""
    if not setting:
        return 90.0, 0.82
    count = setting["max_iter"]
    return count / 10, BY_PENALTY[setting["C"]] - (0.001 if count < 20 else 0.0)


def test_ladder_is_climbed_with_the_best_penalty_until_the_common_auc(tmp_path):
    race, asked = _run(tmp_path, _lbfgs, ["sklearn_lbfgs"])
    assert race.common_auc() == pytest.approx(0.8495)
    climbed = [setting["max_iter"] for _, setting in asked if setting.get("C") == 0.3]
    # the search is at 50, the last two are repeats
    assert climbed == [50, 1, 2, 3, 5, 8, 12, 20, 20, 20]
    assert race.cheapest("sklearn_lbfgs") == {"C": 0.3, "max_iter": 20}
    assert len(race.records("sklearn_lbfgs", {})) == 1, "a long fit is not repeated"


def test_a_better_ranker_found_on_a_ladder_sends_the_others_up_again(tmp_path):
    def fits(name, setting):
        count = setting.get("max_iter", 5)
        if name == "sklearn_lbfgs":
            return count, 0.8503 if count >= 20 else 0.8499 if count == 12 else 0.84
        # at its eighth pass, which the search does not see, this one overtakes the other
        return count, 0.8506 if count >= 8 else 0.8497

    race, asked = _run(tmp_path, fits, ["sklearn_lbfgs", "sklearn_sgd"], repeats=1)
    assert race.best_linear() == (0.8506, "sklearn_sgd")
    assert [setting["max_iter"] for name, setting in asked if name == "sklearn_lbfgs" and setting][4:] == [
        *(1, 2, 3, 5, 8, 12),
        20,
    ]
    assert race.cheapest("sklearn_lbfgs")["max_iter"] == 20
    assert race.cheapest("sklearn_sgd")["max_iter"] == 8


def test_a_ladder_that_meets_the_limit_ends_there_and_the_table_says_so(tmp_path):
    def fits(name, setting):
        if name == OURS:
            return (1.0, 0.86) if setting else (2.0, 0.86)
        if not setting:
            return 200.0, 0.0
        return (10.0, 0.80) if setting["max_iter"] in (1, 8) else (300.0, 0.0)

    names = [OURS, "sklearn_liblinear"]
    race, asked = _run(tmp_path, fits, names)
    assert [setting["max_iter"] for name, setting in asked if name == names[1] and setting][4:] == [1, 2]
    assert race.cheapest("sklearn_liblinear") is None
    by_title = {what: cells.split(" | ") for what, cells, _ in rows(race, 2**20)}
    ours = by_title["mbauc MBAClassifier"]
    assert ours[1:6] == ["2.00 s", "1", "0.8600", "1.00 s", "1"]
    assert ours[7] == "30 MB, 1.50 × CSR (below 1.5: missed)"
    slow = by_title["scikit-learn LogisticRegression, liblinear"]
    assert slow[1:3] == ["more than 120 s", "more than 60.0 (at least 80: missed)"]
    assert slow[4] == "not reached (best 0.8000)"
    assert by_title["scikit-learn RidgeClassifier, balanced"][1] == "not measured"
    assert "common AUC 0.85950" in notes(race, Rows(), 0.0)[0]


def test_what_is_not_linear_does_not_set_the_common_auc(tmp_path, monkeypatch):
    contender = all_contenders()["sklearn_ridge"]
    monkeypatch.setattr(type(contender), "linear", False)
    race, _ = _run(
        tmp_path,
        lambda name, setting: (1.0, 0.9 if name == "sklearn_ridge" else 0.86),
        [OURS, "sklearn_ridge"],
    )
    assert race.best_linear() == (0.86, OURS)
    titles = [what for what, _, _ in rows(race, 10_000)]
    assert sorted(titles[-2:]) == ["LightGBM (not linear)", contender.title]
    cells = {what: cells for what, cells, _ in rows(race, 10_000)}[contender.title]
    assert "0.9000, 0.0400 above the best linear one" in cells
