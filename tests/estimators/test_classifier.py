import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from scipy import sparse as sp
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import reference
from mbauc import MBAClassifier, PairMoments
from mbauc.errors import NonFiniteError, SingularWarning
from mbauc.metrics import roc_auc


def same_direction(a, b, tol=1e-9):
    """Two weight vectors that rank alike: positive multiples of each other."""
    a, b = np.ravel(a), np.ravel(b)
    np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), atol=tol)


class TestOracles:
    @pytest.mark.parametrize("l2", [1e-4, 0.1, 10.0])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_ranks_as_balanced_ridge(self, table, l2, sparse):
        X, y = table
        ours = MBAClassifier(l2=l2).fit(sp.csr_matrix(X) if sparse else X, y)
        ridge = RidgeClassifier(class_weight="balanced", alpha=len(y) * l2 / 2, tol=1e-12).fit(X, y)
        same_direction(ours.coef_, ridge.coef_, 1e-6)

    def test_ranks_as_weighted_ridge(self, table, rng):
        X, y = table
        w = rng.random(len(y)) + 0.1
        per_class = np.where(y == 1, w[y == 1].sum(), w[y == 0].sum())
        ridge = RidgeClassifier(alpha=len(y) * 0.5 / 2, tol=1e-12)
        ridge.fit(X, y, sample_weight=len(y) / 2 * w / per_class)
        same_direction(MBAClassifier(l2=0.5).fit(X, y, w).coef_, ridge.coef_, 1e-6)

    def test_without_penalty_ranks_as_lda(self, table):
        X, y = table
        lda = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5]).fit(X, y)
        same_direction(MBAClassifier(l2=0.0).fit(X, y).coef_, lda.coef_, 1e-7)

    def test_the_three_variants_solve_equation_14(self, table):
        X, y = table
        mu, sigma = reference.pair_moments(X[::4], y[::4])
        top = np.abs(mu).max()
        for l1, l2 in ((0.0, 0.3), (0.1 * top, 0.0), (0.1 * top, 0.3)):
            fitted = MBAClassifier(l1=l1, l2=l2).fit(X[::4], y[::4])
            slow = reference.coordinate_descent(sigma, mu, l1, l2)
            np.testing.assert_allclose(fitted.coef_[0], slow, atol=1e-7)
            assert fitted.solution_.objective == pytest.approx(
                reference.objective(sigma, mu, slow, l1, l2), abs=1e-9
            )
            assert fitted.solution_.optimality < 1e-6

    def test_l1_at_its_top_gives_zero_and_the_prior(self, table):
        X, y = table
        top = np.abs(PairMoments.from_arrays(X, y).mean_difference).max()
        fitted = MBAClassifier(l1=top, l2=0.0).fit(X, y)
        assert not fitted.coef_.any()
        np.testing.assert_allclose(fitted.predict_proba(X[:3])[:, 1], y.mean())
        assert MBAClassifier(l1=0.999 * top, l2=0.0).fit(X, y).coef_.any()


