"""Why rows of files have their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbauc.estimators.additive.explain import Contribution, Explanation, explain
from mbauc.estimators.scorer import LinearScorer
from mbauc.model.layout import TableLayout
from mbauc.model.model import RankerModel


@dataclass(frozen=True)
class ExplainedFileRow:
    """A row of a file: its number from 0 on over all files, columns that name it, and why it has its score."""

    row: int
    ids: dict[str, Any]
    explanation: Explanation


def explain_files(
    model: RankerModel,
    paths: Any,
    *,
    rows: tuple[int, int] | None = None,
    top: int | None = None,
    n: int = 5,
    keep: Sequence[str] = (),
    on_error: str = "stop",
) -> list[ExplainedFileRow]:
    """Explain some rows of files. One pass, or two for the highest scores; memory: a few blocks.

    Parameters
    ----------
    model : RankerModel
        What scores.
    paths : path or sequence of paths
        Files like those that it was trained on; labels are not needed.
    rows : tuple of int, optional
        First and last row, counted from 0 over all files; all of them if not given.
    top : int, optional
        Only so many of them, those with the highest scores, the highest first.
    n : int
        Contributions of each row, at most.
    keep : sequence of str
        Columns of the files that name rows.
    on_error : {"stop", "skip"}
        What to do at a row that cannot be read.

    Raises
    ------
    ValueError
        If the files have none of these rows; it says how many there are.
    """
    first, last = (0, np.inf) if rows is None else rows
    wanted = None if top is None else _highest(model, paths, first, last, top, on_error)
    source = model.layout.unlabelled(paths, model.classes, on_error=on_error)
    texts = _text_columns(model)
    scorer, means = _named_scorer(model), None if model.terms is None else model.terms.term_means
    found: list[ExplainedFileRow] = []
    n_rows = 0
    for numbers, X, columns in source.number_rows([*dict.fromkeys([*keep, *texts])]):
        if numbers.size and numbers[0] > last:
            break
        n_rows = int(numbers[-1]) + 1 if numbers.size else n_rows
        own = (numbers >= first) & (numbers <= last)
        if wanted is not None:
            own &= np.isin(numbers, wanted)
        places = np.flatnonzero(own)
        if not places.size:
            continue
        # a table of no columns has forgotten its rows
        table = columns.take(places) if columns is not None and columns.num_columns else None
        told = explain(scorer, X[places], n, means=means, texts=table)
        ids = [{}] * places.size if table is None or not keep else table.select(list(keep)).to_pylist()
        raw = None if model.terms is not None else [{}] * places.size if table is None else table.to_pylist()
        found += [
            ExplainedFileRow(int(numbers[place]), id_, one if raw is None else _plain(one, raw[k]))
            for k, (place, id_, one) in enumerate(zip(places, ids, told, strict=True))
        ]
    if not found:
        there = f"they have {n_rows:,}, counted from 0" if n_rows else "they have none"
        raise ValueError(f"there are no such rows in these files: {there}.")
    if wanted is not None:
        found.sort(key=lambda one: (-one.explanation.score, one.row))
    return found


def _highest(model: RankerModel, paths: Any, first: float, last: float, top: int, on_error: str) -> Any:
    """Numbers of the rows with the highest scores; of equal ones the first."""
    source = model.layout.unlabelled(paths, model.classes, on_error=on_error)
    features = None if model.terms is None else model.terms.features
    best, scores = np.empty(0, dtype=np.int64), np.empty(0)
    for numbers, s, _ in source.score_rows(model.coef, (), features):
        own = (numbers >= first) & (numbers <= last)
        best, scores = np.append(best, numbers[own]), np.append(scores, s[own])
        order = np.lexsort([best, -scores])[:top]
        best, scores = best[order], scores[order]
    return best


def _text_columns(model: RankerModel) -> list[str]:
    """Columns that say more than the model's own: texts of levels that training never saw, numbers unscaled."""
    if not isinstance(model.layout, TableLayout):
        return []
    kind = "numeric" if model.terms is None else "category"
    return [column.name for column in model.layout.encoding.columns if column.kind == kind]


def _named_scorer(model: RankerModel) -> LinearScorer:
    if model.terms is not None:
        return model.scorer
    names = np.array(model.feature_names(), dtype=object)
    return LinearScorer(model.coef, model.intercept, model.slope, model.labels, names)


def _plain(found: Explanation, raw: dict[str, Any]) -> Explanation:
    """With numbers as they stand in the file, and indicators by their level: ``site = a``."""
    parts = []
    for one in found.contributions:
        name, sign, level = one.name.rpartition("=")
        if one.name in raw:
            value = raw[one.name]
            parts.append(one._replace(value="missing" if value is None else str(value)))
        elif one.value == "1" and sign and name:
            parts.append(Contribution(name, level, one.log_odds))
        else:
            parts.append(one)
    return replace(found, contributions=tuple(parts))
