"""Compressed files of several streams: all of their rows, or an error."""

import bz2
import contextlib
import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.readers import LibsvmSource, TableSource
from mbauc.readers.compressed import DAMAGE, is_damage, unpack

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
KINDS = sorted(PACK)
PARTS = st.lists(st.binary(max_size=200), min_size=1, max_size=4)


@given(st.sampled_from(KINDS), PARTS, st.sampled_from([0, 4, 100_000]))
def test_streams_one_after_the_other_with_zeros_behind_them(kind, parts, zeros):
    packed = b"".join(PACK[kind](part) + bytes(zeros) for part in parts)
    with unpack(io.BytesIO(packed)) as stream:
        assert stream.read() == b"".join(parts)


@given(st.sampled_from(KINDS), PARTS.filter(lambda parts: len(parts) > 1), st.data())
def test_a_broken_bit_is_never_taken_for_the_end(kind, parts, data):
    packed = [PACK[kind](part) for part in parts]
    broken = bytearray(b"".join(packed))
    if kind == "gz":  # the head of a gzip stream has bytes that mean nothing; bzip2 and xz check all of theirs
        place = len(packed[0]) + data.draw(st.integers(0, 2))
    else:
        place = data.draw(st.integers(len(packed[0]), len(broken) - 1))
    broken[place] ^= 1 << data.draw(st.integers(0, 7))
    with unpack(io.BytesIO(broken)) as stream, contextlib.suppress(*DAMAGE):
        # unless it is a bit that nobody reads, at the end of a stream
        assert stream.read() == b"".join(parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", [b"x", b"1,2,3\n" * 1000, bytes(5) + b"BZ"])
def test_rubbish_behind_the_last_stream_is_damage(kind, tail):
    with unpack(io.BytesIO(PACK[kind](b"rows") + tail)) as stream, pytest.raises(DAMAGE) as told:
        stream.read()
    assert is_damage(told.value)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_behind_a_broken_stream_are_not_lost_in_silence(tmp_path, kind):
    halves = [b"1 1:1\n0 2:1\n" * 50, b"1 1:1\n0 2:1\n" * 70]
    second = bytearray(PACK[kind](halves[1]))
    second[0] ^= 1
    text = tmp_path / f"rows.libsvm.{kind}"
    text.write_bytes(PACK[kind](halves[0]) + second)
    with pytest.raises(ValueError, match=r"rows\.libsvm.* is cut short or damaged .* 100 rows read before it"):
        LibsvmSource(text)
    table = tmp_path / f"rows.csv.{kind}"
    table.write_bytes(PACK[kind](b"y,a\n" + b"1,2\n0,1\n" * 50) + second)
    with pytest.raises(ValueError, match=r"rows\.csv.*: the compressed file is cut short or damaged"):
        for _ in TableSource(table, label="y"):
            pass


@pytest.mark.parametrize("text", [b"BZhour,b,y\n1,2,0\n", b"BZh9,b,y and so on\n", b"BZh"])
def test_texts_that_begin_like_bzip2_are_texts(text):
    assert unpack(io.BytesIO(text)) is None
