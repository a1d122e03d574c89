import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forged_files as forged
from forged_files import FullDisk
from mbauc.errors import CheckpointError, DiskFullError
from mbauc.pairs.compact.cache import RowCacheWriter, open_cache
from mbauc.pairs.compact.rows import CompactRows, StoredRows
from mbauc.rows.fingerprint import BlockMark

HEADER = {"n_features": 9, "fingerprint": {"size": 5}}
ARRAYS = ("starts", "columns", "values", "weight")


def chunks_of(seed):
    """One chunk of each kind: ones, float32, float64; both widths; weights; no rows at all in a row."""
    rng = np.random.default_rng(seed)
    made = []
    for group, wide, values, weighted in [
        (0, np.uint16, None, False),
        (1, np.uint32, np.float32, False),
        (1, np.uint16, np.float64, True),
        (0, np.uint16, np.float64, False),
    ]:
        lengths = rng.integers(0, 4, rng.integers(1, 6))
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
        columns = rng.integers(0, 9, starts[-1]).astype(wide)
        numbers = None if values is None else rng.standard_normal(starts[-1]).astype(values)
        weight = rng.random(lengths.size) if weighted else None
        made.append(CompactRows(group, starts, columns, numbers, weight))
    return made


def state_of(blocks=3):
    """The sums of the chunks, as far as anybody looks at them."""
    rows = [0, 0]
    for number in range(blocks):
        for chunk in chunks_of(number):
            rows[chunk.stratum] += chunk.n_rows
    return {
        "columns": np.array([3, 1, 0, 2, 4, 5, 6, 7, 8], dtype=np.uint32),
        "counts": np.array(rows),
        "weights": np.array([1.0, 2.5]),
        "squared_weights": np.array([1.0, 2.5]),
        "ones": np.zeros((2, 9), dtype=np.int64),
    }


STATE = state_of()


def write(path, blocks=3, finish=True):
    writer = RowCacheWriter(path, HEADER)
    for number in range(len(writer.marks), blocks):
        writer.add_block(chunks_of(number), BlockMark(10 + number, number))
    if finish:
        writer.finish(STATE)
    else:
        writer.close()
    return path if finish else path.with_name(path.name + ".partial")


def same(found, made):
    assert len(found) == len(made)
    for chunk, other in zip(found, made, strict=True):
        one = chunk.load()
        assert chunk.stratum == one.stratum == other.stratum
        assert (chunk.n_rows, chunk.n_entries, chunk.nbytes) == (other.n_rows, other.n_entries, other.nbytes)
        for name in ARRAYS:
            a, b = getattr(one, name), getattr(other, name)
            assert (a is None) == (b is None)
            if b is not None:
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write(tmp_path_factory.mktemp("cache") / "rows.cache").read_bytes()


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    return write(tmp_path_factory.mktemp("cache") / "rows.cache", finish=False).read_bytes()


@pytest.mark.parametrize("room", [0, 1 << 30])
def test_what_was_written_is_read(tmp_path, room):
    cache = open_cache(write(tmp_path / "rows.cache"), 2)
    assert cache.n_features == 9
    assert cache.fingerprint == {"size": 5}
    assert cache.marks == [(10, 0), (11, 1), (12, 2)]
    np.testing.assert_array_equal(cache.state["columns"], STATE["columns"])
    chunks = cache.chunks(room)
    for _ in range(2):
        same(chunks, [chunk for number in range(3) for chunk in chunks_of(number)])
        for chunk in chunks:
            assert isinstance(chunk, StoredRows) == (room == 0)
    assert [p.name for p in tmp_path.iterdir()] == ["rows.cache"]


def test_arrays_are_aligned_for_any_reader(tmp_path):
    for chunk in open_cache(write(tmp_path / "rows.cache"), 1).chunks(0):
        rows = chunk.load()
        for name in ARRAYS:
            array = getattr(rows, name)
            assert array is None or array.size == 0 or array.ctypes.data % 64 == 0


