import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_sources import Rows, Vouched, make_blocks, stacked
from scipy import sparse as sp

from mbauc import PairMoments
from mbauc.errors import CancellationWarning, CheckpointError, DiskFullError, NonFiniteError
from mbauc.pairs.compact import collector as collector_module
from mbauc.pairs.compact.rows import CompactRows, StoredRows
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.readers import LibsvmSource, RawBlock
from mbauc.rows.reading import read_blocks
from mbauc.runtime.memory import own_memory
from strategies import close, tables

PLENTY = 1 << 30
#: Nothing fits beside the vectors.
LITTLE = 1


def products_of(rows, seed=0):
    """Products with some vectors, over all columns."""
    out = []
    for v in np.random.default_rng(seed).standard_normal((3, rows.order.n_features)):
        product, variances = rows.product_and_variances(v[rows.order.columns])
        out.append(np.concatenate([rows.order.restore(product), variances]))
    return np.array(out)


def read(source, folder=None, memory=PLENTY, n_threads=2):
    return build_source_operator(source, n_threads=n_threads, memory=memory, folder=folder)


@pytest.fixture(params=["ones", "halves", "general", "weighted"])
def blocks(request, rng):
    weighted = request.param == "weighted"
    return make_blocks(rng, kind="ones" if weighted else request.param, weighted=weighted)


@given(table=tables(), cut=st.integers(0, 12), dense=st.booleans())
def test_products_are_those_of_the_moments(table, cut, dense):
    X, y, weight = table
    parts = [slice(None, cut), slice(cut, None)]
    blocks = [
        RawBlock(
            X[p] if dense else sp.csr_array(X[p]), y[p].astype(int), weight if weight is None else weight[p]
        )
        for p in parts
        if y[p].size
    ]
    moments = PairMoments.from_arrays(X, y, weight)
    rows = read(Rows(blocks, X.shape[1]))
    v = np.random.default_rng(1).standard_normal(X.shape[1])
    close(rows.order.restore(rows.mu), moments.mean_difference, X, 1)
    product = rows.order.restore(rows.product(v[rows.order.columns]))
    close(product, moments.second_moment @ v, X, 2)
    assert [stratum.count for stratum in rows.strata] == list(moments.counts)


def test_memory_temporary_file_kept_file_and_its_return_have_the_same_bits(blocks, tmp_path):
    source = Rows(blocks, 60)
    wanted = products_of(read(source))
    for memory in (PLENTY, LITTLE):
        for folder in (None, tmp_path / f"new{memory}", tmp_path / f"new{memory}"):
            rows = read(source, folder, memory)
            np.testing.assert_array_equal(products_of(rows), wanted)
            np.testing.assert_array_equal(products_of(rows), wanted)  # after pages were given back
            on_disk = isinstance(rows.chunks[0], StoredRows)
            assert on_disk == (memory == LITTLE)


def test_files_do_not_depend_on_the_number_of_threads(blocks, tmp_path):
    for n_threads in (1, 3):
        read(Rows(blocks, 60), tmp_path / str(n_threads), n_threads=n_threads)
    files = [(tmp_path / str(n_threads) / "rows.cache").read_bytes() for n_threads in (1, 3)]
    assert files[0] == files[1]


