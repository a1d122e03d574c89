"""What people do one command after the other, and what goes wrong on the way."""

import json

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import load_model

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


def told(capsys, *words, code=0):
    assert main([*map(str, words)]) == code
    return capsys.readouterr()


def answer(capsys, *words):
    return json.loads(told(capsys, *words, "--json").out)


def table(path, n, seed, *, kinds=6):
    """Rows with a number and a category, in which clicks depend on both."""
    rng = np.random.default_rng(seed)
    bid, site = rng.standard_normal(n) + seed, rng.integers(kinds, size=n)
    y = rng.random(n) < 1 / (1 + np.exp(2 - bid + seed - 0.5 * (site == 1)))
    rows = zip(y, bid, site, strict=True)
    path.write_text("click,bid,site\n" + "".join(f"{int(a)},{b:.4f},s{c}\n" for a, b, c in rows))
    return path


@pytest.fixture
def east(tmp_path):
    return table(tmp_path / "east.csv", 4000, seed=0)


@pytest.fixture
def west(tmp_path):
    return table(tmp_path / "west.csv", 2000, seed=1)


def test_models_of_two_machines_are_merged_into_that_of_all_rows(east, west, tmp_path, capsys):
    first, second, both = (tmp_path / f"{name}.mbauc" for name in ("first", "second", "both"))
    common = ("--hold-out", 0, "--l2", 0.01)
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, *common, "-o", first)
    told(capsys, "fit", west, "--like", first, *common, "-o", second)
    told(capsys, "merge", first, second, "-o", both)
    lines = west.read_text().splitlines(keepends=True)
    every = tmp_path / "every.csv"
    every.write_text(east.read_text() + "".join(lines[1:]))
    told(capsys, "fit", every, "--like", first, *common, "-o", tmp_path / "every.mbauc")
    np.testing.assert_allclose(load_model(both).coef, load_model(tmp_path / "every.mbauc").coef, rtol=1e-9)
    plain = tmp_path / "plain.mbauc"
    told(capsys, "fit", west, "--label", "click", "--hash-dim", 30, *common, "-o", plain)
    assert "--like first.mbauc" in told(capsys, "merge", first, plain, "-o", both, "--force", code=1).err
    assert "cannot be combined with --label" in told(
        capsys, "fit", west, "--like", first, "--label", "click", "-o", tmp_path / "x.mbauc", code=2
    ).err  # fmt: skip
    assert load_model(both).l2 == 0.01
    told(capsys, "merge", first, second, "--l2", 0.5, "-o", both, "--force")
    assert load_model(both).l2 == 0.5


def test_rows_that_would_count_twice_are_noted(east, west, tmp_path, capsys):
    first, newer, both = (tmp_path / f"{name}.mbauc" for name in ("first", "newer", "both"))
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", first)
    told(capsys, "update", first, west, "-o", newer)
    assert answer(capsys, "inspect", newer)["trained_on"]["files"][1]["name"] == "west.csv"
    assert "rows of east.csv are in more than one" in told(capsys, "merge", first, newer, "-o", both).err


