"""Moments that a table of numbers knows from the pass that learned its scales: those of its blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mbauc import MBAClassifier, PairMoments

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from mbauc.readers import TableSource  # noqa: E402
from mbauc.readers.table.files import ParquetTable  # noqa: E402

#: Relative to the largest entry, where columns are of unit scale.
TOLERANCE = 1e-12


def make_table(rng, n=5_000, d=6, labels=("no", "yes")):
    y = rng.random(n) < 0.3
    columns = {f"x{j}": rng.standard_normal(n) * 10.0 ** (j - 2) + 3 * j + y * 0.2 * j for j in range(d)}
    return pa.table({"y": np.array(labels)[y.astype(int)], **columns})


def by_blocks(source):
    """The same by reading once more."""
    return PairMoments.from_blocks(iter(source))


def check_same(known, expected):
    assert known.counts == expected.counts
    assert known.weights == pytest.approx(expected.weights, rel=1e-14)
    assert known.effective_sizes == pytest.approx(expected.effective_sizes, rel=1e-13)
    np.testing.assert_allclose(known.mean_difference, expected.mean_difference, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(
        known.second_moment,
        expected.second_moment,
        rtol=0,
        atol=TOLERANCE * np.abs(expected.second_moment).max(),
    )
    for positive in (True, False):
        np.testing.assert_allclose(
            known.class_covariance(positive), expected.class_covariance(positive), rtol=0, atol=TOLERANCE
        )


@pytest.fixture
def reads(monkeypatch):
    """Rows that are decoded from Parquet files, pass by pass."""
    counts = []
    pieces = ParquetTable.pieces

    def counted(self, *args, **options):
        counts.append(0)
        for piece in pieces(self, *args, **options):
            counts[-1] += piece.table.num_rows
            yield piece

    monkeypatch.setattr(ParquetTable, "pieces", counted)
    return counts


@pytest.mark.parametrize("scale", ["standard", "max-abs", None])
@pytest.mark.parametrize("missing", ["category", "mean"])
def test_known_moments_are_those_of_the_blocks(rng, scale, missing):
    source = TableSource(make_table(rng), label="y", scale=scale, missing=missing, block_rows=700)
    expected = by_blocks(source)
    known = source.known_moments()
    assert known.counts == expected.counts
    scales = np.sqrt(np.diag(expected.second_moment))
    np.testing.assert_allclose(
        known.second_moment / np.outer(scales, scales),
        expected.second_moment / np.outer(scales, scales),
        rtol=0,
        atol=TOLERANCE,
    )
    np.testing.assert_allclose(known.mean_difference, expected.mean_difference, rtol=1e-11)


def test_a_fit_by_one_pass_is_that_by_two(rng, tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(make_table(rng), path, row_group_size=999)
    source = TableSource(path, label="y", block_rows=512)
    once = MBAClassifier().fit_source(source)
    monkeypatch.setattr(TableSource, "known_moments", lambda self: None)
    twice = MBAClassifier().fit_source(source)
    assert once.l2_ == pytest.approx(twice.l2_, rel=1e-10)
    np.testing.assert_allclose(once.coef_, twice.coef_, rtol=1e-9, atol=TOLERANCE * np.abs(twice.coef_).max())
    assert once.intercept_ == pytest.approx(twice.intercept_, rel=1e-9)
    assert once.classes_.tolist() == twice.classes_.tolist() == ["no", "yes"]


def test_a_parquet_file_is_read_once(rng, tmp_path, reads):
    path = tmp_path / "rows.parquet"
    pq.write_table(make_table(rng, n=300_000, d=2), path)
    MBAClassifier().fit_source(TableSource(path, label="y"))
    assert reads.count(300_000) == 1
    assert reads == [65_536, 300_000]  # the first is for the plan


def test_the_bits_do_not_depend_on_threads(rng):
    from threadpoolctl import threadpool_limits

    table = make_table(rng)
    found = []
    for threads in (1, 3):
        with threadpool_limits(threads, user_api="blas"):
            found.append(TableSource(table, label="y", block_rows=300).known_moments())
    assert (found[0].second_moment == found[1].second_moment).all()
    assert (found[0].mean_difference == found[1].mean_difference).all()


def test_blas_has_one_thread_from_the_first_block_to_the_last(rng, monkeypatch):
    """A thread that changes the threads of BLAS, while another one computes with them, may hang both."""
    from threadpoolctl import threadpool_info, threadpool_limits

    from mbauc.readers.table.encoding.statistics import ColumnStatistics

    seen, summed = [], ColumnStatistics.of_block

    def watched(X):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return summed(X)

    monkeypatch.setattr(ColumnStatistics, "of_block", watched)
    with threadpool_limits(3, user_api="blas"):
        TableSource(make_table(rng), label="y", block_rows=100)
        assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {3}
    assert len(seen) >= 50
    assert set(seen) == {1}


def test_weights_count(rng):
    table = make_table(rng).append_column("w", pa.array(rng.integers(0, 4, 5_000).astype(float)))
    source = TableSource(table, label="y", weight="w", block_rows=700)
    check_same(source.known_moments(), by_blocks(source))
    as_frequencies = MBAClassifier(weights="frequency").fit_source(source)
    plus, minus = as_frequencies.effective_sample_size_
    assert plus + minus == pytest.approx(sum(table["w"].to_pylist()))


@pytest.mark.parametrize("labels", [("no", "yes"), ("yes", "no")])
@pytest.mark.parametrize("positive", [None, "no"])
def test_files_may_be_sorted_by_label(rng, labels, positive):
    """Of the first blocks nobody knows which class they are."""
    table = make_table(rng, labels=labels).sort_by([("y", "descending")])
    source = TableSource(table, label="y", positive=positive, block_rows=300)
    check_same(source.known_moments(), by_blocks(source))


@pytest.mark.parametrize("nothing", [None, float("nan")])
@pytest.mark.parametrize("row", [0, 4_999])
def test_a_missing_number_takes_a_second_pass(rng, tmp_path, reads, nothing, row):
    table = make_table(rng)
    values = table["x1"].to_pylist()
    values[row] = nothing
    path = tmp_path / "rows.parquet"
    pq.write_table(table.set_column(2, "x1", pa.array(values, pa.float64())), path)
    source = TableSource(path, label="y", block_rows=512)
    assert source.known_moments() is None
    assert "x1=(missing)" in source.feature_names
    del reads[:]
    ranker = MBAClassifier().fit_source(source)
    assert ranker.solver_.name == "gram"
    assert 5_000 in reads
    assert (ranker.moments_.second_moment == by_blocks(source).second_moment).all()


def test_rows_that_are_left_out_are_in_no_moments(rng):
    table = make_table(rng)
    values = table["x1"].to_pylist()
    values[7] = values[4_000] = float("inf")
    table = table.set_column(2, "x1", pa.array(values))
    with pytest.raises(ValueError, match=r"the table, row 7: expected a finite number in column 'x1', got inf"):
        TableSource(table, label="y")
    source = TableSource(table, label="y", on_error="skip", block_rows=512)
    assert source.skipped.count == 2
    check_same(source.known_moments(), by_blocks(source))


def test_a_file_that_has_changed_is_an_error(rng, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(make_table(rng), path)
    source = TableSource(path, label="y")
    pq.write_table(make_table(rng, n=4_000), path)
    with pytest.raises(ValueError, match="has changed"):
        MBAClassifier(solver="gram").fit_source(source)


@pytest.mark.parametrize("size", [1e-200, 1e-130, 1e130])
def test_squares_that_leave_all_numbers_are_left_to_scaled_rows(rng, size):
    table = make_table(rng)
    table = table.set_column(1, "x0", pa.array(table["x0"].to_numpy() * size))
    source = TableSource(table, label="y", scale="max-abs")
    assert source.known_moments() is None
    assert np.isfinite(MBAClassifier().fit_source(source).coef_).all()


def test_a_constant_column_stays_constant(rng):
    table = make_table(rng).append_column("one", pa.array(np.full(5_000, 0.1)))
    source = TableSource(table, label="y", block_rows=700)
    known = source.known_moments()
    assert known.mean_difference[-1] == 0
    assert (known.second_moment[-1] == 0).all()


def test_only_numbers_without_groups_have_moments(rng):
    table = make_table(rng)
    codes = pa.array(rng.choice(["a", "b"], 5_000))
    assert TableSource(table.append_column("c", codes), label="y").known_moments() is None
    grouped = TableSource(table.append_column("c", codes), label="y", group="c")
    assert grouped.known_moments() is None
    assert TableSource(table, label="y", encode="codes").known_moments() is None
    source = TableSource(table, label="y")
    assert source.on(table.slice(0, 100)).known_moments() is None
    wide = {f"x{j}": rng.standard_normal(50) for j in range(129)}
    assert TableSource({"y": np.arange(50) % 2, **wide}, label="y").known_moments() is None


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_table_of_numbers_has_the_moments_of_its_blocks(data):
    n = data.draw(st.integers(4, 60), "rows")
    number = st.floats(-1e6, 1e6, width=32) | st.integers(-3, 3).map(float)
    columns = {
        f"x{j}": data.draw(st.lists(number, min_size=n, max_size=n), f"x{j}")
        for j in range(data.draw(st.integers(1, 4), "columns"))
    }
    y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2), "y")]
    kinds = dict.fromkeys(columns, "numeric")
    source = TableSource({"y": y, **columns}, label="y", block_rows=data.draw(st.integers(1, n)), types=kinds)
    known = source.known_moments()
    assert known is not None
    check_same(known, by_blocks(source))
