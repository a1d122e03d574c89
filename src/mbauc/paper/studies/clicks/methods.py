"""The lines of Figure 4: what each method is, what its penalty means, and which steps it may try."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mbauc.errors import DivergedError
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.paper.rivals import FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression
from mbauc.paper.rivals.mini_batch_pairwise import Loss
from mbauc.paper.studies.clicks.formed import FormedPairs
from mbauc.rows.source import RawBlock
from mbauc.runtime.threads import run_threads
from mbauc.solvers import (
    Penalty,
    Solution,
    elastic_net_path_matrix_free,
    ridge_path_matrix_free,
    solve_elastic_net_matrix_free,
)

Array = NDArray[np.float64]
Step = float | str

#: Excess of the regularised risk at which ridge stops.
RIDGE_TOL = 1e-5
#: Excess of the regularised risk at which the elastic net stops.
ELASTIC_NET_TOL = 1e-4
_MAX_PRODUCTS = 500


class Rival(NamedTuple):
    """A method that learns row by row or batch by batch."""

    #: Names in files and on pages.
    key: str
    name: str
    #: Step sizes that it may try.
    steps: tuple[Step, ...]
    #: The one that it has where steps are not tuned.
    fixed: float
    #: From λ, step, number of rows and seed to an estimator.
    make: Callable[[float, Step, int, int], Any]


def _olr(penalty: float, step: Step, n: int, seed: int) -> Any:
    return OnlineLogisticRegression(eta0=step, l2=penalty)  # type: ignore[arg-type]


def _solr(penalty: float, step: Step, n: int, seed: int) -> Any:
    return FTRLProximal(alpha=float(step), lambda_1=penalty * n)


def _mini_batch(loss: Loss) -> Callable[[float, Step, int, int], Any]:
    def make(penalty: float, step: Step, n: int, seed: int) -> Any:
        return MiniBatchPairwise(loss, eta0=step, l2=penalty, random_state=seed)  # type: ignore[arg-type]

    return make


RIVALS = (
    Rival("olr", "OLR", (1.0, "auto", 0.3, 3.0), 1.0, _olr),
    Rival("solr", "SOLR", (0.1, 0.03, 0.3, 1.0), 0.1, _solr),
    Rival("mb-psl", "MB-PSL", (1.0, "auto", 0.1, 0.3), 1.0, _mini_batch("squared")),
    Rival("mb-phl", "MB-PHL", (1.0, "auto", 0.3, 3.0), 1.0, _mini_batch("hinge")),
)
#: MBA from sampled pairs, from all pairs, and from all pairs before columns were folded.
_KINDS = {"l2": "ℓ2", "l1": "ℓ1", "el": "EL"}
SAMPLED = {f"mba-{kind}": f"MBA-{sign}" for kind, sign in _KINDS.items()}
EXACT = {f"exact-{kind}": f"exact-{sign}" for kind, sign in _KINDS.items()}
WIDE = {f"wide-{kind}": f"exact-{sign}, 2²⁰ columns" for kind, sign in _KINDS.items()}
#: Rivals with their best step, and with the fixed one.
TUNED = {rival.key: rival.name for rival in RIVALS}
FIXED = {f"{rival.key}-fixed": f"{rival.name}, step fixed" for rival in RIVALS}
NAMES = {**SAMPLED, **TUNED, **EXACT, **FIXED, **WIDE}


# -- MBA ------------------------------------------------------------------------------------------------------


def mba_paths(
    pairs: SparsePairOperator | FormedPairs, prefix: str, grid: tuple[float, ...], n_threads: int = 1
) -> tuple[dict[str, list[Array]], int]:
    """Weights in all columns by ``prefix-l2``, ``-l1`` and ``-el``, for each λ; and how many are not finished.

    λ is l2, l1, or twice of either for the elastic net. ``n_threads`` of the three are found side by side.
    """
    unit = np.ones(pairs.mu.size)
    solvers: dict[str, Callable[[], list[Solution]]] = {
        "l2": lambda: ridge_path_matrix_free(pairs, grid, unit, tol=RIDGE_TOL, max_iter=_MAX_PRODUCTS),
        "l1": lambda: elastic_net_path_matrix_free(
            pairs, grid, 0.0, unit, tol=ELASTIC_NET_TOL, max_iter=_MAX_PRODUCTS
        ),
        "el": lambda: _solve_halves(pairs, grid, unit),
    }
    with warnings.catch_warnings():
        # those that do not reach the tolerance are counted and said on the page
        warnings.simplefilter("ignore", ConvergenceWarning)
        paths = run_threads(lambda solve: solve(), solvers.values(), n_threads)
    found = dict(zip(solvers, paths, strict=True))
    late = sum(one.excess_risk > RIDGE_TOL for one in found["l2"])
    late += sum(one.excess_risk > ELASTIC_NET_TOL for kind in ("l1", "el") for one in found[kind])
    return {
        f"{prefix}-{kind}": [pairs.order.restore(one.coef) for one in path] for kind, path in found.items()
    }, late


def _solve_halves(
    pairs: SparsePairOperator | FormedPairs, grid: tuple[float, ...], unit: Array
) -> list[Solution]:
    """One half of λ for either term, from the largest λ down, each starting from the one before."""
    solutions: dict[float, Solution] = {}
    start = None
    for value in sorted(set(grid), reverse=True):
        solutions[value] = solve_elastic_net_matrix_free(
            pairs,
            Penalty(value / 2, value / 2, unit),
            tol=ELASTIC_NET_TOL,
            max_iter=_MAX_PRODUCTS,
            start=start,
        )
        start = solutions[value].coef
    return [solutions[value] for value in grid]


def ridge_weights(pairs: SparsePairOperator | FormedPairs, l2: float) -> Array:
    """MBA-ℓ2 for one l2."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = ridge_path_matrix_free(
            pairs, [l2], np.ones(pairs.mu.size), tol=RIDGE_TOL, max_iter=_MAX_PRODUCTS
        )
    return pairs.order.restore(path[0].coef)


# -- rivals ---------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A rival with one of its settings."""

    key: str
    penalty: float
    step: Step


def list_places(grid: tuple[float, ...], steps: Mapping[str, Sequence[Step]]) -> list[Place]:
    """Every rival with every λ and all of its steps."""
    return [Place(key, value, step) for key, some in steps.items() for step in some for value in grid]


def first_steps(count: int) -> dict[str, tuple[Step, ...]]:
    """Up to ``count`` steps of each rival."""
    return {rival.key: rival.steps[:count] for rival in RIVALS}


class RivalModels:
    """Rivals with many settings, side by side, learning from one chunk after another."""

    def __init__(self, places: Sequence[Place], n_rows: int, seed: int) -> None:
        self._places = list(places)
        makers = {rival.key: rival.make for rival in RIVALS}
        self._models = [makers[key](value, step, n_rows, seed) for key, value, step in self._places]

    def learn(self, chunk: RawBlock, n_threads: int) -> None:
        """One pass over a chunk. A model that diverges is out."""

        def task(numbers: Iterable[int]) -> None:
            for number in numbers:
                try:
                    if self._models[number] is not None:
                        self._models[number].partial_fit(chunk.X, chunk.y, classes=[0, 1])
                except DivergedError:
                    self._models[number] = None

        run_threads(task, [range(first, len(self._models), n_threads) for first in range(n_threads)], n_threads)

    def weights(self) -> list[tuple[Place, Array | None]]:
        """Rival, λ and step, and the weights; None where they diverged."""
        return [
            (place, None if model is None else model.coef_.ravel())
            for place, model in zip(self._places, self._models, strict=True)
        ]