def test_fit_says_whether_the_model_can_go_on_learning(east, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    assert (
        "updates     possible"
        in told(capsys, "fit", east, "--label", "click", "--hash-dim", 500, "-o", out).out
    )
    shown = told(capsys, "fit", east, "--label", "click", "-o", out, "--force").out
    assert "updates     not possible: bins, levels and penalties depend on the rows" in shown
    shown = told(capsys, "fit", east, "--label", "click", "--encode", "hash", "-o", out, "--force").out
    assert (
        "updates     not possible: too many columns for updates; use --solver gram (800 MB) or fewer columns"
        in shown
    )
    many = told(capsys, "fit", east, "--label", "click", "--hash-dim", 2**20, "-o", out, "--force").out
    assert "updates     not possible: too many columns for updates; --hash-dim 2000" in many
    assert "no moments" in told(capsys, "update", out, east, "-o", tmp_path / "n.mbauc", code=1).err
    found = answer(
        capsys, "fit", east, "--label", "click", "--hash-dim", 30, "--no-moments", "-o", out, "--force"
    )
    assert found["seen_as"] == {"click": "label", "bid": "numeric", "site": "category"}
    assert load_model(out).moments is None


def test_held_out_rows_of_one_class_do_not_cost_the_model(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("y,x\n" + "".join(f"{int(k in (5, 77))},{k % 10}\n" for k in range(100)))
    shown = told(capsys, "fit", path, "--label", "y", "-o", tmp_path / "m.mbauc", "--hold-out", 0.1).out
    assert "not tested" in shown
    assert load_model(tmp_path / "m.mbauc").trained_on["notes"][0].startswith("not tested")


def test_cross_validation_with_few_positives_gives_each_fold_some(tmp_path, capsys):
    path = tmp_path / "few.csv"
    rng = np.random.default_rng(0)
    y = np.zeros(300, dtype=int)
    y[rng.choice(300, 6, replace=False)] = 1
    path.write_text("y,x\n" + "".join(f"{a},{b + a:.3f}\n" for a, b in zip(y, rng.random(300), strict=True)))
    out = tmp_path / "m.mbauc"
    found = answer(capsys, "fit", path, "--label", "y", "--cv", 3, "--hold-out", 0, "-o", out)
    assert {"l1", "l2", "score", "stderr"} == set(found["path"][0])
    told(capsys, "evaluate", out, path, "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    errors = page.split("Penalties compared")[1].split("</table>")[0]
    assert f"{found['path'][0]['stderr']:.5f}" in errors


def test_alarms_are_the_same_in_all_programs_where_scores_tie(tmp_path, capsys):
    """The threshold is a score of many rows: programs that sum in another order must not see it as passed."""
    joblib = pytest.importorskip("joblib")
    pd = pytest.importorskip("pandas", reason="the exported pipeline takes data frames")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        columns = rng.integers(2, size=(2500, 5))
        y = rng.random(2500) < 1 / (1 + np.exp(3 - columns @ [1.0, 0.7, 0.4, 0.9, 0.3]))
        path, model, armed = tmp_path / "rows.csv", tmp_path / "m.mbauc", tmp_path / "armed.mbauc"
        names = "y," + ",".join(f"c{k}" for k in range(5))
        text = "".join(
            f"{int(a)},{','.join(f'v{v}' for v in row)}\n" for a, row in zip(y, columns, strict=True)
        )
        path.write_text(f"{names}\n{text}")
        told(capsys, "fit", path, "--label", "y", "--encode", "onehot", "-o", model, "--force")
        told(
            capsys, "threshold", model, path, "--on-training-rows", "--false-alarm", 0.1, "-o", armed, "--force"
        )
        scored = answer(capsys, "score", armed, path, "-o", tmp_path / "s.csv", "--force")
        told(capsys, "export", armed, "-o", tmp_path / "p.joblib", "--force")
        pipeline = joblib.load(tmp_path / "p.joblib")
        assert (pipeline.predict(pd.read_csv(path)) == 1).sum() == scored["alarms"]
        loaded = load_model(armed)
        assert (loaded.label(loaded.score(loaded.layout.encoding.transform(pd.read_csv(path)))) == 1).sum() == (
            scored["alarms"]
        )


def test_evaluating_on_the_training_file_is_noted(east, west, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", out)
    assert "trained on east.csv" in told(capsys, "evaluate", out, east).out
    assert "trained on" not in told(capsys, "evaluate", out, west).out


def test_models_of_other_weights_or_kinds_are_not_compared(east, tmp_path, capsys):
    path = tmp_path / "weighted.csv"
    head, *lines = east.read_text().splitlines()
    path.write_text(f"{head},w\n" + "".join(f"{line},{k % 3 + 1}\n" for k, line in enumerate(lines)))
    plain, weighted = tmp_path / "plain.mbauc", tmp_path / "weighted.mbauc"
    told(capsys, "fit", path, "--label", "click", "--ignore", "w", "--hash-dim", 30, "-o", plain)
    told(capsys, "fit", path, "--label", "click", "--weight", "w", "--hash-dim", 30, "-o", weighted)
    assert "weighs rows by nothing" in told(capsys, "compare", plain, weighted, path, code=1).err


def test_skipped_rows_are_always_told(east, tmp_path, capsys):
    out, bad = tmp_path / "m.mbauc", tmp_path / "bad.csv"
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", out)
    bad.write_text(east.read_text() + "1,x,s1\n0,1,s2,9\n")
    skip, new = ("--on-error", "skip"), ("fit", "--label", "click", "--hash-dim", 30)
    for words in (
        ("evaluate", out, bad),
        ("threshold", out, bad, "--on-training-rows"),
        ("update", out, bad, "--again", "-o", tmp_path / "n.mbauc"),
        (*new, bad, "--types", "bid=numeric", "-o", tmp_path / "f.mbauc"),
        (*new, east, "--test", bad, "-o", tmp_path / "g.mbauc"),
    ):
        assert "2 rows were left out" in told(capsys, *words, *skip).err


def test_a_plan_looks_at_so_many_rows_and_their_weights(east, tmp_path, capsys):
    words = ("plan", east, "--label", "click", "--encode", "onehot")
    assert answer(capsys, *words, "--rows", 500)["rows"] == 500
    path = tmp_path / "weighted.csv"
    head, *lines = east.read_text().splitlines()
    path.write_text(f"{head},w\n" + "".join(f"{line},{1 + 9 * (k % 2)}\n" for k, line in enumerate(lines)))
    words = ("plan", path, "--label", "click", "--encode", "onehot")
    assert answer(capsys, *words, "--weight", "w")["l2"] != answer(capsys, *words, "--ignore", "w")["l2"]


@pytest.mark.parametrize(
    "option",
    [
        ("--jobs", "0"),
        ("--jobs", "1e30"),
        ("--seed", "1e30"),
        ("--pairs", "1e30"),
        ("--decay", "0.5", "--solver", "matrix-free"),
        ("--test", "-"),
        ("--test", "x.csv", "--hold-out", "0.5"),
        ("--hash-dim", "1"),
        ("--delimiter", "ab"),
        ("--types", "bid=foo"),
        ("--encode", "onehot", "--hash-dim", "50"),
    ],
    ids=lambda option: " ".join(option),
)
def test_options_out_of_range_are_usage(east, tmp_path, capsys, option):
    try:
        code = main(["fit", str(east), "--label", "click", "-o", str(tmp_path / "m.mbauc"), *option])
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert not (tmp_path / "m.mbauc").exists()


def test_names_cannot_move_the_cursor(tmp_path, capsys):
    path, out = tmp_path / "rows.csv", tmp_path / "m.mbauc"
    rng = np.random.default_rng(0)
    lines = "".join(f"{k % 2},{rng.random() + k % 2:.3f}\n" for k in range(1500))
    path.write_text(f"y,\x1b[31mred\n{lines}")
    assert "\x1b" not in told(capsys, "fit", path, "--label", "y", "-o", out).out
    assert "\x1b" not in told(capsys, "inspect", out).out


def test_odd_records_of_a_model_are_shown_as_they_are(east, tmp_path, capsys):
    from dataclasses import replace

    from mbauc.model import save_model

    out = tmp_path / "m.mbauc"
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", out)
    odd = {"files": ["x", {"name": "y", "crc": 3}], "tested": {"auc": "high"}, "remark": [7], "positives": None}
    save_model(replace(load_model(out), trained_on=odd, path=[]), tmp_path / "odd.mbauc")
    assert "high" in told(capsys, "inspect", tmp_path / "odd.mbauc").out
    told(capsys, "evaluate", tmp_path / "odd.mbauc", east, "--report", tmp_path / "r.html")
    told(capsys, "update", tmp_path / "odd.mbauc", east, "-o", tmp_path / "n.mbauc")


def test_kept_columns_of_files_that_do_not_agree_are_texts(east, tmp_path, capsys):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    import pyarrow.csv

    out = tmp_path / "m.mbauc"
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", out)
    pq.write_table(pa.table({"id": [1, 2], "bid": [0.5, 1.5], "site": ["s1", "s2"]}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text('id,bid,site\n007,1,s1\n"a,""b",2,s2\n')
    words = ("score", out, tmp_path / "a.parquet", tmp_path / "b.csv", "--id", "id,id", "-o")
    for name in ("s.csv", "s.parquet"):
        told(capsys, *words, tmp_path / name)
    expected = ["1", "2", "007", 'a,"b']
    assert pq.read_table(tmp_path / "s.parquet")["id"].to_pylist() == expected
    options = pyarrow.csv.ConvertOptions(column_types={"id": pa.string()})
    assert pyarrow.csv.read_csv(tmp_path / "s.csv", convert_options=options)["id"].to_pylist() == expected
    told(capsys, *words[:3], "--id", "id", "-o", tmp_path / "one.parquet")
    assert pq.read_table(tmp_path / "one.parquet")["id"].to_pylist() == [1, 2]


def test_a_format_that_is_not_the_models_is_usage(east, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    told(capsys, "fit", east, "--label", "click", "--hash-dim", 30, "-o", out)
    assert (
        "the model was trained on tables"
        in told(capsys, "evaluate", out, east, "--format", "libsvm", code=2).err
    )
    assert "expected a name" in told(capsys, "score", out, east, "-o", tmp_path / "s.xlsx", code=2).err


@pytest.mark.parametrize("ending", ["csv", "libsvm"])
def test_patterns_that_the_shell_left_alone(tmp_path, capsys, ending):
    for seed in range(2):
        rows = table(tmp_path / f"part{seed}.csv", 2000, seed)
        if ending == "libsvm":
            lines = (line.split(",") for line in rows.read_text().splitlines()[1:])
            text = "".join(f"{y} 1:{bid} {int(site[1:]) + 2}:1\n" for y, bid, site in lines)
            rows.with_suffix(".libsvm").write_text(text)
    label = ("--label", "click", "--hash-dim", 30) if ending == "csv" else ()
    found = answer(capsys, "fit", tmp_path / f"part*.{ending}", *label, "-o", tmp_path / "m.mbauc")
    assert [file["name"] for file in found["files"]] == [f"part0.{ending}", f"part1.{ending}"]
    assert "no file matches" in told(
        capsys, "fit", tmp_path / "none*.csv", "--label", "click", "-o", tmp_path / "n.mbauc", code=1
    ).err  # fmt: skip