class TestInputs:
    def test_every_form_gives_the_dense_answer(self, table):
        pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
        X, y = table
        names = [f"c{i}" for i in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=names)
        want = MBAClassifier(l2=0.1).fit(X, y)
        for given, labels in (
            (np.asfortranarray(X), y.tolist()),
            (sp.csr_matrix(X), y),
            (sp.csc_array(X), y),
            (frame, pd.Series(y)),
            (pl.DataFrame(X, schema=names), pl.Series(y)),
            (pa.Table.from_pandas(frame), pa.array(y)),
            (X.tolist(), y.astype(float)),
        ):
            fitted = MBAClassifier(l2=0.1).fit(given, labels)
            np.testing.assert_allclose(fitted.coef_, want.coef_, rtol=1e-9)
            np.testing.assert_allclose(
                fitted.decision_function(given), want.decision_function(X), rtol=1e-7, atol=1e-10
            )
        # polars 2 tells its column names in a way that scikit-learn understands from 1.9 on
        named = [frame] if sklearn.__version__ < "1.9" else [frame, pl.DataFrame(X, schema=names)]
        for given in named:
            assert MBAClassifier().fit(given, y).feature_names_in_.tolist() == names

    def test_float32_scores(self, table):
        X, y = table
        fitted = MBAClassifier().fit(X, y)
        np.testing.assert_allclose(
            fitted.decision_function(X.astype(np.float32)), fitted.decision_function(X), rtol=1e-4, atol=1e-5
        )

    @pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (3, 7), (0.0, 1.0)])
    def test_any_two_labels(self, table, labels):
        X, y = table
        named = np.array(labels)[y]
        fitted = MBAClassifier(l2=0.1).fit(X, named)
        assert fitted.classes_.tolist() == sorted(labels)
        np.testing.assert_array_equal(fitted.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_)
        assert set(fitted.predict(X)) <= set(labels)
        assert fitted.predict(X).dtype == named.dtype

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
    def test_bad_data_is_named(self, X, y, message):
        with pytest.raises(ValueError, match=message):
            MBAClassifier().fit(X, y)

    def test_nan_names_row_column_and_feature(self, table):
        pd = pytest.importorskip("pandas")
        X, y = table
        X[17, 2] = np.nan
        with pytest.raises(NonFiniteError, match="NaN at row 17, column 2;"):
            MBAClassifier().fit(X, y)
        frame = pd.DataFrame(X, columns=list("abcdef"))
        with pytest.raises(NonFiniteError, match=r"row 17, column 2 \('c'\)"):
            MBAClassifier().fit(frame, y)
        fitted = MBAClassifier().fit(np.nan_to_num(X), y)
        with pytest.raises(NonFiniteError, match="row 17, column 2"):
            fitted.decision_function(X)
        with pytest.raises(NonFiniteError, match="row 17, column 2"):
            fitted.decision_function(sp.csr_matrix(X))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"l1": -1.0}, "l1 must be a finite number at least 0, got -1.0"),
            ({"l1": np.nan}, "l1 must be"),
            ({"l1": "0"}, "l1 must be"),
            ({"l2": -0.1}, "l2 must be"),
            ({"l2": "big"}, "l2 must be a number of at least 0 or 'auto'"),
            ({"pairs": 0}, "pairs must be a whole number"),
            ({"scale": "no"}, "scale must be True, False or 'auto'"),
            ({"n_jobs": "2"}, "n_jobs must be a whole number"),
            ({"pairs": "some"}, "pairs must be 'all' or"),
            ({"pairing": "odd"}, "pairing must be"),
            ({"batch_size": 0}, "batch_size must be"),
            ({"decay": 0.0}, "decay must be"),
            ({"decay": 1.1}, "decay must be"),
            ({"negative_rate": 0.0}, "negative_rate must be"),
            ({"penalty_factors": [1.0]}, "penalty_factors must have one number for each of the 6"),
            ({"penalty_factors": [1, 1, 1, -1, 1, 1]}, "-1.0 for column 3"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
            ({"tol": 0.0}, "tol must be"),
            ({"max_iter": 0}, "max_iter must be"),
        ],
    )
    def test_bad_settings_are_named(self, table, settings, message):
        with pytest.raises(ValueError, match=message):
            MBAClassifier(**settings).fit(*table)

    def test_bad_weights(self, table):
        X, y = table
        with pytest.raises(ValueError, match="zero for all rows of class 1"):
            MBAClassifier().fit(X, y, 1 - y)
        with pytest.raises(ValueError, match=r"-1\.0 at row 0"):
            MBAClassifier().fit(X, y, -np.ones(len(y)))
        with pytest.raises(ValueError, match="zero for all rows"):
            MBAClassifier().fit(X, y, np.zeros(len(y)))

    def test_wrong_number_of_features(self, table):
        X, y = table
        with pytest.raises(ValueError, match="X has 5 features, but MBAClassifier is expecting 6"):
            MBAClassifier().fit(X, y).predict(X[:, :5])


