import csv
import inspect
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import forged_files as forged
from mbauc import MBAClassifier
from mbauc.paper.studies import contenders
from mbauc.paper.studies.contenders import COMPLETE, MBA, MEANS, SAMPLED, WHOLE, Draw, tune
from mbauc.paper.studies.printed import COMPONENTS, NEYMAN_PEARSON, RATIOS, TABLE2, hypotheses
from mbauc.paper.studies.simulation import runs
from mbauc.paper.studies.simulation.runs import FALSE_ALARMS, Settings, best_possible, run, train_and_test
from mbauc.runtime.threads import single_threaded_blas

pytestmark = pytest.mark.slow

SMALL = Settings(sets=2, train=2000, test=2000)


def _without_clock(study, components):
    records = (record for record in study.records.values() if record["k"] in components)
    return sorted(
        ({key: value for key, value in record.items() if key != "seconds"} for record in records),
        key=lambda record: (record["k"], record["set"]),
    )


def _shorten(module):
    """Two settings of each method to choose from, so that a run is short."""
    for which in ("SAMPLED", "WHOLE"):
        setattr(module, which, tuple(one._replace(grid=one.grid[:2]) for one in getattr(module, which)))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for which in ("SAMPLED", "WHOLE"):
            patch.setattr(runs, which, getattr(runs, which))  # to be put back
        _shorten(runs)
        return run(SMALL, tmp_path_factory.mktemp("whole"), n_jobs=1)


@pytest.fixture
def two_components(monkeypatch):
    """A run that is the beginning of the study."""
    for which in ("SAMPLED", "WHOLE"):
        monkeypatch.setattr(runs, which, getattr(runs, which))
    _shorten(runs)
    monkeypatch.setattr(runs, "COMPONENTS", (1, 2))
    return 1, 2


def test_printed_figures_cover_the_table():
    assert set(TABLE2) == {"MBA-ℓ2", "ONLR", "AdaAUC"}
    sums = {"MBA-ℓ2": (753.36, 2.34), "ONLR": (730.96, 6.84), "AdaAUC": (718.48, 9.53)}
    for name, cells in TABLE2.items():
        assert set(cells) == {(k, ratio) for k in COMPONENTS for ratio in RATIOS}
        # added up by hand from the printed table
        assert tuple(np.sum(list(cells.values()), axis=0)) == pytest.approx(sums[name], abs=1e-6)
    for k in COMPONENTS:
        # printed to two digits, and from a test set
        assert 100 * hypotheses(k).closed_form_auc() == pytest.approx(NEYMAN_PEARSON[k], abs=0.04)


def test_every_method_is_in_the_study_at_every_ratio(study):
    for k in COMPONENTS:
        for ratio in RATIOS:
            for contender in (*SAMPLED, *WHOLE):
                auc = study.auc(contender.name, k, ratio)
                assert auc.shape == (2,)
                assert ((auc > 50) & (auc < 95)).all()
                assert set(study.choices(contender.name, k, ratio)) <= set(contender.grid[:2])
                curve = study.curve(contender.name, k, ratio)
                assert curve.shape == FALSE_ALARMS.shape
                assert curve[0] >= 0
                assert curve[-1] == 1
                assert (np.diff(curve) >= 0).all()


def test_threads_do_not_change_the_results(study, tmp_path, two_components):
    again = run(SMALL, tmp_path, n_jobs=2)
    assert _without_clock(again, two_components) == _without_clock(study, two_components)


def test_a_killed_run_goes_on_to_the_same_results(study, tmp_path, two_components):
    code = (
        f"{inspect.getsource(_shorten)}\nfrom pathlib import Path\n"
        "from mbauc.paper.studies.simulation import runs\n"
        f"_shorten(runs)\nruns.COMPONENTS = {two_components}\n"
        f"runs.run(runs.{SMALL!r}, Path({str(tmp_path)!r}), n_jobs=1)"
    )
    journal = tmp_path / "simulation.ledger"

    def finished():
        """Records in the journal, the last of which may be torn."""
        return len(forged.split_journal(journal.read_bytes())[1]) if journal.exists() else 0

    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while finished() < 3:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert finished() < 2 * 2
    calls = []
    original = runs.train_and_test
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "train_and_test", lambda *args: calls.append(args) or original(*args))
        again = run(SMALL, tmp_path, n_jobs=1)
    assert len(calls) <= 2  # the two sets that were surely finished are not run again
    assert _without_clock(again, two_components) == _without_clock(study, two_components)


def test_a_quick_run_is_the_beginning_of_a_full_one(study, tmp_path, two_components):
    first = run(Settings(sets=1, train=2000, test=2000), tmp_path, n_jobs=1)
    both = run(SMALL, tmp_path, n_jobs=2)
    assert first.auc("MBA-ℓ2", 1, 0.1).shape == (1,)
    assert _without_clock(both, two_components) == _without_clock(study, two_components)
    shorter = run(Settings(sets=1, train=2000, test=2000), tmp_path, n_jobs=1)
    assert np.array_equal(shorter.auc("exact", 2, 1.0), first.auc("exact", 2, 1.0))


