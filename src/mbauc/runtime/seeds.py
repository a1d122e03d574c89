"""What may come as ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np


def generator(random_state: Any) -> np.random.Generator:
    """The generator that ``random_state`` stands for: the same for the same seed.

    A Generator is used as it is and moves on; a RandomState gives a seed and moves on.
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, a whole number of at least 0, a numpy Generator or a RandomState, "
            f"got {random_state!r}."
        ) from None


def check_seed(random_state: Any) -> None:
    """Raise for a ``random_state`` that is none; nothing is drawn from it."""
    if not isinstance(random_state, np.random.RandomState):
        generator(random_state)


def integer_seed(random_state: Any) -> int:
    """A whole number that ``random_state`` stands for: itself if it is one, or what it draws."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(generator(random_state).integers(2**31))
