import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtr, ndtri

from mbauc import MBAClassifier
from mbauc.metrics import roc_auc_interval
from mbauc.paper.detection import AtomicCurve, DiscreteHypotheses, GaussianMixture, Hypotheses
from mbauc.paper.studies.printed import hypotheses as printed_hypotheses


def _unequal():
    return Hypotheses(
        GaussianMixture([[1.0, 0.5], [-1.0, 1.0]], [np.diag([1.0, 2.0]), np.diag([0.5, 1.0])], [0.6, 0.4]),
        GaussianMixture([0.0, 0.0]),
    )


def _sampled(both):
    """The same problem (but for a billionth) without a closed form."""
    positive = GaussianMixture(
        both.positive.means, both.positive.covariances * (1 + 1e-9), both.positive.weights
    )
    return Hypotheses(positive, both.negative)


# -- closed forms ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "expected"), [(1, 0.92135), (2, 0.83708), (3, 0.80189)])
def test_the_paper_s_mixtures_have_a_closed_form(k, expected):
    assert printed_hypotheses(k).closed_form_auc() == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize(
    "both",
    [
        printed_hypotheses(3),
        Hypotheses(
            GaussianMixture([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]]),
            GaussianMixture([0.0, 0.0], [[2.0, 1.0], [1.0, 3.0]]),
        ),
        Hypotheses(GaussianMixture(np.zeros(5), 3.0), GaussianMixture(np.zeros(5))),
        Hypotheses(GaussianMixture(np.ones(5), 0.4), GaussianMixture(np.ones(5))),
    ],
    ids=["three components", "shared covariance", "louder", "quieter"],
)
def test_closed_forms_agree_with_scores_of_draws(both):
    auc = both.closed_form_auc()
    X, y = both.sample(100_000, 0.5, 0)
    found = roc_auc_interval(y, both.log_likelihood_ratio(X))
    assert abs(found.auc - auc) < 4 * found.stderr
    detector = both.curve().detector(0.1)
    alarms = detector.decide(both.log_likelihood_ratio(X))
    assert detector.false_alarm == pytest.approx(0.1, rel=1e-9)
    assert alarms[y == 0].mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 50_000))
    assert alarms[y == 1].mean() == pytest.approx(detector.detection, abs=4 * np.sqrt(0.25 / 50_000))


def test_shares_that_rise_and_fall_have_no_closed_form():
    means = [[-1.0], [0.0], [1.0]]
    both = Hypotheses(
        GaussianMixture(means, weights=[0.2, 0.6, 0.2]), GaussianMixture(means, weights=[0.4, 0.2, 0.4])
    )
    assert both.closed_form_auc() is None
    assert isinstance(both.curve(1000), AtomicCurve)


@pytest.mark.parametrize(
    "positive",
    [
        GaussianMixture([[1.0, 0.0], [0.0, 1.0]]),  # not on a line with the origin
        GaussianMixture([1.0, 0.0], 2.0),  # shifted and louder
        GaussianMixture([0.0, 0.0], np.diag([1.0, 2.0])),  # not proportional
    ],
)
def test_none_where_no_closed_form_is_known(positive):
    assert Hypotheses(positive, GaussianMixture([0.0, 0.0])).closed_form_auc() is None


def test_a_falling_ratio_is_turned_round():
    one, other = GaussianMixture([-1.0]), GaussianMixture([1.0])
    assert Hypotheses(one, other).closed_form_auc() == pytest.approx(ndtr(np.sqrt(2)))
    assert Hypotheses(one, one).closed_form_auc() == pytest.approx(0.5)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("shift", "scale"), [(100.0, 1.0), (-1e6, 1.0), (0.0, 1e6), (3.0, 1e-6), (1e5, 1e5)])
def test_neither_a_common_shift_nor_the_units_change_anything(k, shift, scale):
    plain = printed_hypotheses(k)
    moved = Hypotheses(
        *(
            GaussianMixture(mix.means * scale + shift, scale**2, mix.weights)
            for mix in (plain.positive, plain.negative)
        )
    )
    assert moved.closed_form_auc() == pytest.approx(plain.closed_form_auc(), abs=1e-9)
    one, other = moved.curve().detector(0.01), plain.curve().detector(0.01)
    assert one.log_eta == pytest.approx(other.log_eta, abs=1e-6)
    assert one.detection == pytest.approx(other.detection, abs=1e-8)
    X = moved.negative.sample(2000, 0)
    np.testing.assert_allclose(
        moved.log_likelihood_ratio(X), plain.log_likelihood_ratio((X - shift) / scale), atol=1e-5
    )


def test_a_component_without_share_does_not_matter():
    both = Hypotheses(
        GaussianMixture([[1.0, 0.0], [0.0, 9.0]], weights=[1.0, 0.0]), GaussianMixture([0.0, 0.0])
    )
    assert both.closed_form_auc() == pytest.approx(ndtr(1 / np.sqrt(2)))


