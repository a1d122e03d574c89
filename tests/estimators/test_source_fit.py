"""Fits to sources of blocks: the same as in memory, in bounded memory, and after a kill."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse as sp
from threadpoolctl import threadpool_limits

from mbauc import MBAClassifier, PairMoments, PairwiseAUCClassifier
from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.estimators import classifier as classifier_module
from mbauc.estimators import source_fit
from mbauc.paper.clicks import ClickLog
from mbauc.readers import LibsvmSource, RawBlock
from mbauc.runtime.progress import Progress
from mbauc.runtime.threads import thread_count
from mbauc.solvers.matrix_free import face_descent
from mbauc.store.checkpoint import Checkpoint


class Blocks:
    """Rows in memory as a source."""

    def __init__(self, X, y, weight=None, step=500, classes=(0, 1)):
        self.X, self.y, self.weight, self.step = X, y, weight, step
        self.n_features, self.classes = X.shape[1], classes
        self.reads = 0

    def __iter__(self):
        self.reads += 1
        for start in range(0, self.y.size, self.step):
            part = slice(start, start + self.step)
            yield RawBlock(self.X[part], self.y[part], None if self.weight is None else self.weight[part])


@pytest.fixture(scope="module")
def rows():
    return ClickLog(4000, hash_dim=600, seed=3).rows()


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_a_source_is_fitted_like_its_rows(rows, solver, weighted, form):
    X, y, _ = rows
    X = X.toarray()[:, :80] if form == "dense" else X
    weight = np.random.default_rng(0).uniform(0.5, 2.0, y.size) if weighted else None
    settings = {"l2": 0.01, "solver": solver, "tol": 1e-12, "scale": True}
    blocks = MBAClassifier(**settings).fit(Blocks(X, y, weight))
    whole = MBAClassifier(**settings).fit(X, y, weight)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-4 * np.abs(whole.coef_).max())
    np.testing.assert_allclose(blocks.intercept_, whole.intercept_, atol=1e-5)
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-4)
    assert blocks.n_features_in_ == X.shape[1]
    assert blocks.solver_.name == solver


@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_pairs_are_the_same_rows_as_from_memory(rows, pairing, weighted):
    X, y, _ = rows
    weight = np.random.default_rng(0).uniform(0.0, 2.0, y.size) if weighted else None
    settings = {"pairs": 2000, "pairing": pairing, "random_state": 5, "l2": 0.01, "tol": 1e-13}
    source = MBAClassifier(**settings).fit(Blocks(X, y, weight))
    memory = MBAClassifier(solver="matrix-free", **settings).fit(X, y, weight)
    np.testing.assert_allclose(source.coef_, memory.coef_, atol=1e-6 * np.abs(memory.coef_).max())
    np.testing.assert_allclose(source.effective_sample_size_, memory.effective_sample_size_)
    assert source.intercept_[0] == pytest.approx(memory.intercept_[0], abs=1e-5)


@pytest.mark.slow
def test_rows_on_disk_give_the_same_bits(rows):
    X, y, _ = rows
    X = sp.vstack([X] * 40, format="csr")
    y = np.tile(y, 40)
    settings = {"solver": "matrix-free", "n_jobs": 2}
    memory, disk = (
        MBAClassifier(**settings).fit_source(Blocks(X, y, step=8000), memory=limit) for limit in ("1GB", "2MB")
    )
    np.testing.assert_array_equal(disk.coef_, memory.coef_)


def test_labels_are_those_of_the_source(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("\n".join(f"{(-1) ** k} 1:{k % 7} 2:{(k * k) % 5}" for k in range(1, 200)))
    fitted = MBAClassifier().fit(LibsvmSource(path))
    assert fitted.classes_.tolist() == [-1, 1]
    assert set(fitted.predict([[1.0, 2.0], [6.0, 0.0]])) <= {-1, 1}
    several = LibsvmSource(path, positive=[1])
    assert MBAClassifier().fit(several).classes_.shape == (2,)


def test_errors_name_what_to_do(rows):
    X, y, _ = rows
    source = Blocks(X, y)
    with pytest.raises(ValueError, match="leave out y"):
        MBAClassifier().fit(source, y)
    with pytest.raises(ValueError, match=r"decay=0\.9 is for streams: pass the blocks to partial_fit"):
        MBAClassifier(decay=0.9).fit(source)
    with pytest.raises(ValueError, match="within_block=True is for streams"):
        MBAClassifier(within_block=True).fit(source)
    with pytest.raises(ValueError, match="memory"):
        MBAClassifier().fit_source(source, memory="lots")
    with pytest.raises(ValueError, match="needs rows in memory"):
        MBAClassifier(pairs=10, solver="gram").fit(source)
    with pytest.raises(ValueError, match="no rows"):
        MBAClassifier().fit(Blocks(X[:0], y[:0]))
    with pytest.raises(ValueError, match="both classes"):
        MBAClassifier(solver="matrix-free").fit(Blocks(X, np.zeros_like(y)))
    with pytest.raises(ValueError, match="both classes"):
        MBAClassifier(solver="gram").fit(Blocks(X, np.zeros_like(y)))


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
@pytest.mark.parametrize("settings", [{}, {"l1": 0.002}, {"l2": 0.01}])
def test_a_finished_checkpoint_gives_the_same_again(rows, tmp_path, solver, settings):
    X, y, _ = rows
    source = Blocks(X[:, :300], y)
    fits = [
        MBAClassifier(solver=solver, **settings).fit_source(source, checkpoint=tmp_path / "state")
        for _ in range(2)
    ]
    plain = MBAClassifier(solver=solver, **settings).fit_source(source)
    np.testing.assert_array_equal(fits[0].coef_, plain.coef_)
    np.testing.assert_array_equal(fits[1].coef_, plain.coef_)


def test_other_settings_and_other_rows_are_refused(rows, tmp_path):
    X, y, _ = rows
    MBAClassifier(solver="matrix-free").fit_source(Blocks(X, y), checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=r"l1 was 0.0, now 0.1|settings"):
        MBAClassifier(l1=0.1, solver="matrix-free").fit_source(Blocks(X, y), checkpoint=tmp_path)
    other = y.copy()
    other[1234] = 1 - other[1234]
    with pytest.raises(CheckpointError, match=r"changed|not what"):
        MBAClassifier(solver="matrix-free").fit_source(Blocks(X, other), checkpoint=tmp_path)


def test_a_stream_goes_on_days_later(rows, tmp_path):
    X, y, _ = rows
    X = X[:, :50].toarray()
    blocks = list(Blocks(X, y))
    whole = MBAClassifier(decay=0.9)
    for part, labels, _ in blocks:
        whole.partial_fit(part, labels, classes=[0, 1])
    first = MBAClassifier(decay=0.9)
    for part, labels, _ in blocks[:4]:
        first.partial_fit(part, labels, classes=[0, 1])
    first.moments_.save(tmp_path / "stream.npz")
    later = MBAClassifier(decay=0.9).fit_moments(PairMoments.load(tmp_path / "stream.npz"))
    for part, labels, _ in blocks[4:]:
        later.partial_fit(part, labels)
    np.testing.assert_array_equal(later.coef_, whole.coef_)


# -- what a source must be -----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"solver": "gram"}, {"solver": "matrix-free"}, {"pairs": 100}])
def test_a_source_that_can_be_read_once_only_is_refused(rows, settings):
    class Once(Blocks):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.blocks = super().__iter__()

        def __iter__(self):
            return self.blocks

    with pytest.raises(ValueError, match="a source must start anew each time it is read"):
        MBAClassifier(**settings).fit_source(Once(*rows[:2]))


def test_no_block_is_read_to_choose_a_solver_that_was_asked_for(rows):
    class Counted(Blocks):
        given = 0

        def __iter__(self):
            for block in super().__iter__():
                self.given += 1
                yield block

    for solver in ("gram", "matrix-free"):
        source = Counted(rows[0][:, :60], rows[1])
        MBAClassifier(solver=solver).fit(source)
        assert source.given == 8


class _Seen(Progress):
    """A bar that notes what is done and what is expected."""

    def __init__(self):
        self.swept, self.expected = 0, []

    def __call__(self, done):
        self.swept += done

    @property
    def done(self):
        return self.swept

    def expect(self, total):
        self.expected.append((self.swept, total))


@pytest.mark.parametrize("ranker", [MBAClassifier(solver="matrix-free"), PairwiseAUCClassifier()])
def test_a_bar_of_the_solver_expects_more_than_was_done(monkeypatch, ranker):
    bar = _Seen()
    monkeypatch.setattr(source_fit, "progress", lambda *about, **how: nullcontext(bar))
    ranker.set_params(n_jobs=1).fit_source(ClickLog(4000, hash_dim=300))
    assert bar.expected
    assert all(done < total <= done + 60 * 4000 for done, total in bar.expected)


@pytest.mark.parametrize(
    "wrong", [[RawBlock(np.eye(2), np.array([0, 1]))], (block for block in ()), np.eye(2), None, "rows.libsvm"]
)
def test_what_is_no_source_is_said(wrong):
    with pytest.raises(ValueError, match=r"source must have n_features, classes and blocks .* got "):
        MBAClassifier().fit_source(wrong)


def test_a_number_of_columns_that_makes_no_sense_is_refused(rows):
    source = Blocks(*rows[:2])
    source.n_features = None
    with pytest.raises(ValueError, match=r"n_features of the source must be a whole number"):
        MBAClassifier().fit_source(source)


@pytest.mark.parametrize("settings", [{"solver": "gram"}, {"solver": "matrix-free"}, {}, {"pairs": 500}])
def test_plain_tuples_are_blocks(rows, settings):
    class Tuples(Blocks):
        def __iter__(self):
            for X, y, _ in super().__iter__():
                yield X, y

    X, y = rows[0][:, :60], rows[1]
    found, wanted = (
        MBAClassifier(random_state=0, **settings).fit(kind(X, y)).coef_ for kind in (Tuples, Blocks)
    )
    np.testing.assert_array_equal(found, wanted)


class Given:
    """Blocks as they are, as a source."""

    def __init__(self, blocks, n_features=2):
        self.blocks, self.n_features, self.classes = blocks, n_features, (0, 1)

    def __iter__(self):
        return iter(list(self.blocks))


TWO = RawBlock(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0, 1]))


@pytest.mark.parametrize("settings", [{"solver": "gram"}, {"solver": "matrix-free"}, {"pairs": 20}])
@pytest.mark.parametrize(
    ("block", "message"),
    [
        (RawBlock(np.ones((1, 2)), np.array(["a"])), "block 2 of the source.*label 'a'"),
        (RawBlock(np.ones((1, 2)), np.array([-1])), "block 2 of the source.*label -1"),
        (RawBlock(np.ones((1, 2)), np.array([np.nan])), "block 2 of the source.*NaN at row 0"),
        (RawBlock(np.ones((1, 2)), np.array([1]), np.array([-1.0])), "block 2 of the source.*not negative"),
        (
            RawBlock(np.ones((1, 2)), np.array([1]), np.ones(2)),
            "block 2 of the source.*one weight for each row",
        ),
        (RawBlock(np.ones((1, 3)), np.array([1])), "block 2 .*X has 3 columns, expected 2"),
        (
            RawBlock(np.ones((2, 2)), np.array([1])),
            r"block 2 .*X has 2 rows and y has shape \(1,\)",
        ),
        (RawBlock(np.array([["a", "b"]]), np.array([1])), "block 2 of the source.*real numbers"),
    ],
)
def test_all_ways_to_read_a_source_say_the_same_of_a_block(settings, block, message):
    with pytest.raises(ValueError, match=message):
        MBAClassifier(random_state=0, **settings).fit_source(Given([TWO, block]))


@pytest.mark.parametrize("settings", [{"solver": "gram"}, {"solver": "matrix-free"}, {"pairs": 20}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_is_not_finite_is_named_by_its_row_of_the_source(settings, form):
    bad = RawBlock(form(np.array([[1.0, 1.0], [np.inf, 1.0]])), np.array([1, 1]))
    blocks = [TWO._replace(y=np.array([0, 0])), bad]
    with pytest.raises(NonFiniteError) as caught:
        MBAClassifier(random_state=0, **settings).fit_source(Given(blocks))
    assert (caught.value.row, caught.value.column) == (3, 0)


@pytest.mark.parametrize("settings", [{"solver": "gram"}, {"solver": "matrix-free"}, {"pairs": 500}])
def test_dense_and_sparse_blocks_may_follow_each_other(rows, settings):
    X, y = rows[0][:, :40], rows[1]
    parts = list(Blocks(X, y))
    mixed = [part._replace(X=part.X.toarray()) if k % 2 == 0 else part for k, part in enumerate(parts)]
    settings = settings | {"l2": 0.01, "random_state": 0, "tol": 1e-12}
    found, wanted = (MBAClassifier(**settings).fit(Given(blocks, 40)).coef_ for blocks in (mixed, parts))
    np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


# -- the same again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [np.random.default_rng, np.random.RandomState])
def test_generators_as_seeds(rows, tmp_path, seed):
    source = Blocks(rows[0][:, :60], rows[1])
    for settings in ({"solver": "gram"}, {"solver": "matrix-free"}):
        MBAClassifier(random_state=seed(1), **settings).fit_source(source)
        MBAClassifier(random_state=seed(1), **settings).fit_source(
            source, checkpoint=tmp_path / settings["solver"]
        )
    found, wanted = (
        MBAClassifier(pairs=300, solver="matrix-free", random_state=seed(1)).fit(*data).coef_
        for data in ((source,), (source.X, source.y))
    )
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match="a checkpoint needs a whole number as random_state"):
        MBAClassifier(pairs=300, random_state=seed(1)).fit_source(source, checkpoint=tmp_path / "drawn")
    assert not (tmp_path / "drawn").exists()


def test_settings_of_sampled_pairs_do_not_count_where_all_are_used(rows, tmp_path):
    source = Blocks(rows[0][:, :60], rows[1])
    first = MBAClassifier(solver="matrix-free").fit_source(source, checkpoint=tmp_path)
    again = MBAClassifier(solver="matrix-free", batch_size=7, random_state=3, pairing="complete")
    np.testing.assert_array_equal(again.fit_source(source, checkpoint=tmp_path).coef_, first.coef_)
    with pytest.raises(CheckpointError, match="pairs was 'all', now 100"):
        again.set_params(pairs=100).fit_source(source, checkpoint=tmp_path)


@pytest.mark.parametrize("first", ["1GB", "1.1MB"])
def test_a_solver_that_was_chosen_stays_chosen_when_free_memory_changes(rows, tmp_path, first):
    source = Blocks(rows[0], rows[1])
    source.n_rows = rows[1].size
    other = {"1GB": "1.1MB", "1.1MB": "1GB"}[first]
    names = [MBAClassifier().fit_source(source, memory=memory).solver_.name for memory in (first, other)]
    assert names[0] != names[1]
    fits = [MBAClassifier().fit_source(source, memory=memory, checkpoint=tmp_path) for memory in (first, other)]
    assert [fit.solver_ for fit in fits] == [fits[0].solver_] * 2
    assert fits[0].solver_.name == names[0]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    with pytest.raises(CheckpointError, match=f"solver was 'auto', now '{names[0]}'"):
        MBAClassifier(solver=names[0]).fit_source(source, checkpoint=tmp_path)


def test_sampled_pairs_without_a_seed_are_the_same_in_a_later_run(rows, tmp_path):
    source = Blocks(rows[0], rows[1])
    one, two = (MBAClassifier(pairs=300).fit_source(source, checkpoint=tmp_path / "a").coef_ for _ in range(2))
    np.testing.assert_array_equal(one, two)
    other = MBAClassifier(pairs=300).fit_source(source, checkpoint=tmp_path / "b").coef_
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_sampled_pairs_keep_their_number_of_threads(rows, tmp_path, monkeypatch, form):
    X = rows[0] if form == "sparse" else rows[0][:, :50].toarray()
    source, used = Blocks(X, rows[1]), []
    solve = classifier_module.MBAClassifier._solve

    def watched(self, pairs, factors, run):
        used.append(pairs.shards)
        solve(self, pairs, factors, run)

    monkeypatch.setattr(classifier_module.MBAClassifier, "_solve", watched)
    for n_jobs in (2, 1):
        MBAClassifier(pairs=3000, n_jobs=n_jobs, random_state=0).fit_source(source, checkpoint=tmp_path)
    assert used == [2, 2]


def test_a_state_of_another_version_is_refused(rows, tmp_path, monkeypatch):
    source = Blocks(rows[0][:, :60], rows[1])
    with monkeypatch.context() as patch:
        patch.setattr(source_fit, "version", lambda name: "0.0.1")
        MBAClassifier().fit_source(source, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match=r"mbauc version was '0\.0\.1', now '"):
        MBAClassifier().fit_source(source, checkpoint=tmp_path)


def test_a_checkpoint_without_a_name_is_refused(rows):
    with pytest.raises(ValueError, match="checkpoint must be the path of a folder, got ''"):
        MBAClassifier().fit_source(Blocks(*rows[:2]), checkpoint="")


SLOW = """
import sys, time
from mbauc import MBAClassifier
from mbauc.paper.clicks import ClickLog
import mbauc.store.checkpoint, mbauc.pairs.operator.sparse as rows

