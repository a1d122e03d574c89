"""Which label is positive is found out whatever labels a part happens to have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_parts import LocalParts, Ranker, RankerCV, cut, rows_of
from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.errors import PartError
from mbauc.pairs.operator.of_parts import sum_columns
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.schema import Schema

#: Pairs of labels, negative first; some contradict the conventions of {0, 1} and {-1, 1}.
LABELS = [
    (0, 1),
    (-1, 1),
    (-1, 0),
    (1, 2),
    (0, 2),
    (-1, 2),
    (0.5, 1.5),
    (False, True),
    ("a", "b"),
    ("1", "yes"),
]


def labelled(pair, dtype=None, n=60):
    """Rows sorted by class, the first 40 negative: cut anywhere, most parts have one label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.array([pair[0]] * 40 + [pair[1]] * (n - 40), dtype=dtype)
    X[40:, 0] += 1.0
    return X, y


CUTS = [[], [40], [50], [10, 30, 40, 50], [0, 0, 60]]


@pytest.mark.parametrize("pair", LABELS, ids=str)
@pytest.mark.parametrize("cuts", CUTS, ids=lambda cuts: f"{len(cuts) + 1} parts")
def test_the_larger_label_is_positive(pair, cuts):
    X, y = labelled(pair)
    local = MBAClassifier(l2=0.1).fit(X, y)
    for dtype in (None, object):
        for solver, tol in (("gram", None), ("matrix-free", 1e-13)):
            parts = cut(cuts, X, y.astype(dtype) if dtype else y)
            ours = Ranker(l2=0.1, solver=solver, tol=tol).fit_parts(parts, X)
            np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
            assert ours.classes_.tolist() == list(pair)
            # one job more where labels could not be told, and never two
            assert parts.jobs.count("SumMoments" if solver == "gram" else "SumColumns") <= 2


@pytest.mark.parametrize("pair", LABELS, ids=str)
def test_blocks_of_one_part_may_differ_in_their_labels(pair):
    X, y = labelled(pair)
    ours = Ranker(l2=0.1).fit_parts(cut([30], X, y, blocks=3), X)
    np.testing.assert_allclose(ours.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-10)


@pytest.mark.parametrize("pair", LABELS, ids=str)
@pytest.mark.parametrize("cuts", [[40], [10, 30, 50]], ids=str)
def test_cross_validation_counts_the_labels_first(pair, cuts):
    X, y = labelled(pair)
    parts = cut(cuts, X, y)
    ours = RankerCV(random_state=0).fit_parts(parts, X)
    local = MBAClassifierCV(random_state=0).fit(X, y)
    assert parts.jobs == ["CountLabels", "SumMoments", "ScoreBlocks"]
    assert ours.classes_.tolist() == list(pair)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)


@pytest.mark.parametrize("pair", LABELS, ids=str)
def test_classes_that_are_given_save_a_job(pair):
    X, y = labelled(pair)
    for solver, task in (("gram", "SumMoments"), ("matrix-free", "SumColumns")):
        parts = cut([20, 40], X, y)
        Ranker(solver=solver).fit_parts(parts, X, classes=list(pair))
        assert parts.jobs.count(task) == 1


def test_known_labels_take_one_job():
    X, y = labelled((0, 1))
    parts = cut([20, 40], X, y)
    Ranker().fit_parts(parts, X)
    assert parts.jobs == ["SumMoments"]


@given(st.lists(st.lists(st.sampled_from([0, 1]), max_size=5), min_size=1, max_size=6), st.sampled_from(LABELS))
def test_sums_by_definition_for_any_labels(sides, pair):
    """Parts of any labels: sums of a column of ones tell how many rows were taken for positive."""
    y = [pair[side] for part in sides for side in part]
    flat = [side for part in sides for side in part]
    edges = np.cumsum([len(part) for part in sides])[:-1]
    X = np.ones((len(y), 1))
    parts = cut(edges.tolist(), X, np.array(y))
    if 0 < sum(flat) < len(flat):
        [moments], classes = sum_moments(rows_of(parts, X), 1)
        [sums], _ = sum_columns(rows_of(parts, X))
        census = count_labels(parts, Schema(1))
        counts = (sum(flat), len(flat) - sum(flat))
        assert moments.counts == counts
        assert tuple(sums.counts) == counts
        assert census.sizes == counts
        assert classes.tolist() == census.classes.tolist() == list(pair)
        before = [[sum(part), len(part) - sum(part)] for part in sides]
        assert census.offsets.tolist() == (np.cumsum(before, axis=0) - before).tolist()
    else:
        with pytest.raises(ValueError, match=r"one class only|y is empty"):
            sum_moments(rows_of(parts, X), 1)
        with pytest.raises(ValueError, match=r"one class only|no rows"):
            count_labels(parts, Schema(1))


