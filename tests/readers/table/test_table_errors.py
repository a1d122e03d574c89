"""What is said about tables that cannot be read, and what is left out where that is wanted."""

import bz2
import codecs
import gzip
import lzma
import os
import re
import threading
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from mbauc import PairMoments
from mbauc.readers import TableSource
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.number_texts import MISSING_NUMBERS

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def write(tmp_path):
    def written(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
        return path

    return written


def read(path, **how):
    return list(TableSource(path, label="click", **how))


# -- labels ------------------------------------------------------------------------------------------------


def test_a_label_column_that_is_not_there(write):
    with pytest.raises(
        ValueError,
        match=r"t\.csv: there is no column for label 'click'; its 2 columns are 'clicks', 'x'.*mean 'clicks'",
    ):
        read(write("clicks,x\n0,1.5\n"))


def test_a_part_of_the_name_of_the_label_column_is_enough_for_advice(write):
    with pytest.raises(ValueError, match=r"no column for label 'click'.*mean 'first.click.of.the.month'\?"):
        read(write("first.click.of.the.month,x\n0,1.5\n"))
    with pytest.raises(ValueError, match="no column for weight 'x'") as caught:
        read(write("click,a_column_of_extras\n0,1.5\n"), weight="x")
    assert "Did you mean" not in str(caught.value)


def test_a_separator_that_separates_nothing(write):
    with pytest.raises(ValueError, match=r"its only column is 'click,x'\. Is delimiter right\?"):
        read(write("click,x\n0,1.5\n"), delimiter=";")


def test_a_third_label(write):
    with pytest.raises(
        ValueError, match=r"t\.csv, line 4: a third label 2 in column 'click', after 0, 1; .*positive=2"
    ):
        read(write("click,x\n0,1.5\n1,2.5\n2,3.5\n"))
    late = "click,x,s\n" + "0,1.5,a\n1,2.5,b\n" * 30_000 + "2,3.5,a\n"
    with pytest.raises(ValueError, match=r"line 60,002: expected the label 0 or 1 in column 'click', got 2"):
        read(write(late), scale=None)
    with pytest.raises(ValueError, match=r"line 60,002: a third label 2"):
        read(write(late), encode="onehot")


def test_one_class_only(write):
    with pytest.raises(ValueError, match=r"t\.csv: column 'click' has one class only \(0\)"):
        read(write("click,x\n0,1.5\n0,2.5\n"))


def test_a_positive_label_that_never_occurs(write):
    with pytest.raises(
        ValueError, match=r"expected the label 'yes' in column 'click', but it never occurs; .* 0, 1"
    ):
        read(write("click,x\n0,1.5\n1,2.5\n"), positive="yes")
    with pytest.raises(ValueError, match="positive must be a label or a collection of labels, got ''"):
        read(write("click,x\n0,1.5\n1,2.5\n"), positive="")


def test_labels_that_mix_numbers_and_texts(write):
    with pytest.raises(ValueError, match=r"column 'click' mixes numbers and texts \(0, 'yes'\)"):
        read(write("click,x\n0,1.5\nyes,2.5\n"))


def test_a_missing_label(write):
    path = write("click,x\n0,1.5\n1,2.5\n,3.5\n1,4.5\n")
    with pytest.raises(ValueError, match=r"t\.csv, line 4: expected a label in column 'click', got none"):
        read(path)
    source = TableSource(path, label="click", on_error="skip", scale=None)
    assert np.concatenate([block.X[:, 0] for block in source]).tolist() == [1.5, 2.5, 4.5]
    assert source.skipped.count == 1
    assert source.skipped.reasons == {"no label": 1}
    assert "line 4" in source.skipped.messages[0]
    assert str(source.skipped).startswith("1 row was left out: 1 with no label. The first: ")
    table = pa.table({"click": [0, 1, None], "x": [1.5, 2.5, 3.5]})
    parquet.write_table(table, path.with_suffix(".parquet"))
    with pytest.raises(ValueError, match=r"t\.parquet, row 3: expected a label"):
        read(path.with_suffix(".parquet"))


# -- rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"), [("click,x\n", "there are no rows"), ("", "is empty"), ("\n\n", "is empty")]
)
def test_no_rows(write, text, message):
    with pytest.raises(ValueError, match=message):
        read(write(text))


