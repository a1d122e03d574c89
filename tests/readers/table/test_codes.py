import datetime
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc import PairMoments
from mbauc.readers import CodeColumn, TableEncoding, TableSource, learn_table_codes
from mbauc.readers.hashing import hash_features, hash_slots
from mbauc.readers.table.columns.code_guess import guess_code, guess_frame_code

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")
parquet = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="polars is an optional dependency")

NAN = math.nan
TEXT = (
    "click,site,bid,at,user\n0,b,0.5,2014-10-21 05:00,u1\n1,a,,2014-10-22 17:30,u2\n0,,2.5,,u3\n"
    "1,b,1.5,2014-10-26 05:59,\n"
)


def source_of(folder, text, **options):
    path = folder / "t.csv"
    path.write_text(text)
    return TableSource(path, **{"label": "click", "encode": "codes", **options})


def matrix(source):
    return np.concatenate([block.X for block in source])


def codes_by_definition(train, values, max_categories, hash_dim, name):
    """Codes of texts one by one; None and the empty text are missing."""
    levels = sorted({text for text in train if text})
    codes = []
    for text in values:
        if not text:
            codes.append(NAN)
        elif len(levels) > max_categories:
            codes.append(float(hash_slots(hash_features(name, [text]), hash_dim)[0]))
        else:
            codes.append(float(levels.index(text)) if text in levels else float(len(levels)))
    return codes


def test_each_column_is_one_column_of_codes(tmp_path):
    source = source_of(tmp_path, TEXT, max_categories=2, hash_dim=50)
    assert source.feature_names == ["site", "bid", "at.hour", "at.weekday", "user"]
    assert source.encoding.code_columns == (
        CodeColumn("site", ("a", "b")),
        CodeColumn("bid"),
        CodeColumn("at.hour", ("5", "17")),
        CodeColumn("at.weekday", ("Tue", "Wed", "Sun")),
        CodeColumn("user", hashed=50),
    )
    users = hash_slots(hash_features("user", ["u1", "u2", "u3"]), 50).tolist()
    expected = [
        [1, 0.5, 0, 0, users[0]],
        [0, NAN, 1, 1, users[1]],
        [NAN, 2.5, NAN, NAN, users[2]],
        [1, 1.5, 0, 2, NAN],
    ]
    np.testing.assert_array_equal(matrix(source), expected)
    assert source.n_features == 5
    assert repr(source.encoding) == "TableEncoding(4 columns → 5 features, codes)"
    assert {column.name: column.becomes for column in source.plan.features} == {
        "site": "2 levels",
        "bid": "numbers",
        "at": "2 levels + 3 levels",
        "user": "50 slots (4.0% of values share one)",
    }


