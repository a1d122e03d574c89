"""What columns are taken for: many small ones, from CSV and with types, and all columns of real tables."""

import datetime

import numpy as np
import pytest

from mbauc.readers import TableSource
from mbauc.readers.table.columns.code_guess import guess_code, guess_frame_code
from mbauc.readers.table.columns.features import read_features
from mbauc.readers.table.columns.guess import guess
from mbauc.readers.table.columns.label_evidence import prefer_levels, read_two_labels
from mbauc.readers.table.columns.plan import override_advice, plan_columns

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")

RNG = np.random.default_rng(0)
N = 400
HASHES = RNG.integers(2**62, 2**63 - 1, 40)
FEW_HASHES = RNG.choice(HASHES, N)
UNSIGNED = FEW_HASHES.astype(np.uint64) * np.uint64(2)
DAYS = [datetime.datetime(2014, 10, 1, 5) + datetime.timedelta(hours=7 * k) for k in range(N)]
CARDS = RNG.choice(RNG.integers(4 * 10**15, 5 * 10**15, 120), N)
EPOCH = (1_413_867_600 + np.sort(RNG.integers(0, 10**7, N))).astype(int)


def written(values, pattern):
    return [pattern.format(value) for value in values]


def dates(pattern):
    return [day.strftime(pattern) for day in DAYS]


BEYOND = "whole numbers beyond 2^53"
#: Name, values, what it is where numbers have a slope and where they have a curve, and the reason or the form.
CORPUS = [
    # no whole number loses a digit
    ("h", FEW_HASHES, "category", "category", BEYOND),
    ("h", UNSIGNED, "category", "category", BEYOND),
    ("h", UNSIGNED.astype(str), "category", "category", BEYOND),
    ("h", written(UNSIGNED.tolist(), "{}.0"), "category", "category", BEYOND),
    ("h", written(UNSIGNED.astype(float), "{:.13e}"), "category", "category", BEYOND),
    ("h", [*written(UNSIGNED.astype(float), "{:.13e}"), "12", "7"], "category", "category", BEYOND),
    ("h", written(UNSIGNED.tolist(), "{:,}"), "category", "category", BEYOND),
    ("h", UNSIGNED.astype(float), "category", "category", BEYOND),
    ("h", pa.array(UNSIGNED.tolist(), pa.decimal128(20, 0)), "category", "category", BEYOND),
    ("h", pa.array(UNSIGNED.tolist(), pa.decimal128(22, 2)), "category", "category", BEYOND),
    ("h", RNG.integers(2**60, 2**62, N), "id", "id", BEYOND),
    ("h", written(RNG.integers(2**60, 2**62, N).astype(float), "{:.14e}"), "id", "id", BEYOND),
    ("mass", ["1.989e30", "5.97e24"] * 60, "numeric", "numeric", "exponent"),
    # numbers that name something
    ("url_hash", RNG.integers(0, 10**6, 200).repeat(2), "category", "category", "named an id"),
    ("card", CARDS, "category", "category", "named an id"),
    ("x", CARDS, "category", "category", "16 digits each"),
    ("x", RNG.integers(4 * 10**15, 5 * 10**15, N), "id", "id", "16 digits each"),
    ("phone_number", RNG.integers(10**6, 10**11, N), "id", "id", "named an id"),
    ("msisdn", RNG.integers(10**10, 10**12, 50).repeat(8), "category", "category", "named an id"),
    ("zip", RNG.choice(RNG.integers(10_000, 99_999, 80), N), "category", "category", "named a code"),
    ("zip", ["01067", "80331"] * 50, "category", "category", "leading zeros"),
    ("ad_id", RNG.permutation(N), "id", "id", "named an id"),
    ("line", np.arange(N), "id", "id", "only rise"),
    # numbers that count or measure
    ("visits", RNG.poisson(3, N), "numeric", "numeric", "without holes"),
    ("n_cards", RNG.choice([1, 2, 5, 40], N), "numeric", "numeric", "named a quantity"),
    ("account_balance", RNG.integers(10**9, 10**10, N), "numeric", "numeric", "named a quantity"),
    ("year", RNG.choice([1998, 2004, 2011], N), "numeric", "numeric", "named a quantity"),
    ("x", 1000 * RNG.integers(10**6, 10**7 - 1, N), "numeric", "numeric", ""),
    ("x", RNG.choice([12, 18, 24, 60], N), "category", "numeric", ""),
    ("x", RNG.choice(RNG.integers(0, 10**6, 50), N), "category", "category", "holes"),
    ("share", ["12%", "3.5 %", "0", "NA", "100%"] * 20, "numeric", "numeric", "percentages such as '12%'"),
    ("price", ["$1,200.50", "-$3", "$20"] * 20, "numeric", "numeric", "amounts such as '$1,200.50'"),
    ("price", ["1200 €", "3.5 €"] * 20, "numeric", "numeric", "amounts such as '1200 €'"),
    ("people", ["1,200", "980", "12,345,678"] * 20, "numeric", "numeric", "commas such as '1,200'"),
    ("x", ["1.234,50", "3,5", "980"] * 20, "numeric", "numeric", "a decimal comma such as '1.234,50'"),
    ("x", ["1.234,50 €", "3 €", "NA"] * 20, "numeric", "numeric", "amounts such as '1.234,50 €'"),
    ("x", ["1,5", "1.5"] * 50, "category", "category", "texts"),
    ("x", ["1,2,3", "1,2"] * 50, "category", "category", "texts"),
    ("x", ["$1", "€1"] * 50, "category", "category", "texts"),
    ("x", ["12%", "0.12"] * 50, "category", "category", "texts"),
    ("x", ["1.5", *("NA", "N/A", "NaN", "null", "None", "-", "?", "", "#N/A")] * 20, "numeric", "numeric", ""),
    ("x", ["7", *("NA", "N/A", "NaN", "null", "None", "-", "?", "", "#N/A")] * 20, "numeric", "numeric", ""),
    # times
    ("x", dates("%Y-%m-%d"), "time", "time", "date"),
    ("x", dates("%Y-%m-%d %H:%M:%S"), "time", "time", "timestamp"),
    ("x", [*dates("%Y-%m-%dT%H:%M:%S+02:00"), "NA"], "time", "time", "timestamp"),
    ("x", dates("%Y%m%d"), "time", "time", "YYYYMMDD"),
    ("hour", dates("%y%m%d%H"), "time", "time", "YYMMDDHH"),
    ("x", EPOCH, "time", "time", "seconds"),
    ("x", EPOCH * 1000 + 123, "time", "time", "milliseconds"),
    ("account", EPOCH, "id", "id", "named an id"),
    ("created_time", EPOCH[:5], "time", "time", "seconds"),
    ("x", dates("%d.%m.%Y"), "time", "time", "day-first date"),
    ("x", dates("%d/%m/%Y %H:%M"), "time", "time", "day-first timestamp"),
    ("x", dates("%m/%d/%Y"), "time", "time", "month-first date"),
    ("x", dates("%m/%d/%Y %I:%M %p"), "time", "time", "month-first timestamp"),
    ("x", ["01/02/2014", "03/04/2014"] * 50, "ignore", "ignore", "types={'x': 'day-first'}"),
    ("x", pa.array(DAYS, pa.timestamp("us")), "time", "time", "timestamp"),
    # truth values
    *(
        ("x", pair * 50, "category", "category", "truth values")
        for pair in (["true", "False"], ["Yes", "no"], ["y", "n"], ["t", "f"], ["ON", "off"], ["y", "Y", "n"])
    ),
    ("x", ["0", "1"] * 50, "numeric", "numeric", "2 distinct"),
    ("x", [True, False] * 50, "category", "category", "truth values"),
]  # fmt: skip


