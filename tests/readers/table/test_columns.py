import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.cli.advice import in_options
from mbauc.readers.table.columns.guess import Guess, guess
from mbauc.readers.table.columns.number_texts import find_marks, parse_number
from mbauc.readers.table.columns.plan import override_advice, plan_columns
from mbauc.readers.table.columns.times import (
    PARTS,
    calendar_parts,
    form_of_numbers,
    form_of_texts,
    parts_of,
    seconds_of_texts,
)
from mbauc.readers.table.columns.values import read_numbers
from mbauc.readers.table.columns.whole_numbers import judge_whole_numbers

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")


def kind(name, values, type_=None):
    return guess(name, pa.array(values, type_)).kind


# -- whole numbers -----------------------------------------------------------------------------------------


def quantities(rng, n):
    """Whole numbers that count or measure something."""
    return {
        "visits": rng.poisson(3, n),
        "clicks": rng.poisson(100, n),
        "seconds": np.exp(rng.normal(3, 2, n)).astype(int),
        "bytes": rng.exponential(1e6, n).astype(int),
        "cents": np.round(rng.lognormal(3, 1, n) * 100).astype(int),
        "euros": np.round(rng.lognormal(3, 1, n)).astype(int) * 100 - 1,
        "balance": rng.normal(0, 20, n).round().astype(int),
        "followers": (rng.pareto(1, n) * 3).astype(int),
        "built": rng.integers(1950, 2010, n),
        "age": np.clip(rng.normal(40, 12, n), 17, 98).astype(int),
        "grey": np.clip(rng.normal(8, 12, n), 0, 16).astype(int),  # saturates at both ends
        "flag": rng.integers(0, 2, n),
    }


