"""Files are recognised by what is in them."""

import shutil
import zipfile

import numpy as np
import pytest

from mbauc.model.seen_files import file_marks, find_repeated_files, find_seen_files

BIG = 40_000


class Files:
    """A source that tells its files, and no more."""

    def __init__(self, *paths):
        self._paths = paths

    def fingerprint(self):
        return {"of": {"files": [{"name": str(path)} for path in self._paths]}}


@pytest.fixture
def big(tmp_path):
    """More bytes than a digest reads."""
    path = tmp_path / "big.libsvm"
    numbers = np.random.default_rng(0).integers(1, 9, BIG)
    path.write_text("".join(f"{k % 2} {number}:0.25 11:{number}\n" for k, number in enumerate(numbers)))
    return path


def test_copies_and_files_that_have_grown_are_recognised(big, tmp_path):
    marks = file_marks(Files(big))
    assert marks[0]["name"] == "big.libsvm"
    assert marks[0]["bytes"] == big.stat().st_size
    copy, grown, other = (tmp_path / name for name in ("copy.libsvm", "grown.libsvm", "other.libsvm"))
    shutil.copy(big, copy)
    grown.write_bytes(big.read_bytes() + b"1 2:3\n")
    other.write_bytes(big.read_bytes()[:-2] + b"9\n")
    assert find_seen_files(marks, Files(copy, grown, other)) == ["copy.libsvm", "grown.libsvm"]


def test_samples_are_taken_all_over_a_file(big, tmp_path):
    content, other = big.read_bytes(), tmp_path / "other.libsvm"
    marks = file_marks(Files(big))
    for place in (*(len(content) * part // 8 for part in range(7)), len(content) - 1):
        other.write_bytes(content[:place] + b"#" + content[place + 1 :])
        assert find_seen_files(marks, Files(other)) == []


@pytest.mark.parametrize("size", [1, 100, 1 << 15, 200_000])
def test_each_byte_of_a_small_file_counts(size, tmp_path):
    path, other = tmp_path / "small", tmp_path / "other"
    content = np.random.default_rng(0).bytes(size)
    path.write_bytes(content)
    for place in {0, size // 3, size // 2, size - 1}:
        other.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert find_seen_files(file_marks(Files(path)), Files(other, path)) == ["small"]


def test_half_of_a_file_is_another_file(big, tmp_path):
    """The other way round: what was seen in part is not what was seen."""
    half = tmp_path / "half.libsvm"
    half.write_text("".join(big.read_text().splitlines(keepends=True)[: BIG // 2]))
    assert find_seen_files(file_marks(Files(big)), Files(half)) == []
    assert find_seen_files(file_marks(Files(half)), Files(big)) == ["big.libsvm"]


def test_tables_in_an_archive_are_told_apart(tmp_path):
    pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
    from mbauc.readers import TableSource

    archive = tmp_path / "both.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for name, start in (("a.csv", 0), ("b.csv", 5)):
            opened.writestr(f"in/{name}", "y,x\n" + "".join(f"{k % 2},{start + k}.5\n" for k in range(9)))
    one, two = (TableSource(archive / "in" / name, label="y") for name in ("a.csv", "b.csv"))
    assert find_seen_files(file_marks(one), one) == ["a.csv"]
    assert find_seen_files(file_marks(one), two) == []


@pytest.mark.parametrize("record", [None, "a", [], [1, {"name": "big.libsvm"}, {"bytes": "9", "digest": 3}]])
def test_odd_records_know_no_file(record, big):
    assert find_seen_files(record, Files(big)) == []
    assert find_repeated_files([record, record]) == []


def test_sources_without_files_are_not_known():
    assert file_marks([]) == []


def test_files_of_more_than_one_record_are_named(big, tmp_path):
    copy = tmp_path / "copy.libsvm"
    shutil.copy(big, copy)
    one, two = file_marks(Files(big)), file_marks(Files(copy))
    assert find_repeated_files([one, two]) == ["big.libsvm"]
    assert find_repeated_files([one, []]) == find_repeated_files([one + one]) == []
