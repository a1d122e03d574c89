"""Curves from sources of blocks: those of the rows in memory, and the same bits after a kill."""

import io
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse as sp
from threadpoolctl import threadpool_limits

from mbauc import AdditiveAUCClassifier
from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.estimators.additive import fit as fit_module
from mbauc.readers import RawBlock, TableSource
from mbauc.runtime import progress as progress_module

#: Few rows for the search, so that most rows are seen by the second pass alone.
SETTINGS = {"features": "curves", "search_rows": 400, "cv": 2, "random_state": 1}


def make_rows(n=1500, seed=0):
    """Heavy tails, few values, missing values, and a category in codes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X[:, 1] = np.exp(2 * X[:, 1])
    X[:, 2:] = rng.integers(0, 4, (n, 2))
    y = (X[:, 0] ** 2 + (X[:, 3] == 2) + rng.standard_normal(n) > 2.5).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, rng.choice([0.0, 0.3, 1.7], n)


class Blocks:
    """Rows in memory as a source with a fingerprint."""

    classes = (0, 1)

    def __init__(self, X, y, weight=None, step=170):
        self.X, self.y, self.weight, self.step = X, y, weight, step
        self.n_features, self.passes = X.shape[1], 0

    def __iter__(self):
        self.passes += 1
        for start in range(0, self.y.size, self.step):
            own = slice(start, start + self.step)
            yield RawBlock(self.X[own], self.y[own], None if self.weight is None else self.weight[own])

    def fingerprint(self):
        return {"rows": float(np.nansum(self.X))}


@pytest.fixture(scope="module")
def rows():
    return make_rows()


def same_fit(found, expected, tol=1e-9):
    assert found.feature_map_.to_dict() == expected.feature_map_.to_dict()
    assert found.choice_ == expected.choice_
    np.testing.assert_array_equal(found.penalty_factors_, expected.penalty_factors_)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=tol * np.abs(expected.coef_).max())
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    assert found.slope_ == pytest.approx(expected.slope_, rel=1e-6)
    np.testing.assert_allclose(found.coef_error_, expected.coef_error_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "tol"), [("squared", 1e-9), ("squared_hinge", 1e-5)])
def test_blocks_of_any_size_are_fitted_like_their_rows(rows, weighted, loss, tol):
    X, y, weight = rows
    weight = weight if weighted else None
    settings = SETTINGS | {"loss": loss, "categories": [3]}
    whole = AdditiveAUCClassifier(**settings).fit(X, y, weight)
    for step in (170, 999):
        same_fit(AdditiveAUCClassifier(**settings).fit(Blocks(X, y, weight, step)), whole, tol)


def test_interactions_from_blocks(rows):
    X, y, _ = rows
    settings = SETTINGS | {"features": "interactions", "interactions": [(0, 1), (2, 3)]}
    whole = AdditiveAUCClassifier(**settings).fit(X, y)
    found = AdditiveAUCClassifier(**settings).fit(Blocks(X, y))
    assert found.interactions_ == [("x0", "x1"), ("x2", "x3")]
    same_fit(found, whole)


def test_products_with_the_rows_give_the_weights_of_moments(rows, monkeypatch):
    X, y, weight = rows
    formed = AdditiveAUCClassifier(**SETTINGS).fit_source(Blocks(X, y, weight))
    monkeypatch.setattr(fit_module, "_MOST_FORMED", 10)
    monkeypatch.setattr(fit_module, "_PRODUCT_TOL", 1e-12)
    multiplied = AdditiveAUCClassifier(**SETTINGS).fit_source(Blocks(X, y, weight))
    assert multiplied.feature_map_.to_dict() == formed.feature_map_.to_dict()
    np.testing.assert_allclose(multiplied.coef_, formed.coef_, atol=1e-4 * np.abs(formed.coef_).max())
    np.testing.assert_allclose(multiplied.decision_function(X), formed.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(multiplied.coef_error_, formed.coef_error_, rtol=0.25, atol=1e-3)


def test_sparse_blocks_are_rows_like_others(rows):
    X, y, _ = rows
    X = np.nan_to_num(X)
    same_fit(
        AdditiveAUCClassifier(**SETTINGS).fit(Blocks(sp.csr_array(X), y)),
        AdditiveAUCClassifier(**SETTINGS).fit(X, y),
    )


@pytest.mark.parametrize("block_rows", [100, 1000])
def test_a_table_in_files_is_fitted_like_its_frame(rows, tmp_path, block_rows):
    pandas = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")
    pytest.importorskip("pyarrow", reason="needs mbauc[tables]")
    X, y, _ = rows
    frame = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["city"] = np.array(["Graz", "Linz", "Wien", "Bonn"])[np.nan_to_num(X[:, 3]).astype(int)]
    whole = AdditiveAUCClassifier(**SETTINGS).fit(frame, y)
    for part, own in enumerate((slice(0, 600), slice(600, None))):
        frame.assign(click=y)[own].to_parquet(tmp_path / f"{part}.parquet")
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    source = TableSource(paths, label="click", encode="codes", block_rows=block_rows)
    same_fit(AdditiveAUCClassifier(**SETTINGS).fit_source(source, memory="200MB"), whole)


def test_bars_say_what_is_read(rows, monkeypatch):
    shown = []

    class Bar:
        disable, n, total = False, 0, None

        def __init__(self, **settings):
            shown.append((settings["desc"], settings["total"]))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def update(self, done):
            self.n += done

        def set_postfix_str(self, text, refresh):
            shown.append(text)

    tqdm = pytest.importorskip("tqdm", reason="needs tqdm")
    monkeypatch.setattr(tqdm, "tqdm", Bar)
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("mbauc.metrics.running_auc._PAUSE", 0.0)
    source = Blocks(*rows[:2])
    source.n_rows = rows[1].size
    AdditiveAUCClassifier(**SETTINGS, verbose=True).fit_source(source)
    titles = [one for one in shown if isinstance(one, tuple)]
    assert titles == [("sampling rows", 1500), ("reading rows", 1500)]
    # an AUC of features: rows with missing values cannot be ranked yet
    assert "so far" in shown[-1]
    assert shown.index(titles[1]) < min(k for k, one in enumerate(shown) if isinstance(one, str))
    assert progress_module.silent.visible is False


def test_what_cannot_be_fitted_is_said(rows):
    X, y, _ = rows
    source = Blocks(X, y)
    source.has_groups = True
    with pytest.raises(ValueError, match="has no groups, but the source has has_groups = True"):
        AdditiveAUCClassifier(**SETTINGS).fit_source(source)
    X = X.copy()
    X[700, 1] = np.inf
    with pytest.raises(NonFiniteError, match="inf at row 700, column 1"):
        AdditiveAUCClassifier(**SETTINGS).fit_source(Blocks(X, y))


# -- checkpoints -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_a_finished_checkpoint_gives_the_same_again(rows, tmp_path, loss):
    source = Blocks(*rows)
    settings = SETTINGS | {"loss": loss, "n_jobs": 2}
    plain = AdditiveAUCClassifier(**settings).fit_source(source)
    passes = []
    for n_jobs in (2, 1):
        before = source.passes
        found = AdditiveAUCClassifier(**settings | {"n_jobs": n_jobs}).fit_source(source, checkpoint=tmp_path)
        passes.append(source.passes - before)
        np.testing.assert_array_equal(found.coef_, plain.coef_)
        assert found.choice_ == plain.choice_
    # looking whether a source can be read twice opens it twice
    assert passes[0] - passes[1] == 2


def test_features_without_a_seed_are_those_of_the_first_run(rows, tmp_path):
    source, settings = Blocks(*rows), SETTINGS | {"random_state": None}
    one, two = (AdditiveAUCClassifier(**settings).fit_source(source, checkpoint=tmp_path) for _ in range(2))
    assert one.feature_map_.to_dict() == two.feature_map_.to_dict()
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_other_settings_and_other_rows_are_refused(rows, tmp_path):
    X, y, _ = rows
    AdditiveAUCClassifier(**SETTINGS).fit_source(Blocks(X, y), checkpoint=tmp_path)
    for name, value in (("random_state", 2), ("bins", 8), ("search_rows", 500), ("categories", [3])):
        with pytest.raises(CheckpointError, match=name):
            AdditiveAUCClassifier(**SETTINGS | {name: value}).fit_source(Blocks(X, y), checkpoint=tmp_path)
    other = X.copy()
    other[1234, 0] += 1.0
    with pytest.raises(CheckpointError, match=r"changed|not what"):
        AdditiveAUCClassifier(**SETTINGS).fit_source(Blocks(other, y), checkpoint=tmp_path)


SLOW = """
import sys, time
sys.path[:0] = sys.argv[2:]
import test_additive_source as tests
from mbauc import AdditiveAUCClassifier
import mbauc.store.checkpoint

