"""The one form of files that are written whole: bytes, damage, versions, and what is made up."""

import json
import os
import struct
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forged_files as forged
from mbauc.errors import DiskFullError, MomentFileError
from mbauc.store import container
from mbauc.store.arrays import encode
from mbauc.store.file_kind import FileKind

KIND = FileKind("thing", MomentFileError, "Make it again")
ABOUT = {"ü": [1, None, 0.1]}
ARRAYS = {
    "basis": np.arange(12.0).reshape(3, 4),
    "stage": np.str_("second choice"),
    "iterations": np.int64(7),
    "empty": np.empty((0, 4)),
    "flags": np.array([True, False]),
    "big endian": np.arange(3, dtype=">i4"),
}


def write(path, about=ABOUT, arrays=ARRAYS, kind=KIND):
    container.write(path, kind, about, arrays)
    return path


def read(path, kind=KIND):
    return container.read(path, kind, lambda about, declared: declared)


def refused(path, content, match):
    path.write_bytes(content)
    with pytest.raises(MomentFileError, match=match) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path} ")
    assert len(str(caught.value)) < len(str(path)) + 600
    assert str(caught.value).isprintable()


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return write(tmp_path_factory.mktemp("content") / "thing").read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "odd"


# -- what was written is read --------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path):
    about, found = read(write(tmp_path / "thing"))
    assert about == ABOUT
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].shape == np.shape(array)
        assert found[name].dtype == np.asarray(array).dtype.newbyteorder("<")
        np.testing.assert_array_equal(found[name], array)
    assert all(array.flags.writeable for array in found.values())
    assert os.listdir(tmp_path) == ["thing"]


@given(st.dictionaries(st.text(max_size=5), st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=30))
def test_any_names_and_shapes_come_back(place, shapes):
    arrays = {name: np.arange(float(np.prod(shape))).reshape(shape) for name, shape in shapes.items()}
    about, found = read(write(place, {"ä": 1}, arrays))
    assert about == {"ä": 1}
    assert list(found) == list(arrays)
    for name in arrays:
        np.testing.assert_array_equal(found[name], arrays[name])


