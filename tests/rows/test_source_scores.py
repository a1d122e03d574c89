"""Scores of the rows of any source, and of the two sides of a split."""

import numpy as np
import pytest
from scipy import sparse

from mbauc.model.hold_out import HoldOut
from mbauc.model.training import Training, train
from mbauc.readers import LibsvmSource, RawBlock, TableSource
from mbauc.readers.table.encoding import TableEncoding
from mbauc.rows.source import score_blocks
from mbauc.rows.split import RandomSplit, RowSubset

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


class Rows:
    """A source with no method but the necessary one."""

    n_features, classes = 3, (0, 1)

    def __init__(self, blocks):
        self._blocks = blocks

    def __iter__(self):
        return iter(self._blocks)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    columns = rng.integers(2, size=2000), rng.choice(list("abcd"), 2000), rng.normal(size=2000).round(3)
    lines = (f"{y},{site},{bid},{1 + k % 3}\n" for k, (y, site, bid) in enumerate(zip(*columns, strict=True)))
    path = tmp_path / "rows.csv"
    path.write_text("click,site,bid,times\n" + "".join(lines))
    return TableSource(path, label="click", weight="times", hash_dim=50, signed=True, block_rows=300)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{k % 2} 1:{k} {2 + k % 5}:0.5\n" for k in range(300)))
    return LibsvmSource(path, block_rows=64)


@pytest.fixture
def plain(rng):
    X = rng.normal(size=(90, 3))
    y = rng.integers(0, 2, 90)
    return Rows(
        [RawBlock(X[:40], y[:40]), (sparse.csr_array(X[40:60]), y[40:60]), (X[60:], y[60:], np.ones(30))]
    )


@pytest.mark.parametrize("kind", ["table", "text", "plain"])
@pytest.mark.parametrize("side", [None, True, False])
def test_scores_are_the_blocks_times_the_weights(kind, side, request, rng):
    source = request.getfixturevalue(kind)
    source = source if side is None else RowSubset(source, RandomSplit(0.3, 1), held_out=side)
    coef = rng.normal(size=source.n_features)
    blocks, scored = list(source), list(score_blocks(source, coef))
    assert len(blocks) == len(scored) > 1
    for (X, y, *weight), (labels, scores, weights) in zip(blocks, scored, strict=True):
        np.testing.assert_allclose(scores, X @ coef, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(labels, y)
        if not weight or weight[0] is None:
            assert weights is None
        else:
            np.testing.assert_array_equal(weights, weight[0])


def test_held_out_rows_of_a_table_are_scored_without_a_matrix(table, monkeypatch):
    made = []
    matrix = TableEncoding.matrix

    def counted(encoding, features):
        made.append(features.rows)
        return matrix(encoding, features)

    monkeypatch.setattr(TableEncoding, "matrix", counted)
    _, tested = train(table, table.layout, Training({"l2": 0.1, "solver": "gram"}, hold_out=HoldOut(0.25)))
    while_training = sum(made)
    assert tested is not None
    made.clear()
    train(table, table.layout, Training({"l2": 0.1, "solver": "gram"}, hold_out=HoldOut(0.0)))
    assert while_training == sum(made) > 0


def test_held_out_scores_are_those_of_the_model(table):
    model, tested = train(table, table.layout, Training({"l2": 0.1, "solver": "gram"}, hold_out=HoldOut(0.25)))
    held_out = list(RowSubset(table, RandomSplit(0.25), held_out=True))
    expected = np.concatenate([model.score(block.X) for block in held_out])
    np.testing.assert_allclose(tested.s, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(tested.y, np.concatenate([block.y for block in held_out]))
    np.testing.assert_array_equal(tested.weight, np.concatenate([block.weight for block in held_out]))
