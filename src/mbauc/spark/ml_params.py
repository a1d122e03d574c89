"""Params of the Spark ML ranker and of its model, with what reads and sets them in Spark's manner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasMaxIter,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasSeed,
    HasSolver,
    HasTol,
    HasWeightCol,
)


def _or_word(word: str, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A converter that lets one word pass."""

    def converted(value: Any) -> Any:
        return word if isinstance(value, str) and value == word else convert(value)

    return converted


def _param(name: str, doc: str, convert: Callable[[Any], Any]) -> Param:
    return Param(Params._dummy(), name, doc, typeConverter=convert)


class RankerParams(
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasRawPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
    HasSeed,
    HasTol,
    HasMaxIter,
    HasSolver,
):
    """What the ranker and its model have in common; only the columns can be set on a model."""

    l1 = _param("l1", "penalty on the absolute weights (>= 0)", TypeConverters.toFloat)
    l2 = _param(
        "l2", "penalty on the squared weights (>= 0), or 'auto'", _or_word("auto", TypeConverters.toFloat)
    )
    scale = _param(
        "scale",
        "whether to standardise the features for the penalty; 'auto': where their units differ",
        _or_word("auto", TypeConverters.toBoolean),
    )
    pairs = _param("pairs", "'all' pairs, or how many are drawn", _or_word("all", TypeConverters.toInt))
    pairing = _param(
        "pairing",
        "pairs as drawn ('matched'), or all among the drawn rows ('complete')",
        TypeConverters.toString,
    )
    negativeRate = _param(
        "negativeRate", "share of the negatives kept, if they were downsampled before", TypeConverters.toFloat
    )
    idCol = _param(
        "idCol", "column that names each row: draws then do not depend on the order", TypeConverters.toString
    )

    def __init__(self) -> None:
        super().__init__()
        # the default of HasSeed is another one in each Python process
        self._setDefault(
            l1=0.0,
            l2="auto",
            scale="auto",
            pairs="all",
            pairing="matched",
            negativeRate=1.0,
            maxIter=1000,
            seed=0,
        )

    def getL1(self) -> float:
        """Penalty on the absolute weights."""
        return float(self.getOrDefault(self.l1))

    def getL2(self) -> float | str:
        """Penalty on the squared weights, or "auto"."""
        found: float | str = self.getOrDefault(self.l2)
        return found

    def getScale(self) -> bool | str:
        """Whether features are standardised for the penalty."""
        value = self.getOrDefault(self.scale)
        return value if isinstance(value, str) else bool(value)

    def getPairs(self) -> int | str:
        """How many pairs are drawn, or "all"."""
        found: int | str = self.getOrDefault(self.pairs)
        return found

    def getPairing(self) -> str:
        """Which pairs of the drawn rows count."""
        return str(self.getOrDefault(self.pairing))

    def getNegativeRate(self) -> float:
        """Share of the negatives kept."""
        return float(self.getOrDefault(self.negativeRate))

    def getIdCol(self) -> str:
        """Column that names each row."""
        return str(self.getOrDefault(self.idCol))

    def setFeaturesCol(self, value: str) -> Self:
        """Column of vectors, or of arrays of numbers."""
        return self._given(featuresCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Column for the predicted label; "" for none."""
        return self._given(predictionCol=value)

    def setRawPredictionCol(self, value: str) -> Self:
        """Column for the vector (-score, score); "" for none."""
        return self._given(rawPredictionCol=value)

    def setProbabilityCol(self, value: str) -> Self:
        """Column for the vector of the probabilities of both classes; "" for none."""
        return self._given(probabilityCol=value)

    def _given(self, **params: Any) -> Self:
        strange = [name for name in params if not self.hasParam(name)]
        if strange:
            known = ", ".join(param.name for param in self.params)
            raise TypeError(f"{type(self).__name__} has no param {strange[0]!r}; it has {known}.")
        self._set(**{name: value for name, value in params.items() if value is not None})
        return self

    def _optional(self, param: Param) -> Any:
        """The value of a param, or None where there is none or an empty text."""
        return (self.getOrDefault(param) if self.isDefined(param) else None) or None

    def _settings(self) -> dict[str, Any]:
        """What :class:`mbauc.MBAClassifier` is made with."""
        return {
            "l1": self.getL1(),
            "l2": self.getL2(),
            "pairs": self.getPairs(),
            "pairing": self.getPairing(),
            "scale": self.getScale(),
            "negative_rate": self.getNegativeRate(),
            "solver": self.getSolver(),
            "tol": self._optional(self.tol),
            "max_iter": self.getMaxIter(),
            "random_state": self.getSeed() % 2**64,  # Spark's seeds may be negative
        }


class TrainingParams(RankerParams):
    """Sets what only a fit has use for."""

    def setLabelCol(self, value: str) -> Self:
        """Column of labels, 0 or 1."""
        return self._given(labelCol=value)

    def setWeightCol(self, value: str) -> Self:
        """Column of row weights; "" for none."""
        return self._given(weightCol=value)

    def setIdCol(self, value: str) -> Self:
        """Column that names each row; "" for none."""
        return self._given(idCol=value)

    def setL1(self, value: float) -> Self:
        """Penalty on the absolute weights."""
        return self._given(l1=value)

    def setL2(self, value: float | str) -> Self:
        """Penalty on the squared weights, or "auto"."""
        return self._given(l2=value)

    def setScale(self, value: bool | str) -> Self:
        """Whether to standardise the features for the penalty."""
        return self._given(scale=value)

    def setPairs(self, value: int | str) -> Self:
        """How many pairs are drawn, or "all"."""
        return self._given(pairs=value)

    def setPairing(self, value: str) -> Self:
        """Which pairs of the drawn rows count: "matched" or "complete"."""
        return self._given(pairing=value)

    def setNegativeRate(self, value: float) -> Self:
        """Share of the negatives kept, if they were downsampled before."""
        return self._given(negativeRate=value)

    def setSolver(self, value: str) -> Self:
        """The solver: "auto", "gram" or "matrix-free"."""
        return self._given(solver=value)

    def setTol(self, value: float) -> Self:
        """How exact the solver is; see :class:`mbauc.MBAClassifier`."""
        return self._given(tol=value)

    def setMaxIter(self, value: int) -> Self:
        """Largest number of sweeps, or of products where matrix-free."""
        return self._given(maxIter=value)

    def setSeed(self, value: int) -> Self:
        """Seed of sampled pairs."""
        return self._given(seed=value)
