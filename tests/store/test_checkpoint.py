import errno
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forged_files as forged
from mbauc.errors import CheckpointError, DiskFullError
from mbauc.solvers import MatrixOperator, Penalty
from mbauc.solvers.matrix_free.ridge import solve_ridge_matrix_free
from mbauc.store import checkpoint as module
from mbauc.store.checkpoint import Checkpoint, interruptible

IDENTITY = {"l2": 1.0, "shards": 2, "files": [{"name": "a", "bytes": 5}]}
STATE = {"basis": np.arange(12.0).reshape(3, 4), "stage": np.str_("second choice"), "iterations": np.int64(7)}


def saved(folder, state=STATE):
    with Checkpoint(folder, IDENTITY) as checkpoint:
        checkpoint.save("solver", state)
    return folder / "solver.state"


def load(folder, identity=IDENTITY):
    with Checkpoint(folder, identity) as checkpoint:
        return checkpoint.load("solver")


def test_what_was_saved_is_loaded(tmp_path):
    saved(tmp_path / "new" / "folder")
    found = load(tmp_path / "new" / "folder")
    assert list(found) == list(STATE)
    for name, array in STATE.items():
        np.testing.assert_array_equal(found[name], array)
    assert str(found["stage"]) == "second choice"
    assert all(array.flags.writeable for array in found.values())
    assert load(tmp_path / "other") is None


def test_views_are_saved_as_they_are_now(tmp_path):
    buffer = np.arange(25.0).reshape(5, 5)
    with Checkpoint(tmp_path, IDENTITY) as checkpoint:
        checkpoint.save("solver", {"gram": buffer[:2, :2], "turned": buffer.T})
        buffer[:] = 0.0
        np.testing.assert_array_equal(checkpoint.load("solver")["gram"], [[0, 1], [5, 6]])
        assert checkpoint.load("solver")["turned"][0, 1] == 5.0


def test_other_settings_are_named(tmp_path):
    saved(tmp_path)
    other = IDENTITY | {"l2": 2.0, "files": [{"name": "a", "bytes": 6}], "new": None}
    apart = r"files\.0\.bytes was 5, now 6; l2 was 1\.0, now 2\.0; new was absent, now None"
    with pytest.raises(CheckpointError, match=rf"\({apart}\)\. Delete the folder"):
        Checkpoint(tmp_path, other)
    assert load(tmp_path) is not None  # and the lock was let go


def test_a_state_from_another_folder_or_under_another_name_is_refused(tmp_path):
    with Checkpoint(tmp_path / "other", {"l2": 3.0}) as checkpoint:
        checkpoint.save("solver", STATE)
    path = saved(tmp_path / "own")
    path.rename(path.with_name("moments.state"))
    with Checkpoint(tmp_path / "own", IDENTITY) as checkpoint:
        with pytest.raises(CheckpointError, match="holds the state 'solver'"):
            checkpoint.load("moments")
        path.write_bytes((tmp_path / "other" / "solver.state").read_bytes())
        with pytest.raises(
            CheckpointError, match=r"l2 was 3\.0, now 1\.0.*Delete that file, or choose another folder"
        ):
            checkpoint.load("solver")


@pytest.mark.parametrize("name", ["solver.state", "identity.state"])
@given(data=st.data())
def test_a_flipped_bit_anywhere_is_an_error(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("flipped")
    saved(folder)
    content = bytearray((folder / name).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"{name}.*elete (the folder|that file)"):
        load(folder)


def test_other_versions_and_other_files_are_refused(tmp_path):
    path = saved(tmp_path)
    whole = path.read_bytes()
    for content, message in (
        (forged.seal(whole[24:], version=3), "format version 3, this mbauc reads version 2"),
        (forged.seal(whole[24:], version=1), r"before 0\.1\.0.*Delete that file, or choose another folder"),
        (b"MBAUCKPT" + bytes(50), r"written by a version before 0\.1\.0\. Delete that file, or choose another"),
        (b"something else altogether", "is not an mbauc state of a checkpoint"),
        (whole[:-1], r"solver\.state was cut short.*Delete that file, or choose another folder"),
    ):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=message):
            load(tmp_path)