def arrays(values):
    """The column as it comes from a CSV file, and with the type that it has."""
    typed = values if isinstance(values, pa.Array) else pa.array(list(values), from_pandas=True)
    if isinstance(values, pa.Array) and not pa.types.is_decimal(values.type):
        return [typed]
    texts = [None if value == "" else str(value) for value in typed.to_pylist()]
    return [pa.array(texts), typed]


@pytest.mark.parametrize(("name", "values", "line", "curve", "said"), CORPUS)
def test_columns_are_taken_for_what_they_are(name, values, line, curve, said):
    for column in arrays(values):
        for judge, kind in ((guess, line), (guess_code, curve)):
            found = judge(name, column)
            assert found.kind == kind, (judge, column.type, found)
            assert said in found.why or said == found.form, found
        if not pa.types.is_string(column.type):
            assert guess_frame_code(name, column).kind == curve
            frame = pa.Array.from_pandas(column.to_pandas())
            assert guess_frame_code(name, frame).kind == curve


def test_what_is_guessed_can_be_read():
    """Each column of the corpus that is a feature gives numbers or texts without a fault, in each form."""
    for name, values, _, curve, _ in CORPUS:
        if curve in ("id", "ignore"):
            continue
        for column in arrays(values):
            table = pa.table({name: column, "one": [0.5] * len(column)})
            plan = plan_columns(table, label=None, judge=guess_code)
            features, faults = read_features(table, plan.features, "t")
            assert not faults, (name, column.type)
            if curve == "category":
                codes, texts = features.texts[name].drop_unused()
                assert codes.min() >= 0
                distinct = column.unique().to_pylist()
                if plan[name].spelling == "truth":
                    distinct = {str(value).lower() for value in distinct}
                assert len(texts) == len(distinct), (name, column.type)  # no two become one


