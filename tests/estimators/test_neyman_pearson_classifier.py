import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse as sp
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mbauc import MBAClassifier, NeymanPearsonClassifier
from mbauc.errors import PositiveLabelWarning


def _rows(n=600, positive=0.2, seed=0, d=3, shift=1.0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < n * positive).astype(int)
    return rng.standard_normal((n, d)) + shift * y[:, None], y


class Witness(ClassifierMixin, BaseEstimator):
    """Scores by the first column and remembers what it was fitted to."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.X_, self.y_, self.weight_, self.note_ = X, y, sample_weight, note
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


class Unfit(Witness):
    def fit(self, X, y):
        raise AssertionError("fitted although it should not have been")


@pytest.mark.slow
def test_the_promise_holds_over_a_thousand_repeats():
    alpha, delta, repeats = 0.1, 0.1, 1000
    broken = 0
    for seed in range(repeats):
        X, y = _rows(300, seed=seed)
        detector = NeymanPearsonClassifier(MBAClassifier(l2=0.1), alpha, delta, random_state=seed).fit(X, y)
        w, b = detector.estimator_.coef_[0], detector.estimator_.intercept_[0]
        # negatives are standard normal, so w'x + b is N(b, ‖w‖²)
        broken += ndtr((b - detector.threshold_) / np.linalg.norm(w)) > alpha
        assert detector.violation_probability_ <= delta
    assert broken / repeats <= delta + 3 * np.sqrt(delta * (1 - delta) / repeats)
    assert broken / repeats >= 0.2 * delta  # a threshold of infinity would keep it as well


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        RandomForestClassifier(50, random_state=0),
        LinearRegression(),
        make_pipeline(StandardScaler(), MBAClassifier()),
    ],
)
def test_any_scorer_will_do(estimator):
    X, y = _rows(2000)
    detector = NeymanPearsonClassifier(estimator, 0.1, random_state=0).fit(X[::2], y[::2])
    alarms = detector.predict(X[1::2])
    assert alarms[y[1::2] == 0].mean() < 0.13
    assert alarms[y[1::2] == 1].mean() > 0.3
    assert np.array_equal(detector.decision_function(X) > 0, detector.predict(X) == 1)


def test_an_estimator_without_scores_is_refused():
    with pytest.raises(ValueError, match="KMeans gives no scores"):
        NeymanPearsonClassifier(KMeans(2, n_init=1), 0.3).fit(*_rows())


@pytest.mark.parametrize(
    ("settings", "negatives", "message"),
    [
        ({}, 59, r"alpha=0.05 with delta=0.05 needs 59 negative rows .* y has 59, of which some"),
        ({}, 20, "y has 20"),
        ({"calibration_size": 58}, 500, "calibration_size is 58"),
        ({"calibration_size": 500}, 500, "leaves none of 500 negative rows"),
        ({"calibration_size": 1.5}, 500, "share between 0 and 1 or a whole number"),
        ({"calibration_size": True}, 500, "share between 0 and 1 or a whole number"),
        ({"alpha": 0.0}, 500, "alpha must be"),
        ({"alpha": 1.0}, 500, "alpha must be"),
        ({"delta": -1}, 500, "delta must be"),
        ({"alpha": 0.001}, 500, "needs 2,995 negative rows"),
    ],
)
def test_it_refuses_before_fitting(settings, negatives, message):
    X, y = np.zeros((negatives + 10, 2)), np.repeat([0, 1], [negatives, 10])
    with pytest.raises(ValueError, match=message):
        NeymanPearsonClassifier(Unfit(), **settings).fit(X, y)


def test_too_few_calibration_rows_are_refused_before_fitting():
    X, y = _rows(300)
    with pytest.raises(ValueError, match="calibration has 40"):
        NeymanPearsonClassifier(Unfit()).fit(X, y, calibration=(np.zeros((40, 3)), np.zeros(40)))
    with pytest.raises(ValueError, match="calibration must be a pair"):
        NeymanPearsonClassifier(Unfit()).fit(X, y, calibration=X)
    with pytest.raises(ValueError, match=r"calibration: .*inconsistent numbers of samples"):
        NeymanPearsonClassifier(Unfit()).fit(X, y, calibration=(X, y[:-1]))


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.zeros((70, 5)), np.zeros(70), "calibration: its X has 5 columns, that of the training rows 3"),
        (np.zeros((70, 3)), np.full(70, 2), "calibration: y has label 2"),
        (np.zeros((70, 3)), np.full(70, np.nan), "calibration: .*NaN"),
        (np.zeros((70, 3)), np.ones(70), "calibration has 0"),
    ],
)
def test_bad_calibration_rows_are_named_before_fitting(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        NeymanPearsonClassifier(Unfit()).fit(*_rows(300), calibration=(rows, labels))


class Reversed(Witness):
    """Lists its classes the other way round, as some libraries do."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def decision_function(self, X):
        return -super().decision_function(X)


