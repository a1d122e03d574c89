"""What was tried and how it scored, in the shape of ``GridSearchCV.cv_results_``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairLoss, Region

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """Penalties, and where these are chosen as well a loss, a way to divide columns and a region."""

    l1: float
    l2: float
    loss: PairLoss | None = None
    scale: bool | Literal["auto"] = "auto"
    region: Region | None = None

    @property
    def params(self) -> dict[str, Any]:
        """What was tried, by name."""
        named: dict[str, Any] = {} if self.loss is None else {"loss": self.loss.name, "scale": self.scale}
        if self.region is not None:
            named["max_fpr"] = self.region.max_fpr
        return named | {"l1": self.l1, "l2": self.l2}


@dataclass(frozen=True)
class Trial:
    """All pairs of some penalties, l2 the fastest; the rest is as for a candidate."""

    l1: list[float]
    l2: list[float]
    loss: PairLoss | None = None
    scale: bool | Literal["auto"] = "auto"
    region: Region | None = None

    @property
    def candidates(self) -> list[Candidate]:
        """Each pair."""
        return [Candidate(a, b, self.loss, self.scale, self.region) for a in self.l1 for b in self.l2]


@dataclass(frozen=True, eq=False)
class Tried:
    """Candidates, their scores on each split, shape (splits, candidates), and other numbers of that shape."""

    candidates: list[Candidate]
    table: Array
    more: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, trials: Sequence[Trial], table: Array, **more: Array) -> Tried:
        """Scores of all candidates of some trials."""
        return cls([one for trial in trials for one in trial.candidates], table, more)

    def __add__(self, other: Tried) -> Tried:
        return Tried(self.candidates + other.candidates, np.hstack([self.table, other.table]))

    @cached_property
    def means(self) -> Array:
        """Mean score of each candidate."""
        return np.asarray(self.table.mean(axis=0))

    def without(self, places: Sequence[int]) -> Tried:
        """The same places with the lowest scores for some of them, so that others are taken."""
        table = self.table.copy()
        table[:, list(places)] = 0.0
        return Tried(self.candidates, table, self.more)

    def find(self, place: int) -> Candidate:
        """The candidate of a place."""
        return self.candidates[place]

    def path(self, place: int) -> tuple[list[float], int, Array]:
        """Values of l2 that were tried with all else as in a place, which of them is its, and their scores."""
        own = self.candidates[place].params
        rest = {name: value for name, value in own.items() if name != "l2"}
        places = [k for k, one in enumerate(self.candidates) if rest.items() <= one.params.items()]
        return [self.candidates[k].l2 for k in places], places.index(place), self.means[places]

    def best_of(self, places: Sequence[int]) -> int:
        """The place with the highest mean score, the first of equal ones."""
        return int(places[int(np.argmax(self.means[list(places)]))])

    def behind(self, place: int, best: int, n_folds: int) -> tuple[float, float]:
        """How far the mean score of a place is behind the best, and the standard error of that by split.

        Repeats use the same rows again, so that the error is that of one round of folds.
        """
        difference = self.table[:, best] - self.table[:, place]
        spread = float(difference.std(ddof=1)) if difference.size > 1 else 0.0
        return float(difference.mean()), spread / float(np.sqrt(n_folds))

    def has_units_of(self, place: int, other: int) -> bool:
        """Whether the penalties of two places can be compared: they divide columns alike, in one region."""
        one, two = self.candidates[place], self.candidates[other]
        return (one.scale, one.region) == (two.scale, two.region)

    def take_simplest(self, places: Sequence[int]) -> int:
        """Of some places that with the largest l1, among those the largest l2."""
        return max(places, key=lambda place: (self.candidates[place].l1, self.candidates[place].l2))

    def results(self) -> dict[str, Any]:
        """In the shape of ``GridSearchCV.cv_results_``."""
        params = [one.params for one in self.candidates]
        found: dict[str, Any] = {f"param_{name}": _column([one[name] for one in params]) for name in params[0]}
        found |= {
            "params": params,
            **{f"split{k}_test_score": row for k, row in enumerate(self.table)},
            "mean_test_score": self.means,
            "std_test_score": self.table.std(axis=0),
            **{f"mean_test_{name}": values.mean(axis=0) for name, values in self.more.items()},
        }
        found["rank_test_score"] = 1 + np.searchsorted(np.sort(-self.means), -self.means).astype(np.int32)
        return found


def _column(values: list[Any]) -> NDArray[Any]:
    """Values as an array that keeps words and flags as they are."""
    mixed = not all(isinstance(value, float) for value in values)
    return np.array(values, dtype=object) if mixed else np.array(values)
