"""Commands that are hit at random moments: outputs are absent, old or whole, and the same when repeated."""

import random
import shutil
import signal

import pytest

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
#: Commands, what they write, and what of that may stay there for the next run.
COMMANDS = {
    "fit --checkpoint": ("fit t.libsvm --solver matrix-free --jobs 1 --checkpoint kept -o new.mbauc", ["kept"]),
    "fit --checkpoint l1": ("fit t.libsvm --l1 0.001 --jobs 2 --checkpoint kept -o new.mbauc", ["kept"]),
    "fit --checkpoint gram": (
        "fit t.csv --label click --hash-dim 50 --jobs 1 --checkpoint kept -o new.mbauc",
        ["kept"],
    ),
    "fit": ("fit t.csv --label click --hash-dim 50 --jobs 1 -o new.mbauc", []),
    "score csv": ("score m.mbauc more.csv -o new.csv", []),
    "score parquet": ("score m.mbauc more.csv -o new.parquet", []),
    "evaluate --report": ("evaluate m.mbauc more.csv --report new.html", []),
    "update": ("update m.mbauc more.csv -o new.mbauc", []),
    "merge": ("merge m.mbauc w.mbauc -o new.mbauc", []),
    "export onnx": ("export m.mbauc -o new.onnx", []),
    "export joblib": ("export m.mbauc -o new.joblib", []),
    "threshold": ("threshold m.mbauc more.csv --false-alarm 0.1 -o new.mbauc", []),
    "data clicks": ("data clicks --rows 20000 --hash-dim 1000 -o new.libsvm", []),
    "reproduce --quick": (
        "reproduce table3 --quick --datasets german --data-dir . --jobs 1 --out new",
        ["new"],
    ),
}


def contents(folder):
    """Files below a folder, but for locks and what is said; hidden ones as well."""
    left_out = ("told.txt", "checkpoint.lock", "rows.lock")
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in left_out]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def outputs(folder, inputs, kept):
    """What a command has written in a folder: those files that are not inputs, or differ from them."""
    return {
        name: content
        for name, content in contents(folder).items()
        if inputs.get(name) != content and not any(name.startswith(f"{one}/") for one in kept)
    }


def hit(runner, inputs, folder, name, moments):
    """Hit a command at so many moments; what became of it."""
    words, kept = COMMANDS[name]
    words = words.split()
    given = contents(inputs)
    calm = folder / "calm"
    shutil.copytree(inputs, calm)
    status, _ = runner.run(calm, words, warm=True)
    assert status == 0, (calm / "told.txt").read_text()
    whole = outputs(calm, given, [one for one in kept if one != "new"])
    assert whole
    shutil.rmtree(folder / "again", ignore_errors=True)
    shutil.copytree(inputs, folder / "again")
    _, seconds = runner.run(folder / "again", words)
    figures = {"moments": 0, "ended before": 0, "left over": 0, "seconds": round(seconds, 2)}
    rng = random.Random(0)
    for number in range(moments):
        place = folder / "hit"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(inputs, place)
        target = words[-1]
        old = b"what was there before" if number % 2 and "new" not in kept else None
        force = [] if "new" in kept else ["--force"]
        if old is not None:
            (place / target).write_bytes(old)
        sent = SIGNALS[number % len(SIGNALS)]
        status, _ = runner.run(place, words + force, int(sent), seconds * rng.random() * 1.05)
        told = (
            (place / "told.txt").read_text(errors="backslashreplace") if (place / "told.txt").exists() else ""
        )
        assert status in (0, -sent, 128 + sent), f"{sent!r} ended in {status}: {told}"
        assert "Traceback" not in told
        figures["moments"] += 1
        figures["ended before"] += status == 0
        found = outputs(place, given, kept)
        left = {one for one in found if ".part" in one or ".partial" in one}
        assert not left or sent == signal.SIGKILL or status == -sent, f"{sent!r} left {left}"
        figures["left over"] += bool(left)
        if "new" not in kept:
            assert found.get(target) in (old, whole[target]), f"{target} is half-written after {sent!r}"
            assert found.keys() - left <= {target}
        status, _ = runner.run(place, words + force)
        assert status == 0, (place / "told.txt").read_text()
        again = outputs(place, given, [one for one in kept if one != "new"])
        assert again.keys() == whole.keys(), "something was left behind, or is missing"
        apart = [one for one in whole if again[one] != whole[one]]
        assert not apart, f"{apart} differ after {sent!r} and a repetition"
    return figures


@pytest.mark.faults
@pytest.mark.parametrize("name", list(COMMANDS))
def test_a_command_that_is_hit_leaves_nothing_half_written(runner, inputs, tmp_path, name, figures, request):
    figures[name] = hit(runner, inputs, tmp_path, name, request.config.getoption("--moments"))
