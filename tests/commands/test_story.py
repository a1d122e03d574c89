"""The three commands of the README, and those around them, on made-up and on real files."""

import bz2
import csv
import json
import os
import pathlib
import re

import numpy as np
import pytest

from mbauc.cli import main

pa = pytest.importorskip("pyarrow", reason="tables are read with pyarrow")

DATA = pathlib.Path(os.environ.get("MBAUC_DATA", pathlib.Path(__file__).parents[2].parent / "shared" / "data"))


def made_up(folder):
    """Two CSV files of an alarm table: numbers, categories, missing values, an id."""
    rng = np.random.default_rng(0)
    paths = []
    for name, rows in (("train", 3000), ("test", 1500)):
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


def avazu(folder):
    return *cut(DATA / "avazu.first9999.csv.bz2", folder, "csv", head=True), ["--label", "click"]


def criteo(folder):
    names = ",".join(["label", *(f"I{k}" for k in range(13)), *(f"C{k}" for k in range(26))])
    train, test = cut(DATA / "criteo.raw8000.tsv.bz2", folder, "tsv", head=False)
    for path in (train, test):
        path.write_text(names.replace(",", "\t") + "\n" + path.read_text())
    return train, test, ["--label", "label"]


def cut(path, folder, ending, head):
    """Real rows as a file to train on and one to test on."""
    if not path.exists():
        pytest.skip(f"{path.name} is not here (set MBAUC_DATA to its folder)")
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


@pytest.mark.parametrize("rows", [made_up, avazu, criteo])
def test_the_three_commands_of_the_readme(rows, tmp_path, capsys, monkeypatch):
    train, test, options = rows(tmp_path)
    model, page, scores = (tmp_path / name for name in ("model.mbauc", "report.html", "scores.parquet"))

    told = run(capsys, "fit", train, *options, "-o", model)
    assert "test AUC" in told
    assert model.exists()
    auc = float(re.search(r"test AUC +(0\.\d+)", told)[1])
    assert 0.6 < auc < 0.9

    told = run(capsys, "evaluate", model, test, "--report", page)
    shown = float(re.search(r"AUC +(0\.\d+)", told)[1])
    assert abs(shown - auc) < 0.08
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")

    run(capsys, "score", model, test, "-o", scores)
    table = pytest.importorskip("pyarrow.parquet").read_table(scores)
    assert table.column_names == ["row", "score", "probability"]
    labels = read_labels(test, options[1])
    from mbauc.metrics import roc_auc

    assert table.num_rows == labels.size
    assert roc_auc(labels, table["score"].to_numpy()) == pytest.approx(shown, abs=5e-5)
    probability = table["probability"].to_numpy()
    assert abs(probability.mean() - labels.mean()) < 0.05


def read_labels(path, name):
    with open(path, newline="") as stream:
        return np.array(
            [int(row[name]) for row in csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")]
        )


def test_the_readme_shows_these_commands():
    readme = (pathlib.Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^mbauc (\w+) (.*?)  +#", readme, re.MULTILINE)
    assert [name for name, _ in commands] == ["fit", "evaluate", "score"]
    from mbauc.cli import whole_parser

    for name, words in commands:
        assert whole_parser().parse_args([name, *words.split()]).command == name


@pytest.fixture
def story(tmp_path, capsys):
    train, test, options = made_up(tmp_path)
    model = tmp_path / "model.mbauc"
    run(capsys, "fit", train, *options, "--encode", "onehot", "-o", model)
    return tmp_path, train, test, model


def test_threshold_score_and_evaluate_agree_about_alarms(story, capsys):
    folder, train, test, model = story
    armed = folder / "armed.mbauc"
    told = json.loads(run(capsys, "threshold", model, train, "--false-alarm", 0.1, "-o", armed, "--json"))
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
    assert joined["positives"] + joined["negatives"] == 3000


def test_compare_sees_that_a_model_without_its_best_column_is_worse(story, capsys):
    folder, train, test, model = story
    poor = folder / "poor.mbauc"
    run(capsys, "fit", train, "--label", "click", "--ignore", "bid", "-o", poor)
    told = json.loads(run(capsys, "compare", model, poor, test, "--json"))
    assert told["auc"][0] > told["auc"][1]
    assert told["p_value"][0][1] < 0.01
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


def test_plan_inspect_and_export(story, capsys):
    folder, train, _, model = story
    told = json.loads(
        run(capsys, "plan", train, "--label", "click", "--encode", "onehot", "--delta", 0.5, "--json")
    )
    assert told["pairs"] == "all" or told["pairs"] > 0
    assert "bid" in run(capsys, "inspect", model)
    run(capsys, "export", model, "-o", folder / "weights.vw")
    run(capsys, "export", model, "-o", folder / "model.joblib")
    import joblib
    import pandas as pd

    pipeline = joblib.load(folder / "model.joblib")
    frame = pd.read_csv(train)
    run(capsys, "score", model, train, "-o", folder / "s.csv")
    scores = pd.read_csv(folder / "s.csv")["score"].to_numpy()
    np.testing.assert_allclose(pipeline.decision_function(frame), scores, rtol=1e-12)
