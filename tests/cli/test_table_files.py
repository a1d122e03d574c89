"""Files and folders as people have them, on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from mbauc.cli.main import main

pa = pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

# a note of the command line, not an error as in other tests
pytestmark = pytest.mark.filterwarnings("always::mbauc.errors.DataWarning")
FIT = ("--hold-out", 0, "--l2", 0.01, "--hash-dim", 30)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def told(capsys):
    def run(*words, code=0):
        assert main([*map(str, words)]) == code, capsys.readouterr().err
        return capsys.readouterr()

    return run


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    return {"y": (x > 0).astype(int), "x": x, "s": rng.choice(["a", "b"], n)}


def test_scores_with_and_without_the_index_that_pandas_writes(told):
    pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")
    frame = pd.DataFrame(rows())
    frame.to_csv("with.csv")
    frame.to_csv("without.csv", index=False)
    for name in ("with", "without"):
        said = told("fit", f"{name}.csv", "--label", "y", *FIT, "-o", f"{name}.mbauc").out
        assert ("id        row index that pan" in said) == (name == "with")
        for file in ("with", "without"):
            told("score", f"{name}.mbauc", f"{file}.csv", "-o", f"{name}-{file}.csv")
    assert (
        len({Path(f"{a}-{b}.csv").read_text() for a in ("with", "without") for b in ("with", "without")}) == 1
    )


@pytest.mark.slow
@pytest.mark.data
def test_census_incomes_as_somebody_kept_them(told, shared_file):
    path = shared_file("adult.csv.bz2")
    found = json.loads(
        told("fit", path, "--label", "salary", "--ignore", "salary K$", "-o", "m.mbauc", "--json").out
    )
    assert found["seen_as"]["Unnamed: 0"] == "id"
    assert 0.87 < found["tested"]["auc"] < 0.92


def test_a_folder_by_days_and_one_day_of_it(told):
    for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
        folder = Path("log", f"day={day}")
        folder.mkdir(parents=True)
        parquet.write_table(pa.table(rows(seed=int(day[-1]))), folder / "part-0.parquet")
    Path("log", "README.txt").write_text("hi")
    Path("log", "_SUCCESS").touch()
    said = told("fit", "log", "--label", "y", *FIT, "-o", "m.mbauc")
    assert "day     time" in said.out
    assert "note: log: 'README.txt', '_SUCCESS' left out; only its tables are read." in said.err
    day = Path("log", "day=2024-01-03")
    scores = [
        told("score", "m.mbauc", path, "--id", "day", "-o", "-").out
        for path in (day, f"{day}/", day / "part-0.parquet", day.absolute(), f"{day}/*")
    ]
    assert len(set(scores)) == 1
    assert scores[0].count("2024-01-03") == 200
    assert told("evaluate", "m.mbauc", day).out


def test_only_files_of_the_format_are_read_in_a_folder(told):
    Path("log").mkdir()
    parquet.write_table(pa.table(rows()), "log/a.parquet")
    csv.write_csv(pa.table(rows(50)), "log/b.csv")
    Path("log/README.txt").write_text("hi")
    for kind, count in (("parquet", 200), ("csv", 50)):
        found = told("fit", "log", "--format", kind, "--label", "y", *FIT, "-o", f"{kind}.mbauc", "--json")
        found = json.loads(found.out)
        assert found["positives"] + found["negatives"] == count
        found = json.loads(
            told("score", f"{kind}.mbauc", "log", "--format", kind, "-o", f"{kind}.csv", "--json").out
        )
        assert found["rows"] == count
    assert "log has no table files (.tsv, .tab" in told(
        "fit", "log", "--format", "tsv", "--label", "y", "-o", "x.mbauc", code=1
    ).err  # fmt: skip
    assert "--format parquet: log/b.csv is text" in told(
        "fit", "log/b.csv", "--format", "parquet", "--label", "y", "-o", "x.mbauc", code=2
    ).err  # fmt: skip


def test_a_file_without_names(told):
    table = rows()
    lines = [f"{y}\t{x}\t\t{s}\t{y}\n" for y, x, s in zip(*table.values(), strict=True)]
    Path("raw.tsv").write_text("".join(lines))
    said = told("fit", "raw.tsv", "--label", "y", "-o", "m.mbauc", code=1).err
    assert "expected names of columns in the first line" in said
    assert (
        "pass --names auto, which calls them c1, c2, …, or --names A,B,… with a name for each column." in said
    )
    told("fit", "raw.tsv", "--names", "auto", "--label", "c1", "--ignore", "c5", *FIT, "-o", "m.mbauc")
    assert "c2" in told("inspect", "m.mbauc").out
    assert told("score", "m.mbauc", "raw.tsv", "--id", "c4", "-o", "-").out.startswith('"c4","score"')


def test_advice_about_skipped_rows_is_for_the_command_line(told):
    csv.write_csv(pa.table(rows(60_000)), "t.csv")
    with open("t.csv", "a") as stream:
        stream.write("1,abc,a\n")
    said = told("fit", "t.csv", "--label", "y", "--on-error", "skip", *FIT, "-o", "m.mbauc").err
    assert "line 60,002: expected a finite number in column 'x', got 'abc'. Pass --types x=category if" in said
    assert "on_error" not in said


def test_rows_with_other_bytes_are_skipped(told):
    lines = [f"{k % 2},a{k % 3},{k}.5".encode() for k in range(300)]
    lines[250], lines[260] = b"1,caf\xe9,5.5", b"1,a2,5.5,caf\xe9"
    Path("t.csv").write_bytes(b"y,s,x\n" + b"\n".join(lines) + b"\n")
    said = told("fit", "t.csv", "--label", "y", *FIT, "-o", "m.mbauc", code=1).err
    assert said.startswith(
        "mbauc: t.csv, line 252: expected UTF-8 in column 's', got 'caf\\xe9'. Convert the file"
    )
    assert "--on-error skip leaves such rows out" in said
    said = told("fit", "t.csv", "--label", "y", "--on-error", "skip", *FIT, "-o", "m.mbauc").err
    assert "2 rows were left out" in said
    assert "Traceback" not in said
    assert "on_error" not in said
    assert "--on-error" not in said  # that is what was asked for
    assert "2 rows were left out" in told("score", "m.mbauc", "t.csv", "--on-error", "skip", "-o", "s.csv").err
    numbers = [int(line.split(",")[0]) for line in Path("s.csv").read_text().splitlines()[1:]]
    assert sorted(set(range(300)) - set(numbers)) == [250, 260]


# -- columns that name rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [("--id", "user"), ("--types", "user=id")])
def test_columns_that_name_rows_are_no_features_and_stand_beside_the_scores(said, told):
    lines = (f"u{k},{k % 2},{(k % 2) + k % 7}.5\n" for k in range(40))
    Path("t.csv").write_text("user,y,x\n" + "".join(lines))
    told("fit", "t.csv", "--label", "y", *said, *FIT, "-o", "m.mbauc")
    assert told("score", "m.mbauc", "t.csv", "-o", "-").out.startswith('"user","score"')
    assert told("score", "m.mbauc", "t.csv", "--id", "y,x", "-o", "-").out.startswith('"y","x","score"')
    Path("new.csv").write_text("x,z\n1.5,0\n")
    assert told("score", "m.mbauc", "new.csv", "-o", "-").out.startswith('"row","score"')
    said = told("score", "m.mbauc", "new.csv", "--id", "user", "-o", "-", code=1).err
    assert "there is no column for" in said


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_what_names_rows_stays_with_a_model_that_goes_on_learning(told):
    for name, step in (("a", 5), ("b", 3)):
        lines = (f"u{k},{k % 2},{(k % 2) + k % step}.5\n" for k in range(40))
        Path(f"{name}.csv").write_text("user,y,x\n" + "".join(lines))
    told("fit", "a.csv", "--label", "y", "--id", "user", *FIT, "-o", "a.mbauc")
    told("fit", "b.csv", "--like", "a.mbauc", "--hold-out", 0, "--l2", 0.01, "-o", "b.mbauc")
    told("update", "a.mbauc", "b.csv", "-o", "later.mbauc")
    told("merge", "a.mbauc", "b.mbauc", "-o", "both.mbauc")
    for name in ("b", "later", "both"):
        assert told("score", f"{name}.mbauc", "b.csv", "-o", "-").out.startswith('"user","score"'), name
