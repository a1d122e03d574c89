import os

import pytest

from mbauc.store import atomic
from mbauc.store.atomic import atomic_write


@pytest.mark.parametrize("step", ["fdopen", "fsync", "replace"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_signal_at_any_step_leaves_nothing_behind(tmp_path, monkeypatch, step, existing):
    path = tmp_path / "out.csv"
    if existing:
        path.write_bytes(b"old")
    real = getattr(os, step)

    def interrupted(*arguments, **more):
        if step == "fdopen":  # the file is there, and nobody has been told yet
            os.close(arguments[0])
        elif step == "replace":  # all is done
            real(*arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, step, interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as stream:
        stream.write(b"new")
    monkeypatch.undo()
    kept = {True: b"old", False: None}[existing] if step != "replace" else b"new"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == ({"out.csv": kept} if kept else {})


def test_a_name_that_somebody_else_has_taken_is_left_to_them(tmp_path, monkeypatch):
    names = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr(atomic, "_remove_parts_once", lambda folder: None)
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda size: next(names))
    other = tmp_path / f".mbauc-{'0' * 16}.part"
    other.write_bytes(b"theirs")
    with atomic_write(tmp_path / "out.csv") as stream:
        stream.write(b"ours")
    assert other.read_bytes() == b"theirs"
    assert (tmp_path / "out.csv").read_bytes() == b"ours"
