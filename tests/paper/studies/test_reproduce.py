import csv
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from mbauc.cli.main import main
from mbauc.paper.commands.reproduce import _extract_comparison
from mbauc.paper.studies import EXPERIMENTS, linearity
from mbauc.paper.studies.simulation import figure2, runs, table2
from mbauc.paper.studies.simulation.runs import Settings

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.slow

TINY = Settings(sets=2, train=2000, test=2000)


def tune_nothing(patch):
    """Runs are short then; what they find is of no concern here."""
    for which in ("SAMPLED", "WHOLE"):
        untuned = tuple(one._replace(grid=one.grid[-1:]) for one in getattr(runs, which))
        patch.setattr(runs, which, untuned)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        tune_nothing(patch)
        return runs.run(TINY, tmp_path_factory.mktemp("study"), n_jobs=1)


def test_table2_has_a_line_for_each_row_and_says_what_was_found(study, tmp_path):
    csv_path, page_path = table2.render(study, tmp_path)
    assert "**A quick run**" in page_path.read_text()
    assert "`mbauc reproduce table2 --quick`" in page_path.read_text()
    head, *lines = _extract_comparison(page_path)
    assert head.split()[-2:] == ["printed", "difference"]
    assert len(lines) == 9
    rows = list(csv.DictReader(csv_path.read_text().splitlines()))
    assert len(rows) == 3 * (3 * 6 + 2) * 2
    first = rows[0]
    assert float(first["auc"]) == pytest.approx(study.auc(first["method"], 1, 0.01)[0], abs=1e-4)
    page = page_path.read_text()
    assert "2 training sets of 2,000 rows" in page
    for printed in ("87.43 ± 0.69", "80.94 ± 2.77", "79.61 ± 0.06", "(83.71)"):
        assert printed in page
    assert "Seed 0; python" in page


def test_circles_say_who_is_better():
    low, high = np.array([70.0, 71.0, 70.5]), np.array([75.0, 76.1, 75.4])
    assert table2._mark(high, low) == "● "
    assert table2._mark(low, high) == "○ "
    assert table2._mark(low, low) == ""
    assert table2._mark(low, low + np.array([1.0, -1.2, 0.3])) == ""
    assert table2._mark(low[:1], high[:1]) == ""


def test_a_failed_check_is_printed_as_such(study):
    best = dict(runs.best_possible(TINY))
    worse = {
        k: runs.BestPossible(b.closed_form - 30, b.on_test_set, b.stderr, b.curve) for k, b in best.items()
    }
    assert "**fails**" in "\n".join(table2._checks(study, worse))


def test_figure2_writes_the_nine_panels(study, tmp_path):
    paths = figure2.render(study, tmp_path)
    assert [path.name for path in paths] == ["figure2.csv", "figure2.png", "figure2.svg"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    svg = paths[2].read_bytes()
    assert svg.count(b"SR = ") + svg.count(b"axes_") >= 9
    rows = list(csv.DictReader(paths[0].read_text().splitlines()))
    assert len({(row["components"], row["sample_ratio"]) for row in rows}) == 9
    assert len(rows) == 9 * 4 * len(runs.FALSE_ALARMS)
    figure2.render(study, tmp_path)
    assert paths[2].read_bytes() == svg  # the same figure, the same bytes


def test_linearity_finds_what_theory_says(tmp_path):
    settings = linearity.Settings(snr_db=(-6.0, 12.0), train=4000, samples=40_000)
    found = {(one.family, one.snr_db): one for one in linearity.run(settings, tmp_path)}
    for level in settings.snr_db:
        # footnote 6: with a shared covariance the best score is linear
        assert found["shared covariance", level].shortfall == pytest.approx(0.0, abs=1e-9)
        for family in linearity.FAMILIES:
            one = found[family.name, level]
            assert one.learned <= one.neyman_pearson + 3e-3
            assert one.learned <= one.linear + 1e-3
    assert found["unequal covariances", -6.0].shortfall > 10
    # a flipped sign: one positive in five is always below, however strong the signal
    assert found["either sign", 12.0].linear == pytest.approx(0.8, abs=2e-3)
    assert found["either sign", 12.0].shortfall > found["either sign", -6.0].shortfall
    paths = linearity.render(settings, list(found.values()), tmp_path)
    assert all(path.stat().st_size > 100 for path in paths)
    assert "Either channel: the linear score loses" in paths[1].read_text()


def test_the_command_runs_and_resumes(tmp_path, capsys, monkeypatch):
    tune_nothing(monkeypatch)
    monkeypatch.setattr(runs, "QUICK", Settings(1, 2000, 2000))
    assert main(["reproduce", "table2", "--quick", "--out", str(tmp_path / "r")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("wrote")] == [
        f"wrote {tmp_path / 'r' / name}" for name in ("table2.csv", "table2.md")
    ]
    assert "printed" in lines[1]
    assert len(lines) == 2 + 1 + 9
    before = (tmp_path / "r" / "simulation.ledger").read_bytes()
    assert main(["reproduce", "figure2", "--quick", "--out", str(tmp_path / "r"), "--jobs", "1"]) == 0
    assert (tmp_path / "r" / "simulation.ledger").read_bytes() == before
    assert main(["reproduce", "table2", "--quick", "--seed", "1", "--out", str(tmp_path / "r")]) == 1
    assert "other settings (seed was 0, now 1)" in capsys.readouterr().err


def test_a_missing_matplotlib_is_noticed_before_the_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(runs, "run", lambda *_: pytest.fail("it ran"))
    for name in ("figure1", "figure2", "linearity"):
        assert main(["reproduce", name, "--out", str(tmp_path)]) == 1
        assert "pip install 'mbauc[plots]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_experiment_has_its_module():
    for experiment in EXPERIMENTS.values():
        module = import_module(f"mbauc.paper.studies.{experiment.module}")
        assert callable(module.reproduce)
        assert experiment.draws == any("new_figure" in line or "_plot" in line for line in dir(module))


def test_a_file_in_place_of_the_folder_is_named(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert main(["reproduce", "figure1", "--out", str(tmp_path / "taken")]) == 1
    assert "--out must name a folder" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [">&-", "| true"])
def test_nobody_has_to_listen(tmp_path, ending):
    command = f"{sys.executable} -m mbauc reproduce figure1 --out {tmp_path} {ending}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_figure1_is_drawn(tmp_path, capsys):
    assert main(["reproduce", "figure1", "--out", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "figure1.svg").exists()


@pytest.mark.parametrize("arguments", [["table9"], ["table2", "--jobs", "0"], ["table2", "--seed", "-1"], []])
def test_bad_arguments_are_usage_errors(arguments, capsys):
    with pytest.raises(SystemExit) as done:
        main(["reproduce", *arguments])
    assert done.value.code == 2
    assert "usage: mbauc reproduce" in capsys.readouterr().err