def codes(rng, n):
    """Whole numbers that only name something."""
    few = np.array([320, 300, 216, 728])
    some = rng.choice(np.arange(1000, 30_000), 270, replace=False)
    many = rng.choice(np.arange(10_000, 10_000_000), n // 4, replace=False)
    zipf = 1 / np.arange(1, 271) ** 1.2
    return {
        "C15": rng.choice(few, n, p=[0.9, 0.06, 0.03, 0.01]),
        "C14": rng.choice(some, n, p=zipf / zipf.sum()),
        "user": rng.choice(many, n),
        "C20": np.where(rng.random(n) < 0.6, -1, 100_000 + rng.choice([19, 77, 84, 91, 148, 191], n)),
        "C18": rng.choice(4, n, p=[0.7, 0.01, 0.1, 0.19]),
    }


@pytest.mark.parametrize("n", [1000, 10_000, 50_000])
def test_quantities_are_numeric_and_codes_are_categories(n):
    rng = np.random.default_rng(n)
    assert {name: judge_whole_numbers(name, x).kind for name, x in quantities(rng, n).items()} == dict.fromkeys(
        quantities(rng, n), "numeric"
    )
    assert {name: judge_whole_numbers(name, x).kind for name, x in codes(rng, n).items()} == dict.fromkeys(
        codes(rng, n), "category"
    )


@pytest.mark.parametrize("n", [1000, 10_000])
def test_the_verdict_depends_neither_on_order_nor_on_an_affine_map(n):
    rng = np.random.default_rng(n)
    for name, x in (quantities(rng, n) | codes(rng, n)).items():
        verdict = judge_whole_numbers(name, x)
        assert judge_whole_numbers(name, rng.permutation(x)) == verdict
        assert judge_whole_numbers(name, 7 * x - 1000) == verdict


def test_a_sentinel_among_many_values_changes_nothing(rng):
    days = np.where(rng.random(40_000) < 0.96, 999, rng.poisson(6, 40_000))
    days = np.where(rng.random(40_000) < 0.02, rng.integers(0, 28, 40_000), days)
    assert judge_whole_numbers("pdays", days).kind == "numeric"


def test_ids():
    rng = np.random.default_rng(0)
    assert judge_whole_numbers("row", np.arange(100)).kind == "id"
    assert judge_whole_numbers("row", np.arange(0, -200, -2)).kind == "id"
    assert judge_whole_numbers("row", np.arange(99)).kind == "numeric"  # too few to say
    assert judge_whole_numbers("ad_id", rng.permutation(1000)).kind == "id"
    assert judge_whole_numbers("adId", rng.permutation(1000)).kind == "id"
    assert judge_whole_numbers("paid", rng.permutation(1000)).kind == "numeric"
    assert judge_whole_numbers("site_id", rng.integers(0, 50, 1000)).kind == "category"
    assert judge_whole_numbers("x", rng.integers(2**60, 2**62, 1000)).kind == "id"
    assert judge_whole_numbers("x", rng.choice(rng.integers(2**60, 2**62, 10), 1000)).kind == "category"


@pytest.mark.parametrize(
    "name", ["device_type", "zip", "deviceType", "month", "day_of_week", "dayofweek", "HOUR"]
)
def test_names_of_codes(name, rng):
    assert judge_whole_numbers(name, rng.poisson(3, 1000)).kind == "category"


@pytest.mark.parametrize("name", ["prototype", "hours", "months", "C1", "typed", "idle"])
def test_names_that_only_contain_such_words(name, rng):
    assert judge_whole_numbers(name, rng.poisson(3, 1000)).kind == "numeric"


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_any_whole_numbers_get_a_verdict(values):
    verdict = judge_whole_numbers("x", np.array(values, dtype=np.int64))
    assert verdict.kind in ("numeric", "category", "id")


# -- other columns -----------------------------------------------------------------------------------------


def test_types_decide():
    now = datetime.datetime(2014, 10, 21, 5)
    assert kind("x", ["a", "b"]) == "category"
    assert kind("x", [True, None]) == "category"
    assert kind("x", [0.5, None]) == "numeric"
    assert kind("x", [1.0, 2.0]) == "numeric"
    assert kind("x", [None, None]) == "ignore"
    assert kind("x", ["", None]) == "ignore"
    assert kind("x", [float("nan"), None], pa.float64()) == "ignore"
    assert kind("x", [now]) == "time"
    assert kind("x", [now.date()]) == "time"
    assert kind("x", [now.time()]) == "time"
    assert kind("x", [datetime.timedelta(1)]) == "numeric"
    assert kind("x", [b"a", b"b"]) == "category"
    assert kind("x", [1, 2], pa.decimal128(5, 2)) == "numeric"
    assert kind("x", [2**64 - 1, 1], pa.uint64()) == "category"
    assert guess("x", pa.array(["a", "b"]).dictionary_encode()).kind == "category"
    assert guess("x", pa.array([1, 2]).dictionary_encode()).kind == "category"


def test_texts_of_a_file_decide():
    assert kind("x", ["1", "2.5", None]) == "numeric"
    assert kind("x", ["1", " 2 ", "NA", "?"]) == "numeric"
    assert kind("x", ["007", "012"]) == "category"
    assert kind("x", ["0", "10"]) == "numeric"
    assert kind("x", ["1e5", "2e3"]) == "numeric"
    assert kind("x", ["68fd1e64", "287e684f"]) == "category"
    assert kind("x", ["True", "false"]) == "category"
    assert kind("x", ["2014-10-21", "2014-10-22"]) == "time"
    assert kind("x", ["2014-10-21T05:00:00Z"]) == "time"
    assert kind("x", ["2014-13-21"]) == "category"
    assert kind("x", ["21.10.2014", "22.10.2014"]) == "time"
    assert kind("x", ["11.10.2014", "12.10.2014"]) == "ignore"
    assert kind("x", ["NA"]) == "category"
    assert kind("id", [str(10**19 + k) for k in range(100)]) == "id"
    assert kind("x", [f"{k:x}-" for k in range(100)]) == "id"
    assert kind("x", [f"{k:x}-" for k in range(99)]) == "category"


def test_reasons_say_what_is_odd():
    assert "such as '007'" in guess("x", pa.array(["007", "012"])).why
    assert "texts such as 'n.v.'" in guess("x", pa.array([*map(str, range(30)), "n.v."])).why
    assert "'21.10.2014'" in guess("x", pa.array(["21.10.2014"])).why
    unclear = guess("x", pa.array(["11.10.2014"])).why
    assert unclear.endswith("told apart: types={'x': 'day-first'} or types={'x': 'month-first'}")
    assert in_options(unclear).endswith("told apart: --types x=day-first or --types x=month-first")


def test_whole_numbers_with_missing_ones_are_judged_alike_from_any_source(rng):
    """pandas makes floating-point numbers of them."""
    values = rng.choice([15706, 15704, 18993, 16920], 500)
    floats = [None if k % 7 == 0 else float(v) for k, v in enumerate(values)]
    ints = [None if v is None else int(v) for v in floats]
    texts = [None if v is None else str(v) for v in ints]
    assert kind("x", floats, pa.float64()) == kind("x", ints) == kind("x", texts) == "category"


def test_a_nested_column_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"column 'tags' holds list<.*> values.*ignore=\['tags'\]"):
        guess("tags", pa.array([["a"], ["b"]]))


