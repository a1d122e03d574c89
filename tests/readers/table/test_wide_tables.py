"""Tables with many columns: work grows as their number does, not as its square."""

import numpy as np
import pytest

from mbauc.readers import TableSource
from mbauc.readers.table.files import csv_head, csv_table, parquet_table

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")


class Name(str):
    """A name that counts how often it is compared with another one: once in a dict, many times in a list."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.fixture
def counted(monkeypatch):
    """How many comparisons of names some work takes."""
    header_names, init = csv_head.header_names, parquet_table.ParquetTable.__init__

    def opened(table, file):
        init(table, file)
        table.column_names = [*map(Name, table.column_names)]

    monkeypatch.setattr(csv_table, "header_names", lambda *given: [*map(Name, header_names(*given))])
    monkeypatch.setattr(parquet_table.ParquetTable, "__init__", opened)

    def count(work):
        Name.compared = 0
        result = work()
        return result, Name.compared

    return count


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_are_looked_up_and_not_searched_for(tmp_path, counted, form):
    taken = {}
    for width in (100, 400):
        path = tmp_path / f"{width}.{form}"
        table = pa.table({"y": [0, 1] * 4, **{f"f{k}": np.arange(8) % (k % 3 + 2) + 0.5 for k in range(width)}})
        if form == "csv":
            csv.write_csv(table, path)
        else:
            parquet.write_table(table, path)
        source, to_learn = counted(lambda path=path: TableSource(path, label="y", scale="standard"))
        assert source.n_features == width
        _, to_read = counted(lambda source=source: list(source))
        coef = np.ones(width)
        _, to_score = counted(
            lambda path=path, source=source, coef=coef: list(source.layout.unlabelled(path).score_rows(coef))
        )
        _, to_take = counted(lambda source=source, table=table: source.encoding.transform(table))
        taken[width] = np.array([to_learn, to_read, to_score, to_take])
    assert (taken[400] <= 5 * taken[100] + 100).all(), taken
