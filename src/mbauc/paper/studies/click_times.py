"""Section V-C, running times on the synthetic click logs: the runs behind Figure 5."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mbauc.checks import check_whole
from mbauc.paper.studies.click_methods import RIDGE_TOL, RIVALS, ridge_weights
from mbauc.paper.studies.click_pairs import AllPairs, SampledPairs
from mbauc.paper.studies.click_sets import ClickSet, synthetic
from mbauc.paper.studies.clicks import FEWEST_ROWS
from mbauc.paper.studies.ledger import Ledger
from mbauc.paper.studies.printed import CLICK_ROWS
from mbauc.paper.studies.provenance import versions
from mbauc.rows.source import RawBlock
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import single_threaded_blas, thread_count

#: The paper's three sets.
SHAPES = ("avazu-app", "avazu-site", "criteo")
#: One λ for all, near the best of each in Figure 4: the time hardly depends on it.
PENALTY = 1e-3
#: Methods in the order of the bars, with their names.
METHODS = {"mba": "MBA-ℓ2", "mb-psl": "MB-PSL", "mb-phl": "MB-PHL", "exact": "exact-ℓ2"}
#: Rows of the runs that load the compiled loops and what a log needs, before anything is timed.
_WARM_UP = 2_000


@dataclass(frozen=True)
class Settings:
    """What the results depend on, besides the machine.

    Attributes
    ----------
    rows : int
        Training rows of each log at most; never more than the paper has.
    parts : tuple of int
        The log is cut down to one part in so many.
    repeats : int
        Times that each is run; the median counts.
    seed : int
        Of everything drawn.
    """

    rows: int = 1_000_000
    parts: tuple[int, ...] = (8, 4, 2, 1)
    repeats: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, low=FEWEST_ROWS)

    def sizes(self, shape: str) -> list[int]:
        """Numbers of training rows to time."""
        most = min(self.rows, CLICK_ROWS[shape.replace("-", " ")])
        return sorted({max(most // part, FEWEST_ROWS) for part in self.parts})


QUICK = Settings(rows=50_000, repeats=1)


class Times:
    """All that was timed."""

    def __init__(self, settings: Settings, records: Iterable[dict[str, Any]], shapes: tuple[str, ...]) -> None:
        self.settings, self.shapes = settings, shapes
        self._records = [record for record in records if record["dataset"] in shapes]

    def sizes(self, shape: str) -> list[int]:
        """Rows learned from, the fewest first."""
        return sorted({record["rows"] for record in self._records if record["dataset"] == shape})

    def seconds(self, shape: str, rows: int, method: str) -> float:
        """Median over the repeats; ``"data"`` is the time to make the rows."""
        found = [r["seconds"][method] for r in self._records if (r["dataset"], r["rows"]) == (shape, rows)]
        return float(np.median(found))

    def estimate(self, shape: str, method: str) -> tuple[float, bool]:
        """Seconds for as many rows as the paper has, and whether they were measured (or scaled up)."""
        rows, wanted = self.sizes(shape)[-1], CLICK_ROWS[shape.replace("-", " ")]
        return self.seconds(shape, rows, method) * max(wanted / rows, 1.0), rows >= wanted

    @property
    def threads(self) -> list[int]:
        """Threads that the runs had."""
        return sorted({record["threads"] for record in self._records})

    @property
    def loads(self) -> list[float]:
        """Load of the machine after each run, the smallest first, where it is known."""
        return sorted(record["load"] for record in self._records if record["load"] is not None)

    @property
    def total(self) -> float:
        """Seconds of all runs together."""
        return float(sum(sum(record["seconds"].values()) for record in self._records))


def timed(clicks: ClickSet, seed: int, n_threads: int) -> dict[str, float]:
    """Seconds of each method for one pass and one solution; making the rows is apart, under ``"data"``."""
    makers = {rival.key: rival.make for rival in RIVALS}
    sampled = SampledPairs(clicks.n_features, n_threads, np.random.default_rng([seed, 7]))
    exact = AllPairs(clicks.n_features, n_threads)
    steps: dict[str, Callable[[RawBlock], object]] = {"mba": sampled.add, "exact": exact.add}
    for key in ("mb-psl", "mb-phl"):
        model = makers[key](PENALTY, "auto", clicks.n_fit, seed)
        steps[key] = lambda chunk, model=model: model.partial_fit(chunk.X, chunk.y, classes=[0, 1])  # type: ignore[misc]
    seconds = dict.fromkeys([*METHODS, "data"], 0.0)
    began = time.perf_counter()
    for chunk in clicks.chunks():
        seconds["data"] += time.perf_counter() - began
        for key, step in steps.items():
            began = time.perf_counter()
            step(chunk)
            seconds[key] += time.perf_counter() - began
        began = time.perf_counter()
    for key, pairs in (("mba", sampled), ("exact", exact)):
        began = time.perf_counter()
        ridge_weights(pairs.rows(), PENALTY)
        seconds[key] += time.perf_counter() - began
    return seconds


def _load() -> float | None:
    """Programs that wanted a core, on average over the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def run(settings: Settings, out: Path, *, shapes: tuple[str, ...] = SHAPES, n_jobs: int | None = None) -> Times:
    """Time what is not yet in the ledger, with a progress bar."""
    n_threads = thread_count(n_jobs)
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / "click_times.ledger", {**asdict(settings), "tolerance": RIDGE_TOL, **versions()})
    done = {(record["dataset"], record["rows"], record["repeat"]) for record in ledger.records}
    todo = [
        (shape, train, repeat)
        for shape in shapes
        for train in settings.sizes(shape)
        for repeat in range(settings.repeats)
    ]
    left = [which for which in todo if which not in done]
    total = sum(train for _, train, _ in todo)
    with (
        progress(total, "rows timed", delay=0.0) as advance,
        single_threaded_blas(),
    ):
        advance(total - sum(train for _, train, _ in left))
        for shape in dict.fromkeys(shape for shape, _, _ in left):
            timed(synthetic(shape, _WARM_UP, settings.seed, n_jobs), settings.seed, n_threads)
        for shape, train, repeat in left:
            clicks = synthetic(shape, train, settings.seed, n_jobs)
            # nothing is chosen here, so all training rows are learned from
            clicks = replace(clicks, n_fit=clicks.n_train, n_validation=0)
            record = {"dataset": shape, "rows": train, "repeat": repeat}
            seconds = timed(clicks, settings.seed, n_threads)
            ledger.append(record | {"threads": n_threads, "load": _load(), "seconds": seconds})
            advance(train)
    return Times(settings, ledger.records, shapes)
