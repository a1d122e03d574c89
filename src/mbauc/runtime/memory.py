"""How much memory a call may take: ``"2GB"``, a number of bytes, or half of what is free."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

_UNITS = {"b": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?b|[kmgt]|b)\s*", re.IGNORECASE)
#: Less is a slip of the pen: 64 where "64MB" was meant.
_LEAST = 1 << 20
#: What half of an unknown amount is taken for.
_UNKNOWN = 1 << 30


def parse_memory(memory: Any = None, name: str = "memory") -> int:
    """A number of bytes from what a caller wrote.

    Parameters
    ----------
    memory : str, int or None
        ``"2GB"`` or ``"2G"`` (10⁹ bytes each) or ``"2GiB"`` (2³⁰), from B to TB; a whole number of bytes; or
        None for half of what is available now, within the limits of the control group (container) that the
        process runs in.
    name : str, default="memory"
        Name of the argument, for errors.

    Returns
    -------
    int
        At least 1 MiB.

    Examples
    --------
    >>> parse_memory("1.5GB"), parse_memory("512 MiB"), parse_memory(4_000_000)
    (1500000000, 536870912, 4000000)
    >>> parse_memory(64)
    Traceback (most recent call last):
    ValueError: memory=64 means 64 bytes; at least 1 MiB is needed. Write the unit, for example '64MB'.
    """
    if memory is None:
        found = available_memory()
        return max(_UNKNOWN if found is None else found // 2, _LEAST)
    if isinstance(memory, str):
        written = _WRITTEN.fullmatch(memory)
        size = int(float(written[1]) * _UNITS[written[2].lower()]) if written else -1
    else:
        whole = isinstance(memory, int | np.integer) and not isinstance(memory, bool)
        size = int(memory) if whole else -1
    if size < 0:
        raise ValueError(
            f"{name} must be a size such as '2GB' or '512MiB', a whole number of bytes, or None for half of "
            f"what is free; got {memory!r}."
        )
    if size < _LEAST:
        need = (
            f"at least 1 MiB ({_LEAST:,} bytes) is needed, for example '64MB'."
            if isinstance(memory, str)
            else "at least 1 MiB is needed. Write the unit, for example '64MB'."
        )
        raise ValueError(f"{name}={memory!r} means {size:,} bytes; {need}")
    return size


def available_memory() -> int | None:
    """Bytes that can be had now without swapping: of the machine, or of the container; None if unknown."""
    known = [size for size in (_machine(), *_control_groups()) if size is not None]
    return min(known, default=None)


def own_memory() -> int:
    """Bytes of memory that this process holds now and shares with no file; 0 if unknown.

    Pages of mapped files are left out: the system takes them back when it needs them.
    """
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _machine() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        text = ""
    free = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    if free:
        return int(free[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _control_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """Bytes that remain within each limit of the control groups, versions 2 and 1, from the innermost out."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    left = []
    for line in lines:
        _, controllers, place = line.split(":", 2)
        if controllers == "":
            base, limit, used = root, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base, limit, used = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inner = base / place.strip("/")
        for folder in (inner, *inner.parents):
            if folder == base.parent:
                break
            found = _read_headroom(folder, limit, used)
            if found is not None:
                left.append(found)
    return left


def _read_headroom(folder: Path, limit: str, used: str) -> int | None:
    """Limit less use of one control group; cached files that can be dropped do not count as used."""
    try:
        most = (folder / limit).read_text(encoding="ascii").strip()
        taken = int((folder / used).read_text(encoding="ascii"))
        statistics = (folder / "memory.stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    if not most.isdigit():  # "max": no limit
        return None
    cached = re.search(r"^(?:total_)?inactive_file (\d+)", statistics, re.MULTILINE)
    return max(int(most) - taken + (int(cached[1]) if cached else 0), 0)
