"""The LIBSVM reader against a slow twin, scikit-learn, damaged files and real ones."""

import bz2
import gzip
import io
import lzma
import os
import re
import tracemalloc
import warnings
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from mbauc import PairMoments
from mbauc.errors import MbaucWarning
from mbauc.readers import LibsvmSource, RawBlock, read_libsvm
from mbauc.readers.compressed import archive_kind
from mbauc.readers.libsvm import lines, parsing, reading

LARGEST = 2**31 - 1


# -- the slow twin -----------------------------------------------------------------------------------

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INDEX = re.compile(rb"\+?[0-9]+")


class LineError(ValueError):
    pass


def twin_number(text):
    if not NUMBER.fullmatch(text) or not np.isfinite(float(text)):
        raise LineError(text)
    return float(text)


def twin_row(line, least, most):
    """(label, {index: value}) of a line, None if it holds no row."""
    tokens = line.split(b"#")[0].split()
    if not tokens:
        return None
    label, entries = twin_number(tokens[0]), {}
    if tokens[1:2] and tokens[1].startswith(b"qid:"):
        del tokens[1]
    for token in tokens[1:]:
        index, colon, value = token.partition(b":")
        if not colon or not INDEX.fullmatch(index):
            raise LineError(token)
        number = twin_number(value)
        if not least <= int(index) <= most or int(index) in entries:
            raise LineError(token)
        entries[int(index)] = number
    return label, entries


