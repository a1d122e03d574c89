from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.base import clone

from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.errors import FewRowsWarning, NonFiniteError
from mbauc.estimators import enough_pairs
from mbauc.estimators.enough_pairs import PairsStep, hold_out, plan_pair_counts
from mbauc.metrics import compare_roc_auc, roc_auc, roc_auc_interval
from mbauc.paper.clicks import ClickLog
from mbauc.rows.block import Block


def normal_data(n, d, seed=0, share=0.3, signal=0.35):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return rng.standard_normal((n, d)) + y[:, None] * rng.standard_normal(d) * signal, y.astype(int)


@pytest.fixture(scope="module")
def easy():
    """Strong signal in few columns: some thousand pairs say it all."""
    return normal_data(200_000, 20, signal=0.5)


@pytest.fixture(scope="module")
def medium():
    return normal_data(40_000, 8, seed=1)


def enough(**settings):
    return MBAClassifier(pairs="enough", random_state=0, **settings)


def training_rows(fitted, n):
    return np.setdiff1d(np.arange(n), fitted.held_out_)


def same_weights(a, b, rtol=1e-8):
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol, atol=rtol * np.abs(b.coef_).max())


class TestStopping:
    def test_stops_early_where_few_pairs_say_it_all(self, easy):
        X, y = easy
        fitted = enough().fit(X, y)
        assert fitted.pairs_ <= 16_000
        assert fitted.pairs_path_[-1].rows <= 2 * fitted.pairs_
        out = fitted.held_out_
        exact = MBAClassifier().fit(np.delete(X, out, axis=0), np.delete(y, out))
        assert abs(fitted.held_out_auc_.auc - roc_auc(y[out], exact.decision_function(X[out]))) < 0.002

    @pytest.mark.slow
    def test_goes_on_while_the_auc_rises(self):
        X, y = normal_data(70_000, 400, share=0.5, signal=0.06)
        fitted = enough(solver="gram", l2=0.01).fit(X, y)
        assert [step.pairs for step in fitted.pairs_path_] == [1000, 2000, 4000, "all"]
        gains = [step.gain for step in fitted.pairs_path_[1:]]
        assert min(gains) > enough_pairs.AUC_TOLERANCE

    def test_the_last_two_gains_and_no_two_before_lie_within_the_tolerance(self, easy):
        path = enough().fit(*easy).pairs_path_
        still = [max(abs(end) for end in step.gain_interval or (1.0,)) < 0.001 for step in path]
        assert still[-2:] == [True, True]
        assert not any(a and b for a, b in pairwise(still[:-1]))

    @pytest.mark.parametrize(
        ("interval", "still"),
        [
            (None, False),
            ((-0.0009, 0.0009), True),
            ((-0.0001, 0.0011), False),
            ((-0.02, -0.01), False),  # a fall is a move as well
            ((0.01, 0.02), False),
        ],
    )
    def test_a_step_is_still_if_its_whole_interval_is_small(self, interval, still):
        assert PairsStep(1000, 10, 0.8, (0.7, 0.9), None, interval).is_still is still

    def test_pairs_double_up_to_one_for_eight_rows(self):
        assert plan_pair_counts(7999, 1) == []
        assert plan_pair_counts(8000, 1) == [1000]
        assert plan_pair_counts(100_000, 1) == [1000, 2000, 4000, 8000]
        assert plan_pair_counts(100_000, 3000) == [4000, 8000]

    @pytest.mark.slow
    def test_without_l2_there_are_at_least_as_many_pairs_as_columns(self):
        X, y = normal_data(20_000, 1200, share=0.5, signal=0.05)
        # fewer would be singular, which is a warning, which is an error here
        path = enough(l2=0.0, solver="gram").fit(X, y).pairs_path_
        assert [step.pairs for step in path] == [2000, "all"]


