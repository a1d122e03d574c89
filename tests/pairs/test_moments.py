import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.stats import norm

import reference
from mbauc import PairMoments
from mbauc.errors import CancellationWarning, NonFiniteError
from strategies import close, tables

FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "csr_array": sp.csr_array,
    "coo": sp.coo_matrix,
    "list": lambda X: X.tolist(),
}


def assert_same(a, b, X):
    close(a.mean_difference, b.mean_difference, X, 1)
    close(a.second_moment, b.second_moment, X, 2)
    np.testing.assert_allclose(a.weights, b.weights)


@pytest.mark.parametrize("form", FORMS)
@given(table=tables())
def test_equals_the_double_loop_in_every_form(form, table):
    X, y, w = table
    mu, sigma = reference.pair_moments(X, y, w)
    moments = PairMoments.from_arrays(FORMS[form](X), y, w)
    close(moments.mean_difference, mu, X, 1)
    close(moments.second_moment, sigma, X, 2)
    assert moments.n_pairs == y.sum() * (~y).sum()


@pytest.mark.parametrize("form", ["C", "csr"])
class TestInvariances:
    @given(table=tables(), data=st.data())
    def test_row_order(self, form, table, data):
        X, y, w = table
        order = np.array(data.draw(st.permutations(range(len(y)))))
        permuted = PairMoments.from_arrays(FORMS[form](X[order]), y[order], None if w is None else w[order])
        assert_same(permuted, PairMoments.from_arrays(X, y, w), X)

    @given(table=tables(), shift=st.floats(-50, 50))
    def test_common_shift(self, form, table, shift):
        X, y, w = table
        shifted = X + shift
        moved, still = PairMoments.from_arrays(FORMS[form](shifted), y, w), PairMoments.from_arrays(X, y, w)
        close(moved.mean_difference, still.mean_difference, np.append(shifted, X), 1)
        close(moved.second_moment, still.second_moment, np.append(shifted, X), 2)

    @given(table=tables(), factor=st.floats(1e-3, 1e3))
    def test_scale(self, form, table, factor):
        X, y, w = table
        scaled, plain = (
            PairMoments.from_arrays(FORMS[form](X * factor), y, w),
            PairMoments.from_arrays(X, y, w),
        )
        close(scaled.mean_difference / factor, plain.mean_difference, X, 1)
        close(scaled.second_moment / factor**2, plain.second_moment, X, 2)

    @given(table=tables(max_columns=3), data=st.data())
    def test_linear_map(self, form, table, data):
        X, y, w = table
        A = np.array(
            data.draw(
                st.lists(
                    st.lists(st.integers(-2, 2), min_size=2, max_size=2),
                    min_size=X.shape[1],
                    max_size=X.shape[1],
                )
            )
        )
        mapped, plain = PairMoments.from_arrays(FORMS[form](X @ A), y, w), PairMoments.from_arrays(X, y, w)
        close(mapped.mean_difference, plain.mean_difference @ A, np.append(X, 1) * 6, 1)
        close(mapped.second_moment, A.T @ plain.second_moment @ A, np.append(X, 1) * 6, 2)

    @given(table=tables())
    def test_label_swap(self, form, table):
        X, y, w = table
        swapped, plain = PairMoments.from_arrays(FORMS[form](X), ~y, w), PairMoments.from_arrays(X, y, w)
        close(swapped.mean_difference, -plain.mean_difference, X, 1)
        close(swapped.second_moment, plain.second_moment, X, 2)

    @given(table=tables())
    def test_every_row_twice(self, form, table):
        X, y, w = table
        twice = PairMoments.from_arrays(
            FORMS[form](np.vstack([X, X])), np.tile(y, 2), None if w is None else np.tile(w, 2)
        )
        plain = PairMoments.from_arrays(X, y, w)
        close(twice.mean_difference, plain.mean_difference, X, 1)
        close(twice.second_moment, plain.second_moment, X, 2)

    @given(table=tables(weighted=False), data=st.data())
    def test_weight_k_is_the_row_k_times(self, form, table, data):
        X, y, _ = table
        counts = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(y), max_size=len(y))))
        weighted = PairMoments.from_arrays(FORMS[form](X), y, counts)
        assert_same(weighted, PairMoments.from_arrays(np.repeat(X, counts, axis=0), np.repeat(y, counts)), X)

    @given(table=tables(weighted=False), data=st.data())
    def test_weight_zero_is_no_row(self, form, table, data):
        X, y, _ = table
        keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
        assume(y[keep].any() and (~y[keep]).any())
        weighted = PairMoments.from_arrays(FORMS[form](X), y, keep.astype(float))
        assert_same(weighted, PairMoments.from_arrays(X[keep], y[keep]), X)
        assert weighted.counts == (y[keep].sum(), (~y[keep]).sum())

    @given(table=tables(), data=st.data())
    def test_merge_of_any_split_is_the_whole_and_whole_minus_part_the_rest(self, form, table, data):
        X, y, w = table
        side = np.array(data.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
        parts = [
            PairMoments.from_arrays(
                FORMS[form](X[rows]), y[rows], None if w is None else w[rows], classes=[0, 1]
            )
            if rows.any()
            else PairMoments(X.shape[1])
            for rows in (side, ~side)
        ]
        whole = PairMoments.from_arrays(X, y, w)
        assert_same(parts[0] + parts[1], whole, X)
        assert_same(parts[1] + parts[0], whole, X)
        if parts[1].has_pairs:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CancellationWarning)
                assert_same(whole - parts[0], parts[1], X)


