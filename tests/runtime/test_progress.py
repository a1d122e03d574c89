import io
import sys
import threading
import time

import pytest

from mbauc.runtime.progress import clear_line, progress, show_line, show_wait, silent

pytest.importorskip("tqdm", reason="tqdm is an optional dependency")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def counted(monkeypatch, stream, show=True, note="AUC ≈ 0.781"):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(1000, "sweeps", show=show, delay=0.0) as advance:
        for _ in range(10):
            advance.note(note)
            advance(100)
        advance._bar.refresh() if advance is not silent else None
    return stream.getvalue()


def test_a_terminal_sees_rates_and_notes(monkeypatch):
    shown = counted(monkeypatch, Terminal())
    assert "sweeps" in shown
    assert "row/s" in shown
    assert "AUC ≈ 0.781" in shown


@pytest.mark.parametrize(("stream", "show"), [(io.StringIO, True), (Terminal, False)])
def test_nobody_else_sees_anything(monkeypatch, stream, show):
    assert counted(monkeypatch, stream(), show) == ""


def test_a_note_alone_brings_up_no_bar(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(10, "sweeps", delay=1e9) as advance:
        advance.note("AUC")
        advance(1)
    assert "AUC" not in stream.getvalue()


def test_threads_may_share_a_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress(40_000, "sweeps", delay=1e9) as advance:
        threads = [threading.Thread(target=lambda: [advance(1) for _ in range(10_000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert advance._bar.n == 40_000


def test_silence_takes_the_same_calls():
    assert silent(5) is None
    assert silent.note("AUC") is None


@pytest.mark.parametrize("bars", [True, False])
def test_a_line_stays_above_the_bars(monkeypatch, bars):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    if not bars:
        monkeypatch.delitem(sys.modules, "tqdm")
    with progress(10, "sweeps", delay=0.0) if bars else show_wait("solving"):
        show_line("compiling")
    assert "compiling\n" in terminal.getvalue()


def test_nobody_else_is_shown_a_line(monkeypatch):
    for stream in (None, io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        show_line("compiling")
    assert stream.getvalue() == ""


@pytest.mark.parametrize(("kind", "show"), [(Terminal, False), (io.StringIO, True)])
def test_nobody_else_is_told_of_waiting(monkeypatch, kind, show):
    stream = kind()
    monkeypatch.setattr("sys.stderr", stream)
    with show_wait("solving", show=show, delay=0.0):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_a_terminal_is_told_what_it_waits_for_and_is_left_clean(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with show_wait("solving", delay=0.001):
        while "solving: 0 s" not in terminal.getvalue():
            time.sleep(0.01)
    *_, last = terminal.getvalue().split("\r")[:-1]
    assert last == " " * len("solving: 0 s")
    short = Terminal()
    monkeypatch.setattr("sys.stderr", short)
    with show_wait("solving", delay=60.0):
        pass
    assert short.getvalue() == ""


def until(said, terminal, start=0):
    for _ in range(1000):
        if said in terminal.getvalue()[start:]:
            return
        time.sleep(0.01)
    pytest.fail(f"{said!r} is not in {terminal.getvalue()[start:]!r}")


def test_short_waits_within_a_long_one_are_shown(monkeypatch):
    """The clock is that of the outermost, which needs no words of its own."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with show_wait("", delay=0.2):
        with show_wait("test", delay=60.0), show_wait("choosing features", delay=60.0):
            until("\rtest: choosing features: ", terminal)
        with show_wait("fit", delay=60.0), show_wait("solving", delay=60.0):
            until("\rfit: solving: ", terminal)
    assert terminal.getvalue().rpartition("\r")[2] == ""
    assert terminal.getvalue().split("\r")[-2].isspace()


def test_a_bar_within_a_wait_has_its_words_and_the_line_to_itself(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with show_wait("test", delay=0.0):
        until("test: 0 s", terminal)
        with progress(1000, "reading rows") as advance:
            for _ in range(200):
                advance(1)
                time.sleep(0.006)
            during = terminal.getvalue()
        until("\rtest: ", terminal, len(during))
    assert "test: reading rows: " in during
    assert "test: 1 s" not in during


def test_without_bars_there_are_waits(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with progress(10, "reading rows", delay=0.0) as advance:
        advance(1)
        until("reading rows: 0 s", terminal)


def test_others_write_where_the_line_was(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with show_wait("solving", delay=0.0):
        until("solving: 0 s", terminal)
        clear_line()
        terminal.write("note")
    assert terminal.getvalue() == f"\rsolving: 0 s\r{' ' * len('solving: 0 s')}\rnote"


def test_a_line_is_no_wider_than_the_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    with show_wait("choosing " * 20, delay=0.0):
        until("choosing choosing", terminal)
    assert max(map(len, terminal.getvalue().split("\r"))) == 39