class TestPath:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_auc_and_gain_are_those_of_the_held_out_rows(self, medium, weighted):
        X, y = medium
        weight = np.random.default_rng(3).random(len(y)) + 0.2 if weighted else None
        fitted = enough().fit(X, y, weight)
        out, last = fitted.held_out_, fitted.pairs_path_[-1]
        design = {"sample_weight": weight[out], "weights": "sampling"} if weighted else {}
        auc = roc_auc_interval(y[out], fitted.decision_function(X[out]), **design)
        assert fitted.held_out_auc_.auc == pytest.approx(auc.auc, abs=1e-12)
        assert (last.auc, *last.interval) == pytest.approx((auc.auc, auc.low, auc.high), abs=1e-12)
        assert fitted.pairs_ == last.pairs
        first, second = fitted.pairs_path_[:2]
        assert (first.gain, first.gain_interval) == (None, None)
        assert second.gain == pytest.approx(second.auc - first.auc, abs=1e-12)
        scored = [self._scores(fitted, X, y, weight, step.pairs) for step in (second, first)]
        pair = compare_roc_auc(y[out], scored, **design)
        assert second.gain_interval == pytest.approx((pair.low[0, 1], pair.high[0, 1]), abs=1e-9)

    @staticmethod
    def _scores(fitted, X, y, weight, pairs):
        """Scores of the held-out rows from the first pairs of the same draw, by a fit of its own."""
        train = training_rows(fitted, len(y))
        rng = np.random.default_rng(0)
        hold_out(Block(X, y == 1, weight), rng)  # moves the generator on as the fit did
        # rows keep their order, so that a draw among them is a draw among the training rows
        plain = MBAClassifier(pairs=pairs, random_state=rng)
        return plain.fit(X[train], y[train], None if weight is None else weight[train]).decision_function(
            X[fitted.held_out_]
        )

    def test_rows_are_counted_once(self, medium, monkeypatch):
        X, y = medium
        drawn = []
        draw = enough_pairs.draw_rows
        monkeypatch.setattr(enough_pairs, "draw_rows", lambda *a: drawn.append(draw(*a)) or drawn[-1])
        fitted = enough().fit(X, y)
        for step in fitted.pairs_path_:
            if step.pairs == "all":
                assert step.rows == len(y) - fitted.held_out_.size
            else:
                assert step.rows == len({*drawn[0][0][: step.pairs], *drawn[0][1][: step.pairs]})

    def test_a_step_reads_like_a_sentence(self):
        step = PairsStep(16_000, 25_000, 0.8337, (0.82634, 0.84078), 0.00012, (-0.0004, 0.0005))
        assert str(step) == (
            "16,000 pairs of 25,000 rows: AUC 0.8337 (0.8263 to 0.8408), +0.0001 (-0.0004 to +0.0005)"
        )
        assert (
            str(PairsStep("all", 9, 0.5, (0.4, 0.6), None, None))
            == "all pairs of 9 rows: AUC 0.5000 (0.4000 to 0.6000)"
        )

    @pytest.mark.parametrize("pairs", ["all", 500])
    def test_another_kind_of_fit_forgets_the_path(self, medium, pairs):
        X, y = medium
        names = ("pairs_", "pairs_path_", "held_out_", "held_out_auc_")
        fitted = enough().fit(X, y)
        assert all(hasattr(fitted, name) for name in names)
        assert not any(hasattr(clone(fitted).set_params(pairs=pairs).fit(X, y), name) for name in names)
        fitted.set_params(pairs=pairs)
        assert not any(hasattr(fitted.fit(X, y), name) for name in names)
        again = enough().fit(X, y).fit_moments(PairMoments.from_arrays(X, y))
        assert not any(hasattr(again, name) for name in names)


