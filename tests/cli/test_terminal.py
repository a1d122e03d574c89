"""Exit codes, messages, and what is left behind when a command is stopped."""

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mbauc.cli import COMMANDS
from mbauc.cli.main import main
from mbauc.runtime import progress

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(2000)
    y = rng.random(2000) < 1 / (1 + np.exp(1 - x))
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n" + "".join(f"{int(label)},{value:.3f}\n" for label, value in zip(y, x, strict=True)))
    return path


def fit(rows, model, *more):
    return main(["fit", str(rows), "--label", "y", "-o", str(model), *more])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert f"mbauc {command}" in shown.split("example", 1)[1]


def test_help_waits_for_nothing_heavy():
    code = (
        "import sys; from mbauc.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_command_that_ends_looks_for_nothing_to_free():
    code = (
        "import atexit, gc, sys; sys.argv = ['mbauc', '--help'];"
        "atexit.register(lambda: sys.stderr.write(str(gc.get_freeze_count() > 0)));"  # the last to be called
        "from mbauc.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "True"


def test_usage_is_2_and_data_that_says_no_is_1(rows, tmp_path, capsys):
    model = tmp_path / "m.mbauc"
    assert main(["fit", str(rows), "-o", str(model)]) == 2
    assert "--label" in capsys.readouterr().err
    assert main(["fit", str(rows), "--label", "z", "-o", str(model)]) == 1
    one = tmp_path / "one.csv"
    one.write_text("y,x\n1,2\n1,3\n")
    assert fit(one, model) == 1
    told = capsys.readouterr().err
    assert told.count("\n") <= 2
    assert "Traceback" not in told
    assert main(["evaluate", str(rows), str(rows)]) == 1
    assert "not an mbauc model" in capsys.readouterr().err
    assert not model.exists()
    assert fit(rows, model, "--memory", "2GB", "--cv") == 2
    assert "--memory cannot be combined with --cv" in capsys.readouterr().err
    for words in (
        ["fit"],
        ["nonsense"],
        ["fit", "a.csv", "-o", "b", "--hash-dim", "x"],
        ["fit", "a.csv", "-o", "b", "--memory", "64"],
        ["fit", "a.csv", "-o", "b", "--memory", "lots"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 2


def test_debug_shows_where_an_error_comes_from(rows, tmp_path):
    with pytest.raises(ValueError, match="there is no column for label 'z'"):
        main(["fit", str(rows), "--label", "z", "-o", str(tmp_path / "m.mbauc"), "--debug"])


def test_existing_outputs_are_kept_unless_forced(rows, tmp_path, capsys):
    model = tmp_path / "m.mbauc"
    model.write_text("precious")
    assert fit(rows, model) == 2
    assert "--force" in capsys.readouterr().err
    assert model.read_text() == "precious"
    assert fit(rows, model, "--force") == 0
    assert model.read_bytes().startswith(b"\x89MBAUC")
    assert main(["score", str(model), str(rows), "-o", str(model)]) == 2
    assert main(["fit", str(rows), "--label", "y", "-o", str(tmp_path)]) == 2
    assert main(["fit", str(rows), "--label", "y", "-o", str(tmp_path / "no" / "m.mbauc")]) == 2


def test_a_full_disk_leaves_the_old_file_and_no_other(rows, tmp_path, capsys, monkeypatch):
    model = tmp_path / "m.mbauc"
    assert fit(rows, model) == 0
    before = model.read_bytes()

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert fit(rows, model, "--force") == 1
    assert "No space left" in capsys.readouterr().err
    assert model.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mbauc", "rows.csv"]


def test_json_is_one_object_and_nothing_else(rows, tmp_path, capsys):
    model = tmp_path / "m.mbauc"
    for words in (
        ["fit", rows, "--label", "y", "-o", model],
        ["inspect", model],
        ["evaluate", model, rows],
        ["threshold", model, rows, "--false-alarm", "0.2", "--on-training-rows"],
        ["score", model, rows, "-o", tmp_path / "s.csv"],
    ):
        assert main([*map(str, words), "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), dict)


def started(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "mbauc", *map(str, words)], stderr=subprocess.PIPE, **options
    )


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(rows, tmp_path):
    model = tmp_path / "m.mbauc"
    assert fit(rows, model) == 0
    many = tmp_path / "many.csv"
    head, *body = rows.read_text().splitlines(keepends=True)
    many.write_text(head + "".join(body) * 100)
    process = started("score", model, many, "-o", "-", stdout=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    told = process.stderr.read().decode()
    assert process.wait(60) in (0, 141)
    assert "Traceback" not in told
    assert "rror" not in told


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_commands_leave_nothing_half_written(rows, tmp_path, number, code):
    model = tmp_path / "m.mbauc"
    assert fit(rows, model) == 0
    pipe = tmp_path / "endless.csv"
    os.mkfifo(pipe)
    scores = tmp_path / "scores.csv"
    process = started("score", model, "-", "-o", scores, stdin=subprocess.PIPE)
    process.stdin.write(rows.read_bytes())
    process.stdin.flush()
    time.sleep(0.3)
    for _ in range(600):  # until it reads: imports are behind it then
        if process.poll() is not None or _reads(process.pid):
            break
        time.sleep(0.1)
    process.send_signal(number)
    told = process.stderr.read().decode()
    assert process.wait(60) == code, told
    assert "no incomplete file was written" in told
    assert "Traceback" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.csv", "m.mbauc", "rows.csv"]


def _reads(pid):
    """Whether a process waits for standard input."""
    try:
        with open(f"/proc/{pid}/wchan") as stream:
            return "pipe" in stream.read()
    except OSError:
        return False


def test_a_fit_says_on_a_terminal_what_it_is_doing(rows, tmp_path, monkeypatch):
    """All that may take more than two seconds, together or alone, is waited for in words."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    waited, before = [], progress._line.wait

    def wait(*words, **more):
        found = before(*words, **more)
        waited.append(progress._line._words() + "/" + words[0])
        return found

    monkeypatch.setattr(progress._line, "wait", wait)
    assert fit(rows, tmp_path / "quiet.mbauc", "--json") == 0
    assert fit(rows, tmp_path / "unseen.mbauc") == 0
    assert waited == []
    monkeypatch.setattr("sys.stderr", Terminal())
    assert fit(rows, tmp_path / "m.mbauc") == 0
    for stage in ("test/sampling rows", "test/choosing features", "test/scoring", "test/logistic regression"):
        assert stage in waited
    for stage in ("fit/sampling rows", "fit/choosing features", "/looking at columns"):
        assert stage in waited


@pytest.mark.slow
def test_a_fit_of_some_seconds_shows_them(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 12))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.logistic(size=len(X)) > 2
    path = tmp_path / "many.csv"
    table = np.column_stack([y, X])
    np.savetxt(path, table, "%.4f", ",", header=",".join("yabcdefghijkl"), comments="")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mbauc", "fit", path, "--label", "y", "-o", tmp_path / "m.mbauc"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 10_000):
            shown += more
    except OSError:  # the process has ended
        pass
    os.close(ours)
    assert process.wait(60) == 0
    assert "choosing features: " in shown.decode()
    assert shown.decode().rpartition("\r")[2] == ""


def test_completion_knows_commands_and_options(capsys):
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    shown = capsys.readouterr().out
    assert "evaluate" in shown
    assert "--false-alarm" in shown
    assert main(["completion", "zsh"]) == 0
    assert "_files" in capsys.readouterr().out


def test_ctrl_c_while_loading_ends_quietly():
    code = """
import sys
class Interrupted:
    def find_spec(name, *rest):
        if name == "mbauc.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted)
import runpy
runpy.run_module("mbauc", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "\nmbauc: interrupted.\n"