def test_slots_follow_the_number_of_distinct_values():
    texts = [f"user {k}" for k in range(30_000)]
    rng = np.random.default_rng(0)
    for seen in (1_500, 30_000):
        # some in many rows, across blocks
        rows = rng.permutation(texts[:seen] + texts[: seen // 2] * 4)
        encoding = learn_table_codes(
            {"user": rows, "v": rng.normal(size=rows.size)}, types={"user": "category"}
        )
        column = encoding.code_columns[0]
        assert column.hashed == 10 * column.n_texts
        assert abs(column.n_texts - seen) <= (0 if seen < 4_096 else 0.05 * seen)
        slots = encoding.transform({"user": texts[:seen], "v": np.zeros(seen)})[:, 0]
        shared = 1 - (np.bincount(slots.astype(int)) == 1).sum() / seen
        said = float(column.describe().split(" slots (")[1].split("%")[0]) / 100
        assert abs(shared - said) < 0.03
        assert TableEncoding.from_dict(encoding.to_dict()).code_columns[0] == column


def test_scaling_and_missing_have_no_say(tmp_path):
    plain = matrix(source_of(tmp_path, TEXT))
    other = matrix(source_of(tmp_path, TEXT, scale="max-abs", missing="mean", signed=True))
    np.testing.assert_array_equal(plain, other)


def test_unseen_texts_are_one_code_after_the_last(tmp_path):
    encoding = source_of(tmp_path, TEXT, ignore=["at", "user"]).encoding
    codes = encoding.transform({"bid": [None, 7], "site": ["c", "(other)"]})
    np.testing.assert_array_equal(codes, [[2, NAN], [2, 7]])
    assert encoding.code_columns[0].n_codes == 3


def test_a_table_of_numbers_has_nothing_to_learn(tmp_path):
    source = source_of(tmp_path, "click,a,b\n0,1.5,\n1,,2.5\n")
    np.testing.assert_array_equal(matrix(source), [[1.5, NAN], [NAN, 2.5]])
    assert source.encoding.transform({"a": [], "b": []}).shape == (0, 2)


texts = st.lists(
    st.sampled_from([None, "", "a", "b", "é", "zz", "(other)", "NA", "7"]), min_size=1, max_size=12
)


@given(train=texts, test=texts, max_categories=st.integers(1, 5), cut=st.integers(0, 12))
def test_codes_are_those_of_the_definition_and_blocks_do_not_matter(train, test, max_categories, cut):
    table = pa.table({"x": pa.array([*train, "a", "b"], pa.string()), "v": [0.5] * (len(train) + 2)})
    options = {"types": {"x": "category"}, "max_categories": max_categories, "hash_dim": 7}
    encoding = learn_table_codes(table, **options)
    again = learn_table_codes(pa.concat_tables([table.slice(cut), table.slice(0, cut)]), **options)
    assert again.code_columns == encoding.code_columns
    new = {"x": pa.array(test, pa.string()), "v": [1.0] * len(test)}
    expected = codes_by_definition([*train, "a", "b"], test, max_categories, 7, "x")
    np.testing.assert_array_equal(encoding.transform(new)[:, 0], expected)
    coded = {"x": pa.array(test, pa.string()).dictionary_encode(), "v": [1.0] * len(test)}
    np.testing.assert_array_equal(encoding.transform(coded)[:, 0], expected)


@pytest.mark.parametrize("block_rows", [1, 3, 1000])
def test_blocks_of_any_size_learn_the_same(tmp_path, block_rows):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "click": rng.integers(0, 2, 60),
            "few": rng.choice(["a", "b", "c"], 60),
            "many": rng.choice([f"m{i}" for i in range(30)], 60),
            "value": rng.normal(size=60),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7)
    options = {"label": "click", "encode": "codes", "max_categories": 5, "hash_dim": 11}
    source = TableSource(tmp_path / "t.parquet", block_rows=block_rows, **options)
    columns = source.encoding.code_columns
    assert columns == (CodeColumn("few", ("a", "b", "c")), CodeColumn("many", hashed=11), CodeColumn("value"))
    X = matrix(source)
    for place, name in enumerate(("few", "many")):
        values = table[name].to_pylist()
        np.testing.assert_array_equal(X[:, place], codes_by_definition(values, values, 5, 11, name))
    np.testing.assert_array_equal(X[:, 2], table["value"].to_numpy())
    np.testing.assert_array_equal(source.encoding.transform(table), X)


def test_json_round_trip(tmp_path):
    source = source_of(tmp_path, TEXT, max_categories=2, hash_dim=np.int64(50))
    stored = json.loads(json.dumps(source.encoding.to_dict()))
    encoding = TableEncoding.from_dict(stored)
    assert encoding.code_columns == source.encoding.code_columns
    assert encoding.to_dict() == stored
    again = TableSource(tmp_path / "t.csv", label="click", encoding=encoding)
    np.testing.assert_array_equal(matrix(again), matrix(source))
    np.testing.assert_array_equal(matrix(source.on(tmp_path / "t.csv")), matrix(source))


def _change(place, **values):
    def change(stored):
        stored["codes"][place] |= values

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change(0, levels=None), "the codes of 'site' do not fit its column"),
        (_change(1, hashed=5), "the codes of 'bid' do not fit its column"),
        (_change(0, hashed=5), "'site' has both levels and slots"),
        (_change(0, levels=["a", "a"]), "'site' has a level twice"),
        (_change(0, levels=[1]), "must be a text"),
        (_change(0, name="other"), "codes and columns of the encoding do not fit"),
        (lambda stored: stored["codes"].pop(), "codes and columns of the encoding do not fit"),
        (lambda stored: stored.update(codes=[]), "features and columns of the encoding do not fit"),
        (lambda stored: stored.update(hash_dim=5), "both codes and features"),
    ],
)
def test_broken_dicts_are_refused(tmp_path, change, message):
    stored = source_of(tmp_path, TEXT).encoding.to_dict()
    change(stored)
    with pytest.raises(ValueError, match=message):
        TableEncoding.from_dict(stored)


