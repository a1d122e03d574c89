import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from readers import make_libsvm, make_table

#: What became of commands that were hit, for the summary at the end.
FIGURES: dict[str, dict[str, float]] = {}


def pytest_addoption(parser):
    with contextlib.suppress(ValueError):  # known already
        parser.addoption("--moments", type=int, default=50, help="moments at which each command is hit")


def pytest_terminal_summary(terminalreporter):
    if FIGURES:
        terminalreporter.section("commands that were hit")
        for name, figures in FIGURES.items():
            terminalreporter.write_line(f"{name:20} {json.dumps(figures)}")


class Runner:
    """A process that runs commands and hits them; see runner.py."""

    def __init__(self):
        path = Path(__file__).with_name("runner.py")
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, str(path)], stdin=pipe, stdout=pipe, text=True)
        assert json.loads(self._process.stdout.readline())["ready"]

    def run(self, folder, words, number=None, after=None, warm=False):
        """Run a command in a folder, and hit it with a signal after some seconds: its status and its time."""
        request = {
            "folder": str(folder),
            "words": [str(word) for word in words],
            "signal": number,
            "after": after,
            "warm": warm,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return found["status"], found["seconds"]

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


@pytest.fixture(scope="session")
def figures():
    return FIGURES


@pytest.fixture(scope="session")
def runner():
    runner = Runner()
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def inputs(tmp_path_factory, runner):
    """Data and models that the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    make_table(folder / "t.csv", rows=3000)
    make_table(folder / "more.csv", seed=1, rows=3000)
    make_libsvm(folder / "t.libsvm", rows=3000, columns=300)
    german = make_libsvm(folder / "german.numer", rows=80, columns=24).read_text()
    (folder / "german.numer").write_text(german.replace("\n0 ", "\n-1 ").removeprefix("0 "))
    for words in (
        "fit t.csv --label click --hash-dim 50 --jobs 1 -o m.mbauc",
        "fit more.csv --like m.mbauc --jobs 1 -o w.mbauc",
    ):
        status, _ = runner.run(folder, words.split())
        assert status == 0, (folder / "told.txt").read_text()
    return folder
