"""mbauc explain, and the pictures of mbauc inspect."""

import csv
import json

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of customers, a model of curves and one of straight lines."""
    place = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(0)
    n = 2300
    age, site = rng.integers(18, 80, n), rng.choice(["a", "b", "c"], n)
    y = (np.abs(age - 50) / 10 + (site == "b") + rng.standard_normal(n) > 2.5).astype(int)
    rows = [(f"c{k}", y[k], age[k] if k % 50 else "", site[k]) for k in range(n)]
    for name, part in (("train.csv", rows[:2200]), ("new.csv", rows[2200:])):
        with (place / name).open("w", newline="") as stream:
            csv.writer(stream).writerows([("customer", "bad", "age", "site"), *part])
    (place / "odd.csv").write_text("customer,age,site\nz,999,mars\n")
    fit = ["fit", f"{place}/train.csv", "--label", "bad", "--id", "customer", "--seed", "0"]
    assert main([*fit, "--features", "curves", "-o", f"{place}/curves.mbauc"]) == 0
    assert main([*fit, "--encode", "onehot", "-o", f"{place}/lines.mbauc"]) == 0
    return place


def run(capsys, *words):
    capsys.readouterr()
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("model", ["curves.mbauc", "lines.mbauc"])
def test_explanations_add_up_to_scores(folder, capsys, tmp_path, model):
    scores = tmp_path / "scores.csv"
    run(capsys, "score", folder / model, folder / "new.csv", "-o", scores)
    with scores.open(newline="") as stream:
        expected = list(csv.DictReader(stream))
    found = json.loads(run(capsys, "explain", folder / model, folder / "new.csv", "--rows", "0-99", "--json"))[
        "rows"
    ]
    assert [one["id"]["customer"] for one in found] == [one["customer"] for one in expected]
    slope = load_model(folder / model).slope
    for one, row in zip(found, expected, strict=True):
        assert one["score"] == pytest.approx(float(row["score"]))
        assert one["probability"] == pytest.approx(float(row["probability"]))
        total = one["base"] + sum(part["log_odds"] for part in one["contributions"]) + one["rest"]
        assert total == pytest.approx(slope * one["score"])
    top = json.loads(run(capsys, "explain", folder / model, folder / "new.csv", "--top", 3, "--json"))["rows"]
    order = sorted(found, key=lambda one: (-one["score"], one["row"]))[:3]
    assert [one["row"] for one in top] == [one["row"] for one in order]


def test_a_tired_person_understands_it(folder, capsys):
    text = run(capsys, "explain", folder / "curves.mbauc", folder / "odd.csv", "--n", 2)
    head, start, *parts = text.splitlines()
    assert head.startswith("row 0, customer z: score ")
    assert "probability" in head
    assert start.endswith("  an average row")
    assert any(line.endswith("  age = 999") for line in parts)
    assert any(line.endswith("  site = mars (other)") for line in parts)
    text = run(capsys, "explain", folder / "lines.mbauc", folder / "new.csv", "--rows", 3, "--n", 9)
    assert "site = " in text
    assert "  baseline" in text
    with (folder / "new.csv").open(newline="") as stream:
        age = list(csv.DictReader(stream))[3]["age"]
    assert f"  age = {age}\n" in text


@pytest.mark.parametrize("model", ["curves.mbauc", "lines.mbauc"])
def test_reasons_of_scores_are_what_explain_says(folder, capsys, model):
    words = ("score", folder / model, folder / "new.csv", "--reasons", 2, "-o", "-")
    scored = list(csv.DictReader(run(capsys, *words).splitlines()))
    found = json.loads(run(capsys, "explain", folder / model, folder / "new.csv", "--rows", "0-99", "--json"))
    for row, one in zip(scored, found["rows"], strict=True):
        up = [part for part in one["contributions"] if part["log_odds"] >= 0.005][:2]
        wanted = [f"{part['name']}={part['value']} ({part['log_odds']:+.2f})" for part in up]
        assert [row["reason_1"], row["reason_2"]] == wanted + [""] * (2 - len(wanted))
    assert any(row["reason_1"] for row in scored)
    assert any(row["reason_1"].startswith("age=missing (+") for row in scored) == (model == "curves.mbauc")


def test_rows_that_are_not_there_are_an_error(folder, capsys):
    assert main(["explain", f"{folder}/curves.mbauc", f"{folder}/new.csv", "--rows", "500"]) == 1
    assert "there are no such rows: the data have 100 rows, numbered from 0" in capsys.readouterr().err
    assert (
        main(["explain", f"{folder}/curves.mbauc", f"{folder}/new.csv", "--rows", "500-600", "--top", "3"]) == 1
    )
    assert "the data have 100" in capsys.readouterr().err
    assert main(["explain", f"{folder}/curves.mbauc", f"{folder}/new.csv", "--n", "0"]) == 2
    with pytest.raises(SystemExit):
        main(["explain", f"{folder}/curves.mbauc", f"{folder}/new.csv", "--rows", "5-2"])
    assert "such as 0-19" in capsys.readouterr().err


def test_pictures_are_written_to_a_folder(folder, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures are drawn with matplotlib")
    told = json.loads(
        run(capsys, "inspect", folder / "curves.mbauc", "--plots", tmp_path / "pictures", "--json")
    )
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert sorted(told["plots"]) == names
    assert {"importance.png", "overview.svg", "curve-01-age.svg"} <= set(names)
    assert main(["inspect", f"{folder}/curves.mbauc", "--plots", f"{tmp_path}/pictures"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert "wrote 2 pictures" in run(
        capsys, "inspect", folder / "lines.mbauc", "--plots", tmp_path / "pictures", "--force"
    )


def test_the_report_of_a_model_of_curves_explains_rows(folder, capsys, tmp_path):
    page = tmp_path / "page.html"
    run(capsys, "evaluate", folder / "curves.mbauc", folder / "new.csv", "--report", page)
    html = page.read_text(encoding="utf-8")
    assert 'id="terms"' in html
    assert 'id="rows"' in html
    assert "AUC change without" in html


def test_rows_left_out_are_told(folder, capsys, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("customer,age,site\nz,old,a\ny,50,b\nx,older,b\n")
    words = ["explain", folder / "curves.mbauc", rows, "--on-error", "skip"]
    for more in ([], ["--top", "1"]):
        capsys.readouterr()
        assert main([str(word) for word in [*words, *more]]) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith("row 1, customer y")
        assert "2 rows were left out: 2 with no number in 'age'" in shown.err
    assert json.loads(run(capsys, *words, "--json"))["skipped"] == 2
    rows.write_text("customer,age,site\nz,old,a\n")
    assert main([str(word) for word in words]) == 1
    assert "no row could be explained; 1 row was left out" in capsys.readouterr().err
