"""What scikit-learn expects of an estimator holds for those of mbauc.dask."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from mbauc import MBAClassifier as LocalClassifier
from mbauc import MBAClassifierCV as LocalClassifierCV

dask = pytest.importorskip("dask", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")

import mbauc.dask  # noqa: E402
from mbauc.dask import MBAClassifier, MBAClassifierCV  # noqa: E402

PAIRS = [(MBAClassifier, LocalClassifier), (MBAClassifierCV, LocalClassifierCV)]


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_thread")]


def test_what_is_public():
    assert sorted(mbauc.dask.__all__) == [
        "AdditiveAUCClassifier",
        "MBAClassifier",
        "MBAClassifierCV",
        "PairwiseAUCClassifier",
        "PairwiseAUCClassifierCV",
        "roc_auc",
        "roc_auc_interval",
    ]


@pytest.mark.parametrize(("ours", "local"), PAIRS, ids=["classifier", "cv"])
def test_parameters_are_those_of_the_local_estimator(ours, local):
    assert inspect.signature(ours.__init__) == inspect.signature(local.__init__)
    assert ours().get_params() == local().get_params()
    ranker = ours().set_params(scale=True, random_state=3)
    copy = clone(ranker)
    assert type(copy) is ours
    assert copy.get_params() == ranker.get_params()
    assert is_classifier(copy)
    with pytest.raises(ValueError, match="Invalid parameter"):
        ranker.set_params(no_such=1)


@pytest.mark.parametrize(("ours", "local"), PAIRS, ids=["classifier", "cv"])
def test_rows_in_memory_are_fitted_as_ever(table, ours, local):
    X, y = table
    weight = np.arange(600) % 3
    first = ours(random_state=0).fit(X, y, weight)
    second = local(random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        found = getattr(first, name)(X)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, getattr(second, name)(X))
    assert first.score(X, y) == second.score(X, y)
    for name in ("id", "classes"):
        with pytest.raises(ValueError, match=f"{name} is for Dask collections"):
            ours().fit(X, y, **{name: [0, 1]})


@pytest.mark.parametrize(("ours", "local"), PAIRS, ids=["classifier", "cv"])
@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_a_fitted_estimator_travels(table, arrays, ours, local, solver):
    ranker = ours(solver=solver, random_state=0).fit(*arrays)
    known = {name for name in vars(local(solver=solver, random_state=0).fit(*table)) if name.endswith("_")}
    assert {name for name in vars(ranker) if name.endswith("_")} == known
    copy = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copy.predict_proba(arrays[0]).compute(), ranker.predict_proba(table[0]))
    assert not hasattr(clone(copy), "coef_")


def test_a_splitter_keeps_groups_of_rows_in_memory_together(table):
    X, y = table
    groups = np.arange(600) // 20
    ours = MBAClassifierCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    local = LocalClassifierCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(ours.coef_, local.coef_)


def test_a_fit_goes_on_with_more_rows(table, arrays):
    """Moments of a cluster are moments."""
    X, y = table
    ranker = MBAClassifier(l2=0.1).fit(arrays[0][:300], arrays[1][:300]).partial_fit(X[300:], y[300:])
    np.testing.assert_allclose(ranker.coef_, LocalClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-9)


def test_a_fit_that_fails_leaves_the_earlier_one(table, arrays):
    ranker = MBAClassifier().fit(*arrays)
    coef = ranker.coef_.copy()
    with pytest.raises(ValueError, match="y is None"):
        ranker.fit(arrays[0])
    bad = arrays[0].map_blocks(lambda block: np.where(block > 5, np.nan, block))
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(bad, arrays[1])
    np.testing.assert_array_equal(ranker.coef_, coef)
    assert ranker.n_features_in_ == 6


def _expected_failures(estimator):
    if isinstance(estimator, MBAClassifierCV) or estimator.weights == "frequency":
        return {}
    why = "where l2 is chosen, a weight is not a repeated row unless weights='frequency'"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [MBAClassifier(), MBAClassifier(weights="frequency"), MBAClassifierCV(random_state=0)],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