class TestProbability:
    def test_decision_zero_is_probability_one_half_and_predict_agrees(self, table):
        X, y = table
        fitted = MBAClassifier().fit(X, y)
        s, p = fitted.decision_function(X), fitted.predict_proba(X)
        np.testing.assert_array_equal(p[:, 1] > 0.5, s > 0)
        np.testing.assert_array_equal(fitted.predict(X), (s > 0).astype(int))
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), p)
        np.testing.assert_allclose(fitted.slope_ * s, np.log(p[:, 1] / p[:, 0]), rtol=1e-7, atol=1e-9)

    def test_calibrated_for_normal_classes(self, rng):
        n = 60_000
        y = (rng.random(n) < 0.1).astype(int)
        X = rng.standard_normal((n, 3)) + y[:, None] * [1.0, 0.5, 0.0]
        truth = expit(X @ [1.0, 0.5, 0.0] - (1.0 + 0.25) / 2 + np.log(0.1 / 0.9))
        fitted = MBAClassifier().fit(X, y)
        assert np.abs(fitted.predict_proba(X)[:, 1] - truth).mean() < 0.005
        # sampled pairs are balanced; the prior still comes from the data
        sampled = MBAClassifier(pairs=20_000, random_state=0).fit(X, y)
        assert np.abs(sampled.predict_proba(X)[:, 1] - truth).mean() < 0.01
        # and downsampled negatives can be put right
        keep = (y == 1) | (rng.random(n) < 0.25)
        thinned = MBAClassifier(negative_rate=0.25).fit(X[keep], y[keep])
        assert np.abs(thinned.predict_proba(X)[:, 1] - truth).mean() < 0.01
        biased = MBAClassifier().fit(X[keep], y[keep])
        assert np.abs(biased.predict_proba(X)[:, 1] - truth).mean() > 0.05
        np.testing.assert_allclose(biased.coef_, thinned.coef_)

    def test_perfect_separation_stays_finite(self):
        X, y = np.repeat([[0.0], [1.0]], 5, axis=0), np.repeat([0, 1], 5)
        fitted = MBAClassifier(l2=0.0).fit(X, y)
        p = fitted.predict_proba(X)
        assert np.isfinite(p).all()
        assert np.isfinite(fitted.predict_log_proba(X)).all()
        np.testing.assert_array_equal(fitted.predict(X), y)


