"""A column of groups in CSV and Parquet files."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mbauc.model.layout import layout_from_dict
from mbauc.readers import GroupedBlock, RawBlock, TableSource
from mbauc.rows.groups import group_keys
from mbauc.rows.source import GroupedScores, has_groups

ROWS = "click,bid,user,site\n0,0.5,7,a\n1,1.5,8,b\n0,0.7,7,a\n1,1.0,7,c\n0,2.0,NA,b\n"
USERS = ["7", "8", "7", "7", "NA"]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def test_blocks_have_keys_and_the_column_is_no_feature(path):
    source = TableSource(path, label="click", group="user", encode="onehot")
    assert source.has_groups
    assert has_groups(source)
    assert not any("user" in name for name in source.feature_names)
    assert source.plan["user"].kind == "group"
    [block] = source
    assert isinstance(block, GroupedBlock)
    np.testing.assert_array_equal(block.groups, group_keys(USERS, 5))


def test_without_a_group_column_blocks_are_as_ever(path):
    source = TableSource(path, label="click", encode="onehot")
    assert not has_groups(source)
    [block] = source
    assert isinstance(block, RawBlock)
    assert len(block) == 3


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([7, 8, 7]), ["7", "8", "7"]),
        (pa.array([7, 8, 7], pa.uint64()), ["7", "8", "7"]),
        (pa.array([7.0, 8.5, 7.0]), ["7", "8.5", "7"]),
        (pa.array(["7", "8", "7"]).dictionary_encode(), ["7", "8", "7"]),
        (pa.array([b"7", b"8", b"7"]), ["7", "8", "7"]),
        (pa.array([Decimal("7.0"), Decimal("8.5"), Decimal("7.0")]), ["7", "8.5", "7"]),
        (pa.array([datetime.date(2014, 10, 21)] * 3), ["2014-10-21"] * 3),
    ],
    ids=str,
)
def test_a_value_has_one_key_in_all_files(tmp_path, values, texts):
    table = pa.table({"click": [0, 1, 0], "bid": [0.5, 1.0, 2.0], "user": values})
    pq.write_table(table, tmp_path / "rows.parquet")
    [block] = TableSource(tmp_path / "rows.parquet", label="click", group="user")
    np.testing.assert_array_equal(block.groups, group_keys(texts, 3))


def test_a_missing_group_is_an_error_that_names_the_line(path):
    path.write_text(ROWS.replace("1,1.0,7,c", "1,1.0,,c"))
    with pytest.raises(ValueError, match=r"rows.csv, line 5: expected a group in column 'user', got none"):
        TableSource(path, label="click", group="user")
    source = TableSource(path, label="click", group="user", on_error="skip", encode="onehot")
    [block] = source
    np.testing.assert_array_equal(block.groups, group_keys(["7", "8", "7", "NA"], 4))
    assert source.skipped.reasons == {"no group": 1}


def test_columns_that_cannot_be_groups(path, tmp_path):
    with pytest.raises(ValueError, match=r"there is no column for group 'users'; .* Did you mean 'user'"):
        TableSource(path, label="click", group="users")
    with pytest.raises(ValueError, match="column 'click' is both label and group"):
        TableSource(path, label="click", group="click")
    lists = pa.table({"click": [0, 1], "bid": [0.5, 1.0], "user": [[1], [2]]})
    pq.write_table(lists, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="expected numbers or texts in the group column 'user', got list"):
        list(TableSource(tmp_path / "rows.parquet", label="click", group="user"))


def test_types_may_say_the_same(path):
    source = TableSource(path, label="click", group="user", types={"user": "group"})
    assert source.has_groups
    with pytest.raises(ValueError, match="column 'user' is both group and types"):
        TableSource(path, label="click", group="user", types={"user": "category"})


def test_other_files_and_the_layout_keep_the_column(path, tmp_path):
    source = TableSource(path, label="click", group="user", encode="onehot")
    [block] = source.on(path)
    np.testing.assert_array_equal(block.groups, group_keys(USERS, 5))
    layout = layout_from_dict(source.layout.to_dict())
    assert layout.group == "user"
    [again] = layout.source(path, source.classes)
    np.testing.assert_array_equal(again.groups, block.groups)
    assert not layout.source(path, source.classes, group=None).has_groups
    other = tmp_path / "other.csv"
    other.write_text(ROWS.replace("user", "person"))
    with pytest.raises(ValueError, match="there is no column for the group 'user'"):
        layout.source(other, source.classes)
    # rows to be scored need no groups
    assert sum(len(block.scores) for block in layout.unlabelled(other).score_rows(np.zeros(4))) == 5


def test_scores_come_with_groups(path):
    source = TableSource(path, label="click", group="user", encode="onehot")
    [scored] = source.score_blocks(np.ones(source.n_features))
    assert isinstance(scored, GroupedScores)
    np.testing.assert_array_equal(scored.groups, group_keys(USERS, 5))


def test_the_fingerprint_tells_groups_apart(path):
    plain, grouped = (TableSource(path, label="click", **more) for more in ({}, {"group": "user"}))
    assert "group" not in plain.fingerprint()
    assert grouped.fingerprint()["group"] == "user"
