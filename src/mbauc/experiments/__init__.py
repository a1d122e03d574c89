"""The experiments of the MBA paper, each in the shape settings, run, render."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_QUICK_SETS = 3


def _require_plots() -> None:
    """Say that matplotlib is missing before a long run, not after it."""
    from mbauc.plots import new_figure

    new_figure()


def _simulation(view: str) -> Callable[[Path, bool, int, int | None], list[Path]]:
    """Table II or Figure 2: two views of one study."""

    def reproduce(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
        if view == "figure2":
            _require_plots()
        from mbauc.experiments.simulation import Settings, run

        settings = Settings(sets=_QUICK_SETS, seed=seed) if quick else Settings(seed=seed)
        study = run(settings, folder, n_jobs)
        if view == "table2":
            from mbauc.experiments import table2

            return table2.render(study, folder)
        from mbauc.experiments import figure2

        return figure2.render(study, folder)

    return reproduce


def _linearity(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
    _require_plots()
    from mbauc.experiments.linearity import Settings, render, run

    settings = Settings(samples=40_000, seed=seed) if quick else Settings(seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    return render(settings, run(settings), folder)


def _figure1(folder: Path, quick: bool, seed: int, n_jobs: int | None) -> list[Path]:
    _require_plots()
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