def test_only_rows_that_cannot_be_used(write):
    with pytest.raises(
        ValueError, match=r"there are no rows that can be used. 2 rows were left out: 2 with no label"
    ):
        read(write("click,x\n,1.5\n,2.5\n"), on_error="skip")


def test_a_line_with_the_wrong_number_of_fields(write):
    path = write("click,x,s\n0,1.5,a\n\n1,2.5\n1,2.5,b\n0,3.5,c,d\n0,4.5,\n")
    with pytest.raises(ValueError, match=r"t\.csv, line 4: expected 3 fields, got 2: '1,2.5'"):
        read(path)
    source = TableSource(path, label="click", on_error="skip", encode="onehot", scale=None)
    (block,) = source
    assert block.X[:, 0].tolist() == [1.5, 2.5, 4.5]
    assert source.skipped.reasons == {"wrong number of fields": 2}
    assert [message.split(":")[0].rsplit(" ", 1)[1] for message in source.skipped.messages] == ["4", "6"]
    list(source)
    assert source.skipped.count == 2  # of the latest pass, not of all


def test_lines_are_numbered_behind_skipped_ones(write):
    path = write("click,x\n0,1.5\n1\n1\n\n1,2.5\n0,x\n")
    source = TableSource(path, label="click", on_error="skip", types={"x": "numeric"})
    assert [m.split(": ")[0].split("line ")[1] for m in source.skipped.messages] == ["3", "4", "7"]
    path = write("0,1.5\n1,2.5\n0\n")
    with pytest.raises(ValueError, match="line 3: expected 2 fields, got 1"):
        read(path, names=["click", "x"])


def test_many_faulty_lines_far_into_a_file(write):
    good = "0,1.5\n1,2.5\n" * 250_000
    lines = good.splitlines(keepends=True)
    for place in (10, 399_990, 399_991, 499_990):
        lines[place] = "1\n"
    lines[499_995] = "1,abc\n"
    source = TableSource(write("click,x\n" + "".join(lines)), label="click", on_error="skip", block_rows=1000)
    assert sum(block.y.size for block in source) == 499_995
    places = [int(m.split(": ")[0].split("line ")[1].replace(",", "")) for m in source.skipped.messages]
    assert places == [12, 399_992, 399_993, 499_992, 499_997]


def test_a_quote_that_is_never_closed(write):
    with pytest.raises(ValueError, match=r"line 3: expected 2 fields.*A quote that is never closed"):
        read(write('click,x\n0,a\n"1,b\n0,a\n'))
    for end in ("\n", ""):
        path = write('click,s,x\n0,b,a\n1,c,"b\n0,b,a\n1,c,d' + end)
        for ignore in ([], ["x"]):
            with pytest.raises(
                ValueError, match="line 3: a quote is opened and never closed, so that all lines below"
            ):
                read(path, ignore=ignore)
    with pytest.raises(ValueError, match="after line 1: expected lines of at most 4 MiB"):
        read(write('click,x\n0,"a' + "\n0,a" * 4_000_000))
    assert len(read(write('click,x\n0,a\n1,"b\nc, d"\n'), hash_dim=4)) == 1


def test_a_type_that_changes_later(write):
    path = write("click,x\n" + "0,1.5\n1,2.5\n" * 30_000 + "1,about 3\n")
    with pytest.raises(
        ValueError,
        match=r"t\.csv, line 60,002: expected a finite number in column 'x', got 'about 3'. "
        r"Pass types=\{'x': 'category'\}",
    ):
        read(path)
    source = TableSource(path, label="click", on_error="skip")
    assert sum(block.y.size for block in source) == 60_000
    assert source.skipped.reasons == {"no number in 'x'": 1}
    source = TableSource(path, label="click", types={"x": "category"}, encode="onehot")
    assert source.feature_names == ["x=1.5", "x=2.5", "x=about 3"]


def test_infinite_numbers(write):
    with pytest.raises(ValueError, match="line 3: expected a finite number in column 'x', got 'inf'"):
        read(write("click,x\n0,1.5\n1,inf\n"), types={"x": "numeric"})


