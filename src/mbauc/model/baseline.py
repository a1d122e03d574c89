"""Logistic regression on the same rows and columns: what people would have used otherwise."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mbauc.metrics.roc_auc import roc_auc
from mbauc.readers.table.encoding import TableEncoding
from mbauc.rows.source import Source
from mbauc.rows.taken import take_first

#: Rows that it learns from and is tested on, at most, numbers of them, and rows that a level needs.
_ROWS, _NUMBERS, _LEVEL_ROWS = 50_000, 20_000_000, 10


class Baseline(NamedTuple):
    """How logistic regression did on rows held out: AUC, rows it learned from, and rows it was tested on."""

    auc: float
    rows: int
    tested: int


def measure_baseline(train: Source, test: Source, encoding: Any) -> Baseline | None:
    """Fit logistic regression to the first rows of a source, and test it on the first of another.

    None where a class is missing, or where the columns are not codes of a table.
    """
    if not isinstance(encoding, TableEncoding) or not encoding.code_columns:
        return None
    most = min(_ROWS, _NUMBERS // max(1, len(encoding.code_columns)))
    X, y, weight = take_first(train, most)
    X_test, y_test, _ = take_first(test, most)
    if min(np.unique(y).size, np.unique(y_test).size) < 2:
        return None
    numeric = np.array([column.is_numeric for column in encoding.code_columns])
    # a column that is missing everywhere has no median
    numeric &= ~np.isnan(X).all(axis=0)
    levels = np.array([not column.is_numeric for column in encoding.code_columns])
    model = make_baseline(numeric, levels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # levels that training has not seen
        model.fit(X, y, logisticregression__sample_weight=weight)
        scores = model.decision_function(X_test)
    return Baseline(float(roc_auc(y_test, scores)), int(y.size), int(y_test.size))


def make_baseline(numbers: Any, levels: Any) -> Any:
    """Logistic regression on columns of an array.

    Numbers are standardised, missing ones at the median with a column that says so; levels are one-hot, rare
    ones together.

    Parameters
    ----------
    numbers, levels : masks or numbers of columns
        Which columns hold what.
    """
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=_LEVEL_ROWS), levels),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=200))
