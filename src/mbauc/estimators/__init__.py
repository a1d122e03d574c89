"""The scikit-learn estimators."""

from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.classifier_cv import MBAClassifierCV

__all__ = ["MBAClassifier", "MBAClassifierCV"]
