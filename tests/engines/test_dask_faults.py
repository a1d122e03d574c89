"""A worker that dies in the middle of a fit changes nothing but the time it takes."""

import os
import signal
import threading
import time
import uuid

import numpy as np
import pytest
from scipy import sparse as sp

dask = pytest.importorskip("dask", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
distributed = pytest.importorskip("distributed", reason="needs mbauc[dask]")

from mbauc.dask import MBAClassifier  # noqa: E402
from mbauc.pairs.operator import of_parts as products  # noqa: E402

pytestmark = pytest.mark.slow

N_PARTS = 6


@pytest.fixture(scope="module")
def client():
    """Two workers of its own, because they are not spared."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def trap(tmp_path):
    """A place in which a task sits until its worker is killed, and the thread that kills it."""
    place = Trap(tmp_path)
    killer = threading.Thread(target=place.kill_who_comes, daemon=True)
    killer.start()
    yield place
    place.closed = True
    killer.join(timeout=10)


class Trap:
    """The first task to come says the number of its process and waits for its death; later ones pass."""

    def __init__(self, folder):
        self.folder = folder
        self.closed = False

    def __reduce__(self):
        return type(self), (self.folder,)

    def sit(self):
        try:
            (self.folder / "taken").touch(exist_ok=False)
        except FileExistsError:
            return
        (self.folder / "number").write_text(str(os.getpid()))
        (self.folder / "number").rename(self.folder / "caught")
        time.sleep(60)
        raise AssertionError("the worker should have been killed")

    def kill_who_comes(self):
        while not self.closed:
            if (self.folder / "caught").exists():
                os.kill(int((self.folder / "caught").read_text()), signal.SIGKILL)
                (self.folder / "killed").touch()
                return
            time.sleep(0.01)

    @property
    def has_killed(self):
        return (self.folder / "killed").exists()


def clicks(number, n=400, d=3000):
    rng = np.random.default_rng(number)
    X = sp.csr_array(
        (np.ones(8 * n), rng.integers(0, d, 8 * n) // rng.integers(1, 50, 8 * n), np.arange(0, 8 * n + 1, 8)),
        shape=(n, d),
    )
    X.sum_duplicates()
    y = (rng.random(n) < 0.2 + 0.4 * (X[:, [0]].toarray().ravel() > 0)).astype(int)
    return X, y


def read(number, folder, trap=None, width=None):
    """The features of a block of rows, which leaves a mark each time that it is made."""
    (folder / f"{number}-{uuid.uuid4().hex}").touch()
    if trap is not None and number == N_PARTS - 1:
        trap.sit()
    X, _ = clicks(number)
    return X if width is None else X[:, :width].toarray()


def blocks(folder, **how):
    folder.mkdir()
    made = [dask.delayed(read, pure=False)(number, folder, **how) for number in range(N_PARTS)]
    n_rows, d = clicks(0)[0].shape
    shape = n_rows, how.get("width") or d
    X = da.concatenate([da.from_delayed(X, shape, float, meta=sp.csr_array((0, shape[1]))) for X in made])
    y = np.concatenate([clicks(number)[1] for number in range(N_PARTS)])
    return X, da.from_array(y, chunks=n_rows)


def test_a_fit_with_moments_survives_the_death_of_a_worker(client, trap, tmp_path):
    undisturbed = MBAClassifier().fit(*blocks(tmp_path / "first", width=30))
    assert undisturbed.solver_.name == "gram"
    ours = MBAClassifier().fit(*blocks(tmp_path / "second", width=30, trap=trap))
    assert trap.has_killed
    # the last block was begun twice, and counted once
    assert len(list((tmp_path / "second").glob(f"{N_PARTS - 1}-*"))) >= 2
    assert ours.moments_.counts == undisturbed.moments_.counts
    np.testing.assert_allclose(ours.moments_.second_moment, undisturbed.moments_.second_moment, rtol=1e-12)
    np.testing.assert_allclose(ours.coef_, undisturbed.coef_, rtol=1e-10)


class DeadlySweep(products.Sweep):
    """A share of a product, of which the third has a trap in its last part."""

    trap = None
    made = 0

    def __call__(self, number, kept):
        if self.trap is not None and number == N_PARTS - 1:
            self.trap.sit()
        return super().__call__(number, kept)


def test_rows_that_are_lost_with_their_worker_are_packed_again(client, trap, tmp_path, monkeypatch):
    settings = {"l2": 0.01, "tol": 1e-8}
    undisturbed = MBAClassifier(**settings).fit(*blocks(tmp_path / "first"))
    assert undisturbed.solver_.name == "matrix-free"
    assert undisturbed.n_iter_ > 5
    # column sums of all blocks, and all of them packed
    assert len(list((tmp_path / "first").iterdir())) == 2 * N_PARTS

    def third_is_deadly(*args):
        sweep = DeadlySweep(*args)
        DeadlySweep.made += 1
        if DeadlySweep.made == 3:
            object.__setattr__(sweep, "trap", trap)
        return sweep

    monkeypatch.setattr(products, "Sweep", third_is_deadly)
    ours = MBAClassifier(**settings).fit(*blocks(tmp_path / "second"))
    assert trap.has_killed
    assert DeadlySweep.made > 3
    assert len(list((tmp_path / "second").iterdir())) > 2 * N_PARTS
    assert ours.n_iter_ == undisturbed.n_iter_
    np.testing.assert_allclose(ours.coef_, undisturbed.coef_, rtol=1e-9, atol=1e-12)
