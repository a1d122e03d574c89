"""Timing, memory and the record that goes with each result."""

import ctypes
import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def seconds(task, repeats=5):
    """Best of several runs after one to warm up."""
    task()
    return min(once(task) for _ in range(repeats))


def once(task, clock=time.perf_counter):
    gc.collect()
    started = clock()
    task()
    return clock() - started


def interleaved(tasks, repeats=5, clock=time.perf_counter):
    """Best time of each task, the tasks taking turns so that a slow spell of the machine hits all alike."""
    for task in tasks.values():
        task()
    times = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            times[name].append(once(task, clock))
    return {name: min(values) for name, values in times.items()}


def peak_megabytes(task):
    """How far the peak of resident memory rises during a task, in MB (Linux)."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    before = _status("VmRSS")
    result = task()
    peak = _status("VmHWM")
    del result
    return (peak - before) / 1024


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return float(line.split()[1])
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_new_process(code):
    """Seconds that a Python program takes from its start, imports included."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def machine():
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    names = ("mbauc", "numpy", "scipy", "scikit-learn", "numba")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
    }


def status_megabytes(field):
    """``VmRSS`` or ``VmHWM`` of this process, in MB."""
    return _status(field) * 1024 / 1e6


def stored(name):
    """What a benchmark has stored beside its table, for others to go on from."""
    return json.loads((RESULTS / f"{name}.json").read_text())["values"]


def report(name, rows, notes=(), values=None):
    """Print a table of (what, value, target) and store it with the machine, the versions and raw values."""
    width = max(len(row[0]) for row in rows)
    print(f"\n{name}")
    for what, value, target in rows:
        print(f"  {what:{width}}  {value:>10}  {target}")
    for note in notes:
        print(f"  ({note})")
    RESULTS.mkdir(exist_ok=True)
    record = {"name": name, "machine": machine(), "rows": [list(row) for row in rows], "notes": list(notes)}
    if values is not None:
        record["values"] = values
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
