"""What the runs on click logs have found: settings chosen on validation rows, and paired tests on test rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from mbauc.paper.studies.click_methods import NAMES, Step
from mbauc.paper.studies.click_sets import SETS
from mbauc.paper.studies.provenance import made_with

if TYPE_CHECKING:
    from mbauc.paper.studies.clicks import Settings

#: Of all intervals.
CONFIDENCE = 0.95


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


def by_the_clock(seed: int, seconds: float) -> str:
    """A sentence on seed, versions and machine as on other pages, but with the time that passed."""
    return f"{made_with(seed, seconds).rpartition('; ')[0]}; {seconds / 60:.1f} minutes by the clock."


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
        half = float(ndtri(0.5 + CONFIDENCE / 2)) * error
        z = abs(gap) / error if error > 0 else (0.0 if gap == 0 else np.inf)
        return Difference(ours, rival, 100 * gap, 100 * (gap - half), 100 * (gap + half), float(2 * ndtr(-z)))

    def gain(self, dataset: str, ours: Iterable[str], rivals: Iterable[str]) -> Difference:
        """The best of some methods against the best of others; both are picked on the validation rows."""
        return self.difference(dataset, self.best(dataset, ours), self.best(dataset, rivals))

    @property
    def seconds(self) -> float:
        """Time that all runs together took, by the clock."""
        return float(sum(record["about"]["seconds"] for record in self._records.values()))
