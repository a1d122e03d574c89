"""Decimals in text against Python's float, bit for bit."""

import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mbauc.readers.libsvm.decimals import FINE, MALFORMED, OVERFLOW, nearest, read_decimal

DIGITS = st.text("0123456789", min_size=1, max_size=40)
SIGNS = st.sampled_from(["", "+", "-"])


def read(text, after="\n"):
    """Value, number of characters read, code."""
    value, place, code = read_decimal(np.frombuffer((text + after).encode(), np.uint8), np.uintp(0))
    return value, int(place), code


def bits(value):
    return struct.pack("d", value)


def check(text):
    value, place, code = read(text)
    assert place == len(text)
    assert bits(value) == bits(float(text)), text
    assert code == (FINE if np.isfinite(float(text)) else OVERFLOW)


@st.composite
def decimals(draw):
    digits = draw(DIGITS)
    point = draw(st.none() | st.integers(0, len(digits)))
    if point is not None:
        digits = f"{digits[:point]}.{digits[point:]}"
    exponent = draw(st.none() | st.tuples(st.sampled_from("eE"), SIGNS, st.integers(0, 400)))
    return draw(SIGNS) + digits + ("" if exponent is None else "".join(map(str, exponent)))


@pytest.mark.slow
@given(decimals())
@example("0")
@example("-0")
@example("0e999999999999999999999")
@example("1e999999999999999999999")
@example("1e-999999999999999999999")
@example("5.")
@example(".5")
@example("+.5e-3")
@example("1e22")
@example("1e23")
@example("9007199254740993")
@example("9007199254740993.0")
@example("9007199254740993.00000000000000000000000000000001")
@example("18446744073709551615")
@example("99999999999999999999")
@example("9" * 400)
@example("0." + "0" * 400 + "1e400")
@example("4.9e-324")
@example("2.4703282292062327e-324")
@example("2.4703282292062328e-324")
@example("2.4703282292062327208e-324")
@example("2.2250738585072011e-308")
@example("2.2250738585072014e-308")
@example("1.7976931348623157e308")
@example("1.7976931348623158e308")
@example("1.7976931348623159e308")
def test_equals_float(text):
    check(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shortest_and_other_forms_of_any_float(value):
    for text in (repr(value), f"{value:.6g}", f"{value:.17g}", f"{value:.25e}", f"{value:.3f}"):
        check(text)


@given(
    st.one_of(st.integers(0, 2**52 + 2), st.integers(0, 0x7FEFFFFFFFFFFFFF)),
    st.sampled_from([1, 18, 19, 20, 30, 766, 769, 800, 1200]),
)
@example(0, 30)
@example(0x000FFFFFFFFFFFFF, 30)
@example(0x7FEFFFFFFFFFFFFF, 30)
def test_middles_of_neighbours_and_what_is_beside_them(pattern, after):
    with localcontext() as context:
        context.prec = 2000
        low = Decimal(struct.unpack("d", struct.pack("Q", pattern))[0])
        high = Decimal(struct.unpack("d", struct.pack("Q", pattern + 1))[0])
        if not high.is_finite():
            high = Decimal(2) ** 1024
        middle = (low + high) / 2
        little = Decimal(10) ** (middle.adjusted() - after)
        for value in (middle, middle + little, middle - little):
            check(f"{value:e}")
            check(f"{value:f}")


def test_whole_numbers_halfway_between_floats_with_any_scale():
    for number in (2**53 + 1, 2**53 + 3, 2**54 + 2, 2**60 + 2**7, 2**63 + 2**10, 2**63 + 3 * 2**10):
        for zeros in range(20):
            check(f"{number}e{zeros}")
            check(f"{number}{'0' * zeros}e-{zeros}")


def test_a_hundred_thousand_at_random():
    rng = np.random.default_rng(0)
    lengths = rng.choice([1, 6, 15, 16, 17, 18, 19, 20, 21, 30, 40], 100_000)
    exponents = rng.integers(-400, 400, 100_000)
    exponents[::2] //= 15
    for length, exponent in zip(lengths.tolist(), exponents.tolist(), strict=True):
        digits = "".join(map(str, rng.integers(0, 10, length).tolist()))
        text = f"{digits[0]}.{digits[1:]}e{exponent}"
        value, place, _ = read(text)
        assert (bits(value), place) == (bits(float(text)), len(text)), text


@given(st.integers(0, 2**64 - 1), st.integers(-360, 320))
@example(2**64 - 1, -342)
@example(2**64 - 1, -343)
@example(1, 308)
@example(1, 309)
def test_nearest_of_any_word(word, q):
    assert bits(nearest(np.uint64(word), q)) == bits(float(f"{word}e{q}"))


@pytest.mark.parametrize(
    "text", ["", "+", "-", ".", "+.", "e5", ".e5", "1e", "1e+", "1.5E-", "nan", "inf", "-infinity", "x", "--1"]
)
def test_what_is_no_decimal(text):
    assert read(text)[2] == MALFORMED


@pytest.mark.parametrize(
    ("text", "length"),
    [("1_000", 1), ("1.5.2", 3), ("1e5e5", 3), ("0x10", 1), ("1 2", 1), ("3:4", 1), ("1d5", 1)],
)
def test_stops_at_what_does_not_belong_to_it(text, length):
    assert read(text)[1:] == (length, FINE)
