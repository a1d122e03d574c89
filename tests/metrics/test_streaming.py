import copy
import pickle
import struct
import tracemalloc
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.metrics import StreamingAUC, roc_auc

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-3, 3).map(float),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0).map(lambda p: 1.0 - 1e-12 * p),
    st.floats(-1.0, 1.0).map(lambda x: 1e6 + x),
    st.floats(-1e-310, 1e-310),
    st.sampled_from([0.0, -0.0, 0.5, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308, -1.7e308]),
)
WEIGHTS = st.one_of(st.floats(0.01, 100.0), st.sampled_from([1e-100, 1e100, 1.0, 3.0]))
ROOM = st.integers(6, 20)


@st.composite
def streams(draw, max_rows=40):
    n = draw(st.integers(2, max_rows))
    y = np.array([True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))])
    s = np.array(draw(st.lists(SCORES, min_size=n, max_size=n)))
    w = np.array(draw(st.lists(WEIGHTS, min_size=n, max_size=n)))
    return y, s, w


def cramped(room):
    """One with room for so few bins that a handful of rows fills it; no caller may ask for that."""
    stream = StreamingAUC()
    stream._memory = 16 * room
    return stream


def parts(stream):
    shift, plus, minus, whole = stream._state
    return shift, plus.keys.tolist(), plus.counts.tolist(), minus.keys.tolist(), minus.counts.tolist(), whole


def exact_auc(y, s, w):
    """Eq. (5) in fractions: no rounding at all."""
    won = total = Fraction(0)
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            pair = Fraction(float(w[i])) * Fraction(float(w[j]))
            won += pair * (1 if s[i] > s[j] else Fraction(1, 2) if s[i] == s[j] else 0)
            total += pair
    return won / total


@given(streams(), ROOM)
def test_the_bracket_holds_the_exact_value(case, room):
    y, s, w = case
    stream = cramped(room).update(y, s)
    assert 0.0 <= stream.low <= reference.auc(y, s) <= stream.high <= 1.0
    assert stream.low <= stream.auc <= stream.high
    assert stream.auc == pytest.approx((stream.low + stream.high) / 2, abs=1e-15)
    assert stream.exact == (stream.low == stream.high)
    assert stream.memory_used <= 16 * room

    weighted = cramped(room).update(y, s, sample_weight=w)
    assert 0.0 <= weighted.low <= exact_auc(y, s, w) <= weighted.high <= 1.0
    assert weighted.low <= weighted.auc <= weighted.high
    assert weighted.exact == stream.exact
    if weighted.exact:
        assert weighted.width <= (len(y) + 8) * 2.0**-50


def bin_of(score, shift):
    """The float64 as a whole number, cut after so many bits; edges are even, what lies between is odd."""
    bits = struct.unpack("<q", struct.pack("<d", abs(score)))[0]
    edge, beyond = divmod(bits, 2**shift)
    return (2 * edge + (beyond > 0)) * (-1 if score < 0 else 1)


@given(streams(), ROOM)
def test_bins_are_no_coarser_than_they_have_to_be(case, room):
    y, s, _ = case
    shift = 1
    while len({(label, bin_of(score, shift)) for label, score in zip(y, s, strict=True)}) > room:
        shift += 1
    low = high = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            ours, theirs = bin_of(s[i], shift), bin_of(s[j], shift)
            if ours == theirs:
                tie = shift == 1 or ours % 2 == 0
                low, high = low + 0.5 * tie, high + (0.5 if tie else 1.0)
            else:
                low, high = low + (ours > theirs), high + (ours > theirs)
    pairs = y.sum() * (~y).sum()
    stream = cramped(room).update(y, s)
    assert (stream.low, stream.high) == (low / pairs, high / pairs)


@given(streams(), ROOM, st.randoms(use_true_random=False), st.booleans())
def test_order_blocks_and_merges_leave_no_trace(case, room, random, weighted):
    y, s, _ = case
    w = np.array([random.randint(0, 3) for _ in y], dtype=float) if weighted else np.ones(len(y))
    whole = cramped(room).update(y, s, sample_weight=w)
    rows = list(range(len(y)))
    random.shuffle(rows)
    streams = []
    while rows:
        size = random.randint(1, len(rows))
        block, rows = rows[:size], rows[size:]
        if streams and random.random() < 0.5:
            random.choice(streams).update(y[block], s[block], sample_weight=w[block])
        else:
            streams.append(cramped(room).update(y[block], s[block], sample_weight=w[block]))
    while len(streams) > 1:
        random.shuffle(streams)
        streams.append(streams.pop().merge(streams.pop()))
    assert parts(streams[0]) == parts(whole)