def test_what_is_no_folder_to_write_to_is_said_with_the_name_of_the_argument(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"checkpoint='.*file' is a file; name a folder"):
        Checkpoint(tmp_path / "file", {})
    with pytest.raises(CheckpointError, match=r"checkpoint='.*inner' cannot be used \(.+\); name a folder"):
        Checkpoint(tmp_path / "file" / "inner", {})
    for wrong in ("", 5):
        with pytest.raises(ValueError, match=f"checkpoint must be the path of a folder, got {wrong!r}"):
            Checkpoint(wrong, {})

    def forbidden(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(module, "FolderLock", forbidden)
    with pytest.raises(CheckpointError, match=r"checkpoint='.*' cannot be used \(Permission denied\)"):
        Checkpoint(tmp_path, {})


def test_a_folder_that_can_be_locked_but_not_written_to_names_the_argument(tmp_path, monkeypatch):
    def forbidden(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("mbauc.store.container.atomic_write", forbidden)
    with pytest.raises(CheckpointError, match=r"checkpoint='.*' cannot be used \(Permission denied\)"):
        Checkpoint(tmp_path, {})


def test_a_checksum_that_fits_does_not_make_nonsense_a_state(tmp_path):
    path = saved(tmp_path)
    for about in ({}, {"name": "solver"}, {"name": 7, "identity": IDENTITY}):
        path.write_bytes(forged.seal(forged.make_body({"kind": "state of a checkpoint", "about": about}, {})))
        with pytest.raises(CheckpointError, match=r"holds no state of a checkpoint.*the note"):
            load(tmp_path)


def test_a_full_disk_keeps_the_state_before(tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()
    with Checkpoint(tmp_path, IDENTITY) as checkpoint:

        def full(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DiskFullError, match=r"No space left.*resumes from there") as caught:
            checkpoint.save("solver", {})
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".mbauc*"))


def test_what_a_killed_save_has_left_is_cleared(tmp_path):
    saved(tmp_path)
    (tmp_path / ".mbauc-0123456789abcdef.part").write_bytes(b"half")
    load(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint.lock", "identity.state", "solver.state"]


# -- one at a time -------------------------------------------------------------------------------------------

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="no flock on this system")


@needs_locks
def test_a_folder_has_one_user_at_a_time(tmp_path):
    program = (
        "import sys, time; from mbauc.store.checkpoint import Checkpoint\n"
        "held = Checkpoint(sys.argv[1], {}); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(CheckpointError, match=rf"in use by another call \(process {other.pid}\)"):
                Checkpoint(tmp_path, {})
        finally:
            other.kill()
    Checkpoint(tmp_path, {}).close()  # a killed process holds nothing
    with Checkpoint(tmp_path, {}), pytest.raises(CheckpointError, match=f"process {os.getpid()}"):
        Checkpoint(tmp_path, {})


# -- when to save --------------------------------------------------------------------------------------------


def test_offers_are_saved_when_it_is_time(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    with Checkpoint(tmp_path, IDENTITY, interval=30) as checkpoint:
        saves = []

        def slow_save(name, arrays, save=checkpoint.save):
            save(name, arrays)
            saves.append(clock[0])

        checkpoint.save = slow_save
        for _ in range(100):
            clock[0] += 1.0
            checkpoint.offer("solver", STATE)
        assert saves == [1030.0, 1060.0, 1090.0]
        checkpoint.pace._cost = 5.0  # of a slow disk: not more than one part in twenty of the time
        clock[0] = 1189.0
        assert not checkpoint.pace.is_due()
        clock[0] = 1190.0
        assert checkpoint.pace.is_due()


def test_an_interval_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(ValueError, match="interval must be a finite number at least 0"):
        Checkpoint(tmp_path, {}, interval=-1)


# -- Ctrl-C --------------------------------------------------------------------------------------------------


def problem(d=40):
    rng = np.random.default_rng(0)
    half = rng.standard_normal((60, d)) * np.logspace(0, -2, d)
    return MatrixOperator(half.T @ half / 60, rng.standard_normal(d) / 10), Penalty(0.0, 1e-5, np.ones(d))


def test_ctrl_c_saves_the_next_state_and_says_how_to_resume(tmp_path, capsys):
    products, penalty = problem()
    wanted = solve_ridge_matrix_free(products, penalty, tol=1e-12)
    assert wanted.iterations > 20  # so that directions have been thrown away on the way

    def solve(stop_at):
        def watch(state, iteration, *_):
            # the signal comes in the middle of the computation that follows
            checkpoint.offer("ridge", state)
            if iteration == stop_at:
                signal.raise_signal(signal.SIGINT)

        with Checkpoint(tmp_path, IDENTITY, interval=1e9) as checkpoint, interruptible(checkpoint):
            resume = checkpoint.load("ridge")
            return solve_ridge_matrix_free(products, penalty, tol=1e-12, resume=resume, watch=watch)

    for stop_at in (3, 15, 17, 19):
        with pytest.raises(KeyboardInterrupt) as stopped:
            solve(stop_at)
        assert "Ctrl-C again stops at once" in capsys.readouterr().err
        way = f"interrupted; the same call with checkpoint={str(tmp_path)!r} resumes from here"
        assert str(stopped.value) == way
        with Checkpoint(tmp_path, IDENTITY) as checkpoint:
            assert checkpoint.load("ridge")["iterations"] == stop_at + 1
    found = solve(None)
    assert found.iterations == wanted.iterations
    np.testing.assert_array_equal(found.coef, wanted.coef)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("offers", "signals", "reached"), [(0, 1, 0), (1, 2, 1), (1, 1, 1), (2, 0, 0)])
def test_when_ctrl_c_takes_effect(tmp_path, offers, signals, reached):
    """At once before any offer and the second time; else at the end, if nothing more is offered."""
    passed = []

    def work():
        with interruptible(checkpoint):
            for _ in range(offers):
                checkpoint.offer("solver", STATE)
            for _ in range(signals):
                signal.raise_signal(signal.SIGINT)
                passed.append(1)

    with Checkpoint(tmp_path, IDENTITY, interval=1e9) as checkpoint:
        if signals:
            with pytest.raises(KeyboardInterrupt) as stopped:
                work()
            # there is nothing to go on from
            again = f"the same call with checkpoint={str(tmp_path)!r} starts again"
            assert str(stopped.value) == f"interrupted before anything was saved; {again}"
        else:
            work()
        assert len(passed) == reached
        assert checkpoint.load("solver") is None
        with interruptible(checkpoint):  # nothing is left over of it
            checkpoint.offer("solver", STATE)


@pytest.mark.parametrize("kept", ["solver.state", "rows.cache.partial"])
def test_what_an_earlier_run_has_left_is_resumed(tmp_path, kept):
    saved(tmp_path).rename(tmp_path / kept)
    with Checkpoint(tmp_path, IDENTITY) as checkpoint:
        checkpoint.save(module.DECISIONS, {})
        with pytest.raises(KeyboardInterrupt, match="resumes from here"), interruptible(checkpoint):
            signal.raise_signal(signal.SIGINT)


def test_what_was_decided_is_no_progress(tmp_path):
    with Checkpoint(tmp_path, IDENTITY) as checkpoint:
        checkpoint.save(module.DECISIONS, {})
        with pytest.raises(KeyboardInterrupt, match="starts again"), interruptible(checkpoint):
            signal.raise_signal(signal.SIGINT)


def test_other_threads_and_other_handlers_are_left_alone(tmp_path):
    with Checkpoint(tmp_path, IDENTITY) as checkpoint:
        failures = []

        def work():
            try:
                with interruptible(checkpoint):
                    pass
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert failures == []
        heard = []
        before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
        try:
            with interruptible(checkpoint):
                checkpoint.offer("solver", STATE)
                signal.raise_signal(signal.SIGINT)
            assert heard == [1]
        finally:
            signal.signal(signal.SIGINT, before)
    with interruptible(None):
        pass
