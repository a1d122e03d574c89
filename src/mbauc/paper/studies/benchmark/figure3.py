"""Figure 3: AUC against the number of training rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mbauc.metrics import roc_auc
from mbauc.paper.studies.benchmark.methods import PRINTED
from mbauc.paper.studies.benchmark.runs import (
    Benchmark,
    RunSplit,
    Settings,
    depends_on,
    draw_rows,
    is_halved,
    run_requested,
    split_rows,
)
from mbauc.paper.studies.outputs import write_figure, write_table
from mbauc.paper.study import Record, Request, Results, Study
from mbauc.plots import new_figure

#: The paper's three panels, and one with very few positives.
PANELS = ("a9a", "german", "svmguide3", "w1a")
#: Shares of the training rows.
SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
#: Runs for each share.
RUNS = 10
#: Runs for each share in a quick study.
QUICK_RUNS = 3


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and draw the figure."""
    benchmark = run_requested(request, PANELS)
    runs = QUICK_RUNS if request.quick else RUNS
    return render(run(benchmark, request.out, runs, request.data_dir, request.n_jobs), request.out)


def run(
    benchmark: Benchmark, out: Path, runs: int, folder: Path | None = None, n_jobs: int | None = None
) -> Results[Settings]:
    """AUC for each share of the training rows, of runs with the settings that the benchmark has chosen."""
    panels = [name for name in PANELS if name not in benchmark.missing]
    study = Study(out, "figure3", ("dataset", "run"), {**depends_on(benchmark.settings), "shares": SHARES})
    for name in panels:
        study.check_data(name, benchmark.records[name, 0]["data"])
    records = study.run(
        lambda name, number: one_run(benchmark, name, number, folder),
        [(name, number) for name in panels for number in range(runs)],
        n_jobs=n_jobs,
        what="runs",
        unit="run",
    )
    return Results(benchmark.settings, records, benchmark.missing)


def render(study: Results[Settings], folder: Path) -> list[Path]:
    """Write ``figure3.csv``, ``figure3.png`` and ``figure3.svg``; return their paths."""
    panels = list(dict.fromkeys(name for name, _ in study.records))
    runs = len({number for _, number in study.records})
    figure = new_figure(10.0, 8.0)
    rows: list[list[object]] = []
    for name, ax in zip(panels, figure.subplots(2, 2).ravel(), strict=False):
        table = np.array([study.records[name, number]["auc"] for number in range(runs)])  # run, share, method
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


def one_run(benchmark: Benchmark, dataset: str, number: int, folder: Path | None) -> Record:
    """AUC of the printed methods for each share of the training rows, the smaller within the larger.

    Settings, and the largest values that columns are divided by, come from the whole training set of a run.
    """
    settings = benchmark.settings
    whole = split_rows(dataset, number, settings, folder)
    rng = np.random.default_rng([settings.seed, 4, PANELS.index(dataset), number])
    classes = [rng.permutation(np.flatnonzero(whole.y == label)) for label in (0, 1)]
    result = []
    for share in SHARES:
        # both classes in proportion, and at least two rows of each
        rows = np.sort(np.concatenate([part[: max(2, round(share * part.size))] for part in classes]))
        part = RunSplit(whole.X[rows], whole.y[rows], whole.X_test, whole.y_test)
        draw = draw_rows(part, rng)
        aucs = []
        for method in PRINTED:
            # where each run has halves of its own, its own setting: another run's has seen the test rows
            setting = benchmark.outcomes(dataset, method.key)[number if is_halved(dataset) else 0].setting
            w = method.weights(draw, setting)
            aucs.append(100 * roc_auc(part.y_test, part.X_test @ w))
        result.append(aucs)
    return {"data": benchmark.records[dataset, 0]["data"], "auc": result}
