"""Distributed estimators and metrics for Spark DataFrames.

Needs ``mbauc[spark]`` and Java 17. See ``docs/user_guide/clusters.md``; :mod:`mbauc.spark.ml` has the same as
a stage of Spark ML pipelines.
"""

import typing as _typing
from importlib.util import find_spec as _find_spec

from mbauc.runtime.lazy_names import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from mbauc.spark.auc import roc_auc as roc_auc
    from mbauc.spark.auc import roc_auc_interval as roc_auc_interval
    from mbauc.spark.classifier import AdditiveAUCClassifier as AdditiveAUCClassifier
    from mbauc.spark.classifier import MBAClassifier as MBAClassifier
    from mbauc.spark.classifier import MBAClassifierCV as MBAClassifierCV
    from mbauc.spark.classifier import PairwiseAUCClassifier as PairwiseAUCClassifier
    from mbauc.spark.classifier import PairwiseAUCClassifierCV as PairwiseAUCClassifierCV

__all__ = [
    "AdditiveAUCClassifier",
    "MBAClassifier",
    "MBAClassifierCV",
    "PairwiseAUCClassifier",
    "PairwiseAUCClassifierCV",
    "roc_auc",
    "roc_auc_interval",
]

if _find_spec("pyspark") is None:
    raise ModuleNotFoundError("mbauc.spark needs PySpark; install it with: pip install 'mbauc[spark]'")

# every Python process of an executor that runs a task imports this package, and has no use for its names
if not _typing.TYPE_CHECKING:  # a misspelt name is an error for type checkers
    __getattr__, __dir__ = _lazy_names(
        __name__,
        {
            "AdditiveAUCClassifier": "mbauc.spark.classifier",
            "MBAClassifier": "mbauc.spark.classifier",
            "MBAClassifierCV": "mbauc.spark.classifier",
            "PairwiseAUCClassifier": "mbauc.spark.classifier",
            "PairwiseAUCClassifierCV": "mbauc.spark.classifier",
            "roc_auc": "mbauc.spark.auc",
            "roc_auc_interval": "mbauc.spark.auc",
        },
    )
