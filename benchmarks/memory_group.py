"""A limit of memory that the system enforces: a control group of Linux, where this process may make one."""

import os
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


@contextmanager
def memory_group(limit):
    """Yields what a child is to call first (``preexec_fn``), or None if no control group can be made.

    A process in the group that holds more than ``limit`` bytes is killed. Pages of files in the system's
    cache count as well, but the system drops those first.
    """
    legacy = (ROOT / "memory").is_dir()
    group = (ROOT / "memory" if legacy else ROOT) / f"mbauc-benchmark-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if legacy else "memory.max")).write_text(str(limit))
    except OSError:
        yield None
        return
    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        group.rmdir()