# -- times -------------------------------------------------------------------------------------------------

MOMENTS = st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2069, 12, 30))


@given(st.lists(MOMENTS, min_size=1, max_size=5))
def test_hour_and_weekday_agree_in_all_forms(moments):
    hours = [moment.hour for moment in moments]
    days = [moment.weekday() for moment in moments]
    forms = {
        "timestamp": [pa.array(moments, pa.timestamp("us")), pa.array([m.isoformat() for m in moments])],
        "YYMMDDHH": [pa.array([int(m.strftime("%y%m%d%H")) for m in moments])],
        "YYYYMMDDHH": [
            pa.array([int(m.strftime("%Y%m%d%H")) for m in moments]),
            pa.array([m.strftime("%Y%m%d%H") for m in moments]),
            pa.array([float(m.strftime("%Y%m%d%H")) for m in moments]),
        ],
        "YYYYMMDDHHMM": [pa.array([int(m.strftime("%Y%m%d%H%M")) for m in moments])],
        "YYYYMMDDHHMMSS": [pa.array([int(m.strftime("%Y%m%d%H%M%S")) for m in moments])],
    }
    for form, columns in forms.items():
        for column in columns:
            parts, bad = calendar_parts(column, form)
            assert not bad.any()
            assert parts["hour"].tolist() == hours
            assert parts["weekday"].tolist() == days
    parts, bad = calendar_parts(pa.array([m.date() for m in moments]), "date")
    assert parts["weekday"].tolist() == days


ZONES = st.integers(-12 * 60, 14 * 60).map(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
)


@given(MOMENTS, st.none() | ZONES)
def test_seconds_of_texts_are_those_of_the_standard_library(moment, zone):
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=zone or datetime.UTC)
    text = moment.isoformat(" ", "milliseconds") if zone else moment.isoformat(" ", "milliseconds")[:-6]
    clock = text[10:]
    texts = {
        "": text,
        "day-first timestamp": f"{moment:%d.%m.%Y}{clock}",
        "month-first timestamp": f"{moment:%m/%d/%Y}{clock}",
    }
    cases = [*texts.items()]
    cases += [("day-first timestamp", f"{moment:{days}}{clock}") for days in ("%d %b %Y", "%d-%B-%Y")]
    cases += [("month-first timestamp", f"{moment:{days}}{clock}") for days in ("%b %d %Y", "%B %d, %Y")]
    for form, written in cases:
        seconds, wrong = seconds_of_texts([written, "NA", "soon"], form)
        assert seconds[0] == pytest.approx(moment.timestamp(), abs=1e-4), written
        assert np.isnan(seconds[1:]).all()
        assert wrong.tolist() == [False, False, True]


def test_seconds_since_1970():
    moment = datetime.datetime(2014, 10, 21, 5, tzinfo=datetime.UTC)
    for form, factor in (("seconds", 1), ("milliseconds", 1000)):
        parts, bad = calendar_parts(pa.array([int(moment.timestamp()) * factor]), form)
        assert PARTS["hour"][parts["hour"][0]] == "5"
        assert PARTS["weekday"][parts["weekday"][0]] == "Tue"
        assert not bad.any()
    seconds = np.array([1_413_867_600, 1_413_900_000])
    assert form_of_numbers("timestamp", seconds) == "seconds"
    assert form_of_numbers("event_ts", seconds * 1000) == "milliseconds"
    assert form_of_numbers("amounts", seconds) is None


