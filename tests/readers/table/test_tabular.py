import bz2
import gzip
import lzma
import zipfile
from contextlib import nullcontext
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mbauc import MBAClassifier, PairMoments
from mbauc.errors import DataWarning
from mbauc.metrics import roc_auc
from mbauc.readers import TableSource
from reference import slow_hash

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

CSV = (
    "click,site,bid,day\n0,a,0.5,2014-10-21\n1,b,1.5,2014-10-22\n0,a,,2014-10-21\n1,c,2.5,2014-10-23\n0,,1.0,\n"
)


def whole(source):
    """All rows as a dense matrix, labels and weights."""
    blocks = list(source)
    X = np.vstack([b.X.toarray() if sparse.issparse(b.X) else b.X for b in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([b.weight for b in blocks])
    return X, np.concatenate([b.y for b in blocks]), weight


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "clicks.csv"
    file.write_text(CSV)
    return file


# -- what becomes of columns -------------------------------------------------------------------------------


def test_one_hot(path):
    source = TableSource(path, label="click", encode="onehot", scale=None)
    assert source.classes == (0, 1)
    assert source.feature_names == [
        "site=a", "site=b", "site=c", "site=(missing)", "bid", "bid=(missing)",
        "day.weekday=Thu", "day.weekday=Tue", "day.weekday=Wed", "day.weekday=(missing)",
    ]  # fmt: skip
    assert source.n_features == 10
    (block,) = source
    assert isinstance(block.X, np.ndarray)
    assert block.X.dtype == np.float64
    assert block.y.dtype == np.int8
    assert block.weight is None
    assert block.y.tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_array_equal(
        block.X,
        [
            [1, 0, 0, 0, 0.5, 0, 0, 1, 0, 0],
            [0, 1, 0, 0, 1.5, 0, 0, 0, 1, 0],
            [1, 0, 0, 0, 0.0, 1, 0, 1, 0, 0],
            [0, 0, 1, 0, 2.5, 0, 1, 0, 0, 0],
            [0, 0, 0, 1, 1.0, 0, 0, 0, 0, 1],
        ],
    )


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("width", [2, 5, 10_000])
def test_hashing_is_its_definition(path, width, signed):
    source = TableSource(path, label="click", hash_dim=width, signed=signed, scale=None)
    assert source.n_features == 1 + width
    X, _y, _ = whole(source)
    features = [
        [("site", "a"), ("day.weekday", "Tue")],
        [("site", "b"), ("day.weekday", "Wed")],
        [("site", "a"), ("day.weekday", "Tue"), ("bid", "")],
        [("site", "c"), ("day.weekday", "Thu")],
        [("site", ""), ("day.weekday", "")],
    ]
    expected = np.zeros((5, 1 + width))
    expected[:, 0] = [0.5, 1.5, 0.0, 2.5, 1.0]
    for row, pairs in enumerate(features):
        for name, value in pairs:
            h = slow_hash(name, value)
            expected[row, 1 + (h >> 1) % width] += -1 if signed and h & 1 else 1
    np.testing.assert_array_equal(X, expected)
    assert sparse.issparse(next(iter(source)).X) == (width == 10_000)
    assert source.feature_names[:2] == ["bid", "hash#0"]


def test_slots_can_be_explained(path):
    source = TableSource(path, label="click", hash_dim=3, block_rows=2)
    contents = source.slot_contents([1, 2, 3])
    found = {(name, value): (slot, count) for slot, each in contents.items() for name, value, count in each}
    for (name, value), (slot, count) in found.items():
        h = slow_hash(name, "" if value == "(missing)" else value)
        assert slot == 1 + (h >> 1) % 3
        assert count == {"a": 2, "Tue": 2}.get(value, 1)
    assert set(found) == {
        *(("site", value) for value in ("a", "b", "c", "(missing)")),
        *(("day.weekday", value) for value in ("Tue", "Wed", "Thu", "(missing)")),
        ("bid", "(missing)"),
    }
    with pytest.raises(ValueError, match="columns must be hashed ones, from 1 to 3, got 0"):
        source.slot_contents([0])


def test_missing_numbers(path):
    mean = (0.5 + 1.5 + 2.5 + 1.0) / 4
    source = TableSource(
        path, label="click", encode="onehot", missing="mean", ignore=["day", "site"], scale=None
    )
    assert source.feature_names == ["bid"]
    np.testing.assert_allclose(whole(source)[0][:, 0], [0.5, 1.5, mean, 2.5, 1.0])
    for scale in ("max-abs", "standard"):
        X = whole(TableSource(path, label="click", missing="mean", scale=scale, hash_dim=4))[0]
        deviation = np.std([0.5, 1.5, 2.5, 1.0])
        assert X[2, 0] == pytest.approx(mean / 2.5 if scale == "max-abs" else 0.0)
        assert X[3, 0] == pytest.approx(1.0 if scale == "max-abs" else (2.5 - mean) / deviation)
        X = whole(TableSource(path, label="click", missing="category", scale=scale, hash_dim=4))[0]
        assert X[2, 0] == 0.0


def test_rare_values_share_a_column(path):
    source = TableSource(path, label="click", encode="onehot", max_categories=2, ignore=["bid", "day"])
    # a is the most frequent; b and c are equally rare, so the first in order stays
    assert source.feature_names == ["site=a", "site=b", "site=(missing)", "site=(other)"]
    assert whole(source)[0].argmax(axis=1).tolist() == [0, 1, 0, 3, 2]
    assert source.encoding.transform({"site": ["new"]}).tolist() == [[0, 0, 0, 1]]


def test_a_table_without_categories_has_nothing_to_hash(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("y,a,b\n0,1.5,2\n1,,3\n")
    source = TableSource(path, label="y", scale=None)
    assert source.feature_names == ["a", "a=(missing)", "b"]
    assert whole(source)[0].tolist() == [[1.5, 0, 2], [0, 1, 3]]


def test_weights_and_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("grade,x,w\nB,1.5,1\nA,2.5,0.5\nC,3.5,0\n")
    source = TableSource(path, label="grade", positive="A", weight="w", scale=None)
    assert source.classes == (("B", "C"), "A")
    X, y, weight = whole(source)
    assert (X[:, 0].tolist(), y.tolist(), weight.tolist()) == ([1.5, 2.5, 3.5], [0, 1, 0], [1.0, 0.5, 0.0])
    source = TableSource(path, label="grade", positive={"A", "C"}, weight="w", scale=None)
    assert source.classes[0] == "B"
    assert whole(source)[1].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["-1", "+1"], (-1, 1)),
        (["0.0", "1.0"], (0, 1)),
        (["no", "yes"], ("no", "yes")),
        (["False", "True"], (False, True)),
        (["2", "10"], (2, 10)),
        (["0.5", "1.5"], (0.5, 1.5)),
    ],
)
def test_labels_of_any_kind(labels, classes, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"y,x\n{labels[0]},1.5\n{labels[1]},2.5\n{labels[0]},3.5\n")
    source = TableSource(path, label="y")
    assert source.classes == classes
    assert whole(source)[1].tolist() == [0, 1, 0]