@pytest.mark.parametrize("form", ["C", "F", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_common_shift_of_1e8_does_not_hurt(form, weighted, rng):
    X = np.round(rng.standard_normal((500, 5)), 6)
    y = rng.random(500) < 0.3
    w = rng.random(500) if weighted else None
    exact = PairMoments.from_arrays(X, y, w)
    shifted = PairMoments.from_arrays(FORMS[form](X + 1e8), y, w)
    # X + 1e8 itself is rounded to 1.5e-8
    np.testing.assert_allclose(shifted.mean_difference, exact.mean_difference, atol=1e-7)
    np.testing.assert_allclose(shifted.second_moment, exact.second_moment, atol=1e-6)
    halves = PairMoments.from_arrays(X[:250] + 1e8, y[:250]) + PairMoments.from_arrays(X[250:] + 1e8, y[250:])
    np.testing.assert_allclose(halves.second_moment, PairMoments.from_arrays(X, y).second_moment, atol=1e-6)


def test_float32_is_accumulated_in_float64(rng):
    X = rng.standard_normal((5000, 4)).astype(np.float32) + np.float32(30)
    y = rng.random(5000) < 0.3
    narrow, wide = PairMoments.from_arrays(X, y), PairMoments.from_arrays(X.astype(np.float64), y)
    np.testing.assert_allclose(narrow.second_moment, wide.second_moment, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        PairMoments.from_arrays(sp.csr_matrix(X), y).second_moment, wide.second_moment, rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.bool_, np.float16, np.float32])
def test_other_dtypes_give_the_float64_answer(dtype, rng):
    X = rng.integers(0, 2, size=(200, 3)).astype(dtype)
    y = rng.random(200) < 0.4
    want = PairMoments.from_arrays(X.astype(float), y).second_moment
    np.testing.assert_allclose(PairMoments.from_arrays(X, y).second_moment, want, rtol=1e-12)


def test_index_types_and_read_only_input(rng):
    X = sp.random(300, 20, density=0.2, format="csr", random_state=0)
    y = rng.random(300) < 0.4
    want = PairMoments.from_arrays(X.toarray(), y).second_moment
    long = sp.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    for matrix in (X, long):
        np.testing.assert_allclose(PairMoments.from_arrays(matrix, y).second_moment, want, atol=1e-12)
    dense = X.toarray()
    dense.flags.writeable = False
    np.testing.assert_allclose(PairMoments.from_arrays(dense, y).second_moment, want, atol=1e-12)


def test_duplicate_and_unsorted_entries_are_summed_and_the_input_kept():
    X = sp.csr_matrix(
        (np.array([1.0, 2.0, 5.0, 3.0]), np.array([1, 1, 1, 0]), np.array([0, 2, 4])), shape=(2, 2)
    )
    y = np.array([0, 1])
    before = X.data.copy()
    moments = PairMoments.from_arrays(X, y)
    np.testing.assert_array_equal(moments.mean_difference, [3.0, 2.0])
    np.testing.assert_array_equal(X.data, before)


def test_blocks_equal_the_whole_and_may_hold_one_class(table):
    X, y = table
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    blocks = ((X[i : i + 90], y[i : i + 90]) for i in range(0, len(y), 90))
    whole, merged = PairMoments.from_arrays(X, y), PairMoments.from_blocks(blocks)
    assert_same(merged, whole, X)
    assert merged.counts == whole.counts
    weighted = PairMoments.from_blocks([(X, y, np.full(len(y), 2.0))])
    assert weighted.weights == (2.0 * y.sum(), 2.0 * (1 - y).sum())


def test_decay_keeps_the_moments_and_lowers_the_weight(table):
    X, y = table
    old, new = PairMoments.from_arrays(X[:300], y[:300]), PairMoments.from_arrays(X[300:], y[300:])
    faded = old.decayed(0.25)
    np.testing.assert_allclose(faded.second_moment, old.second_moment)
    assert faded.weights == tuple(0.25 * w for w in old.weights)
    weight = np.r_[np.full(300, 0.25), np.ones(300)]
    assert_same(faded + new, PairMoments.from_arrays(X, y, weight), X)
    expected = [weight[y == c].sum() ** 2 / (weight[y == c] ** 2).sum() for c in (1, 0)]
    np.testing.assert_allclose((faded + new).effective_sizes, expected)


def test_rows_that_are_all_but_forgotten_are_still_there(table):
    moments = forgotten = PairMoments.from_arrays(*table)
    for _ in range(200):
        forgotten = forgotten.decayed(1e-3)
    assert 0 < forgotten.weights[0] < 1e-100
    np.testing.assert_allclose(forgotten.mean_difference, moments.mean_difference)
    np.testing.assert_allclose(forgotten.second_moment, moments.second_moment)


@pytest.mark.parametrize("scale", [1e-99, 1e99])
def test_merging_sets_of_pairs_knows_no_unit_of_the_weights(table, scale):
    """Weights of pairs are products, and products of these are beyond floating point."""
    X, y = table
    halves = slice(300), slice(300, 600)
    plain, scaled = (
        [PairMoments.from_arrays(X[rows], y[rows], np.full(300, unit)).closed() for rows in halves]
        for unit in (1.0, scale)
    )
    expected = (plain[0] + plain[1]).second_moment
    np.testing.assert_allclose((scaled[0] + scaled[1]).second_moment, expected, rtol=1e-9)


def test_the_variance_of_columns_is_that_of_all_rows(table, rng):
    X, y = table
    weight = rng.uniform(0.5, 2.0, y.size)
    found = PairMoments.from_arrays(X + 5.0 * y[:, None], y, weight).column_variances
    rows = X + 5.0 * y[:, None]
    mean = np.average(rows, axis=0, weights=weight)
    np.testing.assert_allclose(found, np.average((rows - mean) ** 2, axis=0, weights=weight))


def test_a_part_that_weighs_more_than_the_whole_is_refused(table):
    X, y = table
    whole, part = PairMoments.from_arrays(X, y), PairMoments.from_arrays(X[:300], y[:300], np.full(300, 9.0))
    with pytest.raises(ValueError, match=r"cannot take .* rows of weight .* the part must come from the whole"):
        whole - part


@pytest.mark.parametrize("factor", [0.0, -0.5, 1.5, float("nan")])
def test_decay_outside_its_range_is_refused(factor):
    with pytest.raises(ValueError, match="factor must be a finite number greater than 0 and at most 1"):
        PairMoments(3).decayed(factor)


@given(table=tables(), data=st.data())
def test_risk_and_scores_by_definition(table, data):
    X, y, _ = table
    w = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=X.shape[1], max_size=X.shape[1])))
    moments = PairMoments.from_arrays(X, y)
    scale = np.append(X, 1.0) * (1 + np.abs(w).sum())
    close(moments.risk(w), reference.pairwise_risk(X, y, w), scale, 2)
    close(moments.risk(np.vstack([w, -w])), [moments.risk(w), moments.risk(-w)], scale, 2)
    s = X @ w
    close(moments.score_means(w), (s[y].mean(), s[~y].mean()), scale, 1)
    close(moments.score_variances(w), (s[y].var(), s[~y].var()), scale, 2)