def test_a_time_that_is_none(write):
    path = write("click,t\n0,2014-10-21\n1,2014-10-22\n" * 30_000 + "1,soon\n")
    path.write_text("click,t\n" + "0,2014-10-21\n1,2014-10-22\n" * 30_000 + "1,soon\n")
    with pytest.raises(ValueError, match="line 60,002: expected a time in column 't', got 'soon'"):
        read(path)


def test_weights(write):
    path = write("click,x,w\n0,1.5,1\n1,2.5,-2\n")
    with pytest.raises(ValueError, match="line 3: expected a weight of at least 0 in column 'w', got '-2'"):
        read(path, weight="w")
    with pytest.raises(ValueError, match="no column for weight 'weight'"):
        read(path, weight="weight")
    path = write("click;x;w\n0;1.5;1\n1;2.5;2,5\n")
    with pytest.raises(ValueError, match=r"in column 'w', got '2,5'\. Write it with a decimal point\."):
        read(path, weight="w")
    table = pa.table({"click": [0, 1], "x": [1.5, 2.5], "w": [["a"], ["b"]]})
    parquet.write_table(table, path.with_suffix(".parquet"))
    with pytest.raises(ValueError, match=r"expected numbers in the weight column 'w', got list"):
        read(path.with_suffix(".parquet"), weight="w")


def test_the_first_faulty_row_is_told_whatever_the_column(write):
    path = write("click,x,z\n0,1.5,1.5\n1,2.5,b\n,c,2.5\n")
    with pytest.raises(ValueError, match="line 3: expected a finite number in column 'z', got 'b'"):
        read(path, types={"x": "numeric", "z": "numeric"})