def test_the_second_class_may_come_late(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("y,s\n" + "0,a\n" * 60_000 + "1,b\n")
    source = TableSource(path, label="y", hash_dim=10)
    assert source.classes == (0, 1)
    assert sum(int(block.y.sum()) for block in source) == 1
    assert [block.y.size for block in source] == [60_001]


# -- whatever the file, the blocks and the order -----------------------------------------------------------

VALUES = st.characters(exclude_categories=["Cs", "Cc"])
WORDS = st.one_of(
    st.none(), st.sampled_from(["a", "b", "ä,ö", 'say "x"', "=", " "]), st.text(VALUES, max_size=3)
)


@st.composite
def frames(draw):
    """Tables of 2 to 12 rows with a label and columns of all kinds, as Arrow would hold them."""
    n = draw(st.integers(2, 12))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    columns = {
        "y": [0, 1, *column(st.integers(0, 1))[2:]],
        "word": pa.array(column(WORDS), pa.string()),
        "real": pa.array(column(st.one_of(st.none(), st.floats(-1e6, 1e6))), pa.float64()),
        "count": pa.array(column(st.one_of(st.none(), st.integers(-5, 50))), pa.int64()),
        "flag": pa.array(column(st.one_of(st.none(), st.booleans())), pa.bool_()),
        "code": pa.array(column(st.integers(100, 105)), pa.int32()),
        "day": pa.array(column(st.one_of(st.none(), st.dates())), pa.date32()),
    }
    return pa.table(columns).take(draw(st.permutations(range(n))))


SETTINGS = st.fixed_dictionaries(
    {
        "encode": st.sampled_from(["hash", "onehot"]),
        "hash_dim": st.sampled_from([7, 3000]),
        "signed": st.booleans(),
        "missing": st.sampled_from(["category", "mean"]),
        "scale": st.sampled_from([None, "max-abs", "standard"]),
        "max_categories": st.sampled_from([2, 100]),
    }
)
TYPES = dict.fromkeys(["word", "flag", "code", "day"], "category") | dict.fromkeys(["real", "count"], "numeric")
MANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


@pytest.mark.slow
@MANY
@given(frames(), SETTINGS, st.integers(1, 13))
def test_any_block_size_gives_the_same_matrix(tmp_path, table, how, block_rows):
    file = tmp_path / "t.parquet"
    parquet.write_table(table, file)
    one = TableSource(file, label="y", types=TYPES, **how)
    many = TableSource(file, label="y", types=TYPES, block_rows=block_rows, **how)
    assert one.encoding.feature_names == many.encoding.feature_names
    assert all(block.y.size <= block_rows for block in many)
    X, y, _ = whole(one)
    for _ in range(2):
        np.testing.assert_allclose(whole(many)[0], X, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(whole(many)[1], y)


@MANY
@given(frames(), SETTINGS)
def test_csv_parquet_and_frames_agree(tmp_path, table, how):
    """Also compressed, in pieces, and from pandas, polars, Arrow and dicts by the encoding alone."""
    import polars as pl

    parquet.write_table(table, tmp_path / "t.parquet")
    csv.write_csv(table, tmp_path / "t.csv")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    source = TableSource(tmp_path / "t.parquet", label="y", types=TYPES, **how)
    X, y, _ = whole(source)
    for name in ("t.csv", "t.csv.gz"):
        other = TableSource(tmp_path / name, label="y", types=TYPES, **how)
        assert other.feature_names == source.feature_names
        np.testing.assert_array_equal(whole(other)[0], X)
        np.testing.assert_array_equal(whole(other)[1], y)
    forms = [table, table.to_pandas(), pl.from_arrow(table), {name: table[name] for name in table.column_names}]
    for frame in forms:
        found = source.encoding.transform(frame)
        np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


@MANY
@given(frames(), SETTINGS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing_else(tmp_path, table, how, random):
    order = random.sample(range(table.num_rows), table.num_rows)
    names = random.sample(table.column_names, len(table.column_names))
    parquet.write_table(table, tmp_path / "t.parquet")
    parquet.write_table(table.take(order).select(names), tmp_path / "u.parquet")
    first = TableSource(tmp_path / "t.parquet", label="y", types=TYPES, **how)
    second = TableSource(tmp_path / "u.parquet", label="y", types=TYPES, **how)
    place = {name: column for column, name in enumerate(second.feature_names)}
    columns = [place[name] for name in first.feature_names]
    np.testing.assert_allclose(whole(second)[0][:, columns], whole(first)[0][order], rtol=1e-9, atol=1e-9)


@MANY
@given(frames())
def test_one_hot_is_that_of_pandas(tmp_path, table):
    parquet.write_table(table, tmp_path / "t.parquet")
    used = {"word": "category", "code": "category", "real": "numeric"}
    source = TableSource(
        tmp_path / "t.parquet",
        label="y",
        types=used,
        ignore=["count", "flag", "day"],
        encode="onehot",
        scale=None,
    )
    frame = table.select(["word", "code", "real"]).to_pandas()
    frame["code"] = frame["code"].astype(str)
    words = frame["word"].where(frame["word"] != "", None)
    frame["word"] = words.where(words.notna(), "(missing)")
    expected = pd.get_dummies(frame[["word", "code"]], prefix_sep="=", dtype=float)
    expected["real"] = frame["real"].fillna(0.0)
    if frame["real"].isna().any():
        expected["real=(missing)"] = frame["real"].isna().astype(float)
    found = pd.DataFrame(whole(source)[0], columns=source.feature_names)
    pd.testing.assert_frame_equal(found, expected[source.feature_names], check_names=False)
    assert set(found.columns) == set(expected.columns)


@pytest.mark.parametrize(("how", "scaler"), [("max-abs", MaxAbsScaler()), ("standard", StandardScaler())])
def test_scaling_is_that_of_scikit_learn(how, scaler, tmp_path, rng):
    X = rng.standard_normal((300, 4)) * [1, 10, 1e-3, 0] + [0, 1e4, 0, 3.5]
    file = tmp_path / "x.csv"
    pd.DataFrame(X, columns=list("abcd")).assign(y=rng.integers(0, 2, 300)).to_csv(file, index=False)
    found = whole(TableSource(file, label="y", scale=how, block_rows=37))[0]
    np.testing.assert_allclose(found, scaler.fit_transform(X), rtol=1e-9, atol=1e-9)


# -- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "gz", "bz2", "xz", "zip", "wrong name"])
def test_compressed_files(form, path, tmp_path):
    data = path.read_bytes()
    if form == "plain":
        file = path
    elif form == "zip":
        file = tmp_path / "clicks.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/clicks.csv", data)
            archive.writestr("__MACOSX/._clicks.csv", b"x")
            archive.writestr("folder/readme.txt", b"words")
    else:
        file = tmp_path / ("clicks.csv" if form == "wrong name" else f"c.csv.{form}")
        pack = {"gz": gzip, "bz2": bz2, "xz": lzma}.get(form, gzip).compress
        file.write_bytes(pack(data))
    expected = whole(TableSource(path, label="click", hash_dim=50))[0]
    np.testing.assert_array_equal(whole(TableSource(file, label="click", hash_dim=50))[0], expected)


def test_members_of_archives(path, tmp_path):
    file = tmp_path / "two.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/one.csv", CSV)
        archive.writestr("a/two.csv", "click;x\n0;1.5\n1;2.5\n")
    source = TableSource(file / "a" / "two.csv", label="click", scale=None)
    assert whole(source)[0].tolist() == [[1.5], [2.5]]
    with pytest.raises(ValueError, match=r"two\.zip holds 2 tables \('a/one.csv', 'a/two.csv'\); name one"):
        TableSource(file, label="click", scale=None)
    with pytest.raises(FileNotFoundError, match=r"holds no file 'a/three.csv'; it holds 'a/one.csv'"):
        TableSource(file / "a" / "three.csv", label="click", scale=None)


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_the_separator_is_found(separator, tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text(CSV.replace(",", separator))
    assert TableSource(path, label="click").n_features == 1 + 10_000


def test_headerless_tab_separated_files(tmp_path):
    path = tmp_path / "raw.tsv"
    path.write_text("0\t1\t\t68fd1e64\n1\t\t5\t\n0\t3\t7\tfb936136\n")
    source = TableSource(path, label="label", names=["label", "I1", "I2", "C1"], encode="onehot", scale=None)
    assert source.feature_names == [
        "I1", "I1=(missing)", "I2", "I2=(missing)", "C1=68fd1e64", "C1=fb936136", "C1=(missing)",
    ]  # fmt: skip
    assert whole(source)[0].tolist() == [[1, 0, 0, 1, 1, 0, 0], [0, 1, 5, 0, 0, 0, 1], [3, 0, 7, 0, 0, 1, 0]]


def test_quotes_line_breaks_blank_lines_crlf_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_bytes(b'\xef\xbb\xbf"y",s\r\n0,"a, ""b""\r\nc"\r\n\r\n1,x\r\n,\r\n0,x')
    source = TableSource(path, label="y", encode="onehot")
    assert source.feature_names == ['s=a, "b"\r\nc', "s=x"]
    assert whole(source)[0].tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_several_files_a_pattern_and_a_folder(form, tmp_path):
    table = csv.read_csv(pa.BufferReader(CSV.encode()))
    write = csv.write_csv if form == "csv" else parquet.write_table
    (tmp_path / "logs").mkdir()
    files = [tmp_path / "logs" / f"part-{k}.{form}" for k in range(3)]
    for k, file in enumerate(files):
        write(table.slice(k, 2), file)
    (tmp_path / "logs" / "_SUCCESS.csv").write_text("not a table")
    (tmp_path / "logs" / "readme").write_text("not a table")
    expected = whole(TableSource(files, label="click", hash_dim=50))[0]
    assert expected.shape == (6, 51)
    for paths in (
        tmp_path / "logs",
        str(tmp_path / "logs" / f"*.{form}"),
        [files[0], tmp_path / "logs" / "part-[12]*"],
    ):
        if form == "csv" and "*." in str(paths):
            continue  # would match the file that is no table
        note = pytest.warns(DataWarning, match="left out") if paths == tmp_path / "logs" else nullcontext()
        with note:
            np.testing.assert_array_equal(whole(TableSource(paths, label="click", hash_dim=50))[0], expected)
    reversed_ = whole(TableSource(files[::-1], label="click", hash_dim=50))[0]
    np.testing.assert_array_equal(reversed_, expected.reshape(3, 2, 51)[::-1].reshape(6, 51))


def test_columns_in_the_names_of_folders(tmp_path):
    table = pa.table({"y": [0, 1], "x": [0.5, 1.5]})
    for day in ("Mon", "Tue"):
        (tmp_path / f"day={day}").mkdir()
        parquet.write_table(table, tmp_path / f"day={day}" / "part-0.parquet")
        csv.write_csv(table, tmp_path / f"day={day}" / "part-0.csv")
    for pattern in ("parquet", "csv"):
        for other in tmp_path.rglob(f"*.{'csv' if pattern == 'parquet' else 'parquet'}"):
            other.rename(other.with_suffix(".hidden"))
        with pytest.warns(DataWarning, match="part-0.hidden' left out"):
            source = TableSource(tmp_path, label="y", encode="onehot", scale=None)
        assert source.feature_names == ["x", "day=Mon", "day=Tue"]
        assert whole(source)[0].tolist() == [[0.5, 1, 0], [1.5, 1, 0], [0.5, 0, 1], [1.5, 0, 1]]
        for other in tmp_path.rglob("*.hidden"):
            other.rename(other.with_suffix(".csv" if pattern == "parquet" else ".parquet"))


def test_other_files_are_read_in_the_same_way(path, tmp_path):
    train = TableSource(path, label="click", encode="onehot", scale="max-abs")
    other = tmp_path / "later.csv"
    other.write_text("bid,click,site,day,new\n5.0,1,z,2014-10-21,?\n")
    test = train.on(other)
    assert test.classes == (0, 1)
    assert whole(test)[0].tolist() == [[0, 0, 0, 0, 2, 0, 0, 1, 0, 0]]
    assert whole(test)[1].tolist() == [1]
    assert whole(train)[0].shape == (5, 10)
    with pytest.raises(ValueError, match="leave out types, ignore, id and cluster, or encoding"):
        TableSource(path, label="click", encoding=train.encoding, ignore=["day"])
    again = TableSource(path, label="click", encoding=train.encoding)
    np.testing.assert_array_equal(whole(again)[0], whole(train)[0])
    assert again.plan["site"].kind == "category"
    other.write_text("bid,click,site,day\n5.0,2,z,2014-10-21\n")
    with pytest.raises(
        ValueError, match=r"later.csv, line 2: expected the label 0 or 1 in column 'click', got 2"
    ):
        list(train.on(other))
    other.write_text("bid,click,site\n5.0,1,z\n")
    with pytest.raises(ValueError, match=r"later.csv: there is no column for the feature 'day'"):
        train.on(other)


def test_columns_for_splits(path, tmp_path):
    source = TableSource(path, label="click", block_rows=2)
    assert source.column("site").tolist() == ["a", "b", "a", "c", None]
    np.testing.assert_array_equal(source.column("bid"), [0.5, 1.5, np.nan, 2.5, 1.0])
    assert source.column("click").tolist() == [0, 1, 0, 1, 0]
    with pytest.raises(ValueError, match=r"no column for 'sites'.*Did you mean 'site'"):
        source.column("sites")
    codes = tmp_path / "codes.csv"
    codes.write_text("y,x,user,zip\n0,1.5,10000009418151094273,007\n1,2.5,10000009418151094274,7\n")
    source = TableSource(codes, label="y")
    assert source.column("user").tolist() == ["10000009418151094273", "10000009418151094274"]
    assert source.column("zip").tolist() == ["007", "7"]
    table = pa.table(
        {"y": [0, 1, 0], "x": [0.5, 1.5, 2.5], "t": pa.array([3, 1, 2], pa.timestamp("s")), "u": list("aba")}
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    source = TableSource(tmp_path / "t.parquet", label="y", types={"u": "group"})
    assert np.argsort(source.column("t")).tolist() == [1, 2, 0]
    assert source.column("u").tolist() == ["a", "b", "a"]


def test_blocks_are_bounded_however_long_the_file(tmp_path, rng):
    """Arrow and the blocks together hold a small part of the file's rows at any time."""
    path = tmp_path / "long.csv"
    lines = [
        f"{k % 7 == 0:d},{word:08x},{word % 97}\n" for k, word in enumerate(rng.integers(0, 2**32, 20_000))
    ]
    with path.open("w") as stream:
        stream.write("y,word,number\n")
        for _ in range(25):
            stream.writelines(lines)
    source = TableSource(path, label="y", hash_dim=1000, block_rows=10_000, types={"word": "category"})
    rows, most = 0, 0
    for block in source:
        most = max(most, pa.total_allocated_bytes())
        assert block.y.size <= 10_000
        rows += block.y.size
    assert rows == 500_000
    # all rows as Arrow strings would take about 14 MB for the words alone, and 7 MB more for the numbers
    assert path.stat().st_size > 6_500_000
    assert most < 14 << 20


# -- real data ---------------------------------------------------------------------------------------------


@pytest.mark.data
def test_avazu(shared_file):
    path = shared_file("avazu.first9999.csv.bz2")
    source = TableSource(path, label="click", hash_dim=200)
    kinds = {column.name: column.kind for column in source.plan.columns}
    assert kinds.pop("id") == "id"
    assert kinds.pop("click") == "label"
    assert kinds.pop("hour") == "time"
    assert set(kinds.values()) == {"category"}
    assert len(kinds) == 21
    X, y, _ = whole(source)
    assert X.shape == (9999, 200)
    assert (y == 0).sum() / (y == 1).sum() == pytest.approx(4.86, abs=0.005)
    assert (X.sum(axis=1) == 23).all()
    train, test = np.arange(0, 7000), np.arange(7000, 9999)
    ranker = MBAClassifier().fit_moments(PairMoments.from_arrays(X[train], y[train]), classes=source.classes)
    assert roc_auc(y[test], ranker.decision_function(X[test])) > 0.6


@pytest.mark.data
def test_criteo(shared_file):
    path = shared_file("criteo.raw8000.tsv.bz2")
    names = ["label", *(f"I{k}" for k in range(1, 14)), *(f"C{k}" for k in range(1, 27))]
    source = TableSource(path, label="label", names=names)
    kinds = [column.kind for column in source.plan.columns]
    assert kinds == ["label"] + ["numeric"] * 13 + ["category"] * 26
    assert source.n_features == 13 + 10_000
    blocks = list(source)
    assert sum(block.y.size for block in blocks) == 8000
    assert all(block.X.format == "csr" for block in blocks)
    y = np.concatenate([block.y for block in blocks])
    assert (y == 0).sum() / (y == 1).sum() == pytest.approx(3.63, abs=0.005)


@pytest.mark.data
def test_bank_marketing(shared_file):
    path = shared_file("bank-additional.zip")
    source = TableSource(
        path / "bank-additional" / "bank-additional-full.csv", label="y", encode="onehot", scale=None
    )
    assert source.classes == ("no", "yes")
    assert source.n_features == 63
    X, y, _ = whole(source)
    assert X.shape == (41_188, 63)
    assert (y == 0).sum() / (y == 1).sum() == pytest.approx(7.88, abs=0.005)
    with zipfile.ZipFile(path) as archive, archive.open("bank-additional/bank-additional-full.csv") as stream:
        frame = pd.read_csv(stream, sep=";")
    expected = pd.get_dummies(frame.drop(columns="y"), prefix_sep="=", dtype=float)
    np.testing.assert_array_equal(X, expected[source.feature_names].to_numpy())


# -- from file to ranker -----------------------------------------------------------------------------------


def test_a_ranker_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    n = 6000
    site, bid = rng.integers(0, 30, n), rng.lognormal(0, 1, n)
    effect = rng.normal(0, 1, 30)
    y = rng.random(n) < 1 / (1 + np.exp(2 - effect[site] - 0.3 * bid))
    frame = pd.DataFrame({"click": y.astype(int), "site": [f"s{k}" for k in site], "bid": bid})
    frame.loc[::17, "bid"] = np.nan
    frame[:4000].to_csv(tmp_path / "train.csv.gz", index=False)
    frame[4000:].to_parquet(tmp_path / "test.parquet")
    for settings_ in ({"encode": "onehot"}, {"hash_dim": 64, "signed": True, "scale": "standard"}):
        train = TableSource(tmp_path / "train.csv.gz", label="click", block_rows=999, **settings_)
        moments = PairMoments.from_blocks(train)
        assert sum(moments.counts) == 4000
        ranker = MBAClassifier().fit_moments(moments, classes=train.classes)
        blocks = list(train.on(tmp_path / "test.parquet"))
        scores = np.concatenate([ranker.decision_function(block.X) for block in blocks])
        assert roc_auc(np.concatenate([block.y for block in blocks]), scores) > 0.7
        stream = MBAClassifier()
        for X, labels, _ in train:
            stream.partial_fit(X, labels, classes=[0, 1])
        np.testing.assert_allclose(stream.coef_, ranker.coef_, rtol=1e-6, atol=1e-9)


# -- labels and columns keep apart what differs ------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [["1.1", "1.10", "2"], ["1e5", "100000", "7"], ["1", "NA", "2"], ["1", "nan", "2"], ["1", "+1", "2"]],
)
def test_columns_do_not_merge_texts(tmp_path, texts):
    path = tmp_path / "t.csv"
    path.write_text("y,x,g\n" + "".join(f"{k % 2},{k}.5,{text}\n" for k, text in enumerate(texts)))
    assert TableSource(path, label="y", types={"g": "group"}).column("g").tolist() == texts
    path.write_text("y,x,g\n0,1.5,1.5\n1,2.5,\n0,3.5,-2\n1,3.5,1.5\n")
    column = TableSource(path, label="y", types={"g": "group"}).column("g")
    np.testing.assert_array_equal(column, [1.5, np.nan, -2.0, 1.5])


def test_columns_of_files_of_several_number_types(tmp_path):
    for name, values in (("a", [1, 2]), ("b", [1.0, 2.0])):
        parquet.write_table(pa.table({"y": [0, 1], "x": [0.5, 1.5], "g": values}), tmp_path / f"{name}.parquet")
    source = TableSource(tmp_path, label="y", types={"g": "group"})
    assert source.column("g").tolist() == [1.0, 2.0, 1.0, 2.0]


def test_long_and_decimal_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,x\n10000000000000001,1.5\n10000000000000002,2.5\n")
    source = TableSource(path, label="y")
    assert source.classes == (10000000000000001, 10000000000000002)
    assert whole(source)[1].tolist() == [0, 1]
    for labels, classes in ((["0.00", "1.00"], (0, 1)), (["0.50", "1.50"], (0.5, 1.5))):
        values = pa.array([Decimal(text) for text in labels])
        parquet.write_table(pa.table({"y": values, "x": [1.5, 2.5]}), tmp_path / "t.parquet")
        source = TableSource(tmp_path / "t.parquet", label="y")
        assert source.classes == classes
        assert [type(label) for label in source.classes] == [type(label) for label in classes]
        assert whole(TableSource(tmp_path / "t.parquet", label="y", positive=classes[0]))[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    "positive",
    [
        [2, 3], (2, 3), {2, 3}, range(2, 4), np.array([2, 3]), np.array([2.0, 3.0]), np.array(["2", "3"]),
        pd.Series([2, 3], index=[7, 8]), {2: "b", 3: "c"}.keys(), iter([2, 3]),
    ],
    ids=["list", "tuple", "set", "range", "numpy", "floats", "texts", "pandas", "keys", "iterator"],
)  # fmt: skip
def test_positive_labels_in_any_collection(tmp_path, positive):
    path = tmp_path / "t.csv"
    path.write_text("y,x\n1,1.5\n2,2.5\n3,3.5\n")
    source = TableSource(path, label="y", positive=positive)
    assert source.classes[0] == 1
    assert set(source.classes[1]) == {2, 3}
    assert whole(source)[1].tolist() == [0, 1, 1]
    for one in (np.int64(2), np.array(2), "2", 2.0):
        assert whole(TableSource(path, label="y", positive=one))[1].tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="positive must be a label or a collection of labels"):
        TableSource(path, label="y", positive=np.array([]))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "zip"])
def test_about_how_many_rows_there_are_in_text(tmp_path, ending):
    import bz2
    import gzip
    import lzma
    import zipfile

    rng = np.random.default_rng(0)
    lines = [f"{k % 2},{rng.integers(10**9)},x{k % 7}\n" for k in range(200_000)]
    text = ("y,a,b\n" + "".join(lines)).encode()
    path = tmp_path / f"rows.{ending}"
    if ending == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("rows.csv", text)
    else:
        packers = {"csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}
        path.write_bytes(packers.get(ending, bytes)(text))
    source = TableSource(path, label="y")
    assert source.n_rows is None
    # bzip2 packs 0.9 MB at a time, so that little is known of a small file
    assert source.about_rows == pytest.approx(200_000, rel=0.5 if ending == "csv.bz2" else 0.1)


def test_about_rows_of_small_files_is_exact(tmp_path):
    (tmp_path / "a.csv").write_text("y,x\n0,1\n1,2\n")
    (tmp_path / "b.csv").write_text("y,x\n0,1\n1,2\n1,3")
    assert TableSource([tmp_path / "a.csv", tmp_path / "b.csv"], label="y").about_rows == 5