class ReversedProbabilities(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, ::-1]


@pytest.mark.parametrize("estimator", [Reversed(), ReversedProbabilities()])
@pytest.mark.parametrize("frozen", [False, True])
def test_the_order_of_an_estimator_s_classes_does_not_matter(estimator, frozen):
    X, y = _rows(2000, shift=2.0)
    if frozen:
        estimator = FrozenEstimator(clone(estimator).fit(X, y))
    detector = NeymanPearsonClassifier(estimator, 0.1, random_state=0).fit(X, y)
    assert list(detector.classes_) == [0, 1]
    alarms = detector.predict(X)
    assert alarms[y == 0].mean() < 0.12
    assert alarms[y == 1].mean() > 0.5


def test_a_regressor_takes_any_labels():
    X, y = _rows(2000)
    names = np.where(y == 1, "fraud", "fine")  # fraud is the larger
    detector = NeymanPearsonClassifier(LinearRegression(), 0.1, random_state=0).fit(X, names)
    assert set(detector.predict(X)) == {"fine", "fraud"}
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    only = NeymanPearsonClassifier(frozen, 0.1).fit(X[y == 0], y[y == 0])
    assert list(only.classes_) == [0, 1]
    assert only.fit(X[y == 0], np.full((y == 0).sum(), -1)).classes_.tolist() == [-1, 1]


def test_infinite_scores_have_a_decision():
    X = np.where(np.arange(300) < 290, -np.inf, 1.0)[:, None]
    y = np.arange(300) >= 290
    detector = NeymanPearsonClassifier(Witness(), random_state=0).fit(X, y)
    assert detector.threshold_ == -np.inf
    assert set(detector.decision_function(X)) == {0.0, np.inf}
    assert np.array_equal(detector.predict(X), y)


def test_scores_in_a_column_will_do():
    class Column(Witness):
        def decision_function(self, X):
            return np.asarray(X)[:, :1]

    X, y = _rows(500)
    assert NeymanPearsonClassifier(Column(), random_state=0).fit(X, y).predict(X).shape == (500,)


def test_sixty_negatives_are_enough():
    X, y = np.arange(70.0)[:, None], np.repeat([0, 1], [60, 10])
    detector = NeymanPearsonClassifier(Witness(), random_state=0).fit(X, y)
    assert (detector.n_calibration_, detector.rank_) == (59, 59)
    assert len(detector.estimator_.y_) == 11


def test_the_held_back_rows_are_negatives_that_training_does_not_see():
    X, y = np.arange(1000.0)[:, None], np.arange(1000) % 5 == 0
    detector = NeymanPearsonClassifier(Witness(), random_state=0).fit(X, y)
    seen = detector.estimator_.X_[:, 0].astype(int)
    assert y[seen].sum() == 200
    assert detector.n_calibration_ == 400
    held_back = np.setdiff1d(np.arange(1000), seen)
    assert not y[held_back].any()
    assert detector.threshold_ == np.sort(held_back)[detector.rank_ - 1]


def test_given_calibration_rows_are_used_and_all_others_trained_on():
    X, y = _rows(500)
    held = np.linspace(0, 1, 100)[:, None] * np.ones(3)
    detector = NeymanPearsonClassifier(Witness()).fit(X, y, calibration=(held, np.zeros(100)))
    assert len(detector.estimator_.y_) == 500
    assert detector.threshold_ == held[detector.rank_ - 1, 0]


