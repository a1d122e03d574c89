"""A loss of one's own is a class with three functions; the pairs are looked at one by one."""

import numpy as np
import pytest
from hypothesis import given

import reference
from mbauc import PairwiseAUCClassifier
from mbauc.losses import LOSSES, Expansion, PairLoss, PairObjective, PairWeights, get_loss
from mbauc.losses.pairwise import PairByPair
from strategies import scored_rows


class Cosh(PairLoss):
    """``√(1 + (1 - m)₊²)``, which nothing in the package knows."""

    name = "own"

    def of_margins(self, m):
        return np.sqrt(1 + np.maximum(1 - m, 0) ** 2)

    def slopes(self, m):
        return -np.maximum(1 - m, 0) / self.of_margins(m)

    def curvatures(self, m):
        return (m < 1) / self.of_margins(m) ** 3

    def expand(self, pairs, scores) -> Expansion:
        return PairByPair(self, pairs, scores)


@given(rows=scored_rows())
def test_it_is_summed_over_all_pairs(rows):
    positive, scores, weight, groups = rows
    found = PairObjective(get_loss(Cosh()), PairWeights.build(positive, weight, groups)).expand(scores)
    pairs = reference.weighted_pairs(positive, weight, groups)
    value = sum(u * np.sqrt(1 + max(0, 1 - scores[i] + scores[j]) ** 2) for i, j, u in pairs)
    assert found.value == pytest.approx(value)
    assert found.gradient.sum() == pytest.approx(0, abs=1e-12)
    v = np.arange(scores.size, dtype=float)
    assert v @ found.product(v) >= 0
    np.testing.assert_allclose(
        found.diagonal, [found.product(e)[i] for i, e in enumerate(np.eye(scores.size))], atol=1e-15
    )


def test_it_can_be_fitted(table):
    """The gradient of the penalised loss by the weights vanishes: 0 = X'g + l2 w in the units of the loss."""
    X, y = table
    X = X[:150] / X.std(axis=0)
    model = PairwiseAUCClassifier(Cosh(), l2=0.1, scale=False, tol=1e-12).fit(X, y[:150])
    w = model.coef_.ravel()
    around = Cosh().expand(PairWeights.build(y[:150] == 1), X @ w)
    slope = X.T @ around.gradient
    ridge = -(w @ slope) / (w @ w)
    np.testing.assert_allclose(slope, -ridge * w, atol=1e-6)
    assert ridge > 0


@pytest.mark.parametrize("name", list(LOSSES))
def test_pair_by_pair_agrees_with_each_fast_way(name, rng):
    positive, scores = rng.random(200) < 0.4, 2 * rng.standard_normal(200)
    pairs = PairWeights.build(positive, rng.exponential(size=200), rng.integers(0, 5, 200))
    fast, slow = get_loss(name).expand(pairs, scores), PairByPair(get_loss(name), pairs, scores)
    v = rng.standard_normal(200)
    assert fast.value == pytest.approx(slow.value, rel=1e-9)
    for one, other in (
        (fast.gradient, slow.gradient),
        (fast.diagonal, slow.diagonal),
        (fast.product(v), slow.product(v)),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def test_single_precision_is_taken_as_the_double_that_it_is(rng):
    positive, scores = rng.random(50) < 0.5, rng.standard_normal(50).astype(np.float32)
    around = Cosh().expand(PairWeights.build(positive), scores)
    np.testing.assert_array_equal(around.product(scores), around.product(scores.astype(np.float64)))


def test_blocks_of_pairs_add_up(rng, monkeypatch):
    positive, scores = rng.random(60) < 0.4, rng.standard_normal(60)
    pairs = PairWeights.build(positive)
    whole = PairByPair(Cosh(), pairs, scores)
    gradient, product = whole.gradient, whole.product(scores)
    monkeypatch.setattr("mbauc.losses.pairwise._BLOCK", 100)
    parts = PairByPair(Cosh(), pairs, scores)
    assert parts.value == pytest.approx(whole.value)
    np.testing.assert_allclose(parts.gradient, gradient, atol=1e-15)
    np.testing.assert_allclose(parts.product(scores), product, atol=1e-15)


def test_a_loss_is_found_by_name_or_given():
    own = Cosh()
    assert get_loss(own) is own
    for name, loss in LOSSES.items():
        assert isinstance(get_loss(name), loss)
    for wrong in ("hinges", 3, None, Cosh):
        with pytest.raises(ValueError, match="loss must be one of 'squared', 'squared_hinge'"):
            get_loss(wrong)


class Nameless(PairLoss):
    of_margins, slopes, curvatures, expand = Cosh.of_margins, Cosh.slopes, Cosh.curvatures, Cosh.expand


def test_a_loss_needs_a_name():
    with pytest.raises(ValueError, match="loss must have a name: set the class attribute name of Nameless"):
        get_loss(Nameless())


class Undefined(Cosh):
    """Of no value anywhere, with slopes as if it had one."""

    name = "undefined"

    def of_margins(self, m):
        return np.full_like(m, np.nan)

    def slopes(self, m):
        return -1.0 * (m < 1)

    def curvatures(self, m):
        return 1.0 * (m < 1)


class Concave(Cosh):
    """``-m²``, which has no minimum."""

    name = "concave"

    def of_margins(self, m):
        return -(m**2)

    def slopes(self, m):
        return -2 * m

    def curvatures(self, m):
        return np.full_like(m, -2.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loss", [Undefined(), Concave()])
@pytest.mark.parametrize("settings", [{}, {"l2": 0.1}, {"l2": 0.1, "max_fpr": 0.3}])
def test_a_loss_without_a_minimum_is_named(table, loss, settings):
    X, y = table
    with pytest.raises(ValueError, match=f"the loss '{loss.name}' diverges: it must be convex"):
        PairwiseAUCClassifier(loss, **settings).fit(X[:150], y[:150])
