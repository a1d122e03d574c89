"""The running times on synthetic click logs behind Figure 5."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from mbauc.checks import check_whole
from mbauc.paper.machine import describe_machine, measure_load
from mbauc.paper.studies.clicks.methods import RIDGE_TOL, RIVALS, ridge_weights
from mbauc.paper.studies.clicks.pairs import ROOM, AllPairs, SampledPairs
from mbauc.paper.studies.clicks.results import FEWEST_ROWS
from mbauc.paper.studies.clicks.sets import ClickSet, select_sets, synthetic
from mbauc.paper.studies.printed import CLICK_ROWS
from mbauc.paper.study import Record, Request, Results, Study
from mbauc.rows.source import RawBlock
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import Advance, progress, silent
from mbauc.runtime.threads import thread_count

#: The paper's three sets.
SHAPES = ("avazu-app", "avazu-site", "criteo")
#: One λ for all, near the best of each in Figure 4: the time hardly depends on it.
PENALTY = 1e-3
#: Methods in the order of the bars, with their names.
METHODS = {"mba": "MBA-ℓ2", "mb-psl": "MB-PSL", "mb-phl": "MB-PHL", "exact": "exact-ℓ2"}
#: Methods that go over the same rows while they are in memory.
_PASSES = (("mb-psl", "mb-phl"), ("mba",), ("exact",))
#: Rows of the runs that load the compiled loops and what a log needs, before anything is timed.
_WARM_UP = 2_000


@dataclass(frozen=True)
class Settings:
    """What the results depend on, besides the machine."""

    #: Training rows of each log at most; never more than the paper has.
    rows: int = 1_000_000
    #: The log is cut down to one part in this many.
    parts: tuple[int, ...] = (8, 4, 2, 1)
    #: Times that each is run; the median counts.
    repeats: int = 3
    #: Of everything drawn.
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, low=FEWEST_ROWS)

    def sizes(self, shape: str) -> list[int]:
        """Numbers of training rows to time."""
        most = min(self.rows, CLICK_ROWS[shape.replace("-", " ")])
        return sorted({max(most // part, FEWEST_ROWS) for part in self.parts})


QUICK = Settings(rows=50_000, repeats=1)


class Times(Results[Settings]):
    """What was timed: for each shape, number of rows and repeat."""

    @property
    def shapes(self) -> list[str]:
        """Shapes of the logs."""
        return list(dict.fromkeys(shape for shape, _, _ in self.records))

    def sizes(self, shape: str) -> list[int]:
        """Rows learned from, the fewest first."""
        return sorted({rows for which, rows, _ in self.records if which == shape})

    def seconds_of(self, shape: str, rows: int, method: str) -> float:
        """Median over the repeats; ``"data"`` is the time to make the rows."""
        found = [
            record["by_method"][method] for key, record in self.records.items() if key[:2] == (shape, rows)
        ]
        return float(np.median(found))

    def is_full(self, shape: str) -> bool:
        """Whether as many rows were timed as the paper has."""
        return self.sizes(shape)[-1] >= CLICK_ROWS[shape.replace("-", " ")]

    def estimate(self, shape: str, method: str) -> tuple[float, bool]:
        """Seconds for as many rows as the paper has, and whether they were measured (or scaled up)."""
        rows, wanted = self.sizes(shape)[-1], CLICK_ROWS[shape.replace("-", " ")]
        return self.seconds_of(shape, rows, method) * max(wanted / rows, 1.0), self.is_full(shape)

    @property
    def threads(self) -> list[int]:
        """Threads that the runs had."""
        return sorted({record["threads"] for record in self.records.values()})

    @property
    def machines(self) -> list[str]:
        """What they were run on."""
        return list(dict.fromkeys(record["machine"] for record in self.records.values()))

    @property
    def loads(self) -> list[float]:
        """Load of the machine after each run, the smallest first, where it is known."""
        return sorted(record["load"] for record in self.records.values() if record["load"] is not None)


def time_methods(
    clicks: ClickSet, seed: int, n_threads: int, advance: Advance = silent, room: int = ROOM
) -> dict[str, float]:
    """Seconds of each method for one pass and one solution; making the rows is apart, under ``"data"``.

    Methods that keep rows have a pass of their own, so that only the rows of one are in memory. ``advance`` is
    called for each chunk of each pass.
    """
    seconds = dict.fromkeys([*METHODS, "data"], 0.0)
    for keys in _PASSES:
        began = time.perf_counter()
        learners = {key: _make_learner(key, clicks, seed, n_threads, room) for key in keys}
        for chunk in clicks.chunks():
            seconds["data"] += (time.perf_counter() - began) / len(_PASSES)
            for key, learner in learners.items():
                began = time.perf_counter()
                learner.add(chunk)
                seconds[key] += time.perf_counter() - began
            advance(1)
            began = time.perf_counter()
        for key, learner in learners.items():
            began = time.perf_counter()
            if not isinstance(learner, _MiniBatch):
                ridge_weights(learner.rows(), PENALTY)
            seconds[key] += time.perf_counter() - began
        del learners, learner
    return seconds


class _MiniBatch:
    """MB-PSL or MB-PHL, chunk by chunk."""

    def __init__(self, key: str, n_rows: int, seed: int) -> None:
        makers = {rival.key: rival.make for rival in RIVALS}
        self._model = makers[key](PENALTY, "auto", n_rows, seed)

    def add(self, chunk: RawBlock) -> None:
        """Learn from a chunk."""
        self._model.partial_fit(chunk.X, chunk.y, classes=[0, 1])


def _make_learner(
    key: str, clicks: ClickSet, seed: int, n_threads: int, room: int
) -> SampledPairs | AllPairs | _MiniBatch:
    if key == "mba":
        return SampledPairs(clicks.n_features, n_threads, np.random.default_rng([seed, 7]), room)
    if key == "exact":
        return AllPairs(clicks.n_features, n_threads, room)
    return _MiniBatch(key, clicks.n_fit, seed)


def run_requested(request: Request) -> Times:
    """The runs that a user asks for."""
    settings = QUICK if request.quick else Settings()
    settings = replace(settings, seed=request.seed, rows=request.rows or settings.rows)
    shapes = select_sets(request.datasets, SHAPES)
    return run(settings, request.out, shapes=shapes, n_jobs=request.n_jobs, full=request.full)


def run(
    settings: Settings,
    out: Path,
    *,
    shapes: tuple[str, ...] = SHAPES,
    n_jobs: int | None = None,
    full: bool = False,
) -> Times:
    """Time what is not yet in the journal; with ``full`` also as many rows as the paper has, once."""
    n_threads = thread_count(n_jobs)
    study = Study(
        out, "click_times", ("dataset", "rows", "repeat"), {**asdict(settings), "tolerance": RIDGE_TOL}
    )
    warm: set[str] = set()

    def perform(shape: str, rows: int, repeat: int) -> Record:
        if shape not in warm:
            time_methods(synthetic(shape, _WARM_UP, settings.seed, n_jobs), settings.seed, n_threads)
            warm.add(shape)
        clicks = synthetic(shape, rows, settings.seed, n_jobs)
        # nothing is chosen here, so all training rows are learned from
        clicks = replace(clicks, n_fit=clicks.n_train, n_validation=0)
        what = f"{clicks.title}, {rows:,} rows"
        steps = clicks.n_chunks * len(_PASSES)
        # with fewer rows there is a bar for all of them
        with progress(steps, what, unit="chunk", show=rows > settings.rows) as advance:
            seconds = time_methods(clicks, settings.seed, n_threads, advance, parse_memory())
        return {
            "threads": n_threads,
            "machine": describe_machine(),
            "load": measure_load(),
            "by_method": seconds,
        }

    tasks = [
        (shape, rows, repeat)
        for shape in shapes
        for rows in settings.sizes(shape)
        for repeat in range(settings.repeats)
    ]
    # one after the other: they would slow each other down
    records = study.run(
        perform, tasks, n_jobs=1, what="rows timed", unit="row", size=lambda shape, rows, repeat: rows
    )
    if full:
        large = [(shape, CLICK_ROWS[shape.replace("-", " ")], 0) for shape in shapes]
        large = [task for task in large if task not in records]
        records |= study.run(perform, large, n_jobs=1, what="sizes", unit="size", show=False)
    return Times(settings, records)
