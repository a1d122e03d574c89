"""Run a contender's settings in a worker, kill it where it takes too long, go on with the rest."""

import json
import math
import os
import selectors
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.click_fit.contender import all_contenders, installed_version

#: Seconds for loading, converting and scoring, which are not timed.
APART = 900
TOO_LATE = f"loading, converting or scoring took more than {APART} s"
#: Steps of a worker that the limit of a fit is for.
TIMED = ("start", "fit")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Rules:
    """The same for everybody."""

    threads: int = 2
    #: Seconds after which a fit is killed.
    limit: float = 120.0
    #: Gigabytes of addresses a worker may have.
    memory: int = 16


def measured(name, settings, folder, rules, stop_at=math.inf, remarks=False):
    """Records of the fits, one at a time, as they end.

    Settings go from cheap to dear: after one that takes too long the others are not tried.
    """
    left = list(settings)
    while left:
        ended = 0
        for record in _one_worker(name, left, folder, rules, stop_at, remarks):
            yield record
            ended += 1
            if record.get("auc", 0) >= stop_at or record["status"] == "limit":
                return
        left = left[max(ended, 1) :]


def _one_worker(name, settings, folder, rules, stop_at, remarks):
    contender = all_contenders()[name]
    limit = contender.limit or rules.limit
    common = {"contender": name, "version": installed_version(contender)}
    task = {"contender": name, "settings": settings, "folder": str(folder), "threads": rules.threads}
    task |= {"memory": rules.memory, "stop_at": stop_at, "remarks": remarks}
    at, number = "begin", 0
    with tempfile.TemporaryFile() as errors, _started(task, rules.threads, errors) as process:
        for line in _lines(process, limit):
            if line is None:
                late = (
                    {"status": "limit", "limit": limit}
                    if at in TIMED
                    else {"status": "failed", "why": TOO_LATE}
                )
                yield {**common, "setting": settings[number], **late}
                return
            at = line.pop("at")
            number = line.pop("number", number)
            if at == "ready":
                common |= line
            elif at == "done":
                yield {**common, "setting": settings[number], "status": "done", **line}
            elif at == "failed":
                yield {**common, "setting": settings[number], "status": "failed", **line}
            elif at == "end" and line["remarks"]:
                yield {**common, "setting": None, "status": "remark", **line}
        if at not in ("end", "done", "failed"):
            why = _last_words(errors) or f"ended with code {process.wait()}"
            yield {**common, "setting": settings[number], "status": "failed", "why": why}


def _started(task, threads, errors):
    limits = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads)
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.click_fit.worker"],
        cwd=ROOT,
        env={**os.environ, **limits},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )
    process.stdin.write(json.dumps(task).encode())
    process.stdin.close()
    return process


def _lines(process, limit):
    """Lines of the worker as dictionaries; None, and the worker is dead, if a fit takes too long."""
    pending, patience = b"", APART
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                if not selector.select(patience):
                    process.kill()
                    yield None
                    return
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in map(json.loads, lines):
                    patience = limit if line["at"] in TIMED else APART
                    yield line
    finally:
        process.kill()


def _last_words(errors):
    errors.seek(0)
    words = errors.read().decode(errors="replace").strip().splitlines()
    return words[-1][:300] if words else ""