def test_a_temporary_file_has_no_name_and_outlives_its_writer(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    writer = RowCacheWriter(None, HEADER)
    writer.add_block(chunks_of(0), BlockMark(10, 0))
    assert list(tmp_path.iterdir()) == []
    chunks = writer.finish(STATE).chunks(0)
    del writer
    same(chunks, chunks_of(0))


def test_the_file_can_be_read_from_its_description_alone(whole):
    """As docs/user_guide/scale.md says, with struct and numpy."""
    head, bodies = forged.split_journal(whole)
    assert forged.parse_body(head)[0] == {"kind": "row cache", "about": HEADER, "arrays": []}
    records = [forged.parse_body(body, forged.RECORD) for body in bodies]
    assert [text["kind"] for text, _ in records] == [*(["rows"] * 4 + ["block"]) * 3, "end"]
    found = [
        CompactRows(text["about"]["group"], *(arrays.get(name) for name in ARRAYS))
        for text, arrays in records
        if text["kind"] == "rows"
    ]
    same(found, [chunk for number in range(3) for chunk in chunks_of(number)])
    assert [text["about"] for text, _ in records if text["kind"] == "block"] == [
        {"rows": 10 + number, "crc": number} for number in range(3)
    ]
    text, state = records[-1]
    before = len(whole) - 16 - len(bodies[-1])
    assert text["about"] == {"records": len(bodies) - 1, "bytes": before, "fingerprint": {"size": 5}}
    np.testing.assert_array_equal(state["columns"], STATE["columns"])


@given(data=st.data())
def test_a_flipped_bit_anywhere_is_an_error(tmp_path_factory, whole, data):
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("flipped") / "rows.cache"
    path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << bit)]) + whole[place + 1 :])
    with pytest.raises(CheckpointError, match=r"rows\.cache"):
        open_cache(path, 1)


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_at_any_length_is_an_error(tmp_path_factory, whole, share):
    path = tmp_path_factory.mktemp("cut") / "rows.cache"
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CheckpointError, match=r"rows\.cache"):
        open_cache(path, 1)


def test_the_error_names_the_record_and_what_to_do(tmp_path, whole):
    head, bodies = forged.split_journal(whole)
    start = len(forged.join_journal(head, bodies[:6]))
    content = bytearray(whole)
    content[start + 16 + len(bodies[6]) // 2] ^= 1
    path = tmp_path / "rows.cache"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"rows\.cache is damaged: record 6 \(bytes {start:,} .*Delete"):
        open_cache(path, 1)


def test_bytes_beyond_the_end_and_missing_records_are_errors(tmp_path, whole):
    path = tmp_path / "rows.cache"
    path.write_bytes(whole + bytes(64))
    with pytest.raises(CheckpointError, match="cut short or damaged"):
        open_cache(path, 1)
    head, bodies = forged.split_journal(whole)
    path.write_bytes(forged.join_journal(head, bodies[1:]))
    with pytest.raises(CheckpointError, match="the number of its records is not what its end says"):
        open_cache(path, 1)
    path.write_bytes(forged.join_journal(head, bodies[:-1]))
    with pytest.raises(CheckpointError, match="without the one that closes the file"):
        open_cache(path, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "more"}, "a record of the kind 'more', which is not known"),
        ({"about": {}}, "rows lacks 'group'"),
        ({"arrays": []}, "lacks the array 'starts'|arrays that end at byte"),
    ],
    ids=str,
)
def test_records_that_mbauc_does_not_write_are_refused(tmp_path, whole, change, message):
    head, bodies = forged.split_journal(whole)
    text, content = forged.split_body(bodies[0], forged.RECORD)
    bodies[0] = forged.join_body(text | change, content, forged.RECORD)
    path = tmp_path / "rows.cache"
    path.write_bytes(forged.join_journal(head, bodies))
    with pytest.raises(CheckpointError, match=rf"in bytes .* to .*, ({message})"):
        open_cache(path, 1)


@pytest.mark.parametrize(
    "arrays", [{"starts": np.arange(2)}, {"values": np.ones(3, dtype=np.float16)}], ids=str
)
def test_arrays_of_other_types_are_refused(tmp_path, whole, arrays):
    head, bodies = forged.split_journal(whole)
    text, held = forged.parse_body(bodies[0], forged.RECORD)
    bodies[0] = forged.make_body(text, held | arrays, start=forged.RECORD)
    (tmp_path / "rows.cache").write_bytes(forged.join_journal(head, bodies))
    with pytest.raises(CheckpointError, match=r"must be of type (<u4|<f4 or <f8), got '<"):
        open_cache(tmp_path / "rows.cache", 1)


