import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier, PairMoments
from mbauc.cli.main import main
from mbauc.errors import CheckpointError
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.paper.studies.clicks import figure4, figure4_page, formed, runs, sets, times
from mbauc.paper.studies.clicks.held import HeldRows
from mbauc.paper.studies.clicks.methods import (
    ELASTIC_NET_TOL,
    EXACT,
    FIXED,
    NAMES,
    RIVALS,
    SAMPLED,
    TUNED,
    WIDE,
    RivalModels,
    list_places,
    mba_paths,
    ridge_weights,
)
from mbauc.paper.studies.clicks.pairs import AllPairs, SampledPairs
from mbauc.paper.studies.clicks.results import QUICK, ClickResults, FullSettings, Point, Settings, choose
from mbauc.paper.studies.clicks.runs import one_set, run, run_full
from mbauc.paper.studies.clicks.sets import (
    FULL_SETS,
    SETS,
    ClickSet,
    criteo_sample,
    of_paper_size,
    select_sets,
    synthetic,
)
from mbauc.paper.studies.printed import CLICK_ROWS, CLICK_TEST_ROWS
from mbauc.rows.source import RawBlock
from mbauc.solvers import Penalty, solve_elastic_net

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.slow

TINY = Settings(rows=2000, grid=(1e-3, 1e-2, 1e-1), n_steps=2)
#: λ that FullSettings has for rivals, all of them small, is cut down too.
TINY_FULL = FullSettings(share=2e-4, grid=(1e-3, 1e-2, 1e-1), rival_grid=(1e-3, 1e-1), n_steps=1)
MADE_UP = ("avazu-app", "avazu-site", "criteo")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("clicks")


@pytest.fixture(scope="module")
def study(folder):
    return run(TINY, folder, datasets=MADE_UP, n_jobs=1)


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("MBAUC_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def small():
    """A set of 15 columns in memory, whose entries are not all one."""
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 15), density=0.3, rng=rng, format="csr")
    y = (X @ rng.standard_normal(15) + 0.5 * rng.standard_normal(3000) > 0.8).astype(np.int8)
    return ClickSet(
        "criteo", "made up", "criteo", 15, 1500, 500, 1000, 7, lambda a, b: RawBlock(X[a:b], y[a:b]), "a"
    )


def _results(record):
    return ClickResults(TINY, {("criteo",): {**record, "seconds": 60.0}})


# -- pairs ----------------------------------------------------------------------------------------------------


def _all(clicks):
    chunks = list(clicks.chunks())
    return sp.vstack([chunk.X for chunk in chunks], "csr"), np.concatenate([chunk.y for chunk in chunks])


def test_chunks_are_the_rows_to_learn_from_and_no_others(small):
    X, y = _all(small)
    assert len(list(small.chunks())) == 7
    assert X.shape[0] == 1500
    assert abs(X - small.rows(0, 1500).X).max() == 0
    assert np.array_equal(y, small.rows(0, 1500).y)
    assert sum(block.y.size for block in small.validation()) == 500
    assert sum(block.y.size for block in small.test()) == 1000


STORES = [{"room": 0}, {"room": 10**9}, {"form": True}]


@pytest.fixture
def small_pieces(monkeypatch):
    """Σ is formed from a chunk or two at a time."""
    monkeypatch.setattr(formed, "_PIECE", 1500)


@pytest.mark.parametrize("store", STORES)
def test_all_pairs_are_those_of_the_moments_in_memory_on_disk_and_formed(small, store, small_pieces):
    pairs = AllPairs(15, 1, **store)
    for chunk in small.chunks():
        pairs.add(chunk)
    rows = pairs.rows()
    moments = PairMoments.from_arrays(*_all(small))
    v = np.random.default_rng(1).standard_normal(15)
    order = rows.order.columns
    np.testing.assert_allclose(rows.mu, moments.mean_difference[order], atol=1e-12)
    np.testing.assert_allclose(rows.product(v[order]), (moments.second_moment @ v)[order], atol=1e-12)


