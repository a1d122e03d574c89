"""mbauc: linear rankers for AUC on large, imbalanced data."""

from importlib.metadata import version as _version

from mbauc.estimators import MBAClassifier, MBAClassifierCV, NeymanPearsonClassifier
from mbauc.moments import PairMoments
from mbauc.sampling import sample_batches, sample_pairs

__version__ = _version("mbauc")

__all__ = [
    "MBAClassifier",
    "MBAClassifierCV",
    "NeymanPearsonClassifier",
    "PairMoments",
    "sample_batches",
    "sample_pairs",
]