def test_numbers_without_a_telling_name_are_seconds_where_they_spread_as_times_do():
    first = 1_400_000_000
    assert form_of_numbers("x", first + 997 * np.arange(20)) == "seconds"
    assert form_of_numbers("x", 1000 * (first + 997 * np.arange(20))) == "milliseconds"
    assert form_of_numbers("x", first + 997 * np.arange(19)) is None  # too few
    assert form_of_numbers("x", first + np.arange(1000)) is None  # serial numbers
    assert form_of_numbers("x", np.linspace(1.1e9, 2e9, 50).astype(int)) is None  # too far apart
    assert form_of_numbers("price", first + 997 * np.arange(20)) is None


def test_what_is_beyond_2100_or_before_2001_is_no_time():
    for form, factor in (("seconds", 1), ("milliseconds", 1000)):
        values = factor * np.array([999_999_999, 10**9, 4_102_444_800, 4_102_444_801])
        assert calendar_parts(pa.array(values), form)[1].tolist() == [True, False, False, True]


def test_digits_that_spell_no_time_are_marked():
    values = pa.array([20141021055959, 20141021056000, 20141021050060, 20141021236000])
    assert calendar_parts(values, "YYYYMMDDHHMMSS")[1].tolist() == [False, True, True, True]
    assert form_of_numbers("x", np.array([114102105])) is None  # a year of three digits


def test_clocks_of_twelve_hours():
    texts = [f"10/21/2014 {hour}:30 {half}" for half in ("AM", "pm") for hour in (12, *range(1, 12))]
    parts, bad = calendar_parts(pa.array(texts), "month-first timestamp")
    assert not bad.any()
    assert parts["hour"].tolist() == list(range(24))


def test_marks_that_contradict_each_other_make_no_numbers():
    assert find_marks(["12%", "0", "0.0%"]) == "%"
    assert find_marks(["12%", "0,5"]) is None
    assert find_marks(["12%", "1,200"]) is None
    assert find_marks(["1.234.567"]) is None  # nothing says that points part thousands
    assert find_marks(["1.234.567", "1,5"]) == "."
    assert parse_number("-$5", "$") == parse_number("$-5", "$") == -5.0
    for text in ("-$-5", "+$-5", "$5$", "$", "--5"):
        assert parse_number(text, "$") is None
        assert find_marks([text, "$1"]) is None


def test_names_of_months_tell_the_order_of_dates():
    for texts, form in (
        (["05 Jan 2025", "6 feb 2025", "7 SEPTEMBER 2025"], "day-first date"),
        (["05-Jan-2025", "05-Sept-2025 14:03"], "day-first timestamp"),
        (["5 January 2025 2:03 PM"], "day-first timestamp"),
        (["January 5, 2025", "May 6,2025", "dec 7 2025"], "month-first date"),
        (["Jan 5 2025 14:03", "Sep. 15, 2025 09:00:01"], "month-first timestamp"),
    ):
        assert form_of_texts(texts) == form
    for text in ("05 Jam 2025", "31 June 2025", "Jan 2025", "Jan 52025", "5 Januaries 2025", "Januar 5 2025"):
        assert form_of_texts([text]) is None, text
    parts, bad = calendar_parts(pa.array(["05 Jan 2025", "NA", "6 jan 2025", "05 Foo 2025"]), "day-first date")
    assert parts["weekday"][:3].tolist() == [6, -1, 0]
    assert bad.tolist() == [False, False, False, True]
    parts, bad = calendar_parts(pa.array(["Jan 5 2025 14:03"]), "month-first timestamp")
    assert (parts["hour"].tolist(), parts["weekday"].tolist(), bad.tolist()) == ([14], [6], [False])


