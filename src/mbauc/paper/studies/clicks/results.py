"""What the runs on click logs depend on and have found: choices on validation rows, tests on test rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from mbauc.checks import check_whole
from mbauc.paper.studies.clicks.methods import NAMES, Step
from mbauc.paper.studies.clicks.sets import FULL_SETS, SETS
from mbauc.paper.study import Results

#: Of all intervals.
CONFIDENCE = 0.95
#: Fewer rows leave hardly a positive one to choose settings on.
FEWEST_ROWS = 2_000


@dataclass(frozen=True)
class Settings:
    """What the results depend on."""

    #: Training rows of each synthetic log, the rows to choose settings on included; never more than the paper
    #: has.
    rows: int = 1_000_000
    #: Values of λ, the smallest first.
    grid: tuple[float, ...] = tuple(float(f"{10.0 ** (k / 2):.4g}") for k in range(-12, 1))
    #: Steps that each rival may try.
    n_steps: int = 4
    #: Whether the exact fit is also made in all columns of the real Criteo sample.
    wide: bool = True
    #: Of everything drawn.
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, low=FEWEST_ROWS)


@dataclass(frozen=True)
class FullSettings:
    """What the results at the paper's sizes depend on, besides the steps that fewer rows favour."""

    #: Share of the paper's rows; less than 1 for a rehearsal.
    share: float = 1.0
    #: Values of λ for MBA and exact, the smallest first.
    grid: tuple[float, ...] = tuple(float(f"{10.0 ** (k / 2):.4g}") for k in range(-14, -1))
    #: Values of λ for rivals, some of these.
    rival_grid: tuple[float, ...] = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
    #: Steps that each rival may try: the best with fewer rows.
    n_steps: int = 2
    #: Of everything drawn.
    seed: int = 0

    @property
    def wide(self) -> bool:
        """There are no rows with more columns."""
        return False


QUICK = Settings(rows=50_000, grid=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1), n_steps=2, wide=False)


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


def choose(curve: Iterable[Point]) -> Point:
    """The settings that are best on the validation rows; test rows have no say."""
    return max((point for point in curve if np.isfinite(point.validation)), key=lambda point: point.validation)


class ClickResults(Results[Settings | FullSettings]):
    """What the runs have found; AUCs are percentages."""

    @property
    def datasets(self) -> list[str]:
        """Keys of the sets that were run."""
        return [key for key in (*FULL_SETS, *SETS) if (key,) in self.records]

    def about(self, dataset: str) -> dict[str, Any]:
        """Title, rows, pairs, and what else is known of a set."""
        return dict(self.records[dataset,]["about"])

    def methods(self, dataset: str) -> list[str]:
        """Keys of the methods that took part, in the order of :data:`NAMES`."""
        return [key for key in NAMES if key in self.records[dataset,]["curves"]]

    def curve(self, dataset: str, key: str) -> list[Point]:
        """All settings of a method."""
        found = (Point(*numbers) for numbers in self.records[dataset,]["curves"][key])
        return [point._replace(validation=100 * point.validation, test=100 * point.test) for point in found]

    def line(self, dataset: str, key: str) -> list[Point]:
        """A point for each λ, with the step that is best for it on the validation rows."""
        curve = [point for point in self.curve(dataset, key) if np.isfinite(point.validation)]
        present = sorted({point.penalty for point in curve})
        return [choose(point for point in curve if point.penalty == value) for value in present]

    def best_steps(self, dataset: str, key: str, count: int) -> list[Step]:
        """The steps with which a rival is best on the validation rows, the best first."""
        best: dict[Step, float] = {}
        for point in self.curve(dataset, key):
            if point.step is not None and np.isfinite(point.validation):
                best[point.step] = max(best.get(point.step, 0.0), point.validation)
        return sorted(best, key=lambda step: -best[step])[:count]

    def choice(self, dataset: str, key: str) -> Point:
        """What the validation rows favour."""
        return choose(self.curve(dataset, key))

    def interval(self, dataset: str, key: str) -> tuple[float, float]:
        """DeLong's interval of the test AUC."""
        low, high = self.records[dataset,]["tests"]["intervals"][key]
        return 100 * low, 100 * high

    def best(self, dataset: str, keys: Iterable[str]) -> str:
        """The method that the validation rows favour."""
        present = [key for key in keys if key in self.records[dataset,]["curves"]]
        return max(present, key=lambda key: self.choice(dataset, key).validation)

    def difference(self, dataset: str, ours: str, rival: str) -> Difference:
        """Paired test of two methods, each with its chosen settings, on the same test rows."""
        tests = self.records[dataset,]["tests"]
        i, j = tests["methods"].index(ours), tests["methods"].index(rival)
        cov = np.array(tests["covariance"])
        gap = tests["auc"][i] - tests["auc"][j]
        error = float(np.sqrt(max(cov[i, i] + cov[j, j] - 2 * cov[i, j], 0.0)))
        half = float(ndtri(0.5 + CONFIDENCE / 2)) * error
        z = abs(gap) / error if error > 0 else (0.0 if gap == 0 else np.inf)
        return Difference(ours, rival, 100 * gap, 100 * (gap - half), 100 * (gap + half), float(2 * ndtr(-z)))

    def gain(self, dataset: str, ours: Iterable[str], rivals: Iterable[str]) -> Difference:
        """The best of some methods against the best of others; both are picked on the validation rows."""
        return self.difference(dataset, self.best(dataset, ours), self.best(dataset, rivals))
