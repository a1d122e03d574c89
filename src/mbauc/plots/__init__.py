"""Plots of models and their evaluation, with matplotlib (the extra ``plots``).

All follow the display API of scikit-learn: ``from_predictions`` and ``from_estimator`` compute and draw,
``plot`` draws again, such as on other axes or with other options. ``ax_``, ``figure_`` and the artists
(``line_``, ``fill_`` …) belong to the last drawing. Unlike ``RocCurveDisplay``, ``PrecisionRecallDisplay`` and
``CalibrationDisplay`` of scikit-learn they show confidence intervals. :func:`save_figure` writes them to a
file.
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