class TestPartialFit:
    def test_blocks_equal_one_fit(self, table):
        X, y = table
        whole = MBAClassifier(l2=0.1).fit(X, y)
        stream = MBAClassifier(l2=0.1)
        for start in range(0, 600, 77):
            stream.partial_fit(X[start : start + 77], y[start : start + 77], classes=[0, 1])
        np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-8)
        np.testing.assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-7)

    def test_one_class_blocks_wait_for_the_other(self, table):
        X, y = table
        stream = MBAClassifier(l2=0.1).partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
        with pytest.raises(NotFittedError, match=r"0 positive and .* negative rows and no pair yet"):
            stream.predict(X)
        stream.partial_fit(X[y == 1], y[y == 1])
        np.testing.assert_allclose(stream.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-8)

    def test_the_first_call_must_know_both_classes(self, table):
        X, y = table
        with pytest.raises(ValueError, match="pass both labels as classes"):
            MBAClassifier().partial_fit(X[y == 0], y[y == 0])
        stream = MBAClassifier().partial_fit(X, y)
        with pytest.raises(ValueError, match="they must stay the same"):
            stream.partial_fit(X, y, classes=[0, 2])
        with pytest.raises(ValueError, match=r"label 5 at row 1"):
            stream.partial_fit(X[:2], [0, 5])

    @pytest.mark.parametrize("decay", [1.0, 0.5])
    def test_decay_is_a_weight_of_one_factor_per_later_call(self, table, decay):
        X, y = table
        stream = MBAClassifier(l2=0.1, decay=decay)
        for start in range(0, 600, 200):
            stream.partial_fit(X[start : start + 200], y[start : start + 200], classes=[0, 1])
        weight = np.repeat([decay**2, decay, 1.0], 200)
        np.testing.assert_allclose(stream.coef_, MBAClassifier(l2=0.1).fit(X, y, weight).coef_, rtol=1e-8)
        want = [weight[y == c].sum() ** 2 / (weight[y == c] ** 2).sum() for c in (1, 0)]
        np.testing.assert_allclose(stream.effective_sample_size_, want)

    def test_within_block_uses_pairs_of_one_block_only(self, table):
        X, y = table
        # blocks on different levels: pairs across them would see the level, pairs within do not
        level = np.repeat([0.0, 50.0, -20.0], 200)
        stream = MBAClassifier(l2=0.1, within_block=True, decay=0.5)
        mu, sigma, total = 0.0, 0.0, 0.0
        for k, start in enumerate(range(0, 600, 200)):
            rows = slice(start, start + 200)
            block = X[rows] + level[rows, None]
            stream.partial_fit(block, y[rows], classes=[0, 1])
            pairs = y[rows].sum() * (1 - y[rows]).sum() * 0.5 ** (2 - k)
            m, s = reference.pair_moments(block, y[rows])
            mu, sigma, total = mu + pairs * m, sigma + pairs * s, total + pairs
        np.testing.assert_allclose(stream.moments_.mean_difference, mu / total, atol=1e-9)
        np.testing.assert_allclose(stream.moments_.second_moment, sigma / total, atol=1e-8)

    def test_a_drifting_stream_is_followed(self, rng):
        def block(sign):
            y = (rng.random(400) < 0.3).astype(int)
            return rng.standard_normal((400, 2)) + sign * y[:, None], y

        streams = {decay: MBAClassifier(decay=decay) for decay in (1.0, 0.3)}
        for sign in [1] * 10 + [-1] * 4:
            X, y = block(sign)
            for stream in streams.values():
                stream.partial_fit(X, y, classes=[0, 1])
        X, y = block(-1)
        assert roc_auc(y, streams[0.3].decision_function(X)) > 0.7
        assert roc_auc(y, streams[1.0].decision_function(X)) < 0.5

    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    def test_sampled_streams(self, table, pairing):
        X, y = table
        stream = MBAClassifier(pairs=4000, pairing=pairing, random_state=0, l2=0.1)
        stream.partial_fit(X[y == 0][:50], y[y == 0][:50], classes=[0, 1])
        assert not hasattr(stream, "coef_")
        for start in range(0, 600, 200):
            stream.partial_fit(X[start : start + 200], y[start : start + 200])
        exact = MBAClassifier(l2=0.1).fit(X, y)
        assert spearmanr(stream.decision_function(X), exact.decision_function(X))[0] > 0.95
        np.testing.assert_allclose(stream.moments_.weights, (y.sum(), (1 - y).sum() + 50))

    def test_fit_starts_afresh_and_partial_fit_goes_on(self, table):
        X, y = table
        fitted = MBAClassifier(l2=0.1).fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
        np.testing.assert_allclose(fitted.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-8)
        np.testing.assert_allclose(
            fitted.fit(X[:300], y[:300]).coef_, MBAClassifier(l2=0.1).fit(X[:300], y[:300]).coef_
        )


class TestFailure:
    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_a_failing_fit_changes_nothing(self, table, method):
        X, y = table
        fitted = MBAClassifier().fit(X, y)
        before = pickle.dumps(vars(fitted))
        bad = X.copy()
        bad[-1, -1] = np.inf
        for X_bad, y_bad, why in (
            (bad, y, "inf"),
            (X[:, :3], y[:10], "3 features|inconsistent numbers of samples"),
            (X, y + np.arange(len(y)), "classes|not in"),
        ):
            with pytest.raises(ValueError, match=why):
                getattr(fitted, method)(X_bad, y_bad)
            assert pickle.dumps(vars(fitted)) == before

    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_an_interrupted_fit_changes_nothing(self, table, method, monkeypatch):
        X, y = table
        fitted = MBAClassifier().fit(X[:, :4], y)
        before = pickle.dumps(vars(fitted))

        def interrupt(*args, **kwargs):
            raise KeyboardInterrupt

        monkeypatch.setattr("mbauc.solvers.gram.solver.RidgePath", interrupt)
        with pytest.raises(KeyboardInterrupt):
            getattr(fitted, method)(X[:, :4] + 1, y)
        assert pickle.dumps(vars(fitted)) == before
        assert fitted.n_features_in_ == 4


