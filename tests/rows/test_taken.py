"""The first rows of a source, and each k-th of them."""

import numpy as np
import pytest

from mbauc.readers import TableSource
from mbauc.rows.taken import take_first


@pytest.mark.parametrize(("most", "every"), [(7, 1), (100, 1), (100, 3), (4, 5)])
def test_rows_are_those_of_the_whole_table(most, every):
    table = {"x": np.arange(50) + 0.5, "w": np.arange(50) + 1.0, "y": np.arange(50) % 2}
    source = TableSource(table, label="y", weight="w", encode="codes", block_rows=8)
    X, y, weight = take_first(source, most, every=every)
    np.testing.assert_array_equal(X[:, 0], table["x"][::every][:most])
    np.testing.assert_array_equal(y, table["y"][::every][:most])
    np.testing.assert_array_equal(weight, table["w"][::every][:most])
