"""Descriptions of what files hold: what fits passes, anything else is told in one short ValueError."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.checks import abbreviate
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.file_schema import (
    SCALAR,
    Choice,
    Either,
    Flag,
    Json,
    ListOf,
    Nullable,
    Number,
    Record,
    Tagged,
    Text,
)
from mbauc.store.json_values import read_json

POINT = Record({"l2": Number(low=0.0)}, {"score": Nullable(Number())})
KINDS = Tagged("kind", {"a": Record({"x": Flag()}), "b": Record({}, others=SCALAR)})

FITS = [
    (Number(), 3),
    (Number(), -2.5),
    (Number(0.0, 1.0), 1),
    (Number(whole=True), 2**62),
    (Flag(), False),
    (Text(), "a\nb"),
    (Text("[0-9]+", "digits"), "12"),
    (Choice("a", "b"), "b"),
    (Nullable(Flag()), None),
    (Either(Number(), Choice("auto")), "auto"),
    (ListOf(Number()), []),
    (ListOf(Number(), 2, 2), [1, 2]),
    (POINT, {"l2": 1.0}),
    (POINT, {"l2": 1.0, "score": None}),
    (KINDS, {"kind": "a", "x": True}),
    (KINDS, {"kind": "b", "anything": "x"}),
    (Json(), {"a": [1, {"b": None}]}),
]
DOES_NOT = [
    (Number(), True, "here must be a number, got True"),
    (Number(), "1", "here must be a number, got '1'"),
    (Number(), 10**400, "here must be a number, got 1000"),
    (Number(), float("nan"), "must be a number"),
    (Number(0.0, 1.0), 1.5, "a number of at least 0 and of at most 1, got 1.5"),
    (Number(whole=True), 1.0, "a whole number, got 1.0"),
    (Flag(), 1, "true or false, got 1"),
    (Text(), 7, "a text, got 7"),
    (Text("[0-9]+", "digits"), "12x", "digits, got '12x'"),
    (Choice("a", "b"), "c", "'a' or 'b', got 'c'"),
    (Choice("a"), [], r"'a', got \[\]"),
    (Nullable(Flag()), 0, "true or false, got 0"),
    (Either(Number(), Choice("auto")), "x", "a number or 'auto', got 'x'"),
    (ListOf(Number()), {"a": 1}, "list of items"),
    (ListOf(Number()), [1, None], r"here\[1\] must be a number, got None"),
    (ListOf(Number(), 2, 2), [1], "list of 2 items"),
    (ListOf(Number(), 1), [], "a non-empty list"),
    (POINT, [], "an object"),
    (POINT, {"score": 1.0}, "here lacks 'l2'"),
    (POINT, {"l2": -1}, r"here\['l2'\] must be a number of at least 0"),
    (POINT, {"l2": 1, "more": 1}, "the entry 'more', which this mbauc does not know"),
    (KINDS, {"x": True}, "lacks 'kind'"),
    (KINDS, {"kind": "c"}, "'a' or 'b', got 'c'"),
    (KINDS, {"kind": ["a"]}, "'a' or 'b'"),
    (KINDS, {"kind": "a"}, "lacks 'x'"),
    (KINDS, {"kind": "b", "x": [1]}, "must be"),
    (Json(), {"a": 10**400}, "must be a number"),
    (Json(3), [[[[]]]], "nested too deeply"),
]


@pytest.mark.parametrize(("kind", "value"), FITS)
def test_what_fits_passes(kind, value):
    kind.check(value, "here")


@pytest.mark.parametrize(("kind", "value", "message"), DOES_NOT)
def test_what_does_not_fit_is_told(kind, value, message):
    with pytest.raises(ValueError, match=message) as caught:
        kind.check(value, "here")
    assert type(caught.value) is ValueError


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(kind=st.sampled_from([kind for kind, *_ in FITS + DOES_NOT]), value=VALUES)
def test_any_value_passes_or_is_a_short_value_error(kind, value):
    told = ""
    try:
        kind.check(value, "here")
    except ValueError as error:
        told = str(error)
    assert len(told) < 700
    assert told.isprintable()


@given(value=VALUES | st.binary() | st.integers(10**3000, 10**3001))
def test_what_is_shown_is_short_and_harmless(value):
    assert len(abbreviate(value)) <= 80
    assert abbreviate(value).isprintable()


def test_a_terminal_is_left_alone():
    with pytest.raises(ValueError, match=r"\\x1b\[31m") as caught:
        Record({}).check({"\x1b[31mred\u202e" + "x" * 10_000: 1}, "here")
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1, "a": 2}', "occurs twice"),
        (b"NaN", "NaN"),
        (b"1e999", "too large"),
        (b"\xff", "ascii"),
        (b"{", "Expecting"),
    ],
)
def test_a_text_that_is_no_json_is_a_value_error(text, message):
    with pytest.raises(ValueError, match=message):
        read_json(text)


def test_a_json_text_is_read():
    assert read_json(json.dumps({"ä": [1.5]}).encode()) == {"ä": [1.5]}


# -- arrays ------------------------------------------------------------------------------------------------

SUMS = Arrays(
    {
        "mean": ArrayOf("<f8", ("d",)),
        "scatters": ArrayOf("<f8", ("d+1", "d")),
        "count": ArrayOf("U", pattern="[0-9]{1,40}"),
    },
    together={"pairs": ArrayOf("<i8", ("d",), low=0), "seen": ArrayOf("|b1", ("k",))},
    sizes={"k": range(3)},
)
GOOD = {"mean": ("<f8", (4,)), "scatters": ("<f8", (5, 4)), "count": ("<U2", ())}
BOTH = {"pairs": ("<i8", (4,)), "seen": ("|b1", (2,))}


def test_declared_arrays_that_fit_give_their_sizes():
    assert SUMS.check_declared(GOOD) == {"d": 4}
    assert SUMS.check_declared(GOOD | BOTH, d=4) == {"d": 4, "k": 2}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"mean": ("<f8", (4,))}, "lacks the array 'scatters'"),
        (GOOD | {"pairs": ("<i8", (4,))}, "lacks the array 'seen'"),
        (GOOD | {"more": ("<i8", (4,))}, "the array 'more', which this mbauc does not know"),
        (GOOD | {"mean": ("<f4", (4,))}, "'mean' must be of type <f8, got '<f4'"),
        (GOOD | {"count": ("|O", ())}, "'count' must be of type U"),
        (GOOD | {"mean": ("<f8", (4, 1))}, r"'mean' must have the shape \(4\), got \(4, 1\)"),
        (GOOD | {"scatters": ("<f8", (2**60, 4))}, r"'scatters' must have the shape \(5, 4\)"),
        (GOOD | {"scatters": ("<f8", (0, -1))}, "must have the shape"),
        (GOOD | BOTH | {"seen": ("|b1", (3,))}, r"'seen' must have the shape \(k\), got \(3,\)"),
    ],
)
def test_declared_arrays_that_do_not_fit_are_told(declared, message):
    with pytest.raises(ValueError, match=message):
        SUMS.check_declared(declared, d=4)


def arrays(**changes):
    good = {"mean": np.zeros(4), "scatters": np.zeros((5, 4)), "count": np.array("12")}
    return good | {name: np.asarray(value) for name, value in changes.items()}


def test_values_that_fit_pass():
    SUMS.check_values(arrays(pairs=np.arange(4)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": [0, 0, np.nan, 0]}, "the numbers of 'mean' must be finite"),
        ({"mean": [0, 0, np.inf, 0]}, "finite"),
        ({"count": "-1"}, "count must be a text of the form"),
        ({"pairs": [1, 2, 3, -1]}, "'pairs' must be within their bounds, got values from -1 to 3"),
    ],
)
def test_values_that_do_not_fit_are_told(changes, message):
    with pytest.raises(ValueError, match=message):
        SUMS.check_values(arrays(**changes))


def test_bounds_may_be_those_of_each_entry_and_arrays_must_agree():
    def refuse(held):
        raise ValueError("not together")

    both = Arrays({"x": ArrayOf("<f8", (2,), low=(0.0, -np.inf), high=np.inf)})
    both.check_values({"x": np.array([0.0, -np.inf])})
    with pytest.raises(ValueError, match="within their bounds"):
        both.check_values({"x": np.array([-1.0, 0.0])})
    with pytest.raises(ValueError, match="not together"):
        Arrays({}, agree=refuse).check_values({})
