"""The experiments of the MBA paper, each in the shape settings, run, render."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbauc.paper.studies import benchmark, simulation

_QUICK_SETS = 3
_FIGURE3_RUNS = 10


@dataclass(frozen=True)
class Request:
    """What a user asks for.

    Attributes
    ----------
    out : Path
        Folder for the results.
    quick : bool
        Whether a rough answer will do.
    seed : int
        Of all draws.
    n_jobs : int or None
        Threads.
    datasets : tuple of str
        Data sets to use; all if empty.
    data_dir : Path or None
        Where their files are.
    rows : int or None
        Training rows of the synthetic click logs; as many as the experiment thinks fit if None.
    """

    out: Path
    quick: bool = False
    seed: int = 0
    n_jobs: int | None = None
    datasets: tuple[str, ...] = ()
    data_dir: Path | None = None
    rows: int | None = None


def _require_plots() -> None:
    """Say that matplotlib is missing before a long run, not after it."""
    from mbauc.plots import new_figure

    new_figure()


def _figure1(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies.frameworks_plot import frameworks_plot
    from mbauc.paper.studies.outputs import write_figure

    request.out.mkdir(parents=True, exist_ok=True)
    return write_figure(request.out, "figure1", frameworks_plot(random_state=request.seed))


def _table1(request: Request) -> list[Path]:
    from mbauc.paper.datasets.registry import find, names
    from mbauc.paper.studies import table1

    request.out.mkdir(parents=True, exist_ok=True)
    printed = tuple(name for name in names() if find(name).printed is not None)
    return table1.render(request.datasets or printed, request.data_dir, request.out)


def _table2(request: Request) -> list[Path]:
    from mbauc.paper.studies import simulation, table2

    return table2.render(simulation.run(_simulation(request), request.out, request.n_jobs), request.out)


def _figure2(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies import figure2, simulation

    return figure2.render(simulation.run(_simulation(request), request.out, request.n_jobs), request.out)


def _simulation(request: Request) -> simulation.Settings:
    from mbauc.paper.studies.simulation import Settings

    return Settings(sets=_QUICK_SETS, seed=request.seed) if request.quick else Settings(seed=request.seed)


def _table3(request: Request) -> list[Path]:
    from mbauc.paper.studies import benchmark, table3

    datasets = request.datasets or benchmark.DATASETS
    return table3.render(_benchmark(request, datasets), datasets, request.out)


def _figure3(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies import figure3

    study = _benchmark(request, figure3.PANELS)
    runs = 3 if request.quick else _FIGURE3_RUNS
    return figure3.render(study, request.data_dir, request.out, runs, request.n_jobs)


def _benchmark(request: Request, datasets: tuple[str, ...]) -> benchmark.Study:
    from mbauc.paper.studies import benchmark

    settings = replace(benchmark.QUICK if request.quick else benchmark.Settings(), seed=request.seed)
    return benchmark.run(
        settings, request.out, datasets=datasets, folder=request.data_dir, n_jobs=request.n_jobs
    )


def _figure4(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies import clicks, figure4
    from mbauc.paper.studies.click_sets import SETS, wanted

    settings = clicks.QUICK if request.quick else clicks.Settings()
    settings = replace(settings, seed=request.seed, rows=request.rows or settings.rows)
    study = clicks.run(
        settings,
        request.out,
        datasets=wanted(request.datasets, tuple(SETS)),
        folder=request.data_dir,
        n_jobs=request.n_jobs,
    )
    return figure4.render(study, request.out)


def _figure5(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies import click_times, figure5
    from mbauc.paper.studies.click_sets import wanted

    settings = click_times.QUICK if request.quick else click_times.Settings()
    settings = replace(settings, seed=request.seed, rows=request.rows or settings.rows)
    shapes = wanted(request.datasets, click_times.SHAPES)
    return figure5.render(
        click_times.run(settings, request.out, shapes=shapes, n_jobs=request.n_jobs), request.out
    )


def _linearity(request: Request) -> list[Path]:
    _require_plots()
    from mbauc.paper.studies.linearity import Settings, render, run

    settings = Settings(samples=40_000, seed=request.seed) if request.quick else Settings(seed=request.seed)
    request.out.mkdir(parents=True, exist_ok=True)
    return render(settings, run(settings), request.out)


#: From a name to what runs it and returns the files written.
EXPERIMENTS: dict[str, Callable[[Request], list[Path]]] = {
    "figure1": _figure1,
    "table1": _table1,
    "table2": _table2,
    "figure2": _figure2,
    "linearity": _linearity,
    "table3": _table3,
    "figure3": _figure3,
    "figure4": _figure4,
    "figure5": _figure5,
}
