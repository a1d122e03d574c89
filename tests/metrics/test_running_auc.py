import numpy as np
import pytest
from scipy import sparse as sp

from mbauc.metrics import running_auc
from mbauc.metrics.running_auc import RunningAuc
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.paper.clicks import ClickLog
from mbauc.runtime.progress import Progress, silent


class Seen(Progress):
    visible = True

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_unseen_rows_are_ranked_by_what_was_seen(rng, monkeypatch, form):
    monkeypatch.setattr(running_auc, "_PAUSE", 0.0)
    seen = Seen()
    running = RunningAuc(seen)
    for _ in range(3):
        y = rng.random(2000) < 0.3
        running.see(form(rng.standard_normal((2000, 3)) + y[:, None]), y)
    assert len(seen.notes) == 2
    auc = float(seen.notes[-1].split()[2])
    assert auc == pytest.approx(0.8897, abs=0.02)  # Φ(√3/√2)


def test_weights_are_mean_differences_over_variances(rng):
    running = RunningAuc(Seen())
    assert running.weights() is None
    X, y = rng.standard_normal((500, 4)), rng.random(500) < 0.4
    running.see(X[:200], y[:200])
    running.see(X[200:], y[200:])
    variance = X.var(axis=0)
    wanted = (X[y].mean(axis=0) - X[~y].mean(axis=0)) / (variance + variance.mean())
    np.testing.assert_allclose(running.weights(), wanted)


def test_nothing_is_done_where_nobody_looks(rng):
    running = RunningAuc(silent)
    running.see(rng.standard_normal((5, 2)), np.arange(5) < 2)
    assert running.weights() is None


def test_one_class_alone_is_fine(rng, monkeypatch):
    monkeypatch.setattr(running_auc, "_PAUSE", 0.0)
    seen = Seen()
    running = RunningAuc(seen)
    running.see(rng.standard_normal((5, 2)), np.ones(5, dtype=bool))
    running.see(rng.standard_normal((5, 2)), np.ones(5, dtype=bool))
    assert running.weights() is None
    assert not seen.notes


def test_reading_a_source_tells_it(monkeypatch):
    monkeypatch.setattr(running_auc, "_PAUSE", 0.0)
    from contextlib import contextmanager

    from mbauc.pairs.operator import from_source

    seen = Seen()

    @contextmanager
    def shown(*args, **options):
        yield seen

    monkeypatch.setattr(from_source, "progress", shown)
    log = ClickLog(4000, hash_dim=500, block_rows=1000)
    build_source_operator(log, n_threads=1, memory=1 << 30, observe=lambda bar: RunningAuc(bar).see)
    assert len(seen.notes) == 3
    assert all(0.55 < float(note.split()[2]) < 0.8 for note in seen.notes)
