"""Versions of everything that a fit depends on, for reports of bugs."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version

#: Extras for who works on mbauc; their packages say nothing about a fit.
_DEVELOPMENT = {"all", "benchmarks", "docs", "dev"}


def show_versions() -> None:
    """Print versions for a bug report: Python, mbauc, its dependencies and BLAS.

    Optional packages that are not installed are shown as "none".

    Examples
    --------
    >>> import mbauc
    >>> mbauc.show_versions()
    mbauc ...
    Python 3...
    <BLANKLINE>
    numpy ...
    """
    sys.stdout.write("\n".join(_lines()) + "\n")


def _lines() -> Iterator[str]:
    yield f"mbauc {version('mbauc')}"
    yield f"Python {platform.python_version()} ({sys.executable})"
    yield f"{platform.platform()}, {os.cpu_count()} CPUs"
    yield ""
    for name in _packages():
        yield f"{name} {_version(name)}"
    import scipy.linalg  # noqa: F401  so that its BLAS is loaded
    from threadpoolctl import threadpool_info

    yield ""
    for pool in threadpool_info():
        kind = " ".join(str(pool[key]) for key in ("internal_api", "version") if pool.get(key))
        yield f"{pool['user_api']}: {kind}, {pool['num_threads']} threads"


def _packages() -> Iterator[str]:
    """What the package declares, dependencies first, each once; the extras of developers are left out."""
    seen = {"mbauc"}
    for required in metadata("mbauc").get_all("Requires-Dist") or ():
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", required)
        name = re.match(r"[\w.-]+", required)
        if name and name[0] not in seen and (extra is None or extra[1] not in _DEVELOPMENT):
            seen.add(name[0])
            yield name[0]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
