"""Params of the Spark ML ranker and of its model, with getters and setters, from tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)

from mbauc.estimators.classifier import MBAClassifier

Convert = Callable[[Any], Any]

#: The labels of a two-class problem in Spark ML.
CLASSES = (0.0, 1.0)


class Setting(NamedTuple):
    """A parameter of :class:`mbauc.MBAClassifier` by its name in Spark ML."""

    param: str
    name: str
    convert: Convert
    doc: str


def _or_word(word: str, convert: Convert) -> Convert:
    """A converter that lets one word pass."""

    def converted(value: Any) -> Any:
        return word if isinstance(value, str) and value == word else convert(value)

    return converted


_FLOAT = TypeConverters.toFloat
_INT = TypeConverters.toInt
_TEXT = TypeConverters.toString

#: Settings of a fit. Defaults are the classifier's, but for the seed.
SETTINGS = (
    Setting("l1", "l1", _FLOAT, "l1 penalty on the weights (>= 0)"),
    Setting("l2", "l2", _or_word("auto", _FLOAT), "l2 penalty on the weights (>= 0), or 'auto'"),
    Setting(
        "scale",
        "scale",
        _or_word("auto", TypeConverters.toBoolean),
        "whether to standardise the features for the penalty; 'auto': only if their units differ widely",
    ),
    Setting("pairs", "pairs", _or_word("all", _INT), "'all' pairs, or the number of pairs to draw"),
    Setting(
        "pairing", "pairing", _TEXT, "the drawn pairs ('matched'), or all pairs of the drawn rows ('complete')"
    ),
    Setting(
        "negativeRate",
        "negative_rate",
        _FLOAT,
        "share of the negatives that was kept, if they were downsampled before the fit",
    ),
    Setting(
        "equalGroups",
        "equal_groups",
        TypeConverters.toBoolean,
        "whether each group has the same weight, instead of each pair",
    ),
    Setting("solver", "solver", _TEXT, "'auto', 'gram' or 'matrix-free'"),
    Setting("tol", "tol", _FLOAT, "convergence tolerance of the solver (> 0); see mbauc.MBAClassifier"),
    Setting("maxIter", "max_iter", _INT, "maximum number of sweeps, or of products of the matrix-free solver"),
    Setting("seed", "random_state", _INT, "seed of sampled pairs"),
)
#: Columns that a fit reads.
_READ = {
    "labelCol": "column of labels, 0 or 1",
    "weightCol": "column of row weights; '' for none",
    "idCol": "column of row ids, which makes sampling independent of the row order; '' for none",
    "groupCol": "column of groups: only pairs within a group count; '' for none",
}
#: Columns that a model reads and adds; they alone can be set on a model.
_OF_MODEL = {
    "featuresCol": "column of vectors, or of arrays of numbers",
    "predictionCol": "column for the predicted label; '' for none",
    "rawPredictionCol": "column for the vector (-score, score); '' for none",
    "probabilityCol": "column for the vector of the probabilities of both classes; '' for none",
}


class RankerParams(
    HasFeaturesCol, HasLabelCol, HasPredictionCol, HasRawPredictionCol, HasProbabilityCol, HasWeightCol
):
    """What the ranker and its model have in common: all params with their getters, and the model's setters."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Params, getters and setters are made from the tables, below."""

    def __init__(self) -> None:
        super().__init__()
        defaults = MBAClassifier().get_params()
        known = {one.param: defaults[one.name] for one in SETTINGS if defaults[one.name] is not None}
        self._setDefault(**known, seed=0)  # Spark's seeds are numbers

    def settings(self) -> dict[str, Any]:
        """What :class:`mbauc.MBAClassifier` is made with."""
        found = {one.name: self._optional(one.param) for one in SETTINGS}
        found["random_state"] %= 2**64  # Spark's seeds may be negative
        return found

    def _optional(self, name: str) -> Any:
        """The value of a param, or None where it has none."""
        return self.getOrDefault(name) if self.isDefined(name) else None

    def _given(self, **params: Any) -> Self:
        strange = [name for name in params if not self.hasParam(name)]
        if strange:
            known = ", ".join(param.name for param in self.params)
            raise TypeError(f"{type(self).__name__} has no param {strange[0]!r}; it has {known}.")
        self._set(**{name: value for name, value in params.items() if value is not None})
        return self


class TrainingParams(RankerParams):
    """Sets what only a fit has use for."""


def _add_method(owner: type, verb: str, param: str, doc: str, function: Callable[..., Any]) -> None:
    function.__name__ = verb + param[0].upper() + param[1:]
    function.__qualname__, function.__doc__ = (
        f"{owner.__name__}.{function.__name__}",
        doc[0].upper() + doc[1:] + ".",
    )
    setattr(owner, function.__name__, function)


def _add_getter(owner: type, param: str, doc: str) -> None:
    _add_method(owner, "get", param, doc, lambda self: self.getOrDefault(param))


def _add_setter(owner: type, param: str, doc: str) -> None:
    _add_method(owner, "set", param, doc, lambda self, value: self._given(**{param: value}))


def _add_param(owner: type, param: str, convert: Convert, doc: str) -> None:
    setattr(owner, param, Param(Params._dummy(), param, doc, typeConverter=convert))
    _add_getter(owner, param, doc)


for _one in SETTINGS:
    _add_param(RankerParams, _one.param, _one.convert, _one.doc)
    _add_setter(TrainingParams, _one.param, _one.doc)
for _name in ("idCol", "groupCol"):
    _add_param(RankerParams, _name, _TEXT, _READ[_name])
for _owner, _columns in ((TrainingParams, _READ), (RankerParams, _OF_MODEL)):
    for _name, _doc in _columns.items():
        _add_setter(_owner, _name, _doc)
