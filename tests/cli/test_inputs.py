"""Outputs never replace inputs, --force or not; only update goes on in place."""

import pytest

from mbauc.cli.main import main


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with a table, a model's name and a link; nothing in it is read before the check."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "day").mkdir()
    for name in ("t.csv", "m.mbauc", "day/t.csv", "day/notes"):
        (tmp_path / name).write_text("y,a\n1,2\n")
    (tmp_path / "link.csv").symlink_to("t.csv")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "fit t.csv --label y -o t.csv",
        "fit t.csv --label y -o link.csv",
        "fit *.csv --label y -o t.csv",
        "fit day --label y -o day/t.csv",
        "fit day/t.csv --label y --like m.mbauc -o m.mbauc",
        "fit day/t.csv --label y --test t.csv -o t.csv",
        "score m.mbauc t.csv -o t.csv",
        "evaluate m.mbauc t.csv --report m.mbauc",
        "evaluate m.mbauc t.csv --report t.csv",
        "merge m.mbauc t.csv -o m.mbauc",
        "export m.mbauc -o m.mbauc",
        "update m.mbauc t.csv -o t.csv",
    ],
)
def test_refused(work, capsys, words):
    assert main([*words.split(), "--force"]) == 2
    assert "would overwrite an input of the command; choose another file." in capsys.readouterr().err
    assert (work / "t.csv").read_text() == "y,a\n1,2\n"


@pytest.mark.parametrize("words", ["update m.mbauc t.csv -o m.mbauc", "fit day --label y -o day/notes"])
def test_not_refused_for_this(work, capsys, words):
    main([*words.split(), "--force"])
    assert "would overwrite" not in capsys.readouterr().err
