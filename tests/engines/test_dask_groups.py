"""Pairs within groups, and losses other than the squared one, of Dask collections: the fits of one machine."""

import numpy as np
import pytest

import mbauc

pytest.importorskip("dask", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")

from mbauc.dask import (  # noqa: E402
    MBAClassifier,
    MBAClassifierCV,
    PairwiseAUCClassifier,
    PairwiseAUCClassifierCV,
)

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture
def groups():
    """Of the 600 rows, spread over all partitions."""
    return np.random.default_rng(3).integers(0, 12, 600)


@pytest.mark.parametrize("settings", [{"l2": 0.1}, {"l2": 0.1, "equal_groups": True}, {"l1": 0.01, "l2": 0.01}])
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays(table, arrays, groups, settings, weighted):
    X, y = table
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 600) if weighted else None
    lazy = None if weight is None else da.from_array(weight, chunks=150)
    ours = MBAClassifier(tol=1e-12, **settings).fit(*arrays, lazy, da.from_array(groups, chunks=150))
    local = mbauc.MBAClassifier(**settings).fit(X, y, weight, groups=groups)
    assert ours.solver_.name == "matrix-free"
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(ours.effective_sample_size_, local.effective_sample_size_, rtol=1e-9)


def test_texts_in_a_dataframe_are_the_groups_that_numbers_are(table, lazy, groups):
    lazy = lazy.assign(query=da.from_array(np.array([f"{g}" for g in groups], dtype=object), chunks=150))
    ours = MBAClassifier(l2=0.1, tol=1e-12).fit(lazy[list("abcdef")], lazy["y"], groups=lazy["query"])
    local = mbauc.MBAClassifier(l2=0.1).fit(*table, groups=groups)
    np.testing.assert_allclose(ours.coef_[0], local.coef_[0], rtol=1e-4, atol=1e-7)


def test_rows_in_memory(table, groups):
    ours = MBAClassifier(l2=0.1).fit(*table, groups=groups)
    np.testing.assert_array_equal(ours.coef_, mbauc.MBAClassifier(l2=0.1).fit(*table, groups=groups).coef_)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("grouped", [False, True])
def test_other_losses(table, arrays, groups, loss, grouped):
    own = groups if grouped else None
    lazy = da.from_array(groups, chunks=150) if grouped else None
    ours = PairwiseAUCClassifier(loss, l2=0.1, tol=1e-10).fit(*arrays, groups=lazy)
    local = mbauc.PairwiseAUCClassifier(loss, l2=0.1, tol=1e-10).fit(*table, groups=own)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "more"),
    [(MBAClassifierCV, {"within_groups": True}), (PairwiseAUCClassifierCV, {"loss": "logistic"})],
)
def test_folds_do_not_depend_on_the_partitions(arrays, groups, kind, more):
    settings = {"l2_grid": [0.01, 1.0], "cv": 2, "random_state": 0, "tol": 1e-10, **more}
    fits = []
    for chunks in (150, 601):
        X, y = (one.rechunk({0: chunks}) for one in arrays)
        fits.append(kind(**settings).fit(X, y, groups=da.from_array(groups, chunks=chunks)))
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(fits[0].cv_results_[name], fits[1].cv_results_[name], atol=1e-6)
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-3, atol=1e-6)


def test_what_groups_mean_is_asked_for_as_in_memory(arrays, groups):
    with pytest.raises(ValueError, match=r"groups would be for the splitter alone.*set within_groups=True"):
        MBAClassifierCV().fit(*arrays, groups=da.from_array(groups, chunks=150))
    with pytest.raises(ValueError, match="within_groups=True needs the group of each row"):
        MBAClassifierCV(within_groups=True).fit(*arrays)


def test_groups_in_other_partitions_are_an_error(arrays, groups):
    with pytest.raises(ValueError, match="X has 600 rows and groups has 599"):
        MBAClassifier().fit(*arrays, groups=da.from_array(groups[1:], chunks=150))


def test_a_missing_group_is_an_error(arrays, groups):
    broken = groups.astype(float)
    broken[200] = np.nan
    with pytest.raises(ValueError, match=r"partition 1 .*groups has no value at row 50"):
        MBAClassifier().fit(*arrays, groups=da.from_array(broken, chunks=150))
