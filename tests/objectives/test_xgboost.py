"""The objectives in XGBoost itself."""

import numpy as np
import pytest
from sklearn.base import clone

from mbauc import objectives
from mbauc.losses import LOSSES
from mbauc.metrics import roc_auc

xgb = pytest.importorskip("xgboost", reason="XGBoost is not here: pip install 'mbauc[boosting]'")
PARAMS = {"nthread": 1, "max_depth": 3, "eta": 0.2}


@pytest.fixture
def product(rng):
    """800 rows with a label that no line separates."""
    X = rng.standard_normal((800, 4))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(800) > 0.8).astype(int)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_training_ranks_as_well_as_its_own_objective(loss, product):
    X, y = product
    train, rest = xgb.DMatrix(X[:500], y[:500]), xgb.DMatrix(X[500:])
    own = xgb.train({**PARAMS, "objective": "binary:logistic"}, train, 30)
    ours = xgb.train(PARAMS, train, 30, obj=objectives.xgboost(loss))
    assert roc_auc(y[500:], ours.predict(rest)) > max(0.9, roc_auc(y[500:], own.predict(rest)) - 0.03)


@pytest.mark.parametrize("weighted", [False, True])
def test_base_margins_and_groups_of_the_data_count(weighted, product, rng):
    X, y = product
    start, groups = rng.standard_normal(800), np.repeat([0, 1, 2], [300, 400, 100])
    data = xgb.DMatrix(X, y, base_margin=start, qid=groups)
    if weighted:
        data.set_weight([1.0, 2.0, 4.0])
    seen = []

    def called(scores, given):
        seen.append((np.array(scores), *objective(scores, given)))
        return seen[-1][1:]

    objective = objectives.xgboost("squared_hinge")
    xgb.train(PARAMS, data, 2, obj=called)
    np.testing.assert_allclose(seen[0][0], start, rtol=1e-6)
    weight = np.sqrt([1.0, 2.0, 4.0])[groups] if weighted else None
    expected = objectives.xgboost("squared_hinge", groups=groups)(y, seen[0][0], weight)
    np.testing.assert_allclose(seen[0][1:], expected)


@pytest.mark.parametrize("base_score", [None, 0.1, 0.9])
def test_the_estimator_trains_the_same_trees_whatever_the_base_score(base_score, product):
    X, y = product
    weight = np.linspace(0.5, 2.0, 800)
    booster = xgb.train(PARAMS, xgb.DMatrix(X, y, weight=weight), 5, obj=objectives.xgboost())
    model = xgb.XGBClassifier(
        objective=objectives.xgboost(),
        n_estimators=5,
        max_depth=3,
        learning_rate=0.2,
        n_jobs=1,
        base_score=base_score,
    )
    scores = clone(model).fit(X, y, sample_weight=weight).predict(X, output_margin=True)
    apart = scores - booster.predict(xgb.DMatrix(X))
    assert np.ptp(apart) < 1e-5


def test_early_stopping_by_the_metric(product):
    X, y = product
    objective = objectives.xgboost(max_fpr=0.2)
    model = xgb.XGBClassifier(
        objective=objective,
        n_estimators=100,
        max_depth=3,
        n_jobs=1,
        eval_metric=objective.metric,
        early_stopping_rounds=5,
    ).fit(X[:500], y[:500], eval_set=[(X[500:], y[500:])], verbose=False)
    assert model.best_iteration < 99
    history = model.evals_result()["validation_0"]["auc_max_fpr_0.2"]
    assert max(history) == history[model.best_iteration] == pytest.approx(model.best_score)
    data = xgb.DMatrix(X[500:], y[500:])
    booster = xgb.train(
        PARAMS,
        xgb.DMatrix(X[:500], y[:500]),
        100,
        obj=objective,
        evals=[(data, "rest")],
        custom_metric=objective.metric,
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    assert booster.best_iteration < 99
    best = booster.predict(data, iteration_range=(0, booster.best_iteration + 1))
    assert booster.best_score == pytest.approx(objective.metric(y[500:], best), abs=1e-5)