@pytest.mark.parametrize("store", STORES)
def test_sampled_pairs_are_drawn_within_chunks_and_half_as_many_as_rows(small, store, small_pieces):
    pairs = SampledPairs(15, 1, np.random.default_rng(3), **store)
    differences = []
    rng = np.random.default_rng(3)
    for chunk in small.chunks():
        pairs.add(chunk)
        plus, minus = np.flatnonzero(chunk.y == 1), np.flatnonzero(chunk.y == 0)
        size = (chunk.y.size + 1) // 2
        i, j = rng.integers(plus.size, size=size), rng.integers(minus.size, size=size)
        differences.append((chunk.X[plus[i]] - chunk.X[minus[j]]).toarray())
    D = np.concatenate(differences)
    rows = pairs.rows()
    order = rows.order.columns
    assert pairs.n_pairs == len(D) == sum((chunk.y.size + 1) // 2 for chunk in small.chunks())
    v = np.random.default_rng(1).standard_normal(15)
    # values are kept with 24 bits where that loses nothing; these need all 53
    np.testing.assert_allclose(rows.product(v[order]), (D.T @ (D @ v) / len(D))[order], atol=1e-12)
    np.testing.assert_allclose(rows.mu, D.mean(axis=0)[order], atol=1e-12)


def test_a_chunk_of_one_class_has_no_pairs(small):
    pairs = SampledPairs(15, 1, np.random.default_rng(3))
    X = small.rows(0, 10).X
    pairs.add(RawBlock(X, np.ones(10, dtype=np.int8)))
    assert pairs.n_pairs == 0


def test_ones_are_formed_to_the_bit_of_their_counts(small, small_pieces):
    pairs = AllPairs(15, 2, form=True)
    X, y = _all(small)
    X.data[:] = 1.0
    for start in range(0, 1500, 400):
        pairs.add(RawBlock(X[start : start + 400], y[start : start + 400]))
    rows, moments = pairs.rows(), PairMoments.from_arrays(X, y)
    order = rows.order.columns
    np.testing.assert_allclose(rows.diagonal, np.diagonal(moments.second_moment)[order], rtol=1e-13)
    assert (np.diff(rows.diagonal) <= 0).all()
    np.testing.assert_allclose(rows.leading_block(), moments.second_moment[np.ix_(order, order)], atol=1e-14)


def test_held_rows_have_the_auc_of_their_scores(small):
    held = HeldRows(small.test(), 15)
    X, y, _ = small.rows(small.n_train, small.n_train + small.n_test)
    w = np.random.default_rng(1).standard_normal(15)
    assert held.auc(w) == pytest.approx(roc_auc(y, X @ w), abs=1e-12)
    assert np.isnan(held.auc(None))
    assert np.isnan(held.auc(np.full(15, np.inf)))
    assert held.y.sum() == y.sum()
    np.testing.assert_allclose(np.sort(held.scores(w)), np.sort(X @ w), atol=1e-12)


def test_rows_that_share_all_columns_of_weight_are_tied():
    rng = np.random.default_rng(2)
    X = sp.csr_array((rng.random((4000, 30)) < 0.4).astype(np.float64))
    y = rng.integers(0, 2, 4000).astype(np.int8)
    w = np.zeros(30)
    w[[3, 17, 28]] = 0.1, 0.2, 0.7
    held = HeldRows([RawBlock(X, y)], 30)
    assert np.unique(held.scores(w)).size == np.unique(np.round(X @ w, 9)).size
    assert held.auc(w) == roc_auc(y, np.round(X @ w, 9))
    assert np.isnan(held.auc(np.full(30, np.nan)))
    assert held.auc(np.zeros(30)) == 0.5


@pytest.mark.parametrize("form", [False, True])
def test_lambda_is_what_the_page_says(small, form):
    pairs = AllPairs(15, 1, form=form)
    for chunk in small.chunks():
        pairs.add(chunk)
    X, y = _all(small)
    moments = PairMoments.from_arrays(X, y)
    rows = pairs.rows()
    paths, late = mba_paths(rows, "exact", (1e-3, 1e-1), n_threads=2)
    assert late == 0
    assert list(paths) == list(EXACT)
    penalties = {"exact-l2": (0, 1), "exact-l1": (1, 0), "exact-el": (0.5, 0.5)}
    for key, (l1, l2) in penalties.items():
        for value, w in zip((1e-3, 1e-1), paths[key], strict=True):
            sigma, mu = moments.second_moment, moments.mean_difference
            penalty = Penalty(l1 * value, l2 * value, np.ones(15))
            best = solve_elastic_net(sigma, mu, penalty).objective
            objective = 0.5 * w @ sigma @ w - w @ mu + penalty.value(w)
            # the risk is twice the objective
            assert best - 1e-9 <= objective <= best + ELASTIC_NET_TOL / 2, (key, value)
    ranker = MBAClassifier(l2=0.1).fit(X, y)
    np.testing.assert_allclose(ridge_weights(rows, 0.1), ranker.coef_.ravel(), atol=1e-3)


# -- rivals ---------------------------------------------------------------------------------------------------


def test_rivals_see_the_chunks_once_with_every_setting(small):
    steps = {rival.key: rival.steps[:2] for rival in RIVALS}
    models = RivalModels(list_places((1e-3, 1e-1), steps), small.n_fit, seed=5)
    for chunk in small.chunks():
        models.learn(chunk, 2)
    found = dict(models.weights())
    assert len(found) == len(RIVALS) * 2 * 2
    for rival in RIVALS:
        one = rival.make(1e-3, rival.steps[1], small.n_fit, 5)
        for chunk in small.chunks():
            one.partial_fit(chunk.X, chunk.y, classes=[0, 1])
        np.testing.assert_array_equal(found[rival.key, 1e-3, rival.steps[1]], one.coef_.ravel())
    makers = {rival.key: rival.make for rival in RIVALS}
    assert makers["solr"](1e-3, 0.1, 5000, 0).lambda_1 == pytest.approx(5.0)
    assert all(rival.fixed in rival.steps[: QUICK.n_steps] for rival in RIVALS)


def test_a_rival_that_diverges_is_out_and_said(small, tmp_path):
    far = dataclasses.replace(small, rows=lambda a, b: RawBlock(small.rows(a, b).X * 1e9, small.rows(a, b).y))
    study = _results(one_set(far, TINY, 1))
    lost = [point.step for point in study.curve("criteo", "mb-psl") if np.isnan(point.validation)]
    assert lost == [1.0] * 3
    assert study.choice("criteo", "mb-psl").step == "auto"
    assert "mb-psl-fixed" not in study.methods("criteo")
    page = figure4_page.page(study)
    assert "MB-PSL diverged with 3 of 6 settings" in page
    assert "MB-PSL, step fixed diverged with all settings" in page
    assert all(path.stat().st_size for path in figure4.render(study, tmp_path))


# -- choices and tests ----------------------------------------------------------------------------------------


def test_validation_rows_choose_and_lost_points_do_not():
    curve = [Point(1.0, None, 0.7, 0.9), Point(2.0, None, 0.8, 0.6), Point(3.0, None, float("nan"), 0.99)]
    assert choose(curve).penalty == 2.0


def test_test_rows_have_no_say(small):
    def other(a, b):
        X, y, _ = small.rows(a, b)
        return RawBlock(X, y[::-1].copy() if a >= small.n_train else y)

    first = _results(one_set(small, TINY, 1))
    again = _results(one_set(dataclasses.replace(small, rows=other), TINY, 1))
    for key in (*SAMPLED, *EXACT, *TUNED, *FIXED):
        one, two = first.choice("criteo", key), again.choice("criteo", key)
        assert (one.penalty, one.step, one.validation) == (two.penalty, two.step, two.validation)
        assert one.test != two.test
    assert first.best("criteo", SAMPLED) == again.best("criteo", SAMPLED)


def test_points_are_aucs_and_differences_are_delongs(small):
    study = _results(one_set(small, TINY, 1))
    pairs = AllPairs(15, 1)
    for chunk in small.chunks():
        pairs.add(chunk)
    paths, _ = mba_paths(pairs.rows(), "exact", TINY.grid)
    test = small.rows(small.n_train, small.n_train + small.n_test)
    scores = {}
    for key in ("exact-l2", "exact-l1"):
        for point, w in zip(study.curve("criteo", key), paths[key], strict=True):
            assert point.test == pytest.approx(100 * roc_auc(test.y, test.X @ w))
        scores[key] = test.X @ paths[key][TINY.grid.index(study.choice("criteo", key).penalty)]
    wanted_test = compare_roc_auc(test.y, scores)
    found = study.difference("criteo", "exact-l2", "exact-l1")
    assert found.points == pytest.approx(100 * wanted_test.difference[0, 1])
    assert found.p_value == pytest.approx(wanted_test.p_value[0, 1])
    assert found.low == pytest.approx(100 * wanted_test.low[0, 1])
    assert study.difference("criteo", "exact-l2", "exact-l2").p_value == 1.0


# -- the page -------------------------------------------------------------------------------------------------


def test_figure4_writes_its_files_and_gains_follow_from_the_table(study, tmp_path):
    paths = figure4.render(study, tmp_path)
    assert [path.name for path in paths] == [f"figure4.{kind}" for kind in ("csv", "md", "png", "svg")]
    assert paths[2].read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(paths[0].read_text().splitlines()))
    per_set = 3 * (len(SAMPLED) + len(EXACT) + 2 * len(TUNED) + len(FIXED))
    assert len(rows) == 3 * per_set
    page = paths[1].read_text()
    for printed in ("+1.20", "+0.43", "+0.54", "A quick run", "minutes by the clock", "1,800"):
        assert printed in page
    for dataset in MADE_UP:
        picked = {row["method"]: row for row in rows if row["dataset"] == dataset and row["chosen"] == "1"}
        assert set(picked) == {*SAMPLED, *EXACT, *TUNED, *FIXED}
        ours, rival = (
            max((picked[key] for key in keys), key=lambda row: float(row["validation_auc"]))
            for keys in (SAMPLED, TUNED)
        )
        gain = float(ours["test_auc"]) - float(rival["test_auc"])
        found = study.gain(dataset, SAMPLED, TUNED)
        assert found.points == pytest.approx(gain, abs=2e-4)
        assert f"{found.points:+.2f}" in page
        assert f"{NAMES[found.ours]} – {NAMES[found.rival]}" in page


