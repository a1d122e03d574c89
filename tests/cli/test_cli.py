import json
import subprocess
import sys

import pytest

from mbauc.cli.main import main


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_the_demo_as_json(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["demo", "--rows", "5000", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    ours, other = told["rankers"]["TableRanker"], told["rankers"]["LogisticRegression"]
    assert other["high"] < ours["low"] < ours["auc"] < ours["high"] < 1
    assert told["rows"] == 5000
    assert 0 < told["found"] < told["alarms"]
    assert told["false_alarm_rate"] < 0.03
    assert "Card payments" in (out / "report.html").read_text(encoding="utf-8")
    assert main(["inspect", str(out / "fraud.mbauc")]) == 0


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_the_demo_ends_with_alarms_reasons_and_a_report(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert main(["demo", "--rows", "5000", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    for part in (
        "95% interval",
        "alarms find",
        "(limit 1%, with 95% confidence)",
        "Reasons for the highest scores",
    ):
        assert part in shown
    assert shown.splitlines()[-1].startswith(f"Open {tmp_path / 'out' / 'report.html'}")
    assert (tmp_path / "out" / "roc.png").read_bytes().startswith(b"\x89PNG")


def test_help_and_version(capsys):
    assert main([]) == 2
    assert "mbauc demo" in capsys.readouterr().out
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as done:
            main([option])
        assert done.value.code == 0
    with pytest.raises(SystemExit) as done:
        main(["demo", "--help"])
    assert "2% of them fraud" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("rows", ["10", "many"])
def test_bad_rows_are_refused(rows, capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--rows", rows])
    assert "expected" in capsys.readouterr().err


def test_an_unwritable_folder_is_an_error_message(tmp_path, capsys):
    blocker = tmp_path / "file"
    blocker.write_text("")
    assert main(["demo", "--rows", "5000", "--out", str(blocker / "out")]) == 1
    assert capsys.readouterr().err.startswith("mbauc: ")


def test_the_command_is_installed():
    done = subprocess.run(
        [sys.executable, "-m", "mbauc", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("mbauc ")
