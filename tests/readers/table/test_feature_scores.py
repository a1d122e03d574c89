"""Scores from the codes of columns are the matrix times the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.readers import TableSource

pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")

WAYS = [
    {"encode": "onehot"},
    {"encode": "onehot", "missing": "mean", "scale": "standard"},
    {"encode": "onehot", "max_categories": 2},
    {"encode": "hash", "hash_dim": 30, "signed": True},
    {"encode": "hash", "hash_dim": 5},
    {"encode": "hash", "hash_dim": 20_000, "signed": True, "scale": "max-abs"},
]
TYPES = {"site": "category", "code": "category", "bid": "numeric", "at": "time"}


def rows_as_text(rows):
    lines = (f"{n % 2},{site},{code},{bid},{at}\n" for n, (site, code, bid, at) in enumerate(rows))
    return "click,site,code,bid,at\n" + "".join(lines)


values = st.tuples(
    st.sampled_from(["", "a", "b", "c", "é", "(other)"]),
    st.sampled_from(["", "7", "07", "9"]),
    st.sampled_from(["", "0", "0.5", "-2", "1e3"]),
    st.sampled_from(["2014-10-21 05:00", "2014-10-25 17:30", ""]),
)


@pytest.mark.parametrize("way", WAYS, ids=str)
@given(st.lists(values, min_size=4, max_size=40), st.lists(values, min_size=2, max_size=20), st.integers(0, 99))
def test_of_learned_rows_and_of_others(tmp_path_factory, way, learned, others, seed):
    folder = tmp_path_factory.mktemp("tables")
    for name, rows in (("learned", [*learned, ("a", "7", "1", "2014-10-21 05:00")]), ("others", others)):
        (folder / f"{name}.csv").write_text(rows_as_text(rows))
    source = TableSource(folder / "learned.csv", label="click", types=TYPES, **way)
    coef = np.random.default_rng(seed).standard_normal(source.n_features)
    for rows in (source, source.on(folder / "others.csv")):
        for block, (y, s, weight) in zip(rows, rows.score_blocks(coef), strict=True):
            np.testing.assert_allclose(s, block.X @ coef, rtol=1e-12, atol=1e-11)
            np.testing.assert_array_equal(y, block.y)
            assert weight is block.weight is None


def test_weights_of_rows_come_along(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,x,w\n0,1,2\n1,2,3\n1,4,0.5\n")
    source = TableSource(path, label="y", weight="w", scale=None)
    ((y, s, weight),) = source.score_blocks(np.array([2.0]))
    assert (y.tolist(), s.tolist(), weight.tolist()) == ([0, 1, 1], [2.0, 4.0, 8.0], [2.0, 3.0, 0.5])
