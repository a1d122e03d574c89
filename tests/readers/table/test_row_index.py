"""Columns without a name: the row index that pandas writes, and others."""

import numpy as np
import pytest

from mbauc.readers import TableSource

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")

WHY = "row index that pandas writes, left out"


def frame(n=60, index=None):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n).round(3)
    return pd.DataFrame({"y": (x > 0).astype(int), "x": x, "s": rng.choice(["a", "b"], n)}, index=index)


@pytest.mark.parametrize(
    "index",
    [
        None,
        range(1, 61),
        np.random.default_rng(0).permutation(60),
        [f"row {k}" for k in range(60)],
        [*range(30), *range(30)],  # two frames below each other
        pd.date_range("2024-01-01", periods=60),
    ],
    ids=["counted", "from 1", "shuffled", "labels", "counted twice", "days"],
)
def test_the_index_of_a_frame_is_left_out(tmp_path, index):
    rows = frame(index=index)
    rows.to_csv(tmp_path / "with.csv")
    rows.to_csv(tmp_path / "without.csv", index=False)
    source = TableSource(tmp_path / "with.csv", label="y", encode="onehot")
    assert source.feature_names == ["x", "s=a", "s=b"]
    assert source.plan["Unnamed: 0"].kind == "id"
    assert source.plan["Unnamed: 0"].why == WHY
    assert WHY in source.plan.describe()
    plain = TableSource(tmp_path / "without.csv", label="y", encode="onehot")
    for learned in (source, plain):
        for name in ("with.csv", "without.csv"):
            np.testing.assert_array_equal(next(iter(learned.on(tmp_path / name))).X, next(iter(plain)).X)


def test_files_with_an_index_each(tmp_path):
    for name in ("a.csv", "b.csv"):
        frame().to_csv(tmp_path / name)
    assert TableSource([tmp_path / "a.csv", tmp_path / "b.csv"], label="y").plan["Unnamed: 0"].why == WHY


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["u", "v"] * 30, "category"),
        ([0.25 + k for k in range(60)], "numeric"),
        ([k % 7 for k in range(60)], "numeric"),
        ([None] * 60, "ignore"),
        ([None, *range(59)], "numeric"),
    ],
)
def test_other_columns_without_a_name_are_called_as_pandas_calls_them(tmp_path, values, kind):
    rows = frame()
    rows.insert(0, "", values)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    source = TableSource(tmp_path / "rows.csv", label="y")
    assert source.plan["Unnamed: 0"].kind == kind
    again = pd.read_csv(tmp_path / "rows.csv")
    assert list(again.columns) == [column.name for column in source.plan.columns]
    if kind != "ignore":
        X = next(iter(source)).X
        assert abs(source.encoding.transform(again) - X).max() == 0


def test_the_user_may_want_the_index_all_the_same(tmp_path):
    frame().to_csv(tmp_path / "rows.csv")
    source = TableSource(tmp_path / "rows.csv", label="y", types={"Unnamed: 0": "numeric"})
    assert "Unnamed: 0" in source.feature_names


def test_an_index_in_parquet_and_in_frames(tmp_path):
    rows = frame(index=np.arange(60) * 3)
    rows.to_parquet(tmp_path / "rows.parquet")
    source = TableSource(tmp_path / "rows.parquet", label="y")
    assert source.plan["__index_level_0__"].why == WHY
    plain = TableSource(tmp_path / "rows.parquet", label="y", ignore=["__index_level_0__"])
    rows.to_csv(tmp_path / "rows.csv")
    read = pd.read_csv(tmp_path / "rows.csv")  # with a column 'Unnamed: 0', which was never seen
    assert plain.encoding.transform(read).shape[0] == 60


def test_two_unnamed_columns_and_one_that_has_taken_the_name(tmp_path):
    (tmp_path / "t.csv").write_text(",,Unnamed: 1,y\n0,a,u,0\n1,b,v,1\n0,b,v,1\n")
    names = [column.name for column in TableSource(tmp_path / "t.csv", label="y").plan.columns]
    assert names == ["Unnamed: 0", "Unnamed: 1_", "Unnamed: 1", "y"]


def test_columns_that_pandas_has_numbered(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))
    table["y"] = [0, 1] * 10
    for index in (True, False):
        table.to_csv(tmp_path / "t.csv", index=index)
        assert TableSource(tmp_path / "t.csv", label="y").feature_names == ["0", "1", "2"]


@pytest.mark.parametrize("line", ["0,1,,68fd1e64,1,abc", ",,,", "3,a,b,c,3", "1,2,3"])
def test_a_row_is_not_taken_for_names(tmp_path, line):
    (tmp_path / "t.csv").write_text(f"{line}\n{line}\n")
    with pytest.raises(ValueError, match=r"expected names of columns in the first line.*pass names='auto'"):
        TableSource(tmp_path / "t.csv", label="y")