class TestScalingAndPenalties:
    @pytest.mark.parametrize("l1", [0.0, 0.05])
    def test_scale_equals_a_standard_scaler_in_front(self, table, l1):
        X, y = table
        X = X * [1, 10, 100, 0.1, 1, 1e3]
        ours = MBAClassifier(l1=l1, l2=0.3, scale=True).fit(X, y)
        pipe = make_pipeline(StandardScaler(), MBAClassifier(l1=l1, l2=0.3)).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(X), pipe.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(ours.scale_, X.std(axis=0))

    @pytest.mark.parametrize("scale", [False, True])
    def test_constant_columns_get_no_weight(self, table, scale):
        X, y = table
        X = np.c_[X, np.full(len(y), 0.1), np.zeros(len(y))]
        fitted = MBAClassifier(scale=scale).fit(X, y)
        np.testing.assert_array_equal(fitted.coef_[0, 6:], 0.0)
        np.testing.assert_array_equal(MBAClassifier(scale=scale).fit(sp.csr_matrix(X), y).coef_[0, 6:], 0.0)

    def test_unpenalised_features(self, table):
        X, y = table
        factors = [0, 1, 1, 1, 1, 1]
        heavy = MBAClassifier(l2=1e6, penalty_factors=factors).fit(X, y)
        alone = MBAClassifier(l2=0.0).fit(X[:, :1], y)
        np.testing.assert_allclose(heavy.coef_[0, 0], alone.coef_[0, 0], rtol=1e-3)
        sparse = MBAClassifier(l1=1e3, l2=0.0, penalty_factors=factors).fit(X, y)
        np.testing.assert_allclose(sparse.coef_[0], [alone.coef_[0, 0], 0, 0, 0, 0, 0], atol=1e-9)

    @pytest.mark.parametrize("scale", [False, True])
    def test_the_default_ranking_does_not_depend_on_units(self, table, scale):
        X, y = table
        plain, scaled = (MBAClassifier(scale=scale).fit(c * X, y) for c in (1.0, 1000.0))
        same_direction(plain.coef_, scaled.coef_, 1e-7)
        order = np.argsort(plain.decision_function(X), kind="stable")
        assert (np.diff(scaled.decision_function(1000 * X)[order]) > -1e-9).all()

    def test_weights_that_sum_to_one_do_not_change_the_default_much(self, table):
        X, y = table
        plain, normalised = MBAClassifier().fit(X, y), MBAClassifier().fit(X, y, np.full(len(y), 1 / len(y)))
        assert normalised.l2_ == pytest.approx(plain.l2_, rel=1e-6)

    def test_wide_data_choose_l2_without_all_eigenvalues(self, rng, monkeypatch):
        X = rng.standard_normal((200, 60))
        y = (X[:, 0] + rng.standard_normal(200)) > 0.8
        exact = MBAClassifier().fit(X, y)
        monkeypatch.setattr("mbauc.solvers.gram.solver.ALL_EIGENVALUES", 10)
        rough = MBAClassifier().fit(X, y)
        assert 0.2 < rough.l2_ / exact.l2_ < 5
        assert spearmanr(rough.decision_function(X), exact.decision_function(X))[0] > 0.98


