"""Which files a path stands for, and what their folders say."""

import os
import zipfile

import numpy as np
import pytest

from mbauc.errors import DataWarning
from mbauc.readers import TableSource

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")


@pytest.fixture
def log(tmp_path):
    """Folders by day; what happens depends on the day."""
    for day in DAYS:
        folder = tmp_path / "log" / f"day={day}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"y": [0, 1], "x": [0.5, 1.5]}), folder / "part-0.parquet")
    return tmp_path / "log"


# -- columns in the names of folders -----------------------------------------------------------------------


@pytest.mark.parametrize("start", ["relative", "absolute", "from within"])
def test_keys_of_folders_are_found_in_any_path(log, monkeypatch, start):
    source = TableSource(log, label="y", encode="onehot", types={"day": "category"}, scale=None)
    assert source.feature_names == ["x", *(f"day={day}" for day in DAYS)]
    folder = log / f"day={DAYS[2]}"
    if start == "relative":
        monkeypatch.chdir(log.parent)
        folder = folder.relative_to(log.parent)
    elif start == "from within":
        monkeypatch.chdir(folder)
        folder = folder.relative_to(folder)
    for path in (folder, folder / "part-0.parquet", str(folder / "*.parquet")):
        (block,) = source.on(path)
        assert block.X.tolist() == [[0.5, 0, 0, 1], [1.5, 0, 0, 1]]
        unlabelled = source.layout.unlabelled(path)
        (rows,) = unlabelled.score_rows(np.ones(source.n_features), keep=["day"])
        assert rows.columns["day"].to_pylist() == [DAYS[2]] * 2


def test_a_key_that_is_the_same_for_all_files_is_left_out(log):
    days = [log / f"day={day}" for day in DAYS]
    source = TableSource(days[0], label="y")
    assert source.feature_names == ["x"]
    assert source.plan["day"].why == "name of a folder, the same for all files"
    assert TableSource(days[0], label="y", types={"day": "category"}, encode="onehot").n_features == 2
    assert len(TableSource(days[:2], label="y", types={"day": "category"}, encode="onehot").feature_names) == 3


def test_a_column_of_the_file_comes_before_the_name_of_its_folder(tmp_path):
    folder = tmp_path / "day=1"
    folder.mkdir()
    (folder / "t.csv").write_text("y,day\n0,a\n1,b\n")
    assert TableSource(folder, label="y", encode="onehot").feature_names == ["day=a", "day=b"]


# -- files that are no data --------------------------------------------------------------------------------


def test_files_that_are_no_tables_are_left_out_with_a_note(log):
    for name in ("README.txt", "_SUCCESS", ".part-0.parquet.crc", "notes.md"):
        (log / name).write_text("hi")
    with pytest.warns(
        DataWarning,
        match=r"log: '\.part-0\.parquet\.crc', 'README\.txt', '_SUCCESS' and 1 more left out; only its",
    ):
        assert sum(block.y.size for block in TableSource(log, label="y")) == 6


def test_text_files_alone_are_tables(tmp_path):
    (tmp_path / "a.txt").write_text("y,x\n0,1.5\n1,2.5\n")
    (tmp_path / "README.txt").write_text("about these files")
    with pytest.warns(DataWarning, match="'README.txt' left out"):
        assert TableSource(tmp_path, label="y").feature_names == ["x"]


# -- archives ----------------------------------------------------------------------------------------------


def test_the_end_of_an_archive_within_a_table_is_no_archive(tmp_path):
    texts = ["a", "b"] * 200 + ["PK\x05\x06abcdefghijklmnopqrstuvwx"]
    labels = [0, 1] * 200 + [1]
    csv, other = tmp_path / "t.csv", tmp_path / "t.parquet"
    csv.write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in zip(labels, texts, strict=True)))
    parquet.write_table(pa.table({"y": labels, "s": texts}), other, compression="none", use_dictionary=False)
    for path in (csv, other):
        assert zipfile.is_zipfile(path)  # or this test would show nothing
        assert sum(block.y.size for block in TableSource(path, label="y")) == 401


def test_an_empty_archive_is_said_to_be_empty(tmp_path):
    zipfile.ZipFile(tmp_path / "t.zip", "w").close()
    with pytest.raises(ValueError, match=r"holds no table.*it holds nothing"):
        TableSource(tmp_path / "t.zip", label="y")


# -- files that do not have the same columns ---------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("rows", [100, 60_000])
def test_columns_that_only_later_files_have_are_left_out(tmp_path, form, rows):
    first, second = tmp_path / f"a.{form}", tmp_path / f"b.{form}"
    values = np.arange(rows) % 2
    tables = {first: {"y": values, "x": values + 0.5}, second: {"z": values, "x": values + 0.5, "y": values}}
    for path, columns in tables.items():
        if form == "csv":
            csv.write_csv(pa.table(columns), path)
        else:
            parquet.write_table(pa.table(columns), path)
    source = TableSource([first, second], label="y")
    assert source.feature_names == ["x"]
    assert (source.plan["z"].kind, source.plan["z"].why) == (
        "ignore",
        f"the first file does not have it, {second} does",
    )
    assert sum(block.y.size for block in source) == 2 * rows
    with pytest.raises(ValueError, match="there is no column for types 'z'"):
        TableSource([first, second], label="y", types={"z": "numeric"})


# -- what is no path ---------------------------------------------------------------------------------------


def test_frames_are_sources_and_lists_of_them_are_not():
    pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")
    frame = pd.DataFrame({"y": [0, 1], "a": [1.5, 2.5]})
    for rows in (frame, pa.table(frame), dict(frame)):
        [block] = TableSource(rows, label="y", scale=None)
        assert block.X.tolist() == [[1.5], [2.5]]
    for rows in ([frame], frame.to_numpy(), None, 7):
        with pytest.raises(TypeError, match=r"paths must name files, got .*table in memory by itself"):
            TableSource(rows, label="y")
    with pytest.raises(FileNotFoundError, match=r"there is no file nowhere\.csv"):
        TableSource(os.fsencode("nowhere.csv"), label="y")
