"""The experiments of the MBA paper, each in the shape settings, run, render."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_QUICK_SETS = 3


def _simulation(view: str) -> Callable[[Path, bool, int, int | None], list[Path]]:
    """Table II or Figure 2: two views of one study."""

    def reproduce(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
        from mbauc.experiments import figure2, table2
        from mbauc.experiments.simulation import Settings, run

        settings = Settings(sets=_QUICK_SETS, seed=seed) if quick else Settings(seed=seed)
        study = run(settings, folder, n_jobs)
        return {"table2": table2.render, "figure2": figure2.render}[view](study, folder)

    return reproduce


def _linearity(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
    from mbauc.experiments.linearity import Settings, render, run

    settings = Settings(samples=40_000, seed=seed) if quick else Settings(seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    return render(settings, run(settings), folder)


def _figure1(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
    from mbauc.plots import frameworks_plot, save_figure

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"figure1.{kind}" for kind in ("png", "svg")]
    for path in paths:
        save_figure(frameworks_plot(random_state=seed), path)
    return paths


#: From a name to what runs it: (folder, quick, seed, n_jobs) → the files written.
EXPERIMENTS = {
    "figure1": _figure1,
    "table2": _simulation("table2"),
    "figure2": _simulation("figure2"),
    "linearity": _linearity,
}
