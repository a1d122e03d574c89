"""A fitted ranker without its fit: against the definitions, one row at a time."""

import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.errors import NonFiniteError
from mbauc.estimators import LinearScorer
from mbauc.estimators.scorer import match_log_odds
from mbauc.paper.rivals import OAM, FTRLProximal


def some_scorer(slope=2.5):
    return LinearScorer([0.5, -2.0, 0.0], 0.25, slope, ["no", "yes"], ["a", "b", "c"])


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, 3)) < 0.4, rng.normal(size=(n, 3)), 0.0)


# -- by definition --------------------------------------------------


def score_of(row, scorer):
    return math.fsum(float(x) * float(w) for x, w in zip(row, scorer.coef, strict=True)) + scorer.intercept


FORMS = {
    "dense": np.asarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


@pytest.mark.parametrize("form", FORMS)
def test_scores_are_sums_over_the_columns(form):
    scorer, X = some_scorer(), rows()
    given = FORMS[form](X)
    exact = np.asarray(given.todense()) if sparse.issparse(given) else given
    expected = [score_of(row, scorer) for row in exact]
    np.testing.assert_allclose(scorer.scores(given), expected, rtol=1e-14, atol=1e-15)


def test_probabilities_and_labels_of_scores():
    scorer, s = some_scorer(), np.array([-3.0, -0.1, 0.0, 1e-300, 0.7])
    positive = [1 / (1 + math.exp(-2.5 * one)) for one in s]
    np.testing.assert_allclose(scorer.probability(s), positive, rtol=1e-14)
    both = scorer.probabilities(s)
    np.testing.assert_array_equal(both[:, 1], scorer.probability(s))
    np.testing.assert_allclose(both.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(scorer.log_probabilities(s), np.log(both), rtol=1e-13)
    assert scorer.predict(s).tolist() == ["no", "no", "no", "yes", "yes"]
    assert scorer.predict(s, cut=0.5).tolist() == ["no", "no", "no", "no", "yes"]


def test_logarithms_do_not_overflow():
    far = some_scorer(1.0).log_probabilities([-2000.0, 2000.0])
    np.testing.assert_allclose(far, [[0.0, -2000.0], [-2000.0, 0.0]])


@given(
    st.floats(0.01, 10),
    st.floats(-10, 10),
    st.floats(0.1, 10),
    st.floats(0.001, 1000),
    st.floats(-20, 20),
)
def test_log_odds_are_those_of_two_normal_distributions(gap, middle, variance, prior_odds, s):
    intercept, slope = match_log_odds(gap, middle, variance, prior_odds)
    far = [(s - mean) ** 2 / (2 * variance) for mean in (middle + gap / 2, middle - gap / 2)]
    expected = math.log(prior_odds) - far[0] + far[1]
    assert slope * (s + intercept) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + sum(far)))


@pytest.mark.parametrize(("gap", "variance"), [(0.0, 1.0), (0.0, 0.0), (-1.0, 1.0)])
def test_scores_that_say_nothing_leave_the_prior_at_the_middle(gap, variance):
    intercept, slope = match_log_odds(gap, 3.0, variance, 0.25)
    assert slope * (3.0 + intercept) == pytest.approx(math.log(0.25))


# -- what it is --------------------------------------------------


def test_it_cannot_be_changed_also_after_a_journey():
    for scorer in (some_scorer(), pickle.loads(pickle.dumps(some_scorer()))):
        with pytest.raises(FrozenInstanceError):
            scorer.slope = 1.0
        for array in (scorer.coef, scorer.classes):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
        assert (scorer.intercept, scorer.slope, list(scorer.names)) == (0.25, 2.5, ["a", "b", "c"])
        assert scorer.n_features == 3


def test_weights_are_not_copied():
    coef = np.arange(3.0)
    assert np.shares_memory(LinearScorer(coef).coef, coef)
    assert coef.flags.writeable


