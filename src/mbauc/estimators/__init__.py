"""The scikit-learn estimators."""

import typing as _typing

from mbauc.runtime.lazy_names import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from mbauc.estimators.additive.classifier import AdditiveAUCClassifier as AdditiveAUCClassifier
    from mbauc.estimators.classifier import MBAClassifier as MBAClassifier
    from mbauc.estimators.classifier_cv import MBAClassifierCV as MBAClassifierCV
    from mbauc.estimators.neyman_pearson import NeymanPearsonClassifier as NeymanPearsonClassifier
    from mbauc.estimators.pairwise import PairwiseAUCClassifier as PairwiseAUCClassifier
    from mbauc.estimators.pairwise_cv import PairwiseAUCClassifierCV as PairwiseAUCClassifierCV
    from mbauc.estimators.scorer import LinearScorer as LinearScorer

__all__ = [
    "AdditiveAUCClassifier",
    "LinearScorer",
    "MBAClassifier",
    "MBAClassifierCV",
    "NeymanPearsonClassifier",
    "PairwiseAUCClassifier",
    "PairwiseAUCClassifierCV",
]

# workers of a cluster that score rows load LinearScorer, and not scikit-learn, which takes longer
if not _typing.TYPE_CHECKING:  # a misspelt name is an error for type checkers
    __getattr__, __dir__ = _lazy_names(
        __name__,
        {
            "AdditiveAUCClassifier": "mbauc.estimators.additive.classifier",
            "LinearScorer": "mbauc.estimators.scorer",
            "MBAClassifier": "mbauc.estimators.classifier",
            "MBAClassifierCV": "mbauc.estimators.classifier_cv",
            "NeymanPearsonClassifier": "mbauc.estimators.neyman_pearson",
            "PairwiseAUCClassifier": "mbauc.estimators.pairwise",
            "PairwiseAUCClassifierCV": "mbauc.estimators.pairwise_cv",
        },
    )
