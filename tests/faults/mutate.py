"""Files of every kind, changed at random under right checksums, given to everything that reads them.

    python tests/faults/mutate.py --count 50000 --seed 0

Each must be accepted or refused with an error that mbauc raises itself: no other exception, no crash of the
process, no more memory than allowed. Work is done in processes of their own, which begin anew after a crash.
"""

import argparse
import collections
import contextlib
import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Seconds after which a file counts as one that hangs.
PATIENCE = 60
#: Bytes of address space beyond what the process has once everything is loaded.
ROOM = 3 << 29


class HangingError(BaseException):
    """A file took too long."""


def judged(error):
    """What an error means: the file was refused, or something went wrong that nobody has thought of."""
    from mbauc.cli.output import Usage

    if not isinstance(error, ValueError | OSError | Usage) or isinstance(error, UnicodeError):
        return "raw"
    if type(error).__module__.startswith("mbauc."):
        return "refused"
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return "refused" if f"{os.sep}mbauc{os.sep}" in last else "raw"


def tried(seeds, number, seed, folder):
    """One file: what became of it."""
    import mutations
    import numpy as np

    rng = np.random.default_rng([seed, number])
    # as often of each kind, whatever the number of good files
    kinds = sorted({one.kind for one in seeds})
    kind = kinds[number % len(kinds)]
    good = [one for one in seeds if one.kind == kind]
    chosen = good[rng.integers(len(good))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = mutations.KINDS[kind](rng, chosen.content)
        if rng.random() < 0.1:
            content = mutations.KINDS[kind](rng, chosen.content)
        reader = list(chosen.readers)[rng.integers(len(chosen.readers))]
        path = folder / f"file.{chosen.name.rpartition('.')[2]}"
        path.write_bytes(content)
        told = {"number": number, "file": chosen.name, "reader": reader, "message": ""}
        try:
            chosen.readers[reader](path)
            return told | {"outcome": "accepted"}
        except (Exception, HangingError) as error:
            message = str(error)
            outcome = judged(error) if isinstance(error, Exception) else "raw"
            if len(message) > 2000 or "\x1b" in message:
                outcome = "raw"
            trace = "".join(traceback.format_exception(error)[-3:])[:2000]
            told |= {"outcome": outcome, "message": message, "error": type(error).__name__}
            return told | ({"trace": trace} if outcome == "raw" else {})


def work(first, last, step, seed):
    """Try some files, and say after each what became of it."""
    sys.path.insert(0, str(HERE))
    from readers import make_seeds

    def stop(signal_number, frame):
        raise HangingError(f"no end after {PATIENCE} s")

    signal.signal(signal.SIGALRM, stop)
    # LAPACK complains of numbers that are none on standard output
    told_to = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.fsync = lambda stream: None  # what survives a power cut is another question
    # children must not take the memory of the file under test for a core
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "seeds").mkdir()
        seeds = make_seeds(place / "seeds")
        for one in seeds:  # loads and compiles all that will be needed
            for reader in one.readers.values():
                path = place / f"file.{one.name.rpartition('.')[2]}"
                path.write_bytes(one.content)
                with contextlib.suppress(ValueError):  # a model without moments is not updated
                    reader(path)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"ready": True}), flush=True, file=told_to)
        for number in range(first, last, step):
            # a compiled loop hears no signal: then the process ends
            faulthandler.dump_traceback_later(2 * PATIENCE, exit=True)
            signal.alarm(PATIENCE)
            told = tried(seeds, number, seed, place)
            signal.alarm(0)
            told["growth"] = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base)
            told["message"], told["length"] = told["message"][:300], len(told["message"])
            print(json.dumps(told), flush=True, file=told_to)


def mutate(count, seed, jobs, log):
    """Outcomes of so many files, in so many processes; those that end in a crash are told as well."""
    outcomes = []

    def note(told):
        outcomes.append(told)
        if log is not None:
            log.write(json.dumps(told) + "\n")
            log.flush()

    def start(first):
        words = [sys.executable, __file__, "--work", str(first), str(count), str(jobs), "--seed", str(seed)]
        with open(os.devnull, "w") as nothing:
            return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=nothing, text=True)

    from concurrent.futures import ThreadPoolExecutor

    def follow(job):
        first = job
        while first < count:
            process, began = start(first), False
            for line in process.stdout:
                told = json.loads(line)
                began = True
                if "ready" in told:
                    continue
                note(told)
                first = told["number"] + jobs
            if process.wait() == 0:
                break
            if not began:
                raise RuntimeError("the good files cannot be read; see mutate.py --work 0 1 1")
            note({"number": first, "outcome": "crash", "status": process.returncode, "growth": 0, "length": 0})
            first += jobs

    with ThreadPoolExecutor(jobs) as threads:
        list(threads.map(follow, range(jobs)))
    return sorted(outcomes, key=lambda told: told["number"])


def summary(outcomes):
    """Totals."""
    counts = collections.Counter(told["outcome"] for told in outcomes)
    return {
        "files": len(outcomes),
        **{name: counts[name] for name in ("accepted", "refused", "raw", "crash")},
        "longest message": max((told["length"] for told in outcomes), default=0),
        "peak growth (MB)": round(max((told["growth"] for told in outcomes), default=0) / 1e6, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path, help="file for one line a mutation")
    parser.add_argument("--work", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work, options.seed)
        return 0
    began = time.time()
    outcomes = mutate(options.count, options.seed, options.jobs, options.log and options.log.open("w"))
    for told in [told for told in outcomes if told["outcome"] in ("raw", "crash")][:20]:
        print(json.dumps(told, indent=1))
    print(json.dumps(summary(outcomes) | {"seconds": round(time.time() - began)}, indent=1))
    return int(any(told["outcome"] in ("raw", "crash") for told in outcomes))


if __name__ == "__main__":
    sys.exit(main())
