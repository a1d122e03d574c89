"""The three commands of the README, and those around them, on made-up and on real files."""

import bz2
import csv
import json
import pathlib
import re

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.metrics import roc_auc

pa = pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


def made_up(folder, shared_file=None):
    """Two CSV files of an alarm table: numbers, categories, missing values, an id."""
    rng = np.random.default_rng(0)
    paths = []
    for name, rows in (("train", 5000), ("test", 1500)):
        site, bid = rng.integers(0, 20, rows), rng.standard_normal(rows)
        click = rng.random(rows) < 1 / (1 + np.exp(2.5 - 0.8 * bid - 0.1 * (site % 7)))
        path = folder / f"{name}.csv"
        with open(path, "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", "click", "site", "bid"])
            for k in range(rows):
                shown = "" if rng.random() < 0.05 else f"{bid[k]:.4f}"
                writer.writerow([f"row-{name}-{k}", int(click[k]), f"site{site[k]}", shown])
        paths.append(path)
    return *paths, ["--label", "click"]


def avazu(folder, shared_file):
    return *cut(shared_file("avazu.first9999.csv.bz2"), folder, "csv", head=True), ["--label", "click"]


def criteo(folder, shared_file):
    """As it comes: without a line of names."""
    names = ["label", *(f"I{k}" for k in range(1, 14)), *(f"C{k}" for k in range(1, 27))]
    train, test = cut(shared_file("criteo.raw8000.tsv.bz2"), folder, "tsv", head=False)
    return train, test, ["--label", "label", "--names", ",".join(names)]


ROWS = [made_up, *(pytest.param(rows, marks=pytest.mark.data) for rows in (avazu, criteo))]


def cut(path, folder, ending, head):
    """Real rows as a file to train on and one to test on."""
    lines = bz2.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    first = lines[:1] if head else []
    body = lines[len(first) :]
    parts = folder / f"train.{ending}", folder / f"test.{ending}"
    half = len(body) * 2 // 3
    parts[0].write_text("".join(first + body[:half]))
    parts[1].write_text("".join(first + body[half:]))
    return parts


def run(capsys, *words):
    code = main([str(word) for word in words])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    return shown.out


def read_labels(path, name, names=None):
    between = "\t" if path.suffix == ".tsv" else ","
    with open(path, newline="") as stream:
        rows = csv.DictReader(stream, names and names.split(","), delimiter=between)
        return np.array([int(row[name]) for row in rows])