def test_dates_with_names_of_months_are_times_and_with_two_digits_of_the_year_are_left_out():
    found = guess("day", pa.array(["05 Jan 2025", "17 Mar 2025"]))
    assert (found.kind, found.form) == ("time", "day-first date")
    assert found.why == "day-first texts such as '05 Jan 2025'"
    assert guess("day", pa.array(["05-Jan-25", "17-Mar-25"])).kind == "ignore"
    assert guess("model", pa.array(["05 Jan 2025", "Mar-17"])).kind == "category"


def test_a_minus_sign_of_unicode_is_a_minus():
    assert find_marks(["\u22121.5", "2"]) == "\u2212"
    assert find_marks(["\u2212$1,200.50", "$3"]) == "$,\u2212"
    assert find_marks(["\u22121.200,50 €"]) == "€\u2212."
    assert find_marks(["\u2212", "1\u22122"]) is None
    assert parse_number("\u22121.5", "\u2212") == -1.5
    assert parse_number("\u22121.200,50 €", "€\u2212.") == -1200.5
    assert parse_number("-\u22121", "\u2212") is None
    found = guess("change", pa.array(["\u22121.5", "2", "NA"]))
    assert (found.kind, found.form) == ("numeric", "\u2212")
    assert found.why == "numbers with a minus sign such as '\u22121.5'"
    assert guess("change", pa.array(["\u22121,200", "2"])).why == "numbers with commas such as '\u22121,200'"
    numbers, wrong = read_numbers(pa.array(["\u22121.5", "-2", "3"]), "\u2212")
    assert numbers.tolist() == [-1.5, -2.0, 3.0]
    assert wrong is None


def test_dates_have_no_hour_and_times_of_day_no_weekday():
    for form in ("date", "day-first date", "YYYYMMDD"):
        assert parts_of(form) == ("weekday",)
    assert parts_of("time of day") == ("hour",)
    for form in ("timestamp", "month-first timestamp", "YYMMDDHH", "seconds", "timestamp Europe/Berlin"):
        assert parts_of(form) == ("hour", "weekday")


def test_forms_of_whole_numbers():
    assert form_of_numbers("hour", np.array([14102100, 14102123])) == "YYMMDDHH"
    assert form_of_numbers("day", np.array([20141021, 20141101])) == "YYYYMMDD"
    assert form_of_numbers("x", np.array([2014102105])) == "YYYYMMDDHH"
    assert form_of_numbers("x", np.array([14102124])) is None
    assert form_of_numbers("x", np.array([20140631])) is None
    assert form_of_numbers("x", np.array([14102100, 7])) is None
    assert form_of_numbers("x", np.array([], dtype=np.int64)) is None
    assert form_of_texts([]) is None


def test_values_that_are_no_times_are_marked():
    for column, form in (
        (pa.array(["2014-10-21", None, "x"]), "date"),
        (pa.array([20141021, None, 5]), "YYYYMMDD"),
        (pa.array(["20141021", None, "5"]), "YYYYMMDD"),
    ):
        parts, bad = calendar_parts(column, form)
        assert bad.tolist() == [False, False, True]
        assert parts["weekday"][:2].tolist() == [1, -1]


# -- plans -------------------------------------------------------------------------------------------------

TABLE = {
    "click": [0, 1],
    "site": ["a", "b"],
    "bid": [0.5, 1.5],
    "n": [1, 2],
    "w": [1.0, 2.0],
    "user": ["u", "v"],
}


def plan(**said):
    return plan_columns(pa.table(TABLE), label="click", where="log.csv", **said)


def test_what_the_user_says_comes_first():
    kinds = {
        c.name: c.kind
        for c in plan(weight="w", types={"n": "category", "user": "group"}, ignore=["bid"]).columns
    }
    assert kinds == {
        "click": "label",
        "site": "category",
        "bid": "ignore",
        "n": "category",
        "w": "weight",
        "user": "group",
    }
    assert plan(id=["user"])["user"].kind == "id"
    assert [column.name for column in plan(ignore=["site", "user"]).features] == ["bid", "n", "w"]
    with pytest.raises(KeyError):
        plan()["nothing"]


