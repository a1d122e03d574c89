"""MBARanker and MBARankerModel: the ranker as a stage of Spark ML pipelines.

Examples
--------
>>> from mbauc.spark.ml import MBARanker
>>> ranker = MBARanker(labelCol="clicked", l2=0.1).setPairs(100_000)
>>> ranker.getLabelCol(), ranker.getL2(), ranker.getPairs()
('clicked', 0.1, 100000)
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vector, Vectors
from pyspark.ml.util import DefaultParamsReadable, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mbauc.estimators.classifier import MBAClassifier as LocalClassifier
from mbauc.estimators.scorer import LinearScorer
from mbauc.spark.classifier import MBAClassifier
from mbauc.spark.ml_files import ModelReader, ModelWriter, RankerWriter
from mbauc.spark.ml_params import CLASSES, RankerParams, TrainingParams
from mbauc.spark.scores import label_column, probability_column, score_column

__all__ = ["MBARanker", "MBARankerModel"]


class MBARanker(Estimator, TrainingParams, DefaultParamsReadable, MLWritable):
    """:class:`mbauc.spark.MBAClassifier` as a Spark ML ``Estimator``; labels must be 0 and 1, as in Spark ML.

    Parameters
    ----------
    featuresCol, labelCol, weightCol : str
        Columns of feature vectors (or arrays), labels and row weights.
    predictionCol, rawPredictionCol, probabilityCol : str
        Columns that the model adds; "" to omit one.
    idCol : str
        Column of row ids; see :meth:`mbauc.spark.MBAClassifier.fit`.
    groupCol : str
        Column of groups: only pairs within a group count.
    l1, l2, scale, pairs, pairing, solver, tol
        As for :class:`mbauc.MBAClassifier`.
    negativeRate, equalGroups, maxIter, seed
        ``negative_rate``, ``equal_groups``, ``max_iter`` and ``random_state`` of :class:`mbauc.MBAClassifier`.
    """

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        rawPredictionCol: str = "rawPrediction",
        probabilityCol: str = "probability",
        idCol: str | None = None,
        groupCol: str | None = None,
        l1: float = 0.0,
        l2: float | str = "auto",
        scale: bool | str = "auto",
        pairs: int | str = "all",
        pairing: str = "matched",
        solver: str = "auto",
        tol: float | None = None,
        negativeRate: float = 1.0,
        equalGroups: bool = False,
        maxIter: int = 1000,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._given(**self._input_kwargs)

    @keyword_only
    def setParams(self, **params: Any) -> Self:
        """Set params by the names of the constructor arguments."""
        return self._given(**params)

    def write(self) -> MLWriter:
        """A writer of the params."""
        return RankerWriter(self)

    def _fit(self, dataset: DataFrame) -> MBARankerModel:
        ranker = MBAClassifier(**self.settings())
        ranker.fit(
            dataset,
            features=self.getFeaturesCol(),
            label=self.getLabelCol(),
            weight=self._optional("weightCol") or None,
            id=self._optional("idCol") or None,
            group=self._optional("groupCol") or None,
            classes=CLASSES,
        )
        local = LocalClassifier()
        local.__dict__.update({name: value for name, value in vars(ranker).items() if name != "features_"})
        model: MBARankerModel = self._copyValues(MBARankerModel(local)._resetUid(self.uid))
        return model


class MBARankerModel(Model, RankerParams, MLReadable, MLWritable):
    """A fitted :class:`MBARanker`: adds raw predictions, probabilities and predictions to a DataFrame.

    Parameters
    ----------
    ranker : mbauc.MBAClassifier
        The fitted ranker for rows in memory.
    """

    def __init__(self, ranker: LocalClassifier) -> None:
        super().__init__()
        self._ranker = ranker

    @property
    def scorer(self) -> LinearScorer:
        """The fitted weights as a scorer, for labels 0 and 1."""
        return replace(self._ranker.scorer(), classes=np.array(CLASSES))

    @property
    def coefficients(self) -> Vector:
        """The weights, as a sparse vector if that takes less memory."""
        weights = self.scorer.coef
        used = np.flatnonzero(weights)
        if 12 * used.size + 20 < 8 * weights.size + 8:
            return Vectors.sparse(weights.size, used, weights[used])
        return Vectors.dense(weights)

    @property
    def intercept(self) -> float:
        """Intercept, such that a score of 0 has probability ½."""
        return self.scorer.intercept

    @property
    def numFeatures(self) -> int:
        """Number of features."""
        return self.scorer.n_features

    @property
    def numClasses(self) -> int:
        """Number of classes, which is 2."""
        return len(CLASSES)

    def toLocal(self) -> LocalClassifier:
        """Convert to a ranker for rows in memory; without moments if the model was loaded from a file."""
        return copy.copy(self._ranker)

    def write(self) -> MLWriter:
        """A writer of params and weights: JSON and Parquet."""
        return ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader:
        """A reader of what :meth:`write` has written."""
        return ModelReader(cls)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        scorer = self.scorer
        score = score_column(dataset, self.getFeaturesCol(), scorer)
        columns = {
            self.getRawPredictionCol(): array_to_vector(F.array(-score, score)),
            self.getProbabilityCol(): array_to_vector(probability_column(score, scorer)),
            self.getPredictionCol(): label_column(score, scorer),
        }
        columns.pop("", None)
        there = [name for name in columns if name in dataset.columns]
        if there:
            raise ValueError(
                f"the DataFrame already has a column {there[0]!r}; drop it, or set another name in "
                "predictionCol, rawPredictionCol or probabilityCol ('' leaves the column out)."
            )
        return dataset.withColumns(columns)
