"""How files become columns: one object, which a source has and a model keeps."""

import json

import numpy as np
import pytest

from mbauc.model.layout import layout_from_dict
from mbauc.readers import LibsvmSource, TableSource

pa = pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("no;a;0.5;2\nyes;b;1.5;1\nperhaps;a;;3\nyes;c;2.5;1\n")
    return path


@pytest.fixture
def source(path):
    return TableSource(
        path,
        label="click",
        positive=["yes"],
        weight="times",
        names=["click", "site", "bid", "times"],
        delimiter=";",
        encode="onehot",
    )


def test_the_layout_has_all_that_other_files_need(source, path):
    layout = source.layout
    assert (layout.label, layout.positive, layout.weight) == ("click", ("yes",), "times")
    assert (layout.names, layout.delimiter) == (("click", "site", "bid", "times"), ";")
    assert layout.encoding is source.encoding
    again = layout_from_dict(json.loads(json.dumps(layout.to_dict())))
    assert again.to_dict() == layout.to_dict()
    other = again.source(path, source.classes)
    assert other.layout.to_dict() == layout.to_dict()
    for block, same in zip(source, other, strict=True):
        np.testing.assert_array_equal(block.X, same.X)
        np.testing.assert_array_equal(block.y, same.y)
        np.testing.assert_array_equal(block.weight, same.weight)


def test_positive_labels_are_told_as_the_data_have_them(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n1,0.5\n2,1.5\n3,2.5\n")
    assert TableSource(path, label="y", positive=["1", "3.0"]).layout.positive == (1, 3)
    assert TableSource(path, label="y", positive=np.int64(2)).layout.to_dict()["positive"] == [2]


def test_the_layout_of_numbered_columns(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 0:2 4:1\n-1 1:1\n")
    layout = LibsvmSource(path).layout
    assert layout.to_dict() == {"kind": "libsvm", "n_features": 5, "zero_based": True}
    assert layout_from_dict(layout.to_dict()) == layout


# -- rows without labels -------------------------------------------------------------------------------------


def test_a_source_without_a_label_scores_rows(source, tmp_path, rng):
    path = tmp_path / "today.csv"
    path.write_text("?;b;2.5;x\n?;d;;y\n")
    unlabelled = TableSource(
        path, label=None, encoding=source.encoding, names=source.names, delimiter=";", block_rows=1
    )
    coef = rng.normal(size=source.n_features)
    blocks = list(unlabelled.score_rows(coef, keep=["times"]))
    expected = source.encoding.transform({"site": ["b", "d"], "bid": [2.5, None]}) @ coef
    np.testing.assert_allclose(np.concatenate([block.scores for block in blocks]), expected)
    assert [block.numbers.tolist() for block in blocks] == [[0], [1]]
    assert [value for block in blocks for value in block.columns["times"].to_pylist()] == ["x", "y"]


def test_a_source_without_a_label_needs_an_encoding_and_has_no_blocks(source, path):
    with pytest.raises(ValueError, match="rows without labels can only be scored, with an encoding"):
        TableSource(path, label=None)
    unlabelled = source.layout.unlabelled(path)
    with pytest.raises(ValueError, match="label=None has no labels"):
        next(iter(unlabelled))
    with pytest.raises(ValueError, match="label=None has no labels"):
        next(iter(unlabelled.score_blocks(np.ones(source.n_features))))
    assert not hasattr(unlabelled, "classes")


def test_columns_that_are_missing_are_named_before_anything_is_scored(source, path):
    unlabelled = source.layout.unlabelled(path)
    with pytest.raises(ValueError, match="there is no column for keep 'user'; its 4 columns are"):
        unlabelled.score_rows(np.ones(source.n_features), keep=["user"])
    headed = path.with_name("headed.csv")
    headed.write_text("site,times\na,1\n")
    with pytest.raises(ValueError, match="there is no column for the feature 'bid'"):
        TableSource(headed, label=None, encoding=source.encoding)


def test_no_rows_give_one_block_with_the_types_of_the_columns(source, tmp_path):
    path = tmp_path / "none.parquet"
    types = {"site": "string", "bid": "double", "n": "int8"}
    parquet.write_table(pa.table({name: pa.array([], kind) for name, kind in types.items()}), path)
    unlabelled = TableSource(path, label=None, encoding=source.encoding)
    (block,) = unlabelled.score_rows(np.ones(source.n_features), keep=["n"])
    assert (block.numbers.size, block.scores.size) == (0, 0)
    assert block.columns.schema == pa.schema([("n", pa.int8())])


def test_known_classes_and_columns_are_not_looked_for(source, path, monkeypatch):
    rows = path.with_name("long.csv")
    rows.write_text("yes;b;1.5;1\n" * 200_000 + "yes;b;wrong;1\n")
    read = []
    from mbauc.readers.table.files.csv_table import CsvTable

    pieces = CsvTable.pieces

    def counted(self, *arguments):
        for piece in pieces(self, *arguments):
            read.append(piece.table.num_rows)
            yield piece

    monkeypatch.setattr(CsvTable, "pieces", counted)
    labelled = source.layout.source(rows, source.classes)
    assert len(read) == 1
    with pytest.raises(ValueError, match="line 200,001: expected a finite number in column 'bid', got 'wrong'"):
        list(labelled)


# -- columns beyond those of a model -------------------------------------------------------------------------


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_extra_columns_are_left_out(zero_based, block_rows, tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:2 3:4 9:1\n-1 2:1\n1 2000000000:3\n-1\n")
    source = LibsvmSource(
        path, n_features=3, zero_based=zero_based, classes=(-1, 1), extra="ignore", block_rows=block_rows
    )
    X = np.concatenate([block.X.toarray() for block in source])
    expected = [[2, 0, 4, 0], [0, 1, 0, 0], [0] * 4, [0] * 4]
    assert X.tolist() == [[0, *row][:3] if zero_based else row[:3] for row in expected]
    assert source.n_features == 3
    assert all(block.X.shape[1] == 3 for block in source)
    with pytest.raises(ValueError, match="expected an index of at most"):
        list(LibsvmSource(path, n_features=3, zero_based=zero_based, classes=(-1, 1)))


def test_extra_columns_need_a_width(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:2\n-1 2:1\n")
    with pytest.raises(ValueError, match="extra='ignore' needs n_features and zero_based"):
        LibsvmSource(path, extra="ignore", n_features=2)
    with pytest.raises(ValueError, match="extra must be 'error' or 'ignore'"):
        LibsvmSource(path, extra="drop")
    known = {"n_features": 2, "zero_based": False, "classes": (-1, 1)}
    plain, ignoring = LibsvmSource(path, **known), LibsvmSource(path, **known, extra="ignore")
    assert plain.fingerprint() != ignoring.fingerprint()


def test_extra_columns_and_classes_that_are_looked_for(tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("3 1:2 7:1\n8 2:1\n1 1:1\n")
    source = LibsvmSource(path, n_features=2, zero_based=False, positive=[3, 8], extra="ignore")
    (block,) = source
    assert source.classes == (1, (3, 8))
    assert block.X.toarray().tolist() == [[2, 0], [0, 1], [1, 0]]
    assert block.y.tolist() == [1, 1, 0]


def test_the_plan_of_known_columns_says_so(source, path):
    other = source.layout.source(path, source.classes)
    assert source.plan.describe().endswith("(inferred from the first 4 rows)")
    assert other.plan.describe().endswith("(known from other data)")
    assert [column.kind for column in other.plan.columns] == ["label", "category", "numeric", "weight"]
    assert [column.becomes for column in other.plan.columns] == [c.becomes for c in source.plan.columns]
