"""Every member of Parts gives the answers of the definition, however rows are cut."""

import functools
import re

import numpy as np
import pytest
from scipy import sparse as sp

import reference
from local_parts import LocalParts, cut
from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.errors import NonFiniteError, PartError
from mbauc.estimators import classifier_cv
from mbauc.metrics.parts_auc import ReadScores
from mbauc.metrics.rank_sums import RankSums
from mbauc.pairs.operator.build import open_operator
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.pairs.tasks import sum_moments
from mbauc.readers import RawBlock
from mbauc.rows.block import Block
from mbauc.rows.parts.draw import draw_rows, draw_sample
from mbauc.rows.parts.folds import FoldsByRank
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.parts.memory import MemoryParts, rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import SourceParts
from mbauc.rows.schema import Schema
from mbauc.solvers.choice import Demand, choose_for_rows

N, D = 230, 5


class Source(list):
    """Blocks in memory, read as a source."""

    classes = (0, 1)

    @property
    def n_features(self):
        return self[0].X.shape[1]


def in_memory(X, y, weight=None):
    return rows_in_memory(Block(X, y == 1, weight))


def in_blocks(X, y, weight=None, size=60):
    parts = [slice(k, k + size) for k in range(0, len(y), size)]
    blocks = [RawBlock(X[p], y[p], None if weight is None else weight[p]) for p in parts]
    return PartedRows(SourceParts(Source(blocks)), Schema(X.shape[1]), (0, 1), weighted=True)


def in_parts(cuts, blocks, X, y, weight=None):
    return PartedRows(cut(cuts, X, y, weight, blocks=blocks), Schema(X.shape[1]), weighted=weight is not None)


MEMBERS = {
    "memory": in_memory,
    "source": in_blocks,
    "source of small blocks": functools.partial(in_blocks, size=7),
    "one part": functools.partial(in_parts, [], 1),
    "five parts, one empty": functools.partial(in_parts, [30, 30, 100, 229], 2),
}


@pytest.fixture(params=MEMBERS)
def member(request):
    return MEMBERS[request.param]


@pytest.fixture(params=["dense", "sparse"])
def form(request):
    return np.asarray if request.param == "dense" else sp.csr_array


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def table(request, rng):
    X = np.where(rng.random((N, D)) < 0.4, rng.integers(1, 4, (N, D)), 0).astype(float)
    y = (rng.random(N) < 0.3).astype(int)
    weight = rng.choice([0.0, 0.5, 2.0], N) if request.param else None
    return X, y, weight


def test_moments(member, form, table):
    X, y, weight = table
    [moments], classes = sum_moments(member(form(X), y, weight))
    mu, sigma = reference.pair_moments(X, y == 1, weight)
    np.testing.assert_allclose(moments.mean_difference, mu, atol=1e-12)
    np.testing.assert_allclose(moments.second_moment, sigma, atol=1e-12)
    assert classes.tolist() == [0, 1]


def test_an_operator(member, form, table):
    X, y, weight = table
    _, sigma = reference.pair_moments(X, y == 1, weight)
    v = np.random.default_rng(0).standard_normal(D)
    with open_operator(member(form(X), y, weight), 1, 1 << 30) as (pairs, classes):
        product = pairs.order.restore(pairs.product(v[pairs.order.columns]))
    np.testing.assert_allclose(product, sigma @ v, atol=1e-11)
    assert classes.tolist() == [0, 1]


def test_folds(member, form, table):
    X, y, weight = table
    rows = member(form(X), y, weight)
    counts = count_labels(rows.parts, rows.schema, rows.classes)
    used = np.ones(N, dtype=bool) if weight is None else weight > 0
    assert counts.sizes == (np.sum(used & (y == 1)), np.sum(used & (y == 0)))
    rule = FoldsByRank.draw(counts.sizes, 3, np.random.default_rng(0), counts.offsets)
    expected = FoldsByRank.draw(counts.sizes, 3, np.random.default_rng(0)).for_part(0)
    fold = expected.assign(Block(X, y == 1, weight))
    moments, _ = sum_moments(rows, folds=rule)
    packed = PackedRows(rows, rule)
    for k in range(3):
        own, others = fold == k, (fold != k) & (fold >= 0)
        weights = (None, None) if weight is None else (weight[own], weight[others])
        _, sigma = reference.pair_moments(X[own], y[own] == 1, weights[0])
        np.testing.assert_allclose(moments[k].second_moment, sigma, atol=1e-12)
        operator = packed.operator(k)
        _, sigma = reference.pair_moments(X[others], y[others] == 1, weights[1])
        np.testing.assert_allclose(operator.diagonal, np.diag(sigma)[operator.order.columns], atol=1e-11)
    packed.release()


def test_sampled_pairs(member, form, table):
    X, y, weight = table
    X = np.c_[np.arange(1.0, N + 1), X[:, 1:]]
    sample, counts = draw_sample(member(form(X), y, weight), 400, 7)
    block = Block(X, y == 1, weight)
    drawn = sample.block.X.toarray() if sp.issparse(sample.block.X) else sample.block.X
    for side, numbers in zip(sample.pairs, draw_rows(block, 400, 7), strict=True):
        np.testing.assert_array_equal(drawn[side], X[numbers])
    for positive in (True, False):
        assert counts.class_weight(positive) == pytest.approx(block.class_weight(positive))


