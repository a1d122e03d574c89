"""Runs commands of mbauc, one a line of JSON on standard input, and hits them with signals at given moments.

Each runs in a child that is forked from a process that has loaded everything, so that it starts at once. Clocks
stand still, so that the same command gives the same bytes, and checkpoints are saved as often as there is
something to save, so that short fits save at all.
"""

import importlib
import json
import os
import signal
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from types import SimpleNamespace

MODULES = (
    *(
        "numpy",
        "scipy.sparse",
        "scipy.linalg",
        "sklearn.base",
        "joblib",
        "pyarrow.csv",
        "pyarrow.parquet",
        "onnx",
    ),
    *(
        "mbauc.pairs.operator.kernels",
        "mbauc.pairs.scatter.kernels",
        "mbauc.readers.hash_kernels",
        "mbauc.rows.hashing.kernels",
        "mbauc.readers.table.kernels",
    ),
    *(
        "mbauc.readers.libsvm.kernels",
        "mbauc.paper.clicks.kernels",
        "mbauc.paper.clicks.log",
        "mbauc.report.page",
    ),
    *(
        "mbauc.model.training",
        "mbauc.model.scoring",
        "mbauc.model.update",
        "mbauc.model.export",
        "mbauc.report.evaluation",
    ),
    *("mbauc.paper.studies.benchmark.runs", "mbauc.paper.studies.benchmark.table3"),
)
#: Seconds that a command may take to end when it is asked to.
PATIENCE = 120


def stand_still():
    """Stop the clocks that results tell, and save at every offer."""
    from mbauc.cli import evaluate
    from mbauc.model import record, training, update
    from mbauc.paper import study
    from mbauc.paper.studies.benchmark import runs, tuned
    from mbauc.store.checkpoint import Checkpoint

    clock = SimpleNamespace(
        time=lambda: 0.0,
        perf_counter=lambda: 0.0,
        gmtime=time.gmtime,
        strftime=lambda *rest: "2026-01-01 00:00",
    )
    for module in (evaluate, record, runs, study, training, tuned, update):
        module.time = clock
    runs.QUICK = replace(runs.QUICK, provided_runs=1, halves_runs=2)
    Checkpoint.__init__.__kwdefaults__["interval"] = 0.0


def started(request):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.chdir(request["folder"])
        told = os.open("told.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(told, 1)
        os.dup2(told, 2)
        from mbauc.cli.main import main

        status = main(request["words"])
        sys.stdout.flush()
    except KeyboardInterrupt:  # before or after the command
        status = 128 + signal.SIGINT
    except SystemExit as error:
        status = error.code or 0
    finally:
        os._exit(status if isinstance(status, int) else 1)


def waited(child, seconds):
    """The exit status of a child, negative for a signal; None if it does not end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def warm(request):
    """Run a command in this process, so that all it needs is loaded and compiled in those forked from it."""
    os.chdir(request["folder"])
    with open("told.txt", "w") as told, redirect_stdout(told), redirect_stderr(told):
        from mbauc.cli.main import main

        return {"status": main(request["words"]), "seconds": 0.0}


def answer(request):
    if request["warm"]:
        return warm(request)
    began = time.monotonic()
    child = started(request)
    if request.get("after") is None:
        status = waited(child, 600)
    else:
        status = waited_until(child, began + request["after"])
        if status is None:
            os.kill(child, request["signal"])
            status = waited(child, PATIENCE)
    return {"status": status, "seconds": time.monotonic() - began}


def waited_until(child, moment):
    while time.monotonic() < moment:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


if __name__ == "__main__":
    for name in MODULES:
        importlib.import_module(name)
    stand_still()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