def test_large_streams_leave_no_trace_either(rng):
    y = rng.random(300_000) < 0.2
    s = rng.standard_normal(300_000) * np.where(rng.random(300_000) < 0.5, 1.0, 1e-5) + y
    s[::7] = 0.0
    whole = StreamingAUC(2**16).update(y, s)
    order = rng.permutation(s.size)
    cuts = np.sort(rng.integers(0, s.size, 12))
    streams = [StreamingAUC(2**16).update(y[rows], s[rows]) for rows in np.split(order, cuts)]
    assert parts(reduce(lambda a, b: b + a, streams)) == parts(whole)
    assert parts(sum(streams)) == parts(whole)
    assert sum(streams).counts == whole.counts == (y.sum(), (~y).sum())


@given(streams())
def test_few_distinct_scores_are_exact(case):
    y, s, w = case
    stream = StreamingAUC().update(y, s)
    assert stream.exact
    assert stream.auc == stream.low == stream.high == roc_auc(y, s)
    whole = np.ceil(np.minimum(w, 1e6))
    weighted = StreamingAUC().update(y, s, sample_weight=whole)
    assert weighted.low == weighted.high == exact_auc(y, s, whole).__float__()
    assert StreamingAUC().update(y, s, sample_weight=w).auc == pytest.approx(
        roc_auc(y, s, sample_weight=w), abs=1e-12
    )


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-3, 1.0, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_any_scale_and_offset(rng, scale, offset):
    y = rng.random(200_000) < 0.5
    s = (rng.standard_normal(200_000) + y + offset) * scale
    stream = StreamingAUC().update(y, s)
    assert stream.low <= roc_auc(y, s) <= stream.high
    assert not stream.exact
    assert stream.width < 2e-4


@pytest.mark.slow
def test_ten_million_scores_in_a_megabyte(rng):
    n, size = 10_000_000, 500_000
    y = rng.random(n) < 0.5
    s = rng.standard_normal(n)
    s += y
    stream = StreamingAUC()
    for start in range(0, n, size):
        rows = slice(start, start + size)
        assert stream.update(y[rows], s[rows]).memory_used <= 2**20
    assert stream.width <= 1e-3
    assert stream.low <= roc_auc(y, s) <= stream.high


@pytest.mark.parametrize("atom", [0.0, 0.5, -1.0, np.inf])
def test_many_equal_scores_stay_ties(rng, atom):
    y = rng.random(300_000) < 0.5
    s = np.where(rng.random(300_000) < 0.4, atom, rng.standard_normal(300_000) + y)
    stream = StreamingAUC().update(y, s)
    assert not stream.exact
    assert stream.low <= roc_auc(y, s) <= stream.high
    assert stream.width < 2e-4


def test_probabilities_and_their_logits(rng):
    y = rng.random(300_000) < 0.5
    logit = 3 * (rng.standard_normal(300_000) + y)
    for s in (logit, 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit - 3.0)), 1 / (1 + np.exp(15.0 - logit))):
        stream = StreamingAUC().update(y, s)
        assert stream.low <= roc_auc(y, s) <= stream.high
        assert stream.width < 1e-3


def test_more_pairs_than_any_machine_number():
    """Whole weights stand for rows: 2⁵² of a class, and 2¹⁰³ pairs, to the last one."""
    y, s, w = [1, 1, 0, 0], [3.0, 1.0, 2.0, 0.0], [2.0**51, 2.0**51 - 1, 2.0**51 + 1, 2.0**51]
    stream = StreamingAUC().update(y, s, sample_weight=w)
    a, b, c, d = map(int, w)
    assert stream.low == stream.auc == stream.high == (a * (c + d) + b * d) / ((a + b) * (c + d))
    larger = (stream + stream) + (stream + stream)
    assert larger.low < stream.auc < larger.high
    assert larger.width < 1e-13


def test_what_takes_part_in_no_pair_takes_no_room():
    stream = StreamingAUC().update([0, 1, 1], [1.0, 2.0, 3.0], sample_weight=[1.0, 1.0, 0.0])
    assert stream.counts == (1, 1)
    assert stream.memory_used == 32
    assert stream.update([0, 1], [5.0, 6.0], sample_weight=[0.0, 0.0]).counts == (1, 1)
    assert stream.update([], []).update(np.zeros(0, dtype=bool), np.zeros(0), sample_weight=[]).counts == (1, 1)


def test_input_of_every_kind(rng):
    y = rng.random(500) < 0.4
    s = np.round(rng.standard_normal(500) * 8)
    expected = parts(StreamingAUC().update(y, s))
    wide = np.repeat(s, 2)
    locked = s.copy()
    locked.flags.writeable = False
    for scores in (s.tolist(), s.astype(np.float32), s.astype(np.int8), s.astype(object), wide[::2], locked):
        assert parts(StreamingAUC().update(y, scores)) == expected
    for labels in (y.astype(int), np.where(y, 1, -1), y.tolist(), y[:, None], np.where(y, "yes", "no")):
        assert parts(StreamingAUC().update(labels, s)) == expected
    named = StreamingAUC(classes=["no", "yes"])
    for mask in (y, ~y):
        named.update(np.where(y, "yes", "no")[mask], s[mask])
    assert parts(named) == expected