def rows_of(starts=(0, 2, 3), columns=(0, 8, 3), values=None, weight=None, stratum=0):
    return CompactRows(
        stratum,
        np.array(starts, dtype=np.uint32),
        np.array(columns, dtype=np.uint16),
        None if values is None else np.array(values),
        None if weight is None else np.array(weight),
    )


def forge(path, rows, **state):
    """A finished file with right checksums, as nobody but a forger writes it."""
    writer = RowCacheWriter(path, HEADER)
    writer.add_block([rows], BlockMark(2, 0))
    told = state_of(0) | {"counts": np.array([2, 0])}
    writer.finish(told | state)
    return path


def test_rows_that_can_be_are_opened(tmp_path):
    [chunk] = open_cache(forge(tmp_path / "rows.cache", rows_of()), 1).chunks(1 << 20)
    assert chunk.columns.tolist() == [0, 8, 3]
    assert chunk.starts.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"columns": (0, 9, 3)}, "rows have column 9 of the 9 that are in use"),
        ({"columns": (0, 65_535, 3)}, "rows have column 65,535"),
        ({"starts": (0, 3, 2)}, "do not rise from 0"),
        ({"starts": (0, 2**32 - 1, 3)}, "do not rise from 0"),
        ({"starts": (1, 2, 3)}, "do not rise from 0"),
        ({"starts": (0, 2, 4)}, "do not rise from 0"),
        ({"values": (1.0, np.nan, 1.0)}, "the numbers of 'values' must be finite"),
        ({"values": (np.inf, 1.0, 1.0)}, "the numbers of 'values' must be finite"),
        ({"values": np.array([1, np.inf, 1], dtype=np.float32)}, "the numbers of 'values' must be finite"),
        ({"weight": (1.0, -1.0)}, "the numbers of 'weight' must be within their bounds"),
        ({"stratum": 1}, r"\[0, 2\] rows of the classes, \[2, 0\] counted"),
        ({"stratum": 7}, r"rows\['group'\] must be a whole number of at least 0 and of at most 1, got 7"),
    ],
    ids=str,
)
def test_rows_that_compiled_loops_would_run_astray_on_are_refused(tmp_path, rows, message):
    path = forge(tmp_path / "rows.cache", rows_of(**rows))
    with pytest.raises(CheckpointError, match=rf"rows\.cache is whole, but.*{message}.*Delete it"):
        open_cache(path, 1)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"columns": np.array([0, 1, 9] * 3, dtype=np.uint32)}, "none of 9, or one twice"),
        ({"columns": np.zeros(9, dtype=np.uint32)}, "none of 9, or one twice"),
        ({"columns": np.arange(9)}, "'columns' must be of type <u4, got '<i8'"),
        ({"ones": np.zeros((2, 8), dtype=np.int64)}, r"'ones' must have the shape \(2, 9\)"),
        ({"counts": np.array([2, 0, 0])}, r"'counts' must have the shape \(2\)"),
        ({"weights": np.array([1.0, np.nan])}, "'weights' must be within"),
        ({"more": np.array(1)}, "the array 'more', which this mbauc does not know"),
    ],
    ids=str,
)
def test_sums_that_are_not_of_the_rows_are_refused(tmp_path, state, message):
    def write_and_open():
        open_cache(forge(tmp_path / "rows.cache", rows_of(), **state), 1)

    with pytest.raises(CheckpointError, match=message):
        write_and_open()


