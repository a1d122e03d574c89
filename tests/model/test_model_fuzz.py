"""Files that are not what they should be: always a ModelFileError, never anything else, and nothing runs."""

import io
import json
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trained_models import assert_same, plain_model, table_model, threshold

import forged_files as forged
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


@given(data=st.data())
def test_any_flipped_bits_of_a_byte_are_noticed(contents, place, data):
    content = bytearray(data.draw(st.sampled_from(contents)))
    at = data.draw(st.integers(0, 63) | st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    refused(place, bytes(content))


class Bomb:
    """Unpickling it would be seen."""

    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def test_nothing_in_a_file_runs(place):
    array = io.BytesIO()
    np.save(array, np.array([Bomb()], dtype=object), allow_pickle=True)
    refused(place, array.getvalue(), "array of NumPy")
    refused(place, pickle.dumps(Bomb()), "may be a pickle")
    refused(place, pickle.dumps(Bomb(), protocol=0), "another program")
    refused(place, forged.seal(forged.join_body(pickle.dumps(Bomb()))), "understands")


def test_saved_moments_are_told_apart(place):
    PairMoments(3).save(place)
    with pytest.raises(ModelFileError, match=r"is an mbauc set of pair moments, not a model"):
        load_model(place)


# -- malice: the checksum fits, the content does not -------------------------------------------------------


def told(content):
    return forged.split_body(content[24:])[0]


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
    place.write_bytes(forged.change_container(contents[0], put("about", "trained_on", {"longer": "x" * 1000})))
    assert load_model(place).trained_on["longer"]


NUMERIC, CATEGORY = 4, 2  # features of the table's encoding


@pytest.mark.parametrize(
    "change",
    [
        put("arrays", 0, "shape", [2**60]),
        put("arrays", 0, "shape", []),
        put("arrays", 0, "dtype", "|O"),
        put("arrays", 0, "dtype", "<i8"),
        put("arrays", 0, "name", "weights"),
        put("arrays", 1, "name", "coef"),
        put("arrays", []),
        drop("arrays"),
        drop("about"),
        put("about", []),
        put("about", {}),
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
    refused(place, forged.change_container(contents[0], change), "understands")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


def test_the_features_above_are_what_they_are_called(contents):
    features = told(contents[0])["about"]["layout"]["encoding"]["features"]
    assert features[NUMERIC]["kind"] == "numeric"
    assert features[CATEGORY]["kind"] == "category"


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
    place.write_bytes(forged.change_array(contents[1], name, lambda a: a))
    load_model(place)
    refused(place, forged.change_array(contents[1], name, change), "understands")


def test_moments_of_other_columns_are_refused(place, tmp_path):
    save_model(plain_model(d=5), tmp_path / "five")
    content = (tmp_path / "five").read_bytes()
    refused(
        place,
        forged.change_container(content, put("about", "layout", "n_features", 4)),
        "one weight for each of 4 columns",
    )

    def four(text):
        text["about"]["layout"]["n_features"] = 4
        text["arrays"][0]["shape"] = [4]

    refused(
        place, forged.change_container(content, four), r"'scatters' must have the shape \(5, 4\), got \(6, 5\)"
    )


@given(data=st.data())
def test_a_text_with_anything_in_any_place_gives_a_model_or_an_error(contents, place, data):
    """What is put in is small, so that whatever is accepted is harmless; everything else must be refused."""
    content = data.draw(st.sampled_from(contents))
    text = told(content)
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
    place.write_bytes(forged.change_container(content, put(*way, odd)))
    try:
        model = load_model(place)
    except ModelFileError:
        return
    save_model(model, place)
    again = load_model(place)
    assert_same(model, again)
