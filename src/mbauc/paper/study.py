"""One runner for all studies of the paper: tasks → journal → records. What is done is not done again."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

from mbauc.errors import CheckpointError, NotAvailableError
from mbauc.paper.ledger import Ledger
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import run_threads, single_threaded_blas, thread_count

Record = dict[str, Any]
#: What tells a task from the others of its study.
Key = tuple[Any, ...]
Settings = TypeVar("Settings")
Loaded = TypeVar("Loaded")


@dataclass(frozen=True)
class Request:
    """What a user asks for."""

    #: Folder for the results.
    out: Path
    #: Whether a rough answer will do.
    quick: bool = False
    #: Of all draws.
    seed: int = 0
    #: Threads.
    n_jobs: int | None = None
    #: Data sets to use; all if empty.
    datasets: tuple[str, ...] = ()
    #: Where their files are.
    data_dir: Path | None = None
    #: Training rows of the synthetic click logs; as many as the study thinks fit if None.
    rows: int | None = None
    #: Methods to run; all if empty.
    methods: tuple[str, ...] = ()
    #: Splits of a data set that has no test rows; as many as the study thinks fit if None.
    splits: int | None = None
    #: Methods to run once more, although their results are there.
    again: tuple[str, ...] = ()
    #: Whether synthetic click logs are also made as large as the paper's.
    full: bool = False


class Study:
    """The finished tasks of a study, in the journal of a folder, and how the others are run.

    Parameters
    ----------
    folder : Path
        Where the journal is; made if it does not exist.
    name : str
        Name of the journal, without its ending.
    key : tuple of str
        Names of the fields that tell a record from the others.
    depends_on : mapping
        All that results depend on, besides versions. A journal of other ones is refused, never mixed.
    """

    def __init__(self, folder: Path, name: str, key: tuple[str, ...], depends_on: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path, self._key = folder / f"{name}.ledger", key
        self._ledger = Ledger(self._path, {**depends_on, **versions()})

    @property
    def records(self) -> dict[Key, Record]:
        """The record of each finished task."""
        return {tuple(record[name] for name in self._key): record for record in self._ledger.records}

    def check_data(self, dataset: str, fingerprint: str, title: str | None = None) -> None:
        """Raise if there are results of other files of that name."""
        for record in self._ledger.records:
            if record["dataset"] == dataset and record["data"] != fingerprint:
                raise CheckpointError(
                    f"{self._path} has results of other files of {title or dataset}. Delete it, or choose "
                    "another folder."
                )

    def run(
        self,
        perform: Callable[..., Record],
        *stages: Sequence[Key],
        n_jobs: int | None,
        what: str,
        unit: str,
        size: Callable[..., int] = lambda *_: 1,
        show: bool = True,
        again: Callable[..., bool] = lambda *_: False,
    ) -> dict[Key, Record]:
        """Run the tasks that are not in the journal yet, and return the records of all that were asked for.

        Parameters
        ----------
        perform : callable
            From the parts of a key to what is to be recorded besides them and the seconds that it took.
        *stages : sequences of keys
            Tasks; all of a stage are finished before the next begins.
        n_jobs : int or None
            Threads, one task each.
        what, unit : str
            For the progress bar.
        size : callable
            From the parts of a key to the units that the task counts for.
        show : bool, default=True
            Whether there is a bar; tasks may have their own.
        again : callable
            From the parts of a key to whether the task is run although it is in the journal. Of two records of
            a task the later one counts.
        """
        lock, stopped = threading.Lock(), threading.Event()
        total = sum(size(*key) for stage in stages for key in stage)
        with progress(total, what, unit=unit, delay=0.0, show=show) as advance, single_threaded_blas():

            def run_task(key: Key) -> None:
                if stopped.is_set():
                    return
                started = time.perf_counter()
                found = perform(*key)
                seconds = time.perf_counter() - started
                with lock:
                    self._ledger.append({**dict(zip(self._key, key, strict=True)), "seconds": seconds, **found})
                    advance(size(*key))

            for stage in stages:
                done = {key for key in self.records if not again(*key)}
                advance(sum(size(*key) for key in stage if key in done))
                run_threads(
                    run_task, [key for key in stage if key not in done], thread_count(n_jobs), stopped.set
                )
        records = self.records
        return {key: records[key] for stage in stages for key in stage}


class Results(Generic[Settings]):
    """What a study has found: its settings, a record for each task, and why data sets are missing, by name."""

    def __init__(
        self, settings: Settings, records: Mapping[Key, Record], missing: Mapping[str, str] | None = None
    ) -> None:
        self.settings, self.records, self.missing = settings, dict(records), dict(missing or {})

    @property
    def seconds(self) -> float:
        """Time that all tasks together took."""
        return float(sum(record["seconds"] for record in self.records.values()))


def load_available(
    names: Iterable[str], load: Callable[[str], Loaded]
) -> tuple[dict[str, Loaded], dict[str, str]]:
    """What could be loaded by its name, and why the rest could not; an error if nothing could."""
    loaded, missing = {}, {}
    for name in names:
        try:
            loaded[name] = load(name)
        except (NotAvailableError, ImportError) as error:
            missing[name] = str(error)
    if not loaded:
        raise NotAvailableError(next(iter(missing.values())) if len(missing) == 1 else explain_none(missing))
    return loaded, missing


def explain_none(datasets: Iterable[str]) -> str:
    """What to say where no data set is there."""
    return (
        f"none of {', '.join(datasets)} is available. Name the folder with their files by --data-dir or the "
        "environment variable MBAUC_DATA, or see 'mbauc data list' and 'mbauc data download'."
    )


def versions() -> dict[str, str]:
    """Version of everything that may change a figure."""
    names = ("mbauc", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def describe_origin(seed: int, seconds: float, *, elapsed: bool = False) -> str:
    """A sentence on seed, versions, machine and time: of all threads together, or by the clock."""
    listed = ", ".join(f"{name} {number}" for name, number in versions().items())
    minutes = f"{seconds / 60:.0f} minutes of computing, all threads together"
    if elapsed:
        minutes = f"{seconds / 60:.1f} minutes by the clock"
    return f"Seed {seed}; {listed}; {platform.machine()}, {os.cpu_count()} cores; {minutes}."
