"""Functions that numba compiles, and where the result is kept; importing this module imports numba."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from mbauc.errors import MbaucWarning
from mbauc.runtime.collector import collector_paused
from mbauc.runtime.warn import warn

with collector_paused():
    from numba import config, njit
    from numba.core import event
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    # what the first call of a compiled function would do before all else, half of the time it takes
    with global_compiler_lock:
        cpu_target.target_context.refresh()

    from mbauc.runtime.compiling_note import PATIENCE, CompilingNote


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: compiled at the first call, without Python's lock, and kept on disk for later processes.

    It is kept in ``NUMBA_CACHE_DIR`` if that is set, else beside the source or in the user's cache folder. If
    none of them can be written to, as in a container with a read-only root, a folder of the user's own in the
    directory for temporary files takes their place, or nothing is kept; a warning says which.

    Parameters
    ----------
    options
        Further ones of ``numba.njit``, such as ``error_model="numpy"``.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        loop = njit(nogil=True, **options)(function)
        try:
            loop.enable_caching()
        except RuntimeError:  # no folder can be written to
            _enable_caching_elsewhere(loop)
        return loop

    return decorate


def _enable_caching_elsewhere(loop: Any) -> None:
    folder = _private_folder()
    if folder is None:
        return
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # for this function alone
    try:
        loop.enable_caching()
    finally:
        config.CACHE_DIR = before


@cache
def _private_folder() -> Path | None:
    """A folder for compiled code that nobody else can write to, since it is run; None if there is none."""
    folder = _make_private(Path(tempfile.gettempdir(), "mbauc-numba"))
    kept = "each process compiles it again" if folder is None else f"it is kept in {folder}"
    warn(
        "compiled code cannot be cached in the folder of the installation or in the user's cache folder, "
        f"because neither is writable: {kept}. Set NUMBA_CACHE_DIR to a folder that only you can write to.",
        MbaucWarning,
    )
    return folder


def _make_private(start: Path) -> Path | None:
    """A folder with the user's number behind its name, theirs alone; None if it cannot be had."""
    if not hasattr(os, "getuid"):
        return None
    folder = start.with_name(f"{start.name}-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if own and os.access(folder, os.W_OK | os.X_OK) else None


event.register("numba:compile", CompilingNote(PATIENCE))