def test_values_of_marked_numbers_and_dates():
    table = pa.table({
        "price": ["$1,200.50", "-$3", "NA"], "share": ["12%", "0", "100 %"],
        "betrag": ["1.234,50", "1.234", "3,5"], "cost": ["1.200 €", "", "-3,25 €"],
        "day": ["21.10.2014", "05.10.2014", "NA"],
        "at": ["10/21/2014 12:30 AM", "10/05/2014 5:00 PM", None],
    })  # fmt: skip
    features, faults = read_features(table, plan_columns(table, label=None).features, "t")
    assert not faults
    np.testing.assert_array_equal(features.numbers["price"], [1200.5, -3, np.nan])
    np.testing.assert_array_equal(features.numbers["share"], [12, 0, 100])
    np.testing.assert_array_equal(features.numbers["betrag"], [1234.5, 1234, 3.5])
    np.testing.assert_array_equal(features.numbers["cost"], [1200, np.nan, -3.25])
    assert features.texts["day.weekday"].codes.tolist() == [1, 6, -1]
    assert features.texts["at.weekday"].codes.tolist() == [1, 6, -1]
    assert features.texts["at.hour"].codes.tolist() == [0, 17, -1]


def test_later_rows_have_decimal_commas_where_the_first_had(tmp_path):
    """Also where a block of them looks like plain numbers: 1.234 is 1234 there, and 1.5 is none."""
    (tmp_path / "t.csv").write_text("y;x\r\n0;3,5\r\n1;1.234,50\r\n")
    (tmp_path / "later.csv").write_text("y;x\r\n0;1.234\r\n1;-7\r\n0;\r\n")
    source = TableSource(tmp_path / "t.csv", label="y", encode="codes")
    assert source.plan["x"].kind == "numeric"
    [block] = source.layout.source(tmp_path / "later.csv", source.classes)
    np.testing.assert_array_equal(block.X[:, 0], [1234, -7, np.nan])
    (tmp_path / "later.csv").write_text("y;x\n0;1.5\n1;2,5\n")
    with pytest.raises(ValueError, match=r"expected a finite number in column 'x', got '1\.5'"):
        list(source.layout.source(tmp_path / "later.csv", source.classes))


def test_days_and_months_that_cannot_be_told_apart_are_said(tmp_path):
    (tmp_path / "t.csv").write_text("y,day\n0,01/02/2014\n1,03/04/2014\n0,12/12/2014\n")
    table = pa.table({"day": ["01/02/2014", "03/04/2014"], "x": [0.5, 1.5]})
    unclear = plan_columns(table, label=None)["day"]
    assert (unclear.kind, override_advice(unclear)) == ("ignore", "types={'day': 'day-first'}")
    with pytest.raises(ValueError, match=r"'day' should be a time.*types=\{'day': 'day-first'\}"):
        plan_columns(table, label=None, types={"day": "time"})
    weekdays = {}
    for order in ("day-first", "month-first"):
        source = TableSource(tmp_path / "t.csv", label="y", types={"day": order}, encode="codes")
        levels = source.encoding.code_columns[0].levels
        (block,) = source
        weekdays[order] = [levels[int(code)] for code in block.X[:, 0]]
        again = TableSource(tmp_path / "t.csv", label="y", encoding=source.encoding)
        np.testing.assert_array_equal(next(iter(again)).X, block.X)
    assert weekdays == {"day-first": ["Sat", "Thu", "Fri"], "month-first": ["Thu", "Tue", "Fri"]}
    (tmp_path / "t.csv").write_text("y,day\n0,21/02/2014\n1,03/04/2014\n")
    with pytest.raises(
        ValueError, match=r"column 'day' should be month-first dates.*'10/21/2014'.*'21/02/2014' is"
    ):
        TableSource(tmp_path / "t.csv", label="y", types={"day": "month-first"})


# -- labels ------------------------------------------------------------------------------------------------


