"""What estimators say about tables that they cannot take."""

import datetime

import numpy as np
import pytest

from mbauc import MBAClassifier, MBAClassifierCV
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
    "estimator", [MBAClassifier(), MBAClassifierCV(), OAM()], ids=lambda e: type(e).__name__
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