class TestStandardErrors:
    @pytest.mark.slow
    def test_they_match_the_spread_over_data_sets(self, rng):
        mixing = rng.standard_normal((4, 4)) / 2 + np.eye(4)
        shift = np.array([0.8, 0.0, -0.4, 0.0])

        def draw():
            y = np.arange(1500) < 300
            return (rng.standard_normal((1500, 4)) + y[:, None] * shift) @ mixing, y

        for l2, pairs in ((0.0, "all"), (0.5, "all"), (0.1, 2000)):
            fits = [MBAClassifier(l2=l2, pairs=pairs, random_state=k).fit(*draw()) for k in range(250)]
            spread = np.std([fit.coef_[0] for fit in fits], axis=0)
            stated = np.mean([fit.coef_standard_errors()[0] for fit in fits[:20]], axis=0)
            np.testing.assert_allclose(stated, spread, rtol=0.2)

    def test_zero_weights_have_zero_error(self, table):
        X, y = table
        fitted = MBAClassifier(l1=0.3, l2=0.0).fit(X, y)
        errors = fitted.coef_standard_errors()
        assert errors.shape == (1, 6)
        np.testing.assert_array_equal(errors == 0, fitted.coef_ == 0)
        assert (fitted.coef_ == 0).any()


class TestComposition:
    def test_feature_maps_of_section_iv(self):
        X, y = make_moons(1500, noise=0.2, random_state=0)
        linear = MBAClassifier().fit(X[:1000], y[:1000])
        base = roc_auc(y[1000:], linear.decision_function(X[1000:]))
        for features in (
            PolynomialFeatures(3, include_bias=False),
            Nystroem(gamma=2.0, n_components=80, random_state=0),
            RBFSampler(gamma=2.0, n_components=200, random_state=0),
        ):
            pipe = make_pipeline(StandardScaler(), features, MBAClassifier()).fit(X[:1000], y[:1000])
            assert roc_auc(y[1000:], pipe.decision_function(X[1000:])) > base + 0.02

    def test_grid_search_clone_and_pickle(self, table):
        X, y = table
        search = GridSearchCV(MBAClassifier(), {"l2": [1e-3, 1.0, 1e3]}, scoring="roc_auc").fit(X, y)
        assert search.best_estimator_.l2 in (1e-3, 1.0)
        copy = clone(search.best_estimator_)
        assert not hasattr(copy, "coef_")
        again = pickle.loads(pickle.dumps(search.best_estimator_))
        np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))

    def test_as_good_a_ranker_as_logistic_regression_on_normal_data(self, rng):
        y = (rng.random(6000) < 0.1).astype(int)
        X = rng.standard_normal((6000, 8)) + 0.5 * y[:, None]
        ours = roc_auc(y[3000:], MBAClassifier().fit(X[:3000], y[:3000]).decision_function(X[3000:]))
        theirs = LogisticRegression().fit(X[:3000], y[:3000]).decision_function(X[3000:])
        assert ours > roc_auc(y[3000:], theirs) - 0.005

    def test_there_is_no_class_weight_because_it_cancels(self, table):
        X, y = table
        weighted = MBAClassifier(l2=0.1).fit(X, y, np.where(y == 1, 25.0, 1.0))
        np.testing.assert_allclose(weighted.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-9)
        assert "class_weight" not in MBAClassifier().get_params()


def test_sampling_is_reproducible_and_converges(table):
    X, y = table
    exact = MBAClassifier(l2=0.1).fit(X, y)
    for pairing in ("matched", "complete"):
        one, two = (
            MBAClassifier(l2=0.1, pairs=20_000, pairing=pairing, random_state=7).fit(X, y) for _ in range(2)
        )
        np.testing.assert_array_equal(one.coef_, two.coef_)
        np.testing.assert_allclose(one.coef_, exact.coef_, atol=0.1 * np.abs(exact.coef_).max())
        assert MBAClassifier(pairs=10, batch_size=3, random_state=0).fit(X, y).moments_.n_pairs == 10


