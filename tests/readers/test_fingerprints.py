import json
import os

import numpy as np
import pytest

from mbauc.readers import LibsvmSource, RawBlock, TableSource
from mbauc.rows.source import fingerprint_of

pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")


@pytest.fixture
def libsvm(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:1 3:0.5\n-1 2:1\n1 2:2\n")
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("click,site,bid,w\n0,a,1.5,1\n1,b,2.5,2\n1,a,0.5,1\n")
    return path


class Rows(list):
    n_features, classes = 2, (0, 1)


ROWS = Rows([RawBlock(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))])


def test_equal_sources_have_equal_fingerprints_that_json_knows(libsvm, table):
    for make in (
        lambda: LibsvmSource(libsvm),
        lambda: LibsvmSource(libsvm, classes=(-1, 1), n_features=9, zero_based=True),
        lambda: TableSource(table, label="click"),
        lambda: TableSource(table, label="click", encode="onehot", positive=[1], block_rows=np.int64(2)),
    ):
        told = fingerprint_of(make())
        assert told == fingerprint_of(make())
        assert json.loads(json.dumps(told, allow_nan=False)) == told


@pytest.mark.parametrize(
    "other",
    [
        {"n_features": 4}, {"zero_based": True}, {"classes": (1, -1)}, {"positive": -1}, {"block_rows": 2},
        {"on_error": "skip"},
    ],
)  # fmt: skip
def test_settings_of_libsvm_sources_are_told(libsvm, other):
    assert fingerprint_of(LibsvmSource(libsvm, **other)) != fingerprint_of(LibsvmSource(libsvm))


def test_threads_and_what_is_found_or_given_are_not_told(libsvm):
    given = LibsvmSource(libsvm, n_features=3, zero_based=False, classes=(-1, 1), n_jobs=2)
    assert fingerprint_of(given) == fingerprint_of(LibsvmSource(libsvm, n_jobs=1))


@pytest.mark.parametrize(
    "other",
    [
        {"hash_dim": 50}, {"signed": True}, {"encode": "onehot"}, {"scale": "max-abs"}, {"block_rows": 2},
        {"weight": "w"}, {"types": {"bid": "category"}}, {"ignore": ["bid"]}, {"on_error": "skip"},
        {"positive": 0}, {"label": "site"}, {"names": ["a", "b", "c", "d"], "label": "b", "positive": "a"},
    ],
)  # fmt: skip
def test_settings_of_table_sources_are_told(table, other):
    plain = TableSource(table, label="click")
    assert fingerprint_of(TableSource(table, **({"label": "click"} | other))) != fingerprint_of(plain)


@pytest.mark.parametrize("kind", ["libsvm", "table"])
def test_files_are_told_by_name_size_and_time(kind, libsvm, table):
    path = libsvm if kind == "libsvm" else table

    def told():
        source = LibsvmSource(path) if kind == "libsvm" else TableSource(path, label="click")
        return fingerprint_of(source)

    before = told()
    (stamp,) = before["files"]
    status = os.stat(path)
    assert (stamp["name"], stamp["bytes"], stamp["mtime_ns"]) == (str(path), status.st_size, status.st_mtime_ns)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    touched = told()
    assert touched != before
    assert {**touched, "files": None} == {**before, "files": None}
    text = path.read_bytes()
    path.write_bytes(text + text.splitlines(keepends=True)[-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert told() != before
    path.write_bytes(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert told() == before


def test_a_file_that_changes_after_the_source_was_made_keeps_the_old_stamp(table):
    source = TableSource(table, label="click")
    before = source.fingerprint()
    table.write_text(table.read_text() + "0,c,1.0,1\n")
    assert source.fingerprint() == before
    with pytest.raises(ValueError, match="has changed"):
        list(source)


def test_folders_that_name_columns_are_told(tmp_path):
    folder = tmp_path / "day=1"
    folder.mkdir()
    (folder / "a.csv").write_text("click,site\n0,a\n1,b\n")
    whole, part = (TableSource(path, label="click", ignore=[]) for path in (tmp_path, folder / "a.csv"))
    assert whole.fingerprint()["files"][0]["partitions"] == [["day", "1"]]
    assert whole.fingerprint() == part.fingerprint()  # the same rows, however they were named


def test_sources_that_do_not_tell():
    assert fingerprint_of(ROWS) is None
