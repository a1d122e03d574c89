"""The same fit on Spark: DataFrames in, Arrow batches to Python, moments merged in a tree.

Needs ``mbauc[spark]`` and Java 17. See ``docs/clusters.md``; :mod:`mbauc.spark.ml` has the same as a stage of
Spark ML pipelines.
"""

from mbauc.spark.auc import roc_auc, roc_auc_interval
from mbauc.spark.classifier import MBAClassifier, MBAClassifierCV

__all__ = ["MBAClassifier", "MBAClassifierCV", "roc_auc", "roc_auc_interval"]
