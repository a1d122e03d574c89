"""What each term is worth: the AUC of scores without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.estimators.additive.score_terms import rows_for, split_scores
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import auc
from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]

#: Terms beyond which so many AUCs say little, and their parts fill the memory.
_MOST_TERMS = 4_000


@dataclass(frozen=True, eq=False)
class AucWithout:
    """AUC of scores, and of scores without each term.

    Attributes
    ----------
    auc : float
        With all terms.
    names : tuple of str
        Of the terms, or of the columns.
    without : ndarray of shape (terms,)
        AUC where the term adds the same to every row.
    """

    auc: float
    names: tuple[str, ...]
    without: Array

    @property
    def lost(self) -> Array:
        """How much lower the AUC is without each; below 0 where it harms."""
        return np.asarray(self.auc - self.without)


def auc_without(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    by: Literal["term", "column"] = "term",
    sample_weight: ArrayLike | None = None,
) -> AucWithout:
    """AUC without each term or column, as a measure of its importance; nothing is refitted.

    A term is left out by replacing its contribution to each row's score by its mean. This measures how much the
    given scores depend on it, not how well a ranker trained without the column would do: on refitting,
    correlated columns would take over its part.

    Parameters
    ----------
    estimator : ranker or LinearScorer
        Fitted, as for :func:`explain`.
    X, y
        Held-out rows and their labels.
    by : {"term", "column"}, default="term"
        What to leave out: one curve or heat map at a time, or all terms of a column. Fourier features of all
        columns are a single term, which is kept when columns are left out.
    sample_weight : array-like of shape (n,), optional
        Weight of each row; weight k counts as k equal rows.

    Notes
    -----
    ``O(terms · n log n)`` time, ``O(terms · n)`` memory; by column each heat map adds ``O(columns · n)``. Rows
    that differ only in the term left out get exactly equal scores.

    Examples
    --------
    >>> from mbauc import auc_without
    >>> from mbauc.estimators import LinearScorer
    >>> scorer = LinearScorer([2.0, 1.0], names=["age", "income"])
    >>> found = auc_without(scorer, [[0, 1], [1, 0], [1, 2], [2, 0]], [0, 0, 1, 1])
    >>> found.auc, dict(zip(found.names, found.without.tolist()))
    (1.0, {'age': 0.625, 'income': 0.875})
    """
    check_choice("by", by, ("term", "column"))
    scorer, rows = rows_for(estimator, X)
    n_terms = int(np.count_nonzero(scorer.coef)) if not hasattr(scorer, "features") else scorer.n_features
    if n_terms > _MOST_TERMS:
        raise ValueError(
            f"the ranker has {n_terms:,} terms; auc_without is for {_MOST_TERMS:,} at most. Select "
            "columns first."
        )
    ranked = RankedScores.validate(y, scorer.scores(rows), sample_weight, y_name="y", s_name=None, finite=True)
    split = split_scores(scorer, rows)
    dense = split.added.toarray() if is_sparse(split.added) else split.added
    added, terms = np.asfortranarray(dense), split.terms
    if by == "term":
        names = tuple(term.name for term in terms)
        left = _leave_each_out(added)
    else:
        alone = [place for place, term in enumerate(terms) if len(term.columns) < 2]
        names = tuple(terms[place].name for place in alone)
        shared = [place for place, term in enumerate(terms) if len(term.columns) > 1]
        left = _leave_columns_out(added, [term.columns for term in terms], alone, shared)
    aucs = [auc(RankedScores(ranked.positive, values, ranked.weight)) for values in left]
    return AucWithout(auc(ranked), names, np.array(aucs))


def _leave_each_out(added: Array) -> Iterator[Array]:
    """The sum of all columns but one, for each; from sums of others only, so that equal rows stay equal."""
    after = np.zeros_like(added)
    for place in range(added.shape[1] - 2, -1, -1):
        after[:, place] = after[:, place + 1] + added[:, place + 1]
    before = np.zeros(added.shape[0])
    for place in range(added.shape[1]):
        yield before + after[:, place]
        before = before + added[:, place]


def _leave_columns_out(
    added: Array, columns: list[tuple[int, ...]], alone: list[int], shared: list[int]
) -> Iterator[Array]:
    """The sum of all terms that a column takes no part in, for each column."""
    for place, rest in zip(alone, _leave_each_out(added[:, alone]), strict=True):
        for other in shared:
            if not set(columns[place]) & set(columns[other]):
                rest = rest + added[:, other]
        yield rest
