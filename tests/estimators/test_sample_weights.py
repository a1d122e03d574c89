"""What weights mean where rows are counted: in standard errors, and where l2 is chosen."""

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.readers import RawBlock

pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")


@pytest.fixture
def weighted(rng):
    y = (rng.random(400) < 0.25).astype(int)
    X = rng.standard_normal((400, 30)) + 0.4 * y[:, None] * (np.arange(30) < 5)
    return X, y, rng.exponential(size=400) + 0.01


class Blocks:
    """Rows in two blocks, as a source."""

    classes = (0, 1)

    def __init__(self, X, y, weight):
        self.n_features = X.shape[1]
        self._parts = [RawBlock(X[rows], y[rows], weight[rows]) for rows in (slice(0, 150), slice(150, None))]

    def __iter__(self):
        return iter(self._parts)


def in_blocks(ranker, X, y, weight):
    for rows in (slice(0, 150), slice(150, None)):
        ranker.partial_fit(X[rows], y[rows], classes=[0, 1], sample_weight=weight[rows])
    return ranker


WAYS = {
    "fit": lambda ranker, X, y, w: ranker.fit(X, y, w),
    "sparse": lambda ranker, X, y, w: ranker.fit(sp.csr_array(X), y, w),
    "partial_fit": in_blocks,
    "fit_source": lambda ranker, X, y, w: ranker.set_params(solver="gram").fit_source(Blocks(X, y, w)),
    "pairs": lambda ranker, X, y, w: ranker.set_params(pairs=500, random_state=0).fit(X, y, w),
    "moments": lambda ranker, X, y, w: ranker.fit_moments(PairMoments.from_arrays(X, y, w)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("factor", [100.0, 0.001])
def test_the_unit_of_the_weights_changes_nothing(weighted, way, factor):
    X, y, w = weighted
    one, other = (WAYS[way](MBAClassifier(), X, y, weight) for weight in (w, factor * w))
    assert other.l2_ == pytest.approx(one.l2_, rel=1e-6)
    assert other.effective_sample_size_ == pytest.approx(one.effective_sample_size_)
    np.testing.assert_allclose(other.coef_standard_errors(), one.coef_standard_errors(), rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_nor_does_it_matrix_free(weighted, make):
    X, y, w = weighted
    free = [MBAClassifier(solver="matrix-free", tol=1e-9).fit(make(X), y, weight) for weight in (w, 100 * w)]
    assert free[1].l2_ == pytest.approx(free[0].l2_, rel=1e-6)
    gram = MBAClassifier().fit(X, y, 100 * w)
    assert free[1].effective_sample_size_ == pytest.approx(gram.effective_sample_size_)


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("pairs", "moments")])
def test_frequencies_are_repeated_rows(weighted, rng, way):
    X, y, _ = weighted
    times = rng.integers(0, 4, 400)
    counted = WAYS[way](MBAClassifier(weights="frequency"), X, y, times.astype(float))
    again = MBAClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert counted.l2_ == pytest.approx(again.l2_, rel=1e-6)
    assert counted.effective_sample_size_ == pytest.approx(again.effective_sample_size_)
    np.testing.assert_allclose(counted.coef_standard_errors(), again.coef_standard_errors(), rtol=1e-6)


def test_frequencies_that_decay_are_repeated_rows_that_decay(weighted, rng):
    X, y, _ = weighted
    times = rng.integers(0, 4, 400)
    counted, again = MBAClassifier(weights="frequency", decay=0.5), MBAClassifier(decay=0.5)
    for rows in (slice(0, 150), slice(150, None)):
        counted.partial_fit(X[rows], y[rows], classes=[0, 1], sample_weight=times[rows])
        again.partial_fit(
            np.repeat(X[rows], times[rows], axis=0), np.repeat(y[rows], times[rows]), classes=[0, 1]
        )
    assert counted.effective_sample_size_ == pytest.approx(again.effective_sample_size_)
    np.testing.assert_allclose(counted.coef_standard_errors(), again.coef_standard_errors(), rtol=1e-8)


def test_frequencies_matrix_free_and_sampled(weighted):
    X, y, _ = weighted
    times = np.full(400, 3.0)
    for ranker, sizes in (
        (MBAClassifier(weights="frequency", solver="matrix-free"), 3 * np.bincount(y)[::-1]),
        (MBAClassifier(weights="frequency", pairs=200), 1 / (1 / (3 * np.bincount(y)[::-1]) + 1 / 200)),
        (
            MBAClassifier(weights="frequency", pairs=200, solver="matrix-free"),
            1 / (1 / (3 * np.bincount(y)[::-1]) + 1 / 200),
        ),
        (MBAClassifierCV(weights="frequency", random_state=0), 3 * np.bincount(y)[::-1]),
    ):
        assert ranker.fit(X, y, times).effective_sample_size_ == pytest.approx(tuple(sizes))


def test_frequencies_are_in_the_moments_and_their_file(weighted, tmp_path):
    X, y, _ = weighted
    moments = PairMoments.from_arrays(X, y, np.full(400, 3)).as_frequencies()
    moments.save(tmp_path / "moments.npz")
    assert PairMoments.load(tmp_path / "moments.npz").effective_sizes == moments.weights
    rest = moments - PairMoments.from_arrays(X[:100], y[:100], np.full(100, 3)).as_frequencies()
    assert rest.effective_sizes == pytest.approx(rest.weights)


def test_another_meaning_is_refused(weighted):
    X, y, w = weighted
    with pytest.raises(ValueError, match="weights must be 'sampling' or 'frequency', got 'importance'"):
        MBAClassifier(weights="importance").fit(X, y, w)
