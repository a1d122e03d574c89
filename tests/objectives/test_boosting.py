"""What boosters are given is the double loop over pairs; no booster is needed to see it."""

import pickle
from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc import objectives
from mbauc.errors import OneClassGroupsWarning
from mbauc.losses import LOSSES
from mbauc.metrics import grouped_roc_auc, partial_roc_auc
from strategies import scored_rows

names = pytest.mark.parametrize("name", list(LOSSES))
both = pytest.mark.parametrize("library", [objectives.lightgbm, objectives.xgboost])


def slow_derivatives(name, rows, floor, equal_groups=False, **region):
    """Gradient and Hessian diagonal by the double loop, times half the rows that the pairs are worth."""
    positive, scores, weight, groups = rows
    pairs = reference.weighted_pairs(positive, weight, groups, equal_groups)
    scale = slow_worth(rows, pairs) / 2
    pairs = reference.region_pairs(pairs, scores, groups=groups, **region)
    _, gradient, hessian = reference.pair_loss(name, pairs, scores)
    least = [floor * sum(u for i, j, u in pairs if row in (i, j)) for row in range(len(scores))]
    return scale * gradient, scale * np.maximum(np.diag(hessian), least)


def slow_worth(rows, pairs):
    """4 A B / (A + B) for the weights of the classes of each group with pairs, added up."""
    positive, scores, weight, groups = rows
    size = np.ones(len(scores)) if weight is None else weight
    groups = np.zeros(len(scores)) if groups is None else groups
    worth = 0.0
    for g in {groups[i] for i, _, _ in pairs}:
        plus, minus = size[(groups == g) & positive].sum(), size[(groups == g) & ~positive].sum()
        worth += 4 * plus * minus / (plus + minus)
    return worth


def dataset(y, weight=None, sizes=None):
    """What both libraries' data sets say of themselves."""
    ends = [] if sizes is None else np.append(0, np.cumsum(sizes))
    return SimpleNamespace(
        get_label=lambda: np.asarray(y, dtype=np.float32),
        get_weight=lambda: weight,
        get_group=lambda: sizes,
        get_uint_info=lambda field: {"group_ptr": np.asarray(ends)}[field],
    )


def no_weights(library):
    return None if library is objectives.lightgbm else np.zeros(0)


def agree(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9 * max(np.abs(expected[0]).max(), 1e-6))


@both
@names
@pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")
@given(
    rows=scored_rows(max_rows=9),
    equal_groups=st.booleans(),
    top=st.sampled_from([1.0, 0.4]),
    whole=st.sampled_from([0.0, 0.75]),
)
def test_derivatives_equal_the_double_loop(library, name, rows, equal_groups, top, whole):
    positive, scores, weight, groups = rows
    equal_groups = equal_groups and groups is not None
    settings = {"groups": groups, "equal_groups": equal_groups, "min_curvature": 0.25}
    objective = library(name, max_fpr=top, whole=whole, **settings)
    part = slow_derivatives(name, rows, 0.25, equal_groups, max_fpr=top)
    all_pairs = slow_derivatives(name, rows, 0.25, equal_groups)
    expected = [whole * one + (1 - whole) * other for one, other in zip(all_pairs, part, strict=True)]
    agree(objective(positive.astype(float), scores, weight), expected)


@both
def test_scores_come_first_with_a_data_set(library, rng):
    y, s = rng.random(40) < 0.4, rng.standard_normal(40)
    weight, sizes = rng.random(40), np.array([10, 25, 5])
    objective = library("squared_hinge")
    rows = y, s, None, np.repeat([0, 1, 2], sizes)
    agree(objective(s, dataset(y, no_weights(library), sizes)), slow_derivatives("squared_hinge", rows, 1e-3))
    agree(objective(s, dataset(y, weight)), objective(y, s, weight))


def test_lightgbm_passes_sizes_of_groups_by_position(rng):
    y, s, sizes = rng.random(40) < 0.4, rng.standard_normal(40), np.array([10, 25, 5])
    rows = y, s, rng.random(40), np.repeat([0, 1, 2], sizes)
    agree(objectives.lightgbm()(y, s, rows[2], sizes), slow_derivatives("logistic", rows, 1e-3))


def test_weights_of_groups_are_those_of_their_pairs(rng):
    y, s, sizes = rng.random(30) < 0.4, rng.standard_normal(30), np.array([10, 20])
    group = np.repeat([0, 1], sizes)
    gradient, _ = objectives.xgboost("squared")(s, dataset(y, np.array([1.0, 3.0]), sizes))
    pairs = [(i, j, u * (3.0 if group[i] else 1.0)) for i, j, u in reference.weighted_pairs(y, None, group)]
    slow = reference.pair_loss("squared", pairs, s)[1]
    np.testing.assert_allclose(gradient / np.abs(gradient).max(), slow / np.abs(slow).max(), rtol=1e-9)
    with pytest.raises(ValueError, match="weights of groups"):
        objectives.xgboost(equal_groups=True)(s, dataset(y, np.array([1.0, 3.0]), sizes))


