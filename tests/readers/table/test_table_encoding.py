import datetime
import decimal
import json

import numpy as np
import pytest
from scipy import sparse

from mbauc.readers import TableEncoding, TableSource, learn_table_codes

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")
parquet = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="polars is an optional dependency")

TEXT = "click,site,code,bid,flag,at\n0,a1,7,0.5,true,2014-10-21 05:00\n1,b2,9,1.5,false,2014-10-22 17:30\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return TableSource(path, label="click", types={"code": "category"}, encode="onehot", scale=None)


@pytest.fixture
def encoding(source):
    return source.encoding


ROW = {"site": ["b2"], "code": [7], "bid": [3.0], "flag": [True], "at": [datetime.datetime(2014, 10, 21, 17)]}
NAMES = [
    "site=a1", "site=b2", "code=7", "code=9", "bid", "flag=false", "flag=true",
    "at.hour=17", "at.hour=5", "at.weekday=Tue", "at.weekday=Wed",
]  # fmt: skip
EXPECTED = [[0, 1, 1, 0, 3.0, 0, 1, 1, 0, 1, 0]]


@pytest.mark.parametrize(
    "make",
    [
        pa.table,
        lambda row: pa.table(row).to_batches()[0],
        pd.DataFrame,
        lambda row: pd.DataFrame(row).convert_dtypes(dtype_backend="pyarrow"),
        lambda row: pd.DataFrame(row).astype({"site": "category", "code": "float64", "flag": "object"}),
        pl.DataFrame,
        lambda row: pl.DataFrame(row).with_columns(pl.col("site").cast(pl.Categorical)),
        dict,
        lambda row: {name: np.array(values) for name, values in row.items()},
        lambda row: row | {"code": ["7"], "flag": ["True"], "bid": ["3"], "at": ["2014-10-21T17:00"]},
        lambda row: row | {"code": ["7.0"], "flag": ["TRUE"]},
    ],
    ids=[
        "arrow", "batch", "pandas", "pandas-arrow", "pandas-objects", "polars", "polars-categorical", "dict",
        "numpy", "texts", "more texts",
    ],
)  # fmt: skip
def test_frames_of_all_kinds_give_the_same_matrix(encoding, make):
    assert encoding.feature_names == NAMES
    assert encoding.transform(make(ROW)).tolist() == EXPECTED


def test_the_encoding_of_a_source_gives_its_blocks(source):
    (block,) = source
    frame = pd.DataFrame({"site": ["a1", "b2"], "code": [7, 9], "bid": [0.5, 1.5], "flag": [True, False]})
    frame["at"] = pd.to_datetime(["2014-10-21 05:00", "2014-10-22 17:30"])
    np.testing.assert_array_equal(source.encoding.transform(frame), block.X)
    np.testing.assert_array_equal(source.encoding.transform(frame.assign(click=0)), block.X)


@pytest.mark.parametrize("how", [{"encode": "onehot"}, {"hash_dim": 50, "signed": True}, {"hash_dim": 10_000}])
@pytest.mark.parametrize("scale", [None, "standard"])
def test_to_json_and_back(tmp_path, how, scale):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    encoding = TableSource(path, label="click", scale=scale, types={"code": "category"}, **how).encoding
    told = json.loads(json.dumps(encoding.to_dict(), allow_nan=False))
    again = TableEncoding.from_dict(told)
    assert again.to_dict() == encoding.to_dict()
    assert (again.n_features, again.dense, again.feature_names) == (
        encoding.n_features, encoding.dense, encoding.feature_names,
    )  # fmt: skip
    first, second = encoding.transform(ROW), again.transform(ROW)
    assert sparse.issparse(first) == (not encoding.dense)
    assert abs(first - second).max() == 0


def test_what_was_not_learned(encoding):
    new = ROW | {"site": ["c3"], "code": [None], "flag": [None], "at": [None]}
    assert encoding.transform(new).tolist() == [[0, 0, 0, 0, 3.0, 0, 0, 0, 0, 0, 0]]
    # no indicator was learned for a missing bid: it becomes the mean
    assert encoding.transform(ROW | {"bid": [None]})[0, 4] == 1.0
    assert encoding.transform(ROW | {"bid": [float("nan")]})[0, 4] == 1.0


def test_no_rows(encoding):
    empty = {name: pa.array([], pa.array(values).type) for name, values in ROW.items()}
    assert encoding.transform(pa.table(empty)).shape == (0, 11)