def test_binormal_auc_is_exact_for_normal_scores_and_handles_no_spread(rng):
    X = rng.standard_normal((40_000, 2))
    y = np.arange(40_000) % 4 == 0
    X[y, 0] += 1.0
    moments = PairMoments.from_arrays(X, y)
    assert moments.binormal_auc([1.0, 0.0]) == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.006)
    assert moments.binormal_auc([0.0, 0.0]) == 0.5
    constant = PairMoments.from_arrays([[1.0], [0.0]], [1, 0])
    np.testing.assert_array_equal(constant.binormal_auc([[1.0], [-1.0]]), [1.0, 0.0])


class TestMatchedPairs:
    @pytest.mark.parametrize("form", ["C", "csr"])
    @given(table=tables(weighted=False))
    def test_equals_the_loop(self, form, table):
        X, _, _ = table
        half = len(X) // 2
        a, b = X[:half], X[half : 2 * half]
        mu, sigma = reference.matched_moments(a, b)
        moments = PairMoments.from_pairs(FORMS[form](a), FORMS[form](b))
        close(moments.mean_difference, mu, X, 1)
        close(moments.second_moment, sigma, X, 2)
        assert moments.n_pairs == half

    def test_cross_scatter_explains_the_difference_to_all_pairs(self, rng):
        a, b = rng.standard_normal((50, 3)), rng.standard_normal((50, 3))
        b += 0.5 * a
        matched = PairMoments.from_pairs(a, b)
        K = (a - a.mean(0)).T @ (b - b.mean(0)) / 50
        np.testing.assert_allclose(matched.cross_scatter, (K + K.T) / 2)
        every = PairMoments.from_arrays(np.vstack([a, b]), np.repeat([1, 0], 50))
        np.testing.assert_allclose(matched.second_moment, every.second_moment - K - K.T)
        assert every.cross_scatter is None

    def test_merge_subtract_and_decay(self, rng):
        a, b = rng.standard_normal((60, 3)), rng.standard_normal((60, 3))
        first, rest = PairMoments.from_pairs(a[:25], b[:25]), PairMoments.from_pairs(a[25:], b[25:])
        whole = PairMoments.from_pairs(a, b)
        np.testing.assert_allclose((first + rest).second_moment, whole.second_moment)
        np.testing.assert_allclose((whole - first).second_moment, rest.second_moment)
        faded = first.decayed(0.5) + rest
        want = (0.5 * 25 * first.second_moment + 35 * rest.second_moment) / (0.5 * 25 + 35)
        np.testing.assert_allclose(faded.second_moment, want)

    def test_closed_sets_do_not_pair_across(self, table):
        X, y = table
        blocks = [PairMoments.from_arrays(X[i : i + 200], y[i : i + 200]) for i in (0, 200, 400)]
        merged = sum(block.closed() for block in blocks)
        n = [block.n_pairs for block in blocks]
        want = sum(k * block.second_moment for k, block in zip(n, blocks, strict=True)) / sum(n)
        np.testing.assert_allclose(merged.second_moment, want)
        assert merged.n_pairs == sum(n)
        with pytest.raises(ValueError, match="all pairs and moments of a set of pairs"):
            blocks[0] + blocks[1].closed()


