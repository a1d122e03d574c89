"""Curves and interactions as nodes of an ONNX graph: bins by comparisons, weights by look-up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.fourier import FourierMap
from mbauc.errors import Advice
from mbauc.model.export.graph import Graph
from mbauc.model.layout import TableLayout
from mbauc.model.model import RankerModel
from mbauc.readers.table.encoding import CodeColumn

Array = NDArray[np.float64]


def add_additive(model: RankerModel, features: FeatureMap, inputs: str, graph: Graph) -> None:
    """The score of an additive model, from its columns (numbers and codes) or from those of the table."""
    if inputs == "entries":
        raise ValueError(
            Advice("{inputs} is for linear models, and this model has curves. ", inputs=inputs)
            + Advice("Use {inputs}.", inputs="columns")
        )
    if inputs == "table" and isinstance(model.layout, TableLayout):
        found = [
            _from_raw(column, code, graph)
            for column, code in zip(features.columns, model.layout.encoding.code_columns, strict=True)
        ]
    else:
        X = graph.input("X", graph.types.DOUBLE, "n", features.n_columns)
        values = [graph.node("Gather", X, graph.constant(j), axis=1) for j in range(features.n_columns)]
        found = [
            (_place(column, value, graph), value)
            for column, value in zip(features.columns, values, strict=True)
        ]
    places, raw = [place for place, _ in found], [value for _, value in found]
    _add_terms(features, model.coef, model.intercept, places, raw, graph)


def _from_raw(column: Steps | Levels, code: CodeColumn, graph: Graph) -> tuple[str, str]:
    """The indicator of each row, and its number if it has one, from a raw column of a table."""
    if code.hashed is not None:
        raise ValueError(
            Advice("{inputs} cannot hash values, as needed for the column ", inputs="table")
            + f"{code.name!r}. "
            + Advice("Use {inputs}, and hash the values before.", inputs="columns")
        )
    if code.is_numeric or isinstance(column, Steps):
        x = graph.input(code.name, graph.types.DOUBLE, "n")
        return _place(column, x, graph), x
    levels = list(code.levels or ())
    # one code more for texts without a level
    own = column.codes(np.arange(len(levels) + 1.0)).tolist()
    text = graph.input(code.name, graph.types.STRING, "n")
    place = graph.node(
        "LabelEncoder",
        text,
        domain="ai.onnx.ml",
        keys_strings=[*levels, ""],
        values_int64s=[*own[:-1], column.width - 1],
        default_int64=own[-1],
    )
    return place, text


def _place(column: Steps | Levels, x: str, graph: Graph) -> str:
    """Which indicator of a column is 1, as int64 of shape (n,), from its numbers or codes."""
    points = column.edges if isinstance(column, Steps) else column.kept
    other = 0 if isinstance(column, Steps) else column.width - 2
    place = graph.constant(np.array([other], dtype=np.int64))
    if points.size:
        wide = graph.node("Unsqueeze", x, graph.constant(np.array([1])))
        # bins: one more for each edge below; levels: back from the others to their own
        steps = np.ones(points.size) if isinstance(column, Steps) else np.arange(points.size) - other
        compare = "Greater" if isinstance(column, Steps) else "Equal"
        hits = graph.node(
            "Cast", graph.node(compare, wide, graph.constant(points[None, :])), to=graph.types.DOUBLE
        )
        moved = graph.node("MatMul", hits, graph.constant(steps.astype(np.float64)[:, None]))
        flat = graph.node("Squeeze", moved, graph.constant(np.array([1])))
        place = graph.node("Add", place, graph.node("Cast", flat, to=graph.types.INT64))
    missing = graph.constant(np.array([column.width - 1], dtype=np.int64))
    return graph.node("Where", graph.node("IsNaN", x), missing, place)


def _add_terms(
    features: FeatureMap, coef: Array, intercept: float, places: list[str], raw: list[str], graph: Graph
) -> None:
    """The score: weights of the indicators that are 1, and of numbers times these."""
    axis = graph.constant(np.array([1]))
    starts, cells = features.starts, features.cell_starts
    found = [
        graph.node("Add", place, graph.constant(np.array([starts[j]], dtype=np.int64)))
        for j, place in enumerate(places)
    ]
    for p, (a, b) in enumerate(features.pairs):
        rows = features.coarse[a].astype(np.int64) * features.coarse_widths[b] + cells[p]
        row = graph.node("Gather", graph.constant(rows), places[a])
        column = graph.node("Gather", graph.constant(features.coarse[b].astype(np.int64)), places[b])
        found.append(graph.node("Add", row, column))
    wide = [graph.node("Unsqueeze", one, axis) for one in found]
    weights = graph.node("Gather", graph.constant(coef), graph.node("Concat", *wide, axis=1))
    terms = [graph.node("ReduceSum", weights, axis, keepdims=0), graph.constant(np.array([intercept]))]
    for k, number in enumerate(features.numbers):
        x = raw[number.column]
        cut = graph.node("Min", graph.node("Max", x, graph.constant(number.low)), graph.constant(number.high))
        scaled = graph.node(
            "Div", graph.node("Sub", cut, graph.constant(number.center)), graph.constant(number.scale)
        )
        value = graph.node("Where", graph.node("IsNaN", x), graph.constant(0.0), scaled)
        terms.append(graph.node("Mul", value, graph.constant(float(coef[int(starts[-1]) + k]))))
    if features.waves is not None:
        terms += _add_waves(features.waves, coef[int(cells[-1]) :], raw, graph)
    graph.node("Sum", *terms, result="score")


def _add_waves(waves: FourierMap, coef: Array, raw: list[str], graph: Graph) -> list[str]:
    """What the cosines and the sines of the waves add to scores."""
    steps, axis = waves.steps(), graph.constant(np.array([1]))
    own = np.flatnonzero(waves.unit > 0)
    X = graph.node("Concat", *(graph.node("Unsqueeze", raw[j], axis) for j in own), axis=1)
    zero = graph.constant(0.0)
    units = graph.node(
        "Div", graph.node("Sub", X, graph.constant(waves.center[own])), graph.constant(waves.unit[own])
    )
    known = graph.node("Where", graph.node("IsNaN", X), zero, units)
    far = graph.constant(steps.farthest)
    cut = graph.node("Min", graph.node("Max", known, graph.node("Neg", far)), far)
    whole = graph.node("Round", graph.node("Mul", cut, graph.constant(1.0 / steps.value_step)))
    values = graph.node("Mul", whole, graph.constant(steps.value_step))
    phases = graph.node("Round", graph.node("MatMul", values, graph.constant(steps.frequencies[own])))
    circle = graph.constant(np.array(steps.cosine.size, dtype=np.int64))
    places = graph.node("Mod", graph.node("Cast", phases, to=graph.types.INT64), circle)
    found = []
    for table, weights in ((steps.cosine, coef[0::2]), (steps.sine, coef[1::2])):
        # of an odd number of waves the last sine is missing
        full = np.zeros(steps.frequencies.shape[1])
        full[: weights.size] = weights
        wave = graph.node("Gather", graph.constant(table), places)
        sums = graph.node("MatMul", wave, graph.constant(full[:, None]))
        found.append(graph.node("Squeeze", sums, axis))
    return found
