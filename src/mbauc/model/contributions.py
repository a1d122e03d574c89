"""Scores of the rows of files as sums over columns, with the values that people know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.additive.score_terms import ScoreTerm, ScoreTerms, split_scores
from mbauc.estimators.additive.term_values import (
    MISSING,
    Tell,
    Texts,
    additive_values,
    by_place,
    linear_values,
    write_each,
    write_number,
)
from mbauc.estimators.scorer import LinearScorer
from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel
from mbauc.readers.table.columns.features import Features

Array = NDArray[np.float64]

#: Rows of curves and heat maps that are split at a time.
_ROWS = 8_192
#: Letters of a value, at most.
_LETTERS = 100


class SplitRows(NamedTuple):
    """Scores of some rows, what they are sums of, and what tells the values that add so much."""

    scores: Array
    split: ScoreTerms
    tell: Tell


class ScoreSplitter:
    """How scores of a model become sums: over columns of a table, curves and heat maps, or LIBSVM features.

    Of a linear model of a table all that a column became, one-hot or hashed, counts together; from the mean of
    the training where moments have it, otherwise from a row of zeros: numbers that were standardised have their
    mean there. LIBSVM features count from 0, so that absent ones add nothing.

    Parameters
    ----------
    model : RankerModel
        What scores.
    """

    def __init__(self, model: RankerModel) -> None:
        self._model = model
        self._encoding = model.layout.encoding if isinstance(model.layout, TableLayout) else None
        self.scorer: LinearScorer = model.scorer
        if model.terms is None and isinstance(model.layout, LibsvmLayout):
            # numbers as in the files; there may be millions, and few are told
            first = 0 if model.layout.zero_based else 1
            self.scorer = replace(self.scorer, names=np.arange(first, first + model.n_features))
        codes = () if self._encoding is None else self._encoding.code_columns
        self._slots = {place for place, column in enumerate(codes) if column.hashed is not None}
        self._column_means: dict[str, float] = {}
        if model.terms is None and self._encoding is not None and model.moments is not None:
            self._column_means = self._encoding.column_means(_mean_row(model), model.coef)

    def split(self, rows: Any) -> Iterator[SplitRows]:
        """Rows as ``number_rows`` of a source has them, in their order, some at a time."""
        if self._encoding is None:
            yield from self._split_matrix(rows, None)
        elif self._model.terms is not None:
            yield from self._split_matrix(self._encoding.matrix(rows), rows)
        else:
            yield self._split_table(rows)

    def _split_matrix(self, X: Any, features: Features | None) -> Iterator[SplitRows]:
        terms = self._model.terms
        means = None if terms is None else terms.term_means
        # what sparse rows are sums of is sparse
        step = _ROWS if terms is not None else max(1, X.shape[0])
        for start in range(0, X.shape[0], step):
            block = X[start : start + step]
            split = split_scores(self.scorer, block, means)
            if terms is None:
                tell = linear_values(split.terms, block)
            else:
                texts = self._texts(features, start)
                tell = additive_values(terms.features, split.terms, block, texts, self._slots)
            yield SplitRows(self.scorer.scores(block), split, tell)

    def _texts(self, features: Features | None, start: int) -> Any:
        """What gives texts of a column of codes."""
        if features is None or self._encoding is None:
            return lambda j, rows: None
        names = [column.reads for column in self._encoding.code_columns]
        return lambda j, rows: _write_values(features, names[j], start + rows)

    def _split_table(self, features: Features) -> SplitRows:
        encoding, coef = self._model.layout.encoding, self._model.coef  # type: ignore[union-attr]
        added = dict(encoding.column_scores(features, coef))
        means = np.array([self._column_means.get(name, 0.0) for name in added])
        names = {column.name: column.text_names or [column.name] for column in encoding.columns}
        values = [names[name] for name in added]

        def tell(rows: NDArray[np.intp], places: NDArray[np.intp]) -> Texts:
            texts = np.empty(rows.size, dtype=object)
            for place, own in by_place(places):
                parts = [_write_values(features, name, rows[own]) for name in values[place]]
                texts[own] = parts[0]
                for part in parts[1:]:  # of a time
                    texts[own] = texts[own] + " " + part
            return texts

        matrix = np.empty((features.rows, means.size))
        for place, one in enumerate(added.values()):
            np.subtract(one, means[place], out=matrix[:, place])
        terms = [ScoreTerm(name, (place,)) for place, name in enumerate(added)]
        split = ScoreTerms(terms, matrix, self._model.intercept + float(means.sum()))
        return SplitRows(encoding.scores(features, coef) + self._model.intercept, split, tell)


def _mean_row(model: RankerModel) -> Array:
    """Mean of the training's rows, as many negatives as there were before they were sampled."""
    if model.moments is None:
        return np.zeros(model.n_features)
    (plus, minus), (positive, negative) = model.moments.class_means, model.moments.weights
    negative /= model.settings.get("negative_rate", 1.0)
    return np.asarray((positive * plus + negative * minus) / (positive + negative))


def _write_values(features: Features, name: str, rows: NDArray[np.intp]) -> Texts:
    """Numbers or texts of a column in some rows, as they were read."""
    if name in features.numbers:
        return write_each(features.numbers[name][rows], write_number)
    codes, texts = features.texts[name].codes[rows], features.texts[name].values
    return write_each(codes, lambda code: _shorten(texts[code].as_py() if code >= 0 else "") or MISSING)


def _shorten(text: str) -> str:
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
