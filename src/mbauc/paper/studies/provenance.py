"""What made a result: versions and machine, for the foot of a page."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Version of everything that may change a figure."""
    names = ("mbauc", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def made_with(seed: int, seconds: float) -> str:
    """A sentence on seed, versions, machine and computing time."""
    listed = ", ".join(f"{name} {number}" for name, number in versions().items())
    return (
        f"Seed {seed}; {listed}; {platform.machine()}, {os.cpu_count()} cores; "
        f"{seconds / 60:.0f} minutes of computing, all threads together."
    )