def test_losses_are_counted_like_wins(study):
    lines = figure4_page._summary(study).splitlines()
    assert len(lines) == 4
    for line in lines[:3]:
        numbers = [int(word) for word in line.replace(",", "").split() if word.isdigit()]
        assert sum(numbers) == 3
    worse = ClickResults(TINY, study.records)
    worse.gain = lambda dataset, ours, rivals: figure4_page.Difference("mba-l2", "olr", -2.0, -3.0, -1.0, 0.001)
    assert (
        "0 significantly better, 0 without significant difference, 3 significantly worse"
        in figure4_page._summary(worse)
    )
    assert "reached on 0 of 3" in figure4_page._summary(worse)
    assert "**-2.00**" in figure4_page._difference(worse.gain("criteo", SAMPLED, TUNED))


def test_the_best_possible_auc_is_above_all(study):
    for dataset in MADE_UP:
        best = 100 * study.about(dataset)["best_auc"]
        assert all(study.choice(dataset, key).test < best for key in study.methods(dataset))


# -- the paper's sizes ----------------------------------------------------------------------------------------


def test_at_the_papers_sizes_all_its_rows_are_learned_from():
    for key, make in FULL_SETS.items():
        whole = make(1.0, 0, 1)
        assert whole.key == key
        assert whole.n_fit == CLICK_ROWS[whole.paper]
        assert whole.n_validation == 1_000_000
        assert whole.n_test == CLICK_TEST_ROWS[whole.paper]
    assert [make(1.0, 0, 1).n_chunks for make in FULL_SETS.values()] == [100, 200, 200]
    few = of_paper_size("criteo", 1e-4, 0)
    assert (few.n_fit, few.n_validation, few.n_test, few.n_chunks) == (4580, 458, 1000, 9)
    assert few.title == "Criteo, 0.00458 million rows"


