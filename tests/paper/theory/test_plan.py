import bz2
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import PolynomialFeatures

import reference
from mbauc import MBAClassifier, PairMoments, sample_pairs
from mbauc.errors import NonFiniteError
from mbauc.paper.theory import guaranteed_distance, plan_pairs, weight_bound
from mbauc.paper.theory.measured import sizes_to_try
from mbauc.rows.block import Block
from strategies import tables


@pytest.fixture
def small(rng):
    X = rng.uniform(-1, 1, size=(60, 3)) @ rng.standard_normal((3, 3))
    y = np.arange(60) < 15
    X[y] += 0.4
    return X, y


@pytest.fixture(scope="module")
def large():
    """50,000 rows of each class, bounded, three columns."""
    rng = np.random.default_rng(0)
    y = np.arange(100_000) % 2 == 0
    return rng.uniform(-1, 1, size=(100_000, 3)) + 0.5 * y[:, None], y


class TestQuantities:
    @given(table=tables(), l2=st.floats(1e-2, 10.0))
    def test_are_those_of_the_definitions(self, table, l2):
        X, y, weight = table
        plan = plan_pairs(X, y, l2=l2, epsilon=0.1, sample_weight=weight, measure=False)
        _, sigma = reference.pair_moments(X, y, weight)
        values = np.linalg.eigvalsh(sigma)
        centre = np.average(X, axis=0, weights=weight)
        scale = 1e-9 * (1 + np.abs(X).max()) ** 2
        q = plan.quantities
        assert q.d == X.shape[1]
        assert q.R_x == pytest.approx(((X - centre) ** 2).sum(axis=1).max(), rel=1e-9, abs=scale)
        assert q.R_w == 1 / (4 * l2)
        assert q.sigma_norm == pytest.approx(values[-1], rel=1e-9, abs=scale)
        assert q.trace == pytest.approx(values.sum(), rel=1e-9, abs=scale)
        assert q.modulus == pytest.approx(l2 + values[0], rel=1e-9, abs=scale)
        assert plan.n_pairs == y.sum() * (~y).sum()

    @pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.1), (0.05, 0.1), (0.05, 0.0)])
    def test_weights_are_those_of_the_estimator(self, small, l1, l2):
        plan = plan_pairs(*small, l1=l1, l2=l2, measure=False)
        exact = np.linalg.norm(MBAClassifier(l1=l1, l2=l2).fit(*small).coef_)
        assert plan.exact_norm == pytest.approx(exact, rel=1e-6)
        assert plan.delta == pytest.approx(0.1 * exact, rel=1e-6)
        assert exact**2 <= plan.quantities.R_w == weight_bound(l1, l2)

    def test_l2_is_that_of_the_estimator_if_it_is_to_be_chosen(self, small):
        assert plan_pairs(*small, measure=False).l2 == MBAClassifier().fit(*small).l2_

    def test_delta_is_a_share_or_a_distance(self, small):
        share = plan_pairs(*small, l2=0.1, delta=0.3, measure=False)
        distance = plan_pairs(*small, l2=0.1, delta=share.delta, relative=False, measure=False)
        assert distance.needed == share.needed