def test_a_fitted_scorer_only_gets_a_threshold():
    X, y = _rows(500)
    model = MBAClassifier().fit(X, y)
    held = np.random.default_rng(1).standard_normal((200, 3))
    detector = NeymanPearsonClassifier(FrozenEstimator(model)).fit(held, np.zeros(200, dtype=int))
    assert detector.n_calibration_ == 200
    assert detector.threshold_ == np.sort(model.decision_function(held))[detector.rank_ - 1]
    with pytest.raises(ValueError, match="FrozenEstimator is not trained"):
        NeymanPearsonClassifier(FrozenEstimator(model)).fit(held, np.zeros(200), calibration=(X, y))


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, sp.csr_array, sp.coo_matrix, "arrow", "list"])
def test_forms_of_input(form):
    X, y = _rows(400)
    expected = NeymanPearsonClassifier(MBAClassifier(l2=1.0), 0.1, random_state=0).fit(X, y)
    names = ["a", "b", "c"]
    if form == "arrow":
        given = pa.table(dict(zip(names, X.T, strict=True)))
    elif form == "list":
        given = X.tolist()
    elif form is pd.DataFrame:
        given = pd.DataFrame(X, columns=names, index=np.arange(400)[::-1])
    elif form is pl.DataFrame:
        given = pl.DataFrame(X, schema=names)
    else:
        given = form(X)
    detector = NeymanPearsonClassifier(MBAClassifier(l2=1.0), 0.1, random_state=0).fit(given, y)
    assert detector.threshold_ == pytest.approx(expected.threshold_, rel=1e-9)
    assert np.array_equal(detector.predict(given), expected.predict(X))
    assert detector.n_features_in_ == 3
    if form is pd.DataFrame:
        assert list(detector.feature_names_in_) == names


def test_text_goes_through_to_a_pipeline():
    texts = ["good fast", "bad slow", "good", "slow bad awful", "fast fine", "awful"] * 50
    y = np.array(["ham", "spam", "ham", "spam", "ham", "spam"] * 50)
    detector = NeymanPearsonClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()), random_state=0)
    assert list(detector.fit(texts, y).predict(["awful slow"])) == ["spam"]


def test_arguments_of_fit_are_cut_to_the_training_rows():
    X, y = _rows(500)
    weight = np.arange(500.0)
    detector = NeymanPearsonClassifier(Witness(), random_state=0)
    detector.fit(X, y, sample_weight=weight, note="kept as it is")
    rows = detector.estimator_.weight_.astype(int)
    assert np.array_equal(X[rows], detector.estimator_.X_)
    for form in (list, tuple, pa.array, pl.Series):
        again = clone(detector).fit(X, y, sample_weight=form(weight))
        assert np.array_equal(again.estimator_.weight_, weight[rows])
    assert clone(detector).fit(X, y, sample_weight=None).estimator_.weight_ is None
    assert detector.estimator_.note_ == "kept as it is"


def test_rows_of_weight_zero_do_not_count_as_negatives():
    X, y = np.arange(500.0)[:, None], np.repeat([0, 1], [400, 100])
    weight = np.where(np.arange(500) < 340, 0.0, 2.0)
    with pytest.raises(ValueError, match="y has 60"):
        NeymanPearsonClassifier(Unfit(), 0.04).fit(X, y, sample_weight=weight)
    detector = NeymanPearsonClassifier(Witness(), random_state=0).fit(X, y, sample_weight=weight)
    assert detector.n_calibration_ == 59
    assert detector.threshold_ >= 340
    with pytest.raises(ValueError, match="zero for all rows of class 1"):
        NeymanPearsonClassifier(Unfit()).fit(X, y, sample_weight=1 - y)


def test_it_is_cloned_searched_and_pickled():
    X, y = _rows(800)
    search = GridSearchCV(
        NeymanPearsonClassifier(LogisticRegression(), 0.1, random_state=0),
        {"estimator__C": [0.01, 1.0], "alpha": [0.1, 0.2]},
        scoring="roc_auc",
        cv=3,
    ).fit(X, y)
    best = search.best_estimator_
    assert clone(best).get_params()["alpha"] == best.alpha
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict(X), best.predict(X))