def test_it_is_small_and_needs_no_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 200))
    ranker = MBAClassifier().fit(X, np.arange(500) % 2)
    sent = pickle.dumps(ranker.scorer())
    assert len(sent) < 200 * 8 + 1000 < len(pickle.dumps(ranker)) / 100
    (tmp_path / "scorer").write_bytes(sent)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import pickle, sys, numpy as np; scorer = pickle.load(open('scorer', 'rb')); "
        "s = scorer.scores(np.load('X.npy')); np.save('p.npy', scorer.probabilities(s)); "
        "print('sklearn' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), ranker.predict_proba(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: LinearScorer(np.ones((1, 3))),
            r"coef must have one weight for each column, got shape \(1, 3\)",
        ),
        (
            lambda: LinearScorer(np.ones(3), classes=[0, 1, 2]),
            "classes must be two labels, negative first, got",
        ),
        (lambda: some_scorer().scores(np.ones((2, 4))), "X must have 3 columns, one for each weight, got 4"),
        (lambda: some_scorer(None).probability([0.0]), "for ranking only"),
        (lambda: some_scorer(None).probabilities([0.0]), "for ranking only"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_value_that_is_not_finite_is_found():
    X = rows()
    X[7, 2] = np.inf  # where the weight is zero
    with pytest.raises(NonFiniteError, match="row 7, column 2"):
        some_scorer().scores(X)


# -- from an estimator and back --------------------------------------------------


def fitted(kind, X, y):
    if kind == "cv":
        return MBAClassifierCV(cv=3, random_state=0).fit(X, y)
    return MBAClassifier(l2=0.1, solver="matrix-free" if kind == "products" else "gram").fit(X, y)


@pytest.mark.parametrize("kind", ["moments", "products", "cv"])
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)], ids=str)
@pytest.mark.parametrize("named", [False, True])
def test_a_restored_estimator_is_the_one_that_was_fitted(table, kind, labels, named):
    pandas = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")
    X, y = table[0], np.array(labels)[table[1]]
    if named:
        X = pandas.DataFrame(X, columns=list("abcdef"))
    ranker = fitted(kind, X, y)
    again = type(ranker).restore(ranker.scorer())
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(ranker, name)(X))
    assert again.classes_.dtype == ranker.classes_.dtype
    if named:
        with pytest.raises(ValueError, match="feature names should match"):
            again.predict(X[list("fedcba")])
    again.coef_[:] = 0.0  # its own, and not those of the scorer
    assert ranker.coef_.any()


@pytest.mark.parametrize("settings", [{"l2": 0.5}, {"l1": 0.01, "l2": 0.1, "scale": True}], ids=str)
def test_with_moments_it_goes_on_and_has_standard_errors(table, settings):
    X, y = table
    ranker = MBAClassifier(**settings).fit(X, y)
    penalties = {"l1": ranker.l1_, "l2": ranker.l2_}
    again = MBAClassifier.restore(ranker.scorer(), settings, **penalties, moments=ranker.moments_)
    assert again.get_params() == ranker.get_params()
    assert (again.l1_, again.l2_, again.solver_.name) == (ranker.l1_, ranker.l2_, "gram")
    for given_rows in ((), table):
        np.testing.assert_array_equal(
            again.coef_standard_errors(*given_rows), ranker.coef_standard_errors(*given_rows)
        )
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, ranker.partial_fit(X, y).coef_)
    with pytest.raises(ValueError, match=r"of the scorer's 6 columns and come with the penalty l2.*l2=None"):
        MBAClassifier.restore(ranker.scorer(), moments=ranker.moments_)
    with pytest.raises(ValueError, match="of the scorer's 3 columns"):
        MBAClassifier.restore(some_scorer(), l2=0.1, moments=ranker.moments_)
    bare = MBAClassifier.restore(ranker.scorer())
    with pytest.raises(ValueError, match="kept no moments"):
        bare.coef_standard_errors()
    with pytest.raises(ValueError, match="does not know its penalty"):
        bare.coef_standard_errors(X, y)


def test_rankers_without_probabilities_have_scorers_without_a_slope(table):
    X, y = table
    ranking = OAM(random_state=0).fit(X, y)
    assert ranking.scorer().slope is None
    np.testing.assert_array_equal(ranking.scorer().scores(X), ranking.decision_function(X))
    with pytest.raises(ValueError, match="scorer has no slope; MBAClassifier needs one"):
        MBAClassifier.restore(ranking.scorer())
    odds = FTRLProximal().fit(X, y)
    np.testing.assert_array_equal(odds.scorer().probabilities(odds.decision_function(X)), odds.predict_proba(X))
