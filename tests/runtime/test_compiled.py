"""Where compiled code is kept, and who is told."""

import os
import pty
import stat
import subprocess
import sys

import pytest
from numba import config

pytestmark = pytest.mark.slow

LOOPS = """
import warnings
import numpy as np
from mbauc.metrics import kernels
room = np.empty(3), np.empty(3)
assert kernels.split(np.array([1.0, 2.0]), np.array([True, False]), *room) == 0
"""


def run(tmp_path, **environment):
    """Call a compiled loop in a process of its own; what it wrote to standard error."""
    environment = {"TMPDIR": str(tmp_path)} | environment
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", LOOPS], env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.skipif(not hasattr(config, "CACHE_LOCATOR_CLASSES"), reason="numba cannot be told where to look")
@pytest.mark.parametrize("mine", [True, False])
def test_nowhere_to_write(tmp_path, mine):
    folder = tmp_path / f"mbauc-numba-{os.getuid()}"
    if not mine:  # anybody could have put code there
        folder.mkdir()
        folder.chmod(0o777)
    # what is left to numba if neither the installation nor the home folder can be written to
    said = run(tmp_path, NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator")
    assert said.count("MbaucWarning: compiled code cannot be cached") == 1
    assert "Set NUMBA_CACHE_DIR" in said
    kept = list(folder.rglob("*.nbc"))
    if mine:
        assert f"it is kept in {folder}." in said
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert kept
    else:
        assert "each process compiles it again." in said
        assert not kept


def test_the_first_compilation_is_announced_on_a_terminal(tmp_path):
    at_once = "from mbauc.runtime import compiling_note; compiling_note.PATIENCE = 0.0" + LOOPS

    def on_terminal():
        ours, theirs = pty.openpty()
        kept = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, "-c", at_once], env=kept, stderr=theirs, check=False)
        os.close(theirs)
        assert done.returncode == 0
        try:
            return os.read(ours, 10_000).decode()
        except OSError:  # nothing was written, and nobody can any more
            return ""
        finally:
            os.close(ours)

    assert on_terminal().strip() == "compiling for this machine, once; this takes some seconds"
    assert on_terminal() == ""


def test_nothing_is_announced_elsewhere(tmp_path):
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == ""
