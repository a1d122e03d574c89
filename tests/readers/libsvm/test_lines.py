"""Text files as chunks of whole lines: the same chunks, plain or compressed."""

import bz2
import gzip
import lzma
import os
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mbauc.readers.libsvm.lines import DamagedArchiveError, read_lines

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": partial(lzma.compress, preset=0)}
TEXTS = st.lists(st.text("ab\r", max_size=25) | st.just("c" * 90), max_size=12).map("\n".join)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "text"


def write(path, data):
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def chunks(path, size):
    """Each chunk as it is when its turn has come."""
    found = []
    for text, taken in read_lines(path, size):
        assert not text.flags.writeable
        assert text.dtype == np.uint8
        assert taken >= 0
        found.append(text.tobytes())
    return found


@given(TEXTS, st.sampled_from([1, 5, 20, 64, 1000, None]), st.sampled_from(sorted(PACK)))
@example("c" * 90 + "\n" + "a\n" * 40 + "c" * 300 + "\nab", 5, "gz")
def test_chunks(place, text, size, kind):
    data = text.encode()
    plain = chunks(write(place, data), size)
    assert b"".join(plain) == (data if data.endswith(b"\n") or not data else data + b"\n")
    assert all(chunk.endswith(b"\n") for chunk in plain)
    longest = max(map(len, data.split(b"\n"))) + 1
    assert size is None or all(len(chunk) <= max(size, 2 * longest) for chunk in plain)
    unpacked = chunks(write(place, PACK[kind](data)), size)
    assert b"".join(unpacked) == b"".join(plain)
    assert size is None or unpacked == plain


def test_a_plain_file_is_mapped_as_a_whole_up_to_its_last_line(place):
    assert chunks(write(place, b"a\nb\nc"), None) == [b"a\nb\n", b"c\n"]


def test_chunks_far_into_a_file_start_where_the_last_ended(place):
    lines = [b"%d\n" % k for k in range(100_000)]
    found = chunks(write(place, b"".join(lines)), 50_000)
    assert len(found) > 10
    assert b"".join(found) == b"".join(lines)


@pytest.mark.parametrize("kind", sorted(PACK))
def test_a_cut_archive_gives_its_whole_lines_first(place, kind):
    rng = np.random.default_rng(0)
    data = b"".join(b"%d\n" % k for k in rng.integers(0, 10**9, 300_000))
    packed = PACK[kind](data)
    write(place, packed[: 2 * len(packed) // 3])
    found = []
    with pytest.raises(
        DamagedArchiveError, match=r"text is cut short or damaged after [0-9,]+ bytes of text \("
    ):
        found.extend(lines.text.tobytes() for lines in read_lines(place, 10_000))
    text = b"".join(found)
    assert len(text) > 100_000
    assert text.endswith(b"\n")
    assert data.startswith(text)


def test_what_is_not_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(read_lines(tmp_path / "missing"))
    with pytest.raises(IsADirectoryError):
        next(read_lines(tmp_path))
    with pytest.raises(ValueError, match="is not a regular file"):
        next(read_lines(os.devnull))