class TestSampledPairs:
    def test_the_default_l2_does_not_take_draws_for_new_rows(self, rng):
        X = rng.standard_normal((300, 120))
        y = np.arange(300) % 2
        X[y == 1, :10] += 0.3
        exact = MBAClassifier().fit(X, y)
        for pairing in ("matched", "complete"):
            many = MBAClassifier(pairs=50_000, pairing=pairing, random_state=0).fit(X, y)
            assert 0.3 < many.l2_ / exact.l2_ < 3

    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    def test_blocks_count_by_their_rows(self, rng, pairing):
        X, y = rng.standard_normal((4000, 2)), np.arange(4000) % 2
        X[y == 1, 0] += 1.0
        stream = MBAClassifier(pairs=1000, pairing=pairing, random_state=0).partial_fit(X, y)
        few = rng.standard_normal((20, 2)) + 5.0 * (np.arange(20) % 2)[:, None] * [0, 1]
        stream.partial_fit(few, np.arange(20) % 2)
        np.testing.assert_allclose(stream.moments_.mean_difference, [1.0, 0.0], atol=0.2)

    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    def test_non_finite_values_have_their_own_row_number(self, table, pairing):
        X, y = table
        X[123, 4] = np.nan
        with pytest.raises(NonFiniteError, match="row 123, column 4"):
            MBAClassifier(pairs=20_000, pairing=pairing, random_state=0).fit(X, y)

    def test_standard_errors_do_not_depend_on_the_scale_of_the_weights(self, table):
        X, y = table
        errors = [
            MBAClassifier(l2=0.1, pairs=500, random_state=0)
            .fit(X, y, np.full(len(y), w))
            .coef_standard_errors()
            for w in (1.0, 1 / len(y))
        ]
        np.testing.assert_allclose(errors[0], errors[1], rtol=1e-9)


class TestExtremes:
    def test_a_heavy_penalty_on_one_feature_leaves_the_others(self, table):
        X, y = table
        heavy = MBAClassifier(l2=0.1, penalty_factors=[1e20, 1, 1, 1, 1, 1]).fit(X, y)
        np.testing.assert_allclose(
            heavy.coef_[0, 1:], MBAClassifier(l2=0.1).fit(X[:, 1:], y).coef_[0], rtol=1e-6
        )

    def test_units_do_not_make_a_problem_singular(self, table):
        X, y = table
        units = np.array([1e9, 1, 1, 1, 1, 1e-6])
        odd, plain = MBAClassifier(l2=0.0).fit(X * units, y), MBAClassifier(l2=0.0).fit(X, y)
        np.testing.assert_allclose(odd.coef_ * units, plain.coef_, rtol=1e-6)

    @pytest.mark.slow
    def test_a_stream_that_forgets_a_class_stays_finite(self, table):
        X, y = table
        stream = MBAClassifier(decay=0.5).partial_fit(X, y)
        for _ in range(1500):
            stream.partial_fit(X[y == 0][:3], y[y == 0][:3])
        assert np.isfinite(stream.coef_).all()
        assert np.isfinite(stream.intercept_).all()
        assert stream.effective_sample_size_[0] > 1
        stream.partial_fit(X, y)
        np.testing.assert_allclose(stream.moments_.class_means[0], X[y == 1].mean(axis=0))

    @pytest.mark.parametrize("weight", [1e-200, 1e160])
    def test_weights_out_of_range_are_refused(self, table, weight):
        X, y = table
        with pytest.raises(ValueError, match="Multiply all by one number"):
            MBAClassifier().fit(X, y, np.full(len(y), weight))

    def test_huge_penalties_and_tiny_units_give_the_prior(self, table):
        X, y = table
        fitted = MBAClassifier(l2=1e170).fit(X, y)
        np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], y.mean(), rtol=1e-6)

    @pytest.mark.parametrize("unit", [1e-90, 1e90])
    def test_the_default_l2_in_extreme_units(self, table, unit):
        X, y = table
        same_direction(MBAClassifier().fit(X * unit, y).coef_, MBAClassifier().fit(X, y).coef_, 1e-6)

    def test_standard_errors_of_a_singular_fit(self, table):
        X, y = table
        with pytest.warns(SingularWarning):
            fitted = MBAClassifier(l2=0.0).fit(np.c_[X, X], y)
        assert np.isfinite(fitted.coef_standard_errors()).all()

    def test_too_many_columns_for_memory_are_refused_with_advice(self):
        X = sp.csr_matrix(([1.0, 1.0], ([0, 1], [5, 6])), shape=(2, 3_000_000))
        with pytest.raises(MemoryError, match="3,000,000 columns take 67,055 GiB"):
            MBAClassifier(solver="gram").fit(X, [0, 1])
        assert MBAClassifier().fit(X, [0, 1]).solver_.name == "matrix-free"

    def test_missing_labels_of_pandas(self, table):
        pd = pytest.importorskip("pandas")
        X, y = table
        labels = pd.Series(y).astype("string")
        labels[3] = pd.NA
        with pytest.raises(ValueError, match="row 3"):
            MBAClassifier().partial_fit(X, labels, classes=["0", "1"])


