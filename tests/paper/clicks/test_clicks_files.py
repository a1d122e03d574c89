import errno
import json
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mbauc.cli.main import main
from mbauc.paper.clicks import ClickLog, writers
from mbauc.readers import LibsvmSource, TableSource, read_libsvm
from mbauc.store.atomic import atomic_write

SHAPES = ("criteo", "avazu-app", "avazu-site")
WRITE = {"libsvm": ClickLog.write_libsvm, "parquet": ClickLog.write_parquet}


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(writers, "_TEXT_ROWS", 700)
    monkeypatch.setattr(writers, "_GROUP_ROWS", 700)


@pytest.mark.parametrize("width", [9, 120, 10_000, 123_456, 2**24])
def test_libsvm_reads_back_as_the_hashed_rows(tmp_path, small_pieces, width):
    log = ClickLog(3000, shape="avazu-site", hash_dim=width, start=17, n_jobs=2)
    assert log.write_libsvm(tmp_path / "log.libsvm", verbose=False) == 3000
    X, y, _ = log.rows()
    source = LibsvmSource(tmp_path / "log.libsvm", n_features=width, zero_based=False, classes=(-1, 1))
    (block,) = source
    assert (block.X != X).nnz == 0
    np.testing.assert_array_equal(block.y, y)


def test_libsvm_line_by_line(tmp_path):
    log = ClickLog(50, hash_dim=20_000, seed=5)
    log.write_libsvm(tmp_path / "log.libsvm")
    X, y, _ = log.rows()
    expected = [
        " ".join(["+1" if y[i] else "-1", *(f"{column + 1}:1" for column in X[[i]].indices)]) for i in range(50)
    ]
    assert (tmp_path / "log.libsvm").read_text() == "\n".join(expected) + "\n"


@pytest.mark.parametrize("number", [1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 10_001, 100_000, 99_999_999])
def test_numbers_as_text(number):
    from mbauc.paper.clicks.text_kernels import four_digits, text

    digits, out = np.empty(10_000, dtype=np.uint32), np.zeros(20, dtype=np.uint8)
    four_digits(digits)
    ends, columns = np.array([0, 1], dtype=np.int32), np.array([number - 1], dtype=np.int32)
    size = text(ends, columns, np.ones(1, dtype=np.int8), digits, out)
    assert out[:size].tobytes() == b"+1 %d:1\n" % number


@pytest.mark.parametrize("shape", SHAPES)
def test_parquet_reads_back_as_the_same_columns(tmp_path, small_pieces, shape):
    log = ClickLog(3000, shape=shape, hash_dim=2000, seed=3, n_jobs=2)
    assert log.write_parquet(tmp_path / "log.parquet", verbose=False) == 3000
    source = TableSource(tmp_path / "log.parquet", label=log.label, hash_dim=2000)
    (block,) = source
    X, y, _ = log.rows()
    assert (source.n_features, source.classes) == (2000, (0, 1))
    np.testing.assert_array_equal(block.X.indptr, X.indptr)
    np.testing.assert_array_equal(block.X.indices, X.indices)
    np.testing.assert_array_equal(block.y, y)
    # where values of a row meet they are counted there
    assert block.X.sum() == 3000 * len(source.plan.features)
    assert block.X.data.max() > 1 == X.data.max()


def test_parquet_holds_the_raw_table(tmp_path, small_pieces):
    log = ClickLog(3000, seed=4)
    log.write_parquet(tmp_path / "log.parquet")
    file = pq.ParquetFile(tmp_path / "log.parquet")
    assert file.num_row_groups == 5
    table = file.read()
    assert table.schema.names == ["label", *(f"I{k}" for k in range(1, 14)), *(f"C{k}" for k in range(1, 27))]
    assert table.schema.field("label").type == pa.int8()
    assert table.to_pylist() == log.table().to_pylist()
    codes = table["C3"].to_pylist()
    assert None in codes
    assert all(code is None or (len(code) == 8 and int(code, 16) < 2**32) for code in codes)
    assert {"0", "1", "2", "3", "4", "6", "8", "12"} <= set(table["I2"].to_pylist())


@pytest.mark.parametrize("kind", WRITE)
def test_no_rows_make_a_file_without_rows(tmp_path, kind):
    assert WRITE[kind](ClickLog(0), tmp_path / "log") == 0
    if kind == "libsvm":
        assert (tmp_path / "log").read_bytes() == b""
    else:
        assert pq.read_table(tmp_path / "log").num_rows == 0