def test_auc(member, table):
    _, y, weight = table
    s = np.random.default_rng(1).integers(0, 50, N).astype(float)
    found = member(np.c_[s], y, weight).parts.rank(ReadScores(np.array([0, 1])), RankSums.of)
    assert found.auc == pytest.approx(reference.auc(y == 1, s, weight))


def test_what_a_task_made_is_held_until_it_is_given_back(member, form, table):
    X, y, weight = table
    packed = PackedRows(member(form(X), y, weight))
    assert isinstance(packed.packed, MemoryParts | LocalParts)
    operator = packed.operator()
    v = np.ones(operator.mu.size)
    first = operator.product(v)
    np.testing.assert_array_equal(packed.operator().product(v), first)
    packed.release()


def test_a_bad_value_is_said_with_its_row(member, form, table):
    X, y, weight = table
    X = X.copy()
    X[157, 2] = np.nan
    if weight is not None:
        weight[157] = 1.0
    rows = member(form(X), y, weight)
    if isinstance(rows.parts, LocalParts):
        with pytest.raises(PartError, match="contains NaN at row"):
            sum_moments(rows)
    else:
        with pytest.raises(NonFiniteError) as caught:
            sum_moments(rows)
        assert (caught.value.row, caught.value.column) == (157, 2)


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_estimators(member, form, table, solver):
    X, y, weight = table
    X = X * np.random.default_rng(2).uniform(0.5, 2.0, X.shape)  # without ties
    settings = {"solver": solver, "l2": 0.1, "tol": 1e-10}
    local = MBAClassifier(**settings).fit(form(X), y, weight)
    ours = MBAClassifier(**settings).fit_parts(member(form(X), y, weight))
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-6)
    assert ours.intercept_[0] == pytest.approx(local.intercept_[0], abs=1e-6)
    folds = {"solver": solver, "l2_grid": [0.01, 1.0], "cv": 3, "random_state": 0, "tol": 1e-10}
    local = MBAClassifierCV(**folds).fit(form(X), y, weight)
    ours = MBAClassifierCV(**folds).fit_parts(member(form(X), y, weight))
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], local.cv_results_["mean_test_score"], atol=1e-6
    )
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-6)


@pytest.mark.parametrize("kind", ["memory", "source", "cluster"])
def test_one_rule_says_whether_sigma_is_formed(kind):
    wide = sp.csr_array(([1.0] * 40, (range(40), range(40))), shape=(40, 30_000))
    y = np.arange(40) % 2
    rows = {
        "memory": lambda: rows_in_memory(Block(wide, y == 1)),
        "source": lambda: PartedRows(SourceParts(Source([RawBlock(wide, y)])), Schema(30_000), (0, 1)),
        "cluster": lambda: PartedRows(cut([20], wide, y), Schema(30_000), (0, 1)),
    }[kind]()
    asked = Demand("gram", n_folds=5)
    room = 8.0 * 30_000**2
    assert choose_for_rows(rows, Demand("auto"), room).name == "matrix-free"
    assert choose_for_rows(rows, Demand("matrix-free"), room).reason == "as asked for"
    if kind == "source":
        with pytest.raises(ValueError, match=r"Σ of 30,000 columns, which takes 21.6 GB"):
            choose_for_rows(rows, asked, room)


def test_files_are_judged_by_their_size_and_clusters_by_their_columns():
    long = Source([RawBlock(np.ones((2, 3000)), np.array([0, 1]))])
    long.n_rows = 10**8
    rows, wish = PartedRows(SourceParts(long), Schema(3000), (0, 1)), Demand("auto", n_folds=5)
    assert re.match("estimated at .* s, against .* s with Σ", choose_for_rows(rows, wish, 1e12).reason)
    rows = PartedRows(cut([1], long[0].X, long[0].y), Schema(3000), (0, 1))
    assert "3,000 columns are more than 2,048" in choose_for_rows(rows, wish, 1e12).reason


def test_tasks_of_cross_validation_use_the_threads_that_were_asked_for(table, monkeypatch):
    X, y, _ = table
    used = []

    def watched(rows, threads, *rest, **more):
        used.append(threads)
        return sum_moments(rows, threads, *rest, **more)

    monkeypatch.setattr(classifier_cv, "sum_moments", watched)
    for n_jobs in (None, 2):
        MBAClassifierCV([0.0], [0.1, 1.0], n_jobs=n_jobs, random_state=0).fit_parts(in_parts([100], 1, X, y))
    assert used == [1, 2]


def test_a_pass_that_fails_is_closed_at_once(table):
    X, y, _ = table
    open_passes = []

    class Watched(Source):
        def __iter__(self):
            open_passes.append(1)
            try:
                yield from super().__iter__()
            finally:
                open_passes.pop()

    def fail(number, blocks):
        next(iter(blocks))
        raise KeyError("a task")

    parts = SourceParts(Watched([RawBlock(X, y)] * 5))
    for run in (lambda: parts.reduce(fail, None), lambda: parts.collect(fail), lambda: parts.persist(fail)):
        with pytest.raises(KeyError) as caught:
            run()
        assert open_passes == []  # although the error, and with it the frames, are still there
        assert caught.value