def test_only_what_is_asked_for_is_read(tmp_path):
    path = write(tmp_path / "thing", {}, {"large": np.zeros(1 << 20), "small": np.ones(3)})
    tracemalloc.start()
    _, found = container.read(path, KIND, lambda about, declared: ["small"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(found) == ["small"]
    assert peak < 5 << 20  # pieces of a megabyte for the checksum, not eight for the array


def test_the_format_is_the_one_that_is_documented(content):
    mark, crc, version, length = struct.unpack_from("<8sIIQ", content)
    assert (mark, version, length) == (b"\x89MBAUC\r\n", 2, len(content) - 24)
    assert crc == zlib.crc32(content[12:])
    text, arrays = forged.parse_body(content[24:])
    assert (text["kind"], text["about"]) == ("thing", ABOUT)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_the_pieces_of_a_body_are_views_of_its_arrays():
    array = np.arange(1000.0)
    pieces, body = encode("thing", {}, {"a": array}, 24)
    assert any(np.shares_memory(np.frombuffer(piece, np.uint8), array) for piece in pieces if len(piece))
    assert body.fields[0].place % 64 == 0
    assert body.end - 24 == sum(len(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("about", "arrays", "match"),
    [
        ({}, {"a": np.array([{}])}, "'a' has dtype object"),
        ({"a": float("nan")}, {}, "not JSON compliant"),
        ({"a": 1}, {"a": np.array([1j])}, "'a' has dtype complex128"),
    ],
    ids=["objects", "nan", "complex"],
)
def test_what_a_file_cannot_hold_is_refused_before_anything_is_written(tmp_path, about, arrays, match):
    path = write(tmp_path / "thing")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=match):
        write(path, about, arrays)
    assert path.read_bytes() == before


def test_a_text_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mbauc.store.arrays.MOST_TEXT", 50)
    with pytest.raises(ValueError, match=r"the description of the thing, .* takes .* Hash the columns"):
        write(tmp_path / "thing")


def test_a_full_disk_keeps_the_old_file(tmp_path):
    resource = pytest.importorskip("resource", reason="the size of files cannot be limited there")
    path = write(tmp_path / "thing")
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, hard))
    try:
        with pytest.raises(DiskFullError, match=r"could not be written .*file that was there is kept.*thing"):
            write(path, arrays={"a": np.zeros(10_000)})
        with pytest.raises(DiskFullError, match=r"nothing is left of it.*new"):
            write(tmp_path / "new", arrays={"a": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["thing"]


# -- damage --------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_any_flipped_bits_of_a_byte_are_noticed(content, place, data):
    spoilt = bytearray(content)
    spoilt[data.draw(st.integers(0, 63) | st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    refused(place, bytes(spoilt), r"odd .*Make it again\.")


def test_each_byte_of_head_and_text_is_guarded(content, place):
    (size,) = struct.unpack_from("<Q", content, 24)
    for at in range(32 + size):
        spoilt = bytearray(content)
        spoilt[at] ^= 1
        refused(place, bytes(spoilt), r"Make it again\.")


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_anywhere_is_refused(content, place, share):
    end = int(share * len(content))
    refused(place, content[:end], "cut short" if end else "is empty")


@given(more=st.binary(min_size=1, max_size=100))
def test_something_appended_is_refused(content, place, more):
    refused(place, content + more, "extra bytes at its end")


@given(noise=st.binary(max_size=200))
def test_any_bytes_are_refused(place, noise):
    refused(place, noise, "odd")


def test_a_file_that_was_copied_as_text_says_so(content, place):
    refused(place, content.replace(b"\r\n", b"\n"), "copied as text")


def test_a_damaged_version_is_not_taken_for_the_future(content, place):
    refused(place, content[:12] + b"\x03" + content[13:], "damaged: it does not match its checksum")


# -- other versions, other kinds -----------------------------------------------------------------------------


def test_other_versions_say_what_to_do(place):
    place.write_bytes(forged.seal(b"who knows what", version=3))
    with pytest.raises(MomentFileError, match=r"format version 3, this mbauc reads version 2\. .*update mbauc"):
        read(place)
    refused(
        place,
        forged.seal(b"who knows what", version=1),
        r"version 1 and was written by a version before 0\.1\.0; this mbauc reads version 2\. Make it again\.",
    )


@pytest.mark.parametrize(
    ("start", "match"),
    [
        (b"MBAUCKPT\x01\0\0\0", r"state of a checkpoint written by a version before 0\.1\.0\. Make it again"),
        (b"MBAUCROW\x01\0\0\0", r"row cache written by a version before 0\.1\.0\. Make it again"),
        (b"PK\x03\x04 and more", r"zip archive, as NumPy writes and PairMoments\.save did before 0\.1\.0"),
        (b"\x80\x05 and more", "may be a pickle, which mbauc never loads"),
        (b"\x93NUMPY\x01\x00", "array of NumPy"),
        (b"\x1f\x8b\x08\x00rest", "unpack it with gunzip"),
        (b"\x89PNG\r\n\x1a\n", "another program"),
        (b"x,y\n1,2\n", "another program"),
        (b"\x89MBAUJ\r\n" + bytes(50), "a row cache or a ledger"),
        (b"\x89MB", "cut short"),
    ],
)
def test_files_of_other_programs_and_before_the_first_release_are_named(place, start, match):
    refused(place, start, match)


def test_another_kind_is_named(tmp_path):
    path = write(tmp_path / "thing", kind=FileKind("model", MomentFileError, "x"))
    with pytest.raises(MomentFileError, match=r"is an mbauc model, not a thing\. Make it again\."):
        read(path)


def test_of_a_huge_file_of_another_program_only_the_head_is_read(tmp_path):
    with open(tmp_path / "odd", "wb") as stream:
        stream.truncate(1 << 40)
    tracemalloc.start()
    with pytest.raises(MomentFileError, match="not an mbauc thing"):
        read(tmp_path / "odd")
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no names there")
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MomentFileError, match="no regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(MomentFileError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing")


# -- malice: the checksum fits, the content does not -------------------------------------------------------


def put(key, value, place=0):
    def change(text):
        text["arrays"][place][key] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(put("shape", shape) for shape in ([2**60], [2**31, 2**31], [0, 2**63], [2**64], [-1], [1.0], [True])),
        *(put("shape", shape) for shape in ([1] * 64, "4", [], [30, 3], [10**8])),
        put("shape", [2**60], -1),
        *(
            put("dtype", dtype)
            for dtype in ("|O", "O", "<U1", "<U0", "<U999999999", "(1000000000,)f8", ">f8", 7)
        ),
        put("dtype", {"names": ["a"], "formats": ["O"]}),
        put("dtype", "__import__('os').system('true')"),
        put("name", "stage"),
        put("name", 7),
        put("at", 0),
        lambda text: text.update(arrays={}),
        lambda text: text.update(arrays=[]),
        lambda text: text.update(arrays=text["arrays"] + ["more"]),
        lambda text: text.update(arrays=text["arrays"][1:]),
        lambda text: text["arrays"][0].pop("dtype"),
        lambda text: text.pop("arrays"),
        lambda text: text.pop("about"),
        lambda text: text.pop("kind"),
        lambda text: text.update(kind=["thing"]),
        lambda text: text.update(about=[]),
        lambda text: text.update(about=None),
        lambda text: text.update(more=1),
        lambda text: text.update(about={"a": 10**400}),
        lambda text: text.update(about={"a": json.loads("[" * 100 + "]" * 100)}),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(content, place, change):
    tracemalloc.start()
    refused(place, forged.change_container(content, change), r"is whole, but holds no thing .* Make it again\.")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"about":' * 100_000, "nested too deeply"),
        (b'{"kind": "thing", "about": {"format": NaN}, "arrays": []}', "the number NaN"),
        (b'{"kind": "thing", "about": {"l1": -Infinity}, "arrays": []}', "the number -Infinity"),
        (b'{"kind": "thing", "about": {"l1": 1e999}, "arrays": []}', "1e999, which is too large"),
        (b'{"kind": "thing", "about": {"l1": 1, "l1": 2}, "arrays": []}', "occurs twice"),
        (b'{"kind": "thing", "about": {"l1": ' + b"9" * 10_000 + b'}, "arrays": []}', "digits"),
        (b'{"kind": "thing", "about": {}, "arrays": [] ', "delimiter"),
        (b'{"kind": "thing", "about": {}, "arrays": []} more', "Extra data"),
        (b"\xff\xfe", "ascii"),
        ('{"kind": "thing", "about": {"é": 1}, "arrays": []}'.encode(), "ascii"),
        (b"null", "understands"),
        (b"[]", "understands"),
        (b"", "understands"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_a_text_that_is_no_description_is_refused(place, text, reason):
    refused(place, forged.seal(forged.join_body(text)), reason)


def test_a_description_that_is_longer_than_the_file_is_refused(place):
    for size in (10**6, 2**40, 2**64 - 1):
        refused(place, forged.seal(struct.pack("<Q", size) + bytes(56)), "a text of")
    refused(place, forged.seal(b"abc"), "ends too early")


def test_many_arrays_that_claim_the_same_bytes_take_no_memory(place):
    """Each of 10,000 entries claims the whole content; read one by one they would be gigabytes."""
    listed = [{"name": str(k), "dtype": "<f8", "shape": [2000, 50]} for k in range(10_000)]
    body = forged.join_body({"kind": "thing", "about": {}, "arrays": listed}, bytes(800_000))
    tracemalloc.start()
    refused(place, forged.seal(body), "arrays that end at byte")
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


def test_what_the_caller_does_not_want_is_refused_before_arrays_are_read(tmp_path):
    path = write(tmp_path / "thing", {}, {"a": np.zeros(1 << 20)})

    def select(about, declared):
        assert declared == {"a": ("<f8", (1 << 20,))}
        raise ValueError("too many")

    tracemalloc.start()
    with pytest.raises(MomentFileError, match=r"thing that this mbauc understands: too many\. Make it again\."):
        container.read(path, KIND, select)
    assert tracemalloc.get_traced_memory()[1] < 5 << 20
    tracemalloc.stop()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = write(tmp_path / "thing", {}, {"a": np.zeros(1000)})

    def select(about, declared):
        os.truncate(path, 100)
        return declared

    with pytest.raises(MomentFileError, match=r"was changed while it was in use\. Make it again\."):
        container.read(path, KIND, select)