def test_other_grids_are_not_mixed(tmp_path, monkeypatch):
    tiny = Settings(sets=1, train=2000, test=2000)
    monkeypatch.setattr(runs, "COMPONENTS", (1,))
    run(tiny, tmp_path, n_jobs=1)
    monkeypatch.setattr(runs, "SAMPLED", (MBA._replace(grid=(1.0,)), *SAMPLED[1:]))
    with pytest.raises(ValueError, match=r"other settings \(grids\.MBA-ℓ2\.0 was 10000\.0, now 1\.0;"):
        run(tiny, tmp_path, n_jobs=1)


# -- contenders -----------------------------------------------------------------------------------------------


def _draw(pairs, seed=0):
    rng = np.random.default_rng(seed)
    X, y = hypotheses(1).sample(2000, 0.2, rng)
    return runs.draw_rows(X, y, contenders.draw_folds(y, rng), pairs, rng)


def test_each_pair_has_one_row_of_each_class():
    draw = _draw(300)
    assert draw.y[draw.plus].all()
    assert not draw.y[draw.minus].any()
    assert np.array_equal(np.sort(draw.order), np.sort(np.concatenate([draw.plus, draw.minus])))
    assert not np.array_equal(draw.order[:300], draw.plus)


def test_a_row_of_a_held_out_fold_is_nowhere_in_training():
    draw = _draw(100)
    seen = []

    def spy(draw, usable, grid):
        seen.append(usable)
        return np.zeros((len(grid), 100))

    tune(MBA._replace(weights=spy), draw)
    assert len(seen) == contenders.FOLDS + 1
    assert seen[-1].all()
    for fold, usable in enumerate(seen[:-1]):
        assert not usable[draw.fold == fold].any()
        assert usable[draw.fold != fold].all()


@pytest.mark.parametrize(("contender", "pairing"), [(MBA, "matched"), (COMPLETE, "complete")])
def test_mba_solves_its_own_problem(contender, pairing):
    draw = _draw(200)
    found = contender.weights(draw, np.ones(2000, dtype=bool), (3.0, 0.5))
    plus, minus = draw.X[draw.plus], draw.X[draw.minus]
    apart = plus - minus if pairing == "matched" else (plus[:, None] - minus).reshape(-1, 100)
    for l2, w in zip((3.0, 0.5), found, strict=True):
        expected = np.linalg.solve(apart.T @ apart / len(apart) + l2 * np.eye(100), apart.mean(axis=0))
        np.testing.assert_allclose(w, expected, rtol=1e-8, atol=1e-12)


def test_the_exact_column_is_the_exact_fit():
    draw = _draw(10)
    rows = np.arange(2000)
    whole = Draw(draw.X, draw.y, rows[:0], rows[:0], rows, draw.fold)
    found = WHOLE[0].weights(whole, np.ones(2000, dtype=bool), (2.0,))[0]
    np.testing.assert_allclose(found, MBAClassifier(l2=2.0).fit(draw.X, draw.y).coef_[0], rtol=1e-9)


@pytest.mark.parametrize("contender", SAMPLED, ids=lambda c: c.name)
def test_every_contender_learns(contender):
    draw = _draw(1000)
    w, setting = tune(contender, draw)
    assert setting in contender.grid
    assert hypotheses(1).linear_curve(w).auc > 0.85


def test_the_trivial_baseline_is_where_a_large_penalty_leads():
    draw = _draw(300)
    everything = np.ones(2000, dtype=bool)
    means = MEANS.weights(draw, everything, (0.0,))[0]
    ridge = COMPLETE.weights(draw, everything, (1e9,))[0]
    np.testing.assert_allclose(1e9 * ridge, means, rtol=1e-6)


# -- the committed results ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committed(request):
    path = request.config.rootpath / "docs" / "results" / "table2.csv"
    table = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        if row["sample_ratio"] == "all rows":
            continue
        key = row["method"], int(row["components"]), float(row["sample_ratio"])
        table.setdefault(key, []).append(float(row["auc"]))
    return table


def test_the_committed_table_holds_what_it_should(committed):
    settings = Settings()
    assert all(len(aucs) == settings.sets == 50 for aucs in committed.values())
    for k, best in best_possible(settings):
        assert abs(best.luck) <= 3 * best.stderr
        for ratio in RATIOS:
            ours = np.mean(committed["MBA-ℓ2", k, ratio]) - best.luck
            assert ours >= TABLE2["MBA-ℓ2"][k, ratio][0] - 0.5


def test_the_committed_table_can_be_made_again(committed):
    with single_threaded_blas():  # as a run has it
        record = train_and_test(Settings(), 2, 7)
    for contender in SAMPLED:
        found = 100 * record["methods"][f"{contender.name} 0.1"]["auc"]
        assert found == pytest.approx(committed[contender.name, 2, 0.1][7], abs=0.05)