def test_rows_that_fit_only_for_a_while_all_go_to_disk(rng, monkeypatch):
    blocks = make_blocks(rng, sizes=(400,) * 12)
    source = Rows(blocks, 60)
    wanted = read(source)
    fixed = 60 * (8 * 40 + 80) + 4 * max(SparseBlock.from_block(block).nbytes for block in read_blocks(source))
    rows = read(source, memory=fixed + wanted.nbytes // 2)
    assert len(rows.chunks) == len(wanted.chunks)
    assert all(isinstance(chunk, StoredRows) for chunk in rows.chunks)
    np.testing.assert_array_equal(products_of(rows), products_of(wanted))
    assert isinstance(read(source, memory=fixed + wanted.nbytes).chunks[0], CompactRows)


@pytest.mark.skipif(not own_memory(), reason="the system does not tell what memory a process holds")
@pytest.mark.parametrize(("buffer", "on_disk"), [(1 << 20, False), (3 << 26, True)])
def test_what_the_source_itself_holds_counts(rng, buffer, on_disk):
    class Buffered(Rows):
        def __iter__(self):
            self.buffer = np.ones(buffer, dtype=np.int8)
            yield from super().__iter__()

    rows = read(Buffered(make_blocks(rng), 60), memory=1 << 27)
    assert isinstance(rows.chunks[0], StoredRows) == on_disk


def test_small_chunks_wide_columns_and_rows_of_weight_zero(rng, monkeypatch, tmp_path):
    monkeypatch.setattr(collector_module, "_CHUNK_ROWS", 7)
    blocks = make_blocks(rng, d=70_000 // 10, kind="general", weighted=True)
    wide = []
    for X, y, weight in blocks:
        spread = sp.csr_array((X.data, X.indices * 10 + 9, X.indptr), shape=(X.shape[0], 70_000))
        wide.append(RawBlock(spread, y, np.where(np.arange(y.size) % 3 == 1, 0.0, weight)))
    wide[1] = wide[1]._replace(weight=np.zeros(1))
    X, y, weight = stacked(wide)
    rows = read(Rows(wide, 70_000), tmp_path, LITTLE)
    assert rows.chunks[0].load().columns.dtype == np.uint32
    kept = weight > 0
    assert rows.n_rows == np.count_nonzero(kept)
    dense = X[kept][:, rows.order.columns].toarray()
    moments = PairMoments.from_arrays(dense, y[kept], weight[kept])
    v = rng.standard_normal(dense.shape[1])
    np.testing.assert_allclose(rows.product(v), moments.second_moment @ v, rtol=1e-9, atol=1e-12)


# -- what is wrong with blocks -------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_one_class_only_is_an_error(tmp_path, folder, memory):
    blocks = [RawBlock(np.eye(3), np.zeros(3, dtype=int))]
    with pytest.raises(ValueError, match=r"no pairs in the source \(0 positives, 3 negatives"):
        read(Rows(blocks, 3), tmp_path if folder else None, memory)
    assert not (tmp_path / "rows.cache").exists()
    with pytest.raises(ValueError, match="no pairs"):
        read(Rows([], 3))


@pytest.mark.parametrize(
    ("block", "error", "message"),
    [
        (RawBlock(np.array([[1.0, np.nan]]), np.array([1])), NonFiniteError, "row 2, column 1"),
        (RawBlock(sp.csr_array([[0.0, np.inf]]), np.array([1])), NonFiniteError, "row 2, column 1"),
        (
            RawBlock(np.ones((1, 3)), np.array([1])),
            ValueError,
            "block 2 .*X has 3 columns, expected 2",
        ),
        (
            RawBlock(np.ones((1, 2)), np.array([1, 0])),
            ValueError,
            r"block 2 .*X has 1 rows and y has shape \(2,\)",
        ),
        (RawBlock(np.ones((1, 2)), np.array([2])), ValueError, r"block 2 .*\(from row 2 on\): y has label 2"),
        (RawBlock(np.ones((1, 2)), np.array(["a"])), ValueError, "block 2 .*label 'a'"),
        (RawBlock(np.ones((1, 2)), np.array([np.nan])), ValueError, "block 2 .*NaN"),
        (
            RawBlock(np.empty((0, 2)), np.array([1])),
            ValueError,
            r"block 2 .*X has 0 rows and y has shape \(1,\)",
        ),
        (RawBlock(np.ones((1, 2)), np.array([1]), np.array([-1.0])), ValueError, "block 2 .*not negative"),
        ((np.ones((1, 2)),), ValueError, r"block 2 of the source must be a tuple \(X, y\) or"),
        ((np.ones((1, 2)), np.array([2])), ValueError, "block 2 .*label 2"),
        (RawBlock(np.ones((1, 2)), np.array([1]), np.ones(3)), ValueError, "one weight for each row"),
        (
            RawBlock(np.array([[1e200, 1.0]]), np.array([1])),
            ValueError,
            "column 0 .*squares",
        ),
    ],
)
def test_what_is_wrong_with_a_block_is_said(block, error, message):
    with pytest.raises(error, match=message):
        read(Rows([RawBlock(np.eye(2), np.array([0, 1])), block], 2))


def test_duplicates_integers_and_empty_blocks_are_fine():
    twice = sp.coo_array(([1, 1, 2], ([0, 0, 1], [0, 0, 1])), shape=(2, 2)).tocsr()
    twice.has_canonical_format = False
    blocks = [RawBlock(twice, np.array([1, 0])), RawBlock(np.empty((0, 2)), np.array([], dtype=int))]
    rows = read(Rows(blocks, 2))
    np.testing.assert_array_equal(rows.order.restore(rows.mu), [2.0, -2.0])


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("mean", [1e6, 1e9])
def test_columns_far_from_zero_are_warned_of(rng, memory, mean):
    spread = rng.standard_normal(50)
    constants = [np.ones(50), np.full(50, 0.1), np.full(50, -1e7)]
    y, weight = np.arange(50) % 2, rng.random(50)
    for own in (None, weight):
        far = np.column_stack([*constants, rng.standard_normal(50), mean + spread])
        with pytest.warns(
            CancellationWarning,
            match=r"column 4 has a mean so large relative to its standard deviation.*\(1 such column\)",
        ):
            read(Rows([RawBlock(far, y, own)], 5), memory=memory)
        # neither constants nor a mean of 1000 are a reason for a warning
        read(Rows([RawBlock(np.column_stack([*constants, 1000 + spread]), y, own)], 4), memory=memory)


# -- found again ---------------------------------------------------------------------------------------------


def test_a_source_that_vouches_for_itself_is_not_read_again(rng, tmp_path):
    source = Vouched(make_blocks(rng), 60)
    wanted = products_of(read(source, tmp_path))
    np.testing.assert_array_equal(products_of(read(source, tmp_path)), wanted)
    assert source.passes == 1
    source.stamp = 2  # touched: read and compared
    np.testing.assert_array_equal(products_of(read(source, tmp_path)), wanted)
    assert source.passes == 2


@pytest.mark.parametrize(
    ("finished", "change"),
    [
        *((True, change) for change in ("value", "label", "weight", "fewer", "more", "order")),
        # data that grew before it was read to its end is the data
        *((False, change) for change in ("value", "label", "weight", "fewer", "order")),
    ],
)
def test_changed_data_is_noticed(rng, tmp_path, finished, change):
    blocks = make_blocks(rng, kind="general", weighted=True)
    source = Vouched(blocks, 60)
    if finished:
        read(source, tmp_path)
    else:
        with pytest.raises(RuntimeError, match="torn"):
            read(Torn(source, 3), tmp_path)
    X, y, weight = blocks[1]
    changed = {
        "value": [blocks[0], RawBlock(X * (1 + 1e-15), y, weight), *blocks[2:]],
        "label": [blocks[0], RawBlock(X, 1 - y, weight), *blocks[2:]],
        "weight": [blocks[0], RawBlock(X, y, weight * 2), *blocks[2:]],
        "fewer": blocks[:2],
        "more": [*blocks, blocks[0]],
        "order": [blocks[1], blocks[0], *blocks[2:]],
    }[change]
    with pytest.raises(CheckpointError, match=r"rows\.cache.* was made from: .*mtime_ns was 1, now 2"):
        read(Vouched(changed, 60, stamp=2), tmp_path)


def test_one_byte_of_a_file_is_noticed_and_its_time_alone_is_not(tmp_path):
    path, folder = tmp_path / "rows.libsvm", tmp_path / "cache"
    path.write_text("1 1:1 3:0.5\n0 2:1\n1 2:2\n0 1:3\n")
    wanted = products_of(read(LibsvmSource(path), folder))
    os.utime(path, ns=(1, 1))
    np.testing.assert_array_equal(products_of(read(LibsvmSource(path), folder)), wanted)
    path.write_text("1 1:1 3:0.5\n0 2:1\n1 2:3\n0 1:3\n")
    with pytest.raises(CheckpointError, match=r"block 1 \(from row 0 on\) has changed.*rows\.cache|"
                       r"rows\.cache was made from: block 1 \(from row 0 on\)"):  # fmt: skip
        read(LibsvmSource(path), folder)


def test_data_that_changes_while_it_is_read_is_refused(rng, tmp_path):
    class Changing(Vouched):
        def __iter__(self):
            self.stamp += 1
            return super().__iter__()

    with pytest.raises(CheckpointError, match="changed while it was read"):
        read(Changing(make_blocks(rng), 60), tmp_path)
    assert not (tmp_path / "rows.cache").exists()


def test_another_number_of_columns_is_refused(rng, tmp_path):
    read(Rows(make_blocks(rng), 60), tmp_path)
    with pytest.raises(CheckpointError, match="made from rows of 60 columns, the data has 61"):
        read(Rows(make_blocks(rng, d=61), 61), tmp_path)


class Torn:
    """A source that fails after some blocks."""

    classes = (0, 1)

    def __init__(self, source, after):
        self._source, self._after = source, after
        self.n_features = source.n_features
        self.fingerprint = source.fingerprint

    def __iter__(self):
        for number, block in enumerate(self._source):
            if number == self._after:
                raise RuntimeError("torn")
            yield block


def test_an_unfinished_file_is_gone_on_with_block_by_block(rng, tmp_path):
    source = Vouched(make_blocks(rng, kind="general"), 60)
    wanted = products_of(read(source))
    for after in (1, 2, 3):
        with pytest.raises(RuntimeError, match="torn"):
            read(Torn(source, after), tmp_path)
        assert not (tmp_path / "rows.cache").exists()
    np.testing.assert_array_equal(products_of(read(source, tmp_path)), wanted)
    passes = source.passes
    np.testing.assert_array_equal(products_of(read(source, tmp_path)), wanted)
    assert source.passes == passes


def test_two_readers_of_one_folder_at_once_are_refused(rng, tmp_path):
    source = Rows(make_blocks(rng), 60)

    class Nested(Rows):
        def __iter__(self):
            read(source, tmp_path)
            return super().__iter__()

    with pytest.raises(CheckpointError, match="in use by another call"):
        read(Nested(source, 60), tmp_path)
    read(source, tmp_path)


def test_a_failed_spill_leaves_nothing_behind(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(RuntimeError, match="torn"):
        read(Torn(Vouched(make_blocks(rng), 60), 2), memory=LITTLE)
    assert list(tmp_path.iterdir()) == []


# -- in processes of their own -------------------------------------------------------------------------------


def run(*arguments, timeout=120):
    program = Path(__file__).with_name("killed_fit.py")
    done = subprocess.run(
        [sys.executable, program, *map(str, arguments)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_kill_9_at_any_moment_changes_no_bit(tmp_path):
    outcomes = run("kills", tmp_path, 10)
    assert len(outcomes) == 10
    assert all(outcome["killed"] for outcome in outcomes)
    assert all(outcome["same"] for outcome in outcomes)
    # some were killed while rows were read, some while the solver was at work
    assert any(outcome["reading"] for outcome in outcomes)
    assert any(outcome["solving"] for outcome in outcomes)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_within_its_bound(tmp_path):
    told = run("memory", 24_000_000)
    assert told["rows"] > 60_000_000
    assert told["growth"] < 24_000_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of the size of files")
def test_a_disk_that_is_full_for_real(tmp_path):
    told = run("full", tmp_path)
    assert told["error"] == DiskFullError.__name__
    assert "resumes from there" in told["message"]
    assert told["files"] == ["rows.cache.partial", "rows.lock"]
    assert told["same"]


@pytest.mark.parametrize("change", ["shortened", "written to"])
def test_a_cache_that_is_changed_while_it_is_in_use_is_an_error(blocks, tmp_path, change):
    rows = read(Rows(blocks, 60), tmp_path, LITTLE)
    wanted = products_of(rows)
    np.testing.assert_array_equal(products_of(rows), wanted)
    cache = tmp_path / "rows.cache"
    if change == "shortened":
        os.truncate(cache, 4096)
    else:
        with cache.open("r+b") as stream:
            stream.seek(4096)
            stream.write(b"\xff" * 4096)
        os.utime(cache, ns=(1, cache.stat().st_mtime_ns + 1))
    with pytest.raises(CheckpointError, match=r"rows\.cache was changed while it was in use\. Delete it"):
        products_of(rows)


def test_a_cache_whose_first_page_was_lost_is_begun_again(blocks, tmp_path):
    source = Rows(blocks, 60)
    wanted = products_of(read(source, tmp_path))
    (tmp_path / "rows.cache").rename(tmp_path / "rows.cache.partial")
    with (tmp_path / "rows.cache.partial").open("r+b") as stream:
        stream.write(bytes(4096))
    np.testing.assert_array_equal(products_of(read(source, tmp_path)), wanted)