def test_copies_go_their_own_way(rng):
    y = rng.random(1000) < 0.5
    s = rng.standard_normal(1000)
    stream = StreamingAUC(4096, classes=[0, 1]).update(y, s)
    before = parts(stream)
    for twin in (copy.deepcopy(stream), copy.copy(stream), pickle.loads(pickle.dumps(stream)), sum([stream])):
        assert parts(twin) == before
        twin += stream
        assert twin.counts == (2 * y.sum(), 2 * (~y).sum())
        assert twin.auc == stream.auc
        assert parts(stream) == before


def test_memory_is_small_while_at_work(rng):
    y = rng.random(1_000_000) < 0.5
    s = rng.standard_normal(1_000_000)
    stream = StreamingAUC().update(y[:10], s[:10])
    tracemalloc.start()
    try:
        stream.update(y, s)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 2**20 + 4 * 2**20 + 2 * s.size


def test_a_missing_class_is_named():
    stream = StreamingAUC()
    assert repr(stream) == "StreamingAUC(no pairs yet; 0 positives, 0 negatives)"
    stream.update([0, 0], [1.0, 2.0])
    for name in ("auc", "low", "high", "width"):
        with pytest.raises(ValueError, match="no pairs yet \\(0 positives, 2 negatives\\)"):
            getattr(stream, name)
    assert stream.exact
    assert (
        repr(stream.update([1], [1.5]))
        == "StreamingAUC(0.50000, from 0.50000 to 0.50000; 1 positives, 2 negatives)"
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (([0, 1], [1.0, np.nan]), "^y_score has NaN at row 1"),
        (([0, 1], [1.0]), "^y_true has 2 labels and y_score 1 scores"),
        (([], [1.0]), "^y_true has 0 labels and y_score 1 scores"),
        (([0, 1], [[1.0], [2.0]]), "one-dimensional"),
        (([0, 1], ["a", "b"]), "^y_score must hold numbers"),
        (([0, 1, 2], [1.0, 2.0, 3.0]), "y_true has 3 classes"),
        (([0, np.nan], [1.0, 2.0]), "y_true contains NaN"),
        ((["no", "no"], [1.0, 2.0]), "unknown whether that is the positive one"),
        (([1, 2], [1.0, 2.0]), "negative label is 1 here, but was 0 before"),
        (([-1, -1], [1.0, 2.0]), "negative label is -1 here, but was 0 before"),
        (([0, 1], [1.0, 2.0], [1.0, -1.0]), "sample_weight has -1.0 at row 1"),
        (([0, 1], [1.0, 2.0], [1.0]), "one weight for each row"),
        (([], [], [1.0]), "one weight for each row"),
    ],
)
def test_a_bad_block_is_named_and_leaves_nothing_behind(block, message):
    stream = StreamingAUC().update([0, 1, 0], [0.25, 1.0, 3.0])
    before = parts(stream)
    y, s, *weight = block
    with pytest.raises(ValueError, match=message):
        stream.update(y, s, sample_weight=weight[0] if weight else None)
    assert parts(stream) == before
    assert stream.update([0, 1], [1.0, 2.0]).counts == (2, 3)


def test_a_late_nan_leaves_nothing_behind(rng):
    stream = StreamingAUC()
    s = rng.standard_normal(100_000)
    s[90_000] = np.nan
    with pytest.raises(ValueError, match=r"^y_score has NaN at row 90,000"):
        stream.update(s > 0, s)
    assert stream.counts == (0, 0)


def test_bad_settings_and_merges_are_named():
    for memory in (1023, 1e6, "1MB", True):
        with pytest.raises(ValueError, match="memory must be a whole number of at least 1024"):
            StreamingAUC(memory)
    with pytest.raises(ValueError, match="classes must name exactly two labels"):
        StreamingAUC(classes=[1])
    stream = StreamingAUC().update([0, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="Make both with the same memory"):
        stream.merge(StreamingAUC(2048))
    with pytest.raises(ValueError, match="positive label is 2 here, but was 1 before"):
        stream.merge(StreamingAUC(classes=[0, 2]))
    with pytest.raises(TypeError, match="other must be a StreamingAUC, got int"):
        stream.merge(3)
    with pytest.raises(TypeError, match="unsupported operand"):
        stream + 3
    with pytest.raises(TypeError, match="unsupported operand"):
        3 + stream
    with pytest.raises(TypeError, match="unsupported operand"):
        stream += 3
    assert stream.counts == (1, 1)
    # the labels that one of two was told hold for both
    late = StreamingAUC().merge(StreamingAUC(classes=["no", "yes"]))
    assert late.update(["no"], [1.0]).update(["yes"], [2.0]).auc == 1.0
