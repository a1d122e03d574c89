"""Runs the fits, each in a process of its own and in a control group of 8 GB, and puts them side by side."""

import json
import shutil
import signal
import subprocess
import sys
import time

from benchmarks.criteo_losses.data import PART_ROWS, ROWS, TEST_ROWS, folder, train_files
from benchmarks.criteo_losses.fits import COLUMNS, FITS, MEMORY
from benchmarks.memory_group import memory_group
from benchmarks.timing import RESULTS, report

#: Bytes that the system lets a fit have, its interpreter and libraries included.
LIMIT = 8_000_000_000
#: The part that kills fits and resumes them, and rows of these.
RESUME, RESUME_ROWS = "resume", 4 * PART_ROWS
#: When a fit is killed, as shares of the time that it takes.
_KILLED_AT = (0.3, 0.7)
PARTS = RESULTS / "criteo_losses_parts"
TITLES = {
    "squared": f"squared loss, hashed to {COLUMNS:,} columns",
    "squared_hinge": "squared hinge over all pairs, the same columns",
    "groups": "squared loss over the pairs of each user, the same columns",
    "curves": "curves of the counts, levels of the categories",
    "interactions": "the same and screened interactions",
}


def run(parts=None, rows=ROWS):
    for part in [*FITS, RESUME] if parts is None else parts:
        if part == "table":
            continue
        found = resume() if part == RESUME else measured(part, rows)
        print(json.dumps({part: found}, indent=1), flush=True)
        if rows == ROWS:
            PARTS.mkdir(parents=True, exist_ok=True)
            (PARTS / f"{part}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    if rows == ROWS:
        write_table()


def measured(name, rows):
    train_files(rows)
    with memory_group(LIMIT) as enter:
        found = json.loads(_finish(_start(name, rows, enter=enter)))
    return found | {"enforced": enter is not None}


def _start(*arguments, enter=None):
    command = [sys.executable, "-m", "benchmarks.criteo_losses.fits", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enter)


def _finish(process):
    out, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return out.splitlines()[-1]


def resume():
    """Each fit once straight, and once killed twice on its way: are the weights the same to the bit?"""
    found, place = {}, folder() / "state-resume"
    for name in FITS:
        shutil.rmtree(place, ignore_errors=True)
        straight = json.loads(_finish(_start(name, RESUME_ROWS, place)))
        shutil.rmtree(place)
        kills = 0
        for share in _KILLED_AT:
            process = _start(name, RESUME_ROWS, place)
            time.sleep(share * straight["seconds"] + 1.0)
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        resumed = json.loads(_finish(_start(name, RESUME_ROWS, place)))
        shutil.rmtree(place)
        same = straight["weights"] == resumed["weights"]
        found[name] = {"kills": kills, "same": same, "straight": straight, "last": resumed}
    return found


def write_table():
    """The table of the parts that have been measured."""
    found = {name: json.loads(path.read_text()) for name in FITS if (path := PARTS / f"{name}.json").exists()}
    table = [(TITLES[name], _told(got, found.get("squared")), "at most 8 GB") for name, got in found.items()]
    if (PARTS / f"{RESUME}.json").exists():
        tried = json.loads((PARTS / f"{RESUME}.json").read_text())
        kills = sum(one["kills"] for one in tried.values())
        same = sum(one["same"] for one in tried.values())
        table.append(
            (
                f"{len(tried)} such fits of {RESUME_ROWS / 1e6:.1f}M rows, kill -9 {kills} times, and resumed",
                f"{same} of {len(tried)} end with the bits of a fit that was not killed",
                "all",
            )
        )
    loads = [load for got in found.values() for load in (got["load"], got["load_after"])]
    enforced = all(got["enforced"] for got in found.values())
    report(
        "criteo_losses",
        table,
        notes=[
            f"{ROWS:,} rows of a synthetic log in the shape of Criteo's (ClickLog, seed 0): 13 counts, 26 "
            f"categories and a user, in {-(-ROWS // PART_ROWS)} Parquet files; {TEST_ROWS:,} other rows to "
            f"test on; from opening the files to the ranker, with a checkpoint and memory={MEMORY!r}",
            "each fit in a process of its own"
            + (f", in a control group of {LIMIT / 1e9:.0f} GB" if enforced else "")
            + "; memory without the page cache; CPU seconds are those of all threads; passes are complete "
            "passes over the files, sweeps go over packed rows",
            f"load of the machine before and after the fits: {min(loads):.1f} to {max(loads):.1f}; where "
            "others used the two cores as well, CPU seconds are what to compare",
        ],
    )


def _told(got, yardstick):
    ratio = "" if yardstick is None or got is yardstick else f" ({got['cpu'] / yardstick['cpu']:.1f} times)"
    within = f", {got['auc_within']:.4f} within users"
    features = ""
    if "features" in got:
        pairs = len(got["interactions"])
        features = f"; {got['features']:,} features" + (f", {pairs} interactions" if pairs else "")
    passes = f"{got['passes']} pass{'es' if got['passes'] != 1 else ''}"
    sweeps = f", {got['sweeps']} sweeps" if got["solver"] == "matrix-free" else ""
    return (
        f"{got['seconds']:.0f} s, {got['cpu']:.0f} CPU s{ratio}, {got['held']:.1f} GB, {passes}{sweeps}, "
        f"AUC {got['auc']:.4f}{within}{features}"
    )
