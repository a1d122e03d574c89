"""Names of hashed columns come from rows that a pass has kept, and are those that another pass would give."""

import numpy as np
import pytest

from mbauc.readers import TableSource
from mbauc.readers.table import first_features

pytest.importorskip("pyarrow")


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for k in range(900):
        bid = "" if rng.random() < 0.1 else f"{rng.standard_normal():.3f}"
        site = "" if rng.random() < 0.1 else f"s{rng.integers(40)}"
        lines.append(f"{k % 2},{site},{bid},2024-01-0{rng.integers(1, 9)} 0{rng.integers(9)}:00:00\n")
    (tmp_path / "rows.csv").write_text("y,site,bid,at\n" + "".join(lines))
    return tmp_path / "rows.csv"


def source(path, scale="standard"):
    return TableSource(path, label="y", hash_dim=7, block_rows=100, scale=scale)


def contents(table, rows):
    columns = range(table.encoding.first_hashed, table.n_features)
    return table.slot_contents(list(columns), rows=rows)


def passes(table, monkeypatch):
    """Counts passes that begin."""
    count, read = [0], table._read
    monkeypatch.setattr(table, "_read", lambda *rest: (count.__setitem__(0, count[0] + 1), read(*rest))[1])
    return count


@pytest.mark.parametrize("scale", ["standard", None])
@pytest.mark.parametrize("rows", [50, 100, 450, 5000])
def test_the_names_are_those_of_another_pass(path, rows, scale, monkeypatch):
    fresh = source(path, scale)
    fresh._first = first_features.FirstFeatures()
    wanted = contents(fresh, rows)
    table = source(path, scale)
    list(table)
    count = passes(table, monkeypatch)
    assert contents(table, rows) == wanted
    assert count == [0]
    # all rows are not known to be among those that were kept
    assert contents(table, None) == contents(fresh, None)
    assert count == [1]


@pytest.mark.parametrize(("name", "value", "kept"), [("_BYTES", 2000, False), ("_ROWS", 250, True)])
def test_no_more_is_kept_than_is_allowed(path, name, value, kept, monkeypatch):
    wanted = contents(source(path), 200)
    monkeypatch.setattr(first_features, name, value)
    table = source(path)
    count = passes(table, monkeypatch)
    assert contents(table, 200) == wanted
    assert count == [0 if kept else 1]
    assert contents(table, 350) == contents(source(path), 350)
    assert count == [1 if kept else 2]


def test_other_files_have_names_of_their_own(path, tmp_path):
    table = source(path)
    other = tmp_path / "other.csv"
    other.write_text("y,site,bid,at\n1,new,1.5,2024-01-01 00:00:00\n0,new,1.5,2024-01-01 00:00:00\n")
    found = contents(table.on(other), 5)
    assert {value for values in found.values() for name, value, _ in values if name == "site"} == {"new"}
