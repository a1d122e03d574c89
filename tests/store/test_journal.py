"""The one form of files that grow: torn ends are dropped, damage is told, a full disk loses nothing."""

import errno
import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forged_files as forged
from mbauc.errors import CheckpointError, DiskFullError
from mbauc.store.file_kind import FileKind
from mbauc.store.journal import Journal, JournalWriter

KIND = FileKind("log", CheckpointError, "Delete it")
RECORDS = [
    (
        "rows",
        {"group": 1},
        {"starts": np.arange(5, dtype=np.uint32), "values": np.linspace(0, 1, 12).reshape(3, 4)},
    ),
    ("mark", {"crc": 7}, {}),
    ("rows", {"group": 0}, {"starts": np.zeros(0, dtype=np.uint32), "empty": np.zeros((0, 3))}),
    ("mark", {}, {"flags": np.array([True])}),
]


def opened(path):
    with open(path, "rb") as stream:
        return Journal(stream, str(path), KIND)


def append(path, records, end=0, sync=True):
    path.touch()
    with open(path, "r+b", buffering=0) as stream:
        writer = JournalWriter(stream, str(path), KIND, {"n": 9}, end, "Make room")
        bodies = [body for record in records for body in writer.append([record], sync=sync)]
        assert writer.end == os.path.getsize(path)
    return bodies


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "log"
    append(path, RECORDS)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, content):
    path = tmp_path / "log"
    path.write_bytes(content)
    return path


def same(journal, bodies, records):
    assert len(bodies) == len(records)
    for body, (kind, about, arrays) in zip(bodies, records, strict=True):
        assert (body.kind, body.about) == (kind, about)
        found = journal.read(body, keep=True)
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert found[name].ctypes.data % 64 == 0 or not array.size
            np.testing.assert_array_equal(found[name], array)


def test_what_was_written_is_read(path):
    journal = opened(path)
    assert journal.about == {"n": 9}
    assert journal.end == journal.size
    same(journal, journal.read_all(), RECORDS)


def test_the_writer_knows_what_it_has_written(tmp_path):
    bodies = append(tmp_path / "log", RECORDS)
    journal = opened(tmp_path / "log")
    assert bodies == journal.read_all()
    same(journal, bodies, RECORDS)


def test_the_file_can_be_read_from_its_description_alone(content):
    head, bodies = forged.split_journal(content)
    assert forged.parse_body(head)[0] == {"kind": "log", "about": {"n": 9}, "arrays": []}
    assert forged.join_journal(head, bodies) == content
    for body, (kind, about, arrays) in zip(bodies, RECORDS, strict=True):
        text, found = forged.parse_body(body, forged.RECORD)
        assert (text["kind"], text["about"]) == (kind, about)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)


def ends(content):
    """Where the head and each of the records end."""
    (length,) = struct.unpack_from("<Q", content, 16)
    found = [24 + length]
    for body in forged.split_journal(content)[1]:
        found.append(found[-1] + 16 + len(body))
    return found


@given(share=st.floats(0, 1))
def test_a_file_torn_at_any_length_is_resumed_to_the_same_bytes(tmp_path_factory, content, share):
    path = tmp_path_factory.mktemp("torn") / "log"
    cut = int(share * len(content))
    path.write_bytes(content[:cut])
    journal = opened(path)
    whole = [end for end in ends(content) if end <= cut]
    if not whole:
        assert journal.about is None
        assert journal.end == 0
    else:
        assert journal.end == whole[-1]
        same(journal, journal.read_all(), RECORDS[: len(whole) - 1])
    append(path, RECORDS[len(journal.extents) :], journal.end)
    assert path.read_bytes() == content


@given(data=st.data())
def test_a_flipped_bit_is_an_error_wherever_it_is(tmp_path_factory, content, data):
    """But for the length in the head, which may make all that follows look torn: nothing is read then."""
    place, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("flipped") / "log"
    path.write_bytes(content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :])
    with pytest.raises(CheckpointError, match=r"log .*(Delete it|wrote it)\."):
        opened(path).read_all()


