"""TableEncoder: tables as matrices for models of others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mbauc.features import TableEncoder
from mbauc.readers import TableSource


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "bid": np.where(rng.random(300) < 0.1, np.nan, rng.lognormal(size=300)),
            "site": rng.choice(["a", "b", "c", None], 300),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, 300), unit="h"),
            "row": [f"r{k}" for k in range(300)],
        }
    )


@pytest.mark.parametrize("encode", ["onehot", "hash", "codes"])
def test_a_frame_becomes_what_a_source_makes_of_it(table, encode):
    y = np.arange(300) % 2
    source = TableSource(table.assign(y=y), label="y", encode=encode)
    [block] = source
    encoder = TableEncoder(encode).fit(table)
    found, expected = (X.toarray() if hasattr(X, "toarray") else X for X in (encoder.transform(table), block.X))
    np.testing.assert_array_equal(found, expected)
    assert encoder.get_feature_names_out().tolist() == source.feature_names
    assert encoder.plan_["row"].kind == "id"


def test_in_a_pipeline_with_another_model(table):
    y = (table["site"] == "a").to_numpy()
    model = make_pipeline(TableEncoder(types={"row": "ignore"}), LogisticRegression()).fit(table, y)
    assert (model.predict(table) == y).all()
    assert (clone(model).fit(table, y).predict(table.drop(columns="row")) == y).all()


def test_new_columns_are_an_error(table):
    with pytest.raises(ValueError, match="columns that the training rows did not have: 'more'"):
        TableEncoder().fit(table).transform(table.assign(more=1.0))
