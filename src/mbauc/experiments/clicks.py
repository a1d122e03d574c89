"""Section V-C, click logs: the runs behind Figure 4."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from mbauc.data.block import Block
from mbauc.errors import NotAvailableError
from mbauc.experiments.click_methods import (
    ELASTIC_NET_TOL,
    EXACT,
    NAMES,
    RIDGE_TOL,
    RIVALS,
    SAMPLED,
    RivalModels,
    Step,
    mba_paths,
)
from mbauc.experiments.click_pairs import AllPairs, SampledPairs
from mbauc.experiments.click_sets import SETS, ClickSet
from mbauc.experiments.ledger import Ledger
from mbauc.experiments.provenance import versions
from mbauc.metrics import compare_roc_auc, roc_auc, roc_auc_interval
from mbauc.progress import Advance, progress, silent
from mbauc.settings import check_whole
from mbauc.threads import run_threads, thread_count

Array = NDArray[np.float64]

_CONFIDENCE = 0.95
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
    seed : int
        Of everything drawn.
    """

    rows: int = 1_000_000
    grid: tuple[float, ...] = tuple(float(f"{10.0 ** (k / 2):.4g}") for k in range(-12, 1))
    n_steps: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, low=FEWEST_ROWS)


QUICK = Settings(rows=50_000, grid=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1), n_steps=2)


class Point(NamedTuple):
    """AUC of a method with given settings; NaN if it diverged."""

    penalty: float
    step: Step | None
    validation: float
    test: float


class Difference(NamedTuple):
    """Test AUC of one method less that of another in points, its 95% interval, and the paired DeLong test."""

    ours: str
    rival: str
    points: float
    low: float
    high: float
    p_value: float


def chosen(curve: Iterable[Point]) -> Point:
    """The settings that are best on the validation rows; test rows have no say."""
    return max((point for point in curve if np.isfinite(point.validation)), key=lambda point: point.validation)


class Study:
    """All that the runs have found; AUCs are percentages.

    Attributes
    ----------
    datasets : list of str
        Keys of the sets that were run.
    missing : dict
        Why the others were not.
    """

    def __init__(self, settings: Settings, records: Iterable[dict[str, Any]], missing: dict[str, str]) -> None:
        self.settings, self.missing = settings, missing
        self._records = {record["dataset"]: record for record in records}
        self.datasets = [key for key in SETS if key in self._records and key not in missing]

    def about(self, dataset: str) -> dict[str, Any]:
        """Title, rows, pairs, seconds, and what else is known of a set."""
        return dict(self._records[dataset]["about"])

    def methods(self, dataset: str) -> list[str]:
        """Keys of the methods that took part, in the order of :data:`NAMES`."""
        return [key for key in NAMES if key in self._records[dataset]["curves"]]

    def curve(self, dataset: str, key: str) -> list[Point]:
        """All settings of a method."""
        found = (Point(*numbers) for numbers in self._records[dataset]["curves"][key])
        return [point._replace(validation=100 * point.validation, test=100 * point.test) for point in found]

    def line(self, dataset: str, key: str) -> list[Point]:
        """A point for each λ, with the step that is best for it on the validation rows."""
        curve = [point for point in self.curve(dataset, key) if np.isfinite(point.validation)]
        present = [value for value in self.settings.grid if any(point.penalty == value for point in curve)]
        return [chosen(point for point in curve if point.penalty == value) for value in present]

    def chosen(self, dataset: str, key: str) -> Point:
        """What the validation rows favour."""
        return chosen(self.curve(dataset, key))

    def interval(self, dataset: str, key: str) -> tuple[float, float]:
        """DeLong's interval of the test AUC."""
        low, high = self._records[dataset]["tests"]["intervals"][key]
        return 100 * low, 100 * high

    def best(self, dataset: str, keys: Iterable[str]) -> str:
        """The method that the validation rows favour."""
        present = [key for key in keys if key in self._records[dataset]["curves"]]
        return max(present, key=lambda key: self.chosen(dataset, key).validation)

    def difference(self, dataset: str, ours: str, rival: str) -> Difference:
        """Paired test of two methods, each with its chosen settings, on the same test rows."""
        tests = self._records[dataset]["tests"]
        i, j = tests["methods"].index(ours), tests["methods"].index(rival)
        cov = np.array(tests["covariance"])
        gap = tests["auc"][i] - tests["auc"][j]
        error = float(np.sqrt(max(cov[i, i] + cov[j, j] - 2 * cov[i, j], 0.0)))
        half = float(ndtri(0.5 + _CONFIDENCE / 2)) * error
        z = abs(gap) / error if error > 0 else (0.0 if gap == 0 else np.inf)
        return Difference(ours, rival, 100 * gap, 100 * (gap - half), 100 * (gap + half), float(2 * ndtr(-z)))

    def gain(self, dataset: str, ours: Iterable[str], rivals: Iterable[str]) -> Difference:
        """The best of some methods against the best of others; both are picked on the validation rows."""
        return self.difference(dataset, self.best(dataset, ours), self.best(dataset, rivals))

    @property
    def seconds(self) -> float:
        """Time that all runs together took."""
        return float(sum(record["about"]["seconds"] for record in self._records.values()))


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
    if clicks.wide is not None:
        wide = AllPairs(clicks.wide.n_features, n_threads)
        for chunk in clicks.wide.chunks():
            wide.add(chunk)
        more: dict[str, list[tuple[float, Step | None, Array | None]]] = {}
        late += _add_paths(more, wide, "wide", settings)
        for mine, its in zip((points, scores), _judged(clicks.wide, more, n_threads), strict=True):
            mine.update(its)  # type: ignore[arg-type]
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
    """Points of all settings, and the test scores of those that the validation rows favour."""
    validation, test = clicks.validation(), clicks.test()

    def task(which: tuple[float, Step | None, Array | None]) -> Point:
        value, step, w = which
        return Point(value, step, _auc(validation, w), _auc(test, w))

    points = {key: run_threads(task, path, n_threads) for key, path in weights.items()}
    scores = {}
    for key, found in points.items():
        w = weights[key][found.index(chosen(found))][2]
        scores[key] = np.asarray(test.X @ w)
    return points, scores


def _auc(block: Block, w: Array | None) -> float:
    return float("nan") if w is None or not np.isfinite(w).all() else roc_auc(block.y, block.X @ w)


def _tests(y: NDArray[np.int8], scores: Mapping[str, Array]) -> dict[str, Any]:
    """What paired tests of any two methods need, and the interval of each."""
    found = compare_roc_auc(y, scores)
    intervals = {}
    for key, values in scores.items():
        one = roc_auc_interval(y, values, confidence=_CONFIDENCE)
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

    Real samples that are not there are left out and named in ``Study.missing``. Memory: a chunk, 2 GB of compact
    rows for either kind of pairs (more go to temporary files), and the validation and test rows.
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
        with progress(clicks.n_chunks, label, unit="chunk", delay=0.0) as advance:
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