class TestSample:
    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    @pytest.mark.parametrize("solver", ["gram", "matrix-free"])
    @pytest.mark.parametrize("penalty", [{}, {"l2": 0.1}, {"l1": 0.01}, {"l1": 0.01, "l2": 0.1, "scale": True}])
    def test_the_model_is_that_of_the_same_pairs_drawn_at_once(
        self, medium, pairing, solver, penalty, monkeypatch
    ):
        X, y = medium
        settings = {"pairing": pairing, "solver": solver, "tol": 1e-10, **penalty}
        monkeypatch.setattr(enough_pairs, "AUC_TOLERANCE", 1.0)  # ends after two doublings
        monkeypatch.setattr(enough_pairs, "_ROUND", 7 * 700)  # rounds that do not divide the steps
        fitted = enough(batch_size=64, **settings).fit(X, y)
        assert fitted.pairs_ == 4000
        train = training_rows(fitted, len(y))
        rng = np.random.default_rng(0)
        hold_out(Block(X, y == 1, None), rng)
        plain = MBAClassifier(pairs=4000, random_state=rng, **settings).fit(X[train], y[train])
        same_weights(fitted, plain, 1e-5 if solver == "matrix-free" else 1e-7)
        assert fitted.l2_ == pytest.approx(plain.l2_, rel=1e-6)
        assert fitted.intercept_ == pytest.approx(plain.intercept_, rel=1e-4)
        assert fitted.slope_ == pytest.approx(plain.slope_, rel=1e-4)
        assert fitted.effective_sample_size_ == pytest.approx(plain.effective_sample_size_)
        assert fitted.solver_.name == solver

    def test_the_first_pairs_are_those_of_fewer(self, medium):
        X, y = medium
        paths = [enough().fit(X, y).pairs_path_]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(enough_pairs, "_ROWS_FOR_A_PAIR", 4)  # one doubling more before all pairs
            patch.setattr(enough_pairs, "AUC_TOLERANCE", 0.0)
            paths.append(enough().fit(X, y).pairs_path_)
        assert len(paths[1]) > 3
        assert [step.pairs for step in paths[1]] == [1000, 2000, 4000, 8000, "all"]
        assert paths[0][:3] == paths[1][:3]

    @pytest.mark.parametrize("sparse", [sp.csr_matrix, sp.csc_array])
    @pytest.mark.parametrize("solver", ["gram", "matrix-free"])
    def test_sparse_rows_are_the_dense_ones(self, sparse, solver):
        X, y = normal_data(20_000, 6, seed=5)
        X[np.abs(X) < 0.7] = 0.0
        dense, same = (
            enough(solver=solver, tol=1e-9).fit(X, y),
            enough(solver=solver, tol=1e-9).fit(sparse(X), y),
        )
        same_weights(same, dense, 1e-4)
        assert same.pairs_ == dense.pairs_
        np.testing.assert_array_equal(same.held_out_, dense.held_out_)

    def test_rows_that_are_not_drawn_are_not_read(self, easy):
        X, y = easy
        for kind, solver in ((np.array, "gram"), (np.array, "matrix-free"), (sp.csr_matrix, "gram")):
            first = enough(solver=solver).fit(kind(X), y)
            read = self._read(first, X, y)
            spoilt = X.copy()
            spoilt[~read] = np.nan
            assert 20_000 < read.sum() < 60_000
            again = enough(solver=solver).fit(kind(spoilt), y)
            np.testing.assert_array_equal(again.coef_, first.coef_)
            assert again.pairs_path_ == first.pairs_path_

    @staticmethod
    def _read(fitted, X, y):
        assert fitted.pairs_ != "all"
        rows = Block(X, y == 1, None)
        rng = np.random.default_rng(0)
        out, train = hold_out(rows, rng)
        read = np.zeros(len(y), dtype=bool)
        read[out] = True
        for part in enough_pairs.draw_rows(rows, fitted.pairs_, rng, train):
            read[part] = True
        return read

    @pytest.mark.parametrize("pairing", ["matched", "complete"])
    def test_a_drawn_row_that_is_not_finite_is_named(self, medium, pairing):
        X, y = medium
        fitted = enough(pairing=pairing).fit(X, y)
        out = fitted.held_out_
        spoilt = X.copy()
        spoilt[out[5], 3] = np.nan
        with pytest.raises(NonFiniteError, match=f"row {out[5]:,}, column 3"):
            enough(pairing=pairing).fit(spoilt, y)
        rows = Block(X, y == 1, None)
        rng = np.random.default_rng(0)
        plus, _ = enough_pairs.draw_rows(rows, 1000, rng, hold_out(rows, rng)[1])
        spoilt = X.copy()
        spoilt[plus[17], 2] = np.inf
        before = dict(vars(fitted))
        with pytest.raises(NonFiniteError, match=f"row {plus[17]:,}, column 2"):
            fitted.fit(spoilt, y)
        assert vars(fitted) == before


