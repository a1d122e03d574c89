"""Section V-C, click logs: the runs behind Figure 4."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_whole
from mbauc.errors import NotAvailableError
from mbauc.metrics import compare_roc_auc, roc_auc, roc_auc_interval
from mbauc.paper.studies.click_methods import (
    ELASTIC_NET_TOL,
    EXACT,
    RIDGE_TOL,
    RIVALS,
    SAMPLED,
    RivalModels,
    Step,
    mba_paths,
)
from mbauc.paper.studies.click_pairs import AllPairs, SampledPairs
from mbauc.paper.studies.click_sets import SETS, ClickSet
from mbauc.paper.studies.click_study import CONFIDENCE, Point, Study, chosen
from mbauc.paper.studies.ledger import Ledger
from mbauc.paper.studies.provenance import versions
from mbauc.rows.source import RawBlock
from mbauc.runtime.progress import Advance, progress, silent
from mbauc.runtime.threads import run_threads, single_threaded_blas, thread_count

Array = NDArray[np.float64]

#: Fewer rows leave hardly a positive one to choose settings on.
FEWEST_ROWS = 2_000


@dataclass(frozen=True)
class Settings:
    """What the results depend on.

    Attributes
    ----------
    rows : int
        Training rows of each synthetic log, the rows to choose settings on included; never more than the
        paper has.
    grid : tuple of float
        Values of λ, the smallest first.
    n_steps : int
        Steps that each rival may try.
    wide : bool
        Whether the exact fit is also made in all columns of the real Criteo sample.
    seed : int
        Of everything drawn.
    """

    rows: int = 1_000_000
    grid: tuple[float, ...] = tuple(float(f"{10.0 ** (k / 2):.4g}") for k in range(-12, 1))
    n_steps: int = 4
    wide: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, low=FEWEST_ROWS)


QUICK = Settings(rows=50_000, grid=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1), n_steps=2, wide=False)


# -- one set --------------------------------------------------------------------------------------------------


def one_set(clicks: ClickSet, settings: Settings, n_threads: int, advance: Advance = silent) -> dict[str, Any]:
    """All methods on a set: one pass over its chunks, then a solution for each λ."""
    started = time.perf_counter()
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
    points, scores = _judged(clicks, weights, n_threads)
    if clicks.wide is not None and settings.wide:
        wide = AllPairs(clicks.wide.n_features, n_threads)
        for chunk in clicks.wide.chunks():
            wide.add(chunk)
        more: dict[str, list[tuple[float, Step | None, Array | None]]] = {}
        late += _add_paths(more, wide, "wide", settings)
        wide_points, wide_scores = _judged(clicks.wide, more, n_threads)
        points |= wide_points
        scores |= wide_scores
    y = clicks.test().y
    return {
        "dataset": clicks.key,
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
            "seconds": time.perf_counter() - started,
        },
        "curves": points,
        "tests": _tests(y, scores),
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


def _judged(
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
        w = weights[key][found.index(chosen(found))][2]
        scores[key] = np.asarray(test.X @ w)
    return points, scores


def _auc(block: RawBlock, w: Array | None) -> float:
    return float("nan") if w is None or not np.isfinite(w).all() else roc_auc(block.y, block.X @ w)


def _tests(y: NDArray[np.int8], scores: Mapping[str, Array]) -> dict[str, Any]:
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


def run(
    settings: Settings,
    out: Path,
    *,
    datasets: tuple[str, ...] = tuple(SETS),
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> Study:
    """Run what is not yet in the ledger, with a progress bar.

    Real samples that are not there are left out and named in ``Study.missing``. Memory: a chunk, 2 GB of
    compact rows for either kind of pairs (more go to temporary files), and the validation and test rows.
    """
    n_threads = thread_count(n_jobs)
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / "clicks.ledger", _dependencies(settings))
    missing: dict[str, str] = {}
    done = {record["dataset"]: record for record in ledger.records}
    for number, key in enumerate(datasets, start=1):
        try:
            clicks = SETS[key](settings.rows, settings.seed, folder, n_jobs)
        except (NotAvailableError, ImportError) as error:
            missing[key] = str(error)
            continue
        if key in done:
            if done[key]["data"] != clicks.data:
                raise ValueError(
                    f"{out / 'clicks.ledger'} has results of other files of {clicks.title}. "
                    "Delete it, or choose another folder."
                )
            continue
        label = f"{clicks.title} ({number}/{len(datasets)})"
        with progress(clicks.n_chunks, label, unit="chunk", delay=0.0) as advance, single_threaded_blas():
            ledger.append(one_set(clicks, settings, n_threads, advance))
    return Study(settings, [one for one in ledger.records if one["dataset"] in datasets], missing)


def _dependencies(settings: Settings) -> dict[str, Any]:
    return {
        **asdict(settings),
        "steps": {rival.key: [*rival.steps[: settings.n_steps], rival.fixed] for rival in RIVALS},
        "tolerances": [RIDGE_TOL, ELASTIC_NET_TOL],
        "methods": [*SAMPLED, *EXACT],
        **versions(),
    }