def test_the_full_run_has_the_steps_that_fewer_rows_favour(study, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "_FORM_FROM", 0)
    # Σ is formed, and solving with the paper's columns would take most of a minute
    monkeypatch.setattr(sets, "COLUMNS", 500)
    keys = ("avazu-app-full",)
    full = run_full(TINY_FULL, study, tmp_path, datasets=keys, n_jobs=1)
    assert full.datasets == list(keys)
    for rival in RIVALS:
        curve = study.curve("avazu-app", rival.key)
        best = max(curve, key=lambda point: point.validation).step
        assert study.best_steps("avazu-app", rival.key, 1) == [best]
        found = full.curve("avazu-app-full", rival.key)
        assert [(point.penalty, point.step) for point in found] == [(1e-3, best), (1e-1, best)]
    assert not set(FIXED) & set(full.methods("avazu-app-full"))
    assert len(full.curve("avazu-app-full", "exact-l2")) == 3
    about = full.about("avazu-app-full")
    assert about["fit"] == 2520
    assert about["pairs"] == 1260
    assert "cores" in about["machine"]

    # nothing is run again, and the page has both
    monkeypatch.setattr(runs, "one_set", lambda *_: pytest.fail("it was in the ledger"))
    again = run_full(TINY_FULL, study, tmp_path, datasets=keys, n_jobs=1)
    paths = figure4.render(study, tmp_path, again)
    rows = list(csv.DictReader(paths[0].read_text().splitlines()))
    assert {row["dataset"] for row in rows} == {*MADE_UP, *keys}
    page = paths[1].read_text()
    for text in (
        "reproduce figure4 --full",
        "## As many rows as the paper has",
        "| Avazu App, 0.00252 million rows | 2,520 | 5 | 1,260 | 252 | 1,000 |",
        "minutes of wall time for the sets in turn",
        about["machine"],
        "## At most 2,000 rows, and real samples",
        "| Avazu App | 1,800 |",
        "| Avazu App | 2,520 |",
        "2 values of λ from 0.001 to 0.1",
    ):
        assert text in page, text
    gains = page.split("## As many rows")[1].split("### Gains")[1]
    assert gains.splitlines()[2] == "| data | paper | MBA – others, best step | exact – others, best step |"
    plain = figure4_page.page(study)
    assert "--full" not in plain
    assert "As many rows as the paper has" not in plain