def shown_commands(page, before, language="sh"):
    """The first block of commands of a page behind some words, without remarks."""
    text = (pathlib.Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    block = text.split(before)[1].split(f"```{language}\n")[1].split("```")[0]
    return [words for line in block.splitlines() if (words := line.split("#")[0].split())]


def readme_commands():
    return shown_commands("README.md", "## From a terminal")


@pytest.mark.parametrize("rows", ROWS)
def test_the_three_commands_of_the_readme(rows, tmp_path, capsys, monkeypatch, shared_file):
    """As they are written; but Criteo's files have another ending, another label, no names and no id."""
    train, test, options = rows(tmp_path, shared_file)
    today = test.with_name(f"today{test.suffix}")
    today.write_bytes(test.read_bytes())
    assert train.name == f"train{train.suffix}"
    assert test.name == f"test{test.suffix}"
    monkeypatch.chdir(tmp_path)
    commands = readme_commands()
    assert [words[:2] for words in commands] == [["mbauc", name] for name in ("fit", "evaluate", "score")]
    told = []
    for _, *words in commands:
        if rows is criteo:
            swap = {"train.csv": "train.tsv", "test.csv": "test.tsv", "today.csv": "today.tsv"}
            words = [swap.get(word, word) for word in words]
            words = words[:2] + options + words[4:] if words[0] == "fit" else words
            words = [word for word in words if word not in ("--id", "id")]
        told.append(run(capsys, *words))

    auc = float(re.search(r"test AUC +(0\.\d+)", told[0])[1])
    assert 0.6 < auc < 0.9
    shown = float(re.search(r"AUC +(0\.\d+)", told[1])[1])
    assert abs(shown - auc) < 0.08
    page = pathlib.Path("report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "<script>" in page
    pq = pytest.importorskip("pyarrow.parquet")
    scores = pq.read_table("scores.parquet")
    assert scores.column_names == (["row"] if rows is criteo else ["id"]) + ["score", "probability"]
    labels = read_labels(test, *options[1::2])
    assert scores.num_rows == labels.size
    assert roc_auc(labels, scores["score"].to_numpy()) == pytest.approx(shown, abs=5e-5)
    assert abs(scores["probability"].to_numpy().mean() - labels.mean()) < 0.05


def test_the_start_page_has_the_commands_of_the_readme():
    without_id = [[word for word in words if word not in ("--id", "id")] for words in readme_commands()]
    assert shown_commands("docs/index.md", "## In a terminal") == without_id


def test_the_commands_of_the_page_on_the_report(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("train", "test", "scores"):
        with open(f"{name}.csv", "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["churned", "plan", "day", "score"])
            for k in range(2000):
                churned, plan = int(rng.random() < 0.2), rng.choice(["basic", "family"])
                day = np.datetime64("2024-01-01") + np.timedelta64(k // 100, "D")
                writer.writerow([churned, plan, day, f"{rng.standard_normal() + churned:.4f}"])
    run(capsys, "fit", "train.csv", "--label", "churned", "-o", "model.mbauc")
    commands = shown_commands("docs/user_guide/report.md", "## Create a report", "bash")
    assert [words[1] for words in commands] == ["report", "evaluate"]
    for _, *words in commands:
        run(capsys, *words)
        page = pathlib.Path("report.html")
        text = page.read_text(encoding="utf-8")
        assert "By segment" in text
        assert "Over time" in text
        page.unlink()


@pytest.fixture
def story(tmp_path, capsys):
    train, test, options = made_up(tmp_path)
    model = tmp_path / "model.mbauc"
    run(capsys, "fit", train, *options, "--encode", "onehot", "-o", model)
    return tmp_path, train, test, model


def test_threshold_score_and_evaluate_agree_about_alarms(story, capsys):
    folder, _train, test, model = story
    armed = folder / "armed.mbauc"
    told = json.loads(run(capsys, "threshold", model, test, "--false-alarm", 0.1, "-o", armed, "--json"))
    assert told["confidence"] == 0.95
    assert told["detected"] > 0
    summary = json.loads(run(capsys, "score", armed, test, "--id", "id,site", "-o", folder / "s.csv", "--json"))
    with open(folder / "s.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["id", "site", "score", "probability", "alarm"]
    alarms = [row["alarm"] == "true" for row in rows]
    assert sum(alarms) == summary["alarms"]
    assert alarms == [float(row["score"]) > told["threshold"] for row in rows]
    found = json.loads(run(capsys, "evaluate", armed, test, "--json"))["threshold"]
    assert found["detected"] + found["false_alarms"] == sum(alarms)
    assert found["false_alarm_rate"] < 0.13


def test_update_is_the_fit_to_old_and_new_rows(story, capsys):
    folder, train, _test, _model = story
    whole, fresh = folder / "whole.csv", folder / "fresh.mbauc"
    lines = train.read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(lines[:2000]))
    (folder / "b.csv").write_text("".join(lines[:1] + lines[2000:]))
    whole.write_text("".join(lines))
    common = [
        "--label",
        "click",
        "--encode",
        "hash",
        "--hash-dim",
        50,
        "--hold-out",
        0,
        "--scale",
        "none",
        "--l2",
        0.1,
    ]
    common += ["--missing", "mean", "--ignore", "bid", "--solver", "gram"]
    run(capsys, "fit", folder / "a.csv", *common, "-o", fresh)
    run(capsys, "fit", whole, *common, "-o", folder / "all.mbauc")
    run(capsys, "update", fresh, folder / "b.csv", "-o", fresh, "--force")
    one, other = (
        json.loads(run(capsys, "inspect", path, "--top", 100, "--json"))["weights"]
        for path in (fresh, folder / "all.mbauc")
    )
    assert {each["column"]: each["weight"] for each in one} == pytest.approx(
        {each["column"]: each["weight"] for each in other}
    )
    run(capsys, "fit", folder / "b.csv", *common, "-o", folder / "b.mbauc")
    run(capsys, "fit", folder / "a.csv", *common, "-o", folder / "a.mbauc")
    joined = json.loads(
        run(capsys, "merge", folder / "a.mbauc", folder / "b.mbauc", "-o", folder / "ab.mbauc", "--json")
    )
    assert joined["positives"] + joined["negatives"] == 5000


def test_compare_sees_that_a_model_without_its_best_column_is_worse(story, capsys):
    folder, train, test, model = story
    poor = folder / "poor.mbauc"
    run(capsys, "fit", train, "--label", "click", "--ignore", "bid", "-o", poor)
    told = json.loads(run(capsys, "compare", model, poor, test, "--json"))
    assert told["auc"][0] > told["auc"][1]
    assert told["p_value"][0][1] < 0.01
    assert told["holm_p_value"] == told["p_value"]
    assert "model - poor" in run(capsys, "compare", model, poor, test)


def test_cross_validation_and_standard_input(story, capsys, monkeypatch):
    folder, train, _, _ = story
    told = json.loads(
        run(
            capsys,
            "fit",
            train,
            "--label",
            "click",
            "--encode",
            "onehot",
            "--cv",
            3,
            "-o",
            folder / "cv.mbauc",
            "--json",
        )
    )
    assert len(told["path"]) == 20
    assert told["l2"] in [point["l2"] for point in told["path"]]

    class Stdin:
        buffer = open(train, "rb")  # noqa: SIM115

    monkeypatch.setattr("sys.stdin", Stdin())
    piped = json.loads(
        run(capsys, "fit", "-", "--label", "click", "--encode", "onehot", "-o", folder / "pipe.mbauc", "--json")
    )
    direct = json.loads(
        run(
            capsys,
            "fit",
            train,
            "--label",
            "click",
            "--encode",
            "onehot",
            "-o",
            folder / "file.mbauc",
            "--json",
        )
    )
    assert piped["l2"] == pytest.approx(direct["l2"])
    assert piped["tested"]["auc"] == direct["tested"]["auc"]


def test_decay_pairs_and_checkpoints(story, capsys):
    folder, train, _, _ = story
    common = [train, "--label", "click", "--encode", "onehot", "--json"]
    for number, options in enumerate((["--decay", 0.9], ["--pairs", 2000], ["--checkpoint", folder / "run"])):
        told = json.loads(run(capsys, "fit", *common, *options, "-o", folder / f"{number}.mbauc"))
        assert told["tested"]["auc"] > 0.6
    assert (folder / "run").is_dir()


def test_libsvm_files_with_columns_that_the_model_has_not_seen(tmp_path, capsys):
    rng = np.random.default_rng(0)

    def write(path, columns):
        with open(path, "w") as stream:
            for _ in range(2500):
                column = rng.integers(1, columns + 1)
                stream.write(f"{'+1' if rng.random() < 0.1 + 0.05 * (column % 5) else '-1'} {column}:1\n")

    write(tmp_path / "a.libsvm", 20)
    write(tmp_path / "b.libsvm", 30)
    run(capsys, "fit", tmp_path / "a.libsvm", "-o", tmp_path / "m.mbauc")
    told = json.loads(
        run(capsys, "score", tmp_path / "m.mbauc", tmp_path / "b.libsvm", "-o", tmp_path / "s.csv", "--json")
    )
    assert told["rows"] == 2500


def refused(capsys, *words):
    assert main([str(word) for word in words]) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return told


@pytest.mark.parametrize("between", [",", "~"])
def test_files_without_names_of_columns(between, tmp_path, capsys):
    rng = np.random.default_rng(0)
    paths = tmp_path / "train.csv", tmp_path / "test.csv"
    for path in paths:
        x = rng.standard_normal(600)
        y = rng.random(600) < 1 / (1 + np.exp(-2 * x))
        path.write_text(
            "".join(f"{value:.3f}{between}{int(label)}\n" for value, label in zip(x, y, strict=True))
        )
    train, test = paths
    model, other = tmp_path / "m.mbauc", tmp_path / "o.mbauc"
    common = [train, "--names", "x,y", "--label", "y", "--solver", "gram"]
    common += ["--delimiter", between] if between == "~" else []
    told = json.loads(run(capsys, "fit", *common, "--test", test, "-o", model, "--json"))
    found = json.loads(run(capsys, "evaluate", model, test, "--json"))
    assert told["tested"]["auc"] == found["auc"] > 0.8
    told = json.loads(run(capsys, "score", model, test, "-o", tmp_path / "s.csv", "--json"))
    assert told["rows"] == 600
    told = json.loads(run(capsys, "update", model, test, "-o", other, "--json"))
    assert sum(told["trained_on"]["updates"][0][key] for key in ("positives", "negatives")) == 600
    assert json.loads(run(capsys, "compare", model, other, test, "--json"))["rows"] == 600
    run(capsys, "threshold", model, test, "--false-alarm", 0.2, "-o", tmp_path / "armed.mbauc")
    run(capsys, "score", tmp_path / "armed.mbauc", test, "-o", tmp_path / "armed.csv")


def libsvm(path, rows=1500):
    rng = np.random.default_rng(0)
    columns = rng.integers(1, 9, rows)
    labels = rng.random(rows) < 0.1 + 0.1 * (columns % 5)
    lines = (f"{'+1' if label else '-1'} {column}:1\n" for label, column in zip(labels, columns, strict=True))
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["--weight", "w"],
        ["--hash-dim", 10000],
        ["--ignore", "a"],
        ["--scale", "standard"],
        ["--types", "a=id"],
        ["--encode", "hash"],
        ["--signed"],
        ["--missing", "category"],
        ["--delimiter", ","],
        ["--names", "a,b"],
        ["--id", "a"],
    ],
    ids=lambda words: words[0],
)
def test_options_of_tables_are_refused_for_libsvm_text(words, tmp_path, capsys):
    rows = libsvm(tmp_path / "a.libsvm")
    told = refused(capsys, "fit", rows, *words, "-o", tmp_path / "m.mbauc")
    assert f"{words[0]} applies to tables only" in told
    assert f"{words[0]} applies to tables only" in refused(capsys, "plan", rows, *words)


def test_positive_labels_of_libsvm_text_are_numbers(tmp_path, capsys):
    rows = libsvm(tmp_path / "a.libsvm")
    for label in ("yes", "nan"):
        told = refused(capsys, "fit", rows, "--positive", label, "-o", tmp_path / "m.mbauc")
        assert (
            f"--positive: expected a number, because labels in LIBSVM text are numeric, got '{label}'" in told
        )


def test_a_folder_is_what_its_files_are(tmp_path, capsys):
    folder = tmp_path / "days"
    folder.mkdir()
    for day in ("monday.svm", "tuesday.svmlight"):
        libsvm(folder / day)
    told = json.loads(run(capsys, "fit", folder, "--hold-out", 0, "-o", tmp_path / "m.mbauc", "--json"))
    assert told["positives"] + told["negatives"] == 3000
    assert json.loads(run(capsys, "evaluate", tmp_path / "m.mbauc", folder, "--json"))["rows"] == 3000
    made_up(folder)
    told = refused(capsys, "fit", folder, "-o", tmp_path / "n.mbauc")
    assert "both tables and LIBSVM text" in told
    run(capsys, "fit", folder, "--format", "libsvm", "-o", tmp_path / "n.mbauc")
    run(capsys, "fit", folder, "--format", "csv", "--label", "click", "-o", tmp_path / "t.mbauc")


def test_lines_that_were_left_out_are_told(story, capsys):
    folder, _, test, model = story
    lines = test.read_text().splitlines()[:20]
    lines[3] += ",more"
    (folder / "some.csv").write_text("\n".join(lines))
    words = ["score", model, folder / "some.csv", "--on-error", "skip", "-o"]
    for out in (folder / "s.csv", "-"):
        assert main([str(word) for word in (*words, out)]) == 0
        assert "1 row was left out: 1 with" in capsys.readouterr().err
    told = json.loads(run(capsys, *words, folder / "j.csv", "--json"))
    assert (told["rows"], told["skipped"]) == (18, 1)
    rows = libsvm(folder / "a.libsvm", 2000)
    run(capsys, "fit", rows, "-o", folder / "svm.mbauc")
    rows.write_text("0 1:1\n0 1;1\n0 2:1\n")
    words = ["score", folder / "svm.mbauc", rows, "--on-error", "skip", "-o", folder / "t.csv"]
    assert main([str(word) for word in words]) == 0
    assert "1 line was left out." in capsys.readouterr().err
    assert [line.split(",")[0] for line in (folder / "t.csv").read_text().splitlines()] == ['"row"', "0", "2"]


def test_score_refuses_what_it_cannot_do(story, capsys, monkeypatch):
    folder, _, test, model = story
    told = refused(capsys, "score", model, test, "-o", "-", "--json")
    assert "--json" in told
    assert "standard output" in told
    assert ".csv.gz" in refused(capsys, "score", model, test, "-o", folder / "s.csv.bz2")
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in refused(capsys, "score", model, "-", "-o", folder / "s.csv")


def test_scoring_leaves_the_moments_on_disk(story, capsys, monkeypatch):
    folder, _, test, model = story
    import mbauc.model

    asked = []
    load = mbauc.model.load_model
    monkeypatch.setattr(
        mbauc.model, "load_model", lambda *words, **options: asked.append(options) or load(*words, **options)
    )
    run(capsys, "score", model, test, "-o", folder / "s.csv")
    assert asked == [{"moments": False}]


def test_plan_inspect_and_export(story, capsys):
    folder, train, _, model = story
    told = json.loads(
        run(capsys, "plan", train, "--label", "click", "--encode", "onehot", "--delta", 0.5, "--json")
    )
    assert 1_000 < told["pairs"] < 1_000_000
    assert "bid" in run(capsys, "inspect", model)
    assert "ending .onnx or .joblib" in refused(capsys, "export", model, "-o", folder / "weights.vw")
    run(capsys, "export", model, "-o", folder / "model.joblib")
    import joblib
    import pandas as pd

    pipeline = joblib.load(folder / "model.joblib")
    frame = pd.read_csv(train)
    run(capsys, "score", model, train, "-o", folder / "s.csv")
    scores = pd.read_csv(folder / "s.csv")["score"].to_numpy()
    np.testing.assert_allclose(pipeline.decision_function(frame), scores, rtol=1e-12)
