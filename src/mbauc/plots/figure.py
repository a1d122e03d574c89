"""Figures without global state, and how they reach a file."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

from mbauc.store.atomic import atomic_write

_FORMATS = (".png", ".svg", ".pdf")


def new_figure(width: float = 6.4, height: float = 6.0) -> Any:
    """Create an empty matplotlib figure of a given size in inches, without a window or pyplot state."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'mbauc[plots]'") from None
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def axes_or_new(ax: Any, width: float = 6.4, height: float = 6.0) -> Any:
    """The axes to draw on: those given, or the only ones of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def encode_png(figure: Any) -> bytes:
    """A figure as the bytes of a PNG file."""
    stream = BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def rates_grid(ax: Any) -> None:
    """A light grid behind the curves."""
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Save a figure (or the figure of given axes) as PNG, SVG or PDF, atomically.

    The output is reproducible: the same figure gives the same bytes.
    """
    from matplotlib import rc_context

    kind = Path(os.fsdecode(path)).suffix.lower()
    if kind not in _FORMATS:
        raise ValueError(f"path must end in {', '.join(_FORMATS)}, got {os.fsdecode(path)!r}.")
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(kind)
    with rc_context({"svg.hashsalt": "mbauc"}), atomic_write(path) as stream:
        getattr(figure, "figure", figure).savefig(stream, format=kind[1:], metadata=metadata)