def test_the_error_names_the_record(path, content):
    spoilt = bytearray(content)
    spoilt[ends(content)[1] + 20] ^= 1
    path.write_bytes(bytes(spoilt))
    with pytest.raises(
        CheckpointError, match=r"log is damaged: record 2 does not match its checksum\. Delete it\."
    ):
        opened(path).read_all()
    journal = opened(path)
    assert [journal.verify(extent) is None for extent in journal.extents] == [False, True, False, False]


def test_a_spoilt_length_is_damage_and_no_torn_end(path, content):
    """A length that points beyond the end says the same as a record that is torn, but for its own checksum."""
    spoilt = bytearray(content)
    spoilt[ends(content)[1] + 6] ^= 1
    path.write_bytes(bytes(spoilt))
    with pytest.raises(CheckpointError, match=r"log is damaged: record 2 does not match its checksum"):
        opened(path).read_all()
    path.write_bytes(content[: ends(content)[2] - 1])
    assert len(opened(path).read_all()) == 1


def test_a_first_page_that_was_lost_begins_the_file_again(path, content):
    path.write_bytes(bytes(len(content)))
    assert opened(path).about is None


@pytest.mark.parametrize("text", [b"a,b\n1,2\n", b"MBAUCROW\x01", b"\x89MBAUC\r\n" + bytes(16)])
def test_other_files_are_refused_and_left_alone(tmp_path, text):
    (tmp_path / "log").write_bytes(text)
    with pytest.raises(CheckpointError, match=r"is not an mbauc log: .*Delete it\."):
        opened(tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == text


def test_other_versions_and_kinds_are_refused(path, content):
    head, bodies = forged.split_journal(content)
    records = b"".join(map(forged.join_record, bodies))
    for version, match in ((1, r"before 0\.1\.0.*Delete it"), (3, "update mbauc")):
        path.write_bytes(forged.seal(head, mark=forged.JOURNAL, version=version) + records)
        with pytest.raises(CheckpointError, match=match):
            opened(path)
    path.write_bytes(content)
    with open(path, "rb") as stream, pytest.raises(CheckpointError, match="is an mbauc log, not a diary"):
        Journal(stream, str(path), FileKind("diary", CheckpointError, "Delete it"))


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b"[" * 100_000, b'{"kind":1,"about":{},"arrays":[]}'])
def test_a_checksum_that_fits_does_not_make_nonsense_a_record(path, content, text):
    head, bodies = forged.split_journal(content)
    bodies[1] = forged.join_body(text, start=forged.RECORD)
    path.write_bytes(forged.join_journal(head, bodies))
    with pytest.raises(CheckpointError, match=r"log is whole, but .*in bytes [0-9,]+ to [0-9,]+, .*Delete it"):
        opened(path).read_all()
    path.write_bytes(forged.join_journal(forged.join_body(text), bodies))
    with pytest.raises(CheckpointError, match=r"log is whole, but .*Delete it"):
        opened(path)


def test_a_file_that_is_changed_while_it_is_in_use_is_an_error(path):
    journal = opened(path)
    (first, *_) = journal.read_all()
    os.truncate(path, 200)
    with pytest.raises(CheckpointError, match=r"log was changed while it was in use\. Delete it\."):
        journal.read(first)


@given(left=st.integers(0, 5000))
def test_on_a_full_disk_whole_records_stay(tmp_path_factory, content, left):
    path = tmp_path_factory.mktemp("full") / "log"
    append(path, RECORDS[:1])
    size = path.stat().st_size
    with open(path, "r+b", buffering=0) as stream:
        full = forged.FullDisk(stream, min(left, len(content) - size - 1))
        writer = JournalWriter(full, str(path), KIND, {}, size, "Make room")

        def write():
            for record in RECORDS[1:]:
                writer.append([record])

        with pytest.raises(
            DiskFullError, match=r"the log could not be written \(No space left.*Make room.*log'"
        ) as caught:
            write()
    assert caught.value.errno == errno.ENOSPC
    assert path.stat().st_size in ends(content)[1:]
    append(path, RECORDS[len(opened(path).extents) :], path.stat().st_size)
    assert path.read_bytes() == content


def test_an_interrupted_write_leaves_nothing_behind(path, content, monkeypatch):
    def interrupted(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        append(path, RECORDS[:1], len(content))
    assert path.read_bytes() == content