mbauc.store.checkpoint.Checkpoint.__init__.__kwdefaults__["interval"] = 0.0
sweep = rows.SparsePairOperator._sweep
rows.SparsePairOperator._sweep = lambda self, *a: (time.sleep(0.05), sweep(self, *a))[1]

class Slow(ClickLog):
    def __iter__(self):
        for block in super().__iter__():
            time.sleep(0.02)
            yield block

log = Slow(6000, hash_dim=400, block_rows=200)
print("go", flush=True)
ranker = MBAClassifier(l1=float(sys.argv[3]), solver=sys.argv[2], n_jobs=2, tol=1e-8)
ranker.fit_source(log, checkpoint=sys.argv[1])
"""


def _slow_fit(folder, solver, l1, **pipes):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folder), solver, str(l1)], stdout=subprocess.PIPE, text=True, **pipes
    )
    process.stdout.readline()
    return process


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is for POSIX")
@pytest.mark.parametrize(("solver", "l1", "kills"), [("matrix-free", 0.001, 3), ("gram", 0.0, 2)])
def test_killed_again_and_again_and_resumed_to_the_same_bits(tmp_path, solver, l1, kills):
    log = ClickLog(6000, hash_dim=400, block_rows=200)
    ranker = MBAClassifier(l1=l1, solver=solver, n_jobs=2, tol=1e-8)
    # a later run takes over the BLAS threads of the first, and other numbers of them give other last bits
    with threadpool_limits(1, user_api="blas"):
        wanted = ranker.fit_source(log).coef_.copy()
    draw = random.Random(solver)
    for _ in range(kills):
        process = _slow_fit(tmp_path, solver, l1, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
        # thirty blocks of 0.02 s, then sweeps of 0.05 s
        time.sleep(draw.uniform(0.1, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert any(tmp_path.iterdir())
    np.testing.assert_array_equal(ranker.fit_source(log, checkpoint=tmp_path).coef_, wanted)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path):
    process = _slow_fit(tmp_path, "matrix-free", 0.0, stderr=subprocess.PIPE)
    while not (tmp_path / "solver.state").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"the same call with checkpoint='{tmp_path}' resumes from here" in said
    log = ClickLog(6000, hash_dim=400, block_rows=200)
    ranker = MBAClassifier(solver="matrix-free", n_jobs=2, tol=1e-8)
    wanted = ranker.fit_source(log).coef_.copy()
    np.testing.assert_array_equal(ranker.fit_source(log, checkpoint=tmp_path).coef_, wanted)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_before_anything_was_saved_promises_nothing(rows, tmp_path):
    class Interrupted(Blocks):
        def __iter__(self):
            signal.raise_signal(signal.SIGINT)
            yield from super().__iter__()

    source = Interrupted(rows[0][:, :60], rows[1])
    with pytest.raises(KeyboardInterrupt) as stopped:
        MBAClassifier(solver="gram").fit_source(source, checkpoint=tmp_path)
    assert f"the same call with checkpoint='{tmp_path}' starts again" in str(stopped.value)


# -- states that fit their checksums, but that no run has saved ----------------------------------------------


class Known:
    """As much of the rows as a state is held against."""

    mu, diagonal = np.arange(1.0, 5.0), np.ones(4)


ROWS = {"rows": np.int64(source_fit._mark(Known()))}
RIDGE = ROWS | {
    "basis": np.eye(4)[:2],
    "images": np.eye(4)[:2],
    "gram": np.eye(2),
    "penalty": np.eye(2),
    "projected": np.ones(2),
    "stage": np.str_("choice"),
    "iterations": np.int64(2),
    "searched": np.int64(4),
    "l2": np.float64(1.0),
    "same": np.int64(0),
    "looks": np.zeros(2, dtype=np.bool_),
    "gains": np.empty(0),
    "vectors": np.ones((2, 2, 4)),
    "tridiagonals": np.ones((2, 2, 3)),
    "steps": np.array([1, 3]),
}
DESCENT = ROWS | {
    "coef": np.ones(4),
    "pull": np.ones(4),
    "direction": np.empty(0),
    "signs": np.empty(0),
    "recent": np.ones(3),
    "numbers": np.array([3.0, -0.5, -np.inf, 1.0, 0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.0, 1.0]),
}


def resumed(folder, state, l1):
    with Checkpoint(folder, {}) as checkpoint:
        checkpoint.save("decisions", {"threads": np.int64(1)})
        checkpoint.save("solver", state)
        run = source_fit.SourceRun(checkpoint, None, False)
        return run.load_state(Known(), source_fit.quadratic_state(l1, 1.0))


@pytest.mark.parametrize(("state", "l1"), [(RIDGE, 0.0), (DESCENT, 0.1)], ids=["ridge", "descent"])
def test_states_that_a_solver_has_saved_are_taken(tmp_path, state, l1):
    assert resumed(tmp_path, state, l1).keys() == state.keys()


def numbers(**changes):
    found = DESCENT["numbers"].copy()
    for name, value in changes.items():
        found[list(face_descent._RANGES).index(name)] = value
    return {"numbers": found}


@pytest.mark.parametrize(
    ("state", "l1", "message"),
    [
        (RIDGE, 0.1, "lacks the array 'coef'"),
        (DESCENT, 0.0, "lacks the array 'basis'"),
        ({name: RIDGE[name] for name in RIDGE if name != "gains"}, 0.0, "lacks the array 'gains'"),
        (RIDGE | {"basis": np.ones((17, 4))}, 0.0, "'basis' must have the shape"),
        (RIDGE | {"basis": np.ones((2, 5))}, 0.0, r"'basis' must have the shape \(2, 4\)"),
        (RIDGE | {"gram": np.ones((3, 3))}, 0.0, r"'gram' must have the shape \(2, 2\)"),
        (RIDGE | {"gram": np.full((2, 2), np.nan)}, 0.0, "'gram' must be within"),
        (RIDGE | {"stage": np.str_("end")}, 0.0, "stage must be a text of the form"),
        (RIDGE | {"stage": np.int64(1)}, 0.0, "'stage' must be of type U"),
        (RIDGE | {"iterations": np.int64(-1)}, 0.0, "'iterations' must be within"),
        (RIDGE | {"looks": np.zeros(5, dtype=np.bool_)}, 0.0, "one entry for each direction"),
        (RIDGE | {"vectors": np.ones((2, 3, 4))}, 0.0, r"'vectors' must have the shape \(2, 2, 4\)"),
        (RIDGE | {"steps": np.array([1, 300])}, 0.0, "'steps' must be within"),
        (RIDGE | {"steps": np.array([1, 2])}, 0.0, "how many columns of 'tridiagonals'"),
        (RIDGE | {"gains": np.ones(9)}, 0.0, "'gains' must have the shape"),
        (RIDGE | {"more": np.ones(9)}, 0.0, "'more', which this mbauc does not know"),
        (DESCENT | {"coef": np.ones(5)}, 0.1, r"'coef' must have the shape \(4\), got \(5,\)"),
        (DESCENT | {"direction": np.ones(3)}, 0.1, "'direction' must have the shape"),
        (DESCENT | numbers(products=np.inf), 0.1, "'numbers' must be within"),
        (DESCENT | numbers(on_face=1.0), 0.1, "there must be a direction down"),
    ],
)
def test_states_that_no_solver_has_saved_are_refused(tmp_path, state, l1, message):
    with pytest.raises(CheckpointError, match=rf"solver\.state is whole, but .*{message}.*Delete that file"):
        resumed(tmp_path, state, l1)


@pytest.mark.parametrize(
    "settled",
    [
        {"threads": np.int64(2**62)},
        {"threads": np.int64(0)},
        {"threads": np.float64(1.0)},
        {"threads": np.ones(3, dtype=np.int64)},
        {"seed": np.int64(1)},
        {"threads": np.int64(1), "solver": np.array(["other", "why"])},
        {"threads": np.int64(1), "solver": np.array(["gram"])},
        {"threads": np.int64(1), "seed": np.int64(-1)},
    ],
    ids=str,
)
def test_what_no_run_has_settled_is_refused(tmp_path, settled):
    with Checkpoint(tmp_path, {}) as checkpoint:
        checkpoint.save("decisions", settled)
        with pytest.raises(CheckpointError, match=r"decisions\.state is whole, but"):
            source_fit.SourceRun(checkpoint, None, False)


def test_a_later_run_has_the_blas_threads_of_the_first(tmp_path):
    source, settings = ClickLog(1000, hash_dim=50), MBAClassifier(l2=0.1).get_params()
    for now in (2, 1, 3):
        with threadpool_limits(now, "blas"):
            with source_fit.source_run(tmp_path, settings, source):
                assert thread_count(None) == 2
            assert thread_count(None) == now


@pytest.mark.parametrize("earlier", [True, False])
def test_a_checkpoint_whose_numbers_lead_nowhere_is_named(rows, tmp_path, monkeypatch, earlier):
    source = Blocks(rows[0][:, :60], rows[1])
    if earlier:
        MBAClassifier(solver="gram").fit_source(source, checkpoint=tmp_path)

    def overflow(*rest, **more):
        raise OverflowError("Numerical result out of range")

    monkeypatch.setattr(MBAClassifier, "_solve", overflow)
    with pytest.raises(CheckpointError if earlier else OverflowError, match="out of range"):
        MBAClassifier(solver="gram").fit_source(source, checkpoint=tmp_path)