def test_labels_break_ties_and_nothing_else():
    rng = np.random.default_rng(1)
    n = 8_000
    x = rng.integers(1, 60, n)
    rates = rng.random(61)
    jumps, slope, nothing = (rng.random(n) < rate for rate in (rates[x], x / 60, 0.5))
    column = pa.array(x)
    kinds = {key: guess_code("x", column, y.astype(float)).kind for key, y in
             {"jumps": jumps, "slope": slope, "nothing": nothing}.items()}  # fmt: skip
    assert kinds == {"jumps": "category", "slope": "numeric", "nothing": "numeric"}
    holes = pa.array(7 * x**2)
    assert guess_code("x", holes).kind == "category"
    assert guess_code("x", holes, slope.astype(float)).kind == "numeric"
    assert guess_code("x", holes, nothing.astype(float)).kind == "category"
    for name in ("age", "shop_id"):  # a name stands
        assert guess_code(name, column, jumps.astype(float)).kind == guess_code(name, column).kind
    few = pa.array(x % 4)
    bent = (rng.random(n) < np.array([0.1, 0.6, 0.2, 0.5])[x % 4]).astype(float)
    assert [guess("depth", few).kind, guess("depth", few, bent).kind] == ["numeric", "category"]
    assert guess_code("depth", few, bent).kind == "numeric"  # a curve bends anyway


def test_a_bent_curve_is_no_code():
    rng = np.random.default_rng(2)
    x = rng.integers(17, 95, 20_000).astype(float)
    y = (rng.random(x.size) < np.abs(x - 50) / 60).astype(float)
    assert prefer_levels(x, y) is not True
    assert prefer_levels(x, y, line=True) is True
    y[::3], x[::7] = np.nan, np.nan
    assert prefer_levels(x, y, line=True) is True


def test_labels_of_a_column():
    for values in (["no", "yes", None, "NA"], [0, 1, None], [False, True, None]):
        found = read_two_labels(pa.array(values))
        assert found[:2].tolist() == [0, 1]
        assert np.isnan(found[2:]).all()
    assert read_two_labels(pa.array(["a", "b", "c"])) is None
    assert read_two_labels(pa.array([[1], [2]])) is None


# -- real tables -------------------------------------------------------------------------------------------

CRITEO = ["label", *(f"I{k}" for k in range(1, 14)), *(f"C{k}" for k in range(1, 27))]
REAL = {
    "bank-additional.zip": (
        "y",
        {
            "numeric": "age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx "
            "euribor3m nr.employed",
            "category": "job marital education default housing loan contact month day_of_week poutcome",
        },
    ),
    "adult.csv.bz2": (
        "salary",
        {
            "id": ["Unnamed: 0"],
            "numeric": ["age", "hours-per-week", "salary K$"],
            "category": "workclass education marital-status occupation relationship race sex native-country",
        },
    ),
    "credit.csv.bz2": (
        "default.payment.next.month",
        {
            "id": "ID",
            "numeric": "LIMIT_BAL SEX EDUCATION MARRIAGE AGE PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6 "
            + " ".join(f"{what}_AMT{k}" for what in ("BILL", "PAY") for k in range(1, 7)),
        },
    ),
    "telco.csv.bz2": (
        "Churn",
        {
            "id": "customerID",
            "numeric": "SeniorCitizen tenure MonthlyCharges TotalCharges",
            "category": "gender Partner Dependents PhoneService MultipleLines InternetService OnlineSecurity "
            "OnlineBackup DeviceProtection TechSupport StreamingTV StreamingMovies Contract PaperlessBilling "
            "PaymentMethod",
        },
    ),
    "avazu.first9999.csv.bz2": (
        "click",
        {
            "id": "id",
            "time": "hour",
            "numeric": "C1 banner_pos device_type device_conn_type C15 C16 C18 C19 C21",
            "category": "site_id site_domain site_category app_id app_domain app_category device_id device_ip "
            "device_model C14 C17 C20",
        },
    ),
    "criteo.raw8000.tsv.bz2": ("label", {"numeric": " ".join(CRITEO[1:14]), "category": " ".join(CRITEO[14:])}),
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("file", REAL)
def test_every_column_of_real_tables(shared_file, file):
    label, expected = REAL[file]
    path = shared_file(file)
    if path.suffix == ".zip":
        path = path / "bank-additional" / "bank-additional-full.csv"
    options = {"names": CRITEO} if file.startswith("criteo") else {}
    plan = TableSource(path, label=label, encode="codes", **options).plan
    found = {column.name: column.kind for column in plan.columns}
    assert found.pop(label) == "label"
    kinds = {}
    for kind, names in expected.items():
        kinds |= dict.fromkeys(names.split() if isinstance(names, str) else names, kind)
    assert found == kinds
