"""Why rows of files have their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbauc.checks import check_whole
from mbauc.estimators.additive.explain import Explanation, explain_terms
from mbauc.model.contributions import ScoreSplitter
from mbauc.model.model import RankerModel
from mbauc.readers.table.columns.features import Features


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
    read: Callable[[Any], object] | None = None,
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
    n : int, default=5
        Contributions of each row, at most.
    keep : sequence of str, default=()
        Columns of the files that name rows.
    on_error : {"stop", "skip"}, default="stop"
        What to do at a row that cannot be read.
    read : callable, optional
        Called with the source when it was read; its ``skipped`` are the rows that were left out.

    Raises
    ------
    ValueError
        If the files have none of these rows; it says how many there are.
    """
    check_whole("n", n, low=0)
    first, last = (0, np.inf) if rows is None else rows
    wanted = None if top is None else _highest(model, paths, first, last, top, on_error)
    source = model.layout.unlabelled(paths, model.classes, on_error=on_error)
    splitter = ScoreSplitter(model)
    found: list[ExplainedFileRow] = []
    n_rows = 0
    for numbers, block, columns in source.number_rows(keep):
        if numbers.size and numbers[0] > last:
            break
        n_rows = int(numbers[-1]) + 1 if numbers.size else n_rows
        own = (numbers >= first) & (numbers <= last)
        if wanted is not None:
            own &= np.isin(numbers, wanted)
        places = np.flatnonzero(own)
        if not places.size:
            continue
        told = [
            one
            for scores, split, tell in splitter.split(
                block.select(own) if isinstance(block, Features) else block[places]
            )
            for one in explain_terms(splitter.scorer, split, scores, n, tell)
        ]
        # a table of no columns has forgotten its rows
        ids = columns.take(places).to_pylist() if keep else [{}] * places.size
        found += [
            ExplainedFileRow(int(numbers[place]), id_, one)
            for place, id_, one in zip(places, ids, told, strict=True)
        ]
    if not found:
        if not n_rows and source.skipped.count:
            raise ValueError("no row could be explained; " + str(source.skipped))
        if not n_rows:
            raise ValueError("there are no rows to explain: the data have none.")
        raise ValueError(f"there are no such rows: the data have {n_rows:,} rows, numbered from 0.")
    if read is not None:
        read(source)
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
