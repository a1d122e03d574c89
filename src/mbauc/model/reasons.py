"""What raises scores most, as texts beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.additive.largest import find_largest
from mbauc.estimators.additive.term_values import Texts, write_each
from mbauc.estimators.scorer import LinearScorer
from mbauc.model.contributions import ScoreSplitter, SplitRows
from mbauc.model.model import RankerModel

#: Log-odds below which a contribution would be written as +0.00.
_LEAST = 0.005


class ExplainedScores(NamedTuple):
    """Scores of a block of rows, columns to pass on, and texts: one array of them for each reason."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    columns: Any
    reasons: Sequence[Texts]


def explain_blocks(model: RankerModel, source: Any, keep: Sequence[str], n: int) -> Iterator[ExplainedScores]:
    """Scores of a source's rows with the ``n`` largest contributions that raise them, block by block."""
    splitter = ScoreSplitter(model)
    for numbers, rows, columns in source.number_rows(keep):
        parts = list(splitter.split(rows)) if numbers.size else []
        scores = np.concatenate([np.empty(0), *(part.scores for part in parts)])
        texts = [np.empty((0, n), dtype=object), *(_write_reasons(splitter.scorer, part, n) for part in parts)]
        yield ExplainedScores(numbers, scores, columns, list(np.concatenate(texts).T))


def _write_reasons(scorer: LinearScorer, rows: SplitRows, n: int) -> Texts:
    """Texts of shape (rows, n); None where a row has fewer reasons."""
    slope, _ = scorer.line
    found = find_largest(slope * rows.split.added, n, upwards=True)
    shown = found.amounts >= _LEAST
    where, places, amounts = found.rows[shown], found.places[shown], found.amounts[shown]
    names = np.array([_name(term.name, len(term.columns)) for term in rows.split.terms], dtype=object)
    hundredths = np.rint(100 * amounts).astype(np.int64)
    texts = names[places] + rows.tell(where, places) + write_each(hundredths, _amount)
    result = np.full((rows.scores.size, n), None, dtype=object)
    # of each row the largest come first
    result[where, np.arange(where.size) - np.searchsorted(where, where)] = texts
    return result


def _name(name: str, columns: int) -> str:
    return name + (" = " if columns > 1 else "=")


def _amount(hundredths: int) -> str:
    return f" ({hundredths / 100:+.2f})"