class TestSubtraction:
    def test_more_than_there_is_is_refused(self, table):
        X, y = table
        part, whole = PairMoments.from_arrays(X[:100], y[:100]), PairMoments.from_arrays(X, y)
        with pytest.raises(ValueError, match="the part must come from the whole"):
            part - whole

    def test_cancellation_warns(self, rng):
        X = rng.standard_normal((100, 2))
        X[:90] *= 1e6
        y = np.arange(100) % 2
        with pytest.warns(CancellationWarning, match="column . of the (posi|nega)tive class"):
            PairMoments.from_arrays(X, y) - PairMoments.from_arrays(X[:90], y[:90])

    def test_a_column_that_only_the_part_had_is_exactly_zero_in_the_rest(self, rng):
        X = (rng.random((300, 40)) < 0.03).astype(float)
        y = (rng.random(300) < 0.5).astype(int)
        X[100:, :20] = 0.0
        rest = PairMoments.from_arrays(X, y) - PairMoments.from_arrays(X[:100], y[:100])
        assert not rest.second_moment[:20].any()
        assert not rest.mean_difference[:20].any()
        np.testing.assert_allclose(
            rest.second_moment, PairMoments.from_arrays(X[100:], y[100:]).second_moment, atol=1e-14
        )

    def test_the_whole_minus_itself_is_empty(self, table):
        moments = PairMoments.from_arrays(*table)
        nothing = moments - moments
        assert nothing.counts == (0, 0)
        assert not nothing.has_pairs
        np.testing.assert_allclose((nothing + moments).second_moment, moments.second_moment)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([1.0, 2.0], [0, 1], "two-dimensional"),
        ([[1.0], [2.0], [3.0]], [0, 1], "3 rows and y has 2"),
        ([["a"], ["b"]], [0, 1], "'a' at row 0, column 0"),
        ([[1.0], [object()]], [0, 1], "row 1, column 0"),
        ([[1 + 2j], [0j]], [0, 1], "real numbers"),
        ([[1.0], [2.0]], [0, 2], None),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], "3 classes"),
        ([[1.0], [2.0]], ["cat", "cat"], "both labels as classes"),
        ([[1.0], [2.0]], [0.0, float("nan")], "NaN at row 1"),
        ([[1.0], [2.0]], [None, 1], "NaN or None at row 0"),
        ([[1.0], [2.0]], [[0, 1], [1, 0]], "one-dimensional"),
    ],
)
def test_bad_input_is_named(X, y, message):
    if message is None:
        assert PairMoments.from_arrays(X, y).n_pairs == 1
    else:
        with pytest.raises(ValueError, match=message):
            PairMoments.from_arrays(X, y)