def test_missing_and_extra_columns_are_named(encoding):
    without = {name: values for name, values in ROW.items() if name not in ("site", "bid")}
    with pytest.raises(ValueError, match="no column for 'site', 'bid'; its 3 columns are 'code', 'flag', 'at'"):
        encoding.transform(without)
    with pytest.raises(ValueError, match="Did you mean 'Site'"):
        encoding.transform({("Site" if name == "site" else name): values for name, values in ROW.items()})
    with pytest.raises(
        ValueError, match=r"the training rows did not have: 'new'. Drop them, or pass extra='ignore'"
    ):
        encoding.transform(ROW | {"new": [1]})
    assert encoding.transform(ROW | {"new": [1]}, extra="ignore").tolist() == EXPECTED
    with pytest.raises(ValueError, match="extra must be 'error' or 'ignore'"):
        encoding.transform(ROW, extra="drop")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"site": [5]}, "expected texts in column 'site', as in training, got int64. Read it as text"),
        ({"site": [["a"]]}, "expected texts in column 'site'.*got list"),
        ({"bid": ["much"]}, "row 0 of the table .*: expected a finite number in column 'bid', got 'much'"),
        ({"bid": [float("inf")]}, "row 0 of the table .*: expected a finite number in column 'bid', got inf"),
        ({"bid": [datetime.date(2014, 1, 1)]}, "expected numbers in column 'bid', got date32"),
        ({"at": ["later"]}, "row 0 of the table .*: expected a time in column 'at', got 'later'"),
        ({"at": [17]}, "row 0 of the table .*: expected a time in column 'at', got 17"),
        ({"site": ["a", "b"]}, "all columns must be equally long, got 'site' 2, 'code' 1"),
        ({"site": [object()]}, "column 'site' cannot be read"),
    ],
)
def test_columns_of_a_wrong_type_are_named(encoding, change, message):
    with pytest.raises(ValueError, match=message):
        encoding.transform(ROW | change)


def test_things_that_are_no_tables(encoding):
    with pytest.raises(TypeError, match=r"expected a table with named columns .* got ndarray"):
        encoding.transform(np.ones((2, 2)))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "expected a dict with format 'mbauc table encoding'"),
        ([], "expected a dict with format"),
        (
            {"format": "mbauc table encoding", "version": 99},
            "has version 99, this mbauc reads up to 3. Update mbauc",
        ),
        ({"format": "mbauc table encoding", "version": 1}, "incomplete or broken"),
    ],
)
def test_dicts_that_are_no_encodings(told, message):
    with pytest.raises(ValueError, match=message):
        TableEncoding.from_dict(told)