class TestAllPairs:
    @pytest.mark.parametrize("solver", ["gram", "matrix-free"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_small_data_are_fitted_exactly(self, solver, weighted):
        X, y = normal_data(3000, 5, seed=2)
        weight = np.random.default_rng(4).random(len(y)) if weighted else None
        fitted = enough(solver=solver, tol=1e-9).fit(X, y, weight)
        assert fitted.pairs_ == "all"
        assert [step.pairs for step in fitted.pairs_path_] == ["all"]
        train = training_rows(fitted, len(y))
        exact = MBAClassifier(solver=solver, tol=1e-9)
        exact.fit(X[train], y[train], None if weight is None else weight[train])
        same_weights(fitted, exact, 1e-8)
        assert fitted.intercept_ == pytest.approx(exact.intercept_)
        assert fitted.l2_ == pytest.approx(exact.l2_)

    def test_blocks_to_come_may_follow(self):
        X, y = normal_data(3000, 5, seed=2)
        fitted = enough(within_block=True).fit(X, y)
        assert fitted.moments_.is_closed
        fitted.set_params(pairs="all").partial_fit(X[:100], y[:100])
        assert not hasattr(fitted, "pairs_path_")


class TestHoldOut:
    @pytest.mark.parametrize(
        ("n_positive", "n_negative", "expected"),
        [(4, 200, (2, 100)), (200, 480, (100, 100)), (1000, 60_000, (200, 10_000)), (501, 199, (100, 99))],
    )
    @pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
    def test_a_fifth_of_each_class_within_bounds(self, n_positive, n_negative, expected):
        positive = np.random.default_rng(0).permutation(np.repeat([True, False], [n_positive, n_negative]))
        rows = Block(np.empty((positive.size, 1)), positive, None)
        out, train = hold_out(rows, np.random.default_rng(1))
        assert (int(positive[out].sum()), int((~positive[out]).sum())) == expected
        np.testing.assert_array_equal(np.sort(np.concatenate([out, train])), np.arange(positive.size))
        assert (np.diff(out) > 0).all()
        assert (np.diff(train) > 0).all()

    def test_every_row_may_be_held_out_and_none_of_weight_zero(self):
        positive = np.arange(500) % 2 == 0
        weight = (np.arange(500) % 5 > 0).astype(float)
        times = np.zeros(500)
        for seed in range(200):
            out, train = hold_out(Block(np.empty((500, 1)), positive, weight), np.random.default_rng(seed))
            times[out] += 1
            assert weight[out].all()
            assert weight[train].all()
            assert out.size + train.size == 400
        # 100 of 200 rows of a class, 200 times
        assert times[weight > 0].min() > 65
        assert times[weight > 0].max() < 135

    def test_few_rows_are_warned_of_once(self):
        X, y = normal_data(1000, 3)
        keep = np.concatenate([np.flatnonzero(y == 1)[:60], np.flatnonzero(y == 0)])
        with pytest.warns(FewRowsWarning, match="holds out 30 positive rows") as caught:
            enough().fit(X[keep], y[keep])
        assert len(caught) == 1
        assert caught[0].filename == __file__

    def test_too_few_rows_are_an_error(self):
        X, y = normal_data(300, 3)
        keep = np.concatenate([np.flatnonzero(y == 1)[:3], np.flatnonzero(y == 0)])
        with pytest.raises(
            ValueError, match=r"there are 3 positive rows; at least 4 are needed. Use pairs='all'"
        ):
            enough().fit(X[keep], y[keep])


class TestSettings:
    @pytest.mark.parametrize(
        "make", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)]
    )
    def test_same_seed_same_bits(self, medium, make):
        X, y = medium
        first, second = (MBAClassifier(pairs="enough", random_state=make()).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(first.coef_, second.coef_)
        assert first.pairs_path_ == second.pairs_path_
        other = MBAClassifier(pairs="enough", random_state=8).fit(X, y)
        assert (other.coef_ != first.coef_).any()

    def test_is_a_parameter_like_any_other(self, medium):
        fitted = enough().fit(*medium)
        assert fitted.get_params()["pairs"] == "enough"
        assert clone(fitted).pairs == "enough"
        assert not hasattr(clone(fitted), "pairs_")

    def test_weights_say_how_often_a_row_is_drawn(self, medium):
        X, y = medium
        # half of the rows point the other way and weigh next to nothing
        flipped = np.random.default_rng(0).random(len(y)) < 0.5
        weight = np.where(flipped, 1e-6, 1.0)
        fitted = enough().fit(np.where(flipped[:, None], -X, X), y, weight)
        plain = MBAClassifier().fit(X, y)
        cosine = fitted.coef_[0] @ plain.coef_[0]
        assert cosine / np.linalg.norm(fitted.coef_) / np.linalg.norm(plain.coef_) > 0.99
        assert fitted.held_out_auc_.auc > 0.75

    def test_other_words_are_refused(self, medium):
        with pytest.raises(
            ValueError, match=r"pairs must be 'all' or 'enough', or a whole number .* got 'plenty'"
        ):
            MBAClassifier(pairs="plenty").fit(*medium)

    def test_cross_validation_and_streams_refuse(self, medium):
        X, y = medium
        with pytest.raises(ValueError, match="pairs='enough' is available in MBAClassifier only"):
            MBAClassifierCV(pairs="enough").fit(X, y)
        with pytest.raises(ValueError, match="pairs='enough' needs all rows at once"):
            enough().partial_fit(X, y)

    def test_a_source_refuses_and_forgets(self, medium):
        log = ClickLog(3000, hash_dim=20)
        with pytest.raises(ValueError, match="pairs='enough' is for rows in memory"):
            enough().fit(log)
        fitted = enough().fit(*medium).set_params(pairs="all").fit(log)
        assert not hasattr(fitted, "pairs_path_")

    def test_progress_tells_the_auc(self, medium, monkeypatch):
        notes = []

        class Bar:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def __call__(self, done):
                notes.append(done)

            def note(self, text):
                notes.append(text)

        shown = []
        monkeypatch.setattr(enough_pairs, "progress", lambda *a, show, **k: shown.append(show) or Bar())
        fitted = enough(verbose=True).fit(*medium)
        assert shown == [True]
        steps = [step for step in fitted.pairs_path_ if step.pairs != "all"]
        assert notes[::2] == [
            f"{s.auc:.4f} (95% interval {s.interval[0]:.4f} to {s.interval[1]:.4f})" for s in steps
        ]
        assert np.cumsum(notes[1::2]).tolist() == [step.pairs for step in steps]


class TestPlot:
    def test_draws_auc_and_intervals_over_pairs(self, easy):
        pytest.importorskip("matplotlib")
        from mbauc.plots import EnoughPairsDisplay, new_figure

        fitted = enough().fit(*easy)
        ax = new_figure().add_subplot()
        display = EnoughPairsDisplay.from_estimator(fitted, name="here", ax=ax)
        assert display.ax_ is ax
        assert ax.get_xscale() == "log"
        assert display.line_.get_label() == "here: held-out AUC"
        x, auc = display.line_.get_data()
        assert x.tolist() == [step.pairs for step in fitted.pairs_path_]
        assert auc.tolist() == [step.auc for step in fitted.pairs_path_]
        assert [label.get_text() for label in ax.get_xticklabels()][:3] == ["1k", "2k", "4k"]

    def test_all_pairs_stand_at_the_right_end(self):
        pytest.importorskip("matplotlib")
        from mbauc.plots import EnoughPairsDisplay

        fitted = enough().fit(*normal_data(3000, 5))
        display = EnoughPairsDisplay.from_estimator(fitted)
        assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["all"]
        assert display.gains_ is None

    def test_says_what_it_needs(self, medium):
        pytest.importorskip("matplotlib")
        from mbauc.plots import EnoughPairsDisplay

        with pytest.raises(ValueError, match="fit an MBAClassifier"):
            EnoughPairsDisplay.from_estimator(MBAClassifier().fit(*medium))