def test_the_description_names_every_column_and_how_to_override_it():
    told = plan(types={"user": "group"}).describe().splitlines()
    assert told[0].split() == ["column", "seen", "as", "why", "becomes", "override"]
    assert [line.split()[0] for line in told[1:-1]] == list(TABLE)
    assert told[2].endswith("ignore=['site']")
    assert told[4].endswith("types={'n': 'category'}")
    assert told[-1] == "(inferred from the first 2 rows)"


def test_overrides_can_be_copied_into_a_shell():
    table = pa.table({"y": [0, 1], "salary K$": [1.5, 2.5], "home town": ["a", "b"]})
    told = [in_options(override_advice(column)) for column in plan_columns(table, label="y").columns]
    assert told == ["--label …", "--types 'salary K$=category'", "--ignore 'home town'"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"weight": "W"},
            "log.csv: there is no column for weight 'W'; its 6 columns are 'click', .*Did you mean 'w'",
        ),
        ({"ignore": ["sit"]}, "no column for ignore 'sit'.*Did you mean 'site'"),
        ({"types": {"bids": "numeric"}}, "no column for types 'bids'.*Did you mean 'bid'"),
        ({"types": {"bid": "number"}}, "must be one of 'numeric', 'category', .* got 'number'"),
        ({"types": {"click": "numeric"}}, "column 'click' is both label and types"),
        ({"ignore": "site"}, r"ignore must be a list of names, got 'site'; write \['site'\]"),
        ({"ignore": [1]}, "ignore must name columns by text, got 1"),
        ({"types": {"site": "time"}}, "column 'site' should be a time, but holds 'a'; expected"),
        ({"ignore": ["site", "bid", "n", "w", "user"]}, "log.csv has no column that could be a feature"),
    ],
)
def test_what_is_wrong_is_named(said, message):
    with pytest.raises(ValueError, match=message):
        plan(**said)


def test_parts_of_a_time_must_not_meet_another_column():
    table = pa.table({"y": [0, 1], "t": ["2014-10-21", "2014-10-22"], "t.weekday": ["Mon", "Tue"]})
    with pytest.raises(ValueError, match=r"would become 't.weekday', which is the name of another column"):
        plan_columns(table, label="y")


# -- whole numbers beyond 2^53 -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_two_numbers_that_floating_point_cannot_tell_apart(tmp_path, form):
    from mbauc import MBAClassifier, PairMoments
    from mbauc.metrics import roc_auc
    from mbauc.readers import TableSource

    table = pa.table({"y": [0, 1] * 200, "id": [2**53, 2**53 + 1] * 200})
    path = tmp_path / f"two.{form}"
    if form == "csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
    source = TableSource(path, label="y", encode="onehot")
    assert (source.plan["id"].kind, source.plan["id"].why) == ("category", "whole numbers beyond 2^53")
    ranker = MBAClassifier(l2=0.01).fit_moments(PairMoments.from_blocks(source))
    (block,) = source
    assert roc_auc(block.y, ranker.decision_function(block.X)) == 1.0


@pytest.mark.parametrize("sign", ["", "-"])
def test_whole_numbers_beyond_floating_point_in_any_spelling(sign):
    hashes = ["10710025208886284288", "1.5234713295054e+19", "17091352017137862912", "12.0", "7"]
    found = guess("url_hash", pa.array([sign + text for text in hashes] * 40))
    assert found == Guess("category", "whole numbers beyond 2^53", "whole")
    unique = [f"{sign}{10**19 + k}" for k in range(200)] + [f"{sign}1.5e+20"]
    assert guess("url_hash", pa.array(unique)).kind == "id"


def test_reasons_of_numbers_are_true():
    assert guess("x", pa.array(["1.5", "2", "3e5"])).why == "numbers with a decimal point"
    assert guess("x", pa.array(["100", "2e+05", "300"])).why == "numbers, some with an exponent such as '2e+05'"
    # amounts of physics are no names, though all of them are whole
    assert guess("mass", pa.array(["1.989e30", "5.97e24"] * 60)).kind == "numeric"
