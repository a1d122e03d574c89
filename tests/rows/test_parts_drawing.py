"""Pairs are drawn the same however rows are cut, and as often as their weights say."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy import stats

from local_parts import LocalParts, Ranker, RankerCV, cut
from mbauc import MBAClassifier
from mbauc.errors import PartError
from mbauc.rows.block import Block
from mbauc.rows.parts import draw as drawing
from mbauc.rows.parts.draw import draw_rows, draw_sample
from mbauc.rows.parts.keys import check_ids, next_keys, row_keys, uniform
from mbauc.rows.parts.label_counts import LabelCounts
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.schema import Schema
from mbauc.runtime.seeds import generator


def drawn(parts, pairs, seed, **how):
    """The only column of the drawn pairs, in which each row has its number."""
    found, _ = draw_sample(PartedRows(parts, Schema(1), **how), pairs, seed)
    X = found.block.X.toarray() if sp.issparse(found.block.X) else found.block.X
    return X[found.pairs[0], 0].astype(int), X[found.pairs[1], 0].astype(int)


@st.composite
def cut_rows(draw):
    """Labels, weights with zeros among them, and a cut."""
    y = np.array([1, 0, *draw(st.lists(st.integers(0, 1), max_size=30))])
    weight = np.array(
        [
            1.0,
            2.0,
            *draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(y) - 2, max_size=len(y) - 2)),
        ]
    )
    cuts = draw(st.lists(st.integers(0, len(y)), max_size=6))
    return y, weight, cuts, draw(st.integers(1, 3))


@given(cut_rows(), st.integers(1, 50), st.integers(0, 3), st.booleans(), st.booleans())
def test_the_draw_by_rank_is_that_of_one_machine(case, pairs, seed, weighted, as_sparse):
    y, weight, cuts, blocks = case
    X = np.arange(1.0, len(y) + 1)[:, None]
    weight = weight if weighted else None
    parts = cut(cuts, sp.csr_array(X) if as_sparse else X, y, weight, blocks=blocks)
    plus, minus = drawn(parts, pairs, seed, weighted=weighted)
    expected = draw_rows(Block(X, y == 1, weight), pairs, seed)
    np.testing.assert_array_equal(plus - 1, expected[0])
    np.testing.assert_array_equal(minus - 1, expected[1])


@given(cut_rows(), st.integers(1, 50), st.integers(0, 3), st.booleans(), st.booleans(), st.randoms())
def test_the_draw_by_id_stays_the_same_if_rows_are_shuffled(case, pairs, seed, weighted, as_text, random):
    y, weight, cuts, blocks = case
    X = np.arange(1.0, len(y) + 1)[:, None]
    ids = np.array([f"row {k}" for k in range(len(y))]) if as_text else np.arange(len(y)) * 1009 - 5
    order = list(range(len(y)))
    random.shuffle(order)
    how = {"with_ids": True, "weighted": weighted}
    first = drawn(cut([], X, y, weight if weighted else None, ids), pairs, seed, **how)
    second = drawn(
        cut(cuts, X[order], y[order], weight[order] if weighted else None, ids[order], blocks),
        pairs,
        seed,
        **how,
    )
    np.testing.assert_array_equal(first, second)
    assert (y[first[0] - 1] == 1).all()
    assert (y[first[1] - 1] == 0).all()
    assert not weighted or (weight[np.concatenate(first) - 1] > 0).all()


def test_the_draw_by_id_by_definition():
    """One clock after another, one ring after another: the first rings are the draws."""
    rng = np.random.default_rng(0)
    n, pairs, seed = 60, 200, 11
    y, weight, ids = (np.arange(n) % 3 == 0).astype(int), rng.exponential(size=n), rng.permutation(n) * 17
    seeds = generator(seed).integers(2**63 - 1, size=2)
    expected = []
    for side, own in zip(seeds, (np.flatnonzero(y == 1), np.flatnonzero(y == 0)), strict=True):
        rings = []
        for row in own:
            key, time = row_keys(ids[row : row + 1], int(side)), 0.0
            for _ in range(2 * pairs):
                time -= math.log(float(uniform(key)[0])) / weight[row]
                rings.append((time, row))
                key = next_keys(key)
        expected.append([row for _, row in sorted(rings)[:pairs]])
    X = np.arange(1.0, n + 1)[:, None]
    plus, minus = drawn(cut([13, 40], X, y, weight, ids), pairs, seed, weighted=True, with_ids=True)
    np.testing.assert_array_equal(plus - 1, expected[0])
    np.testing.assert_array_equal(minus - 1, expected[1])


@pytest.mark.parametrize("text", [False, True])
def test_rows_are_drawn_as_often_as_their_weights_say(text):
    rng = np.random.default_rng(5)
    n, pairs = 80, 40_000
    y, weight = (np.arange(n) % 2).astype(int), rng.choice([0.1, 1.0, 4.0], n)
    ids = np.char.add("id-", np.arange(n).astype(str)) if text else np.arange(n)
    X = np.arange(1.0, n + 1)[:, None]
    plus, minus = drawn(cut([30], X, y, weight, ids), pairs, 0, weighted=True, with_ids=True)
    for rows, side in ((plus - 1, 1), (minus - 1, 0)):
        own = np.flatnonzero(y == side)
        counts = np.bincount(rows, minlength=n)[own]
        share = weight[own] / weight[own].sum()
        assert stats.chisquare(counts, pairs * share).pvalue > 1e-3
        # with replacement: a draw says nothing about the next one
        again = np.mean(rows[1:] == rows[:-1])
        assert again == pytest.approx((share**2).sum(), abs=5 * np.sqrt((share**2).sum() / pairs))
        # and its place in the sample says nothing about the row
        assert (
            stats.chisquare(np.bincount(rows[: pairs // 8], minlength=n)[own], pairs / 8 * share).pvalue > 1e-3
        )
    # the two rows of a pair are independent
    heavy = weight == 4.0
    together, shares = (
        np.mean(heavy[plus - 1] & heavy[minus - 1]),
        np.mean(heavy[plus - 1]) * np.mean(heavy[minus - 1]),
    )
    assert together == pytest.approx(shares, abs=5 * np.sqrt(0.25 / pairs))


def test_counts_vary_as_those_of_draws_with_replacement():
    """Over many seeds the number of times that a row is drawn is binomial: not too even, and not too uneven."""
    n, pairs = 12, 30
    y, weight = (np.arange(n) % 2).astype(int), np.where(np.arange(n) < 6, 1.0, 3.0)
    parts = cut([5], np.arange(1.0, n + 1)[:, None], y, weight, np.arange(n))
    counts = np.array(
        [
            np.bincount(drawn(parts, pairs, seed, weighted=True, with_ids=True)[0] - 1, minlength=n)
            for seed in range(300)
        ]
    )
    own = np.flatnonzero(y == 1)
    share = weight[own] / weight[own].sum()
    np.testing.assert_allclose(counts[:, own].mean(axis=0), pairs * share, rtol=0.1)
    np.testing.assert_allclose(counts[:, own].var(axis=0), pairs * share * (1 - share), rtol=0.3)
    # two rows get in each other's way as in a multinomial draw
    expected = -pairs * share[0] * share[-1]
    assert np.cov(counts[:, own[0]], counts[:, own[-1]])[0, 1] == pytest.approx(expected, abs=0.4)


def test_a_draw_that_finds_too_few_rings_is_made_again(monkeypatch):
    y, X, ids = (np.arange(40) % 4 == 0).astype(int), np.arange(1.0, 41)[:, None], np.arange(40)
    once = drawn(cut([9], X, y, None, ids), 500, 3, with_ids=True)
    monkeypatch.setattr(
        LabelCounts, "class_weight", lambda self, positive: (200.0, 200.0)
    )  # clocks seem to be faster
    parts = cut([9], X, y, None, ids)
    again = drawn(parts, 500, 3, with_ids=True)
    assert parts.jobs.count("RingClocks") > 1
    np.testing.assert_array_equal(once, again)


def test_a_class_of_one_row():
    X, y, ids = np.arange(1.0, 21)[:, None], (np.arange(20) == 7).astype(int), np.arange(20)
    plus, _ = drawn(cut([3, 9], X, y, None, ids), 300, 0, with_ids=True)
    assert (plus == 8).all()
    plus, _ = drawn(cut([3, 9], X, y), 300, 0)
    assert (plus == 8).all()


def test_ids_are_the_same_as_numbers_and_as_objects():
    numbers = np.array([3, 2**40, 0, 77])
    for ids in (numbers.astype(object), numbers.astype(np.uint64), pd.array(numbers, dtype="Int64")):
        np.testing.assert_array_equal(row_keys(check_ids(np.asarray(ids)), 9), row_keys(numbers, 9))
    texts = np.array(["a", "bb", "ü"])
    np.testing.assert_array_equal(row_keys(check_ids(texts.astype(object)), 9), row_keys(texts, 9))
    assert (row_keys(numbers, 9) != row_keys(numbers, 10)).all()


# -- the fit --------------------------------------------------


SETTINGS = [
    {},
    {"pairing": "complete"},
    {"solver": "matrix-free", "l2": 0.1},
    {"batch_size": 64, "l1": 0.01, "l2": 0.1},
    {"weights": "frequency"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sampled_fit_is_that_of_one_machine(table, settings, weighted):
    X, y = table
    weight = np.random.default_rng(2).choice([0.0, 0.5, 2.0], 600) if weighted else None
    local = MBAClassifier(pairs=500, random_state=4, **settings).fit(X, y, weight)
    for cuts in ([], [5, 5, 100, 101, 300, 599, 600]):
        parts = cut(cuts, X, y, weight)
        ours = Ranker(pairs=500, random_state=4, **settings).fit_parts(parts, X, weighted=weighted)
        np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
        assert ours.intercept_[0] == pytest.approx(local.intercept_[0], rel=1e-9)
        assert ours.slope_ == pytest.approx(local.slope_, rel=1e-9)
        np.testing.assert_allclose(ours.effective_sample_size_, local.effective_sample_size_)
        assert parts.jobs == ["CountLabels", *["ListWeights"] * weighted, "FetchRanks"]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_sampled_fit_by_id_does_not_depend_on_the_cut_or_the_order(table, settings):
    X, y = table
    ids, order = np.arange(600) + 10**12, np.random.default_rng(1).permutation(600)
    how = {"pairs": 500, "random_state": 4} | settings
    one = Ranker(**how).fit_parts(cut([], X, y, None, ids), X, with_ids=True)
    parts = cut([5, 5, 100, 101, 300, 599, 600], X[order], y[order], None, ids[order], blocks=2)
    eight = Ranker(**how).fit_parts(parts, X, with_ids=True)
    assert parts.jobs == ["CountLabels", "RingClocks"]
    np.testing.assert_allclose(one.coef_, eight.coef_, rtol=1e-9)
    other = Ranker(**(how | {"random_state": 5})).fit_parts(cut([], X, y, None, ids), X, with_ids=True)
    assert np.abs(other.coef_ - one.coef_).max() > 1e-6


def test_weights_of_later_blocks_count_though_the_first_had_none(table):
    X, y = table
    weight = np.r_[np.ones(300), np.random.default_rng(0).uniform(0.5, 4.0, 300)]
    parts = cut([300], X, y, weight)
    parts._parts[0] = [block[:2] for block in parts._parts[0]]
    ours = Ranker(pairs=500, random_state=4).fit_parts(parts, X, weighted=False)
    local = MBAClassifier(pairs=500, random_state=4).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)


# -- what goes wrong --------------------------------------------------


class Moving(LocalParts):
    """Rows that are others each time they are read."""

    def collect(self, task):
        if type(task).__name__ == "FetchRanks":
            self._parts = [part[:1] for part in self._parts]
        return super().collect(task)


def test_rows_that_move_between_two_jobs_are_noticed(table):
    X, y = table
    parts = Moving(cut([200], X, y, blocks=3)._parts)
    parts.fix_order = lambda: parts
    with pytest.raises(ValueError, match="rows moved between two jobs"):
        Ranker(pairs=500, random_state=4).fit_parts(parts, X)


def test_weights_that_do_not_fit_on_the_driver(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(drawing, "parse_memory", lambda _: 18 * 600 - 1)
    with pytest.raises(ValueError, match=r"weights of 600 rows .* id column"):
        Ranker(pairs=5).fit_parts(cut([100], X, y, np.ones(600)), X, weighted=True)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (np.arange(600.0), "whole numbers or texts, got dtype float64"),
        (
            np.where(np.arange(600) == 250, None, "x").astype(object),
            "partition 1 .*the id of row 150 is missing",
        ),
        (np.arange(1200).reshape(600, 2), r"ids of shape \(100, 2\)"),
    ],
    ids=["floats", "missing", "table"],
)
def test_wrong_ids(table, ids, words):
    X, y = table
    for ranker in (Ranker(pairs=5, random_state=0), RankerCV()):
        with pytest.raises(PartError, match=words):
            ranker.fit_parts(cut([100], X, y, None, ids), X, with_ids=True)


@pytest.mark.parametrize("with_ids", [False, True])
def test_a_bad_value_among_the_drawn_rows_is_said_with_part_and_row(table, with_ids):
    X, y = table
    X = X.copy()
    X[250, 3] = np.inf
    parts = cut([100], X, y, None, np.arange(600), blocks=2)
    with pytest.raises(PartError, match=r"partition 1 .*inf at row 150, column 3 \('d'\)"):
        Ranker(pairs=20_000, random_state=0).fit_parts(parts, X, with_ids=with_ids, names=tuple("abcdef"))


@pytest.mark.parametrize("how", [{"decay": 0.9}, {"within_block": True}, {"pairs": "enough"}], ids=str)
def test_what_is_for_streams_or_memory_is_refused(table, how):
    X, y = table
    parts = cut([100], X, y)
    with pytest.raises(ValueError, match=next(iter(how))):
        Ranker(**how).fit_parts(parts, X)
    assert parts.jobs == []


def test_blocks_without_ids_are_noticed(table):
    X, y = table
    parts = LocalParts([[(X, y)]])
    with pytest.raises(PartError, match="needs the ids"):
        Ranker(pairs=5, random_state=0).fit_parts(parts, X, with_ids=True)