def test_codes_have_no_linear_scores(tmp_path):
    source = source_of(tmp_path, TEXT)
    with pytest.raises(ValueError, match="encoded as codes, which have no weights"):
        next(source.score_blocks(np.zeros(source.n_features)))
    with pytest.raises(ValueError, match="encoded as codes, which have no weights"):
        next(source.score_rows(np.zeros(source.n_features)))
    with pytest.raises(ValueError, match="columns must be hashed ones"):
        source.slot_contents([0])
    with pytest.raises(ValueError, match=r"NaN|missing|finite"):
        PairMoments.from_blocks(source)


def test_rows_that_cannot_be_used_are_skipped_or_an_error(tmp_path):
    text = "click,site,bid\n" + "0,a,0.5\n1,b,1.5\n" * 30_000 + "1,c,x\n0,a,1.0\n"
    skipping = source_of(tmp_path, text, on_error="skip")
    assert sum(len(block.y) for block in skipping) == 60_001
    assert skipping.skipped.count == 1
    with pytest.raises(ValueError, match=r"line 60,002: expected a finite number in column 'bid', got 'x'"):
        list(source_of(tmp_path, text))


def test_frames_of_all_kinds_give_the_same_codes():
    columns = {
        "site": ["b", "a", None],
        "bid": [0.5, None, 2.0],
        "flag": [True, False, True],
        "visits": [3, 1, 1],
        "at": [datetime.datetime(2014, 10, 21, 17), None, datetime.datetime(2014, 10, 26, 5)],
        "day": [datetime.date(2014, 10, 21)] * 3,
    }
    expected = [[1, 0.5, 1, 3, 1, 0, 0], [0, NAN, 0, 1, NAN, NAN, 0], [NAN, 2, 1, 1, 0, 1, 0]]
    frame = pd.DataFrame(columns)
    for table in (
        columns,
        pa.table(columns),
        frame,
        frame.astype({"site": "category"}),
        frame.convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(columns),
        pl.DataFrame(columns).with_columns(pl.col("site").cast(pl.Categorical)),
    ):
        encoding = learn_table_codes(table)
        assert encoding.feature_names == [
            "site",
            "bid",
            "flag",
            "visits",
            "at.hour",
            "at.weekday",
            "day.weekday",
        ]
        np.testing.assert_array_equal(encoding.transform(table), expected)
        assert encoding.code_columns[2] == CodeColumn("flag", ("false", "true"))


