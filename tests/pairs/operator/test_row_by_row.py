"""Scores of rows and sums over rows against X @ v and X.T @ r."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from row_sources import Rows, make_blocks, stacked
from scipy import sparse as sp

from local_parts import cut, rows_of
from mbauc.pairs.compact.rows import StoredRows
from mbauc.pairs.operator.from_pairs import build_sample_operator
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.rows.block import Block
from mbauc.rows.parts.draw import Sample
from mbauc.rows.parts.folds import FoldsById
from strategies import close, tables

FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def strata(y):
    return [np.flatnonzero(y), np.flatnonzero(~y)]


def operator_of(X, y, weight, threads, form="dense"):
    """An operator whose rows tell their number in X as their group."""
    return build_matrix_operator(FORMS[form](X), strata(y), weight, threads, np.arange(len(y), dtype=np.uint64))


def check_rows(pairs, X, y, weight, rows, rng):
    """That row k of the operator is row ``rows[k]`` of X, in all that it is asked."""
    labels = pairs.row_labels()
    np.testing.assert_array_equal(labels.positive, y[rows])
    assert (labels.weight is None) == (weight is None)
    if weight is not None:
        np.testing.assert_array_equal(labels.weight, weight[rows])
    v, r = rng.standard_normal(pairs.mu.size), rng.standard_normal(rows.size)
    centred = (X - pairs.order.restore(pairs.shift))[rows]
    found, expected = pairs.scores(v), centred @ pairs.order.restore(v)
    close(found - found[0], expected - expected[0], X, 1)
    close(pairs.order.restore(pairs.combine(r)), r @ centred, X, 1)
    balanced = r - r.mean()
    close(pairs.order.restore(pairs.combine(balanced)), balanced @ X[rows], X, 1)
    close(pairs.order.restore(pairs.combine_squares(r)), r @ centred**2, X, 2)
    bucket = rng.integers(-1, 3, rows.size).astype(np.int32)
    found = pairs.combine_by(r, bucket, 3)
    for number in range(3):
        close(pairs.order.restore(found[number]), np.where(bucket == number, r, 0.0) @ centred, X, 1)


@pytest.mark.parametrize("form", FORMS)
@given(table=tables(), threads=st.integers(1, 3), seed=st.integers(0, 99))
def test_rows_in_memory(form, table, threads, seed):
    X, y, weight = table
    X = X.astype(np.float32).astype(np.float64)
    pairs = operator_of(X, y, weight, threads, form)
    rows = pairs.row_labels().groups.astype(np.intp)
    assert sorted(rows) == list(range(len(y)))
    check_rows(pairs, X, y, weight, rows, np.random.default_rng(seed))


@pytest.mark.parametrize("form", ["dense", "csr"])
@given(table=tables(), seed=st.integers(0, 99), data=st.data())
def test_rows_that_do_not_count_are_left_out(form, table, seed, data):
    X, y, weight = table
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    kept[[np.argmax(y), np.argmin(y)]] = True
    own = [np.flatnonzero(y & kept), np.flatnonzero(~y & kept)]
    numbers = np.arange(len(y), dtype=np.uint64)
    pairs = build_matrix_operator(FORMS[form](X), own, weight, 2, numbers)
    rows = pairs.row_labels().groups.astype(np.intp)
    assert sorted(rows) == np.flatnonzero(kept).tolist()
    check_rows(pairs, X, y, weight, rows, np.random.default_rng(seed))


@pytest.mark.parametrize("form", ["dense", "fortran", "csr"])
@pytest.mark.parametrize("share", [1.0, 0.8, 0.1])
def test_many_rows_in_several_pieces(form, share, rng):
    X = rng.standard_normal((100_000, 12))
    y = rng.random(len(X)) < 0.3
    kept = rng.random(len(X)) < share
    numbers = np.arange(len(y), dtype=np.uint64)
    pairs = build_matrix_operator(
        FORMS[form](X), [np.flatnonzero(y & kept), np.flatnonzero(~y & kept)], None, 2, numbers
    )
    check_rows(pairs, X, y, None, pairs.row_labels().groups.astype(np.intp), rng)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_common_shift_costs_no_digits(form, rng):
    X, y = rng.standard_normal((400, 5)), rng.random(400) < 0.3
    plain, far = operator_of(X, y, None, 2, form), operator_of(X + 1e8, y, None, 2, form)
    v, r = rng.standard_normal(5), rng.standard_normal(400)
    r -= r.mean()

    def restored(pairs):
        rows = np.argsort(pairs.row_labels().groups)
        scores = pairs.scores(v[pairs.columns])[rows]
        return scores - scores.mean(), pairs.order.restore(pairs.combine(r[np.argsort(rows)]))

    for ours, theirs in zip(restored(far), restored(plain), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_bits_do_not_depend_on_which_thread_is_faster(rng):
    X = sp.random_array((150_000, 300), density=0.02, rng=rng, format="csr")
    pairs = operator_of(X, rng.random(150_000) < 0.3, None, 3, "csr")
    r = rng.standard_normal(150_000)
    first = pairs.combine(r)
    assert all(np.array_equal(pairs.combine(r), first) for _ in range(5))


def test_drawn_differences_have_no_rows_of_two_classes(rng):
    X, y = rng.standard_normal((20, 3)), np.arange(20) < 8
    drawn = np.array([0, 1, 2]), np.array([9, 10, 11])
    pairs, _ = build_sample_operator(Sample(Block(X, y), drawn), True, 1)
    with pytest.raises(ValueError, match="drawn one by one"):
        pairs.row_labels()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["ones", "halves", "general"])
@pytest.mark.parametrize("stored", [False, True])
def test_rows_of_a_source_in_memory_or_in_a_file(rng, weighted, kind, stored):
    blocks = make_blocks(rng, kind=kind, weighted=weighted)
    X, y, weight = stacked(blocks)
    pairs = build_source_operator(Rows(blocks, X.shape[1]), n_threads=2, memory=1 if stored else 1 << 30)
    assert all(isinstance(chunk, StoredRows) == stored for chunk in pairs.chunks)
    rows = _chunk_order(blocks, kind)
    check_rows(pairs, X.toarray(), y.astype(bool), weight, rows, rng)


def _chunk_order(blocks, kind):
    """Numbers of the rows by block, class and whether all values are one."""
    order, first = [], 0
    for block in blocks:
        ones = np.array([(block.X[[k]].data == 1).all() for k in range(len(block.y))])
        keys = (~ones, block.y == 0)
        order.append(first + np.lexsort(keys))
        first += len(block.y)
    return np.concatenate(order)


@st.composite
def cut_tables(draw):
    # several times, so that few folds hold all rows of a class
    X, y, weight = (None if one is None else np.concatenate([one] * 3) for one in draw(tables()))
    cuts = draw(st.lists(st.integers(0, len(y)), max_size=5))
    return X, y, weight, cuts, draw(st.integers(1, 3))


@given(case=cut_tables(), seed=st.integers(0, 99), left_out=st.sampled_from([None, 0, 1]))
def test_rows_in_parts(case, seed, left_out):
    X, y, weight, cuts, blocks = case
    ids = np.arange(len(y))
    parts = cut(cuts, sp.csr_array(X), y.astype(int), weight, ids, blocks=blocks)
    fold = FoldsById(2, seed)
    kept = np.ones(len(y), dtype=bool)
    if left_out is not None:
        kept = fold.for_part(0).assign(Block(X, y, weight, ids)) != left_out
    assume(0 < y[kept].sum() < kept.sum())
    packed = PackedRows(rows_of(parts, X, with_ids=True), None if left_out is None else fold)
    pairs = packed.operator(left_out)
    labels, rng = pairs.row_labels(), np.random.default_rng(seed)
    v, r = rng.standard_normal(pairs.mu.size), rng.standard_normal(labels.positive.size)
    # each row by its score, since the parts do not tell its number
    unit = np.eye(pairs.mu.size)
    found = np.column_stack([pairs.scores(one) for one in unit]) if pairs.mu.size else np.empty((r.size, 0))
    rows = np.column_stack(
        [found, labels.positive, np.ones(r.size) if labels.weight is None else labels.weight]
    )
    own = np.column_stack([X[:, pairs.columns], y, np.ones(len(y)) if weight is None else weight])
    own = own[kept]
    np.testing.assert_array_equal(rows[np.lexsort(rows.T)], own[np.lexsort(own.T)])
    close(pairs.scores(v), found @ v, X, 1)
    close(pairs.combine(r), r @ found, X, 1)
    close(pairs.combine_squares(r), r @ found**2, X, 2)
    assert parts.jobs.count("LabelRows") == 1


@pytest.mark.parametrize("form", ["dense", "csr", "parts"])
def test_the_curvature_of_few_columns_is_that_of_the_pairs(form, rng):
    X, y = rng.standard_normal((3000, 4)) + 3.0, rng.random(3000) < 0.4
    X[:, 1] += X[:, 0]
    weight = rng.uniform(0.5, 2.0, 3000)
    if form == "parts":
        packed = PackedRows(rows_of(cut([900, 2000], sp.csr_array(X), y.astype(int), weight), X))
        pairs = packed.operator()
    else:
        pairs = operator_of(X, y, weight, 2, form)
    labels = pairs.row_labels()
    # pairs that count as products of these: row i has the sum over its pairs
    share = labels.weight * np.where(labels.positive, 0.7, 0.3)
    share /= np.where(labels.positive, share[labels.positive].sum(), share[~labels.positive].sum())
    found = pairs.curvature(0.25 * share)
    sigma = np.zeros((4, 4))
    for k in range(4):
        sigma[k] = pairs.product(np.eye(4)[k])
    np.testing.assert_allclose(found, 0.25 * sigma, rtol=0.1, atol=0.05)


def test_many_columns_have_no_curvature(rng):
    X, y = rng.standard_normal((50, 30)), np.arange(50) < 20
    for form in ("dense", "csr"):
        pairs = operator_of(X, y, None, 1, form)
        assert pairs.curvature(np.ones(50)).size == 0


def test_a_part_that_comes_back_in_another_order_is_an_error(rng):
    X, y = sp.random_array((60, 8), density=0.4, rng=rng, format="csr"), np.arange(60) % 3 == 0
    packed = PackedRows(rows_of(cut([20, 45], X, y.astype(int)), X))
    pairs = packed.operator()
    before = pairs.scores(np.ones(pairs.mu.size))
    again = PackedRows(rows_of(cut([20, 45], X, y.astype(int)), X)).packed
    packed.packed._parts[1] = again._parts[1]
    np.testing.assert_array_equal(pairs.scores(np.ones(pairs.mu.size)), before)
    moved = np.r_[0:20, 44:19:-1, 45:60]
    packed.packed._parts[1] = PackedRows(
        rows_of(cut([20, 45], X[moved], y[moved].astype(int)), X)
    ).packed._parts[1]
    for ask in (lambda: pairs.scores(np.ones(pairs.mu.size)), lambda: pairs.combine(np.ones(60))):
        with pytest.raises(ValueError, match="part 1 has other rows than before, or another order of rows"):
            ask()
