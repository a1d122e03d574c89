"""Plots for people who would rather look than read; they need matplotlib (the extra ``plots``).

Functions draw on ``ax`` or on a new figure and return the axes; classes are displays in scikit-learn's manner.
:func:`save_figure` writes them to a file.
"""

from mbauc.plots.displays import (
    GainsDisplay,
    PenaltyPathDisplay,
    PrecisionBandDisplay,
    ReliabilityDisplay,
    RocBandDisplay,
    ScoreDistributionDisplay,
    WeightsDisplay,
)
from mbauc.plots.enough import enough_pairs_plot
from mbauc.plots.figure import new_figure, save_figure
from mbauc.plots.promise import detection_interval_plot, np_band_plot
from mbauc.plots.roc import deviate_plot, log_roc_plot, roc_plot

__all__ = [
    "GainsDisplay",
    "PenaltyPathDisplay",
    "PrecisionBandDisplay",
    "ReliabilityDisplay",
    "RocBandDisplay",
    "ScoreDistributionDisplay",
    "WeightsDisplay",
    "detection_interval_plot",
    "deviate_plot",
    "enough_pairs_plot",
    "log_roc_plot",
    "new_figure",
    "np_band_plot",
    "roc_plot",
    "save_figure",
]