def test_columns_that_an_unfinished_file_made_up_are_refused_at_the_end(tmp_path):
    writer = RowCacheWriter(tmp_path / "rows.cache", HEADER)
    writer.add_block([rows_of(columns=(0, 65_535, 3))], BlockMark(2, 0))
    writer.close()
    again = RowCacheWriter(tmp_path / "rows.cache", HEADER)
    with pytest.raises(CheckpointError, match="column 65,535 of the 9"):
        again.finish(state_of(0))
    assert not (tmp_path / "rows.cache").exists()


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda head: forged.seal(head, mark=forged.JOURNAL, version=3),
            "format version 3, this mbauc reads",
        ),
        (
            lambda head: b"MBAUCROW\x01\0\0\0" + head,
            r"cache written by a version before 0\.1\.0\. Delete it",
        ),
        (lambda head: b"a,b\n1,2\n", "is not an mbauc row cache"),
        (
            lambda head: forged.join_journal(forged.join_body({"kind": "row cache"}), []),
            "holds no row cache",
        ),
    ],
    ids=["newer", "older", "text", "header"],
)
def test_other_versions_and_other_files_are_refused_and_left_alone(tmp_path, whole, finished, spoil, message):
    path = tmp_path / ("rows.cache" if finished else "rows.cache.partial")
    content = spoil(forged.split_journal(whole)[0])
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        open_cache(path, 1) if finished else RowCacheWriter(tmp_path / "rows.cache", HEADER)
    assert path.read_bytes() == content


# -- going on ------------------------------------------------------------------------------------------------


@given(share=st.floats(0, 1))
def test_a_file_torn_at_any_length_is_resumed_to_the_same_bytes(tmp_path_factory, whole, unfinished, share):
    folder = tmp_path_factory.mktemp("torn")
    (folder / "rows.cache.partial").write_bytes(unfinished[: int(share * len(unfinished))])
    assert write(folder / "rows.cache").read_bytes() == whole


@given(data=st.data())
def test_a_damaged_unfinished_file_never_changes_the_result(tmp_path_factory, whole, unfinished, data):
    place = data.draw(st.integers(0, len(unfinished) - 1))
    flipped = unfinished[:place] + bytes([unfinished[place] ^ 0x10]) + unfinished[place + 1 :]
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "rows.cache.partial").write_bytes(flipped)
    try:
        path = write(folder / "rows.cache")
    except CheckpointError:
        assert place < 24 + len(forged.split_journal(unfinished)[0])  # the header
    else:
        assert path.read_bytes() == whole


def test_a_file_that_only_lacks_its_name_is_resumed(tmp_path, whole):
    (tmp_path / "rows.cache.partial").write_bytes(whole)
    assert write(tmp_path / "rows.cache").read_bytes() == whole


def test_blocks_that_are_in_are_told(tmp_path):
    write(tmp_path / "rows.cache", blocks=2, finish=False)
    writer = RowCacheWriter(tmp_path / "rows.cache", HEADER | {"fingerprint": None})
    assert writer.marks == [(10, 0), (11, 1)]
    assert writer.first_fingerprint == {"size": 5}
    writer.close()


def test_another_number_of_columns_is_refused(tmp_path):
    write(tmp_path / "rows.cache", finish=False)
    with pytest.raises(CheckpointError, match="made from rows of 9 columns, the data has 10"):
        RowCacheWriter(tmp_path / "rows.cache", HEADER | {"n_features": 10})


# -- a full disk ---------------------------------------------------------------------------------------------


@given(left=st.integers(0, 3000))
def test_on_a_full_disk_whole_blocks_stay_and_can_be_resumed(tmp_path_factory, whole, left):
    path = tmp_path_factory.mktemp("full") / "rows.cache"
    writer = RowCacheWriter(path, HEADER)
    writer.add_block(chunks_of(0), BlockMark(10, 0))
    size = os.path.getsize(writer.name)
    writer._writer.stream = FullDisk(writer._stream, min(left, len(whole) - size - 1))

    def go_on():
        for number in (1, 2):
            writer.add_block(chunks_of(number), BlockMark(10 + number, number))
        writer.finish(STATE)

    with pytest.raises(DiskFullError, match=r"No space left.*same call resumes from there.*partial"):
        go_on()
    writer.close()
    assert not path.exists()
    again = RowCacheWriter(path, HEADER)
    assert os.path.getsize(again.name) >= size
    assert again.marks
    again.close()
    assert write(path).read_bytes() == whole


def test_a_temporary_file_on_a_full_disk_says_what_to_do():
    writer = RowCacheWriter(None, HEADER)
    writer._writer.stream = FullDisk(writer._stream, 100)
    with pytest.raises(DiskFullError, match="TMPDIR"):
        writer.add_block(chunks_of(0), BlockMark(10, 0))
    writer.close()
