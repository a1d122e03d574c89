"""Values of rows as people wrote them, beside what they add to scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.basis.feature_map import FeatureMap
from mbauc.estimators.additive.labels import plain_number
from mbauc.estimators.additive.score_terms import ScoreTerm, column_text
from mbauc.rows.matrix import is_sparse

Texts = NDArray[np.object_]
#: Values of rows in terms, one text for each row and place that is asked for.
Tell = Callable[[NDArray[np.intp], NDArray[np.intp]], Texts]

#: A value that is not there, and the value of a term of all columns.
MISSING, ALL = "missing", "all columns"
#: A level that training never saw, or saw too seldom.
_OTHER = "other"


def write_each(values: ArrayLike, write: Callable[[Any], str]) -> Texts:
    """Values as texts; each distinct one is written once."""
    distinct, places = np.unique(np.asarray(values), return_inverse=True)
    texts = np.empty(distinct.size, dtype=object)
    texts[:] = [write(value) for value in distinct.tolist()]
    return np.asarray(texts[places])


def write_number(value: float) -> str:
    """A number as in a table; "missing" for NaN."""
    return MISSING if np.isnan(value) else plain_number(value)


def by_place(places: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each place that occurs, and where it does."""
    # numbers of 16 bits are sorted without comparing them
    few = places.max(initial=0) < 2**15
    order = np.argsort(places.astype(np.int16) if few else places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    for own in np.split(order, starts[1:]):
        if own.size:
            yield int(places[own[0]]), own


def linear_values(terms: Sequence[ScoreTerm], X: Any) -> Tell:
    """What tells numbers of a matrix, dense or sparse, of terms that are its columns."""
    columns = np.array([term.columns[0] for term in terms], dtype=np.intp)

    def tell(rows: NDArray[np.intp], places: NDArray[np.intp]) -> Texts:
        found = X[rows, columns[places]]
        return write_each(found.toarray().ravel() if is_sparse(found) else np.ravel(found), write_number)

    return tell


def additive_values(
    features: FeatureMap,
    terms: Sequence[ScoreTerm],
    X: Any,
    text: Callable[[int, NDArray[np.intp]], Texts | None],
    nameless: Collection[int] = (),
) -> Tell:
    """What tells numbers, levels and pairs of them, of curves and heat maps.

    Parameters
    ----------
    features : FeatureMap
        How rows become features.
    terms : sequence of ScoreTerm
        Curves and heat maps.
    X : matrix of shape (n, d)
        Numbers and codes.
    text : callable
        Given a column and rows, texts of its values; None where they are not known.
    nameless : collection of int, default=()
        Columns whose levels have no names, such as slots of a hash.
    """

    def one(j: int, rows: NDArray[np.intp]) -> Texts:
        found = X[rows, np.full(rows.size, j)]
        values = found.toarray().ravel() if is_sparse(found) else np.ravel(found)
        texts = write_each(values, lambda value: column_text(features, j, value) or _OTHER)
        other = texts == _OTHER  # levels without a height of their own
        asked = other | ((texts != MISSING) if j in nameless else False)
        known = text(j, rows[asked]) if asked.any() else None
        if known is not None:
            texts[asked] = known + np.where(other[asked], f" ({_OTHER})", "").astype(object)
        return texts

    def tell(rows: NDArray[np.intp], places: NDArray[np.intp]) -> Texts:
        texts = np.full(rows.size, ALL, dtype=object)
        for place, own in by_place(places):
            parts = [one(j, rows[own]) for j in terms[place].columns]
            for k, part in enumerate(parts):
                texts[own] = texts[own] + " × " + part if k else part
        return texts

    return tell