@pytest.mark.parametrize("form", ["C", "F", "csr", "csc"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_values_are_located(form, value, rng):
    X = rng.standard_normal((3000, 7))
    X[2345, 4] = value
    with pytest.raises(NonFiniteError, match=r"row 2,345, column 4") as caught:
        PairMoments.from_arrays(FORMS[form](X), np.arange(3000) % 3 == 0)
    assert (caught.value.row, caught.value.column) == (2345, 4)


def test_overflow_is_not_mistaken_for_infinity():
    for form in ("C", "csr"):
        with pytest.raises(ValueError, match="overflow"):
            PairMoments.from_arrays(FORMS[form](np.array([[1e200], [-1e200], [1e200], [1.0]])), [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], "-1.0 at row 1"),
        ([1.0, np.nan], "nan at row 1"),
        ([0.0, 0.0], "zero for all rows"),
        ([1.0], "one weight for each row"),
        ([[1.0, 1.0]], "one-dimensional"),
    ],
)
def test_bad_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        PairMoments.from_arrays([[1.0], [2.0]], [0, 1], weight)


def test_moments_without_pairs_say_so():
    lone = PairMoments.from_arrays([[1.0]], [1])
    for ask in ("mean_difference", "second_moment"):
        with pytest.raises(ValueError, match="1 positives, 0 negatives"):
            getattr(lone, ask)
    with pytest.raises(ValueError, match="w must have shape"):
        lone.risk([1.0, 2.0])
    with pytest.raises(ValueError, match="2 and 1 features"):
        PairMoments(2) + lone
    with pytest.raises(ValueError, match="blocks is empty"):
        PairMoments.from_blocks([])
    with pytest.raises(ValueError, match="block 1 must be a tuple"):
        PairMoments.from_blocks([[1.0]])


