"""What estimators say about tables that they cannot take."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from mbauc import (
    AdditiveAUCClassifier,
    MBAClassifier,
    MBAClassifierCV,
    NeymanPearsonClassifier,
    PairMoments,
    PairwiseAUCClassifier,
    TableRanker,
    sample_pairs,
)
from mbauc.errors import NonFiniteError
from mbauc.features import CurveFeatures, FourierFeatures
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.paper.rivals import OAM

N = 40
Y = np.arange(N) % 2
WORDS = np.where(Y == 1, "maps", "news")
NUMBERS = {"a": np.linspace(0, 1, N), "b": np.cos(np.arange(N))}
TEXT = r"X has 'news' at row 0, column 2 \('site'\), which is not a number"
REMEDY = r"encode .*OneHotEncoder.*mbauc fit and TableSource"
DATES = r"column 2 \('when'\) of X holds dates or times"


def pandas_tables():
    pd = pytest.importorskip("pandas")
    table, days = pd.DataFrame(NUMBERS), pd.date_range("2024-01-01", periods=N)
    return [
        (table.assign(site=pd.Categorical(WORDS)), TEXT),
        (table.assign(site=WORDS.astype(object)), TEXT),
        (table.assign(site=pd.array(WORDS, dtype="string")), TEXT),
        (table.assign(when=days), DATES),
        (table.assign(when=days.tz_localize("UTC")), DATES),
        (table.assign(when=pd.to_timedelta(np.arange(N), unit="s")), DATES),
        (table.assign(when=days.date), DATES),
        (table.assign(when=days.to_period()), DATES),
        (pd.DataFrame({"when": days}), r"column 0 \('when'\) of X holds dates or times"),
    ]


def polars_tables():
    pl = pytest.importorskip("polars")
    table, days = pl.DataFrame(NUMBERS), [datetime.datetime(2024, 1, 1)] * N
    return [
        (table.with_columns(pl.Series("site", WORDS.tolist())), TEXT),
        (table.with_columns(pl.Series("site", WORDS.tolist()).cast(pl.Categorical)), TEXT),
        (table.with_columns(pl.Series("when", days)), DATES),
        (table.lazy(), r"X is a LazyFrame, which has no rows yet; pass X\.collect\(\)"),
    ]


def arrow_tables():
    pa = pytest.importorskip("pyarrow")
    days = [datetime.datetime(2024, 1, 1)] * N
    return [
        (pa.table(NUMBERS | {"site": WORDS.tolist()}), TEXT),
        (pa.table(NUMBERS | {"site": pa.array(WORDS.tolist()).dictionary_encode()}), TEXT),
        (pa.table(NUMBERS | {"when": days}), DATES),
    ]


@pytest.mark.parametrize("tables", [pandas_tables, polars_tables, arrow_tables])
@pytest.mark.parametrize(
    "estimator", [MBAClassifier(), MBAClassifierCV(), OAM(), FourierFeatures(4)], ids=lambda e: type(e).__name__
)
def test_columns_that_are_no_numbers_are_named(tables, estimator):
    for table, message in tables():
        with pytest.raises(ValueError, match=message) as told:
            estimator.fit(table, Y)
        if message is TEXT:
            assert told.match(REMEDY)


def test_rows_to_score_are_told_of_too():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(NUMBERS)
    fitted = MBAClassifier().fit(table.assign(site=Y), Y)
    with pytest.raises(ValueError, match=TEXT):
        fitted.decision_function(table.assign(site=pd.Categorical(WORDS)))


def test_what_holds_numbers_is_taken_as_such():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain = MBAClassifier().fit(pd.DataFrame(NUMBERS | {"k": Y[::-1]}), Y)
    for column in (pd.Categorical(Y[::-1]), pd.array(Y[::-1], dtype="Int64"), Y[::-1].astype(object)):
        fitted = MBAClassifier().fit(pd.DataFrame(NUMBERS).assign(k=column), Y)
        np.testing.assert_array_equal(fitted.coef_, plain.coef_)
    np.testing.assert_array_equal(
        MBAClassifier().fit(pl.DataFrame(NUMBERS | {"k": Y[::-1]}), Y).coef_, plain.coef_
    )


@pytest.mark.parametrize(
    "X", [[[1.0, "x"]] * N, np.array([["1", "x"]] * N), np.array([[1.0, "x"]] * N, dtype=object)]
)
def test_text_in_arrays_has_a_row_and_a_column(X):
    with pytest.raises(ValueError, match=r"X has 'x' at row 0, column 1, which is not a number"):
        MBAClassifier().fit(X, Y)


def test_arrays_of_dates():
    X = np.full((N, 2), np.datetime64("2024-01-01"))
    with pytest.raises(ValueError, match="column 0 of X holds dates or times"):
        MBAClassifier().fit(X, Y)


ROWS = np.column_stack([*NUMBERS.values()])
NO_ROWS = [
    ("train.csv", r"X must hold rows, got 'train\.csv'; read a file first"),
    (Path("train.csv"), r"X must hold rows, got PosixPath\('train\.csv'\); read a file first"),
    (NUMBERS, r"X must be an array or a table, got a dict of columns; pass pandas\.DataFrame\(X\)"),
    ([{"a": 1.0}] * N, r"X must be an array or a table, got a list of dicts.*; pass pandas\.DataFrame\(X\)"),
    (None, r"X must be an array or a table, got None"),
    ((row for row in ROWS), r"X must be an array or a table, got a generator; pass list\(X\)"),
    (
        np.zeros(N, dtype=[("a", float), ("b", float)]),
        r"X is a structured array .*; pass pandas\.DataFrame\(X\)",
    ),
    (
        [[1.0, 2.0]] * (N - 1) + [[1.0]],
        r"X must have equally many values in each row, got 1 in row 39 and",
    ),
    (np.ma.masked_greater(ROWS, 0.99), r"X is a masked array with \d+ masked values; fill them .*, or drop"),
]
LINEAR = [MBAClassifier(), PairwiseAUCClassifier(), OAM(), FourierFeatures(4)]
ANY = [*LINEAR, AdditiveAUCClassifier("curves"), TableRanker("linear", loss="squared"), CurveFeatures(8)]


@pytest.mark.parametrize("estimator", ANY, ids=lambda e: type(e).__name__)
def test_what_holds_no_rows_is_told(estimator):
    for X, message in NO_ROWS:
        if isinstance(estimator, TableRanker) and isinstance(X, str | Path | dict):
            continue  # it reads files and dicts of columns
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, Y)


@pytest.mark.parametrize("estimator", ANY, ids=lambda e: type(e).__name__)
def test_tables_with_no_rows_no_columns_or_one_name_twice_are_told(estimator):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for X, message in [
        (pd.DataFrame(NUMBERS).set_axis(["a", "a"], axis=1), r"X has two columns named 'a'; give each a name"),
        (pd.DataFrame(NUMBERS)[[]], r"X has no columns: 0 feature\(s\), and at least one is needed"),
        (pl.DataFrame(NUMBERS).lazy(), r"X is a LazyFrame, which has no rows yet; pass X\.collect\(\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, Y)


@pytest.mark.parametrize("estimator", LINEAR, ids=lambda e: type(e).__name__)
def test_cells_that_hold_more_than_a_number_are_named(estimator):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for table, shown in [
        (pd.DataFrame(NUMBERS).assign(c=[[1, 2]] * N), r"\[1, 2\]"),
        (pd.DataFrame(NUMBERS).assign(c=pd.cut(NUMBERS["a"], 3)), r"Interval\(.*\)"),
        (pl.DataFrame(NUMBERS).with_columns(pl.Series("c", [[1, 2]] * N)), r".*"),
        (pl.DataFrame(NUMBERS).with_columns(pl.Series("c", [{"p": 1}] * N)), r".*"),
    ]:
        with pytest.raises(
            ValueError, match=rf"X has {shown} at row 0, column 2 \('c'\), which is not a number"
        ):
            estimator.fit(table, Y)


@pytest.mark.parametrize("estimator", LINEAR, ids=lambda e: type(e).__name__)
def test_decimals_of_arrow_are_numbers(estimator):
    pa = pytest.importorskip("pyarrow")
    decimals = [Decimal("1.5"), Decimal("2.5")] * (N // 2)
    X = pa.table(NUMBERS | {"c": pa.array(decimals, type=pa.decimal128(10, 2))})
    assert estimator.fit(X, Y).n_features_in_ == 3


def test_missing_values_of_arrow_are_named():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(NonFiniteError, match=r"X contains NaN at row \d, column 2 \('c'\)"):
        MBAClassifier().fit(pa.table(NUMBERS | {"c": pa.nulls(N)}), Y)


def test_masks_of_labels_and_weights_are_not_lost():
    mask = np.arange(N) == 3
    labels = np.ma.array(Y, mask=mask)
    for estimator in (MBAClassifier(), AdditiveAUCClassifier(), TableRanker(), OAM()):
        with pytest.raises(ValueError, match=r"^y is a masked array with 1 masked value; fill"):
            estimator.fit(ROWS, labels)
    with pytest.raises(ValueError, match=r"^y_true is a masked array with 1 masked value; fill"):
        roc_auc(labels, NUMBERS["a"])
    with pytest.raises(ValueError, match=r"^y_score is a masked array with 1 masked value; fill"):
        roc_auc(Y, np.ma.array(NUMBERS["a"], mask=mask))
    with pytest.raises(ValueError, match=r"^sample_weight is a masked array with 1 masked value; fill"):
        MBAClassifier().fit(ROWS, Y, sample_weight=np.ma.array(np.ones(N), mask=mask))
    with pytest.raises(ValueError, match=r"^groups is a masked array with 1 masked value; fill"):
        MBAClassifier().fit(ROWS, Y, groups=np.ma.array(Y, mask=mask))
    assert MBAClassifier().fit(np.ma.array(ROWS), np.ma.array(Y)).n_features_in_ == 2


def test_rows_of_training_are_counted_in_all_rows():
    X = np.where(np.arange(N)[:, None] == 17, np.nan, ROWS)
    found = NeymanPearsonClassifier(MBAClassifier(), alpha=0.4, delta=0.4)
    rows = set()
    for seed in range(8):
        with pytest.raises(NonFiniteError) as told:
            found.set_params(random_state=seed).fit(X, Y)
        rows.add(told.value.row)
    assert rows == {17}


def test_arrays_of_another_byte_order_or_precision_are_tables_too():
    plain = TableRanker("linear", loss="squared", hold_out=0).fit(ROWS, Y)
    for dtype in (">f8", np.longdouble):
        other = TableRanker("linear", loss="squared", hold_out=0).fit(ROWS.astype(dtype), Y)
        np.testing.assert_array_equal(other.decision_function(ROWS), plain.decision_function(ROWS))


def test_infinity_in_an_array_of_a_table_ranker_is_named():
    with pytest.raises(NonFiniteError, match="X contains inf at row 5, column 1"):
        TableRanker().fit(np.where(np.arange(2 * N).reshape(N, 2) == 11, np.inf, ROWS), Y)


def test_complex_numbers_are_no_weights_and_no_scores():
    with pytest.raises(ValueError, match=r"^sample_weight must hold numbers, one for each row, got an array"):
        MBAClassifier().fit(ROWS, Y, sample_weight=np.ones(N) + 1j)
    with pytest.raises(ValueError, match=r"^sample_weight must hold numbers, one for each row, got 'a'"):
        MBAClassifier().fit(ROWS, Y, sample_weight="a")
    with pytest.raises(ValueError, match=r"^y_score must hold numbers, one for each row, got dtype complex128"):
        roc_auc(Y, NUMBERS["a"] + 1j)


def test_an_array_has_the_columns_of_the_table_that_was_fitted():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(NUMBERS)
    ranker = TableRanker("linear", loss="squared", hold_out=0).fit(table, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        scores = ranker.decision_function(ROWS)
    np.testing.assert_array_equal(scores, ranker.decision_function(table))


@pytest.mark.parametrize(
    "read",
    [PairMoments.from_arrays, lambda X, y: sample_pairs(X, y, 5, random_state=0)],
    ids=["moments", "pairs"],
)
def test_moments_refuse_rows_in_the_words_of_estimators(read):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(NUMBERS)
    for X, message in [
        *NO_ROWS,
        (table.assign(site=WORDS), TEXT),
        (table.assign(when=pd.Timestamp("2024-01-01")), DATES),
        (table.set_axis(["a", "a"], axis=1), r"X has two columns named 'a'; give each a name"),
    ]:
        if not hasattr(X, "__next__"):
            with pytest.raises(ValueError, match=message):
                read(X, Y)


def test_weights_of_scores_are_numbers():
    with pytest.raises(ValueError, match=r"^w must hold numbers, got 'a'"):
        PairMoments.from_arrays(ROWS, Y).risk("a")


def test_a_table_is_not_compared_row_by_row():
    pd = pytest.importorskip("pandas")
    with pytest.raises(
        ValueError, match=r"^scores must be a dict .* got a table with the columns 'a', 'b'; pass"
    ):
        compare_roc_auc(Y, pd.DataFrame(NUMBERS))
