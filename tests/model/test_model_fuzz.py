"""Files that are not what they should be: always a ModelFileError, never anything else, and nothing runs."""

import io
import json
import pickle
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_model_file import sealed
from trained_models import assert_same, plain_model, table_model, threshold

from mbauc import PairMoments
from mbauc.errors import ModelFileError
from mbauc.model import load_model, save_model


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Bytes of a table's model with a threshold, and of one with closed moments."""
    folder = tmp_path_factory.mktemp("models")
    models = table_model(folder, threshold=threshold()), plain_model(kind="closed")
    found = []
    for model in models:
        save_model(model, folder / "a.mbauc")
        found.append((folder / "a.mbauc").read_bytes())
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "odd.mbauc"


def refused(place, content, match="odd.mbauc"):
    place.write_bytes(content)
    with pytest.raises(ModelFileError, match=match) as caught:
        load_model(place)
    assert str(place) in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < len(str(place)) + 600
    assert str(caught.value).isprintable()
    assert ".." not in str(caught.value)


def test_the_files_are_good_before_they_are_spoilt(contents, place):
    for content in contents:
        place.write_bytes(content)
        assert load_model(place).n_features > 0


# -- damage ------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_any_flipped_bits_of_a_byte_are_noticed(contents, place, data):
    content = bytearray(data.draw(st.sampled_from(contents)))
    at = data.draw(st.integers(0, 63) | st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    refused(place, bytes(content))


def test_each_byte_of_the_head_and_many_of_the_text_are_guarded(contents, place):
    content = contents[1]
    (size,) = struct.unpack_from("<Q", content, 24)
    for at in [*range(64), *range(64, 32 + size, 5)]:
        spoilt = bytearray(content)
        spoilt[at] ^= 1
        refused(place, bytes(spoilt))


@given(data=st.data())
def test_a_file_cut_anywhere_is_refused(contents, place, data):
    content = data.draw(st.sampled_from(contents))
    end = data.draw(st.integers(0, 64) | st.integers(0, len(content) - 1))
    refused(place, content[:end], "cut short" if end else "is empty")


@given(more=st.binary(min_size=1, max_size=100), data=st.data())
def test_something_appended_is_refused(contents, place, more, data):
    refused(place, data.draw(st.sampled_from(contents)) + more, "behind its end")


@given(content=st.binary(max_size=200))
def test_any_bytes_are_refused(place, content):
    refused(place, content)


# -- files of other programs -------------------------------------------------------------------------------


class Bomb:
    """Unpickling it would be seen."""

    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def other_files():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("a.txt", "hello")
    arrays = io.BytesIO()
    np.savez(arrays, a=np.ones(3))
    array = io.BytesIO()
    np.save(array, np.array([Bomb()], dtype=object), allow_pickle=True)
    return {
        "zip": (archive.getvalue(), "zip archive"),
        "npz": (arrays.getvalue(), "zip archive"),
        "npy": (array.getvalue(), "array of NumPy"),
        "pickle": (pickle.dumps(Bomb()), "may be a pickle"),
        "old pickle": (pickle.dumps(Bomb(), protocol=0), "another program"),
        "empty": (b"", "is empty"),
        "csv": (b"click,site\n0,a\n", "another program"),
        "gzip": (b"\x1f\x8b\x08\x00rest", "unpack it"),
        "png": (b"\x89PNG\r\n\x1a\n", "another program"),
        "checkpoint": (b"MBAUCKPT\x01\x00\x00\x00", "checkpoint"),
        "mark alone": (b"\x89MBAUC\r\n", "cut short"),
        "part of the mark": (b"\x89MB", "cut short"),
    }


@pytest.mark.parametrize("name", list(other_files()))
def test_files_of_other_programs_are_refused(place, name):
    refused(place, *other_files()[name])


def test_saved_moments_are_told_apart(place):
    PairMoments(3).save(place)
    with pytest.raises(ModelFileError, match=r"PairMoments\.load may read it"):
        load_model(place)


def test_of_a_huge_file_of_another_program_only_the_head_is_read(place):
    with open(place, "wb") as stream:
        stream.truncate(1 << 40)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="not an mbauc model"):
        load_model(place)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


