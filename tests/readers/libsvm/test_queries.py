"""Query numbers of LIBSVM files as groups."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from mbauc.errors import MbaucWarning
from mbauc.model.layout import layout_from_dict
from mbauc.readers import GroupedBlock, LibsvmSource, RawBlock
from mbauc.readers.libsvm.queries import has_queries
from mbauc.rows.groups import group_keys
from mbauc.rows.source import has_groups

TEXT = "1 qid:7 1:1 3:0.5\n\n0 qid:8 2:1  # comment\n# more\n0\tqid:7 3:2\n1 qid:100 1:1\n0 qid:8#end\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text(TEXT)
    return path


def read(source):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blocks = list(source)
    assert all(isinstance(block, GroupedBlock) for block in blocks)
    return np.concatenate([block.groups for block in blocks])


@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_query_numbers_are_groups(path, block_rows):
    source = LibsvmSource(path, group="qid", block_rows=block_rows)
    assert has_groups(source)
    np.testing.assert_array_equal(read(source), group_keys([7, 8, 7, 100, 8], 5))


def test_many_rows_in_threads(tmp_path, rng):
    queries = rng.integers(0, 10**9, 60_000)
    path = tmp_path / "rows.libsvm"
    lines = [f"{k % 2} qid:{q} 1:{k}.5 2:1" for k, q in enumerate(queries)]
    lines[::7] = [f"# {line}" for line in lines[::7]]
    path.write_text("\n".join(lines))
    kept = np.delete(queries, slice(None, None, 7))
    groups = read(LibsvmSource(path, group="qid", n_jobs=2))
    np.testing.assert_array_equal(groups, group_keys(kept, kept.size))
    _, _, expected = load_svmlight_file(str(path), query_id=True)
    np.testing.assert_array_equal(groups, group_keys(expected, kept.size))


@pytest.mark.parametrize("line", ["1 1:1", "1 qid: 1:1", "1", "1 qid:"])
def test_a_row_without_a_query_is_an_error(path, line):
    path.write_text(TEXT + line + "\n")
    with pytest.raises(ValueError, match=r"rows.libsvm, line 8: expected a query number such as 'qid:7'"):
        LibsvmSource(path, group="qid")
    source = LibsvmSource(path, group="qid", on_error="skip")
    np.testing.assert_array_equal(read(source), group_keys([7, 8, 7, 100, 8], 5))
    assert source.skipped.count == 1


def test_without_the_option_they_are_ignored_and_that_is_said(path):
    with pytest.warns(MbaucWarning, match="qid.* which are ignored.* group='qid' makes groups of them"):
        source = LibsvmSource(path)
    assert not has_groups(source)
    assert all(isinstance(block, RawBlock) for block in source)


def test_another_group_is_an_error(path):
    with pytest.raises(ValueError, match="group must be 'qid' or None"):
        LibsvmSource(path, group="user")


def test_the_layout_keeps_the_option(path):
    source = LibsvmSource(path, group="qid")
    layout = layout_from_dict(source.layout.to_dict())
    assert layout == source.layout
    np.testing.assert_array_equal(read(layout.source(path, (0, 1))), read(source))
    assert not layout.source(path, (0, 1), group=None).has_groups
    assert source.fingerprint()["group"] == "qid"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["1 qid:7 1:1\n"], True),
        (["# qid:1\n\n  \n1 qid:7\n"], True),
        (["1 1:1\n0 qid:7 1:1\n"], False),
        (["1 1:1 # qid:7\n"], False),
        (["1 # a qid:7\n"], False),
        (["", "# nothing\n", "1\tqid:7"], True),
        (["#" + 100_000 * "x" + "\n1 qid:7 1:1\n"], True),
        ([""], False),
    ],
)
def test_whether_there_are_any_is_seen_at_the_first_row(tmp_path, texts, found):
    paths = [tmp_path / f"{k}.libsvm" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    assert has_queries(map(str, paths)) is found
