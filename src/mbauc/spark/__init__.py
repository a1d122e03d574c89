"""The same fit on Spark: DataFrames in, Arrow batches to Python, moments merged in a tree.

Needs ``mbauc[spark]`` and Java 17. See ``docs/clusters.md``; :mod:`mbauc.spark.ml` has the same as a stage of
Spark ML pipelines.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from mbauc.spark.auc import roc_auc as roc_auc
    from mbauc.spark.auc import roc_auc_interval as roc_auc_interval
    from mbauc.spark.classifier import MBAClassifier as MBAClassifier
    from mbauc.spark.classifier import MBAClassifierCV as MBAClassifierCV

#: Where the public names are; imported when first asked for, because every Python process of an executor that
#: runs a task imports this package, and has no use for them.
_PLACES = {
    "MBAClassifier": "mbauc.spark.classifier",
    "MBAClassifierCV": "mbauc.spark.classifier",
    "roc_auc": "mbauc.spark.auc",
    "roc_auc_interval": "mbauc.spark.auc",
}

__all__ = ["MBAClassifier", "MBAClassifierCV", "roc_auc", "roc_auc_interval"]


def __getattr__(name: str) -> _Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'mbauc.spark' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
