"""Fits to sources of blocks: the same as in memory, in bounded memory, and after a kill."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier, PairMoments
from mbauc.data import Block, ClickLog, LibsvmSource
from mbauc.errors import CheckpointError


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
            yield Block(self.X[part], self.y[part], None if self.weight is None else self.weight[part])


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
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-5 * np.abs(whole.coef_).max())
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


SLOW = """
import sys, time
from mbauc import MBAClassifier
from mbauc.data import ClickLog
import mbauc.checkpoint, mbauc.pair_rows.pair_rows as rows

mbauc.checkpoint.Checkpoint.__init__.__kwdefaults__["interval"] = 0.0
sweep = rows.PairRows._sweep
rows.PairRows._sweep = lambda self, *a: (time.sleep(0.05), sweep(self, *a))[1]

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


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is for POSIX")
@pytest.mark.parametrize(("solver", "l1", "kills"), [("matrix-free", 0.001, 3), ("gram", 0.0, 2)])
def test_killed_again_and_again_and_resumed_to_the_same_bits(tmp_path, solver, l1, kills):
    log = ClickLog(6000, hash_dim=400, block_rows=200)
    ranker = MBAClassifier(l1=l1, solver=solver, n_jobs=2, tol=1e-8)
    wanted = ranker.fit_source(log).coef_.copy()
    draw = random.Random(solver)
    for _ in range(kills):
        process = _slow_fit(tmp_path, solver, l1)
        # thirty blocks of 0.02 s, then sweeps of 0.05 s
        time.sleep(draw.uniform(0.1, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert any(tmp_path.iterdir())
    np.testing.assert_array_equal(ranker.fit_source(log, checkpoint=tmp_path).coef_, wanted)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path):
    process = _slow_fit(tmp_path, "matrix-free", 0.0, stderr=subprocess.PIPE)
    while not (tmp_path / "solver.state").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"the same call with checkpoint='{tmp_path}' goes on from here" in said
    log = ClickLog(6000, hash_dim=400, block_rows=200)
    ranker = MBAClassifier(solver="matrix-free", n_jobs=2, tol=1e-8)
    wanted = ranker.fit_source(log).coef_.copy()
    np.testing.assert_array_equal(ranker.fit_source(log, checkpoint=tmp_path).coef_, wanted)