def twin(data, zero_based="auto", n_features=None, skip=False):
    """Rows as (label, sorted (column, value) pairs), lines at fault (all, or the first)."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    least = 0 if zero_based else 1
    most = LARGEST
    if n_features is not None:
        most = n_features - 1 if zero_based is True else n_features
    rows, wrong = [], []
    for number, line in enumerate(lines, start=1):
        try:
            row = twin_row(line, least, most)
        except LineError:
            wrong.append(number)
            if not skip:
                return rows, wrong
            continue
        if row is not None:
            rows.append(row)
    base = least
    if zero_based == "auto":
        base = 0 if any(0 in entries for _, entries in rows) else 1
        if base == 0 and n_features is not None and any(n_features in entries for _, entries in rows):
            return twin(data, True, n_features, skip)
    return [(label, sorted((j - base, v) for j, v in entries.items())) for label, entries in rows], wrong


def as_rows(X, labels, index=np.int32):
    """The same of a matrix, after checking that it is canonical."""
    assert X.dtype == np.float64
    assert X.indices.dtype == X.indptr.dtype == index
    ends = X.indptr.tolist()
    assert ends[0] == 0
    assert ends[-1] == X.data.size == X.indices.size
    rows = []
    for label, a, b in zip(np.asarray(labels).tolist(), ends[:-1], ends[1:], strict=True):
        columns = X.indices[a:b].tolist()
        assert all(0 <= j < X.shape[1] for j in columns)
        assert all(j < k for j, k in pairwise(columns))
        rows.append((label, list(zip(columns, X.data[a:b].tolist(), strict=True))))
    return rows


def same(rows, others):
    """Equal to the last bit, the sign of zero included."""
    return repr(rows) == repr(others)


# -- files ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("libsvm") / "rows.libsvm"


def write(path, data):
    path.unlink(missing_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def small(piece=7, text=40):
    """Pieces and chunks of a few bytes, so that short files have many."""
    return mock.patch.multiple(parsing, _PIECE=piece, _MANY=3), mock.patch.multiple(reading, _ROW=1, _TEXT=text)


def raw(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MbaucWarning)
        return read_libsvm(path, labels="raw", **options)


VALUES = st.one_of(
    st.just("1"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-100, 100).map("{:.6g}".format),
    st.integers(-999, 999).map("{:+d}".format),
    st.sampled_from([".5", "5.", "-.5e+3", "1E-2", "0", "-0.0", "00012", "1e-400", "123456789012345678901234"]),
)
LABELS = st.sampled_from(["1", "+1", "-1", "0", "2.0", "1e0", "-0.5"])
SPACES = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", " \r\n"])
NOTES = st.sampled_from(["", "", "", "# note", "#1:2 3", " # 5:5", "#"])


@st.composite
def texts(draw, first=1, ordered=True, with_queries=False, largest=40):
    """Valid files in all their variants."""
    parts = []
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.integers(0, 5)) == 0:
            parts.append(draw(st.sampled_from(["", " ", "\t", "# comment 1:1", "  #"])) + draw(ENDS))
            continue
        indices = draw(st.lists(st.integers(first, largest), unique=True, max_size=6))
        indices = sorted(indices) if ordered else indices
        tokens = [draw(LABELS)]
        if with_queries and draw(st.booleans()):
            tokens.append("qid:7")
        tokens += [f"{draw(st.sampled_from(['', '', '', '0', '+']))}{j}:{draw(VALUES)}" for j in indices]
        line = draw(st.sampled_from(["", "", " "])) + tokens[0]
        line += "".join(draw(SPACES) + token for token in tokens[1:])
        parts.append(line + draw(NOTES) + draw(ENDS))
    parts += [draw(LABELS) + f" {largest}:1\n", "3\n"]
    text = "".join(parts)
    return text.rstrip("\r\n") if draw(st.booleans()) else text


# -- valid input -----------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.data(), st.sampled_from([0, 1]), st.sampled_from(["auto", True, False]))
def test_equals_scikit_learn(place, data, first, zero_based):
    if zero_based is False:
        first = 1
    text = data.draw(texts(first=first))
    X, y = raw(write(place, text), zero_based=zero_based)
    Z, z = load_svmlight_file(io.BytesIO(text.encode()), zero_based=zero_based)
    assert X.shape == Z.shape
    assert same(as_rows(X, y), as_rows(Z, z, index=Z.indptr.dtype))


@given(texts(first=0, ordered=False, with_queries=True), st.sampled_from(["auto", True]))
def test_equals_the_twin_in_any_order_with_queries(place, text, zero_based):
    X, y = raw(write(place, text), zero_based=zero_based)
    rows, wrong = twin(text.encode(), zero_based)
    assert wrong == []
    assert same(as_rows(X, y), rows)


@given(texts(ordered=False), st.integers(1, 60), st.sampled_from([1, 2]), st.integers(1, 9))
def test_pieces_and_threads_do_not_matter(place, text, piece, n_jobs, block_rows):
    write(place, text)
    expected = twin(text.encode())[0]
    X, y = raw(place, n_jobs=1)
    assert same(as_rows(X, y), expected)
    pieces, chunks = small(piece, text=2 * piece)
    with pieces, chunks:
        X, y = raw(place, n_jobs=n_jobs)
        assert same(as_rows(X, y), expected)
        source = LibsvmSource(place, positive=3, block_rows=block_rows, n_jobs=n_jobs)
        blocks = list(source)
    assert all(1 <= block.X.shape[0] <= block_rows and block.weight is None for block in blocks)
    rows = [row for block in blocks for row in as_rows(block.X, block.y)]
    assert same(rows, [(int(label == 3), entries) for label, entries in expected])
    assert source.n_rows == len(expected)
    assert source.n_features == X.shape[1]


def test_variants_one_by_one(place):
    text = (
        b"\xef\xbb\xbf# made by hand\r\n"
        b"\r\n"
        b"+1 1:1 2:1\t3:1\r\n"
        b"-1   1:.5  \t 4:5. # 9:9\n"
        b"-1\n"
        b"   \n"
        b"1.0 2:-1.5e-3#x\n"
        b"-1 qid:3 +2:+7 04:1\n"
        b"-1e0\t4:0"
    )
    with pytest.warns(MbaucWarning, match="qid"):
        X, y = read_libsvm(write(place, text))
    assert y.dtype == np.int8
    np.testing.assert_array_equal(y, [1, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(
        X.toarray(),
        [[1, 1, 1, 0], [0.5, 0, 0, 5], [0, 0, 0, 0], [0, -1.5e-3, 0, 0], [0, 7, 0, 1], [0, 0, 0, 0]],
    )
    assert X.nnz == 3 + 2 + 0 + 1 + 2 + 1, "zeros that are written are kept"
    assert X.has_canonical_format
    X.sum_duplicates()


def test_several_files_in_order_and_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second.gz"
    first.write_text("1 1:1\n0 2:1")
    second.write_bytes(gzip.compress(b"0 3:1\n1 0:4\n"))
    source = LibsvmSource([first, second], block_rows=1)
    assert (source.n_features, source.classes, source.n_rows, source.zero_based) == (4, (0, 1), 4, True)
    expected = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [4, 0, 0, 0]]
    for _ in range(2):
        blocks = list(source)
        assert [type(block) for block in blocks] == [RawBlock] * 4
        np.testing.assert_array_equal(np.vstack([block.X.toarray() for block in blocks]), expected)
        assert [block.y.tolist() for block in blocks] == [[1], [0], [0], [1]]
    X, y = read_libsvm([str(first), str(second)])
    np.testing.assert_array_equal(X.toarray(), expected)
    assert y.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("known", [{}, {"n_features": 2, "zero_based": False, "classes": (0, 1)}])
def test_queries_are_warned_of_once(place, known):
    write(place, "1 qid:1 1:1\n0 qid:1 2:1\n")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        source = LibsvmSource(place, **known, block_rows=1)
        assert len(list(source)) == len(list(source)) == 2
    assert [warning.category for warning in warned] == [MbaucWarning]
    assert "qid" in str(warned[0].message)


def test_two_iterations_at_once_do_not_disturb_each_other(place):
    source = LibsvmSource(write(place, "1 1:1\n0 2:1\n1 3:1\n"), block_rows=1)
    pairs = [(a.X.indices.tolist(), b.X.indices.tolist()) for a, b in zip(source, source, strict=True)]
    assert pairs == [([j], [j]) for j in range(3)]


def test_no_first_pass_where_all_is_given(place):
    write(place, "1 1:1\n-1 2:1\n")
    with mock.patch.object(LibsvmSource, "_scan", side_effect=AssertionError("read")):
        source = LibsvmSource(place, n_features=5, zero_based=False, classes=(-1, 1))
    assert (source.n_rows, source.n_features, source.classes) == (None, 5, (-1, 1))
    (block,) = source
    assert block.X.shape == (2, 5)


def test_blocks_reach_moments(place, rng):
    X, y = rng.integers(0, 3, (300, 5)), rng.random(300) < 0.3
    lines = [
        f"{'yes' if label else 'no'} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, start=1)) + "\n"
        for row, label in zip(X, y, strict=True)
    ]
    source = LibsvmSource(write(place, "".join(lines)), classes=("no", "yes"), block_rows=64)
    assert source.classes == ("no", "yes")
    moments, expected = PairMoments.from_blocks(source), PairMoments.from_arrays(X.astype(float), y)
    np.testing.assert_allclose(moments.mean_difference, expected.mean_difference, rtol=1e-11)
    np.testing.assert_allclose(moments.second_moment, expected.second_moment, rtol=1e-11)


# -- labels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "options", "classes", "y"),
    [
        (["+1", "-1", "1.0"], {}, (-1, 1), [1, 0, 1]),
        (["2", "1", "2"], {}, (1, 2), [1, 0, 1]),
        (["0.5", "-0.5", "0.5"], {}, (-0.5, 0.5), [1, 0, 1]),
        (["2", "1", "2"], {"positive": 1}, (2, 1), [0, 1, 0]),
        (["2", "1", "2"], {"classes": (2, 1)}, (2, 1), [0, 1, 0]),
        (["2", "1", "2"], {"classes": np.array([2.0, 1.0])}, (2, 1), [0, 1, 0]),
        (["1", "1", "1"], {"classes": (0, 1)}, (0, 1), [1, 1, 1]),
        (["7", "2", "9", "4"], {"positive": {2, 7}}, ((4, 9), (2, 7)), [1, 1, 0, 0]),
        (["7", "2", "9", "4"], {"positive": 4}, ((2, 7, 9), 4), [0, 0, 0, 1]),
        (["7", "2", "9", "4"], {"positive": np.array([2, 4, 7, 55])}, (9, (2, 4, 7)), [1, 1, 0, 1]),
        (["no", "yes", "no"], {"classes": ("no", "yes")}, ("no", "yes"), [0, 1, 0]),
        (["b", "bb", "bbb#"], {"classes": ("bbb", "b")}, None, None),
        (["<=50K", ">50K"], {"classes": ("<=50K", ">50K")}, ("<=50K", ">50K"), [0, 1]),
        (["né", "né"], {"classes": ("né", "mort")}, ("né", "mort"), [0, 0]),
    ],
)
def test_labels(place, labels, options, classes, y):
    write(place, "".join(f"{label} 1:1\n" for label in labels))
    if classes is None:
        with pytest.raises(ValueError, match=r"line 2: expected the label 'bbb' or 'b', got 'bb'\."):
            LibsvmSource(place, **options)
        return
    source = LibsvmSource(place, **options)
    assert source.classes == classes
    assert [type(label) for label in source.classes] == [type(label) for label in classes]
    (block,) = source
    assert block.y.tolist() == y == read_libsvm(place, **options)[1].tolist()
    assert block.y.dtype == np.int8


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "1 1:1\n\n2 1:1\n1 1:1\n3 1:1\n",
            {},
            r"line 5: expected the label 1 or 2 as in the rows before, got a third one, 3\. .*positive=3.*"
            r"3 rows read before it",
        ),
        ("1 1:1\n1 1:1\n", {}, r"all rows have the label 1; two labels are needed.*classes="),
        ("1 1:1\n2 1:1\n", {"positive": 5}, r"no label is among the positive ones \(5\); the labels are 1, 2"),
        ("1 1:1\n2 1:1\n", {"positive": {1, 2, 3}}, r"all labels are among the positive ones \(1, 2, 3\)"),
        ("1 1:1\n2 1:1\n", {"classes": (1, 3)}, r"line 2: expected the label 1 or 3, got '2'\. 1 rows read"),
        ("1 1:1\n2 1:1\n", {"classes": ("1", "x")}, r"line 2: expected the label '1' or 'x', got '2'"),
        ("yes 1:1\n", {}, r"line 1: expected a number as label, got 'yes'.*classes=\(negative, positive\)"),
        ("1 1:1\n", {"classes": (1, 1)}, "two different numbers"),
        ("1 1:1\n", {"classes": (1, "b")}, "two different numbers or two words"),
        ("1 1:1\n", {"classes": "ab"}, "two different numbers or two words"),
        ("1 1:1\n", {"classes": ("a b", "c")}, "words without spaces"),
        ("1 1:1\n", {"classes": (1, np.nan)}, "finite numbers"),
        ("1 1:1\n", {"positive": "yes"}, "finite numbers, got 'yes'. For text labels name both"),
        ("1 1:1\n", {"positive": []}, "at least one label"),
        ("1 1:1\n", {"positive": 1, "classes": (0, 1)}, "not both"),
        (
            "".join(f"{k} 1:1\n" for k in range(1200)),
            {"positive": 1},
            r"line 1,001: .*more than 1,000 different",
        ),
    ],
)
def test_labels_that_make_no_sense(place, text, options, message):
    write(place, text)
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match=message):
            read(place, **options)


def test_a_third_label_is_found_in_any_piece(place):
    write(place, "1 1:1\n2 1:1\n" * 20 + "# note\n\n7 1:1\n")
    pieces, chunks = small()
    with pieces, chunks:
        for read in (LibsvmSource, read_libsvm):
            with pytest.raises(ValueError, match=r"line 43: .*third one, 7.*\. 40 rows read before it"):
                read(place)


def test_raw_labels_exclude_classes(place):
    with pytest.raises(ValueError, match="leave out classes and positive"):
        read_libsvm(write(place, "1 1:1\n"), labels="raw", positive=1)


# -- faults ----------------------------------------------------------------------------------------------------

FAULTS = [
    ("1 17;1", {}, "expected 'index:value', got '17;1'"),
    ("1 17", {}, "expected 'index:value', got '17'"),
    ("1 17:", {}, "expected 'index:value', got '17:'"),
    ("1 :5", {}, "expected 'index:value', got ':5'"),
    ("1 a:5", {}, "expected 'index:value', got 'a:5'"),
    ("1 1:2:3", {}, "expected 'index:value', got '1:2:3'"),
    ("1 1 :2", {}, "expected 'index:value', got '1'"),
    ("1 1:x", {}, "expected 'index:value', got '1:x'"),
    ("1 1:1_0", {}, "expected 'index:value', got '1:1_0'"),
    ("1 1:0x1", {}, "expected 'index:value', got '1:0x1'"),
    ("1 1.5:1", {}, "expected 'index:value', got '1.5:1'"),
    ("1 1:1,2:1", {}, "expected 'index:value', got '1:1,2:1'"),
    ("1 1:1 qid:3", {}, "expected 'index:value', got 'qid:3'"),
    ("1 qid:3 qid:4", {}, "expected 'index:value', got 'qid:4'"),
    ("1 \x00:1", {}, r"expected 'index:value', got '\x00:1'"),
    (b"1 \xff:1", {}, r"expected 'index:value', got '\\xff:1'"),
    ("1 2:" + "9" * 70 + "x", {}, "expected 'index:value', got '2:" + "9" * 57 + "…'"),
    ("1 -3:1", {}, "expected an index of at least 0, got '-3:1'"),
    ("1 -3:1", {"zero_based": False}, "expected an index of at least 1, got '-3:1'"),
    ("1 0:1", {"zero_based": False}, "expected an index of at least 1, got '0:1'"),
    ("1 2147483648:1", {}, "expected an index of at most 2,147,483,647, got '2147483648:1'"),
    ("1 18446744073709551617:1", {}, "expected an index of at most 2,147,483,647"),
    ("1 99999999999999999999999999:1", {"n_features": 3}, "expected an index of at most 2,147,483,647"),
    ("1 4:1", {"n_features": 3}, "expected an index of at most 3 (n_features=3), got '4:1'"),
    (
        "1 3:1",
        {"n_features": 3, "zero_based": True},
        "expected an index of at most 2 (n_features=3), got '3:1'",
    ),
    ("1 1:nan", {}, "expected a finite value, got '1:nan'"),
    ("1 1:-Inf", {}, "expected a finite value, got '1:-Inf'"),
    ("1 1:INFINITY", {}, "expected a finite value, got '1:INFINITY'"),
    ("1 1:1e309", {}, "expected a value below 1.8e308, got '1:1e309'"),
    ("1 1:-2e308", {}, "expected a value below 1.8e308, got '1:-2e308'"),
    ("1 2:1 2:1", {}, "expected each index once, got 2 twice"),
    ("1 5:1 2:1 3:1 5:2", {}, "expected each index once, got 5 twice"),
    ("1 0:1 0:1", {}, "expected each index once, got 0 twice"),
    ("1 0:1 0:1", {"zero_based": True}, "expected each index once, got 0 twice"),
    ("17:1 18:1", {}, "expected a label before the first 'index:value', got '17:1'"),
    ("nan 1:1", {}, "expected a finite number as label, got 'nan'"),
    ("-inf 1:1", {}, "expected a finite number as label, got '-inf'"),
    ("1e999 1:1", {}, "expected a finite number as label, got '1e999'"),
    ("1,2 1:1", {}, "expected a finite number as label, got '1,2'"),
    ("yes 1:1", {}, "expected a number as label, got 'yes'"),
]


@pytest.mark.parametrize(("line", "options", "message"), FAULTS)
def test_faults_name_file_and_line(place, line, options, message):
    line = line if isinstance(line, bytes) else line.encode()
    write(place, b"1 1:1\n# note\n0 2:1\n\n" + line + b" # trailing\n0 nonsense\n")
    full = f"{place}, line 5: {message}"
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match=re.escape(full)) as caught:
            read(place, **options)
        assert ". 2 rows read before it. " in str(caught.value)

    source = LibsvmSource(place, on_error="skip", **options)
    assert source.skipped.examples[0].startswith(full)
    for _ in range(2):
        (block,) = source
        assert block.y.tolist() == [1, 0]
        assert source.skipped.count == 2
        assert source.skipped.examples[0].startswith(f"{place}, line 5: expected ")
        assert source.skipped.examples[1].endswith(
            "line 6: expected 'index:value', got 'nonsense'. 2 rows read before it."
        )
    with pytest.warns(MbaucWarning, match=r"2 lines were left out\. The first: ") as warned:
        X, y = read_libsvm(place, on_error="skip", **options)
    assert full in str(warned[0].message)
    assert X.nnz == y.size == 2


def test_the_message_of_the_style_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clicks.libsvm").write_text("1 1:1\n" * 1203 + "0 3:1 17;1 18:1\n")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        LibsvmSource("clicks.libsvm")
    assert str(caught.value) == (
        "clicks.libsvm, line 1,204: expected 'index:value', got '17;1'. 1,203 rows read before it. "
        "Correct the line, or pass over such lines with on_error='skip'."
    )


def test_the_first_fault_is_reported_whichever_thread_finds_one_first(place):
    lines = ["1 1:1\n"] * 400
    for k in (37, 38, 200, 399):
        lines[k] = "1 x\n"
    write(place, "".join(lines))
    pieces, chunks = small(piece=50, text=1000)
    with pieces, chunks:
        for n_jobs in (1, 2):
            with pytest.raises(ValueError, match=r"line 38: .* 37 rows read before it"):
                raw(place, n_jobs=n_jobs)
            source = LibsvmSource(
                place, on_error="skip", n_jobs=n_jobs, n_features=1, zero_based=False, classes=(0, 1)
            )
            assert sum(block.y.size for block in source) == 396
            assert source.skipped.count == 4
            assert [re.search(r"line (\d+)", each)[1] for each in source.skipped.examples] == [
                "38",
                "39",
                "201",
                "400",
            ]


def test_an_index_that_is_too_large_only_because_the_first_is_0(place):
    write(place, "1 1:1\n0 3:1\n1 0:1\n0 1:1\n")
    message = re.escape("line 2: expected an index of at most 2 (n_features=3)")
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match=message):
            read(place, n_features=3)
        assert read(place, n_features=4) is not None
    source = LibsvmSource(place, n_features=3, on_error="skip")
    assert (source.n_rows, source.skipped.count, source.zero_based) == (3, 1, True)


def test_skipped_lines_do_not_decide_what_an_index_means(place):
    write(place, "1 1:1\n0 0:1 x\n0 2:1\n5 99:1 y\n")
    source = LibsvmSource(place, on_error="skip")
    assert (source.zero_based, source.n_features, source.classes, source.skipped.count) == (False, 2, (0, 1), 2)


@pytest.mark.parametrize("data", [b"", b"\n", b"# nothing\n\r\n  ", bz2.compress(b""), b"\xef\xbb\xbf"])
def test_files_without_rows(tmp_path, data):
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.write_text("1 1:1\n0 1:1\n")
    empty.write_bytes(data)
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match=r"empty has no rows\. Check"):
            read([full, empty])
        with pytest.raises(ValueError, match=r"no rows in .*empty; no lines were left out"):
            read(empty, on_error="skip")
        read([full, empty], on_error="skip")


def test_nothing_but_faults(place):
    with pytest.raises(ValueError, match=r"no rows in .*; 2 lines were left out\. The first: .*line 1"):
        LibsvmSource(write(place, "x\ny\n"), on_error="skip")


def test_rows_without_entries_need_a_width(place):
    write(place, "1\n0\n")
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match="Pass n_features"):
            read(place)
    assert read_libsvm(place, n_features=3)[0].shape == (2, 3)


def test_the_widest_columns(place):
    write(place, f"1 1:1 {LARGEST}:2\n0 2:1\n")
    X, _ = read_libsvm(place)
    assert X.shape == (2, LARGEST)
    assert X.indices.dtype == np.int32
    write(place, f"1 0:1 {LARGEST}:2\n0 2:1\n")
    X, _ = read_libsvm(place)
    assert X.shape == (2, LARGEST + 1)
    assert X.indices.tolist() == [0, LARGEST, 2]
    (block,) = LibsvmSource(place)
    assert block.X.shape == (2, LARGEST + 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, "n_features must be a whole number of at least 1"),
        ({"n_features": 2**31 + 1}, "n_features must be at most 2,147,483,648"),
        ({"zero_based": "yes"}, "zero_based must be True, False or 'auto'"),
        ({"zero_based": 1}, "zero_based must be True, False or 'auto'"),
        ({"on_error": "warn"}, "on_error must be 'stop' or 'skip'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_settings_that_make_no_sense(place, options, message):
    write(place, "1 1:1\n0 1:1\n")
    for read in (LibsvmSource, read_libsvm):
        with pytest.raises(ValueError, match=message):
            read(place, **options)


def test_other_settings_that_make_no_sense(place, tmp_path):
    write(place, "1 1:1\n0 1:1\n")
    with pytest.raises(ValueError, match="block_rows"):
        LibsvmSource(place, block_rows=0)
    with pytest.raises(ValueError, match="labels must be 'binary' or 'raw'"):
        read_libsvm(place, labels="both")
    with pytest.raises(ValueError, match="paths is empty"):
        LibsvmSource([])
    with pytest.raises(ValueError, match="paths must be a path or several"):
        LibsvmSource(3)
    with pytest.raises(FileNotFoundError):
        LibsvmSource(tmp_path / "missing")


# -- arbitrary bytes -----------------------------------------------------------------------------------------


def agrees_with_the_twin(path, data, zero_based, n_features, skip, n_jobs):
    rows, wrong = twin(data, zero_based, n_features, skip)
    options = {"zero_based": zero_based, "n_features": n_features, "n_jobs": n_jobs}
    options["on_error"] = "skip" if skip else "stop"
    write(path, data)
    pieces, chunks = small(piece=20)
    with pieces, chunks:
        if wrong and not skip:
            with pytest.raises(
                ValueError, match=f"line {wrong[0]:,}: expected .* {len(rows)} rows read before it"
            ):
                raw(path, **options)
        elif not rows or (n_features is None and not any(entries for _, entries in rows)):
            with pytest.raises(ValueError, match="no row"):
                raw(path, **options)
        else:
            X, y = raw(path, **options)
            assert same(as_rows(X, y), rows)


OPTIONS = (
    st.sampled_from(["auto", True, False]),
    st.sampled_from([None, 20, 40]),
    st.booleans(),
    st.sampled_from([1, 2]),
)
BYTES = b"0123456789 ::::..+-eE\n\n\t\r#qid1nafx,;\x00\xff"


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(list(BYTES)), max_size=60).map(bytes) | st.binary(max_size=40), *OPTIONS)
@example(b"1 qid:", "auto", None, False, 1)
@example(b"1 qid:7", "auto", 20, False, 1)
@example(b"1 q", "auto", 20, False, 1)
@example(b"1 1:1 +", "auto", 20, False, 1)
@example(b"1 1:1\n2 0:1 20:1", "auto", 20, True, 2)
def test_arbitrary_bytes(place, data, zero_based, n_features, skip, n_jobs):
    assume(archive_kind(io.BytesIO(data)) is None)
    agrees_with_the_twin(place, data, zero_based, n_features, skip, n_jobs)


@given(
    texts(first=0, ordered=False, with_queries=True),
    st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from(["drop", "put", "cut"]), st.sampled_from(list(BYTES))),
        max_size=4,
    ),
    *OPTIONS,
)
@settings(max_examples=300)
def test_valid_files_with_mutations(place, text, mutations, zero_based, n_features, skip, n_jobs):
    data = bytearray(text.encode())
    for where, what, byte in mutations:
        at = int(where * len(data))
        if what == "drop":
            del data[at : at + 1]
        elif what == "put":
            data[at:at] = bytes([byte])
        else:
            del data[at : at + 5]
    agrees_with_the_twin(place, bytes(data), zero_based, n_features, skip, n_jobs)


# -- archives ------------------------------------------------------------------------------------------------

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@given(texts(ordered=False), st.sampled_from(sorted(PACK)), st.integers(1, 4), st.integers(20, 100))
def test_compressed_equals_plain_block_by_block(place, text, kind, block_rows, size):
    archive = place.with_suffix(f".{kind}")
    half = len(text) // 2
    # two archives one after the other are one file
    write(archive, PACK[kind](text[:half].encode()) + PACK[kind](text[half:].encode()))
    write(place, text)
    _, chunks = small(text=size)
    with chunks:
        plain, unpacked = (LibsvmSource(path, positive=3, block_rows=block_rows) for path in (place, archive))
        assert plain.classes == unpacked.classes
        for ours, theirs in zip(plain, unpacked, strict=True):
            assert same(as_rows(ours.X, ours.y), as_rows(theirs.X, theirs.y))
    assert same(as_rows(*raw(place)), as_rows(*raw(archive)))


@pytest.mark.parametrize("kind", sorted(PACK))
def test_archives_cut_short(tmp_path, kind):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(20_000)
    text = "".join(f"{k % 2} {k + 1}:{value!r}\n" for k, value in enumerate(values.tolist()))
    whole = PACK[kind](text.encode())
    path = tmp_path / f"cut.{kind}"
    read = []
    for share in (0.1, 0.6, 0.999):
        path.write_bytes(whole[: int(share * len(whole))])
        message = rf"cut\.{kind} is cut short or damaged after ([0-9,]+) bytes of text .*\. ([0-9,]+) rows read"
        for reader in (LibsvmSource, read_libsvm):
            with pytest.raises(ValueError, match=message) as caught:
                reader(path)
        size, rows = (int(each.replace(",", "")) for each in re.search(message, str(caught.value)).groups())
        assert rows == text[:size].count("\n"), "all whole lines before the cut are read"
        read.append(rows)
    assert read == sorted(read)
    source = LibsvmSource(path, n_features=20_000, zero_based=False, classes=(0, 1))
    blocks = []
    with pytest.raises(ValueError, match="cut short or damaged"):
        blocks.extend(source)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(damaged)
    # gzip finds out at the end only, and then mostly a line makes no sense before
    with pytest.raises(ValueError, match=r"cut short or damaged after|line [0-9,]+: expected"):
        read_libsvm(path)


def test_archives_that_are_not_read(tmp_path):
    path = tmp_path / "rows.zip"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(ValueError, match=r"is a zip archive; .* Unpack it first"):
        read_libsvm(path)


def test_leaving_a_compressed_file_early(tmp_path):
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n0 2:1\n" * 2000))
    _, chunks = small(text=1000)
    with chunks:
        source = LibsvmSource(path, block_rows=10)
        for block in source:
            assert block.y.size == 10
            break
        assert sum(block.y.size for block in source) == 4000


# -- real files ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options", "shape", "classes", "zero_based", "ratio"),
    [
        ("a1a", {"n_features": 123}, (1605, 123), (-1, 1), False, 3.06),
        ("a9a", {}, (32561, 123), (-1, 1), False, 3.15),
        ("w1a.t", {"n_features": 300}, (47272, 300), (-1, 1), False, None),
        ("w1a", {"n_features": 300}, (2477, 300), (-1, 1), False, 33.4),
        ("svmguide3.author.train", {}, (642, 21), (-1, 1), True, 2.82),
        ("mushrooms", {}, (8124, 112), (1, 2), False, 0.93),
        ("usps", {"positive": {3, 8, 10}}, (7291, 256), ((1, 2, 4, 5, 6, 7, 9), (3, 8, 10)), False, 2.61),
        ("news20", {"positive": 1}, (15935, 62061), None, False, 19),
        ("german.numer", {}, (1000, 24), (-1, 1), False, 2.33),
    ],
)
def test_real_files(shared_file, tmp_path, name, options, shape, classes, zero_based, ratio):
    packed, path = shared_file(f"{name}.bz2"), tmp_path / name
    path.write_bytes(bz2.decompress(packed.read_bytes()))  # once for all but the source, since it takes long
    source = LibsvmSource(packed, block_rows=1000, **options)
    assert (source.n_rows, source.n_features, source.zero_based) == (*shape, zero_based)
    assert classes is None or source.classes == classes
    X, y = read_libsvm(path, **options)
    Z, z = load_svmlight_file(str(path), n_features=options.get("n_features"))
    assert X.shape == Z.shape == shape
    np.testing.assert_array_equal(X.indptr, Z.indptr)
    np.testing.assert_array_equal(X.indices, Z.indices)
    assert X.data.tobytes() == Z.data.tobytes()
    positive = options.get("positive", z.max())
    np.testing.assert_array_equal(y, np.isin(z, sorted(positive) if isinstance(positive, set) else positive))
    assert np.concatenate([block.y for block in source]).tolist() == y.tolist()
    assert ratio is None or (1 - y).sum() / y.sum() == pytest.approx(ratio, rel=0.03)


# -- files that change -------------------------------------------------------------------------------------


def test_a_file_that_changes_between_passes_is_an_error(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:1\n0 2:1\n" * 100)
    for change in (lambda: os.truncate(path, 600), lambda: path.write_text("1 2:1\n0 1:1\n" * 100)):
        source = LibsvmSource(path)
        change()
        os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))  # clocks of file systems may be coarse
        with pytest.raises(ValueError, match=r"rows\.libsvm has changed since it was first read"):
            list(source)


@pytest.mark.parametrize("size", [10, 1200])
def test_a_file_that_is_cut_while_it_is_read_is_an_error(tmp_path, size):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:1\n0 2:1\n" * 200_000)
    blocks = iter(LibsvmSource(path, block_rows=1000))
    next(blocks)
    os.truncate(path, size)
    with pytest.raises(ValueError, match=r"rows\.libsvm has changed since it was first read"):
        list(blocks)


def test_a_bomb_without_line_ends_is_refused_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1 << 21)
    path = tmp_path / "bomb.libsvm.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n0 1:1\n" + bytes(1 << 26), compresslevel=1))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bomb.*, line 3: it is longer than 2 MiB\. 2 rows read before it\."):
        LibsvmSource(path, block_rows=1000)
    assert tracemalloc.get_traced_memory()[1] < 5 * lines.LONGEST
    tracemalloc.stop()
