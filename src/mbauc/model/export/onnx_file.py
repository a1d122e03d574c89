"""A model as an ONNX file: score, probability and label from the model's columns, or from raw ones."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice
from mbauc.errors import Advice
from mbauc.model.export.additive_graph import add_additive
from mbauc.model.export.graph import Graph, import_onnx
from mbauc.model.layout import TableLayout
from mbauc.model.model import RankerModel
from mbauc.readers.table.encoding import CategoryFeature, NumericFeature
from mbauc.store.atomic import atomic_write

Array = NDArray[np.float64]

_OUTPUTS = ("score", "probability", "label")


def to_onnx(model: RankerModel, path: str | os.PathLike[str], *, inputs: str = "columns") -> None:
    """Export a model to ONNX, in double precision.

    Outputs, each of shape (n,): ``score``; ``probability`` of the positive class; ``label``, the positive one
    where the score is above the threshold (0 if there is none). Labels are int64, double, bool or string like
    the model's own, and 0 and 1 where a side has several of them or the two are of different types.

    Scores agree with the model's up to rounding.

    Parameters
    ----------
    model : RankerModel
        Model to export. ONNX has no feature hashing: for a model with hashed columns, hash the rows yourself
        (:mod:`mbauc.readers.hashing`) and pass columns or entries.
    path : path
        File to write, atomically. The same model gives the same bytes.
    inputs : {"columns", "entries", "table"}, default="columns"
        Inputs of the ONNX graph. ``"columns"``: ``X``, double of shape (n, d), the model's columns.
        ``"entries"``: the same for sparse rows, ``columns`` (int64, from 0) and ``values`` (double) of shape
        (n, k), where k is arbitrary and rows with fewer entries are padded with values 0. ``"table"``: each raw
        column under its own name, of shape (n,): numbers as double, NaN where one is missing; categories as
        string, spelled as in the names of the features, empty where one is missing. Scaling, missing values and
        unknown categories are handled in the graph. Not available for hashed columns and times. For an additive
        model, ``"columns"`` are its numbers and codes, with NaN for missing values, and ``"entries"`` is not
        available.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    ValueError
        If ``inputs="table"`` is not possible; the message names the column.
    """
    check_choice("inputs", inputs, ("columns", "entries", "table"))
    graph = Graph(import_onnx())
    if inputs == "table":
        _check_table(model)
    if model.terms is not None:
        add_additive(model, model.terms.features, inputs, graph)
    else:
        {"columns": _from_columns, "entries": _from_entries, "table": _from_table}[inputs](model, graph)
    _outputs(model, graph)
    content = graph.bytes(f"mbauc ranker of {model.layout.n_features} columns from {inputs}")
    with atomic_write(path) as stream:
        stream.write(content)


def _from_columns(model: RankerModel, graph: Graph) -> None:
    X = graph.input("X", graph.types.DOUBLE, "n", model.n_features)
    # a matrix of one column: with a vector onnxruntime refuses an input without rows
    product = graph.node("MatMul", X, graph.constant(model.scorer.coef[:, None]))
    flat = graph.node("Squeeze", product, graph.constant(np.array([1])))
    graph.node("Add", flat, graph.constant(model.scorer.intercept), result="score")


def _from_entries(model: RankerModel, graph: Graph) -> None:
    columns = graph.input("columns", graph.types.INT64, "n", "k")
    values = graph.input("values", graph.types.DOUBLE, "n", "k")
    weights = graph.node("Gather", graph.constant(model.scorer.coef), columns)
    terms = graph.node("Mul", weights, values)
    total = graph.node("ReduceSum", terms, graph.constant(np.array([1])), keepdims=0)
    graph.node("Add", total, graph.constant(model.scorer.intercept), result="score")


def _check_table(model: RankerModel) -> None:
    """Raise for models whose raw columns cannot be fed in."""
    if not isinstance(model.layout, TableLayout):
        raise ValueError(
            Advice("{inputs} is for models of tables; this one is of LIBSVM text. ", inputs="table")
            + Advice("Use {inputs}.", inputs="entries")
        )
    encoding = model.layout.encoding
    for column in encoding.columns:
        if column.kind == "time":
            raise ValueError(
                Advice("{inputs} cannot split the time column ", inputs="table")
                + f"{column.name!r} into hour and weekday. "
                + Advice(
                    "Use {inputs}, and TableEncoding.transform to compute them.",
                    command="Use {inputs}, and compute them before.",
                    inputs="columns",
                )
            )
        if column.kind == "text" and encoding.code_columns:
            raise ValueError(
                Advice("{inputs} cannot split the texts of the column ", inputs="table")
                + f"{column.name!r} into words. "
                + Advice(
                    "Use {inputs}, and TableEncoding.transform to compute them.",
                    command="Use {inputs}, and compute them before.",
                    inputs="columns",
                )
            )
        if column.name in _OUTPUTS:
            raise ValueError(
                f"the column {column.name!r} has the name of an output of the ONNX file. "
                + Advice("Rename it and train again, or use {inputs}.", inputs="columns")
            )
    if encoding.code_columns and model.terms is None:
        raise ValueError(
            Advice("{inputs} cannot encode the columns of a table as codes. ", inputs="table")
            + Advice("Use {inputs}.", inputs="columns")
        )
    if encoding.hash_dim is not None and model.terms is None:
        raise ValueError(
            Advice("{inputs} cannot hash. ", inputs="table")
            + Advice("Use {inputs}, and hash before.", inputs="entries")
        )


def _from_table(model: RankerModel, graph: Graph) -> None:
    if not isinstance(model.layout, TableLayout):
        raise ValueError(Advice("{inputs} is for models of tables.", inputs="table"))
    encoding = model.layout.encoding
    terms, start = [graph.constant(np.array([model.scorer.intercept]))], 0
    for feature in encoding.features:
        weights = model.scorer.coef[start : start + feature.width]
        start += feature.width
        if isinstance(feature, NumericFeature):
            terms += _number(feature, weights, graph)
        else:
            terms += _category(feature, weights, graph)
    graph.node("Sum", *terms, result="score")


def _number(feature: NumericFeature, coef: Array, graph: Graph) -> list[str]:
    x = graph.input(feature.name, graph.types.DOUBLE, "n")
    missing = graph.node("IsNaN", x)
    centred = graph.node("Sub", x, graph.constant(feature.center))
    scaled = graph.node("Div", centred, graph.constant(feature.scale))
    value = graph.node("Where", missing, graph.constant(feature.fill), scaled)
    terms = [graph.node("Mul", value, graph.constant(coef[0]))]
    if feature.indicator:
        terms.append(graph.node("Where", missing, graph.constant(coef[1]), graph.constant(0.0)))
    return terms


def _category(feature: CategoryFeature, coef: Array, graph: Graph) -> list[str]:
    known = list(feature.categories or ())
    nothing = feature.width  # a place behind the weights, for values that have none
    missing = len(known) if feature.has_missing else nothing
    other = len(known) + feature.has_missing if feature.has_other else nothing
    place = graph.node(
        "LabelEncoder",
        graph.input(feature.name, graph.types.STRING, "n"),
        domain="ai.onnx.ml",
        keys_strings=[*known, ""],
        values_int64s=[*range(len(known)), missing],
        default_int64=other,
    )
    return [graph.node("Gather", graph.constant(np.append(coef, 0.0)), place)]


def _outputs(model: RankerModel, graph: Graph) -> None:
    types = graph.types
    graph.node("Sigmoid", _log_odds(model, graph), result="probability")
    above = graph.node("Greater", "score", graph.constant(model.cut))
    labels = model.scorer.classes
    kinds = {"i": types.INT64, "f": types.DOUBLE, "b": types.BOOL, "U": types.STRING}
    if labels.dtype.kind not in kinds:  # one number and one text, or numbers that need more than 64 bits
        labels = np.array([0, 1])
    graph.node("Gather", graph.constant(labels), graph.node("Cast", above, to=types.INT64), result="label")
    for name, kind in (
        ("score", types.DOUBLE),
        ("probability", types.DOUBLE),
        ("label", kinds[labels.dtype.kind]),
    ):
        graph.output(name, kind)


def _log_odds(model: RankerModel, graph: Graph) -> str:
    """The log-odds of scores: a line, or pieces of lines between knots."""
    calibration, (slope, offset) = model.calibration, model.scorer.line
    if calibration is None or not calibration.knots:
        line = graph.node("Mul", "score", graph.constant(slope))
        return graph.node("Add", line, graph.constant(offset)) if offset else line
    scores, heights = np.array(calibration.knots).T
    # how far a score is above the start of each piece, within the piece; the outer ones have no end
    starts = np.concatenate([[scores[0]], scores])
    least = np.concatenate([[-np.inf], np.zeros(scores.size)])
    most = np.concatenate([[0.0], np.diff(scores), [np.inf]])
    slopes = np.concatenate([[calibration.slope], np.diff(heights) / np.diff(scores), [calibration.slope]])
    column = graph.node("Unsqueeze", "score", graph.constant(np.array([1])))
    above = graph.node("Sub", column, graph.constant(starts))
    within = graph.node("Min", graph.node("Max", above, graph.constant(least)), graph.constant(most))
    product = graph.node("MatMul", within, graph.constant(slopes[:, None]))
    flat = graph.node("Squeeze", product, graph.constant(np.array([1])))
    return graph.node("Add", flat, graph.constant(heights[0] + calibration.offset))