# -- files -------------------------------------------------------------------------------------------------


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.csv"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        read(str(tmp_path / "*.csv"))
    with pytest.raises(FileNotFoundError, match="has no table files"):
        read(tmp_path)
    with pytest.raises(ValueError, match="paths is empty"):
        read([])


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_truncated_archive(write, pack):
    rng = np.random.default_rng(0)
    text = "click,x\n" + "".join(f"{k % 2},{x}\n" for k, x in enumerate(rng.random(100_000)))
    packed = pack(text.encode())
    path = write(packed[: len(packed) // 2], "t.csv.packed")
    with pytest.raises(ValueError, match=r"t\.csv\.packed: the compressed file is cut short or damaged"):
        read(path)
    with pytest.raises(ValueError, match="cut short or damaged"):
        read(path, on_error="skip")


def test_damaged_files(write):
    with pytest.raises(ValueError, match=r"t\.csv: the compressed file is"):
        read(write(gzip.compress(b"click,x\n0,1.5\n" * 1000)[:20] + b"\x00" * 100))
    with pytest.raises(ValueError, match=r"t\.parquet"):
        read(write(b"PAR1" + b"\x00" * 100, "t.parquet"))
    with pytest.raises(
        ValueError, match=r"line 3: expected UTF-8 in column 'x', got 'M\\xfcller'. Convert the file"
    ):
        read(write("click,x\n1,b\n0,Müller\n".encode("latin1")))


def test_headers(write):
    with pytest.raises(
        ValueError, match=r"expected names of columns in the first line, got '0', '1\.5', .* pass names="
    ):
        read(write("0,1.5,68fd1e64\n1,2.5,fb936136\n"))
    with pytest.raises(ValueError, match="two columns are named 'x'"):
        read(write("click,x,x\n0,1,2\n"))
    with pytest.raises(ValueError, match="line 1: expected 3 fields, one for each of names, got 2"):
        read(write("0,1.5\n1,2.5\n"), names=["click", "x", "z"])
    with pytest.raises(ValueError, match="cannot tell what separates the columns of 'click x'"):
        read(write("click x\n0 1\n"))
    with pytest.raises(ValueError, match="delimiter must be one character, got ', '"):
        read(write("click,x\n0,1\n"), delimiter=", ")


def test_parquet_without_the_column(tmp_path):
    parquet.write_table(pa.table({"click": [0, 1], "x": [1.5, 2.5], "s": ["a", "b"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"click": [0, 1], "s": ["a", "b"]}), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"a\.parquet: there is no column for label 'klick'.*Did you mean 'click'"
    ):
        TableSource(tmp_path / "a.parquet", label="klick")
    with pytest.raises(
        ValueError, match=r"b\.parquet: there is no column for the feature 'x'; its 2 columns are"
    ):
        read(tmp_path)


def test_files_whose_types_differ(tmp_path):
    parquet.write_table(pa.table({"click": [0, 1], "code": ["007", "a1"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"click": [0, 1], "code": [7, 8]}), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"b\.parquet: expected texts in column 'code', .*got int64. Read it as text"
    ):
        read(tmp_path)
    parquet.write_table(pa.table({"click": [0, 1], "code": [1.5, 2.5]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"click": [0, 1], "code": ["2.5", "b"]}), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"b\.parquet, row 2: expected a finite number in column 'code', got 'b'"
    ):
        read(tmp_path, types={"code": "numeric"})


def test_an_archive_without_a_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("picture.png", b"x")
    with pytest.raises(ValueError, match=r"t\.zip holds no table .* it holds 'picture.png'"):
        read(tmp_path / "t.zip")


@pytest.mark.parametrize("name", ["t.zip", "t.zip/t.csv"])
def test_an_archive_that_is_cut_short(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "click,x\n0,1.5\n1,2.5\n")
    whole = (tmp_path / "t.zip").read_bytes()
    (tmp_path / "t.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"t\.zip: the compressed file is cut short .*Fetch it again"):
        read(tmp_path / name)


def test_a_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        for member in ("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
            archive.writestr(member, "<x/>")
    with pytest.raises(ValueError, match=r"t\.xlsx is an Excel workbook; .* Save the sheet as CSV"):
        read(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook"),
        (b"ARROW1\x00\x00", "a Feather file"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
        (b"\x80\x04\x95", "a pickle"),
        (b'{"click":0,"x":1.5}\n{"click":1,"x":2.5}\n', "JSON"),
        (b'[{"click":0,"x":1.5},{"click":1,"x":2.5}]', "JSON"),
        (b'[\n  {"click":0,"x":1.5},\n {"click":1,"x":2.5}]', "JSON"),
    ],
)
def test_files_of_other_programs_are_called_what_they_are(write, start, kind):
    with pytest.raises(
        ValueError, match=rf"t\.csv is {kind}; expected rows as CSV, TSV or Parquet\."
    ) as caught:
        read(write(start + b"\x00" * 8 if start[0] > 127 else start))
    assert "iconv" not in str(caught.value)


def test_a_column_in_brackets_is_no_json(write):
    assert len(read(write("[x],{y},click\n1.5,2,0\n2.5,3,1\n"))) == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"encode": "label"}, "encode must be 'hash', 'onehot' or 'codes', got 'label'"),
        ({"hash_dim": 1}, "hash_dim must be a whole number of at least 2, got 1"),
        ({"signed": 1}, "signed must be True or False, got 1"),
        ({"missing": "zero"}, "missing must be 'category' or 'mean'"),
        ({"scale": "minmax"}, "scale must be 'max-abs' or 'standard'"),
        ({"max_categories": 0}, "max_categories must be a whole number of at least 1"),
        ({"block_rows": 0}, "block_rows must be a whole number of at least 1"),
        ({"on_error": "ignore"}, "on_error must be 'stop' or 'skip'"),
    ],
)
def test_settings(write, setting, message):
    with pytest.raises(ValueError, match=message):
        read(write("click,x\n0,1.5\n1,2.5\n"), **setting)


def test_too_many_values_for_one_hot(write, monkeypatch):
    monkeypatch.setattr("mbauc.readers.table.encoding.learner._MOST_VALUES", 50)
    path = write("click,word\n" + "".join(f"{k % 2},w{k}\n" for k in range(60)))
    with pytest.raises(ValueError, match=r"column 'word' has more than 50 distinct values.*encode='hash'"):
        read(path, encode="onehot")


def test_without_pyarrow_it_says_how_to_get_it(write, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        read(write("click,x\n0,1.5\n"))


def test_a_part_of_pyarrow_that_another_thread_imports_is_waited_for(tmp_path, monkeypatch):
    import sys

    gate = SimpleNamespace(entered=threading.Event(), leave=threading.Event())
    monkeypatch.setitem(sys.modules, "gate_of_half", gate)
    (tmp_path / "half.py").write_text(
        "import gate_of_half\ngate_of_half.entered.set()\ngate_of_half.leave.wait(30)\nwhole = True\n"
    )
    monkeypatch.setattr(pa, "__path__", [*pa.__path__, str(tmp_path)])
    first = threading.Thread(target=pyarrow, args=("half",))
    first.start()
    try:
        assert gate.entered.wait(30)
        threading.Timer(0.2, gate.leave.set).start()
        assert pyarrow("half").whole
    finally:
        gate.leave.set()
        first.join()
        sys.modules.pop("pyarrow.half", None)


# -- missing labels, however spelled -----------------------------------------------------------------------


def both(tmp_path, columns):
    """The same texts as CSV and as Parquet."""
    names = list(columns)
    lines = [",".join(names), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "b.csv").write_text("\n".join(lines) + "\n")
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    return [tmp_path / "b.csv", tmp_path / "b.parquet"]


@pytest.mark.parametrize("spelling", sorted(MISSING_NUMBERS))
@pytest.mark.parametrize("labels", [("0", "1"), ("no", "yes")])
def test_spellings_of_a_missing_label(tmp_path, spelling, labels):
    columns = {"click": [labels[0], spelling, labels[1]], "x": ["1.5", "2.5", "3.5"]}
    for path, place in zip(both(tmp_path, columns), ("line 3", "row 2"), strict=True):
        with pytest.raises(ValueError, match=rf"{place}: expected a label in column 'click', got") as caught:
            read(path, encode="onehot")
        assert f"positive={spelling!r}" not in str(caught.value)
        source = TableSource(path, label="click", on_error="skip")
        assert [block.y.tolist() for block in source] == [[0, 1]]
        assert source.skipped.reasons == {"no label": 1}


def test_a_missing_label_may_be_named_as_a_label(tmp_path):
    for path in both(tmp_path, {"click": ["a", "NA", "b"], "x": ["1.5", "2.5", "3.5"]}):
        source = TableSource(path, label="click", positive="NA")
        assert source.classes == (("a", "b"), "NA")
        assert [block.y.tolist() for block in source] == [[0, 1, 0]]
    for path in both(tmp_path, {"click": ["+", "-", "+"], "x": ["1.5", "2.5", "3.5"]}):
        with pytest.raises(ValueError, match=r"got '-', which stands for a missing value.*positive='\+'"):
            read(path)
        assert [block.y.tolist() for block in TableSource(path, label="click", positive="+")] == [[1, 0, 1]]


def test_a_row_without_a_label_does_not_vanish(write):
    path = write("view,click,x,note\n1,0,1.5,a\n2,,,\n\n,,,\n3,1,2.5,b\n,,,c\n")
    how = {"label": "click", "ignore": ["view", "note"]}
    with pytest.raises(ValueError, match=r"t\.csv, line 3: expected a label in column 'click', got none"):
        list(TableSource(path, **how))
    source = TableSource(path, on_error="skip", **how)
    assert [block.y.tolist() for block in source] == [[0, 1]]
    assert source.skipped.reasons == {"no label": 2}
    assert ["line 3:" in source.skipped.messages[0], "line 7:" in source.skipped.messages[1]] == [True, True]


def test_rows_without_labels_in_a_long_file(write):
    row = "{},{},1.5," + "z" * 90 + ",\n"
    lines = [row.format(k, k % 2) for k in range(100_000)]
    lines[70_000], lines[80_000] = "7,,,,\n", "\n"
    source = TableSource(
        write("view,click,x,z,e\n" + "".join(lines)), label="click", ignore=["view", "z", "e"], on_error="skip"
    )
    assert sum(block.y.size for block in source) == 99_998
    assert source.skipped.reasons == {"no label": 1}
    assert "line 70,002:" in source.skipped.messages[0]


def test_other_bytes_in_a_column_that_is_not_used(write):
    # the empty line is looked at with all columns
    text = "click,z,x\n" + "0,a,1.5\n1,b,2.5\n" * 600_000 + "\n1,ü,2.5\n"
    assert sum(block.y.size for block in read(write(text.encode("latin1")), ignore=["z"])) == 1_200_001


# -- files that change, columns that cannot be read --------------------------------------------------------


def test_a_file_that_changed(write, tmp_path):
    path = write("click,x,z\n0,1.5,2.5\n1,2.5,3.5\n")
    source = TableSource(path, label="click")
    path.write_text("click,x,z\n0,1.5,2.5\n1,2.5,3.5\n0,2.5,3.5\n")
    with pytest.raises(ValueError, match=r"t\.csv has changed since it was first read.*Make the source again"):
        list(source)
    source = TableSource(path, label="click")
    stat = path.stat()
    path.write_text("click,z,x\n0,1.5,2.5\n1,2.5,3.5\n0,2.5,3.5\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(ValueError, match=r"t\.csv has changed since it was first read"):
        list(source)
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"click": [0, 1], "x": [1.5, 2.5]}), path)
    source = TableSource(path, label="click")
    parquet.write_table(pa.table({"click": [0, 1, 1], "x": [1.5, 2.5, 4.5]}), path)
    with pytest.raises(ValueError, match=r"t\.parquet has changed since it was first read"):
        list(source)


def test_two_parquet_columns_of_one_name(tmp_path):
    table = pa.table([pa.array([0, 1]), pa.array([1.5, 2.5]), pa.array([1, 2])], names=["click", "x", "x"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: two columns are named 'x'; give each a name of its own"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("labels", "got"),
    [([[0], [1]], "list"), ([{"a": 0}, {"a": 1}], "struct"), ([b"\xff", b"\xfe"], "bytes that are not UTF-8")],
)
def test_labels_of_a_type_that_cannot_be_a_label(tmp_path, labels, got):
    parquet.write_table(pa.table({"click": labels, "x": [1.5, 2.5]}), tmp_path / "t.parquet")
    with pytest.raises(
        ValueError, match=rf"t\.parquet: expected numbers or texts in the label column 'click', got {got}"
    ):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("form", ["latin1", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("start", ["", "\n"])
def test_a_header_that_is_not_utf_8(write, form, start):
    with pytest.raises(ValueError, match=r"t\.csv: expected UTF-8, got (other bytes|UTF-16).*iconv") as caught:
        read(write((start + "click,größe\n0,1.5\n1,2.5\n").encode(form)))
    assert "�" not in str(caught.value)


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("start", ["", "\n"])
def test_the_advice_converts_wide_characters(write, form, start):
    data = (start + "click,größe\n0,1.5\n1,2.5\n").encode(form)
    if form == "utf-32-be":
        data = codecs.BOM_UTF32_BE + data
    with pytest.raises(ValueError, match=r"expected UTF-8, got UTF-") as caught:
        read(write(data))
    advised = re.search(r"iconv -f (\S+) -t utf-8\)", str(caught.value))[1]
    assert "größe" in data.decode(advised)


def test_a_quote_that_is_never_closed_is_no_row_to_skip(write):
    for text in ('click,x\n0,a\n1,b\n"1,b\n0,a\n', 'click,s,x\n0,a,b\n1,a,b\n1,"b,c\n0,a,b\n'):
        with pytest.raises(ValueError, match=r"line 4: .*A quote that is never closed.*Close it") as caught:
            read(write(text), on_error="skip")
        assert "on_error" not in str(caught.value)
    # a quote within a field is none
    assert len(read(write('click,s\n0,a\n1,b\n1,b,c"\n0,"a\nb",c"\n'), on_error="skip", hash_dim=4)) == 1


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"\x28\xb5\x2f\xfd", "zstd"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"\x1f\x9d\x90", "compress")],
)
def test_an_archive_that_is_not_read(write, start, kind):
    with pytest.raises(
        ValueError, match=rf"t\.csv\.zst is packed with {kind}, which is not supported; gzip"
    ) as caught:
        read(write(start + bytes(range(256)), "t.csv.zst"))
    assert "iconv" not in str(caught.value)


def test_a_model_is_no_data(write, tmp_path):
    moments = PairMoments.from_blocks([(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]))])
    moments.save(tmp_path / "m.mbauc")
    with pytest.raises(ValueError, match=r"m\.mbauc is a model or another file of mbauc, not data"):
        read(tmp_path / "m.mbauc")
