"""Who is told that loops are being compiled, and when."""

import sys
import time
from types import SimpleNamespace

from test_progress import Terminal

from mbauc.runtime.compiling_note import CompilingNote

SAID = "compiling for this machine, once; this takes some seconds\n"


def on_terminal(monkeypatch):
    """A terminal as standard error; not as a fixture, whose setting pytest would undo before the test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def loop(module="mbauc.metrics.kernels"):
    """What numba says of a loop that is being compiled."""
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


def compile_for(note, seconds, module="mbauc.metrics.kernels"):
    note.on_start(loop(module))
    time.sleep(seconds)
    note.on_end(loop(module))


def wait_for(terminal):
    start = time.monotonic()
    while not terminal.getvalue() and time.monotonic() - start < 30:
        time.sleep(0.01)
    return terminal.getvalue()


def test_it_is_said_while_a_loop_is_compiled_and_once(monkeypatch):
    terminal = on_terminal(monkeypatch)
    note = CompilingNote(patience=0.01)
    note.on_start(loop())
    note.on_start(loop())  # one that the first one calls
    assert wait_for(terminal) == SAID
    note.on_end(loop())
    note.on_end(loop())
    compile_for(note, 0.05)
    assert terminal.getvalue() == SAID


def test_many_short_waits_are_a_long_one(monkeypatch):
    terminal = on_terminal(monkeypatch)
    note = CompilingNote(patience=0.2)
    for _ in range(3):
        compile_for(note, 0.1)
    note.on_start(loop())
    assert wait_for(terminal) == SAID
    note.on_end(loop())


def test_nothing_is_said_of_a_short_wait(monkeypatch):
    terminal = on_terminal(monkeypatch)
    note = CompilingNote(patience=60.0)
    note.on_start(loop())
    compile_for(note, 0.0)
    note.on_end(loop())
    assert not note._timer
    assert terminal.getvalue() == ""


def test_loops_of_others_are_theirs(monkeypatch):
    terminal = on_terminal(monkeypatch)
    note = CompilingNote(patience=0.0)
    compile_for(note, 0.05, module="numba.np.arrayobj")
    assert terminal.getvalue() == ""