def test_types_of_frames_decide():
    rng = np.random.default_rng(0)
    codes = rng.choice([15706, 15704, 18993, 16920], 200)
    frame = pd.DataFrame(
        {
            "few": codes,
            "shop_id": codes,
            "many": rng.choice(rng.integers(0, 10**6, 50), 200),
            "amount": rng.choice(1000 * rng.integers(1, 900, 50), 200),
            "float": np.where(rng.random(200) < 0.1, np.nan, rng.choice(rng.integers(0, 10**6, 50), 200)),
            "digits": codes.astype(str),
            "decimal": [f"{value:.2f}" for value in rng.normal(size=199)] + [" "],
            "categorical": pd.Categorical(codes),
            "large": codes.astype(np.int64) + 2**60,
            "serial": np.arange(200),
            "name": [f"person {row}" for row in range(200)],
            "empty": [None] * 200,
        }
    )
    encoding = learn_table_codes(frame)
    numeric = [column.name for column in encoding.code_columns if column.is_numeric]
    assert numeric == ["few", "amount", "float", "decimal"]
    categories = {c.name: len(c.levels) for c in encoding.code_columns if c.levels is not None}
    assert categories == {
        "shop_id": 4, "many": frame["many"].nunique(), "digits": 4, "categorical": 4, "large": 4,
    }  # fmt: skip
    assert encoding.other_columns == ("serial", "name", "empty")
    said = learn_table_codes(frame, types={"few": "category", "digits": "numeric"}, ignore=["many"])
    assert said.code_columns[0].levels == ("15704", "15706", "16920", "18993")
    assert "many" in said.other_columns
    assert said.code_columns[said.feature_names.index("digits")].is_numeric


def test_guesses_of_files_and_frames():
    holes = pa.array([3, 3, 17, 17, 90] * 20)
    assert guess_code("x", holes).kind == "numeric"
    assert guess_code("x", holes.dictionary_encode()).kind == "category"
    assert guess_code("x", pa.array(["03", "17"])).kind == "category"
    assert guess_code("x", holes.cast(pa.string())).kind == "numeric"
    assert guess_frame_code("x", holes.cast(pa.string())).kind == "category"
    assert guess_frame_code("x", pa.array(["2014-10-21", None])).kind == "time"


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": []}, {}, "the table has no rows"),
        ({"a": [None, None]}, {}, "no column that could be a feature"),
        ({"a": [1, 2]}, {"max_categories": 0}, "max_categories must be"),
        ({"a": [1, 2]}, {"hash_dim": 1}, "hash_dim must be"),
        ({"a": [1, 2]}, {"types": {"b": "numeric"}}, "there is no column for types 'b'"),
        ({"a": [1, 2], "b": [[1], [2]]}, {}, "column 'b' holds list"),
    ],
)
def test_tables_that_cannot_be_learned(table, options, message):
    with pytest.raises(ValueError, match=message):
        learn_table_codes(table, **options)


def test_tables_that_cannot_be_transformed():
    encoding = learn_table_codes({"a": [0.5, 1.5], "at": ["2014-10-21", None]})
    with pytest.raises(ValueError, match=r"row 1 of the table .*expected a finite number in column 'a'"):
        encoding.transform({"a": ["1", "x"], "at": [None, None]})
    with pytest.raises(ValueError, match="there is no column for 'at'"):
        encoding.transform({"a": [1.0]})
    with pytest.raises(ValueError, match="training rows did not have: 'b'"):
        encoding.transform({"a": [1.0], "at": [None], "b": [1]})


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "label", "numbers", "levels", "missing"),
    [
        ("credit.csv.bz2", "default.payment.next.month", 23, [], 0),
        ("telco.csv.bz2", "Churn", 4, [2, 2, 2, 2, *[3] * 9, 2, 4], 11),
        ("adult.csv.bz2", "salary", 3, [9, 16, 7, 15, 6, 5, 2, 42], 0),
    ],
)
def test_real_tables_from_files_and_frames_agree(shared_file, file, label, numbers, levels, missing):
    source = TableSource(shared_file(file), label=label, encode="codes")
    columns = source.encoding.code_columns
    assert sum(column.is_numeric for column in columns) == numbers
    assert [len(column.levels) for column in columns if column.levels is not None] == levels
    frame = pd.read_csv(shared_file(file)).drop(columns=label)
    encoding = learn_table_codes(frame)
    assert encoding.code_columns == columns
    X = encoding.transform(frame)
    assert np.isnan(X).sum() == missing
    np.testing.assert_array_equal(X, matrix(source))
