"""The plots of a report as scikit-learn displays: numbers, ``plot`` to draw them, then what was drawn.

``from_predictions`` and ``from_estimator`` measure and draw at once, ``plot`` draws again: on other axes, under
another name, with other options. ``ax_``, ``figure_`` and the artists (``line_``, ``fill_`` …) are those of the
last drawing. Scikit-learn has ``RocCurveDisplay``, ``PrecisionRecallDisplay`` and ``CalibrationDisplay``; these
show intervals as well.
"""

from mbauc.plots.displays.gains import GainsDisplay
from mbauc.plots.displays.penalty_path import PenaltyPathDisplay
from mbauc.plots.displays.precision_band import PrecisionBandDisplay
from mbauc.plots.displays.reliability import ReliabilityDisplay
from mbauc.plots.displays.roc_band import RocBandDisplay
from mbauc.plots.displays.score_distribution import ScoreDistributionDisplay
from mbauc.plots.displays.weights import WeightsDisplay

__all__ = [
    "GainsDisplay",
    "PenaltyPathDisplay",
    "PrecisionBandDisplay",
    "ReliabilityDisplay",
    "RocBandDisplay",
    "ScoreDistributionDisplay",
    "WeightsDisplay",
]
