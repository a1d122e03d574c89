import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import PairMoments
from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.tasks import sum_moments
from mbauc.readers import RawBlock
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import SourceParts
from mbauc.rows.schema import Schema
from mbauc.store.checkpoint import Checkpoint


class Stopped(Exception):
    pass


class Rows:
    """Blocks as a source that can break off, vouches for itself if it has a stamp, and counts its passes."""

    classes = (0, 1)

    def __init__(self, blocks, stamp=None, stop=None):
        self.blocks, self.stop, self.passes = blocks, stop, 0
        self.n_features = blocks[0].X.shape[1]
        if stamp is not None:
            self.fingerprint = lambda: {"mtime_ns": stamp}

    def __iter__(self):
        self.passes += 1
        for number, block in enumerate(self.blocks):
            if number == self.stop:
                raise Stopped
            yield block


@pytest.fixture(params=["dense", "sparse", "weighted", "ones"])
def blocks(request, rng):
    made = []
    for n in (30, 1, 45, 20, 25):
        X = np.round(rng.standard_normal((n, 5)) + 2.0, 2) * (rng.random((n, 5)) < 0.6)
        y = (np.arange(n) % 3 == 0).astype(np.int8)
        made.append(
            RawBlock(
                sp.csr_array((X != 0).astype(float) if request.param == "ones" else X)
                if request.param in ("sparse", "ones")
                else X,
                y,
                rng.random(n) + 0.1 if request.param == "weighted" else None,
            )
        )
    return made


def moments_of(source, checkpoint=None):
    rows = PartedRows(SourceParts(source, checkpoint=checkpoint), Schema(source.n_features), (0, 1))
    [moments], _ = sum_moments(rows)
    return moments


def run(source, folder, interval=0.0):
    with Checkpoint(folder, {"n_jobs": 1}, interval=interval) as checkpoint:
        return moments_of(source, checkpoint)


def same_bits(found, wanted):
    np.testing.assert_array_equal(found.sums.classes.packed.buffer, wanted.sums.classes.packed.buffer)
    np.testing.assert_array_equal(found.class_means, wanted.class_means)
    assert found.counts == wanted.counts
    assert found.weights == wanted.weights
    assert found.effective_sizes == wanted.effective_sizes


def test_they_are_the_moments_of_the_blocks(blocks):
    same_bits(moments_of(Rows(blocks)), PairMoments.from_blocks(blocks, n_jobs=1))


@pytest.mark.parametrize("stamp", [None, 1])
@pytest.mark.parametrize("interval", [0.0, 1e9])
def test_a_pass_that_breaks_off_again_and_again_ends_with_the_same_bits(blocks, tmp_path, stamp, interval):
    wanted = PairMoments.from_blocks(blocks, n_jobs=1)
    for stop in (1, 2, 4):
        with pytest.raises(Stopped):
            run(Rows(blocks, stamp, stop), tmp_path, interval)
    same_bits(run(Rows(blocks, stamp), tmp_path, interval), wanted)


def test_blocks_that_are_in_are_not_added_up_again(blocks, tmp_path, monkeypatch):
    with pytest.raises(Stopped):
        run(Rows(blocks, 1, 3), tmp_path)
    made = MomentsAccumulator.add
    added = []
    monkeypatch.setattr(MomentsAccumulator, "add", lambda *a, **k: added.append(1) or made(*a, **k))
    run(Rows(blocks, 1), tmp_path)
    assert len(added) == 2


def test_a_finished_pass_is_repeated_only_to_compare(blocks, tmp_path):
    wanted = run(Rows(blocks, 1), tmp_path)
    for stamp, passes in [(1, 0), (2, 1), (2, 0), (None, 1)]:
        source = Rows(blocks, stamp)
        same_bits(run(source, tmp_path), wanted)
        assert source.passes == passes


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: [b[0], b[1]._replace(X=b[1].X * (1 + 1e-15)), *b[2:]], r"block 2 \(from row 30 on\)"),
        (lambda b: [b[0]._replace(y=1 - b[0].y), *b[1:]], r"block 1 \(from row 0 on\)"),
        (lambda b: b[:2], "it had at least . blocks, now 2"),
    ],
)
def test_changed_data_is_noticed(blocks, tmp_path, finished, change, message):
    if finished:
        run(Rows(blocks, 1), tmp_path)
    else:
        with pytest.raises(Stopped):
            run(Rows(blocks, 1, 4), tmp_path)
    with pytest.raises(CheckpointError, match=message + ".*mtime_ns was 1, now 2"):
        run(Rows(change(blocks), 2), tmp_path)


