import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc.errors import DataWarning, NotAvailableError
from mbauc.paper.datasets import find, load, locate, names
from mbauc.paper.datasets.catalogue import ENTRIES
from mbauc.paper.datasets.files import cache_folder, identify, list_folders
from mbauc.paper.datasets.registry import Figures, differences, measure
from mbauc.readers.hashing import fold_columns

BENCHMARKS = [
    *("a1a", "a9a", "amazon", "bank", "codrna", "german", "ijcnn", "madelon", "mnist", "mushrooms", "phishing"),
    *("svmguide3", "usps", "w1a", "w7a"),
]


@pytest.fixture(autouse=True)
def no_folders_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("MBAUC_DATA", raising=False)
    monkeypatch.setattr("mbauc.paper.datasets.files.cache_folder", lambda: tmp_path / "cache")


# -- entries -----------------------------------------------------------------------------------------------


def test_names_are_those_of_table_1_in_its_order():
    assert names("benchmark") == tuple(BENCHMARKS)
    assert names() == (*BENCHMARKS, "avazu app", "avazu site", "criteo", "svmguide3.author")
    with pytest.raises(
        ValueError, match="group must be None or one of 'benchmark', 'clicks', 'extra', got 'all'"
    ):
        names("all")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.word)
def test_entries_are_complete_and_agree_with_the_paper(entry):
    assert find(entry.name) is entry
    assert find(entry.word.upper()) is entry
    assert entry.files
    assert entry.source.startswith("https://")
    assert (entry.split == "provided") == bool(entry.test)
    assert entry.positives is None or 0 < entry.positives < sum(entry.rows)
    for file in entry.files:
        assert entry.group == "extra" or all(url.startswith("https://") for url in file.urls)
        assert bool(file.urls) == (entry.group != "extra")
        for checksum in [*([file.checksum] if file.checksum else []), *file.copies]:
            kind, digits = checksum.split(":")
            assert len(digits) == {"sha256": 64, "md5": 32}[kind]
            assert set(digits) <= set("0123456789abcdef")
    if entry.printed is not None and entry.positives is not None:
        rows = entry.rows[0] if entry.test else sum(entry.rows)
        assert (rows - entry.positives) / entry.positives == pytest.approx(entry.printed.ratio, rel=0.01)
    if entry.printed is not None and entry.name not in ("avazu site", "criteo"):
        assert entry.rows == pytest.approx(entry.printed.rows, rel=0.03)
    if entry.printed is not None and entry.name != "bank":
        assert entry.columns == entry.printed.columns


def test_no_content_is_on_record_twice():
    checksums = [c for entry in ENTRIES for file in entry.files for c in (file.checksum, *file.copies) if c]
    assert len(checksums) == len(set(checksums))


@pytest.mark.parametrize(
    ("name", "found"),
    [("ijcnn1", "ijcnn"), ("cod-rna", "codrna"), ("german.numer", "german"), ("Avazu_Site", "avazu site")],
)
def test_names_of_files_are_understood(name, found):
    assert find(name).name == found


@pytest.mark.parametrize(("name", "says"), [("mnits", "Did you mean 'mnist'"), (7, "got 7"), ("", "got ''")])
def test_unknown_names_are_refused_with_a_guess(name, says):
    with pytest.raises(ValueError, match=says):
        find(name)


