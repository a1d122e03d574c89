"""Data and settings that no rival can learn from are named, and a call that fails changes nothing."""

import numpy as np
import pytest
from contenders import CLASSES, EVERY, fresh, snapshot
from scipy import sparse as sp
from sklearn.base import clone

from mbauc import MBAClassifier
from mbauc.errors import DivergedError, NonFiniteError
from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression


class TestBadData:
    @pytest.mark.parametrize("name", EVERY)
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_non_finite_values_are_named_as_by_the_core(self, holes, name, value):
        pd = pytest.importorskip("pandas")
        X, y = holes
        X[17, 2] = value
        for given in (
            X,
            np.asfortranarray(X),
            sp.csr_array(X),
            sp.csc_array(X),
            pd.DataFrame(X, columns=list("abcdefgh")),
        ):
            with pytest.raises(NonFiniteError, match="row 17, column 2") as core:
                MBAClassifier().fit(given, y)
            for method in ("fit", "partial_fit"):
                rival = fresh(name)
                with pytest.raises(NonFiniteError) as ours:
                    getattr(rival, method)(given, y)
                assert str(ours.value) == str(core.value)
                assert vars(rival) == vars(fresh(name))

    @pytest.mark.parametrize("name", EVERY)
    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (np.ones((4, 2)), [1, 1, 1, 1], "one class only"),
            (np.ones((0, 2)), [], "0 sample"),
            (np.ones((4, 0)), [0, 1, 0, 1], "0 feature"),
            (np.ones(4), [0, 1, 0, 1], "1D array"),
            (np.ones((4, 2)), [0, 1, 2, 0], "3 classes"),
            (np.ones((4, 2)), [0.1, 0.7, 0.3, 0.2], "continuous"),
            (np.ones((4, 2)), [0, 1, 0], "inconsistent"),
            (np.ones((4, 2)), None, "y to be passed"),
            (np.array([["1", "x"], ["2", "3"]], dtype=object), [0, 1], "'x' at row 0, column 1"),
        ],
    )
    def test_bad_data_are_named(self, name, X, y, message):
        with pytest.raises(ValueError, match=message):
            fresh(name).fit(X, y)

    @pytest.mark.parametrize("name", EVERY)
    def test_wrong_number_of_columns(self, holes, name):
        X, y = holes
        fitted = fresh(name).fit(X, y)
        with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 8"):
            fitted.predict(X[:, :5])


WHOLE = [0, -1, 1.5, True, "3"]
POSITIVE = [0.0, -1.0, np.nan, np.inf, True, None, [1.0]]
NOT_NEGATIVE = [-0.1, np.nan, np.inf, "0", None, True]
FLAG = ["yes", 1, None]
BAD = {
    OnlineLogisticRegression: {"eta0": [*POSITIVE[:-1], "small"], "l2": NOT_NEGATIVE, "fit_intercept": FLAG},
    FTRLProximal: {
        "alpha": [*POSITIVE, "auto"],
        "beta": [-1.0, np.nan, "1"],
        "lambda_1": NOT_NEGATIVE,
        "lambda_2": NOT_NEGATIVE,
        "fit_intercept": FLAG,
    },
    OAM: {"C": [*POSITIVE, "auto"], "update": ["both", None, 1], "buffer_size": [*WHOLE, None]},
    OPAUC: {
        "eta0": [*POSITIVE[:-1], "small"],
        "l2": NOT_NEGATIVE,
        "rank": WHOLE,
        "centred": FLAG,
        "learning_rate": ["optimal", None, 0.1],
    },
    AdaOAM: {
        "eta0": [*POSITIVE, "small"],
        "l1": NOT_NEGATIVE,
        "l2": NOT_NEGATIVE,
        "delta": NOT_NEGATIVE,
        "rank": WHOLE,
        "centred": FLAG,
    },
    MiniBatchPairwise: {
        "loss": ["absolute", None, 0],
        "eta0": [*POSITIVE[:-1], "small"],
        "learning_rate": ["optimal", None, 0.1],
        "batch_size": [*WHOLE, None],
        "pairing": ["odd", None],
        "l2": NOT_NEGATIVE,
    },
}
SHARED = {"max_iter": [*WHOLE, None], "tol": [-0.1, np.nan, "0", True], "n_iter_no_change": [*WHOLE, None]}