def test_within_block_probabilities_rise_with_the_score(rng):
    stream = MBAClassifier(within_block=True)
    for k in range(6):
        y = (rng.random(300) < 0.9 - 0.15 * k).astype(int)
        X = rng.standard_normal((300, 2)) + y[:, None] + 3.0 * k
        stream.partial_fit(X, y, classes=[0, 1])
    assert stream.slope_ > 0
    np.testing.assert_array_equal(stream.predict(X), stream.predict_proba(X).argmax(axis=1))


def test_fit_moments_of_rows_seen_elsewhere(table, tmp_path):
    X, y = table
    halves = [PairMoments.from_arrays(X[rows], y[rows]) for rows in (slice(0, 300), slice(300, 600))]
    (halves[0] + halves[1]).save(tmp_path / "moments.npz")
    fitted = MBAClassifier(l2=0.1).fit_moments(
        PairMoments.load(tmp_path / "moments.npz"), classes=["no", "yes"]
    )
    whole = MBAClassifier(l2=0.1).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), whole.decision_function(X), atol=1e-9)
    assert fitted.classes_.tolist() == ["no", "yes"]
    started = MBAClassifier(l2=0.1).fit_moments(halves[0]).partial_fit(X[300:], y[300:])
    np.testing.assert_allclose(started.coef_, whole.coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="must be a PairMoments"):
        MBAClassifier().fit_moments(X)
    with pytest.raises(ValueError, match="no pairs yet"):
        MBAClassifier().fit_moments(PairMoments(3))


def test_a_failing_prediction_touches_nothing(table):
    X, y = table
    fitted = MBAClassifier().fit(X, y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="X has 2 features, but MBAClassifier is expecting 6"):
        fitted.predict(X[:, :2])
    assert all(vars(fitted)[name] is value for name, value in before.items())


def test_non_finite_errors_survive_a_worker_process():
    error = pickle.loads(pickle.dumps(NonFiniteError(5, 1, np.inf, "age")))
    assert (error.row, error.column, error.name) == (5, 1, "age")
    assert "inf at row 5, column 1 ('age')" in str(error)
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(NonFiniteError, match=r"\('b'\)"):
        MBAClassifier().fit(pa.table({"a": [1.0, 2.0, 3.0], "b": [1.0, float("nan"), 2.0]}), [0, 1, 0])


def test_bytes_in_foreign_order(table):
    X, y = table
    expected = MBAClassifier().fit(X, y).coef_
    sparse = sp.csr_array(X)
    sparse.data = sparse.data.astype(">f8")
    for foreign in (X.astype(">f8"), sparse):
        np.testing.assert_allclose(MBAClassifier().fit(foreign, y).coef_, expected, rtol=1e-9)


def test_blocks_from_several_threads_are_all_counted(rng):
    X = rng.standard_normal((4000, 5))
    y = np.arange(4000) % 2
    stream = MBAClassifier(l2=0.1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: stream.partial_fit(X[k : k + 50], y[k : k + 50], [0, 1]), range(0, 4000, 50)))
    assert sum(stream.moments_.counts) == 4000
    np.testing.assert_allclose(stream.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_)
    again = pickle.loads(pickle.dumps(clone(stream).partial_fit(X, y)))
    np.testing.assert_array_equal(again.partial_fit(X, y).classes_, [0, 1])
