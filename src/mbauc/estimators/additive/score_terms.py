"""A score as a sum: what each curve, heat map or column adds to the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from mbauc.basis.columns import Levels
from mbauc.basis.feature_map import FeatureMap
from mbauc.estimators.additive.labels import plain_number
from mbauc.estimators.additive.scorer import AdditiveScorer
from mbauc.estimators.scorer import LinearScorer
from mbauc.estimators.validation import name_columns, validate_matrix
from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]


class ScoreTerm(NamedTuple):
    """A part of scores: its name, and the columns of the rows that it looks at; none for waves of all."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """Scores of rows as sums.

    Attributes
    ----------
    terms : list of ScoreTerm
        Curves in the order of the columns, then heat maps; for a linear ranker the columns with a weight.
    added : ndarray or csr_array of shape (n, terms)
        What each adds to the score of each row, around its mean where that is known; sparse where rows are and
        no means are known.
    base : float
        What they are added to: the score of an average row, or the intercept where no means are known.
    """

    terms: list[ScoreTerm]
    added: Any
    base: float


def rows_for(ranker: Any, X: Any) -> tuple[LinearScorer, Any]:
    """The scorer of a ranker, and rows as this scorer takes them."""
    if isinstance(ranker, LinearScorer):
        return ranker, X if is_sparse(X) else np.asarray(X, dtype=np.float64)
    if not hasattr(ranker, "scorer"):
        raise ValueError(
            f"estimator must be a fitted ranker of mbauc or its scorer, got {type(ranker).__name__}; of a "
            "pipeline pass the last step, and rows as it gets them."
        )
    scorer = ranker.scorer()
    if hasattr(ranker, "encode_rows"):
        return scorer, ranker.encode_rows(X)
    with name_columns(X):
        return scorer, validate_matrix(ranker, X, reset=False)


def split_scores(scorer: LinearScorer, X: Any, means: ArrayLike | None = None) -> ScoreTerms:
    """Scores of rows as sums. ``O(n terms)`` time and memory.

    Parameters
    ----------
    scorer : LinearScorer or AdditiveScorer
        What scores.
    X : ndarray or sparse matrix of shape (n, d)
        Rows as the scorer takes them.
    means : array-like, optional
        What each term of ``scorer.features.terms()`` adds to scores on average; of a linear scorer the mean of
        each column. Zeros if not given.
    """
    if isinstance(scorer, AdditiveScorer) and scorer.features is not None:
        return _split_additive(scorer, scorer.features, X, means)
    if X.ndim != 2 or X.shape[1] != scorer.n_features:
        raise ValueError(f"X must have {scorer.n_features:,} columns, got shape {X.shape}.")
    middle = np.zeros(scorer.n_features) if means is None else np.asarray(means, dtype=np.float64)
    if middle.shape != (scorer.n_features,):
        raise ValueError(f"means must have {scorer.n_features:,} entries, got shape {middle.shape}.")
    base = scorer.intercept + float(scorer.coef @ middle)
    if is_sparse(X) and not middle.any():
        columns, added = _weigh_entries(X.tocsr(), scorer.coef)
    else:
        columns = np.flatnonzero(scorer.coef)
        values = X[:, columns]
        added = (values.toarray() if is_sparse(X) else values) - middle[columns]
        added *= scorer.coef[columns]
    names = [f"x{j}" if scorer.names is None else str(scorer.names[j]) for j in columns]
    terms = [ScoreTerm(name, (int(j),)) for name, j in zip(names, columns, strict=True)]
    return ScoreTerms(terms, added, base)


def _weigh_entries(X: Any, coef: Array) -> tuple[NDArray[np.intp], sp.csr_array]:
    """Entries times weights, in the columns where one of them is not zero: which these are, and the matrix."""
    added = sp.csr_array((X.data * coef[X.indices], X.indices.copy(), X.indptr.copy()), shape=X.shape)
    added.eliminate_zeros()
    used = np.zeros(coef.size, dtype=bool)
    used[added.indices] = True
    columns, places = np.flatnonzero(used), np.cumsum(used) - 1
    shape = (X.shape[0], columns.size)
    return columns, sp.csr_array((added.data, places[added.indices], added.indptr), shape=shape)


def _split_additive(
    scorer: AdditiveScorer, features: FeatureMap, X: Any, means: ArrayLike | None
) -> ScoreTerms:
    added, places = scorer.contributions(X), merge_terms(features)
    if means is not None:
        middle = np.asarray(means, dtype=np.float64)
        if middle.shape != (added.shape[1],):
            raise ValueError(f"means must have {added.shape[1]:,} entries, got shape {middle.shape}.")
        added = added - middle
    result = np.zeros((added.shape[0], max(places, default=-1) + 1))
    for source, place in enumerate(places):
        result[:, place] += added[:, source]
    base = scorer.intercept + (0.0 if means is None else float(np.sum(means)))
    return ScoreTerms(name_terms(features), result, base)


def name_terms(features: FeatureMap) -> list[ScoreTerm]:
    """Curves and heat maps: a column's bins and its number are one."""
    return [
        ScoreTerm(features.term_name(term), () if term.kind == "waves" else term.columns)
        for term in features.terms()
        if term.kind != "number"
    ]


def merge_terms(features: FeatureMap) -> list[int]:
    """Which of these each term of ``features.terms()`` belongs to."""
    places: dict[tuple[int, ...], int] = {}
    found = []
    for term in features.terms():
        key = () if term.kind == "waves" else term.columns
        if term.kind != "number":
            places[key] = len(places)
        found.append(places[key])
    return found


def column_text(features: FeatureMap, j: int, value: float) -> str | None:
    """A value of a column as people wrote it; None for a level that the features do not know."""
    column = features.columns[j]
    if np.isnan(value):
        return "missing"
    if isinstance(column, Levels):
        code = int(column.codes([value])[0])
        return column.names[code] if code < len(column.names) else None
    return plain_number(value)
