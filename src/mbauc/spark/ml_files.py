"""Ranker and model on disk: params as JSON, weights as Parquet, as Spark ML keeps its own."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter
from pyspark.sql import types as T

import mbauc

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
        extra = {"mbaucVersion": mbauc.__version__}
        DefaultParamsWriter.saveMetadata(self._stage, path, self.sparkSession, extra)


class ModelWriter(RankerWriter):
    """Writes the weights of a model as well."""

    def saveImpl(self, path: str) -> None:
        """Write to a folder that is not there yet."""
        super().saveImpl(path)
        fitted = self._stage.toLocal()
        numbers = (fitted.intercept_[0], fitted.slope_, fitted.l1_, fitted.l2_)
        row = (self._stage.coefficients, *map(float, numbers))
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
        ranker = mbauc.MBAClassifier()
        ranker.coef_ = row.coefficients.toArray()[None, :]
        ranker.intercept_ = np.array([row.intercept])
        ranker.slope_, ranker.l1_, ranker.l2_ = row.slope, row.l1, row.l2
        ranker.classes_ = np.array([0.0, 1.0])
        ranker.n_features_in_ = ranker.coef_.shape[1]
        model = self._model(ranker)._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        ranker.set_params(**model._settings())
        return model


def _data(path: str) -> str:
    return os.path.join(path, "data")
