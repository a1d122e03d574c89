"""The runs on click logs behind Figure 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import compare_roc_auc, roc_auc_interval
from mbauc.paper.machine import describe_machine, measure_load
from mbauc.paper.studies.clicks.held import HeldRows
from mbauc.paper.studies.clicks.methods import (
    ELASTIC_NET_TOL,
    EXACT,
    RIDGE_TOL,
    RIVALS,
    SAMPLED,
    Place,
    RivalModels,
    Step,
    first_steps,
    list_places,
    mba_paths,
)
from mbauc.paper.studies.clicks.pairs import AllPairs, SampledPairs
from mbauc.paper.studies.clicks.results import (
    CONFIDENCE,
    QUICK,
    ClickResults,
    FullSettings,
    Point,
    Settings,
    choose,
)
from mbauc.paper.studies.clicks.sets import FULL_SETS, SETS, ClickSet, select_sets
from mbauc.paper.study import Record, Request, Study, load_available
from mbauc.runtime.progress import Advance, Progress, progress, silent
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]
#: λ, step and weights; no weights where a method diverged.
Fitted = tuple[float, Step | None, Array | None]

#: Rows for each column from which on a product with Σ costs less than one with the rows.
_FORM_FROM = 300

# -- one set --------------------------------------------------------------------------------------------------


def one_set(
    clicks: ClickSet,
    settings: Settings | FullSettings,
    n_threads: int,
    advance: Progress = silent,
    places: Sequence[Place] | None = None,
) -> Record:
    """All methods on a set: one pass over its chunks, then a solution for each λ.

    Rivals have the settings of ``places``, or each λ with each of their first steps. ``advance`` is called for
    each chunk, and for each setting that is judged.
    """
    if places is None:
        places = list_places(settings.grid, first_steps(settings.n_steps))
    rng = np.random.default_rng([settings.seed, 6, [*SETS, *FULL_SETS].index(clicks.key)])
    judged = len(places) + (len(SAMPLED) + len(EXACT)) * len(settings.grid)
    advance.expect(clicks.n_chunks + judged)
    rivals = RivalModels(places, clicks.n_fit, settings.seed)
    form = clicks.n_fit >= _FORM_FROM * clicks.n_features
    sampled = SampledPairs(clicks.n_features, n_threads, rng, form=form)
    exact = AllPairs(clicks.n_features, n_threads, form=form)
    loads = [measure_load()]
    for chunk in clicks.chunks():
        rivals.learn(chunk, n_threads)
        sampled.add(chunk)
        exact.add(chunk)
        loads.append(measure_load())
        advance(1)
    weights: dict[str, list[Fitted]] = {}
    side_by_side = n_threads if form else 1
    late = _add_paths(weights, sampled, "mba", settings.grid, side_by_side)
    late += _add_paths(weights, exact, "exact", settings.grid, side_by_side)
    n_pairs = sampled.n_pairs
    del sampled, exact
    for (key, value, step), w in rivals.weights():
        weights.setdefault(key, []).append((value, step, w))
    if isinstance(settings, Settings):
        fixed = {rival.key: rival.fixed for rival in RIVALS}
        for key, step in fixed.items():
            weights[f"{key}-fixed"] = [place for place in weights[key] if place[1] == step]
    test = HeldRows(clicks.test(), clicks.n_features)
    points, scores = _judge(clicks, test, weights, n_threads, advance)
    if clicks.wide is not None and settings.wide:
        wide = AllPairs(clicks.wide.n_features, n_threads)
        for chunk in clicks.wide.chunks():
            wide.add(chunk)
        more: dict[str, list[Fitted]] = {}
        late += _add_paths(more, wide, "wide", settings.grid, 1)
        wide_test = HeldRows(clicks.wide.test(), clicks.wide.n_features)
        wide_points, wide_scores = _judge(clicks.wide, wide_test, more, n_threads, advance)
        points |= wide_points
        scores |= wide_scores
    loads.append(measure_load())
    known = [load for load in loads if load is not None]
    return {
        "data": clicks.data,
        "about": {
            "title": clicks.title,
            "paper": clicks.paper,
            "fit": clicks.n_fit,
            "validation": clicks.n_validation,
            "test": clicks.n_test,
            "positives": float(test.y.mean()),
            "chunks": clicks.n_chunks,
            "pairs": n_pairs,
            "unfinished": late,
            "diverged": [key for key in weights if key not in points],
            "best_auc": None if clicks.best_auc is None else clicks.best_auc(),
            "machine": describe_machine(),
            "threads": n_threads,
            "load": float(np.mean(known)) if known else None,
        },
        "curves": points,
        "tests": _compare(test.y, scores),
    }


def _add_paths(
    weights: dict[str, list[Fitted]],
    pairs: AllPairs | SampledPairs,
    prefix: str,
    grid: tuple[float, ...],
    n_threads: int,
) -> int:
    paths, late = mba_paths(pairs.rows(), prefix, grid, n_threads)
    for key, path in paths.items():
        weights[key] = [(value, None, w) for value, w in zip(grid, path, strict=True)]
    return late


def _judge(
    clicks: ClickSet,
    test: HeldRows,
    weights: Mapping[str, list[Fitted]],
    n_threads: int,
    advance: Advance,
) -> tuple[dict[str, list[Point]], dict[str, Array]]:
    """Points of all settings, and the test scores of those that the validation rows favour.

    A method that diverged with all settings is left out.
    """
    validation = HeldRows(clicks.validation(), clicks.n_features)

    def task(which: Fitted) -> Point:
        value, step, w = which
        found = Point(value, step, validation.auc(w), test.auc(w))
        advance(1)
        return found

    points = {key: run_threads(task, path, n_threads) for key, path in weights.items()}
    points = {key: found for key, found in points.items() if any(np.isfinite(one.validation) for one in found)}
    scores = {}
    for key, found in points.items():
        w = weights[key][found.index(choose(found))][2]
        if w is not None:
            scores[key] = test.scores(w)
    return points, scores


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


def run_full_requested(request: Request, fewer: ClickResults) -> ClickResults:
    """The same at the paper's sizes, with the steps that fewer rows favour."""
    return run_full(
        FullSettings(seed=request.seed),
        fewer,
        request.out,
        datasets=select_sets(request.datasets, tuple(FULL_SETS)),
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
    return ClickResults(settings, _run_sets(study, present, settings, n_jobs), missing)


def run_full(
    settings: FullSettings,
    fewer: ClickResults,
    out: Path,
    *,
    datasets: tuple[str, ...] = tuple(FULL_SETS),
    n_jobs: int | None = None,
) -> ClickResults:
    """The same with as many rows as the paper has: half an hour on two free cores, and 4 GB of memory.

    Rivals have those steps that were best on the validation rows of ``fewer``.
    """
    present = {key: FULL_SETS[key](settings.share, settings.seed, n_jobs) for key in datasets}
    study = Study(
        out,
        "clicks_full",
        ("dataset",),
        {
            **asdict(settings),
            "steps_from": asdict(fewer.settings),
            "tolerances": [RIDGE_TOL, ELASTIC_NET_TOL],
            "methods": [*SAMPLED, *EXACT],
        },
    )

    def choose_places(key: str) -> list[Place]:
        shape = key.removesuffix("-full")
        steps = {rival.key: fewer.best_steps(shape, rival.key, settings.n_steps) for rival in RIVALS}
        return list_places(settings.rival_grid, steps)

    return ClickResults(settings, _run_sets(study, present, settings, n_jobs, choose_places))


def _run_sets(
    study: Study,
    present: Mapping[str, ClickSet],
    settings: Settings | FullSettings,
    n_jobs: int | None,
    choose_places: Callable[[str], list[Place] | None] = lambda key: None,
) -> dict[Any, Record]:
    for key, clicks in present.items():
        study.check_data(key, clicks.data, clicks.title)
    numbers = {key: number for number, key in enumerate(present, start=1)}

    def perform(key: str) -> Record:
        label = f"{present[key].title} ({numbers[key]}/{len(present)})"
        places = choose_places(key)
        with progress(None, label, unit="step", delay=0.0) as advance:
            return one_set(present[key], settings, thread_count(n_jobs), advance, places)

    # all threads work on one set
    tasks = [(key,) for key in present]
    return study.run(perform, tasks, n_jobs=1, what="sets", unit="set", show=False)
