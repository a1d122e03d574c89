"""The scikit-learn estimators."""

from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.classifier_cv import MBAClassifierCV
from mbauc.estimators.neyman_pearson import NeymanPearsonClassifier

__all__ = ["MBAClassifier", "MBAClassifierCV", "NeymanPearsonClassifier"]
