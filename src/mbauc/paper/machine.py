"""What a study was run on: processor, memory, and how busy both were."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")


def describe_machine() -> str:
    """Processor, cores and memory, as far as the system tells."""
    parts = [_processor(), f"{os.cpu_count() or 1} cores"]
    memory = _memory()
    if memory is not None:
        parts.append(f"{memory / 1e9:.0f} GB of memory")
    return ", ".join(parts)


def measure_load() -> float | None:
    """Programs that wanted a core, on average over the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
