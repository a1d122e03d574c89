"""Groups of rows: their keys, and how they go through blocks, sources, splits and folds."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_parts import cut, rows_of
from mbauc.pairs.moments import PairMoments
from mbauc.readers import RawBlock
from mbauc.rows.block import Block
from mbauc.rows.fingerprint import content_crc
from mbauc.rows.groups import check_groups, group_codes, group_keys, mark_keys
from mbauc.rows.held_out import SplitSource
from mbauc.rows.labels import Labels
from mbauc.rows.parts.folds import FoldsByGroup
from mbauc.rows.parts.group_folds import count_groups, group_fold_rules
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.reading import read_blocks, visit_blocks
from mbauc.rows.source import GroupedBlock, has_groups, score_blocks
from mbauc.rows.split import RandomSplit, RowSubset


class Rows(list):
    """Blocks in memory as a source."""

    def __init__(self, blocks, n_features, grouped=True):
        super().__init__(blocks)
        self.n_features, self.classes, self.has_groups = n_features, (0, 1), grouped


SAME = {
    "int64": np.array([7, -3, 7]),
    "uint8": np.array([7, 253, 7], dtype=np.uint8),
    "uint64": np.array([7, 253, 7], dtype=np.uint64),
    "objects": np.array([7, -3, 7], dtype=object),
    "texts": np.array(["7", "-3", "7"]),
    "text objects": np.array(["7", "-3", "7"], dtype=object),
    "whole floats": np.array([7.0, -3.0, 7.0]),
    "column": np.array([[7], [-3], [7]]),
    "series": pd.Series([7, -3, 7], index=[5, 6, 7]),
    "nullable": pd.Series([7, -3, 7], dtype="Int64"),
    "categories": pd.Categorical(["7", "-3", "7"]),
}


@pytest.mark.parametrize("form", SAME)
def test_a_number_has_one_key_whatever_its_type(form):
    found = group_keys(SAME[form], 3)
    expected = group_keys([7, -3, 7], 3)
    if form in ("uint8", "uint64"):
        expected = group_keys([7, 253, 7], 3)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.uint64
    assert found[0] == found[2] != found[1]


def test_keys_stay_the_same():
    """They are in files: these are FNV-1a of "group=7" and the finaliser of MurmurHash3, by another program."""
    h = 0xCBF29CE484222325
    for byte in b"group=7":
        h = (h ^ byte) * 0x100000001B3 % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = (h ^ h >> 33) * factor % 2**64
    assert int(group_keys([7], 1)[0]) == h ^ h >> 33


def test_keys_are_not_hashed_again():
    keys = np.array([5, 2**63], dtype=np.uint64)
    for marked in (mark_keys(keys), pickle.loads(pickle.dumps(mark_keys(keys))), mark_keys(keys)[np.arange(2)]):
        np.testing.assert_array_equal(group_keys(marked, 2), keys)
        assert type(group_keys(marked, 2)) is np.ndarray


def test_blocks_of_different_types_of_numbers_have_the_same_groups(rng):
    values = rng.integers(0, 9, 40)
    blocks = [
        GroupedBlock(rng.standard_normal((40, 2)), rng.integers(0, 2, 40), None, values.astype(kind))
        for kind in (np.uint64, np.int64)
    ]
    one, two = read_blocks(Rows(blocks, 2))
    np.testing.assert_array_equal(one.groups, two.groups)


def test_dates_have_one_key():
    days = [datetime.date(2014, 10, 21)]
    texts = group_keys(["2014-10-21"], 1)
    assert group_keys(np.array(days, dtype="datetime64[D]"), 1) == texts == group_keys(days, 1)


@given(st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=3)), min_size=1, max_size=20))
def test_equal_values_and_only_these_have_equal_codes_and_keys(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    for keys in (group_codes(column, len(values)), group_keys(column, len(values))):
        same = keys[:, None] == keys[None, :]
        texts = np.array([str(value) for value in values], dtype=object)
        np.testing.assert_array_equal(same, texts[:, None] == texts[None, :])


@pytest.mark.parametrize(
    "values",
    [[1.0, np.nan], ["a", None], pd.Series([1, None], dtype="Int64"), np.array(["2014-10-21", "NaT"], "M8[D]")],
    ids=["nan", "none", "na", "nat"],
)
def test_a_missing_group_is_an_error(values):
    with pytest.raises(ValueError, match="groups has no value at row 1; drop the row or name its group"):
        check_groups(values, 2)


def test_the_wrong_number_of_groups_is_an_error():
    with pytest.raises(ValueError, match=r"a value for each of the 3 rows, got shape \(2,\)"):
        group_keys([1, 2], 3)


# -- blocks ----------------------------------------------------------------------------------------------------


def grouped_blocks(rng, sizes=(40, 25, 60), d=3, weighted=True):
    blocks = []
    for size in sizes:
        weight = rng.random(size) if weighted else None
        blocks.append(
            GroupedBlock(
                rng.standard_normal((size, d)), rng.integers(0, 2, size), weight, rng.integers(0, 9, size)
            )
        )
    return blocks


def test_a_source_says_whether_it_has_groups(rng):
    source = Rows(grouped_blocks(rng), 3)
    assert has_groups(source)
    assert not has_groups(Rows([], 3, grouped=False))
    assert not has_groups([])
    assert rows_in_source(source).grouped


def test_blocks_of_a_source_have_keys(rng):
    blocks = grouped_blocks(rng)
    for block, raw in zip(read_blocks(Rows(blocks, 3)), blocks, strict=True):
        np.testing.assert_array_equal(block.groups, group_keys(raw.groups, len(raw.y)))


def test_some_blocks_with_groups_and_some_without(rng):
    blocks = grouped_blocks(rng)
    blocks[1] = RawBlock(*blocks[1][:3])
    with pytest.raises(ValueError, match="block 2 of the source has no groups, but the source has"):
        list(read_blocks(Rows(blocks, 3)))
    with pytest.raises(ValueError, match="block 1 of the source has groups, but the source has no"):
        list(read_blocks(Rows(blocks, 3, grouped=False)))
    empty = RawBlock(np.empty((0, 3)), np.empty(0, dtype=int))
    assert len(list(read_blocks(Rows([empty, blocks[0]], 3)))) == 2


def test_moments_of_all_pairs_refuse_groups(rng):
    with pytest.raises(ValueError, match="block 1 has groups"):
        PairMoments.from_blocks(Rows(grouped_blocks(rng), 3))


def test_a_tuple_of_the_wrong_length(rng):
    with pytest.raises(ValueError, match=r"\(X, y, weight, groups\) with groups; got tuple of 5"):
        list(read_blocks(Rows([(*grouped_blocks(rng)[0], None)], 3)))


def test_parts_have_keys(rng):
    X, y, groups = rng.standard_normal((30, 2)), rng.integers(0, 2, 30), rng.integers(0, 5, 30)
    parts = cut([10, 17], X, y, groups=groups.astype(str), blocks=2)
    rows = rows_of(parts, X, grouped=True)
    found = []
    for number, items in enumerate(parts._parts):
        visit_blocks(number, items, rows.schema, Labels((0, 1)), lambda block: found.append(block.groups))
    np.testing.assert_array_equal(np.concatenate(found), group_keys(groups, 30))


def test_the_checksum_of_a_block_depends_on_its_groups():
    X, y = np.eye(2), np.array([0, 1])
    crcs = {content_crc(X, y, None, groups=g) for g in (None, np.uint64([1, 1]), np.uint64([1, 2]))}
    assert len(crcs) == 3


# -- splits and folds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [True, False])
def test_a_split_cuts_no_group(rng, weighted):
    blocks = grouped_blocks(rng, weighted=weighted)
    source = Rows(blocks, 3)
    sides = [list(RowSubset(source, RandomSplit(0.4, 3), held_out=out)) for out in (True, False)]
    groups = [set(np.concatenate([block.groups for block in side]).tolist()) for side in sides]
    assert groups[0]
    assert not groups[0] & groups[1]
    assert sum(block.y.size for side in sides for block in side) == 125
    for out in (True, False):
        subset = RowSubset(source, RandomSplit(0.4, 3), held_out=out)
        assert subset.has_groups
        w = np.array([1.0, -2.0, 0.5])
        for scored, raw in zip(score_blocks(subset, w), subset, strict=True):
            np.testing.assert_allclose(scored.scores, raw.X @ w)
            np.testing.assert_array_equal(scored.groups, raw.groups)


def test_rows_that_are_kept_for_a_test_keep_their_groups(rng):
    source = Rows(grouped_blocks(rng), 3)
    split = SplitSource(source, RandomSplit(0.4, 3), memory=10**6)
    assert split.has_groups
    list(split)
    kept = list(split.held_out)
    assert has_groups(split.held_out)
    for block, other in zip(kept, RowSubset(source, RandomSplit(0.4, 3), held_out=True), strict=True):
        for one, two in zip(block, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_folds_hold_out_whole_groups(rng):
    groups = group_keys(rng.integers(0, 50, 400), 400)
    block = Block(None, rng.random(400) < 0.5, (np.arange(400) > 3).astype(float), groups=groups)
    fold = FoldsByGroup(4, 7).for_part(0).assign(block)
    assert (fold[:4] == -1).all()
    assert set(fold[4:].tolist()) == {0, 1, 2, 3}
    for group in np.unique(groups):
        assert np.unique(fold[4:][groups[4:] == group]).size <= 1
    half = Block(None, block.positive[200:], groups=groups[200:])
    np.testing.assert_array_equal(FoldsByGroup(4, 7).for_part(5).assign(half), fold[200:])


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_counted_by_class(rng, weighted):
    X, y, groups = rng.standard_normal((60, 2)), rng.integers(0, 2, 60), rng.integers(0, 7, 60)
    weight = rng.integers(0, 2, 60).astype(float) if weighted else None
    used = np.ones(60, dtype=bool) if weight is None else weight > 0
    parts = cut([10, 10, 27], X, y, weight, groups=groups, blocks=2)
    keys, sizes = count_groups(parts, rows_of(parts, X, weighted=weighted, grouped=True).schema)
    assert (np.diff(keys.astype(float)) > 0).all()
    own = group_keys(groups, 60)
    for key, found in zip(keys, sizes, strict=True):
        assert sorted(found) == sorted(int(((own == key) & used & (y == label)).sum()) for label in (0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_few_groups_are_dealt_out_evenly(rng, seed):
    """Hashes would leave a fold without a group for most seeds."""
    groups = np.repeat(np.arange(8), 10)
    X, y = rng.standard_normal((80, 2)), np.tile([0, 1], 40)
    parts = cut([30, 30], X, y, groups=groups)
    rows = rows_of(parts, X, grouped=True)
    counts = count_groups(parts, rows.schema)
    block = Block(None, y == 1, groups=group_keys(groups, 80))
    rules = group_fold_rules(counts, 5, 2, np.random.default_rng(seed))
    for rule in rules:
        fold = rule.for_part(1).assign(block)
        sizes = [np.unique(groups[fold == k]).size for k in range(5)]
        assert sorted(sizes) == [1, 1, 2, 2, 2]
        assert sum(sizes) == 8
    with pytest.warns(UserWarning, match="8 groups have rows of both classes, fewer than cv=9; using 8 folds"):
        assert group_fold_rules(counts, 9, 1, rng)[0].n_folds == 8
    strange = Block(None, y == 1, groups=block.groups + np.uint64(1))
    with pytest.raises(ValueError, match="it has groups that were not there when they were counted"):
        rules[0].for_part(0).assign(strange)


def test_very_many_groups_are_in_folds_by_their_keys(rng, monkeypatch):
    monkeypatch.setattr("mbauc.rows.parts.group_folds.MOST_DEALT_GROUPS", 5)
    groups = np.repeat(np.arange(8), 10)
    parts = cut([30], np.eye(80), np.tile([0, 1], 40), groups=groups)
    counts = count_groups(parts, rows_of(parts, np.eye(80), grouped=True).schema)
    assert isinstance(group_fold_rules(counts, 3, 1, rng)[0], FoldsByGroup)