class TestBadSettings:
    @pytest.mark.parametrize("estimator", CLASSES)
    def test_they_are_named(self, holes, estimator):
        X, y = holes
        shuffle = {} if estimator is MiniBatchPairwise else {"shuffle": FLAG}
        every = BAD[estimator] | SHARED | shuffle
        assert set(every) | {"random_state", "verbose"} == set(estimator().get_params())
        for name, values in every.items():
            for value in values:
                for method in ("fit", "partial_fit"):
                    with pytest.raises(ValueError, match=f"^{name} must be .*got"):
                        getattr(estimator(**{name: value}), method)(X, y)

    @pytest.mark.parametrize("estimator", CLASSES)
    def test_numbers_of_numpy_will_do(self, holes, estimator):
        settings = {"max_iter": np.int64(2), "n_iter_no_change": np.int32(3), "random_state": np.int64(0)}
        number = {OAM: "C", FTRLProximal: "alpha"}.get(estimator, "eta0")
        fitted = estimator(**settings, **{number: np.float32(0.0625)}).fit(*holes)
        plain = estimator(max_iter=2, n_iter_no_change=3, random_state=0, **{number: 0.0625}).fit(*holes)
        np.testing.assert_array_equal(fitted.coef_, plain.coef_)


class TestFailure:
    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    @pytest.mark.parametrize("name", EVERY)
    def test_a_call_that_fails_changes_nothing(self, holes, name, method):
        X, y = holes
        fitted = fresh(name, max_iter=2).fit(X, y)
        before = snapshot(fitted)
        bad = X.copy()
        bad[-1, -1] = np.inf
        for X_bad, y_bad, why in (
            (bad, y, "inf"),
            (sp.csr_array(bad), y, "inf"),
            (X[:, :3], y[:10], "3 features|inconsistent numbers of samples"),
            (X, y + np.arange(400), "classes|not in"),
            (X, None, "requires y"),
        ):
            with pytest.raises(ValueError, match=why):
                getattr(fitted, method)(X_bad, y_bad)
            assert snapshot(fitted) == before
        fitted.set_params(max_iter=0)
        with pytest.raises(ValueError, match="max_iter"):
            getattr(fitted, method)(X, y)
        assert snapshot(fitted.set_params(max_iter=2)) == before

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize(
        "rival",
        [
            OPAUC(1.0, learning_rate="constant"),
            OPAUC(100.0, rank=3),
            MiniBatchPairwise("squared", eta0=100.0, learning_rate="constant", batch_size=1),
            MiniBatchPairwise(
                "squared", eta0=100.0, learning_rate="constant", batch_size=2, pairing="complete"
            ),
            MiniBatchPairwise("exponential", eta0=100.0),
        ],
    )
    def test_steps_too_large_are_told_and_taken_back(self, table, rival, sparse):
        X, y = table
        X = sp.csr_array(X) if sparse else X
        small = clone(rival).set_params(eta0=1e-4, random_state=0, max_iter=2).fit(X, y)
        before = snapshot(small)
        for method in ("fit", "partial_fit"):
            small.set_params(eta0=rival.eta0)
            with pytest.raises(DivergedError, match=r"eta0=.* is too large .* lower it, or scale"):
                getattr(small, method)(X, y)
            assert snapshot(small.set_params(eta0=1e-4)) == before
        same = clone(rival).set_params(eta0=1e-4, random_state=0, max_iter=2).fit(X, y).partial_fit(X, y)
        np.testing.assert_array_equal(small.partial_fit(X, y).coef_, same.coef_)

    @pytest.mark.parametrize(
        "name", [name for name in EVERY if "auto" not in name and name != "squared complete"]
    )
    def test_values_near_the_end_of_floating_point(self, holes, name):
        """Either the weights are finite, or an error says so and nothing has changed."""
        X, y = holes
        fitted = fresh(name).partial_fit(X, y)
        for size in (1e160, 1e250):
            before = snapshot(fitted)
            try:
                fitted.partial_fit(X * size, y)
            except ValueError:
                assert snapshot(fitted) == before
            else:
                assert np.isfinite(fitted.coef_).all()

    @pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "exponential"])
    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    def test_no_surrogate_hides_weights_beyond_floating_point(self, holes, loss, pairing):
        X, y = holes
        with pytest.raises(DivergedError):
            MiniBatchPairwise(loss, eta0=1e308, batch_size=4, pairing=pairing, random_state=0).fit(10 * X, y)

    @pytest.mark.parametrize(
        ("rival", "absurd"),
        [
            (OnlineLogisticRegression(0.5), {"eta0": 1e308}),
            (OAM(1e-3, update="gradient"), {"C": 1e308}),
            (FTRLProximal(0.1), {"alpha": 1e308}),
        ],
    )
    def test_absurd_steps_are_taken_back(self, holes, rival, absurd):
        X, y = holes
        plain = rival.get_params()
        fitted = clone(rival).partial_fit(X, y)
        before = snapshot(fitted)
        with pytest.raises(DivergedError):
            fitted.set_params(**absurd).partial_fit(10 * X, y)
        assert snapshot(fitted.set_params(**plain)) == before
