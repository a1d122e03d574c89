"""Lines of text tables: long ones, others than UTF-8, and first lines of all kinds."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.readers import TableSource

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def write(tmp_path):
    def written(data, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return written


# -- long lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [140_000, 1_100_000])
def test_a_header_of_any_length(write, length):
    # two columns with long names, so that the number of columns costs nothing here
    long = "f" * length
    path = write(f"y,{long}\n" + "0,0.5\n1,1.5\n" * 10)
    source = TableSource(path, label="y")
    assert source.feature_names == [long]
    unlabelled = TableSource(path, label=None, encoding=source.encoding)
    assert sum(rows.numbers.size for rows in unlabelled.score_rows(np.ones(1))) == 20


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_long_text_in_a_row(write, quote):
    long = "ab" * 70_000
    path = write("y,s\n0,a\n1,b\n0,a\n1," + quote + long + quote + "\n")
    source = TableSource(path, label="y", encode="onehot")
    assert source.feature_names == ["s=a", f"s={long}", "s=b"]


def test_a_first_line_without_an_end(write, monkeypatch):
    from mbauc.readers.table.files import csv_head

    monkeypatch.setattr(csv_head, "_LONGEST_HEADER", 1 << 21)
    with pytest.raises(ValueError, match=r"t\.csv: the first line is longer than 2 MiB"):
        TableSource(write("y,x," * (1 << 20)), label="y")


# -- other bytes than UTF-8 --------------------------------------------------------------------------------


def test_rows_that_are_not_utf_8(write):
    lines = [f"{k % 2},a{k % 3},{k}.5".encode() for k in range(40_000)]
    lines[30_000] = b"1,caf\xe9,5.5"
    lines[30_005] = b"1,a2,5.5,caf\xe9"
    lines[30_010] = b"1,a2"
    lines[35_000] = b"1,\xff\xfe,5.5"
    path = write(b"y,s,x\n" + b"\n".join(lines) + b"\n")
    with pytest.raises(
        ValueError, match=r"t\.csv, line 30,002: expected UTF-8 in column 's', got 'caf\\xe9'"
    ) as no:
        list(TableSource(path, label="y"))
    assert "iconv" in str(no.value)
    assert "on_error='skip'" in str(no.value)
    source = TableSource(path, label="y", on_error="skip")
    assert sum(block.y.size for block in source) == 39_996
    assert source.skipped.reasons == {"bytes that are not UTF-8": 2, "wrong number of fields": 2}
    assert [message.split(": ")[0].split("line ")[1] for message in source.skipped.messages] == [
        "30,002", "30,007", "30,012", "35,002",
    ]  # fmt: skip
    assert r"expected 3 fields, got 4: '1,a2,5.5,caf\\xe9'" in source.skipped.messages[1]
    unlabelled = TableSource(path, label=None, encoding=source.encoding, on_error="skip")
    blocks = unlabelled.score_rows(np.ones(source.n_features))
    numbers = [n for rows in blocks for n in rows.numbers.tolist()]
    assert sorted(set(range(40_000)) - set(numbers)) == [30_000, 30_005, 30_010, 35_000]


def test_nothing_is_written_on_standard_error(write, capfd):
    path = write(b"y,s\n0,a\n1,b,caf\xe9\n1,b\n")
    with pytest.raises(ValueError, match=r"line 3: expected 2 fields, got 3: '1,b,caf\\\\xe9'"):
        list(TableSource(path, label="y"))
    assert sum(block.y.size for block in TableSource(path, label="y", on_error="skip")) == 2
    assert capfd.readouterr().err == ""


def test_other_bytes_do_not_matter_in_columns_that_are_not_used(write):
    path = write(b"y,z,x\n" + b"0,a,1.5\n1,b,2.5\n" * 300 + b"1,\xfc,2.5\n")
    assert sum(block.y.size for block in TableSource(path, label="y", ignore=["z"])) == 601
    with pytest.raises(ValueError, match=r"line 602: expected UTF-8 in column 'z', got '\\xfc'"):
        list(TableSource(path, label="y"))


@given(st.binary(max_size=40), st.integers(1, 7))
def test_any_bytes_become_utf_8_and_valid_ones_stay(data, size):
    from mbauc.readers.table.files.utf8_stream import Seen, Utf8Stream, show_bytes

    seen = Seen()
    stream = Utf8Stream(io.BytesIO(data), seen)
    parts = list(iter(lambda: stream.read(size), b""))
    # Arrow would take a shorter part for a block of whole lines
    assert all(len(part) == size for part in parts[:-1])
    assert len(parts[-1] if parts else b"") <= size
    text = b"".join(parts).decode()
    try:
        assert text == data.decode()
        assert not seen.marked
    except UnicodeDecodeError:
        assert seen.marked
        assert show_bytes(text) == data.decode("utf-8", "backslashreplace")
    assert seen.end == data


@pytest.mark.parametrize("chunk", range(60, 72))
def test_letters_that_are_cut_in_two_stay_whole(write, chunk, monkeypatch):
    from mbauc.readers.table.files import csv_table

    monkeypatch.setattr(csv_table, "_CHUNK", chunk)
    path = write("y,s\n" + "0,ä€😀\n1,ü\n" * 100 + "1,€😀ü\n")
    source = TableSource(path, label="y", encode="onehot")
    assert source.feature_names == ["s=ä€😀", "s=ü", "s=€😀ü"]
    assert sum(block.y.size for block in source) == 201
    path = write(("y,s\n" + "0,ä€😀\n1,ü\n" * 100).encode() + b"1,\xfc\n" * 50)
    source = TableSource(path, label="y", encode="onehot", on_error="skip")
    assert sum(block.y.size for block in source) == 200
    assert source.skipped.count == 50


def test_parquet_bytes_that_are_not_utf_8(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"y": [0, 1], "x": [1.5, 2.5], "blob": [b"\xff", b"\xfe"]}), path)
    with pytest.raises(
        ValueError, match=r"t\.parquet: column 'blob' holds bytes that are not UTF-8.*ignore=\['blob'\]"
    ):
        TableSource(path, label="y")
    assert TableSource(path, label="y", ignore=["blob"]).feature_names == ["x"]


# -- first lines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n\n", b"\xef\xbb\xbf  \n"])
def test_a_byte_order_mark_alone_is_an_empty_file(write, data):
    with pytest.raises(ValueError, match=r"t\.csv is empty; expected a header line and rows"):
        TableSource(write(data), label="y")


def test_line_ends_that_are_carriage_returns_alone(write):
    source = TableSource(write("y,x\r" + "0,1.5\r1,2.5\r" * 500), label="y")
    assert (source.about_rows, sum(block.y.size for block in source)) == (1000, 1000)


def read(path, **how):
    source = TableSource(path, label="y", on_error="skip", **how)
    rows = [(block.y.tolist(), block.X.toarray().tolist()) for block in source]
    return source.feature_names, rows, source.skipped.count, str(source.skipped)


def test_a_first_line_that_names_the_separator_is_passed_over(write):
    body = "y;a|b;c\n" + "0;1.5;x\n1;2.5;y\n" * 40
    expected = read(write(body), delimiter=";")
    for line in ("sep=;\n", "SEP=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"):
        assert read(write(line + body)) == read(write(line + body), delimiter=";") == expected, line
    headless = write("sep=:\n" + "0:1.5\n1:2.5\n" * 40)
    source = TableSource(headless, label="c1", names="auto")
    assert (source.names, sum(block.y.size for block in source)) == (["c1", "c2"], 80)
    with pytest.raises(ValueError, match=r"t\.csv, line 4: expected 2 fields, got 1"):
        list(TableSource(write("sep=;\ny;a\n0;1.5\n1\n"), label="y"))
    with pytest.raises(ValueError, match=r"t\.csv is empty; expected a header line and rows"):
        TableSource(write("sep=;\n"), label="y")
    names = TableSource(write("sep=,x\n" + "0,1\n1,2\n" * 9), label="sep=")  # names of columns
    assert names.feature_names == ["x"]


def test_files_without_names_are_named_by_counting(write):
    first, second = write("0,1.5,a\n1,2.5,b\n", "a.csv"), write("1,2.5,b\n0,1.5,a\n", "b.csv")
    source = TableSource([first, second], label="c1", names="auto", encode="onehot")
    assert source.names == ["c1", "c2", "c3"]
    assert source.feature_names == ["c2", "c3=a", "c3=b"]
    assert next(iter(source.on(second))).y.tolist() == [1, 0]
    with pytest.raises(ValueError, match="names must be a list of names, or 'auto', got 'automatic'"):
        TableSource(first, label="c1", names="automatic")
    with pytest.raises(ValueError, match=r"c\.csv, line 1: expected 3 fields, one for each of names, got 2"):
        TableSource([first, write("1,2.5\n", "c.csv")], label="c1", names="auto")


@given(
    st.lists(st.lists(st.text('a,;"\n\r é', max_size=4), min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from(",;"),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_records_are_those_of_the_standard_library(table, delimiter, end):
    from mbauc.readers.table.files.csv_head import records

    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(table)
    found = list(records(text.getvalue(), delimiter))
    reader = csv.reader(io.StringIO(text.getvalue(), newline=""), delimiter=delimiter)
    expected = [(row, reader.line_num) for row in reader if row and row != [""]]
    assert [(record.fields, record.lines) for record in found] == expected
    ends = [record.end for record in found]
    assert ends == sorted(ends)
    assert not text.getvalue()[ends[-1] if ends else 0 :].strip('\r\n"')


def test_lines_of_empty_quotes_are_told(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text('""\n""\n')
    with pytest.raises(ValueError, match=r"quotes\.csv"):
        TableSource(path, label="y")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(write, encoding):
    mark = "" if encoding == "utf-16" else "\ufeff"
    path = write((mark + "y,x\n0,1.5\n1,2.5\n").encode(encoding))
    with pytest.raises(ValueError, match=r"got UTF-16\. Convert the file first \(iconv -f utf-16 -t utf-8\)"):
        TableSource(path, label="y")
