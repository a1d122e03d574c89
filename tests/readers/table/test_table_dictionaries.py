"""Columns of texts that Parquet files bring as dictionaries give what plain texts give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mbauc.readers import TableSource

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
parquet = pytest.importorskip("pyarrow.parquet")

from mbauc.readers.table.columns.values import read_dictionary, read_numbers, read_texts  # noqa: E402


def rows(found):
    """The text of each row, None where it is missing."""
    values = [*found.values.to_pylist(), None]
    return [values[code] or None for code in found.codes.tolist()]


some_texts = st.lists(st.sampled_from(["a", "b", "é", "", "7", "07", "1.50", "NA", None]), max_size=6)


@given(st.lists(some_texts, min_size=1, max_size=4), st.integers(0, 5), st.sampled_from(["text", "whole"]))
def test_dictionaries_in_chunks_are_texts(chunks, start, spelling):
    arrays = [pa.array(chunk, pa.string()).dictionary_encode() for chunk in chunks]
    coded = pa.chunked_array(arrays).slice(start)
    plain = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks]).slice(start)
    assert rows(read_texts(coded, spelling)) == rows(read_texts(plain, spelling))
    values, bad = read_numbers(coded)
    expected, expected_bad = read_numbers(plain)
    np.testing.assert_array_equal(values, expected)
    assert (bad is None) == (expected_bad is None)
    if bad is not None:
        np.testing.assert_array_equal(bad, expected_bad)


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int64(), pa.uint32()])
@pytest.mark.parametrize("value", [pa.string(), pa.large_string()])
def test_indices_and_texts_of_any_width(index, value):
    column = pa.DictionaryArray.from_arrays(
        pa.array([2, None, 0, 2], index), pa.array(["x", "unused", "y"], value)
    )
    found = read_dictionary(column)
    assert rows(found) == ["y", None, "x", "y"]
    assert rows(found.drop_unused()) == ["y", None, "x", "y"]
    assert found.drop_unused().values.to_pylist() == ["x", "y"]


def test_what_is_no_dictionary_of_texts_is_left_to_others():
    with_none = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None]))
    assert read_dictionary(with_none) is None
    assert rows(read_texts(with_none, "text")) == ["x", None]
    assert read_dictionary(pa.array([1, 2]).dictionary_encode()) is None
    assert read_dictionary(pa.array(["x"])) is None


def test_values_in_no_row_do_not_change_how_others_are_read():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, None]), pa.array(["1.5", "no number", "2"]))
    values, bad = read_numbers(column)
    assert bad is None
    np.testing.assert_array_equal(values, [1.5, 2.0, np.nan])


def test_empty_texts_are_missing_but_not_in_the_dictionary():
    found = read_texts(pa.array(["", "a", None, ""]), "text")
    assert found.drop_unused().codes.tolist() == [-1, 0, -1, -1]
    assert found.drop_unused(empty=True).values.to_pylist() == ["", "a"]


@pytest.mark.parametrize(
    "how",
    [{"hash_dim": 1_500}, {"hash_dim": 1_500, "signed": True}, {"encode": "onehot"}, {"hash_dim": 8}],
    ids=["hashed", "signed", "onehot", "dense"],
)
@pytest.mark.parametrize("block_rows", [7, 64, 1_000])
def test_row_groups_and_dictionaries_change_nothing(tmp_path, rng, how, block_rows):
    n = 300
    table = pa.table(
        {
            "click": rng.integers(0, 2, n),
            "site": pa.array(rng.choice(["a", "b", "", "é"], n), mask=rng.random(n) < 0.2),
            "user": [f"{user:08x}" for user in rng.integers(0, 40, n)],
            "count": pa.array(rng.choice(["1", "2", "03", "4.0", ""], n)),
            "bid": pa.array(rng.choice(["0.5", "", "0", "2"], n)),
            "code": pa.array(rng.integers(0, 9, n), mask=rng.random(n) < 0.1),
        }
    )
    types = {"count": "category", "bid": "numeric", "code": "category"}
    found = []
    for number, write in enumerate(
        [
            {"row_group_size": n, "use_dictionary": False},
            {"row_group_size": 50},
            {"row_group_size": 1_000, "dictionary_pagesize_limit": 100, "data_page_size": 64},
        ]
    ):
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(table, path, **write)
        source = TableSource(path, label="click", types=types, block_rows=block_rows, **how)
        assert source.n_rows == n
        blocks = list(source)
        assert [b.y.size for b in blocks[:-1]] == [block_rows] * (len(blocks) - 1)
        stacked = sparse.vstack([sparse.csr_array(b.X) for b in blocks], format="csr")
        columns = [source.slot_contents([source.n_features - 1])] if "hash_dim" in how else []
        found.append((stacked, np.concatenate([b.y for b in blocks]), columns, source.column("user").tolist()))
    plain = found[0]
    for other in found[1:]:
        for ours, theirs in zip(
            (plain[0].indptr, plain[0].indices, plain[0].data, plain[1]),
            (other[0].indptr, other[0].indices, other[0].data, other[1]),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)
        assert plain[2:] == other[2:]


def test_faults_are_named_as_in_plain_texts(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(
        {"click": [0, 1] * 30, "bid": [*["1.5"] * 57, "many", "1.5", "x"], "site": ["a", "b"] * 30}
    )
    parquet.write_table(table, path, row_group_size=16)
    how = {"label": "click", "types": {"bid": "numeric"}}
    with pytest.raises(
        ValueError, match=r"t\.parquet, row 58: expected a finite number in column 'bid', got 'm"
    ):
        list(TableSource(path, **how))
    source = TableSource(path, on_error="skip", **how)
    assert sum(block.y.size for block in source) == 58
    assert source.skipped.count == 2
    assert source.n_rows == 60  # what the file says, skipped rows included


def test_text_files_do_not_say_how_many_rows_they_have(tmp_path):
    (tmp_path / "a.csv").write_text("click,site\n0,a\n1,b\n")
    parquet.write_table(pa.table({"click": [0, 1, 1], "site": ["a", "b", "c"]}), tmp_path / "b.parquet")
    both = TableSource([tmp_path / "b.parquet", tmp_path / "a.csv"], label="click", hash_dim=5)
    assert both.n_rows is None
    assert both.on([tmp_path / "b.parquet"] * 2).n_rows == 6