def test_wide_dense_rows_take_the_blas_path(rng):
    X = rng.standard_normal((300, 1100)) + 5.0
    y = rng.random(300) < 0.4
    moments = PairMoments.from_arrays(X, y)
    centred = [X[rows] - X[rows].mean(0) for rows in (y, ~y)]
    want = sum(part.T @ part / len(part) for part in centred)
    np.testing.assert_allclose(moments.difference_covariance, want, atol=1e-10)
    np.testing.assert_allclose(
        PairMoments.from_arrays(np.asfortranarray(X), y).difference_covariance, want, atol=1e-10
    )


@pytest.mark.parametrize("values", ["ones", "general"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_sparse_chunks_and_threads(values, weighted, n_jobs, rng, monkeypatch):
    monkeypatch.setattr("mbauc.pairs.scatter.sparse._MIN_CHUNK", 5000)
    monkeypatch.setattr("mbauc.pairs.scatter.sparse._MAX_CHUNK", 5000)
    X = sp.random(4000, 60, density=0.1, format="csr", random_state=1)
    X.data = np.ones_like(X.data) if values == "ones" else rng.standard_normal(X.nnz)
    X = sp.vstack([X, sp.csr_matrix((5, 60))]).tocsr()
    y = rng.random(4005) < 0.3
    w = rng.random(4005) if weighted else None
    want = PairMoments.from_arrays(X.toarray(), y, w)
    got = PairMoments.from_arrays(X, y, w, n_jobs=n_jobs)
    np.testing.assert_allclose(got.second_moment, want.second_moment, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(got.mean_difference, want.mean_difference, rtol=1e-10, atol=1e-13)


def test_more_columns_than_16_bits_hold():
    # the kernels on wide indices, without the 39 GB that 70,000² cells would take: two rows of the matrix
    from mbauc.pairs.scatter import kernels

    columns = np.array([3, 66_000, 69_999], dtype=np.uint32)
    gram = np.zeros((1, 70_000))
    runs = np.array([[0, 3]], dtype=np.int32)
    kernels.accumulate(columns, np.array([2.0, 3.0, 5.0]), np.array([0, 1]), runs, False, 0, 1, gram)
    assert {int(j): gram[0, j] for j in np.flatnonzero(gram[0])} == {3: 4.0, 66_000: 6.0, 69_999: 10.0}


def test_repr_counts():
    moments = PairMoments.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert repr(moments) == "PairMoments(1 feature, 2 positives × 1 negatives = 2 pairs)"


class TestLabelsOfBlocks:
    def test_a_label_that_changes_its_meaning_is_refused(self, rng):
        X, labels = rng.standard_normal((30, 2)), np.repeat([1, 2], 15)
        blocks = [(X[:10], labels[:10]), (X[10:], labels[10:])]
        with pytest.raises(ValueError, match="label 1 is negative in block 2"):
            PairMoments.from_blocks(blocks)
        assert PairMoments.from_blocks(blocks, classes=[1, 2]).counts == (15, 15)

    def test_three_labels_over_several_blocks_are_refused(self, rng):
        X = rng.standard_normal((4, 1))
        with pytest.raises(ValueError, match="3 labels"):
            PairMoments.from_blocks([(X, [0, 1, 0, 1]), (X, [-1, -1, -1, -1])])


def test_empty_moments_change_nothing(table):
    moments = PairMoments.from_arrays(*table)
    for full in (moments, moments.closed()):
        for empty in (PairMoments(6), PairMoments(6).closed()):
            for merged in (full + empty, empty + full):
                assert merged.n_pairs == full.n_pairs
                assert merged.is_closed == full.is_closed
                np.testing.assert_allclose(merged.second_moment, full.second_moment)


def test_one_heavy_row_taken_out_warns(table):
    X, y = table
    weight = np.ones(len(y))
    weight[np.flatnonzero(y)[0]] = 1e15
    part = np.flatnonzero(y)[:1]
    with pytest.warns(CancellationWarning, match="positive rows left have"):
        PairMoments.from_arrays(X, y, weight) - PairMoments.from_arrays(X[part], y[part], weight[part])


def test_a_shift_of_1e8_with_outliers_of_tiny_weight(rng):
    X, y = rng.standard_normal((2000, 3)), np.arange(2000) % 4 == 0
    weight = np.ones(2000)
    X[::2] *= 1e3
    weight[::2] = 1e-12
    want = PairMoments.from_arrays(X, y, weight).second_moment
    np.testing.assert_allclose(PairMoments.from_arrays(X + 1e8, y, weight).second_moment, want, atol=1e-5)


def test_pairs_of_different_kinds_are_refused():
    with pytest.raises(ValueError, match="both be dense or both be sparse"):
        PairMoments.from_pairs(sp.csr_matrix(np.eye(2)), np.eye(2))
    with pytest.raises(ValueError, match="no columns"):
        PairMoments.from_arrays(np.ones((2, 0)), [0, 1])


@pytest.mark.parametrize("dtype", [np.longdouble, ">f8", ">f4"])
def test_unusual_floats(dtype, rng):
    X, y = rng.standard_normal((50, 3)).astype(dtype), np.arange(50) % 2
    want = PairMoments.from_arrays(X.astype(np.float64), y).second_moment
    assert PairMoments.from_arrays(X, y).mean_difference.dtype == np.float64
    np.testing.assert_allclose(PairMoments.from_arrays(X, y).second_moment, want, rtol=1e-6)
    if X.dtype.isnative:  # scipy itself refuses others
        np.testing.assert_allclose(PairMoments.from_arrays(sp.csr_matrix(X), y).second_moment, want, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_many_float32_rows_are_multiplied_in_single_precision(rng, shift, weighted):
    """Within 1e-6 of what the same numbers give in float64; a column of one value stays exactly constant."""
    X = (shift + rng.standard_normal((26_000, 200)) * np.geomspace(0.1, 10, 200)).astype(np.float32)
    X[:, 7] = 3.3
    y, weight = rng.random(len(X)) < 0.2, rng.random(len(X)) if weighted else None
    single = PairMoments.from_arrays(X, y, weight)
    double = PairMoments.from_arrays(X.astype(np.float64), y, weight)
    units = np.sqrt(np.diagonal(double.second_moment))
    units[7] = 1.0
    apart = np.abs(single.second_moment - double.second_moment) / np.outer(units, units)
    assert 1e-12 < apart.max() < 1e-6
    assert (np.abs(single.mean_difference - double.mean_difference) / units).max() < 1e-6
    assert not single.second_moment[7].any()


# -- other units, other labels ---------------------------------------------------------------------------------


def test_moments_of_rescaled_columns(rng):
    X, y = rng.standard_normal((60, 5)) * 7 + 3, rng.random(60) < 0.4
    weight = rng.random(60)
    center, scale = rng.standard_normal(5), rng.random(5) + 0.5
    found = PairMoments.from_arrays(X, y, weight).rescaled(center, scale)
    expected = PairMoments.from_arrays((X - center) / scale, y, weight)
    np.testing.assert_allclose(found.second_moment, expected.second_moment, rtol=1e-12)
    for own, other in zip(found.class_means, expected.class_means, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
    for positive in (True, False):
        np.testing.assert_allclose(
            found.class_covariance(positive), expected.class_covariance(positive), atol=1e-12
        )
    assert found.weights == expected.weights


def test_moments_of_swapped_labels(rng):
    X, y = rng.standard_normal((60, 5)) + 3, rng.random(60) < 0.4
    found, expected = PairMoments.from_arrays(X, y).swapped(), PairMoments.from_arrays(X, ~y)
    assert found.counts == expected.counts
    assert (found.mean_difference == expected.mean_difference).all()
    assert (found.second_moment == expected.second_moment).all()
