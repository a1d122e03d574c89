"""What killed processes leave behind is removed, and nothing else is."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from argparse import Namespace

import pytest

from mbauc.cli.data_files import files
from mbauc.cli.main import main
from mbauc.errors import CheckpointError
from mbauc.store.atomic import atomic_write
from mbauc.store.checkpoint import Checkpoint
from mbauc.store.lock import FolderLock, remove_leftovers

KILLED = """
import os, signal, sys
from mbauc.store.atomic import atomic_write
with atomic_write(sys.argv[1]) as stream:
    stream.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
FORKED = """
import os, signal, sys, time
from pathlib import Path
from mbauc.store.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]), "x.lock")
if os.fork() == 0:
    sys.stdout.write(f"{os.getpid()}\\n")
    sys.stdout.flush()
    time.sleep(60)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def parts(folder):
    return [path.name for path in folder.glob(".mbauc-*")]


def test_the_half_written_file_of_a_killed_process_goes_with_the_next_one(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "scores.csv"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(parts(tmp_path)) == 1
    with atomic_write(tmp_path / "other.csv") as stream:
        assert len(parts(tmp_path)) == 1
        stream.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


def test_a_checkpoint_leaves_alone_what_others_are_writing(tmp_path):
    with atomic_write(tmp_path / "scores.csv") as stream:
        stream.write(b"whole")
        Checkpoint(tmp_path, {}).close()
    assert (tmp_path / "scores.csv").read_bytes() == b"whole"


def test_permissions_are_there_from_the_beginning(tmp_path):
    secret = tmp_path / "model.mbauc"
    secret.touch(mode=0o600)
    with atomic_write(secret):
        (part,) = parts(tmp_path)
        assert stat.S_IMODE((tmp_path / part).stat().st_mode) == 0o600
    secret.chmod(0o666)
    with atomic_write(secret):
        pass
    assert stat.S_IMODE(secret.stat().st_mode) == 0o666


def test_a_full_disk_names_the_file(tmp_path):
    with (
        pytest.raises(OSError, match=r"\(No space left on device\): nothing is left of it\. .*scores\.csv"),
        atomic_write(tmp_path / "scores.csv"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())


def test_links_in_a_circle_are_refused_before_anything_is_done(tmp_path, capsys):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert main(["fit", "nowhere.csv", "--label", "y", "-o", str(tmp_path / "a"), "--force"]) == 2
    assert "levels of symbolic links; name another file." in capsys.readouterr().err
    with pytest.raises(OSError, match="symbolic links"), atomic_write(tmp_path / "a"):
        pass


def test_a_child_does_not_keep_the_folder_of_its_dead_parent(tmp_path):
    with subprocess.Popen([sys.executable, "-c", FORKED, tmp_path], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        parent.wait()
        try:
            FolderLock(tmp_path, "x.lock").release()
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_dead_process_is_not_named(tmp_path):
    lock = FolderLock(tmp_path, "x.lock")
    with pytest.raises(CheckpointError, match=rf"in use by another call \(process {os.getpid()}\)\."):
        FolderLock(tmp_path, "x.lock")
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    (tmp_path / "x.lock").write_text(str(ended.pid))
    with pytest.raises(CheckpointError, match=r"in use by another call\. Wait"):
        FolderLock(tmp_path, "x.lock")
    lock.release()


def test_files_of_other_users_and_links_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "x.link").symlink_to(tmp_path / "precious")
    (tmp_path / "x.file").touch()
    remove_leftovers(tmp_path, "x.link")
    assert (tmp_path / "x.link").is_symlink()
    with monkeypatch.context() as patched:
        patched.setattr("os.geteuid", lambda: os.getuid() + 1)
        remove_leftovers(tmp_path, "x.*")
    assert (tmp_path / "x.file").exists()
    remove_leftovers(tmp_path, "x.*")
    assert not (tmp_path / "x.file").exists()
    assert (tmp_path / "precious").read_text() == "mine"


def test_copies_of_standard_input_that_nobody_reads_any_more_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("mbauc-stdin-old", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stdin.csv").touch()
    with (tmp_path / "rows.csv").open("wb") as rows:
        rows.write(b"y,a\n1,2\n")
    with (tmp_path / "rows.csv").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with files(Namespace(data=["-"], format="auto")) as held:
            assert sorted(path.name for path in tmp_path.glob("m*")) == [
                os.path.basename(os.path.dirname(held[0])),
                "mine",
            ]
            with files(Namespace(data=[str(tmp_path / "rows.csv")], format="auto")):
                assert os.path.exists(held[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "rows.csv"]


@pytest.fixture
def plain_hang_up():
    """A suite under nohup would hand on to the processes it starts that the signal is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.slow
@pytest.mark.usefixtures("plain_hang_up")
def test_a_lost_terminal_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-m", "mbauc", "fit", "-", "--label", "y", "-o", str(tmp_path / "m.mbauc")]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        patience = time.monotonic() + 60
        while not list(tmp_path.glob("*/stdin.csv")) and time.monotonic() < patience:
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 128 + signal.SIGHUP
    assert not list(tmp_path.iterdir())
