"""Solvers that hand out the vectors to multiply, so that several of them can share a sweep over the rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")

#: A solver on its way: yields v, is sent Σv, and returns what it has found.
Steps = Generator[Array, Array, T]


def run_steps(steps: Steps[T], product: Callable[[Array], Array]) -> T:
    """What one solver finds.

    Examples
    --------
    >>> import numpy as np
    >>> def double_twice(v):
    ...     v = yield v
    ...     v = yield v
    ...     return v
    >>> run_steps(double_twice(np.ones(1)), lambda v: 2 * v)
    array([4.])
    """
    try:
        v = next(steps)
        while True:
            v = steps.send(product(v))
    except StopIteration as stop:
        result: T = stop.value
        return result


def run_together(
    several: Sequence[Steps[T]], products: Callable[[list[int], list[Array]], list[Array]]
) -> list[T]:
    """What several solvers find: each gets its next product when all that are not done have asked for theirs.

    Parameters
    ----------
    several : sequence of generators
        The solvers.
    products : callable
        Products of the vectors of some of them, given by their numbers.
    """
    found: dict[int, T] = {}
    images: dict[int, Array | None] = dict.fromkeys(range(len(several)))
    while images:
        asked: dict[int, Array] = {}
        for number, image in images.items():
            try:
                asked[number] = next(several[number]) if image is None else several[number].send(image)
            except StopIteration as stop:
                found[number] = stop.value
        numbers = list(asked)
        images = dict(zip(numbers, products(numbers, list(asked.values())) if numbers else [], strict=True))
    return [found[number] for number in range(len(several))]
