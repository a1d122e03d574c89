"""Rows that a model was trained on are never called new ones."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import load_model, save_model

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


def table(path, seed, rows=1800):
    rng = np.random.default_rng(seed)
    bid = rng.standard_normal(rows)
    y = rng.random(rows) < 1 / (1 + np.exp(1 - bid))
    path.write_text("click,bid\n" + "".join(f"{int(a)},{b:.4f}\n" for a, b in zip(y, bid, strict=True)))
    return path


def told(capsys, *words, code=0):
    assert main([*map(str, words)]) == code
    return capsys.readouterr()


def answer(capsys, *words, code=0):
    return json.loads(told(capsys, *words, "--json", code=code).out)


@pytest.fixture
def train(tmp_path):
    return table(tmp_path / "train.csv", 0)


@pytest.fixture
def fresh(tmp_path):
    return table(tmp_path / "fresh.csv", 1)


@pytest.fixture
def copied(train, tmp_path):
    """The training file under another name, with a later date."""
    return shutil.copyfile(train, tmp_path / "copied.csv")


@pytest.fixture
def model(train, tmp_path, capsys):
    path = tmp_path / "model.mbauc"
    told(capsys, "fit", train, "--label", "click", "--encode", "hash", "--keep-tested", "-o", path)
    return path


def test_fit_tells_a_test_on_its_own_rows_from_one_on_others(train, copied, fresh, tmp_path, capsys):
    out = tmp_path / "m.mbauc"
    for test in (train, copied):
        shown = told(capsys, "fit", train, "--label", "click", "--test", test, "-o", out, "--force").out
        assert re.search(r"\d held-out rows", shown) is None
        assert f"it was trained on ({test.name})" in shown
        assert "trained on" in load_model(out).trained_on["tested"]["rows"]
        assert "other files" not in told(capsys, "inspect", out).out
    shown = told(capsys, "fit", train, "--label", "click", "--test", fresh, "-o", out, "--force").out
    assert "1,800 held-out rows" in shown


def test_no_promise_is_made_from_training_rows(model, train, copied, fresh, tmp_path, capsys):
    armed = tmp_path / "armed.mbauc"
    for rows in (train, copied):
        said = told(capsys, "threshold", model, rows, "-o", armed, code=1).err
        assert f"{rows.name}: the model was trained on these rows" in said
        assert "--on-training-rows" in said
        assert not armed.exists()
    shown = told(capsys, "threshold", model, train, "--on-training-rows", "-o", armed).out
    assert "no guarantee" in shown
    assert "at most" not in shown
    assert load_model(armed).threshold.false_alarm is None
    shown = told(capsys, "threshold", model, fresh, "-o", armed, "--force").out
    assert "at most 0.05" in shown


def test_rows_that_set_the_threshold_are_no_check_of_it(model, fresh, tmp_path, capsys):
    armed, page = tmp_path / "armed.mbauc", tmp_path / "report.html"
    told(capsys, "threshold", model, fresh, "-o", armed)
    shown = told(capsys, "evaluate", armed, fresh, "--report", page).out
    assert "threshold was set on fresh.csv" in shown
    assert "threshold was set on fresh.csv" in page.read_text()
    other = table(tmp_path / "other.csv", 2)
    assert "was set on" not in told(capsys, "evaluate", armed, other).out
    told(capsys, "threshold", armed, "--at", 0.1, "-o", tmp_path / "chosen.mbauc")
    assert "was set on" not in told(capsys, "evaluate", tmp_path / "chosen.mbauc", fresh).out


def test_comparing_on_training_rows_is_noted(model, train, fresh, tmp_path, capsys):
    other = tmp_path / "other.mbauc"
    told(capsys, "fit", fresh, "--label", "click", "-o", other)
    shown = told(capsys, "compare", model, other, train).out
    assert "note" in shown
    assert "model was trained on train.csv" in shown
    assert "other was trained on" not in shown
    (note,) = answer(capsys, "compare", model, other, fresh)["notes"]
    assert note.startswith("other was trained on fresh.csv")
    assert answer(capsys, "compare", model, other, table(tmp_path / "third.csv", 3))["notes"] == []


def test_no_file_is_learned_twice_by_mistake(model, train, copied, fresh, tmp_path, capsys):
    out = tmp_path / "newer.mbauc"
    for rows in (train, copied):
        assert "--again" in told(capsys, "update", model, rows, "-o", out, code=1).err
        assert not out.exists()
    told(capsys, "update", model, fresh, "-o", out)
    assert "fresh.csv" in told(capsys, "update", out, fresh, "-o", out, "--force", code=1).err
    told(capsys, "update", out, fresh, "--again", "-o", out, "--force")


def test_a_model_of_a_pipe_knows_its_rows(train, tmp_path, capsys, monkeypatch):
    out = tmp_path / "m.mbauc"
    with open(train) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        told(capsys, "fit", "-", "--label", "click", "-o", out)
    assert "trained on train.csv" in told(capsys, "evaluate", out, train).out


def test_a_folder_of_days_is_known_file_by_file(tmp_path, capsys):
    folder, out = tmp_path / "days", tmp_path / "m.mbauc"
    folder.mkdir()
    for day in range(2):
        table(folder / f"{day}.csv", day)
    told(capsys, "fit", folder, "--label", "click", "-o", out)
    assert (
        "1.csv: the model was trained on these rows"
        in told(capsys, "threshold", out, folder / "1.csv", code=1).err
    )


def test_rows_that_fit_held_out_can_set_a_threshold(model, train, copied, fresh, tmp_path, capsys):
    assert "held out, with --held-out." in told(capsys, "threshold", model, train, code=1).err
    tested = answer(capsys, "inspect", model)["trained_on"]["tested"]
    found = answer(capsys, "threshold", model, copied, "--held-out", "-o", tmp_path / "armed.mbauc")
    assert (found["positives"], found["negatives"]) == (tested["positives"], tested["negatives"])
    assert found["false_alarm"] == 0.05
    assert (
        "pass the files that the model was trained on, unchanged"
        in told(capsys, "threshold", model, fresh, "--held-out", code=1).err
    )
    whole = tmp_path / "whole.mbauc"
    told(capsys, "fit", train, "--label", "click", "--hold-out", 0, "-o", whole)
    said = told(capsys, "threshold", whole, train, code=1).err
    assert "train again with 'mbauc fit --keep-tested'; --held-out then uses" in said
    said = told(capsys, "threshold", whole, train, "--held-out", code=1).err
    assert "the training held none out" in said
    assert "Train with 'mbauc fit --keep-tested'." in said
    newer = tmp_path / "newer.mbauc"
    told(capsys, "update", model, fresh, "-o", newer)
    assert "'mbauc fit --keep-tested'; --held-out" in told(capsys, "threshold", newer, train, code=1).err


def test_one_file_is_enough_for_a_threshold_if_the_tested_model_is_kept(train, tmp_path, capsys):
    """What a new user tries first, and what each message says to try next."""
    out, armed = tmp_path / "m.mbauc", tmp_path / "armed.mbauc"
    told(capsys, "fit", train, "--label", "click", "-o", out)
    said = told(capsys, "threshold", out, train, "--false-alarm", 0.1, code=1).err
    assert "train again with 'mbauc fit --keep-tested'; --held-out then uses the rows that it held out" in said
    said = told(capsys, "threshold", out, train, "--held-out", "--false-alarm", 0.1, code=1).err
    assert "Train with 'mbauc fit --keep-tested'." in said
    told(capsys, "fit", train, "--label", "click", "--keep-tested", "-o", out, "--force")
    shown = told(capsys, "threshold", out, train, "--held-out", "--false-alarm", 0.1).out
    assert "at most 0.1 of the negatives" in shown
    assert "not written   -o FILE writes the model with this threshold" in shown
    shown = told(capsys, "threshold", out, train, "--held-out", "--false-alarm", 0.1, "-o", armed).out
    assert "not written" not in shown
    assert armed.exists()


def test_probabilities_are_not_checked_on_the_rows_they_came_from(model, fresh, tmp_path, capsys):
    calibrated, other = tmp_path / "calibrated.mbauc", table(tmp_path / "other.csv", 2)
    trained = load_model(model)
    assert trained.slope > 0
    # far off, so that the map changes
    save_model(replace(trained, slope=trained.slope / 50, calibration=None), tmp_path / "off.mbauc")
    told(capsys, "calibrate", tmp_path / "off.mbauc", fresh, "-o", calibrated)
    shown = " ".join(told(capsys, "evaluate", calibrated, fresh).out.split())
    assert (
        "Probabilities were calibrated on fresh.csv: the calibration error on these rows is optimistic" in shown
    )
    assert "were calibrated on" not in told(capsys, "evaluate", calibrated, other).out