def test_a_fit_that_fails_leaves_the_old_state():
    X, y = _rows(600)
    detector = NeymanPearsonClassifier(MBAClassifier(), random_state=0).fit(X, y)
    before = detector.threshold_
    with pytest.raises(ValueError, match="NaN"):
        detector.fit(np.where(X > 2, np.nan, X), y)
    assert detector.threshold_ == before


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class only"):
        NeymanPearsonClassifier(Unfit()).fit(np.zeros((100, 2)), np.zeros(100))


@pytest.mark.parametrize(
    "estimator",
    [MBAClassifier(), GaussianNB(), LinearRegression(), LogisticRegression()],
    ids=lambda e: type(e).__name__,
)
def test_positive_names_the_class_of_the_alarms(estimator):
    X, y = _rows(4000, positive=0.1)
    words = np.where(y == 1, "fraud", "ok")
    plain = NeymanPearsonClassifier(estimator, 0.05, random_state=0).fit(X, y)
    named = NeymanPearsonClassifier(estimator, 0.05, random_state=0, positive="fraud").fit(X, words)
    assert named.positive_ == "fraud"
    assert named.classes_.tolist() == ["fraud", "ok"]
    assert named.threshold_ == pytest.approx(plain.threshold_)
    np.testing.assert_array_equal(named.predict(X) == "fraud", plain.predict(X) == 1)
    # as of any classifier, scores above 0 are of the second class
    np.testing.assert_array_equal(
        named.classes_[(named.decision_function(X) > 0).astype(int)], named.predict(X)
    )
    np.testing.assert_allclose(named.decision_function(X), -plain.decision_function(X), atol=1e-12)
    assert cross_val_score(named, X, words, scoring="roc_auc", cv=3).min() > 0.8
    assert clone(named).positive == "fraud"


def test_positive_is_for_fitted_scorers_and_given_calibration_rows_too():
    X, y = _rows(4000, positive=0.1)
    words = np.where(y == 1, "fraud", "ok")
    fitted = LogisticRegression().fit(X[::2], words[::2])
    frozen = NeymanPearsonClassifier(FrozenEstimator(fitted), 0.05, positive="fraud").fit(X[1::2], words[1::2])
    given = NeymanPearsonClassifier(LogisticRegression(), 0.05, positive="fraud").fit(
        X[::2], words[::2], calibration=(X[1::2], words[1::2])
    )
    assert frozen.threshold_ == pytest.approx(given.threshold_)
    alarms = given.predict(X[1::2]) == "fraud"
    assert 0.02 < alarms[words[1::2] == "ok"].mean() < 0.05


def test_an_unknown_positive_is_refused_before_fitting():
    X, y = _rows()
    with pytest.raises(
        ValueError, match=r"positive='fruad' is not a label of y; the labels are 'fraud' and 'ok'"
    ):
        NeymanPearsonClassifier(Unfit(), 0.1, positive="fruad").fit(X, np.where(y == 1, "fraud", "ok"))


def test_words_whose_order_makes_most_rows_positive_are_asked_about():
    X, y = _rows(4000, positive=0.1)
    with pytest.warns(
        PositiveLabelWarning, match=r"'ok' \(3,600 rows\).*'fraud' \(400 rows\).*positive='fraud'"
    ):
        NeymanPearsonClassifier(MBAClassifier(), 0.05).fit(X, np.where(y == 1, "fraud", "ok"))
    for settings, labels in (
        ({"positive": "ok"}, ("ok", "fraud")),
        ({}, ("no", "yes")),
        ({}, (1, 0)),
    ):
        NeymanPearsonClassifier(MBAClassifier(), 0.05, **settings).fit(
            X, np.where(y == 1, labels[1], labels[0])
        )


def test_a_tie_with_the_threshold_is_no_alarm_whichever_class_is_positive():
    X = np.r_[np.arange(100.0), 200 + np.arange(20.0)][:, None]
    words = np.repeat(["ok", "bad"], [100, 20])
    detector = NeymanPearsonClassifier(LinearRegression(), 0.2, random_state=0, positive="bad").fit(X, words)
    tie = np.array([[x] for x in X[:100, 0] if detector._scores([[x]])[0] == detector.threshold_])
    assert tie.size
    assert detector.predict(tie).tolist() == ["ok"]
    assert (detector.decision_function(tie) > 0).all()