def test_data_that_grew_is_noticed(blocks, tmp_path):
    run(Rows(blocks[:-1], 1), tmp_path)
    with pytest.raises(CheckpointError, match="block 5 is new, the data has grown"):
        run(Rows(blocks, 2), tmp_path)


def test_data_that_changes_while_it_is_read_is_refused(blocks, tmp_path):
    source = Rows(blocks)
    source.fingerprint = lambda: {"mtime_ns": source.passes}
    with pytest.raises(CheckpointError, match="changed while it was read"):
        run(source, tmp_path)


def test_damage_and_other_columns_are_noticed(blocks, tmp_path):
    run(Rows(blocks), tmp_path)
    wider = [block._replace(X=np.ones((block.y.size, 6))) for block in blocks]
    with pytest.raises(CheckpointError, match="moments of 5 columns, the data has 6"):
        run(Rows(wider), tmp_path)
    path = tmp_path / "moments.state"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"moments\.state is damaged: it does not match its checksum"):
        run(Rows(blocks), tmp_path)


def test_counts_that_cannot_be_are_refused(tmp_path):
    ones = RawBlock(sp.csr_array([[1.0, 0.0], [1.0, 1.0]]), np.array([0, 1]))
    with Checkpoint(tmp_path, {"n_jobs": 1}, interval=0.0) as checkpoint:
        moments_of(Rows([ones]), checkpoint)
        state = checkpoint.load("moments")
        assert state["counted"]
        checkpoint.save("moments", state | {"positive_mean": np.array([1.0, 2.0])})
        with pytest.raises(CheckpointError, match="numbers of rows that cannot be"):
            moments_of(Rows([ones]), checkpoint)


def test_no_rows_at_all():
    empty = RawBlock(np.empty((0, 3)), np.empty(0, dtype=np.int8))
    with pytest.raises(ValueError, match="the source has no rows"):
        moments_of(Rows([empty]))


GOOD = RawBlock(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0, 1]))


@pytest.mark.parametrize(
    ("block", "error", "message"),
    [
        (RawBlock(np.array([[1.0, np.nan]]), np.array([1])), NonFiniteError, "row 2, column 1"),
        (RawBlock(sp.csr_array([[0.0, np.inf]]), np.array([1])), NonFiniteError, "row 2, column 1"),
        (
            RawBlock(np.ones((1, 3)), np.array([1])),
            ValueError,
            "block 2 .*X has 3 columns, expected 2",
        ),
        (RawBlock(np.ones((1, 2)), np.array(["a"])), ValueError, "block 2 of the source.*label 'a' at row 0"),
        (
            RawBlock(np.ones((1, 2)), np.array([1, 0])),
            ValueError,
            r"block 2 .*X has 1 rows and y has shape \(2,\)",
        ),
    ],
)
def test_what_is_wrong_with_a_block_is_said(block, error, message):
    with pytest.raises(error, match=message):
        moments_of(Rows([GOOD, block]))


def test_columns_are_those_that_the_source_promises():
    source = Rows([GOOD, GOOD])
    source.n_features = 3
    with pytest.raises(ValueError, match=r"block 1 .*X has 2 columns, expected 3"):
        moments_of(source)


@pytest.mark.parametrize("place", [0, 1])
def test_a_block_of_weight_zero_adds_nothing(place):
    weighted = GOOD._replace(weight=np.array([1.0, 3.0]))
    blocks = [weighted, weighted]
    blocks.insert(place, RawBlock(np.full((2, 2), 7.0), np.array([1, 0]), np.zeros(2)))
    same_bits(moments_of(Rows(blocks)), PairMoments.from_blocks([weighted] * 2, n_jobs=1))


def test_plain_tuples_are_blocks():
    source = Rows([GOOD, GOOD])
    source.blocks = [tuple(GOOD[:2]), (*GOOD[:2], None)]
    same_bits(moments_of(source), PairMoments.from_blocks([GOOD, GOOD], n_jobs=1))
    source.blocks = [GOOD, GOOD.X]
    with pytest.raises(ValueError, match=r"block 2 of the source must be a tuple \(X, y\) or .* got ndarray"):
        moments_of(source)
