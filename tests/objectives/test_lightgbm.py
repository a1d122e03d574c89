"""The objectives in LightGBM itself."""

import numpy as np
import pytest
from sklearn.base import clone

from mbauc import objectives
from mbauc.losses import LOSSES
from mbauc.metrics import grouped_roc_auc, roc_auc

lgb = pytest.importorskip("lightgbm", reason="LightGBM is not here: pip install 'mbauc[boosting]'")
PARAMS = {"verbose": -1, "num_threads": 1, "num_leaves": 8, "learning_rate": 0.2}


@pytest.fixture
def product(rng):
    """800 rows with a label that no line separates."""
    X = rng.standard_normal((800, 4))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(800) > 0.8).astype(int)


def spied(objective, seen):
    def called(scores, data):
        seen.append((np.array(scores), *objective(scores, data)))
        return seen[-1][1:]

    return called


@pytest.mark.parametrize("loss", list(LOSSES))
def test_training_ranks_as_well_as_its_own_objective(loss, product):
    X, y = product
    train, rest = slice(0, 500), slice(500, None)
    aucs = []
    for objective in ("binary", objectives.lightgbm(loss)):
        booster = lgb.train({**PARAMS, "objective": objective}, lgb.Dataset(X[train], y[train]), 30)
        aucs.append(roc_auc(y[rest], booster.predict(X[rest])))
    assert aucs[1] > max(0.9, aucs[0] - 0.03)


def test_initial_scores_weights_and_groups_of_the_data_count(product, rng):
    X, y = product
    start, weight, sizes = rng.standard_normal(800), rng.random(800), [300, 400, 100]
    data = lgb.Dataset(X, y, weight=weight, group=sizes, init_score=start)
    seen, objective = [], objectives.lightgbm("squared_hinge")
    lgb.train({**PARAMS, "objective": spied(objective, seen)}, data, 2)
    groups = np.repeat([0, 1, 2], sizes)
    np.testing.assert_array_equal(seen[0][0], start)
    assert not np.array_equal(seen[1][0], start)
    weight = weight.astype(np.float32)  # as LightGBM keeps them
    expected = objectives.lightgbm("squared_hinge", groups=groups)(y, start, weight)
    np.testing.assert_allclose(seen[0][1:], expected)


def test_the_estimators_train_the_same_trees(product):
    X, y = product
    weight = np.linspace(0.5, 2.0, 800)
    booster = lgb.train(
        {**PARAMS, "objective": objectives.lightgbm(), "min_child_samples": 20},
        lgb.Dataset(X, y, weight=weight),
        5,
    )
    model = lgb.LGBMClassifier(
        objective=objectives.lightgbm(), n_estimators=5, num_leaves=8, learning_rate=0.2, n_jobs=1, verbose=-1
    )
    fitted = clone(model).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(fitted.predict(X, raw_score=True), booster.predict(X))


def test_a_ranker_learns_the_order_within_groups(rng):
    group = np.repeat(np.arange(100), 10)
    X = rng.standard_normal((1000, 3))
    # what tells groups apart says nothing within them
    X[:, 1] = rng.standard_normal(100)[group]
    y = (X[:, 0] + 5 * X[:, 1] + 0.5 * rng.standard_normal(1000) > 0).astype(int)
    model = lgb.LGBMRanker(objective=objectives.lightgbm(), n_estimators=20, n_jobs=1, verbose=-1)
    with pytest.warns(UserWarning, match="one class only"):
        model.fit(X, y, group=[10] * 100)
    mixed = (np.bincount(group, y) > 0) & (np.bincount(group, 1 - y) > 0)
    kept = mixed[group]
    assert grouped_roc_auc(y[kept], model.predict(X[kept]), group[kept]) > 0.9
    assert (model.booster_.feature_importance()[0] > model.booster_.feature_importance()[1:]).all()


def test_early_stopping_by_the_metric(product):
    X, y = product
    train, rest = slice(0, 500), slice(500, None)
    objective = objectives.lightgbm(max_fpr=0.2)
    data = lgb.Dataset(X[train], y[train])
    booster = lgb.train(
        {**PARAMS, "objective": objective, "metric": "none"},
        data,
        100,
        valid_sets=[data.create_valid(X[rest], y[rest])],
        feval=objective.metric,
        callbacks=[lgb.early_stopping(5, verbose=False)],
    )
    assert booster.best_iteration < 100
    value = objective.metric(y[rest], booster.predict(X[rest]))[1]
    assert booster.best_score["valid_0"]["auc_max_fpr_0.2"] == pytest.approx(value)
