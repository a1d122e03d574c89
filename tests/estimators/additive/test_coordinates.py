"""Ridge solutions of coordinates, and moments of their folds."""

import numpy as np
import pytest

from mbauc import MBAClassifier, PairMoments
from mbauc.estimators.additive.coordinates import FoldedRows, Statistics
from mbauc.estimators.additive.gain import residuals
from reference import auc


def make_rows(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    Z, positive = rng.normal(size=(n, d)), rng.random(n) < 0.4
    Z[positive] += 0.5 * rng.normal(size=d)
    return Z, positive, rng.uniform(0.5, 2.0, n), (np.arange(n) % 3).astype(np.int32)


@pytest.mark.parametrize("weighted", [False, True])
def test_solutions_rank_like_eq_14(weighted):
    Z, positive, weight, _ = make_rows()
    weight = weight if weighted else None
    statistics = Statistics.of(PairMoments.from_arrays(Z, positive, weight))
    strengths = np.array([[1.0, 2.0, 0.5, 10.0], [0.1, 0.1, 30.0, 0.1]])
    for strength, w in zip(strengths, statistics.solve(strengths), strict=True):
        ranker = MBAClassifier(l2=2 * statistics.noise, penalty_factors=strength, scale=False)
        expected = ranker.fit(Z, positive, sample_weight=weight).coef_[0]
        np.testing.assert_allclose(w / np.linalg.norm(w), expected / np.linalg.norm(expected), rtol=1e-7)


def test_some_columns_are_solved_alone():
    Z, positive, _, _ = make_rows(1)
    columns = np.array([2, 0])
    strength = np.array([[1.0, 3.0]])
    whole = Statistics.of(PairMoments.from_arrays(Z, positive)).select(columns).solve(strength)
    alone = Statistics.of(PairMoments.from_arrays(Z[:, columns], positive)).solve(strength)
    np.testing.assert_allclose(whole, alone)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_add_up_and_are_held_out(weighted):
    Z, positive, weight, fold = make_rows(2)
    weight = weight if weighted else None
    rows = FoldedRows(Z, positive, weight, fold, n_jobs=1)
    own = None if weight is None else weight[fold != 1]
    training = PairMoments.from_arrays(Z[fold != 1], positive[fold != 1], own)
    np.testing.assert_allclose(rows.training(1).difference_covariance, training.difference_covariance)
    whole = PairMoments.from_arrays(Z, positive, weight)
    np.testing.assert_allclose(rows.whole.difference_covariance, whole.difference_covariance)
    W = np.eye(4)[:2]
    scores = rows.held_out(1, W)
    np.testing.assert_array_equal(scores, Z[fold == 1][:, :2].T)
    held_out = None if weight is None else weight[fold == 1]
    expected = [auc(positive[fold == 1], s, held_out) for s in scores]
    np.testing.assert_allclose(rows.auc(1, scores), expected)


def test_residuals_are_the_gradient_of_a_further_column():
    Z, positive, weight, _ = make_rows(3)
    Z -= np.average(Z, axis=0, weights=weight)
    moments = PairMoments.from_arrays(Z, positive, weight)
    w = np.array([0.3, -0.2, 0.5, 0.0])
    r = residuals(Z @ w, positive, weight)
    expected = moments.mean_difference - moments.difference_covariance / 2 @ w
    np.testing.assert_allclose(Z.T @ r, expected, atol=1e-12)
