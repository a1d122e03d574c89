"""Commands on full disks, in read-only folders, beside others of their kind, and with names of any bytes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_kills import COMMANDS, contents, outputs

from mbauc.model import load_model
from mbauc.store.atomic import atomic_write
from mbauc.store.checkpoint import Checkpoint

pytestmark = pytest.mark.faults

NAMES = {"spaces": b"a b  c", "lines": b"a\nb", "latin": b"caf\xe9", "escapes": b"\x1b[31mred"}
WRITERS = [name for name, (_, kept) in COMMANDS.items() if not kept]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 16 megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], capture_output=True)
    if done.returncode:
        pytest.skip("mounting a small disk takes the rights of root")
    yield place
    subprocess.run(["umount", place], check=True)


def at(words, place):
    """The words of a command that writes to another folder."""
    *rest, target = words.split()
    return [*rest, place / target], place / target


def told(folder):
    return (folder / "told.txt").read_text(errors="backslashreplace")


def mbauc(*words, **options):
    """A process of its own."""
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-m", "mbauc", *words], **piped)


# -- disks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_keeps_what_was_there(runner, inputs, tmp_path, small_disk, name):
    words, target = at(COMMANDS[name][0], small_disk)
    folder = shutil.copytree(inputs, tmp_path / "work")
    target.write_bytes(b"old")
    filler = small_disk / "filler"
    with open(filler, "wb") as stream:
        while (free := os.statvfs(small_disk).f_bavail) > 1:
            stream.write(bytes((free - 1) * os.statvfs(small_disk).f_bsize))
            stream.flush()
    status, _ = runner.run(folder, [*words, "--force"])
    assert sorted(path.name for path in small_disk.iterdir()) == ["filler", target.name]
    if status != 0:  # some outputs are so small that they fit
        assert status == 1
        assert target.read_bytes() == b"old"
        assert str(target) in told(folder)
        assert "No space left" in told(folder)
        assert "internal error" not in told(folder)
    filler.unlink()
    assert runner.run(folder, [*words, "--force"])[0] == 0
    assert runner.run(folder, COMMANDS[name][0].split())[0] == 0
    assert target.read_bytes() == (folder / target.name).read_bytes()


def test_a_checkpoint_on_a_full_disk_is_gone_on_from(runner, inputs, tmp_path, small_disk):
    folder = shutil.copytree(inputs, tmp_path / "work")
    words = COMMANDS["fit --checkpoint"][0].split()
    there = [small_disk / "kept" if word == "kept" else word for word in words]
    filler = small_disk / "filler"
    filler.write_bytes(bytes(os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize - 100_000))
    status, _ = runner.run(folder, there)
    assert status == 1
    assert "No space left" in told(folder)
    assert "make room" in told(folder).lower()
    assert not (folder / "new.mbauc").exists()
    filler.unlink()
    assert runner.run(folder, there)[0] == 0
    found = (folder / "new.mbauc").read_bytes()
    (folder / "new.mbauc").unlink()
    assert runner.run(folder, words)[0] == 0
    assert (folder / "new.mbauc").read_bytes() == found


@pytest.mark.parametrize("name", [*WRITERS, "fit --checkpoint", "reproduce --quick"])
def test_a_read_only_folder_is_told_before_or_after_but_never_as_a_bug(
    runner,
    inputs,
    tmp_path,
    small_disk,
    name,
):
    folder = shutil.copytree(inputs, tmp_path / "work")
    words, _ = at(COMMANDS[name][0], small_disk)
    words = [small_disk / "kept" if word == "kept" else word for word in words]
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    status, _ = runner.run(folder, words)
    assert status in (1, 2)
    assert str(small_disk) in told(folder)
    assert "internal error" not in told(folder)
    assert "Traceback" not in told(folder)
    assert list(small_disk.iterdir()) == []


def test_an_installation_and_a_home_that_cannot_be_written_to(inputs, tmp_path):
    package = Path(sys.modules["mbauc"].__file__).parent
    place = tmp_path / "installed"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True)
    if done.returncode:
        pytest.skip("mounting a disk takes the rights of root")
    try:
        shutil.copytree(package, place / "mbauc", ignore=shutil.ignore_patterns("__pycache__"))
        (place / "home").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        kept = os.environ | {"PYTHONPATH": str(place), "HOME": str(place / "home"), "TMPDIR": str(temporary)}
        kept.pop("NUMBA_CACHE_DIR", None)
        words = ["fit", "t.libsvm", "--solver", "matrix-free", "-o", str(tmp_path / "m.mbauc")]
        process = mbauc(*words, cwd=inputs, env=kept)
        said = process.communicate(timeout=600)[1].decode()
        assert process.returncode == 0, said
        assert load_model(tmp_path / "m.mbauc").n_features == 300
    finally:
        subprocess.run(["umount", place], check=True)


# -- others of its kind ----------------------------------------------------------------------------------------


def test_two_processes_may_write_one_output(inputs, tmp_path):
    folder = shutil.copytree(inputs, tmp_path / "work")
    words = ["score", "m.mbauc", "more.csv", "-o", "s.csv", "--force"]
    for process in [mbauc(*words, cwd=folder) for _ in range(2)]:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said.decode()
    both = (folder / "s.csv").read_bytes()
    process = mbauc(*words, cwd=folder)
    process.communicate(timeout=300)
    assert (folder / "s.csv").read_bytes() == both
    assert not list(folder.glob(".mbauc-*"))


def test_of_two_processes_one_has_the_checkpoint(inputs, tmp_path):
    folder = shutil.copytree(inputs, tmp_path / "work")
    words = ["fit", "t.libsvm", "--solver", "matrix-free", "--jobs", "1", "--checkpoint", "kept"]
    running = [mbauc(*words, "-o", f"{number}.mbauc", cwd=folder) for number in range(2)]
    said = [process.communicate(timeout=300)[1].decode() for process in running]
    codes = sorted(process.returncode for process in running)
    assert codes in ([0, 0], [0, 1]), said  # the second may have come when the first had ended
    if codes == [0, 1]:
        assert "in use by another call" in "".join(said)
    found = [load_model(path).coef.tobytes() for path in folder.glob("[01].mbauc")]
    assert len(set(found)) == 1


def test_a_checkpoint_leaves_what_others_are_writing_alone(tmp_path):
    (tmp_path / ".mbauc-0123456789abcdef.part").write_bytes(b"left by a killed process")
    with atomic_write(tmp_path / "scores.csv") as stream:
        stream.write(b"half")
        with Checkpoint(tmp_path, {}):
            pass
        stream.write(b" and half")
    assert (tmp_path / "scores.csv").read_bytes() == b"half and half"
    assert not list(tmp_path.glob(".mbauc-*.part"))


def test_a_reader_that_has_seen_enough(inputs, tmp_path):
    process = mbauc("score", "m.mbauc", "more.csv", "-o", "-", cwd=inputs)
    assert process.stdout.readline().startswith(b'"row","score"')
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(300) in (0, 141)
    assert "Traceback" not in said
    assert "Exception" not in said


# -- names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(NAMES))
def test_names_of_any_bytes(runner, inputs, tmp_path, name):
    folder = shutil.copytree(inputs, tmp_path / "work")
    odd = os.fsdecode(NAMES[name])
    os.rename(folder / "t.csv", folder / f"{odd}.csv")
    model, scores, page = f"{odd}.mbauc", f"{odd}-s.csv", f"{odd}.html"
    fit = ["fit", f"{odd}.csv", "--label", "click", "--hash-dim", "50", "--checkpoint", f"{odd}-kept"]
    for words in (
        [*fit, "-o", model],
        ["inspect", model],
        ["inspect", model, "--json"],
        ["score", model, "more.csv", "-o", scores],
        ["evaluate", model, "more.csv", "--report", page],
        ["update", model, "more.csv", "-o", f"{odd}-u.mbauc"],
        ["export", model, "-o", f"{odd}.onnx"],
    ):
        status, _ = runner.run(folder, words)
        assert status == 0, told(folder)
        assert "\x1b" not in told(folder)
    assert {model, scores, page} <= {path.name for path in folder.iterdir()}


def test_names_of_any_bytes_where_no_letter_beyond_ascii_is_known(inputs, tmp_path):
    folder = shutil.copytree(inputs, tmp_path / "work")
    plain = os.environ | {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for odd in (NAMES["latin"], "ß ü\n".encode()):
        os.rename(os.fsencode(folder) + b"/t.csv", os.fsencode(folder) + b"/" + odd)
        words = [
            b"fit",
            odd,
            b"--format",
            b"csv",
            b"--label",
            b"click",
            b"--hash-dim",
            b"50",
            b"-o",
            odd + b".mbauc",
        ]
        for line in (words, [b"inspect", odd + b".mbauc"]):
            process = mbauc(*line, cwd=folder, env=plain)
            said = process.communicate(timeout=300)[1]
            assert process.returncode == 0, said
            assert b"Traceback" not in said
        os.rename(os.fsencode(folder) + b"/" + odd, os.fsencode(folder) + b"/t.csv")


def test_outputs_are_told_from_inputs(inputs):
    assert outputs(inputs, contents(inputs), []) == {}