# -- what is wrong with labels --------------------------------------------------

RANKERS = [Ranker(), Ranker(solver="matrix-free"), Ranker(pairs=5, random_state=0), RankerCV()]


@pytest.mark.parametrize("ranker", RANKERS, ids=["gram", "matrix-free", "sampled", "cv"])
class TestWrongLabels:
    def test_three_labels_of_one_part(self, ranker):
        X, _ = labelled((0, 1))
        with pytest.raises(PartError, match=r"partition 1 .*3 classes \(0, 1, 2\)"):
            ranker.fit_parts(cut([6], X, np.r_[[0, 1] * 3, [0, 1, 2] * 18]), X)

    def test_three_labels_of_three_parts(self, ranker):
        X, _ = labelled((0, 1))
        y = np.repeat([5, 6, 7], 20)
        with pytest.raises(ValueError, match=r"3 classes \(5, 6, 7\)"):
            ranker.fit_parts(cut([20, 40], X, y), X)

    def test_measurements(self, ranker):
        X, _ = labelled((0, 1))
        with pytest.raises(PartError, match="Unknown label type: continuous"):
            ranker.fit_parts(cut([20], X, X[:, 0]), X)

    def test_one_label(self, ranker):
        X, _ = labelled((0, 1))
        with pytest.raises(ValueError, match=r"one class only \(0\) in all partitions"):
            ranker.fit_parts(cut([20], X, np.zeros(60, dtype=int)), X)

    def test_a_label_that_is_none_of_the_classes(self, ranker):
        X, y = labelled((0, 1))
        with pytest.raises(ValueError, match=r"label 0\b.*classes are \[1, 2\]"):
            ranker.fit_parts(cut([20], X, y), X, classes=[1, 2])

    @pytest.mark.parametrize("missing", [np.nan, None], ids=str)
    @pytest.mark.parametrize("cuts", [[20], list(range(1, 60))], ids=["2 parts", "60 parts"])
    def test_missing_labels_are_said_with_part_and_row(self, ranker, missing, cuts):
        X, y = labelled((0.0, 1.0), dtype=float if missing is not None else object)
        y[43] = missing
        part, row = (1, 23) if len(cuts) == 1 else (43, 0)
        with pytest.raises(PartError, match=rf"partition {part} .*y contains NaN.* at row {row}\b"):
            ranker.fit_parts(cut(cuts, X, y), X)

    def test_labels_of_several_types(self, ranker):
        X, y = labelled(("a", "b"), dtype=object)
        y[43] = 3
        with pytest.raises(PartError, match=r"partition 1 .*y mixes types"):
            ranker.fit_parts(cut([20], X, y), X)
        parts = LocalParts([*cut([], X[:40], y[:40])._parts, *cut([], X[40:], np.full(20, 3))._parts])
        with pytest.raises(ValueError, match=r"different types in different partitions"):
            ranker.fit_parts(parts, X)

    def test_tables_of_labels(self, ranker):
        X, y = labelled((0, 1))
        with pytest.raises(PartError, match=r"shape \(20, 2\)"):
            ranker.fit_parts(cut([20], X, np.column_stack([y, y])), X)
        ranker.fit_parts(cut([20], X, y[:, None]), X)

    def test_a_class_without_weight(self, ranker):
        X, y = labelled((0, 1))
        parts = cut([20, 50], X, y, np.where(y == 1, 0.0, 1.0))
        with pytest.raises(ValueError, match=r"\b0 positives|no positive rows|has n_samples=0 of 40"):
            ranker.fit_parts(parts, X, weighted=True)

    def test_no_rows(self, ranker):
        X, y = labelled((0, 1))
        with pytest.raises(ValueError, match="at least one row"):
            ranker.fit_parts(cut([0], X[:0], y[:0]), X)
