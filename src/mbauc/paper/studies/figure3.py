"""Figure 3: AUC against the number of training rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mbauc.metrics import roc_auc
from mbauc.paper.studies.benchmark import Settings, Split, Study, drawn, is_halved, split
from mbauc.paper.studies.benchmark_methods import PRINTED
from mbauc.paper.studies.outputs import write_figure, write_table
from mbauc.plots import new_figure
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import run_threads, single_threaded_blas, thread_count

#: The paper's three panels, and one with very few positives.
PANELS = ("a9a", "german", "svmguide3", "w1a")
SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def render(study: Study, data_dir: Path | None, folder: Path, runs: int, n_jobs: int | None) -> list[Path]:
    """Write ``figure3.csv``, ``figure3.png`` and ``figure3.svg``; return their paths.

    Settings and the largest values that columns are divided by are those of the whole training set of a run.
    """
    panels = [name for name in PANELS if name not in study.missing]
    tasks = [(name, number) for name in panels for number in range(runs)]
    with progress(len(tasks), "runs", unit="run") as advance, single_threaded_blas():

        def task(which: tuple[str, int]) -> list[list[float]]:
            found = _one_run(study, *which, data_dir)
            advance(1)
            return found

        results = dict(zip(tasks, run_threads(task, tasks, thread_count(n_jobs)), strict=True))
    figure = new_figure(10.0, 8.0)
    rows: list[list[object]] = []
    for name, ax in zip(panels, figure.subplots(2, 2).ravel(), strict=False):
        table = np.array([results[name, number] for number in range(runs)])  # run, share, method
        for column, method in enumerate(PRINTED):
            mean, spread = table[:, :, column].mean(axis=0), table[:, :, column].std(axis=0, ddof=1)
            ax.plot(np.multiply(SHARES, 100), mean, marker="o", markersize=3, label=method.contender.name)
            ax.fill_between(np.multiply(SHARES, 100), mean - spread, mean + spread, alpha=0.12, linewidth=0)
            for share, one, around in zip(SHARES, mean, spread, strict=True):
                rows.append([name, method.key, share, f"{one:.4f}", f"{around:.4f}", runs])
        ax.set(title=name, xlabel="training rows, %", ylabel="test AUC, %")
        ax.grid(color="0.9", linewidth=0.6)
    if panels:
        figure.axes[0].legend(fontsize=8, loc="lower right")
    head = ["dataset", "algorithm", "share", "auc_mean", "auc_std", "runs"]
    return [write_table(folder / "figure3.csv", head, rows), *write_figure(folder, "figure3", figure)]


def _one_run(study: Study, dataset: str, number: int, data_dir: Path | None) -> list[list[float]]:
    """AUC of the printed methods for each share of the training rows, the smaller within the larger."""
    settings: Settings = study.settings
    whole = split(dataset, number, settings, data_dir)
    rng = np.random.default_rng([settings.seed, 4, PANELS.index(dataset), number])
    classes = [rng.permutation(np.flatnonzero(whole.y == label)) for label in (0, 1)]
    result = []
    for share in SHARES:
        # both classes in proportion, and at least two rows of each
        rows = np.sort(np.concatenate([part[: max(2, round(share * part.size))] for part in classes]))
        part = Split(whole.X[rows], whole.y[rows], whole.X_test, whole.y_test)
        draw = drawn(part, rng)
        aucs = []
        for method in PRINTED:
            # where each run has halves of its own, its own setting: another run's has seen the test rows
            setting = study.found(dataset, method.key)[number if is_halved(dataset) else 0].setting
            w = method.weights(draw, setting)
            aucs.append(100 * roc_auc(part.y_test, part.X_test @ w))
        result.append(aucs)
    return result
