import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.errors import FewRowsWarning
from mbauc.metrics import roc_auc, roc_auc_bootstrap, roc_auc_interval
from mbauc.metrics.intervals import bootstrap
from mbauc.metrics.intervals.sample_design import validate_design
from mbauc.metrics.ranked import RankedScores

few_rows = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")

RESAMPLES = 4000
#: Five times the relative error of a standard deviation of so many normal numbers, 1/√(2 · 4000).
MONTE_CARLO = 5 / np.sqrt(2 * RESAMPLES)


@pytest.fixture
def scored(rng):
    y = rng.random(800) < 0.3
    return y, np.round(rng.standard_normal(800) + y, 1)


def agree(y, s, **settings):
    ours = roc_auc_interval(y, s, scale="linear", **settings)
    found = roc_auc_bootstrap(y, s, resamples=RESAMPLES, random_state=0, **settings)
    assert found.auc == pytest.approx(ours.auc, abs=1e-12)
    assert found.stderr == pytest.approx(ours.stderr, rel=MONTE_CARLO + 0.01)
    assert (found.low, found.high) == pytest.approx((ours.low, ours.high), abs=0.3 * ours.stderr)
    return found


def test_agrees_with_delong(scored):
    agree(*scored)


def test_agrees_with_delong_on_frequencies(rng, scored):
    y, s = scored
    w = rng.integers(0, 6, 800)
    found = agree(y, s, sample_weight=w, weights="frequency")
    assert found.stderr < 0.75 * roc_auc_interval(y, s).stderr
    repeated = roc_auc_bootstrap(np.repeat(y, w), np.repeat(s, w), resamples=RESAMPLES, random_state=1)
    assert found.auc == pytest.approx(repeated.auc)
    assert found.stderr == pytest.approx(repeated.stderr, rel=np.sqrt(2) * MONTE_CARLO)


def test_agrees_with_delong_on_sampling_weights(rng, scored):
    w = rng.lognormal(sigma=0.8, size=800)
    w[::9] = 0.0
    found = agree(*scored, sample_weight=w, weights="sampling")
    assert found.stderr > 1.2 * roc_auc_interval(*scored).stderr


@pytest.mark.parametrize("weights", [None, "sampling", "frequency"])
def test_agrees_with_delong_on_clusters(rng, weights):
    user = np.repeat(np.arange(300), 8)
    y = rng.random(2400) < rng.choice([0.1, 0.9], 300)[user]
    s = 1.5 * rng.standard_normal(300)[user] + rng.standard_normal(2400) + y
    w = None if weights is None else rng.integers(1, 4, 2400)
    found = agree(y, s, sample_weight=w, weights=weights, clusters=np.char.add("user", user.astype(str)))
    assert found.stderr > 1.5 * roc_auc_interval(y, s).stderr


@st.composite
def cases(draw):
    n = draw(st.integers(4, 15))
    y = np.array([True, True, False, False, *draw(st.lists(st.booleans(), min_size=n - 4, max_size=n - 4))])
    s = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), dtype=float)
    clusters = np.concatenate([np.arange(4), draw(st.lists(st.integers(0, 5), min_size=n - 4, max_size=n - 4))])
    return y, s, w, clusters


@few_rows
@given(cases(), st.sampled_from([None, "frequency", "sampling"]), st.booleans(), st.integers(0, 99))
def test_a_resample_is_one_of_rows_that_are_there(case, weights, by_cluster, seed):
    y, s, w, clusters = case
    scores = RankedScores.validate(y, s, None if weights is None else w)
    design = validate_design(scores, weights, clusters if by_cluster else None)
    plus, minus = bootstrap._resampler(scores, design)(np.random.default_rng(seed))
    mass = np.empty(len(y))
    mass[y], mass[~y] = plus, minus
    assert bootstrap._auc(bootstrap._ranks(scores), plus, minus) == pytest.approx(reference.auc(y, s, mass))
    unit = np.ones(len(y)) if weights is None or (weights == "frequency" and not by_cluster) else w
    times = mass / unit
    np.testing.assert_array_equal(times, np.round(times))
    if by_cluster:
        each = {label: set(times[clusters == label]) for label in clusters}
        assert all(len(values) == 1 for values in each.values())
        assert sum(values.pop() for values in each.values()) == len(each)
    else:
        size = w if weights == "frequency" else np.ones(len(y))
        assert [times[y].sum(), times[~y].sum()] == [size[y].sum(), size[~y].sum()]