mbauc.store.checkpoint.Checkpoint.__init__.__kwdefaults__["interval"] = 0.0

class Slow(tests.Blocks):
    def __iter__(self):
        for block in super().__iter__():
            time.sleep(0.03)
            yield block

source = Slow(*tests.make_rows())
print("go", flush=True)
AdditiveAUCClassifier(**tests.SETTINGS, n_jobs=2).fit_source(source, checkpoint=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is for POSIX")
def test_killed_again_and_again_and_resumed_to_the_same_bits(rows, tmp_path):
    # a later run takes over the BLAS threads of the first, and other numbers of them give other last bits
    with threadpool_limits(1):
        plain = AdditiveAUCClassifier(**SETTINGS, n_jobs=2).fit_source(Blocks(*rows))
    rng, folder = random.Random(0), tmp_path / "kept"
    environment = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, "-c", SLOW, str(folder), os.path.dirname(__file__)]
    # while rows are sampled, while features are chosen, and twice while pairs are added up
    for awaited in (None, "sample.state", "moments.state", None):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        process.stdout.readline()
        while awaited is not None and not (folder / awaited).exists():
            assert process.poll() is None
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    found = AdditiveAUCClassifier(**SETTINGS, n_jobs=1).fit_source(Blocks(*rows), checkpoint=folder)
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    assert found.feature_map_.to_dict() == plain.feature_map_.to_dict()
