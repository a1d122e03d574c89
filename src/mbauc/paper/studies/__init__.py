"""The experiments of the MBA paper: each is a module with settings, the task of a study, and a page."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from mbauc.paper.study import Request


class Experiment(NamedTuple):
    """Where an experiment is, what it is and how long it takes, and whether it draws a figure."""

    module: str
    summary: str
    draws: bool = True


#: All experiments; the module of each has ``reproduce``, from a request to the files written.
EXPERIMENTS = {
    "figure1": Experiment("figure1", "detection and learning side by side"),
    "table1": Experiment("table1", "the data sets", draws=False),
    "table2": Experiment(
        "simulation.table2",
        "AUC of all methods on Gaussian mixtures (about 10 minutes on 2 cores)",
        draws=False,
    ),
    "figure2": Experiment("simulation.figure2", "their ROC curves"),
    "linearity": Experiment("linearity", "half a minute"),
    "table3": Experiment(
        "benchmark.table3", "AUC on the benchmark data sets (under half an hour)", draws=False
    ),
    "figure3": Experiment("benchmark.figure3", "AUC against sample size"),
    "partial_auc": Experiment(
        "benchmark.partial_auc", "detections at few false alarms (some minutes)", draws=False
    ),
    "tables": Experiment(
        "tables.page",
        "raw and other tables, against LightGBM, EBM and others, with times and memory (hours)",
        draws=False,
    ),
    "one_door": Experiment(
        "one_door.page",
        "TableRanker, LightGBM, EBM and skrub with nothing set, on files as pandas reads them (an hour or two)",
        draws=False,
    ),
    "figure4": Experiment(
        "clicks.figure4",
        "AUC on click logs against the penalty (about a quarter of an hour; half an hour more with --full)",
    ),
    "figure5": Experiment("clicks.figure5", "running times on click logs (some minutes; ten more with --full)"),
}


def reproduce(name: str, request: Request) -> list[Path]:
    """Run an experiment and return the files written."""
    experiment = EXPERIMENTS[name]
    if experiment.draws:
        from mbauc.plots import new_figure

        new_figure()  # a missing matplotlib is an error before a long run, not after it
    request.out.mkdir(parents=True, exist_ok=True)
    return list(import_module(f"{__name__}.{experiment.module}").reproduce(request))