@both
@names
def test_hessians_add_up_as_for_the_logistic_loss_of_single_rows(library, name, rng):
    y, s, curvature = rng.random(5000) < 0.05, np.zeros(5000), {"logistic": 0.25}.get(name, 1.0)
    gradient, hessian = library(name)(y, s)
    assert gradient.sum() == pytest.approx(0.0, abs=1e-9)
    assert gradient[y].sum() < 0 < gradient[~y].sum()
    # each class has half of the weight, as with class_weight="balanced"
    assert hessian[y].sum() == pytest.approx(hessian[~y].sum())
    assert hessian.mean() == pytest.approx(4 * curvature * y.mean() * (1 - y.mean()))
    assert np.allclose(library(name)(y, s, np.full(5000, 3.0)), 3 * np.array([gradient, hessian]))


@both
@pytest.mark.parametrize(("name", "least"), [("squared_hinge", 1e-3), ("hinge", 1.0)])
def test_hessians_of_pairs_that_are_far_apart_are_not_zero(library, name, least):
    y, s = np.array([0, 0, 1, 1]), np.array([-50.0, -40.0, 40.0, 50.0])
    _, hessian = library(name)(y, s)
    np.testing.assert_allclose(hessian, least)


@both
def test_negatives_out_of_the_region_count_nothing(library, rng):
    y, s = np.arange(100) < 20, rng.standard_normal(100)
    gradient, hessian = library(max_fpr=0.1, whole=0.0)(y, s)
    counted = np.flatnonzero(hessian[20:]) + 20
    assert set(counted) == set(20 + np.argsort(s[20:])[-8:])
    assert (gradient[counted] > 0).all()


@given(rows=scored_rows(), equal_groups=st.booleans())
@pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")
def test_the_metric_is_the_auc_of_the_same_pairs(rows, equal_groups):
    positive, scores, weight, groups = rows
    equal_groups = equal_groups and groups is not None
    metric = objectives.xgboost(groups=groups, equal_groups=equal_groups).metric
    if groups is None:
        expected = reference.auc(positive, scores, weight)
    else:
        expected = grouped_roc_auc(positive, scores, groups, sample_weight=weight, equal_groups=equal_groups)
    assert metric(positive, scores, weight) == pytest.approx(expected)


def test_the_metric_of_a_region_is_its_area_as_a_share(rng):
    y = rng.random(300) < 0.3
    s = rng.standard_normal(300) + 2 * y
    name, value, more_is_better = objectives.lightgbm(max_fpr=0.2, min_tpr=0.5).metric(y, s)
    assert (name, more_is_better) == ("auc_max_fpr_0.2_min_tpr_0.5", True)
    area = partial_roc_auc(y, s, max_fpr=0.2, min_tpr=0.5, standardized=False)
    assert value == pytest.approx(area / (0.2 * 0.5))


def test_names_and_shapes_that_the_libraries_look_for(rng):
    y, s = np.array([0, 1, 0]), np.array([0.0, 1.0, 2.0])
    lightgbm, xgboost = objectives.lightgbm(), objectives.xgboost()
    assert len(signature(lightgbm).parameters) == len(signature(lightgbm.metric).parameters) == 4
    assert "sample_weight" in signature(xgboost).parameters
    assert xgboost.metric.__name__ == "auc"
    assert xgboost.metric(s, dataset(y, np.zeros(0))) == ("auc", 0.5)


@both
def test_it_can_be_pickled(library, rng):
    y, s = rng.random(50) < 0.5, rng.standard_normal(50)
    objective = library("squared_hinge", max_fpr=0.5)
    agree(pickle.loads(pickle.dumps(objective))(y, s), objective(y, s))


@both
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"loss": "cross_entropy"}, "loss must be one of"),
        ({"max_fpr": 0.0}, "max_fpr must be"),
        ({"whole": 1.5}, "whole must be"),
        ({"min_curvature": -1.0}, "min_curvature must be"),
        ({"groups": [1.0, float("nan")]}, "groups has no value at row 1"),
        ({"equal_groups": "yes"}, "equal_groups must be"),
    ],
)
def test_settings_that_make_no_sense(library, settings, reason):
    with pytest.raises(ValueError, match=reason):
        library(**settings)


@both
def test_data_that_make_no_sense(library, rng):
    y, s = np.array([0, 1, 2, 1]), rng.standard_normal(4)
    with pytest.raises(ValueError, match="3 "):
        library()(y, s)
    with pytest.raises(ValueError, match="one class only"):
        library()(np.ones(4), s)
    with pytest.raises(ValueError, match="one score a row"):
        library()(y > 0, np.zeros((4, 3)))
    with pytest.raises(ValueError, match="the data have 4 rows"):
        library(groups=[1, 1, 2])(y > 0, s)
    with pytest.raises(ValueError, match="leave out one"):
        library(groups=[1, 1, 2, 2])(s, dataset(y > 0, no_weights(library), np.array([2, 2])))
    with pytest.raises(ValueError, match="equal_groups=True needs groups"):
        library(equal_groups=True)(y > 0, s)
    with pytest.warns(OneClassGroupsWarning, match="1 of 2 groups"):
        library(groups=[1, 1, 2, 2])(np.array([0, 1, 1, 1]), s)
