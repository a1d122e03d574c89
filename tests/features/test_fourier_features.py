"""The transformer, its units and its choice of gamma."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mbauc import MBAClassifier
from mbauc.features import FourierFeatures, choose_gamma
from mbauc.features.column_units import ColumnUnits
from mbauc.features.gamma import median_gamma
from mbauc.metrics import roc_auc


def make_rows(n=400, d=4, seed=0):
    """Positives lie in a ball around the mean: no linear ranker finds them."""
    X = np.random.default_rng(seed).normal(size=(n, d)) + 3.0
    return X, ((X - 3.0) ** 2).sum(axis=1) < 0.6 * d


@pytest.mark.slow
@parametrize_with_checks(
    [FourierFeatures(16), FourierFeatures(16, gamma="median", scale=False), FourierFeatures(16, gamma=0.5)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.one_of(st.just(np.nan), st.floats(-100, 100, width=32)),
    ),
    st.integers(0, 12),
)
def test_columns_of_blocks_merge_to_those_of_the_whole(X, cut):
    cut = min(cut, len(X))
    merged = ColumnUnits.from_rows(X[:cut]) + ColumnUnits.from_rows(X[cut:])
    for column, values in enumerate(X.T):
        known = values[~np.isnan(values)]
        assert merged.count[column] == known.size
        expected = (known.mean(), known.var()) if known.size else (0.0, 0.0)
        found = merged.mean[column], merged.variance[column]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_units_are_own_or_common_and_0_where_nothing_varies():
    X = np.column_stack([[0.0, 2.0], [0.0, 6.0], [0.1 + 0.2, 0.3], [1e6, 1e6]])
    columns = ColumnUnits.from_rows(X)
    assert columns.units(own=True).tolist() == [1.0, 3.0, 0.0, 0.0]
    assert np.allclose(columns.units(own=False), [np.sqrt(5), np.sqrt(5), 0.0, 0.0])
    with pytest.raises(ValueError, match="column 1 whose squares overflow"):
        ColumnUnits.from_rows(np.array([[0.0, 1e300], [1.0, -1e300]])).units(own=True)


def test_median_gamma_is_that_of_all_distances():
    X = np.random.default_rng(0).normal(size=(800, 5)) * 3.0
    squares = ((X[:, None] / 3.0 - X / 3.0) ** 2).sum(axis=2)[np.triu_indices(800, 1)]
    found = median_gamma(X, np.zeros(5), np.full(5, 3.0))
    assert found == pytest.approx(0.5 / np.median(squares), rel=0.05)
    assert median_gamma(np.ones((4, 5)), np.ones(5), np.ones(5)) == 0.05


def test_a_linear_ranker_finds_a_ball_behind_it():
    X, y = make_rows(1200)
    ranker = make_pipeline(FourierFeatures(256), MBAClassifier()).fit(X[:600], y[:600])
    assert roc_auc(y[600:], ranker.decision_function(X[600:])) > 0.97
    assert roc_auc(y[600:], MBAClassifier().fit(X[:600], y[:600]).decision_function(X[600:])) < 0.6


def test_gamma_is_chosen_with_labels_and_the_median_without():
    X, y = make_rows()
    chosen = FourierFeatures(16).fit(X, y)
    assert chosen.gamma_ == chosen.choice_.gamma
    assert chosen.choice_.auc >= chosen.choice_.tried[0].auc
    for labels in (None, X[:, 0], np.arange(len(X)) % 3, np.arange(len(X)) < 3):
        plain = FourierFeatures(16).fit(X, labels)
        assert plain.choice_ is None
        assert plain.gamma_ == FourierFeatures(16, gamma="median").fit(X, y).gamma_
    assert FourierFeatures(16, gamma=0.25).fit(X, y).gamma_ == 0.25


def test_choose_gamma_tries_both_units_and_all_multiples():
    X, y = make_rows()
    X[:, 0] *= 1000.0
    choice = choose_gamma(X, y, (0.5, 1.0, 2.0), n_components=64)
    assert [one.scale for one in choice.tried] == [True, False, True, True]
    assert choice.scale
    assert choice.tried[2].gamma == choice.tried[0].gamma / 2
    best = choice.tried[0]
    for one in choice.tried[1:]:
        best = one if min(np.subtract(one.aucs, best.aucs)) > 0 else best
    assert (choice.gamma, choice.auc) == (best.gamma, best.auc)
    assert choice == choose_gamma(sp.csr_array(X), np.where(y, "yes", "no"), (0.5, 1.0, 2.0), n_components=64)
    assert choose_gamma(X, y, [3.0], scale=False, n_components=64).tried[0].scale is False


def test_rare_positives_are_all_tried_with():
    X, y = make_rows(3000)
    y &= np.cumsum(y) <= 40
    choice = choose_gamma(X, y, [1.0], scale=True, n_components=32, max_rows=400)
    assert choice.auc > 0.8


def test_partial_fit_has_the_columns_of_fit_and_keeps_gamma():
    X, y = make_rows()
    X[::7, 1] = np.nan
    blocks = FourierFeatures(32)
    for first in range(0, 400, 100):
        blocks.partial_fit(X[first : first + 100], y[first : first + 100])
    assert blocks.gamma_ == FourierFeatures(32).fit(X[:100], y[:100]).gamma_
    whole = FourierFeatures(32, gamma=blocks.gamma_, scale=blocks.scale_).fit(X)
    np.testing.assert_allclose(blocks.map_.center, whole.map_.center)
    np.testing.assert_allclose(blocks.map_.unit, whole.map_.unit)
    np.testing.assert_allclose(blocks.transform(X), whole.transform(X), atol=1e-3)


def test_sparse_rows_are_taken_as_dense_ones():
    X, y = make_rows(seed=1)
    X[X < 3.0] = 0.0
    dense, sparse = (FourierFeatures(32).fit(rows, y) for rows in (X, sp.csc_matrix(X)))
    assert dense.map_.to_dict() == sparse.map_.to_dict()
    assert np.array_equal(dense.transform(X), sparse.transform(sp.coo_array(X)))


def test_frames_come_out_with_names():
    pandas = pytest.importorskip("pandas")
    X, _ = make_rows(20)
    frame = pandas.DataFrame(X, columns=list("abcd"), index=range(5, 25))
    out = FourierFeatures(4).set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["cos0", "sin0", "cos1", "sin1"]
    assert out.index.equals(frame.index)


def test_the_seed_is_random_state():
    X, _ = make_rows(20)
    first = FourierFeatures(8, random_state=1).fit_transform(X)
    assert np.array_equal(clone(FourierFeatures(8, random_state=1)).fit_transform(X), first)
    assert not np.allclose(FourierFeatures(8, random_state=2).fit_transform(X), first)
    seeds = {FourierFeatures(8, random_state=None).fit(X).map_.seed for _ in range(3)}
    assert len(seeds) > 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": "fast"}, "gamma must be 'auto', 'median' or a number, got 'fast'"),
        ({"gamma": -1.0}, "gamma must be a finite number greater than 0"),
        ({"scale": "maybe"}, "scale must be True, False or 'auto'"),
        ({"n_components": 0}, "n_components must be"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures(**settings).fit(make_rows(20)[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"multiples": []}, "multiples must have at least one number"),
        ({"multiples": 3}, "multiples must be a sequence"),
        ({"multiples": [0.0]}, "multiples must be a finite number"),
        ({"scale": "own"}, "scale must be"),
        ({"max_rows": 3}, "max_rows must be"),
        ({"y": np.arange(40) < 5}, "5 positives and 35 negatives; to choose gamma"),
        ({"y": np.arange(39) < 20}, "y must have one label for each of the 40 rows"),
    ],
)
def test_bad_choices_are_named(arguments, message):
    X, y = make_rows(40)
    with pytest.raises(ValueError, match=message):
        choose_gamma(X, **({"y": y} | arguments))


@pytest.mark.slow
@pytest.mark.data
def test_usps_is_ranked_far_better_than_by_its_pixels(shared_file, monkeypatch):
    from mbauc.paper.datasets import load

    monkeypatch.setenv("MBAUC_DATA", str(shared_file("usps.bz2").parent))
    digits = load("usps")
    ranker = make_pipeline(FourierFeatures(1024), MBAClassifier()).fit(digits.X, digits.y)
    linear = MBAClassifier().fit(digits.X, digits.y)
    waves, pixels = (roc_auc(digits.y_test, one.decision_function(digits.X_test)) for one in (ranker, linear))
    assert waves > pixels + 0.02
