"""Ranker and model on disk: params as JSON, weights as Parquet, as Spark ML keeps its own."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import numpy as np
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter
from pyspark.sql import types as T

from mbauc.estimators.classifier import MBAClassifier
from mbauc.estimators.scorer import LinearScorer
from mbauc.spark.ml_params import CLASSES

_NUMBERS = ("intercept", "slope", "l1", "l2")
_SCHEMA = T.StructType(
    [T.StructField("coefficients", VectorUDT()), *(T.StructField(name, T.DoubleType()) for name in _NUMBERS)]
)


class RankerWriter(MLWriter):
    """Writes the params of a stage, and which mbauc it came from.

    Parameters
    ----------
    stage : MBARanker or MBARankerModel
        What is written.
    """

    def __init__(self, stage: Any) -> None:
        super().__init__()
        self._stage = stage

    def saveImpl(self, path: str) -> None:
        """Write to a folder that is not there yet."""
        extra = {"mbaucVersion": version("mbauc")}
        DefaultParamsWriter.saveMetadata(self._stage, path, self.sparkSession, extra)


class ModelWriter(RankerWriter):
    """Writes the weights of a model as well."""

    def saveImpl(self, path: str) -> None:
        """Write to a folder that is not there yet."""
        super().saveImpl(path)
        scorer, fitted = self._stage.scorer, self._stage.toLocal()
        row = (self._stage.coefficients, scorer.intercept, scorer.slope, float(fitted.l1_), float(fitted.l2_))
        self.sparkSession.createDataFrame([row], _SCHEMA).coalesce(1).write.parquet(_data(path))


class ModelReader(MLReader):
    """Reads a model.

    Parameters
    ----------
    model : type
        Its class, which is made with a fitted :class:`mbauc.MBAClassifier`.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def load(self, path: str) -> Any:
        """The model in a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        row = self.sparkSession.read.parquet(_data(path)).head()
        scorer = LinearScorer(row.coefficients.toArray(), row.intercept, row.slope, np.array(CLASSES))
        ranker = MBAClassifier.restore(scorer, l1=row.l1, l2=row.l2)
        model = self._model(ranker)._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        ranker.set_params(**model.settings())
        return model


def _data(path: str) -> str:
    return os.path.join(path, "data")