class TestSameDataSamePlan:
    @staticmethod
    def same(one, two, rel=1e-9):
        for name in ("R_x", "sigma_norm", "trace", "modulus"):
            assert getattr(one.quantities, name) == pytest.approx(getattr(two.quantities, name), rel=rel)
        assert one.needed.pairs == pytest.approx(two.needed.pairs, rel=10 * rel)
        assert one.pairs == "all" or one.pairs == pytest.approx(two.pairs, rel=10 * rel)

    @pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_matrix, sp.csc_matrix, np.float32])
    def test_in_any_form(self, small, form):
        X, y = small
        X = X.astype(np.float32).astype(float) * (np.abs(X) > 0.2)
        self.same(plan_pairs(form(X), y, l2=0.1, measure=False), plan_pairs(X, y, l2=0.1, measure=False))

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_after_a_common_shift(self, small, form):
        X, y = small
        moved = form(X + np.array([1e6, -1e6, 3.0]))
        self.same(
            plan_pairs(moved, y, l2=0.1, measure=False), plan_pairs(X, y, l2=0.1, measure=False), rel=1e-7
        )

    def test_in_any_order(self, small, rng):
        X, y = small
        order = rng.permutation(len(y))
        self.same(plan_pairs(X[order], y[order], measure=False), plan_pairs(X, y, measure=False), rel=1e-6)

    def test_under_a_scale_that_the_penalty_follows(self, small):
        X, y = small
        one, two = (plan_pairs(c * X, y, l2=0.1 * c**2, measure=False) for c in (1.0, 8.0))
        assert two.needed.pairs == pytest.approx(one.needed.pairs, rel=1e-9)

    def test_with_rows_repeated_or_weighted(self, small, rng):
        X, y = small
        weight = rng.integers(0, 4, size=len(y))
        weighted = plan_pairs(X, y, l2=0.1, sample_weight=weight, measure=False)
        repeated = plan_pairs(np.repeat(X, weight, axis=0), np.repeat(y, weight), l2=0.1, measure=False)
        self.same(weighted, repeated)
        # rows that are never drawn do not count
        far = np.vstack([X, np.full((1, 3), 1e3)])
        other = plan_pairs(far, np.append(y, True), l2=0.1, sample_weight=np.append(weight, 0), measure=False)
        self.same(weighted, other)
        assert weighted.n_positive == (weight[y] > 0).sum()


class TestAnswer:
    def test_all_where_the_bound_exceeds_the_pairs(self, small):
        plan = plan_pairs(*small, l2=0.1, measure=False)
        assert plan.pairs == "all"
        assert plan.needed.pairs > plan.n_pairs == 15 * 45
        np.testing.assert_array_equal(
            MBAClassifier(l2=plan.l2, pairs=plan.pairs).fit(*small).coef_,
            MBAClassifier(l2=0.1).fit(*small).coef_,
        )

    @pytest.mark.parametrize(("enough", "answer"), [(674, 674), (675, "all"), (676, "all")])
    def test_changes_where_there_are_as_many_pairs_as_needed(self, small, enough, answer):
        quantities = plan_pairs(*small, l2=0.1, measure=False).quantities
        delta = guaranteed_distance(enough, quantities) * (1 + 1e-9)
        plan = plan_pairs(*small, l2=0.1, delta=delta, relative=False, measure=False)
        assert plan.needed.pairs == enough
        assert plan.pairs == answer

    @pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (0.1, 0.5)])
    def test_a_number_that_keeps_its_promise(self, large, l1, l2):
        plan = plan_pairs(*large, l1=l1, l2=l2, delta=0.3, measure=False)
        assert isinstance(plan.pairs, int)
        assert plan.pairs < plan.n_pairs == 2_500_000_000
        exact = MBAClassifier(l1=l1, l2=l2).fit(*large).coef_
        ranker = MBAClassifier(l1=l1, l2=plan.l2, pairs=plan.pairs, batch_size=20_000)
        for seed in range(5):
            sampled = ranker.set_params(random_state=seed).fit(*large).coef_
            assert np.linalg.norm(sampled - exact) <= plan.delta

    def test_rigorous_and_printed_constants(self, large):
        rigorous, printed = (
            plan_pairs(*large, l2=1.0, epsilon=0.05, constants=name, measure=False)
            for name in ("rigorous", "paper")
        )
        assert printed.needed.pairs < rigorous.needed.pairs
        assert [route.name for route in printed.needed.routes] == ["objective"]
        assert "proved" in str(rigorous)
        assert "proved" not in str(printed)

    def test_feature_map(self, small):
        X, y = small
        squares = PolynomialFeatures(2, include_bias=False)
        plan = plan_pairs(X, y, l2=0.1, feature_map=squares, measure=False)
        assert plan.quantities.d == 9
        mapped = plan_pairs(
            PolynomialFeatures(2, include_bias=False).fit_transform(X), y, l2=0.1, measure=False
        )
        assert plan == mapped
        assert not hasattr(squares, "n_output_features_")

    def test_is_frozen(self, small):
        plan = plan_pairs(*small, l2=0.1, measure=False)
        with pytest.raises(FrozenInstanceError):
            plan.pairs = 5