# -- curves ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 1e-2, 1e-4, 1e-6])
def test_a_known_signal_in_white_noise_has_the_textbook_curve(alpha):
    both = Hypotheses(GaussianMixture([3.0, 4.0]), GaussianMixture([0.0, 0.0]))
    detector = both.curve().detector(alpha)
    assert detector.detection == pytest.approx(ndtr(5 + ndtri(alpha)), rel=1e-9)
    # log p₊/p₋ = 5 z - 25/2 at z = Φ⁻¹(1 - alpha)
    assert detector.log_eta == pytest.approx(-5 * ndtri(alpha) - 12.5, abs=1e-8)
    assert detector.gamma == 0.0


def test_draws_resolve_false_alarm_rates_far_below_one_in_their_number():
    exact = printed_hypotheses(2)
    sampled = _sampled(exact).curve(200_000, random_state=0)
    assert isinstance(sampled, AtomicCurve)
    rates = np.array([1e-6, 1e-4, 1e-2, 0.3])
    np.testing.assert_allclose(sampled.detection(rates), exact.curve().detection(rates), rtol=0.05)
    assert sampled.auc == pytest.approx(exact.closed_form_auc(), abs=2e-3)


def test_drawn_curves_agree_with_scores_of_rows():
    both = _unequal()
    X, y = both.sample(100_000, 0.5, 1)
    found = roc_auc_interval(y, both.log_likelihood_ratio(X))
    curve = both.curve(400_000, random_state=0)
    assert abs(found.auc - curve.auc) < 5 * found.stderr
    detector = curve.detector(0.05)
    alarms = detector.decide(both.log_likelihood_ratio(X), random_state=0)
    assert alarms[y == 0].mean() == pytest.approx(0.05, abs=5 * np.sqrt(0.05 / 50_000))
    assert alarms[y == 1].mean() == pytest.approx(detector.detection, abs=0.015)


def test_outcomes_without_false_alarms_are_all_taken():
    both = Hypotheses(GaussianMixture([[60.0, 0.0], [0.0, 60.0]]), GaussianMixture([0.0, 0.0]))
    curve = both.curve(2000, random_state=0)
    assert curve.auc == pytest.approx(1.0, abs=1e-12)
    assert curve.auc <= 1.0
    assert curve.detection(0.0) == pytest.approx(curve.detector(0.0).detection)
    assert curve.detector(0.0).detection == pytest.approx(1.0)


@pytest.mark.parametrize("rates", [[np.nan], [-0.1, 0.5], 1.5])
def test_rates_that_are_none_are_refused(rates):
    for both in (printed_hypotheses(1), DiscreteHypotheses([0.5, 0.5], [0.1, 0.9])):
        with pytest.raises(ValueError, match="false_alarm must lie between 0 and 1"):
            both.curve().detection(rates)


def test_draws_come_in_blocks(monkeypatch):
    both = _unequal()
    whole = both.curve(5001, random_state=0)
    monkeypatch.setattr("mbauc.paper.detection.hypotheses._BLOCK", 1000)
    parts = both.curve(5001, random_state=0)
    assert parts._levels.size == whole._levels.size == 5000
    assert parts.auc == pytest.approx(whole.auc, abs=0.02)


def test_the_ends_of_a_curve():
    curve = printed_hypotheses(1).curve()
    assert curve.detector(0.0).detection == 0.0
    assert curve.detector(1.0).detection == 1.0
    assert np.array_equal(curve.detection([0.0, 1.0]), [0.0, 1.0])


@pytest.mark.parametrize("alpha", [-0.1, 1.1, np.nan, "low", None])
def test_impossible_rates_are_refused(alpha):
    for both in (printed_hypotheses(1), DiscreteHypotheses([0.5, 0.5], [0.1, 0.9])):
        with pytest.raises(ValueError, match="false_alarm must be a finite number"):
            both.curve().detector(alpha)


# -- Lemma 1 --------------------------------------------------------------------------------------------------


@given(
    st.integers(2, 6).flatmap(lambda m: st.tuples(*[st.lists(st.integers(0, 5), min_size=m, max_size=m)] * 2)),
    st.integers(0, 20),
)
def test_no_rule_detects_more_than_lemma_1_allows(counts, twentieths):
    assume(sum(counts[0]) and sum(counts[1]))
    plus, minus = (np.array(part) / sum(part) for part in counts)
    alpha = twentieths / 20
    detector = DiscreteHypotheses(plus, minus).curve().detector(alpha)
    # any rule: accept outcome x with probability Γ(x)
    best = linprog(-plus, A_ub=[minus], b_ub=[alpha], bounds=(0, 1))
    assert detector.detection == pytest.approx(-best.fun, abs=1e-9)
    assert detector.false_alarm <= alpha + 1e-12
    assert 0.0 <= detector.gamma <= 1.0
    # the rule itself, outcome by outcome
    ratio = DiscreteHypotheses(plus, minus).log_likelihood_ratio(np.arange(plus.size))
    accept = np.where(ratio > detector.log_eta, 1.0, np.where(ratio == detector.log_eta, detector.gamma, 0.0))
    assert accept @ minus == pytest.approx(detector.false_alarm, abs=1e-12)
    assert accept @ plus == pytest.approx(detector.detection, abs=1e-12)


