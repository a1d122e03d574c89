"""Figure 1: the two frameworks side by side, on simulated data."""

from __future__ import annotations

from pathlib import Path

from mbauc.paper.detection.plots import frameworks_plot
from mbauc.paper.studies.outputs import write_figure
from mbauc.paper.study import Request


def reproduce(request: Request) -> list[Path]:
    """Draw the figure."""
    return write_figure(request.out, "figure1", frameworks_plot(random_state=request.seed))
