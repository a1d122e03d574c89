"""What was tried and how it scored, in the shape of ``GridSearchCV.cv_results_``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairLoss

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """All pairs of some penalties, for one loss and one way to divide columns where these are chosen as well."""

    l1: list[float]
    l2: list[float]
    loss: PairLoss | None = None
    scale: bool | Literal["auto"] = "auto"

    @property
    def params(self) -> list[dict[str, Any]]:
        """Parameters of each candidate, l2 the fastest."""
        named = {} if self.loss is None else {"loss": self.loss.name, "scale": self.scale}
        return [named | {"l1": a, "l2": b} for a in self.l1 for b in self.l2]

    def place(self, index: int) -> tuple[int, int]:
        """Which l1 and which l2 a candidate has."""
        return divmod(index, len(self.l2))


class Chosen(NamedTuple):
    """A candidate: its trial, and the places of its penalties there."""

    trial: Trial
    i: int
    j: int
    #: where its trial begins among all candidates
    start: int

    @property
    def row(self) -> slice:
        """Candidates of the same loss and l1."""
        start = self.start + self.i * len(self.trial.l2)
        return slice(start, start + len(self.trial.l2))


def find_candidate(trials: Sequence[Trial], index: int) -> Chosen:
    """The candidate of a place among all."""
    start = 0
    for trial in trials:
        size = len(trial.l1) * len(trial.l2)
        if index < start + size:
            return Chosen(trial, *trial.place(index - start), start)
        start += size
    raise IndexError(index)


def tabulate(trials: Sequence[Trial], table: Array, **means: Array) -> dict[str, Any]:
    """Scores of each candidate on each split, shape (splits, candidates), and means of other numbers."""
    params = [one for trial in trials for one in trial.params]
    mean = table.mean(axis=0)
    results: dict[str, Any] = {f"param_{name}": _column([one[name] for one in params]) for name in params[0]}
    results |= {
        "params": params,
        **{f"split{k}_test_score": row for k, row in enumerate(table)},
        "mean_test_score": mean,
        "std_test_score": table.std(axis=0),
        **{f"mean_test_{name}": values.mean(axis=0) for name, values in means.items()},
    }
    results["rank_test_score"] = 1 + np.searchsorted(np.sort(-mean), -mean).astype(np.int32)
    return results


def _column(values: list[Any]) -> NDArray[Any]:
    """Values as an array that keeps the types of words and flags."""
    mixed = not all(isinstance(value, float) for value in values)
    return np.array(values, dtype=object) if mixed else np.array(values)


def paired_error(table: Array, first: int, second: int) -> float:
    """Standard error, over the splits, of the difference between the mean scores of two candidates."""
    difference = table[:, first] - table[:, second]
    return float(difference.std(ddof=1) / np.sqrt(len(table))) if len(table) > 1 else 0.0


def take_simplest(results: dict[str, Any], good: NDArray[np.intp]) -> int:
    """Of some candidates that with the largest l1, among those the largest l2."""
    return int(good[np.lexsort((results["param_l2"][good], results["param_l1"][good]))[-1]])