class TestMeasured:
    def test_is_seeded_and_within_the_promise(self, large):
        one, two, other = (
            plan_pairs(*large, l2=1.0, delta=0.3, random_state=seed, draws=3) for seed in (0, 0, 1)
        )
        assert one == two
        assert one.measured != other.measured
        assert one.pairs == other.pairs
        assert [row.pairs for row in one.measured] == [1000, 10_000, 100_000]
        for row in one.measured:
            assert 0 < row.median <= row.largest <= row.guaranteed
        assert one.measured[-1].guaranteed == pytest.approx(one.measured[0].guaranteed / 10, rel=0.2)

    @pytest.mark.parametrize("l1", [0.0, 0.1])
    def test_is_the_distance_of_the_definition(self, large, l1):
        plan = plan_pairs(*large, l1=l1, l2=0.5, draws=1, random_state=7)
        seed = np.random.default_rng(7).spawn(3)[0]
        exact = PairMoments.from_arrays(*large)
        sample = sample_pairs(*large, 1000, random_state=seed)
        w, v = (MBAClassifier(l1=l1, l2=0.5).fit_moments(m).coef_[0] for m in (exact, sample))
        assert plan.measured[0].largest == pytest.approx(np.linalg.norm(w - v), rel=1e-4)
        gaps = plan_pairs(*large, l1=l1, l2=0.5, epsilon=0.1, draws=1, random_state=7)

        def objective(u):
            smooth = 0.5 * u @ exact.second_moment @ u - u @ exact.mean_difference
            return smooth + l1 * np.abs(u).sum() + 0.25 * u @ u

        assert gaps.measured[0].largest == pytest.approx(objective(v) - objective(w), rel=1e-4)
        assert gaps.measured[0].largest <= gaps.measured[0].guaranteed

    def test_follows_the_weights(self, large):
        X, y = large
        weight = np.where(X[:, 0] > 0, 1.0, 0.0)
        plan = plan_pairs(X, y, l2=1.0, sample_weight=weight, draws=2, random_state=0)
        assert plan.measured[-1].largest < 0.1 * plan.exact_norm

    def test_only_what_there_is_and_what_is_quick(self, small, rng):
        assert plan_pairs(*small, l2=0.1).measured == ()
        some = plan_pairs(np.vstack([small[0]] * 2), np.tile(small[1], 2), l2=0.1, draws=2, random_state=0)
        assert [row.pairs for row in some.measured] == [1000]
        y = np.arange(400) % 2
        narrow, wide = (Block(np.zeros((400, d)), y == 1) for d in (3, 5000))
        assert sizes_to_try(narrow, 10**6, 10) == [1000, 10_000, 100_000]
        assert sizes_to_try(wide, 10**6, 10) == []