def test_codes_keep_their_zeros(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,code\n0,007\n1,010\n")
    encoding = TableSource(path, label="y", encode="onehot").encoding
    assert encoding.feature_names == ["code=007", "code=010"]
    with pytest.raises(ValueError, match="codes such as 007"):
        encoding.transform(pd.DataFrame({"code": [7]}))


def test_na_is_a_country(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,country,n\n0,NA,NA\n1,DE,5\n0,,\n")
    source = TableSource(path, label="y", encode="onehot")
    assert source.feature_names == ["country=DE", "country=NA", "country=(missing)", "n", "n=(missing)"]


def test_narrow_and_full_is_dense_wide_or_thin_is_sparse(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    words = rng.integers(0, 400, 2000)
    path.write_text("y,word,x\n" + "".join(f"{k % 2},w{word},{k / 7:.3f}\n" for k, word in enumerate(words)))
    assert TableSource(path, label="y", ignore=["word"]).encoding.dense
    assert not TableSource(path, label="y", encode="onehot").encoding.dense
    assert TableSource(path, label="y", hash_dim=7).encoding.dense
    assert not TableSource(path, label="y", hash_dim=8).encoding.dense
    assert (
        repr(TableSource(path, label="y").encoding)
        == "TableEncoding(2 columns → 10,001 features, hashed to 10,000)"
    )


# -- one spelling, one column ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "categories"),
    [
        (["5.00", "5.0", "5", "1.50", "1.5", "1.500"], ["1.5", "5"]),
        (["1e5", "100000", "0.00001", "1e-05", "-0.0", "0"], ["0", "0.00001", "100000"]),
        (["+2.50", "2.5", ".5", "0.50"], ["0.5", "2.5"]),
    ],
)
def test_numbers_as_categories_have_one_spelling(tmp_path, texts, categories):
    labels = [k % 2 for k in range(len(texts))]
    (tmp_path / "t.csv").write_text(
        "y,v\n" + "".join(f"{y},{text}\n" for y, text in zip(labels, texts, strict=True))
    )
    source = TableSource(tmp_path / "t.csv", label="y", types={"v": "category"}, encode="onehot")
    assert source.feature_names == [f"v={category}" for category in categories]
    expected = np.vstack([block.X for block in source]).tolist()
    floats = pa.array([float(text) for text in texts])
    decimals = pa.array([decimal.Decimal(text) for text in texts]).cast(pa.decimal128(20, 6))
    for values in (floats, decimals):
        assert source.encoding.transform(pa.table({"v": values})).tolist() == expected
        parquet.write_table(pa.table({"y": labels, "v": values}), tmp_path / "t.parquet")
        other = TableSource(tmp_path / "t.parquet", label="y", types={"v": "category"}, encode="onehot")
        assert other.feature_names == source.feature_names
    assert source.encoding.transform(pd.DataFrame({"v": floats.to_pylist()})).tolist() == expected


def test_two_columns_of_one_name(encoding):
    frame = pd.DataFrame(ROW)
    for table in (
        pd.concat([frame, frame[["bid"]]], axis=1),
        pa.table([*pa.table(ROW).columns, pa.array([1.0])], names=[*ROW, "bid"]),
    ):
        with pytest.raises(ValueError, match="the table has two columns named 'bid'; give each a name"):
            encoding.transform(table)


def test_settings_from_numpy_go_into_json(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    source = TableSource(path, label="click", hash_dim=np.int64(16), signed=True)
    told = json.loads(json.dumps(source.encoding.to_dict()))
    assert (told["hash_dim"], told["signed"]) == (16, True)
    again = TableEncoding(
        source.encoding.columns, source.encoding.features, hash_dim=np.int32(16), signed=np.bool_(True)
    )
    assert (type(again.hash_dim), type(again.signed), type(again.n_features)) == (int, bool, int)


@pytest.mark.parametrize("how", [{"encode": "onehot"}, {"hash_dim": 8}, {"hash_dim": 10_000}])
def test_frames_without_rows(tmp_path, how):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    encoding = TableSource(path, label="click", types={"code": "category"}, **how).encoding
    names = list(ROW)
    for frame in (
        pd.DataFrame(columns=names),
        pd.DataFrame({name: pd.Series(dtype="float64") for name in names}),
        pd.DataFrame(ROW)[:0],
        pl.DataFrame({name: [] for name in names}),
        {name: [] for name in names},
        {name: np.array([]) for name in names},
    ):
        assert encoding.transform(frame).shape == (0, encoding.n_features)


@pytest.mark.parametrize(
    "change", [{"bid": ["much"]}, {"at": ["later"]}, {"bid": [datetime.date(2014, 1, 1)]}, {"code": [["a"]]}]
)
def test_no_advice_that_cannot_be_followed(encoding, change):
    with pytest.raises(ValueError, match=r"expected .* in column") as caught:
        encoding.transform(ROW | change)
    assert not any(word in str(caught.value) for word in ("types=", "on_error", "ignore=["))


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("hash_dim", [20, 5000])
def test_a_missing_number_is_the_mean_and_nothing_else_where_that_was_asked_for(tmp_path, scale, hash_dim):
    path = tmp_path / "t.csv"
    path.write_text("y,site,bid\n0,a,1\n1,b,\n0,a,3\n1,b,2\n")
    source = TableSource(path, label="y", hash_dim=hash_dim, missing="mean", scale=scale)
    (block,) = source
    X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
    np.testing.assert_allclose(X[1], X[3])
    coef = np.random.default_rng(0).standard_normal(source.n_features)
    ((_, s, _),) = source.score_blocks(coef)
    assert s[1] == pytest.approx(s[3])
    again = TableEncoding.from_dict(json.loads(json.dumps(source.encoding.to_dict())))
    np.testing.assert_array_equal(again.transform(pd.DataFrame({"site": ["b"], "bid": [None]})) @ coef, s[1:2])
    other = TableSource(path, label="y", hash_dim=hash_dim, scale=scale)
    ((_, s, _),) = other.score_blocks(np.random.default_rng(0).standard_normal(other.n_features))
    assert s[1] != pytest.approx(s[3])


@pytest.mark.parametrize(
    "values", [[True, False] * 20, ["yes", "no"] * 20, ["red", "blue", "green", "blue"] * 10]
)
def test_a_category_without_any_value_is_missing_whatever_its_type(values):
    pd = pytest.importorskip("pandas")
    encoding = learn_table_codes(pd.DataFrame({"c": values, "x": np.arange(40.0)}))
    nothing = pd.DataFrame({"c": [np.nan, np.nan], "x": [1.0, 2.0]})
    assert np.isnan(np.asarray(encoding.transform(nothing))[:, 0]).all()