def test_a_formed_sigma_leads_to_the_same_curves(small, monkeypatch):
    one = _results(one_set(small, TINY, 1))
    monkeypatch.setattr(runs, "_FORM_FROM", 0)
    two = _results(one_set(small, TINY, 2))
    for key in (*SAMPLED, *EXACT, *TUNED):
        for first, second in zip(one.curve("criteo", key), two.curve("criteo", key), strict=True):
            assert first.penalty == second.penalty
            assert first.test == pytest.approx(second.test, abs=0.1)


def test_full_is_for_click_logs_and_not_quick(tmp_path, capsys):
    assert main(["reproduce", "table2", "--full", "--out", str(tmp_path / "x")]) == 1
    assert "--full is for figure4 and figure5" in capsys.readouterr().err
    assert main(["reproduce", "figure4", "--full", "--quick", "--out", str(tmp_path / "x")]) == 1
    assert "exclude each other" in capsys.readouterr().err


# -- runs -----------------------------------------------------------------------------------------------------


def test_real_samples_that_are_not_there_are_left_out_and_named(study, folder, no_data, tmp_path):
    found = run(TINY, folder, n_jobs=1)
    assert found.datasets == list(MADE_UP)
    assert set(found.missing) == {"avazu-sample", "criteo-sample"}
    page = figure4_page.page(found)
    assert "| criteo-sample | left out: criteo60k.part1 (plain, .bz2, .gz or .xz) is not in" in page
    assert "MBAUC_DATA" in page


def test_a_run_goes_on_where_its_ledger_was_cut(study, tmp_path, folder, monkeypatch):
    whole = (folder / "clicks.ledger").read_bytes()
    (tmp_path / "clicks.ledger").write_bytes(whole[:-100])
    ran = []

    def watched(clicks_set, *more):
        ran.append(clicks_set.key)
        return one_set(clicks_set, *more)

    monkeypatch.setattr(runs, "one_set", watched)
    again = run(TINY, tmp_path, datasets=MADE_UP, n_jobs=1)
    assert ran == ["criteo"]
    for key in study.methods("criteo"):
        assert again.curve("criteo", key) == study.curve("criteo", key)
    assert again.gain("criteo", EXACT, TUNED) == study.gain("criteo", EXACT, TUNED)
    with pytest.raises(CheckpointError, match=r"other settings \(seed was 0, now 1"):
        run(dataclasses.replace(TINY, seed=1), tmp_path, datasets=MADE_UP)


