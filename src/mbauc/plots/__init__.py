"""Plots for people who would rather look than read; they need matplotlib (the extra ``plots``).

All are displays in scikit-learn's manner: ``from_predictions`` or ``from_estimator`` measure and draw at once,
``plot`` draws again: on other axes, under another name, with other options. ``ax_``, ``figure_`` and the
artists (``line_``, ``fill_`` …) belong to the last drawing. Scikit-learn has ``RocCurveDisplay``,
``DetCurveDisplay``, ``PrecisionRecallDisplay`` and ``CalibrationDisplay``; these show intervals as well.
:func:`save_figure` writes them to a file.
"""

from mbauc.plots.contribution import ContributionDisplay
from mbauc.plots.curve import CurveDisplay
from mbauc.plots.curves_figure import curves_figure
from mbauc.plots.enough_pairs import EnoughPairsDisplay
from mbauc.plots.figure import new_figure, save_figure
from mbauc.plots.gains import GainsDisplay
from mbauc.plots.importance import ImportanceDisplay
from mbauc.plots.interaction import InteractionDisplay
from mbauc.plots.penalty_path import PenaltyPathDisplay
from mbauc.plots.precision_band import PrecisionBandDisplay
from mbauc.plots.reliability import ReliabilityDisplay
from mbauc.plots.roc_band import RocBandDisplay
from mbauc.plots.score_distribution import ScoreDistributionDisplay
from mbauc.plots.weights import WeightsDisplay

__all__ = [
    "ContributionDisplay",
    "CurveDisplay",
    "EnoughPairsDisplay",
    "GainsDisplay",
    "ImportanceDisplay",
    "InteractionDisplay",
    "PenaltyPathDisplay",
    "PrecisionBandDisplay",
    "ReliabilityDisplay",
    "RocBandDisplay",
    "ScoreDistributionDisplay",
    "WeightsDisplay",
    "curves_figure",
    "new_figure",
    "save_figure",
]