# -- folders -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variable", "value", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "/var/caches", "/var/caches/mbauc"),
        ("linux", "XDG_CACHE_HOME", "relative", "/home/x/.cache/mbauc"),
        ("linux", "XDG_CACHE_HOME", "", "/home/x/.cache/mbauc"),
        ("darwin", "XDG_CACHE_HOME", "/var/caches", "/home/x/Library/Caches/mbauc"),
        ("win32", "LOCALAPPDATA", "/local", "/local/mbauc/Cache"),
        ("win32", "LOCALAPPDATA", "", "/home/x/AppData/Local/mbauc/Cache"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths are written as on POSIX")
def test_the_cache_is_where_the_system_keeps_caches(platform, variable, value, expected, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/x"))
    monkeypatch.setenv(variable, value)
    assert cache_folder() == Path(expected)


def test_a_folder_given_comes_before_the_variable_and_both_before_the_cache(monkeypatch, tmp_path):
    assert list_folders() == [tmp_path / "cache"]
    monkeypatch.setenv("MBAUC_DATA", str(tmp_path / "mine"))
    assert list_folders() == [tmp_path / "mine", tmp_path / "cache"]
    assert list_folders(tmp_path / "given") == [tmp_path / "given", tmp_path / "cache"]


def test_files_are_found_plain_or_compressed_each_in_the_first_folder_that_has_it(tmp_path):
    given, cache = tmp_path / "given", tmp_path / "cache"
    for folder in (given, cache, given / "a1a"):  # a folder of that name is no file
        folder.mkdir()
    (given / "a1a.xz").touch()
    (cache / "a1a").touch()
    (cache / "a1a.t.gz").touch()
    assert locate(find("a1a"), given) == {"a1a": given / "a1a.xz", "a1a.t": cache / "a1a.t.gz"}


def test_what_is_missing_is_said_with_where_to_get_it(tmp_path):
    with pytest.raises(NotAvailableError) as caught:
        locate(find("avazu app"), tmp_path)
    said = str(caught.value)
    assert (
        "avazu app is not available: looked for avazu-app.tr, avazu-app.val (plain, .bz2, .gz or .xz)" in said
    )
    assert f"{tmp_path} and {tmp_path / 'cache'} (no such folder)" in said
    assert "'mbauc data download avazu-app'" in said
    assert "binary/avazu-app.tr.bz2" in said
    assert "MBAUC_DATA" in said


def test_a_set_that_nobody_offers_and_one_that_needs_unpacking_are_missing_in_their_own_way(tmp_path):
    with pytest.raises(NotAvailableError, match="not offered for download; see https"):
        load("svmguide3.author", tmp_path)
    archive(tmp_path / "amazon+commerce+reviews+set.zip", "Amazon.rar", b"")
    with pytest.raises(NotAvailableError, match="RAR archive inside a zip"):
        load("amazon", tmp_path)


# -- content -----------------------------------------------------------------------------------------------


def archive(path, name, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("__MACOSX/" + name, b"not this one")
        packed.writestr(name, content)


@pytest.mark.parametrize("opener", [open, bz2.open, gzip.open, lzma.open], ids=["", ".bz2", ".gz", ".xz"])
def test_contents_are_told_apart_however_they_are_compressed(opener, tmp_path):
    ending = {open: "", bz2.open: ".bz2", gzip.open: ".gz", lzma.open: ".xz"}[opener]
    path = tmp_path / f"a1a{ending}"
    with opener(path, "wb") as stream:
        stream.write(b"+1 1:1\n" * 1000)
    assert identify(path, find("a1a").train[0]) == "changed"
    assert identify(path, find("phishing").train[0]) == "not on record"
    if ending:
        path.write_bytes(path.read_bytes()[:-9])
        assert identify(path, find("a1a").train[0]) == "damaged"
        path.write_bytes(b"no such format")
        assert identify(path, find("a1a").train[0]) == "damaged"
    with pytest.raises(FileNotFoundError):
        identify(tmp_path / f"nothing{ending}", find("a1a").train[0])


def test_damaged_archives_are_found_and_said_to_be_damaged(tmp_path):
    path = tmp_path / "bank-additional.zip"
    path.write_bytes(b"PK but not really")
    assert locate(find("bank"), tmp_path) == {"bank-additional.zip": path}
    assert identify(path, find("bank").train[0]) == "damaged"
    with pytest.raises(
        ValueError, match=r"bank-additional.zip: cannot be read to its end .* Download it again"
    ):
        load("bank", tmp_path)


# -- loading made-up files ---------------------------------------------------------------------------------


def table_of(entry, labels, first):
    """One row for each label, with its number in the first column and 1 in the last that is used."""
    last = (entry.width or entry.columns) - (entry.width == 22)
    start = 0 if entry.zero_based else 1
    if entry.format == "libsvm":
        return "".join(f"{label} {start}:{first + k} {last - 1 + start}:1\n" for k, label in enumerate(labels))
    if entry.format == "arff":
        head = "@relation x\n@attribute a\0 numeric\n@attribute a\0 numeric\n@data\n"
        return head + "".join(f"{first + k},{'0,' * 9_998}1,{label}\n" for k, label in enumerate(labels))
    rows = "".join(f'{first + k};"{"ba"[k % 2]}";{label}\n' for k, label in enumerate(labels))
    return '"age";"job";"y"\n' + rows


def labels_of(entry):
    if entry.format == "csv":
        return ["yes", "no"] * 4
    if entry.format == "arff":
        return [f"author{k:02}" for k in range(50)] * 2
    plus = list(entry.positive)
    return (plus + [label for label in (-1, 0, 1, 4) if label not in plus]) * 4


@pytest.mark.parametrize("name", names())
def test_every_name_loads(name, tmp_path):
    entry = find(name)
    labels = labels_of(entry)
    for k, file in enumerate(entry.files):
        path = tmp_path / (file.members[0] if file.members else file.name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(table_of(entry, labels, first=1 + k * len(labels)))
    with pytest.warns(
        DataWarning, match=rf"{entry.name} in .* is not the set on record: .* training rows instead"
    ):
        data = load(name, tmp_path)
    assert data.name == name
    assert data.X.shape[1] == data.X_test.shape[1] == (3 if entry.format == "csv" else entry.columns)
    assert sp.issparse(data.X) == sp.issparse(data.X_test) == (entry.columns > 1000)
    assert data.y.dtype == data.y_test.dtype == np.int8

    # put back in order by the number in the first column, rows and labels are those of the files
    X, y = np.vstack([_dense(data.X), _dense(data.X_test)]), np.concatenate([data.y, data.y_test])
    assert X.shape[0] == len(labels) * len(entry.files)
    at = int(_dense(fold_columns(sp.csr_array(np.eye(1, 9)), entry.columns)).argmax()) if entry.folded else 0
    order = np.argsort(X[:, at])
    positive = set(labels[:15]) if entry.format == "arff" else set(entry.positive)
    np.testing.assert_array_equal(y[order], [label in positive for label in labels] * len(entry.files))
    if entry.test:
        assert data.y.size == data.y_test.size == len(labels)
        assert X[: len(labels), at].max() == len(labels)
    if not entry.folded:
        np.testing.assert_array_equal(X[order, 0], 1 + np.arange(len(y)))
        assert entry.format == "csv" or (X[:, -1] == 1).all()


def _dense(X):
    return X.toarray() if sp.issparse(X) else X


def test_digits_2_7_and_9_are_positive(tmp_path):
    (tmp_path / "mnist").write_text("".join(f"{digit} 1:{digit}\n" for digit in range(10)))
    (tmp_path / "mnist.t").write_text("2 778:1\n3 1:1\n")
    with bz2.open(tmp_path / "usps.bz2", "wt") as stream:
        stream.write("".join(f"{digit + 1} 1:{digit}\n" for digit in range(10)))
    (tmp_path / "usps.t").write_text("10 256:1\n1 1:1\n")
    for name in ("mnist", "usps"):
        with pytest.warns(DataWarning):
            data = load(name, tmp_path)
        assert data.X[data.y == 1, 0].tolist() == [2, 7, 9]
        assert data.y_test.tolist() == [1, 0]


def svmguide3(rows, label):
    return "".join(f"{label} 1:{k} 21:1 22:0\n" for k in range(rows))


def test_both_files_of_svmguide3_are_joined_unless_one_holds_all(tmp_path):
    (tmp_path / "svmguide3").write_text(svmguide3(947, -1) + svmguide3(296, "+1"))
    with pytest.warns(DataWarning, match="621 training rows instead of 642"):
        load("svmguide3", tmp_path)
    (tmp_path / "svmguide3.t").write_text(svmguide3(41, "+1"))
    data = load("svmguide3", tmp_path)
    assert data.X.shape == data.X_test.shape == (642, 21)
    (tmp_path / "svmguide3").write_text(svmguide3(947, -1) + svmguide3(337, "+1"))
    assert load("svmguide3", tmp_path).X.shape == (642, 21)
    (tmp_path / "svmguide3").write_text("+1 22:5\n-1 1:1\n" * 2)
    with pytest.raises(ValueError, match="svmguide3: columns after 21 were expected to be zero"):
        load("svmguide3", tmp_path)


def test_halves_are_stratified_and_decided_by_the_seed(tmp_path):
    (tmp_path / "german.numer").write_text("".join(f"{1 if k < 30 else -1} 1:{k}\n" for k in range(100)))
    with pytest.warns(DataWarning):
        first, same, other, drawn = (
            load("german", tmp_path, seed) for seed in (0, 0, 1, np.random.default_rng(0))
        )
    assert first.y.sum() == first.y_test.sum() == 15
    np.testing.assert_array_equal(first.X, same.X)
    assert not np.array_equal(first.X, other.X)
    for data in (first, other, drawn):
        assert sorted([*data.X[:, 0], *data.X_test[:, 0]]) == list(range(100))
    with pytest.raises(ValueError, match="random_state"):
        load("german", tmp_path, "seven")


def test_the_end_of_criteo_is_held_out(tmp_path):
    path = tmp_path / "criteo.kaggle2014.svm" / "train.txt.svm"
    path.parent.mkdir()
    path.write_text("1 1:1 1000000:1\n0 1:1\n0 5:1\n1 7:1\n")
    with pytest.warns(DataWarning):
        data = load("criteo", tmp_path)
    assert data.y.tolist() == [1, 0]
    assert data.y_test.tolist() == [0, 1]
    expected = fold_columns(sp.csr_array(([1.0, 1.0], ([0, 0], [0, 999_999])), shape=(1, 1_000_000)), 10_000)
    np.testing.assert_array_equal(data.X[[0]].toarray(), expected.toarray())
    assert measure(find("criteo"), tmp_path) == Figures(2, 2, 10_000, 1, 1)


def test_labels_of_click_logs_are_counted_in_blocks(tmp_path):
    (tmp_path / "avazu-app.tr").write_text("1 1:1\n-1 1:1\n-1 5:1\n")
    (tmp_path / "avazu-app.val").write_text("1 1:1\n-1 1:1\n")
    assert measure(find("avazu app"), tmp_path) == Figures(3, 2, 10_000, 1, 1)


def test_one_class_only_cannot_be_halved(tmp_path):
    (tmp_path / "phishing").write_text("1 1:1\n" * 5)
    with pytest.raises(ValueError, match="phishing: each half needs a row of both classes"):
        load("phishing", tmp_path)


def test_a_line_that_is_no_row_is_named(tmp_path):
    (tmp_path / "phishing").write_text("1 1:1\n0 69:1\n")
    with pytest.raises(ValueError, match="phishing, line 2"):
        load("phishing", tmp_path)


def test_a_table_inside_two_archives_is_read(tmp_path):
    table = '"age";"job";"y"\n' + '56;"b";"no"\n40;"a";"yes"\n' * 3
    inner = io.BytesIO()
    archive(inner, "bank-additional/bank-additional-full.csv", table)
    archive(tmp_path / "bank-additional.zip", "bank-additional.zip", inner.getvalue())
    with pytest.warns(DataWarning, match="3 columns instead of 63"):
        data = load("bank", tmp_path)
    rows = np.hstack([data.X, data.y[:, None]])
    assert {tuple(row) for row in rows.tolist()} == {(56, 0, 1, 0), (40, 1, 0, 1)}


def test_differences_are_measured_by_the_record():
    entry = find("a1a")
    assert differences(entry, Figures(1_605, 30_956, 123, 395, 7)) == []
    assert differences(entry, Figures(1_604, 30_957, 119, 394, 7)) == [
        "1,604 training rows instead of 1,605",
        "30,957 test rows instead of 30,956",
        "119 columns instead of 123",
        "394 positive training rows instead of 395",
    ]
    w7a = find("w7a")
    assert differences(w7a, Figures(24_692, 25_057, 300, 740, 0)) == []
    assert differences(w7a, Figures(24_692, 25_057, 300, 840, 0)) == [
        "28.40 negatives for each positive instead of 32.40"
    ]
    assert differences(w7a, Figures(24_692, 25_057, 300, 0, 0)) == [
        "inf negatives for each positive instead of 32.40"
    ]


# -- the real files ----------------------------------------------------------------------------------------


def is_in(entry, folder):
    try:
        return bool(locate(entry, folder))
    except NotAvailableError:
        return False


@pytest.mark.data
@pytest.mark.parametrize("name", [*BENCHMARKS, "svmguide3.author"])
def test_real_files_are_as_on_record(name, shared_folder):
    entry = find(name)
    folder = shared_folder(lambda folder: is_in(entry, folder), name)
    data = load(entry.name, folder)  # a warning would be an error
    assert (data.X.shape, data.X_test.shape) == tuple((n, entry.columns) for n in entry.rows)
    assert isinstance(data.X, np.ndarray) == (entry.columns <= 1000)
    assert _dense(data.X).dtype == np.float64
    if entry.printed is not None:
        assert (data.y == 0).sum() / data.y.sum() == pytest.approx(entry.printed.ratio, rel=0.01)
    for file in entry.files:
        path = locate(entry, folder).get(file.name)
        assert path is None or identify(path, file) in ("original", "copy", "not on record")


@pytest.mark.data
def test_one_hot_columns_are_those_of_pandas(shared_file):
    pandas = pytest.importorskip("pandas")
    path = shared_file("bank-additional.zip")
    with zipfile.ZipFile(path) as packed:
        name = next(n for n in packed.namelist() if PurePosixPath(n).name == "bank-additional-full.csv")
        table = pandas.read_csv(packed.open(name), sep=";")
    y = (table.pop("y") == "yes").to_numpy()
    X = pandas.get_dummies(table, dtype=float).to_numpy()
    data = load("bank", path.parent)
    assert data.X.shape[1] == X.shape[1] == 63
    for positive in (0, 1):
        ours = np.vstack([data.X[data.y == positive], data.X_test[data.y_test == positive]])
        theirs = X[y == positive]
        np.testing.assert_array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])