def test_results_of_other_files_are_refused(small, tmp_path, monkeypatch):
    monkeypatch.setitem(SETS, "criteo", lambda *_: small)
    run(TINY, tmp_path, datasets=("criteo",), n_jobs=1)
    monkeypatch.setitem(SETS, "criteo", lambda *_: dataclasses.replace(small, data="b"))
    with pytest.raises(CheckpointError, match="results of other files of made up"):
        run(TINY, tmp_path, datasets=("criteo",), n_jobs=1)


def test_rows_are_never_more_than_the_papers_and_cut_into_its_chunks():
    most = synthetic("avazu-app", 10**9, 0)
    assert (most.n_train, most.n_test, most.n_chunks) == (12_600_000, 1_000_000, 100)
    few = synthetic("criteo", 2000, 0)
    assert (few.n_fit, few.n_validation, few.n_test, few.n_chunks) == (1800, 200, 1000, 3)
    assert synthetic("criteo", 1_000_000, 0).n_chunks == 200
    with pytest.raises(ValueError, match="rows must be a whole number of at least 2000"):
        Settings(rows=1999)


def test_wanted_sets():
    assert select_sets((), tuple(SETS)) == tuple(SETS)
    assert select_sets(("criteo",), tuple(SETS)) == ("criteo", "criteo-sample")
    assert select_sets(("avazu site",), times.SHAPES) == ("avazu-site",)
    with pytest.raises(ValueError, match=r"must hold a click log .* got a9a"):
        select_sets(("a9a",), tuple(SETS))


@pytest.mark.parametrize("text", ["1999", "0", "-5", "many", ""])
def test_bad_rows_are_refused(text, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "figure4", f"--rows={text}"])
    assert stop.value.code == 2
    assert "--rows" in capsys.readouterr().err


def test_rows_are_for_click_logs_alone(tmp_path, capsys):
    assert main(["reproduce", "table2", "--rows", "5000", "--out", str(tmp_path / "x")]) == 1
    assert "--rows is for figure4 and figure5" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_the_command_makes_both_figures(tmp_path, capsys, no_data, monkeypatch):
    monkeypatch.setattr(runs, "QUICK", TINY)
    monkeypatch.setattr(times, "QUICK", times.Settings(repeats=1, parts=(1,)))
    for figure in ("figure4", "figure5"):
        arguments = ["reproduce", figure, "--quick", "--rows", "2,500", "--datasets", "avazu app"]
        assert main([*arguments, "--out", str(tmp_path), "--jobs", "1"]) == 0
    written = [Path(line.removeprefix("wrote ")).name for line in capsys.readouterr().out.splitlines()]
    assert written == [
        f"{figure}.{kind}" for figure in ("figure4", "figure5") for kind in ("csv", "md", "png", "svg")
    ]
    assert "| Avazu App, synthetic | 2,250 |" in (tmp_path / "figure4.md").read_text()
    assert "| Avazu App | 2,500 |" in (tmp_path / "figure5.md").read_text()


# -- real samples ---------------------------------------------------------------------------------------------


@pytest.mark.data
def test_the_criteo_sample_is_tested_on_its_last_part(shared_file):
    sample = criteo_sample(shared_file("criteo60k.part1.bz2").parent, seed=0)
    assert (sample.n_fit, sample.n_validation, sample.n_test) == (36_000, 4_000, 20_000)
    assert sample.n_features == 10_000
    assert sample.wide.n_features == 2**20
    (test,), (wide_test,) = sample.test(), sample.wide.test()
    assert wide_test.X.shape == (20_000, 2**20)
    assert np.array_equal(test.y, wide_test.y)
    (validation,), (wide_validation,) = sample.validation(), sample.wide.validation()
    assert np.array_equal(validation.y, wide_validation.y)
    assert test.X.sum() == wide_test.X.sum()
    assert set(WIDE) & set(NAMES) == set(WIDE)