def test_the_coin_decides_at_the_threshold():
    both = DiscreteHypotheses([0.2, 0.8], [0.5, 0.5])
    detector = both.curve().detector(0.25)
    assert detector.eta == pytest.approx(1.6)
    decisions = detector.decide(both.log_likelihood_ratio(np.ones(10_000, dtype=int)), random_state=0)
    assert decisions.mean() == pytest.approx(0.5, abs=0.02)
    assert not detector.decide(both.log_likelihood_ratio(np.zeros(10, dtype=int)), random_state=0).any()
    with pytest.raises(ValueError, match="NaN"):
        detector.decide([np.nan])


def test_outcomes_are_whole_numbers():
    both = DiscreteHypotheses([0.2, 0.8], [0.5, 0.5])
    assert np.array_equal(both.log_likelihood_ratio([True, True]), both.log_likelihood_ratio([1, 1]))
    for bad in ([-1], [2], [0.5]):
        with pytest.raises(ValueError, match="outcomes must be whole numbers from 0 to 1"):
            both.log_likelihood_ratio(bad)


@pytest.mark.parametrize(
    ("plus", "minus", "message"),
    [
        ([0.5, 0.5], [1.0], "same outcomes"),
        ([0.5, 0.6], [0.5, 0.5], "positive must hold probabilities"),
        ([0.5, 0.5], [1.5, -0.5], "negative must hold probabilities"),
        ([], [], "same outcomes"),
    ],
)
def test_bad_tables_are_refused(plus, minus, message):
    with pytest.raises(ValueError, match=message):
        DiscreteHypotheses(plus, minus)


# -- linear scores --------------------------------------------------------------------------------------------


@given(st.integers(0, 200))
def test_the_auc_of_a_linear_score_is_exact(seed):
    rng = np.random.default_rng(seed)
    both, w = _unequal(), rng.standard_normal(2)
    curve = both.linear_curve(w)
    X, y = both.sample(4000, 0.5, rng)
    found = roc_auc_interval(y, X @ w)
    assert abs(found.auc - curve.auc) < 5 * found.stderr
    assert curve.detection(0.2) == pytest.approx((X[y == 1] @ w > curve.threshold(0.2)).mean(), abs=0.06)


@pytest.mark.parametrize("size", [1e-150, 1e-13, 1.0, 1e160])
def test_the_scale_of_the_weights_does_not_matter(size):
    both = _unequal()
    plain, scaled = both.linear_curve([1.0, 0.5]), both.linear_curve([size, 0.5 * size])
    assert scaled.auc == pytest.approx(plain.auc, rel=1e-12)
    assert scaled.detection(0.01) == pytest.approx(plain.detection(0.01), rel=1e-9)
    assert scaled.threshold(0.01) == pytest.approx(size * plain.threshold(0.01), rel=1e-9)


def test_mba_tends_to_the_weights_of_infinitely_many_pairs():
    both = _unequal()
    X, y = both.sample(400_000, 0.5, 0)
    w = MBAClassifier(l2=0.1).fit(X, y).coef_[0]
    np.testing.assert_allclose(w, both.linear_weights(0.1), rtol=0.02)
    mu, sigma = both.pair_moments()
    np.testing.assert_allclose((sigma + 0.1 * np.eye(2)) @ both.linear_weights(0.1), mu, rtol=1e-12)


def test_no_linear_score_beats_the_likelihood_ratio():
    both = _unequal()
    best = both.curve(200_000, random_state=0).auc
    angles = np.linspace(0, np.pi, 60)
    aucs = [both.linear_curve([np.cos(a), np.sin(a)]).auc for a in angles]
    assert max(max(aucs), 1 - min(aucs)) < best


def test_with_a_shared_covariance_the_linear_score_is_the_best():
    covariance = [[2.0, 0.9], [0.9, 1.0]]
    both = Hypotheses(GaussianMixture([1.0, -1.0], covariance), GaussianMixture([0.0, 0.5], covariance))
    assert both.linear_curve(both.linear_weights()).auc == pytest.approx(both.closed_form_auc(), abs=1e-12)
    assert both.closed_form_auc() == pytest.approx(ndtr(both.d_prime / np.sqrt(2)))
    assert both.snr_db == pytest.approx(20 * np.log10(both.d_prime))


def test_a_linear_curve_has_no_likelihood_ratio():
    both = _unequal()
    with pytest.raises(ValueError, match="not that of a likelihood ratio"):
        both.linear_curve([1.0, 0.0]).detector(0.1)
    with pytest.raises(ValueError, match="w must have 2 finite entries, not all zero"):
        both.linear_curve([0.0, 0.0])


def test_samples_have_the_share_asked_for():
    X, y = printed_hypotheses(1).sample(1001, 0.1, 0)
    assert X.shape == (1001, 100)
    assert y.sum() == 100
    assert 0 < y[:500].sum() < 100  # in random order
    with pytest.raises(ValueError, match="same dimension"):
        Hypotheses(GaussianMixture([0.0]), GaussianMixture([0.0, 0.0]))