# -- malice: the checksum fits, the content does not -------------------------------------------------------


def told(content):
    (size,) = struct.unpack_from("<Q", content, 24)
    return json.loads(content[32 : 32 + size]), content[24 + -(-(8 + size) // 64) * 64 :]


def resealed(content, change):
    """The same file with its text changed, and places and checksum made to fit again."""
    text, arrays = told(content)
    start = text["arrays"][0]["at"]
    change(text)
    for _ in range(5):  # places depend on the length of the text
        encoded = json.dumps(text).encode()
        shift = -(-(8 + len(encoded)) // 64) * 64 - start
        listed = text.get("arrays")
        for entry in listed if isinstance(listed, list) else []:
            if isinstance(entry, dict) and type(entry.get("at")) is int:
                entry["at"] += shift
        start += shift
    return sealed(json.dumps(text).encode(), arrays=arrays)


def put(*keys):
    """Set what stands under some keys to the last of them."""

    def change(text):
        *way, last, value = keys
        inner = text
        for key in way:
            inner = inner[key]
        inner[last] = value

    return change


def drop(*keys):
    def change(text):
        *way, last = keys
        inner = text
        for key in way:
            inner = inner[key]
        del inner[last]

    return change


def test_a_changed_text_that_fits_is_still_a_model(contents, place):
    place.write_bytes(resealed(contents[0], put("about", "trained_on", {"longer": "x" * 1000})))
    assert load_model(place).trained_on["longer"]


NUMERIC, CATEGORY = 4, 2  # features of the table's encoding


@pytest.mark.parametrize(
    "change",
    [
        put("arrays", 0, "shape", [2**60]),
        put("arrays", 0, "shape", [2**31, 2**31]),
        put("arrays", 0, "shape", [0, 2**63]),
        put("arrays", 0, "shape", [2**64]),
        put("arrays", -1, "shape", [2**60]),
        put("arrays", -1, "shape", [10**8]),
        put("arrays", 0, "shape", [-1]),
        put("arrays", 0, "shape", [1.0]),
        put("arrays", 0, "shape", [True]),
        put("arrays", 0, "shape", [1] * 64),
        put("arrays", 0, "shape", "4"),
        put("arrays", 0, "shape", []),
        put("arrays", 0, "dtype", "|O"),
        put("arrays", 0, "dtype", "O"),
        put("arrays", 0, "dtype", "<U1"),
        put("arrays", 0, "dtype", "<U0"),
        put("arrays", 0, "dtype", "<U999999999"),
        put("arrays", 0, "dtype", "(1000000000,)f8"),
        put("arrays", 0, "dtype", {"names": ["a"], "formats": ["O"]}),
        put("arrays", 0, "dtype", "__import__('os').system('true')"),
        put("arrays", 0, "at", 0),
        put("arrays", 0, "at", -64),
        put("arrays", 0, "at", 2**62),
        put("arrays", 0, "at", "64"),
        put("arrays", 0, "name", "weights"),
        put("arrays", 1, "name", "coef"),
        put("arrays", 0, "name", 7),
        put("arrays", {}),
        put("arrays", []),
        put("arrays", 0, "coef"),
        drop("arrays", 0, "dtype"),
        drop("arrays"),
        drop("about"),
        put("about", []),
        put("about", None),
        put("about", "format", "another"),
        put("about", "layout", "kind", "xml"),
        put("about", "layout", {"kind": "libsvm", "n_features": 2**60, "zero_based": True}),
        put("about", "layout", {"kind": "libsvm", "n_features": "4", "zero_based": True}),
        put("about", "layout", {"kind": "libsvm", "n_features": 4, "zero_based": "no"}),
        put("about", "layout", "label", 7),
        put("about", "layout", "positive", 7),
        put("about", "layout", "positive", {"1": 1}),
        put("about", "layout", "encoding", "other_columns", "click"),
        put("about", "layout", "weight", ["w"]),
        put("about", "layout", "encoding", "version", 2),
        put("about", "layout", "encoding", "hash_dim", 2**60),
        put("about", "layout", "encoding", "hash_dim", -5),
        put("about", "layout", "encoding", "features", []),
        put("about", "layout", "encoding", "columns", 0, "kind", "code"),
        put("about", "layout", "encoding", "columns", 0, "name", 5),
        put("about", "layout", "encoding", "columns", 0, "spelling", "odd"),
        put("about", "layout", "encoding", "columns", 0, "more", 1),
        put("about", "layout", "encoding", "features", NUMERIC, "center", "0"),
        put("about", "layout", "encoding", "features", NUMERIC, "scale", 0.0),
        put("about", "layout", "encoding", "features", NUMERIC, "indicator", 1),
        put("about", "layout", "encoding", "features", NUMERIC, "name", "nobody"),
        put("about", "layout", "encoding", "features", CATEGORY, "categories", None),
        put("about", "layout", "encoding", "features", CATEGORY, "categories", [1, 2, 3, 4]),
        put("about", "layout", "encoding", "features", CATEGORY, "has_other", "no"),
        put("about", "classes", [0, 1, 2]),
        put("about", "classes", [0, []]),
        put("about", "classes", [0, None]),
        put("about", "classes", [0, {"a": 1}]),
        put("about", "intercept", "1.0"),
        put("about", "intercept", 10**400),
        put("about", "slope", None),
        put("about", "slope", True),
        put("about", "l1", -1.0),
        put("about", "threshold", {"value": 1.0}),
        put("about", "threshold", "value", "0"),
        put("about", "threshold", "false_alarm", 1.5),
        put("about", "threshold", "negatives", -1),
        put("about", "threshold", "more", 1),
        put("about", "threshold", [1, 2, 3, 4]),
        put("about", "settings", [1]),
        put("about", "path", [1]),
        put("about", "path", [{}]),
        put("about", "path", [{"l1": 0.0, "l2": 1.0}]),
        put("about", "path", [{"l1": 0.0, "l2": 1.0, "score": "high"}]),
        put("about", "path", [{"l1": 0.0, "l2": 10**400, "score": None}]),
        put("about", "settings", {"l2": "much"}),
        put("about", "settings", {"max_iter": [5]}),
        put("about", "settings", {"penalty_factors": {"a": 1}}),
        put("about", "trained_on", {"files": 7}),
        put("about", "trained_on", {"files": [{"name": ["x"]}]}),
        put("about", "trained_on", {"files": [{"name": "x", "bytes": {}}]}),
        put("about", "trained_on", {"notes": "one"}),
        put("about", "trained_on", {"hashed_columns": [{"column": -1, "values": [], "others": 0}]}),
        put("about", "trained_on", {"tested": {"auc": [1]}}),
        put("about", "trained_on", {"positives": "many"}),
        put("about", "trained_on", {"other": 10**400}),
        put("about", "trained_on", json.loads("[" * 100 + "]" * 100)),
        put("about", "more", 1),
        drop("about", "classes"),
        drop("about", "layout", "encoding"),
    ],
)
def test_content_that_makes_no_sense_is_refused(contents, place, change):
    tracemalloc.start()
    refused(place, resealed(contents[0], change), "understands")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def test_the_features_above_are_what_they_are_called(contents):
    features = told(contents[0])[0]["about"]["layout"]["encoding"]["features"]
    assert features[NUMERIC]["kind"] == "numeric"
    assert features[CATEGORY]["kind"] == "category"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b'{"about":' * 100_000, "nested too deeply"),
        (b'{"about": {"format": NaN}, "arrays": []}', "the number NaN"),
        (b'{"about": {"l1": -Infinity}, "arrays": []}', "the number -Infinity"),
        (b'{"about": {"l1": 1e999}, "arrays": []}', "1e999, which is too large"),
        (b'{"about": {"l1": 1, "l1": 2}, "arrays": []}', "told twice"),
        (b'{"about": {"l1": ' + b"9" * 10_000 + b'}, "arrays": []}', "digits"),
        (b'{"about": {}, "arrays": [] ', "delimiter"),
        (b'{"about": {}, "arrays": []} more', "Extra data"),
        (b'{"about": {}, "arrays": []}', "about lacks 'format'"),
        (b"\xff\xfe", "ascii"),
        ('{"about": {"é": 1}, "arrays": []}'.encode(), "ascii"),
        (b"null", "understands"),
        (b"[]", "understands"),
        (b"", "understands"),
        (pickle.dumps(Bomb()), "understands"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_a_text_that_is_no_description_is_refused(place, text, reason):
    refused(place, sealed(text), reason)


def test_a_description_that_is_longer_than_the_file_is_refused(place):
    content = bytearray(sealed(b"{}"))
    for size in (10**6, 2**40, 2**64 - 1):
        body = struct.pack("<Q", size) + bytes(content[32:])
        refused(place, _with_body(body), "a text of")
    refused(place, _with_body(b"abc"), "ends too early")


def _with_body(body):
    head = struct.pack("<IQ", 1, len(body))
    return b"\x89MBAUC\r\n" + struct.pack("<I", zlib.crc32(head + body)) + head + body


def test_many_names_for_the_same_bytes_take_no_memory(contents, place):
    """Each of 10,000 entries claims the whole content; read one by one they would be gigabytes."""
    text, _ = told(contents[1])
    entry = text["arrays"][1]
    text["arrays"] = [entry | {"name": f"moments.{k}", "shape": [2000, 50]} for k in range(10_000)]
    tracemalloc.start()
    refused(place, sealed(json.dumps(text).encode(), arrays=bytes(800_000)), "not where it should be")
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


def arrays_changed(content, name, change):
    text, arrays = told(content)
    start = text["arrays"][0]["at"]
    entry = next(entry for entry in text["arrays"] if entry["name"] == name)
    dtype, at = np.dtype(entry["dtype"]), entry["at"] - start
    size = int(np.prod(entry["shape"])) * dtype.itemsize
    array = np.frombuffer(arrays[at : at + size], dtype).reshape(entry["shape"]).copy()
    array[...] = change(array)
    spoilt = arrays[:at] + array.tobytes() + arrays[at + size :]
    return sealed(json.dumps(text, separators=(",", ":")).encode(), arrays=spoilt)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("coef", lambda a: np.where(np.arange(a.size) == 1, np.nan, a)),
        ("coef", lambda a: np.full(a.size, np.inf)),
        ("moments.scatters", lambda a: np.full(a.shape, np.nan)),
        ("moments.pairs_scatter", lambda a: np.full(a.shape, np.inf)),
        ("moments.positive_mean", lambda a: a * np.nan),
        ("moments.negative_weight", lambda a: -a),
        ("moments.negative_squared_weight", lambda a: a * np.nan),
        ("moments.pairs_squared_weight", lambda a: -a),
        ("moments.positive_count", lambda a: "-1"),
        ("moments.positive_count", lambda a: "x"),
    ],
)
def test_numbers_that_no_data_can_have_are_refused(contents, place, name, change):
    place.write_bytes(arrays_changed(contents[1], name, lambda a: a))
    load_model(place)
    refused(place, arrays_changed(contents[1], name, change), "understands")


def test_moments_of_other_columns_are_refused(place, tmp_path):
    save_model(plain_model(d=5), tmp_path / "five")
    content = (tmp_path / "five").read_bytes()
    refused(
        place, resealed(content, put("about", "layout", "n_features", 4)), "one weight for each of 4 columns"
    )

    def four(text):
        text["about"]["layout"]["n_features"] = 4
        text["arrays"][0]["shape"] = [4]

    refused(place, resealed(content, four), r"'scatters' must have the shape \(5, 4\), got \(6, 5\)")


@given(data=st.data())
def test_a_text_with_anything_in_any_place_gives_a_model_or_an_error(contents, place, data):
    """What is put in is small, so that whatever is accepted is harmless; everything else must be refused."""
    content = data.draw(st.sampled_from(contents))
    text, _ = told(content)
    way, inner = [], text
    while isinstance(inner, dict | list) and inner and (not way or data.draw(st.integers(0, 5))):
        key = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        way.append(key)
        inner = inner[key]
    odd = data.draw(
        st.sampled_from(
            [None, True, -1, 0, 2**63, 1e308, "", "x", [], [[]], {}, {"a": 1}, "\ud800", [None] * 3]
        )
    )
    place.write_bytes(resealed(content, put(*way, odd)))
    try:
        model = load_model(place)
    except ModelFileError:
        return
    save_model(model, place)
    again = load_model(place)
    assert_same(model, again)