class TestText:
    def test_says_what_is_needed_and_no_more(self, large):
        text = str(plan_pairs(*large, l2=1.0, delta=0.3, draws=2, random_state=0))
        for part in (
            "pairs to draw: ",
            "0.3 of ‖w_N‖",
            "probability 0.95",
            "50,000 positives × 50,000 negatives = 2,500,000,000 pairs, 3 features",
            "R_x = ",
            "R_w = 0.25",
            "objective",
            "direct",
            "residual",
            "<- fewest",
            "promised",
            "has read the 100,000 rows twice",
            "beyond 50,000 pairs",
        ):
            assert part in text
        assert max(map(len, text.splitlines())) <= 110

    def test_all(self, small):
        text = str(plan_pairs(*small, l2=0.1))
        assert text.startswith("pairs to draw: all\n")
        assert "no bound asks for fewer than the 675 pairs of the data" in text
        assert "measured: nothing" in text

    def test_a_promise_that_is_none(self, large):
        X, y = large
        plan = plan_pairs(X - 10 * y[:, None], y, l2=0.01, draws=1, random_state=0)
        assert plan.measured[0].guaranteed > plan.exact_norm + math.sqrt(plan.quantities.R_w)
        assert str(plan).count("nothing") >= 1
        assert "objective above its minimum" in str(plan_pairs(*large, l2=0.1, epsilon=0.01, draws=1))

    def test_a_sample_that_costs_more_than_all(self, large):
        assert "all of them, exactly, are fewer rows to read" in str(plan_pairs(*large, l2=0.3, measure=False))


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"delta": 0.1, "epsilon": 0.1}, "delta or epsilon, not both"),
            ({"l2": 0.0}, "must not both be 0"),
            ({"l2": "best"}, "l2 must be a number of at least 0 or 'auto'"),
            ({"l2": -1.0}, "l2 must be"),
            ({"l1": np.nan}, "l1 must be"),
            ({"p": 0.0}, "p must be"),
            ({"p": 1.0}, "p must be .* less than 1"),
            ({"p": 1.5}, "p must be"),
            ({"delta": 0.0}, "delta must be"),
            ({"epsilon": -1}, "epsilon must be"),
            ({"constants": "loose"}, "constants must be"),
            ({"relative": 1}, "relative must be"),
            ({"measure": "yes"}, "measure must be"),
            ({"draws": 0}, "draws must be"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
            ({"feature_map": "squares"}, "feature_map must have fit_transform"),
            ({"random_state": "seed", "l2": 0.1}, "random_state must be"),
            ({"l1": 100.0, "l2": 0.1}, "all weights are zero under this penalty"),
            ({"sample_weight": np.arange(60) < 15}, "no pairs yet"),
        ],
    )
    def test_is_named(self, small, settings, message):
        X, y = np.vstack([small[0]] * 2), np.tile(small[1], 2)
        if "sample_weight" in settings:
            settings = settings | {"sample_weight": np.tile(settings["sample_weight"], 2)}
        with pytest.raises(ValueError, match=message):
            plan_pairs(X, y, **settings)

    def test_one_class(self, small):
        with pytest.raises(ValueError, match="one class only"):
            plan_pairs(small[0], np.ones(60), l2=0.1)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_nan(self, small, form):
        X, y = small
        X[17, 1] = np.nan
        with pytest.raises(NonFiniteError, match="row 17, column 1"):
            plan_pairs(form(X), y, l2=0.1)

    def test_lasso_without_a_unique_solution(self, small):
        X, y = small
        twice = np.hstack([X, X])
        with pytest.raises(ValueError, match="may not be unique"):
            plan_pairs(twice, y, l1=0.01, l2=0.0)
        assert plan_pairs(twice, y, l1=0.01, l2=0.0, epsilon=0.1).pairs == "all"


@pytest.mark.data
def test_a9a(shared_file):
    with bz2.open(shared_file("a9a.bz2")) as file:
        X, y = load_svmlight_file(file, n_features=123)
    plan = plan_pairs(X, y, l2=0.1, delta=0.1, measure=False)
    assert plan.n_pairs == 193_829_520
    assert plan.quantities.smallest == 0.0
    needed = {route.name: route.pairs for route in plan.needed.routes}
    assert needed["objective"] == pytest.approx(1.9e12, rel=0.05)
    assert needed["direct"] == pytest.approx(7e8, rel=0.05)
    assert needed["residual"] == pytest.approx(2.4e7, rel=0.05)
    assert plan.pairs == needed["residual"]
    # far more than reality: a hundred thousand pairs do better than asked for
    exact = MBAClassifier(l2=0.1).fit(X, y).coef_
    sampled = MBAClassifier(l2=0.1, pairs=100_000, batch_size=20_000, random_state=0).fit(X, y).coef_
    assert np.linalg.norm(sampled - exact) < plan.delta
    assert math.isclose(plan.exact_norm, np.linalg.norm(exact), rel_tol=1e-6)
