"""Text that is parsed in threads gives the rows, the places and the messages of text that is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow.csv", reason="tables are read with pyarrow")

from mbauc.readers import TableSource
from mbauc.readers.table.faults import SkippedRows
from mbauc.readers.table.files import csv_table, plain_lines
from mbauc.readers.table.files.csv_table import CsvTable
from mbauc.readers.table.files.paths import TableFile


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of some lines each."""
    monkeypatch.setattr(csv_table, "_CHUNK", 1 << 9)


def read_all(path, columns=("y", "a", "b"), numbers=()):
    """All rows with their lines, and what was reported."""
    skipped = SkippedRows()
    rows = []
    for piece in CsvTable(TableFile(path)).pieces(columns, skipped.note, numbers=numbers):
        columns_of = [piece.table[name].to_pylist() for name in columns]
        rows += list(zip(piece.places.tolist(), *columns_of, strict=True))
    return rows, skipped


def read_slowly(path, **options):
    """The same, by the parser that takes any text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_lines.PlainLines, "tables", lambda self: (table for table in ()))
        return read_all(path, **options)


def write(folder, lines, end="\n", last=True):
    path = folder / "rows.csv"
    path.write_bytes((end.join(["y,a,b", *lines]) + end * last).encode())
    return path


PLAIN = [f"{k % 2},{k}.5,{k}" for k in range(400)]
ODD = {
    "quotes": '1,"2.5",3',
    "a line break in quotes": '1,"2\n5",3',
    "too many fields": "1,2,3,4",
    "too few fields": "1",
    "an empty line": "",
    "no values": ",,",
    "missing": "1,,",
    "spelled missing": "1,NA,?",
    "no number": "1,word,3",
    "infinite": "1,inf,1e999",
    "spaces": " 1, 2.5 ,3",
    "other letters": "1,naïve,3",
    "a sign": "1,+2.5,-3",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("place", [0, 1, 333, 400])
def test_rows_lines_and_reports_are_the_same(tmp_path, small_chunks, end, last, odd, place):
    lines = [*PLAIN[:place], odd, *PLAIN[place:]]
    path = write(tmp_path, lines, end, last)
    found, expected = read_all(path), read_slowly(path)
    assert found[0] == expected[0]
    assert found[1] == expected[1]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_rows_are_the_same_if_few_columns_are_read(tmp_path, small_chunks, odd):
    path = write(tmp_path, [*PLAIN[:300], odd, *PLAIN[300:]])
    for columns in (("b",), ("a", "y")):
        found, expected = read_all(path, columns), read_slowly(path, columns=columns)
        assert found[0] == expected[0]
        assert found[1] == expected[1]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("block_rows", [64, 10_000])
def test_blocks_and_messages_are_the_same(tmp_path, small_chunks, odd, block_rows):
    """Numbers that are parsed as such, in blocks of which one has both, are those of their texts."""
    path = write(tmp_path, [*PLAIN[:300], odd, *PLAIN[300:]])
    options = {"label": "y", "types": {"a": "numeric", "b": "numeric"}, "block_rows": block_rows}

    def read(on_error):
        try:
            source = TableSource(path, on_error=on_error, **options)
        except ValueError as error:
            return str(error)
        blocks = list(source)
        return [block.X.tolist() for block in blocks], [block.y.tolist() for block in blocks], source.skipped

    for on_error in ("stop", "skip"):
        found = read(on_error)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plain_lines.PlainLines, "tables", lambda self: (table for table in ()))
            assert found == read(on_error)


def test_plain_lines_are_parsed_as_numbers(tmp_path, small_chunks):
    path = write(tmp_path, PLAIN)
    rows, _ = read_all(path, numbers={"a", "b"})
    assert rows == [(k + 2, f"{k % 2}", k + 0.5, float(k)) for k in range(400)]


def test_lines_after_an_odd_one_keep_their_places(tmp_path, small_chunks):
    path = write(tmp_path, [*PLAIN[:200], "1,2", *PLAIN[200:], "1,2,3,4"])
    rows, skipped = read_all(path)
    assert [row[0] for row in rows] == [*range(2, 202), *range(203, 403)]
    assert [message.split(":")[0].split(", ")[1] for message in skipped.messages] == ["line 202", "line 403"]


def test_a_faulty_line_is_told_after_faults_of_rows_before_it(tmp_path, small_chunks):
    lines = list(PLAIN)
    lines[10], lines[250] = ",1.5,2", "1,2"
    path = write(tmp_path, lines)
    options = {"label": "y", "block_rows": 64, "types": {"a": "numeric", "b": "numeric"}}
    other = tmp_path / "other.csv"
    other.write_text("\n".join(["y,a,b", *PLAIN]))
    with pytest.raises(ValueError, match="line 12: expected a label"):
        list(TableSource(other, **options).on(path))
    source = TableSource(path, on_error="skip", **options)
    places = [message.split(": ")[0].rpartition(", ")[2] for message in source.skipped.messages]
    assert places == ["line 12", "line 252"]


def test_a_mark_before_the_header_and_a_file_without_one(tmp_path, small_chunks):
    path = write(tmp_path, PLAIN)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_all(path) == read_slowly(path)
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(PLAIN).encode())
    table = CsvTable(TableFile(path), names=["y", "a", "b"])
    rows = [place for piece in table.pieces(["y"], SkippedRows().note) for place in piece.places.tolist()]
    assert rows == list(range(1, 401))


field = st.sampled_from(
    ["1", "2.5", "-3e2", "", "NA", " 7", "x", "é", "0.1", "1e400", '"4"', "nan", ".5", "+1"]
)


@given(st.lists(st.tuples(st.sampled_from("01"), field, field), min_size=1, max_size=40), st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_any_fields_are_read_alike(tmp_path_factory, rows, block_rows):
    path = write(
        tmp_path_factory.mktemp("csv"), [",".join(row) for row in [("0", "1", "2"), ("1", "2", "1"), *rows]]
    )
    options = {"label": "y", "types": {"a": "numeric", "b": "numeric"}, "on_error": "skip"}

    def read():
        source = TableSource(path, block_rows=block_rows, **options)
        blocks = list(source)
        return np.concatenate([block.X for block in blocks]), source.skipped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_table, "_CHUNK", 64)
        found, skipped = read()
        patch.setattr(plain_lines.PlainLines, "tables", lambda self: (table for table in ()))
        expected, skipped_slowly = read()
    assert (found == expected).all()
    assert skipped == skipped_slowly