@pytest.mark.parametrize("kind", WRITE)
def test_threads_do_not_change_files(tmp_path, small_pieces, kind):
    for n_jobs in (1, 3):
        WRITE[kind](ClickLog(5000, shape="avazu-app", n_jobs=n_jobs), tmp_path / str(n_jobs))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


class FullDisk:
    """A stream on a disk with room for some bytes only."""

    def __init__(self, stream, room):
        self.stream, self.room = stream, room

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.stream.write(data)

    def __getattr__(self, name):
        return getattr(self.stream, name)


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch, small_pieces, kind, before):
    @contextmanager
    def on_a_small_disk(path):
        with atomic_write(path) as stream:
            yield FullDisk(stream, 100_000)

    monkeypatch.setattr(writers, "atomic_write", on_a_small_disk)
    path = tmp_path / "log"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(OSError, match="No space left"):
        WRITE[kind](ClickLog(20_000), path)
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["log"])
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("kind", WRITE)
def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch, small_pieces, kind):
    @contextmanager
    def impatient(*_, **__):
        def advance(_):
            raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr(writers, "progress", impatient)
    with pytest.raises(KeyboardInterrupt):
        WRITE[kind](ClickLog(5000), tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", WRITE)
def test_bad_places_and_flags(tmp_path, kind):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        WRITE[kind](ClickLog(5), tmp_path / "no" / "log")
    with pytest.raises(ValueError, match="verbose must be True or False"):
        WRITE[kind](ClickLog(5), tmp_path / "log", verbose="yes")


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["data", "clicks", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_command_writes_libsvm(run, tmp_path):
    code, out, err = run("--rows", "2e3", "--hash-dim", "500", "--seed", "9", "--start", "1_000", "-o", "a.svm")
    assert (code, err) == (0, "")
    assert (
        out.splitlines()[0] == f"wrote 2,000 rows to a.svm ({(tmp_path / 'a.svm').stat().st_size / 1e3:.0f} kB)"
    )
    assert out.splitlines()[1] == "next: mbauc fit a.svm -o model.mbauc"
    X, y = read_libsvm(tmp_path / "a.svm", n_features=500)
    expected = ClickLog(2000, hash_dim=500, seed=9, start=1000).rows()
    assert (X != expected.X).nnz == 0
    np.testing.assert_array_equal(y, expected.y)


@pytest.mark.parametrize(("name", "more"), [("a.parquet", ()), ("a.pq", ("--format", "parquet"))])
def test_command_writes_parquet(run, tmp_path, name, more):
    code, out, _ = run("--rows", "1,000", "--shape", "avazu-app", "-o", name, *more)
    assert code == 0
    assert out.splitlines()[1] == f"label column: click; next: mbauc fit {name} --label click -o model.mbauc"
    assert pq.read_table(tmp_path / name).to_pylist() == ClickLog(1000, shape="avazu-app").table().to_pylist()


def test_command_does_not_overwrite(run, tmp_path):
    (tmp_path / "a.svm").write_text("mine")
    code, out, err = run("--rows", "10", "-o", "a.svm")
    assert (code, out) == (2, "")
    assert "a.svm exists already" in err
    assert "--force" in err
    assert (tmp_path / "a.svm").read_text() == "mine"
    assert run("--rows", "10", "-o", "a.svm", "--force")[0] == 0
    assert len((tmp_path / "a.svm").read_text().splitlines()) == 10


def test_command_says_what_is_wrong(run, capsys):
    code, _, err = run("--hash-dim", "1", "-o", "a.svm")
    assert code == 1
    assert err == "mbauc: hash_dim must be a whole number of at least 2, got 1.\n"
    for rows in ("many", "1.5", "-3", "1e", "e6", "1e-3", "1e99", "nan"):
        with pytest.raises(SystemExit):
            run("--rows", rows, "-o", "a.svm")
        assert (
            "expected a whole number of at least 0, such as 1000000 or 1e6" in capsys.readouterr().err
            or rows == "-3"
        )


def test_command_as_json(run, tmp_path):
    code, out, err = run("--rows", "100", "--hash-dim", "50", "-o", "a.svm", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    size = (tmp_path / "a.svm").stat().st_size
    expected = {"format": "libsvm", "rows": 100, "bytes": size, "label": None, "columns": 50}
    assert told == {"file": "a.svm"} | expected


def test_command_teaches(run, capsys):
    with pytest.raises(SystemExit) as stop:
        run("--help")
    assert stop.value.code == 0
    assert "mbauc data clicks --rows 2e7 --shape avazu-app -o train.libsvm" in capsys.readouterr().out
