"""A threshold that somebody chose, such as one read off the report's explorer."""

import json

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.model import LibsvmLayout, RankerModel, Threshold, load_model, save_model
from mbauc.report import report_html


def told(capsys, *words, code=0):
    assert main([*map(str, words)]) == code
    return capsys.readouterr()


@pytest.fixture
def model(tmp_path):
    save_model(
        RankerModel(LibsvmLayout(2, zero_based=False), (0, 1), np.array([1.0, -0.5]), 0.0, 1.0, 0.0, 0.1),
        tmp_path / "model.mbauc",
    )
    return tmp_path / "model.mbauc"


@pytest.mark.parametrize("value", ["0.25", "-1e-05", "3"])
def test_a_threshold_set_by_hand_is_the_one_that_alarms_go_by(model, tmp_path, capsys, value):
    armed = tmp_path / "armed.mbauc"
    shown = told(capsys, "threshold", model, f"--at={value}", "-o", armed).out
    assert f"threshold     {float(value)!r}" in shown
    assert "no guarantee" in shown
    assert load_model(armed).threshold == Threshold(float(value))
    assert "set by hand" in told(capsys, "inspect", armed).out
    rows, out = tmp_path / "rows.libsvm", tmp_path / "scores.csv"
    rows.write_text(f"1 1:{float(value) + 1e-6}\n0 1:{value}\n0 1:{float(value) - 1}\n")
    told(capsys, "score", armed, rows, "-o", out)
    assert [line.split(",")[-1] for line in out.read_text().splitlines()[1:]] == ["true", "false", "false"]
    found = json.loads(told(capsys, "evaluate", armed, rows, "--json").out)["threshold"]
    assert (found["value"], found["detected"], found["false_alarms"]) == (float(value), 1, 0)


def test_a_threshold_set_by_hand_is_told_to_scripts(model, tmp_path, capsys):
    armed = tmp_path / "armed.mbauc"
    found = json.loads(told(capsys, "threshold", model, "--at=-0.5", "-o", armed, "--json").out)
    assert found == {"threshold": -0.5, "false_alarm": None, "confidence": None, "model": str(armed)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at=0.5"], "needs -o"),
        (["--at=0.5", "rows.csv", "-o", "armed.mbauc"], "leave out rows.csv"),
        (["--at=0.5", "--false-alarm", "0.1", "-o", "armed.mbauc"], "--false-alarm"),
        (["--at=0.5", "--confidence", "0.9", "-o", "armed.mbauc"], "--confidence"),
    ],
)
def test_what_cannot_go_with_it_is_named(model, tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in told(capsys, "threshold", model, *words, code=2).err
    assert not (tmp_path / "armed.mbauc").exists()


@pytest.mark.parametrize("value", ["inf", "nan", "much"])
def test_only_numbers_can_be_thresholds(model, tmp_path, capsys, value):
    with pytest.raises(SystemExit) as stop:
        main(["threshold", str(model), f"--at={value}", "-o", str(tmp_path / "armed.mbauc")])
    assert stop.value.code == 2
    assert "--at" in capsys.readouterr().err


def test_without_it_rows_are_needed_and_may_stand_anywhere(model, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["threshold", str(model), "-o", str(tmp_path / "armed.mbauc")])
    assert "DATA" in capsys.readouterr().err
    rows = tmp_path / "rows.libsvm"
    rows.write_text("".join(f"{k % 2} 1:{k}\n" for k in range(200)))
    for words in ([model, rows, "--false-alarm", 0.2], [model, "--false-alarm", 0.2, rows]):
        assert "at most 0.2" in told(capsys, "threshold", *words).out


def test_a_promise_has_a_limit_and_a_confidence_or_neither():
    with pytest.raises(ValueError, match="confidence"):
        Threshold(0.5, false_alarm=0.1)


def test_the_report_says_that_nothing_was_promised(model):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    armed = load_model(model).with_threshold(Threshold(0.5))
    page = report_html(y, rng.standard_normal(300) + y, model=armed)
    assert "Set by hand, no guarantee" in page
    chosen = armed.with_threshold(Threshold(0.5, negatives=10, rule="top", number=40.0))
    page = report_html(y, rng.standard_normal(300) + y, model=chosen)
    assert (
        "At most 40 alarms in as many rows, on the rows used to select it; no guarantee for new rows." in page
    )
    assert "et by hand" not in page