@few_rows
@given(cases())
def test_ends_stay_within_bounds(case):
    y, s, w, _ = case
    found = roc_auc_bootstrap(y, s, sample_weight=w / 7, weights="sampling", resamples=50, random_state=0)
    assert 0.0 <= found.low <= found.high <= 1.0
    assert found.auc == pytest.approx(roc_auc(y, s, sample_weight=w), abs=1e-12)
    assert found.stderr <= 0.5


@few_rows
def test_every_class_is_in_every_resample_of_clusters():
    y = np.repeat([0, 0, 0, 0, 0, 0, 1, 1], 3)
    found = roc_auc_bootstrap(
        y, np.arange(24.0) % 7, clusters=np.arange(24) // 3, resamples=300, random_state=0
    )
    assert np.isfinite([found.low, found.high, found.stderr]).all()


def test_frequencies_need_not_be_whole(scored):
    y, s = scored
    whole = roc_auc_bootstrap(
        y, s, sample_weight=np.full(800, 2.0), weights="frequency", resamples=500, random_state=0
    )
    close = roc_auc_bootstrap(
        y, s, sample_weight=np.full(800, 2.0004), weights="frequency", resamples=500, random_state=0
    )
    assert close.stderr == pytest.approx(whole.stderr)


def test_the_same_seed_gives_the_same_interval(scored):
    first = roc_auc_bootstrap(*scored, resamples=50, random_state=3)
    assert roc_auc_bootstrap(*scored, resamples=50, random_state=3) == first
    assert roc_auc_bootstrap(*scored, resamples=50, random_state=np.random.default_rng(3)) == first
    assert roc_auc_bootstrap(*scored, resamples=50, random_state=4).stderr != first.stderr
    wider = roc_auc_bootstrap(*scored, resamples=500, confidence=0.99, random_state=3, verbose=True)
    narrower = roc_auc_bootstrap(*scored, resamples=500, confidence=0.5, random_state=3)
    assert wider.low < narrower.low < narrower.auc < narrower.high < wider.high


def test_classes_that_do_not_overlap():
    y = np.repeat([0, 1], 120)
    found = roc_auc_bootstrap(y, y, resamples=20, random_state=0)
    assert (found.auc, found.low, found.high, found.stderr) == (1.0, 1.0, 1.0, 0.0)


def test_few_rows_are_warned_of(rng):
    y = np.arange(300) < 20
    with pytest.warns(FewRowsWarning, match="20 positive rows: with") as caught:
        roc_auc_bootstrap(y, rng.standard_normal(300), resamples=2, random_state=0)
    assert caught[0].filename == __file__


@few_rows
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 95}, "confidence must be a finite number greater than 0 and less than 1, got 95"),
        ({"resamples": 1}, "resamples must be a whole number of at least 2"),
        ({"resamples": 10.0}, "resamples must be a whole number"),
        ({"random_state": "now"}, "random_state must be"),
        ({"verbose": 2}, "verbose must be True or False"),
        ({"weights": "frequency"}, "pass sample_weight as well"),
        ({"sample_weight": np.ones(4)}, "weights must be 'frequency'"),
        ({"sample_weight": np.full(4, 1e60), "weights": "frequency"}, "If these are sampling weights"),
        ({"sample_weight": np.ones(3), "weights": "sampling"}, "one weight for each row"),
        ({"clusters": [1, 2]}, "clusters must have a label for each of the 4 rows"),
        ({"clusters": [1, 2, 3, 3]}, "at least 2 clusters with positive rows, got 1"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        roc_auc_bootstrap([0, 0, 1, 1], [0.0, 1.0, 2.0, 0.5], **settings)
