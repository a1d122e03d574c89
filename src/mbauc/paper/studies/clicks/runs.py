"""The runs on click logs behind Figure 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import compare_roc_auc, roc_auc, roc_auc_interval
from mbauc.paper.studies.clicks.methods import (
    ELASTIC_NET_TOL,
    EXACT,
    RIDGE_TOL,
    RIVALS,
    SAMPLED,
    RivalModels,
    Step,
    mba_paths,
)
from mbauc.paper.studies.clicks.pairs import AllPairs, SampledPairs
from mbauc.paper.studies.clicks.results import CONFIDENCE, QUICK, ClickResults, Point, Settings, choose
from mbauc.paper.studies.clicks.sets import SETS, ClickSet, select_sets
from mbauc.paper.study import Record, Request, Study, load_available
from mbauc.rows.source import RawBlock
from mbauc.runtime.progress import Advance, progress, silent
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

# -- one set --------------------------------------------------------------------------------------------------


def one_set(clicks: ClickSet, settings: Settings, n_threads: int, advance: Advance = silent) -> Record:
    """All methods on a set: one pass over its chunks, then a solution for each λ."""
    rng = np.random.default_rng([settings.seed, 6, list(SETS).index(clicks.key)])
    rivals = RivalModels(settings.grid, settings.n_steps, clicks.n_fit, settings.seed)
    sampled = SampledPairs(clicks.n_features, n_threads, rng)
    exact = AllPairs(clicks.n_features, n_threads)
    for chunk in clicks.chunks():
        rivals.learn(chunk, n_threads)
        sampled.add(chunk)
        exact.add(chunk)
        advance(1)
    weights: dict[str, list[tuple[float, Step | None, Array | None]]] = {}
    late = _add_paths(weights, sampled, "mba", settings)
    late += _add_paths(weights, exact, "exact", settings)
    for (key, value, step), w in rivals.weights():
        weights.setdefault(key, []).append((value, step, w))
    fixed = {rival.key: rival.fixed for rival in RIVALS}
    for key, step in fixed.items():
        weights[f"{key}-fixed"] = [place for place in weights[key] if place[1] == step]
    points, scores = _judge(clicks, weights, n_threads)
    if clicks.wide is not None and settings.wide:
        wide = AllPairs(clicks.wide.n_features, n_threads)
        for chunk in clicks.wide.chunks():
            wide.add(chunk)
        more: dict[str, list[tuple[float, Step | None, Array | None]]] = {}
        late += _add_paths(more, wide, "wide", settings)
        wide_points, wide_scores = _judge(clicks.wide, more, n_threads)
        points |= wide_points
        scores |= wide_scores
    y = clicks.test().y
    return {
        "data": clicks.data,
        "about": {
            "title": clicks.title,
            "paper": clicks.paper,
            "fit": clicks.n_fit,
            "validation": clicks.n_validation,
            "test": clicks.n_test,
            "positives": float(y.mean()),
            "chunks": clicks.n_chunks,
            "pairs": sampled.n_pairs,
            "unfinished": late,
            "diverged": [key for key in weights if key not in points],
            "best_auc": None if clicks.best_auc is None else clicks.best_auc(),
        },
        "curves": points,
        "tests": _compare(y, scores),
    }


def _add_paths(
    weights: dict[str, list[tuple[float, Step | None, Array | None]]],
    pairs: AllPairs | SampledPairs,
    prefix: str,
    settings: Settings,
) -> int:
    paths, late = mba_paths(pairs.rows(), prefix, settings.grid)
    for key, path in paths.items():
        weights[key] = [(value, None, w) for value, w in zip(settings.grid, path, strict=True)]
    return late


def _judge(
    clicks: ClickSet, weights: Mapping[str, list[tuple[float, Step | None, Array | None]]], n_threads: int
) -> tuple[dict[str, list[Point]], dict[str, Array]]:
    """Points of all settings, and the test scores of those that the validation rows favour.

    A method that diverged with all settings is left out.
    """
    validation, test = clicks.validation(), clicks.test()

    def task(which: tuple[float, Step | None, Array | None]) -> Point:
        value, step, w = which
        return Point(value, step, _auc(validation, w), _auc(test, w))

    points = {key: run_threads(task, path, n_threads) for key, path in weights.items()}
    points = {key: found for key, found in points.items() if any(np.isfinite(one.validation) for one in found)}
    scores = {}
    for key, found in points.items():
        w = weights[key][found.index(choose(found))][2]
        scores[key] = np.asarray(test.X @ w)
    return points, scores


def _auc(block: RawBlock, w: Array | None) -> float:
    return float("nan") if w is None or not np.isfinite(w).all() else roc_auc(block.y, block.X @ w)


def _compare(y: NDArray[np.int8], scores: Mapping[str, Array]) -> dict[str, Any]:
    """What paired tests of any two methods need, and the interval of each."""
    found = compare_roc_auc(y, scores)
    intervals = {}
    for key, values in scores.items():
        one = roc_auc_interval(y, values, confidence=CONFIDENCE)
        intervals[key] = [float(one.low), float(one.high)]
    return {
        "methods": list(scores),
        "auc": found.auc.tolist(),
        "covariance": found.covariance.tolist(),
        "intervals": intervals,
    }


# -- all sets -------------------------------------------------------------------------------------------------


def run_requested(request: Request) -> ClickResults:
    """The runs that a user asks for."""
    settings = QUICK if request.quick else Settings()
    return run(
        replace(settings, seed=request.seed, rows=request.rows or settings.rows),
        request.out,
        datasets=select_sets(request.datasets, tuple(SETS)),
        folder=request.data_dir,
        n_jobs=request.n_jobs,
    )


def run(
    settings: Settings,
    out: Path,
    *,
    datasets: tuple[str, ...] = tuple(SETS),
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> ClickResults:
    """Run what is not yet in the journal, with a progress bar for each set.

    Real samples that are not there are left out and named in ``missing``. Memory: a chunk, 2 GB of compact rows
    for either kind of pairs (more go to temporary files), and the validation and test rows.
    """
    present, missing = load_available(
        datasets, lambda key: SETS[key](settings.rows, settings.seed, folder, n_jobs)
    )
    study = Study(
        out,
        "clicks",
        ("dataset",),
        {
            **asdict(settings),
            "steps": {rival.key: [*rival.steps[: settings.n_steps], rival.fixed] for rival in RIVALS},
            "tolerances": [RIDGE_TOL, ELASTIC_NET_TOL],
            "methods": [*SAMPLED, *EXACT],
        },
    )
    for key, clicks in present.items():
        study.check_data(key, clicks.data, clicks.title)

    def perform(key: str) -> Record:
        label = f"{present[key].title} ({1 + datasets.index(key)}/{len(datasets)})"
        with progress(present[key].n_chunks, label, unit="chunk", delay=0.0) as advance:
            return one_set(present[key], settings, thread_count(n_jobs), advance)

    # all threads work on one set
    tasks = [(key,) for key in present]
    records = study.run(perform, tasks, n_jobs=1, what="sets", unit="set", show=False)
    return ClickResults(settings, records, missing)
