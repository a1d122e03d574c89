"""Why a row has its score: the largest of what is added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_whole
from mbauc.estimators.additive.largest import find_largest
from mbauc.estimators.additive.score_terms import ScoreTerms, rows_for, split_scores
from mbauc.estimators.additive.term_values import Tell, Texts, additive_values, linear_values
from mbauc.estimators.scorer import LinearScorer
from mbauc.readers.table.arrow import as_arrow_table
from mbauc.readers.table.encoding.frame_rows import list_columns
from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]

#: Rows that are split at a time.
_ROWS = 1_024


class Contribution(NamedTuple):
    """What a term adds: its name, the row's own value as people wrote it, and log-odds."""

    name: str
    value: str
    log_odds: float


@dataclass(frozen=True)
class Explanation:
    """A score as a sum: ``base``, the ``contributions`` and ``rest`` add up to ``log_odds``.

    Attributes
    ----------
    score : float
        As ``decision_function`` gives it.
    log_odds : float
        The sum: the score times the slope, or as a straight :class:`~mbauc.metrics.Calibration` has it; the
        score itself where a ranker has no slope. An isotonic map is no sum: it is in the probability alone.
    probability : float or None
        That the row is positive; None where a ranker has no slope.
    base : float
        Log-odds of an average row; of a linear ranker without ``means``, of a row of zeros.
    contributions : tuple of Contribution
        The largest, by size; of equal ones the first in the order of the columns.
    rest : float
        What all others add.
    n_rest : int
        How many these are.
    """

    score: float
    log_odds: float
    probability: float | None
    base: float
    contributions: tuple[Contribution, ...]
    rest: float
    n_rest: int

    def __str__(self) -> str:
        head = f"score {self.score:.4g}"
        if self.probability is not None:
            head += f", probability {self.probability:.2%}"
        lines = [head, f"{self.base:+8.2f}  baseline"]
        lines += [f"{one.log_odds:+8.2f}  {one.name} = {one.value}" for one in self.contributions]
        if self.n_rest:
            lines.append(f"{self.rest:+8.2f}  {self.n_rest} more")
        return "\n".join(lines)


def explain(
    estimator: Any, X: Any, n: int = 5, *, means: ArrayLike | None = None, texts: Any = None
) -> list[Explanation]:
    """Explain scores by their largest contributions.

    Parameters
    ----------
    estimator : ranker or LinearScorer
        A fitted :class:`AdditiveAUCClassifier` or :class:`TableRanker`, whose terms are curves and heat maps,
        or a fitted linear ranker, whose terms are its columns; or its scorer.
    X : array-like, sparse matrix or data frame of shape (n, d)
        Rows whose scores to explain.
    n : int, default=5
        Maximum number of contributions listed for each row.
    means : array-like, optional
        Baseline from which contributions are measured: the mean of each column for a linear ranker, of each
        term for an additive scorer. By default the means stored in an AdditiveAUCClassifier, otherwise 0.
    texts : data frame, optional
        The rows as a table, used to name levels that were not seen in training; by default X if it is a data
        frame.

    Returns
    -------
    list of Explanation
        One explanation for each row, in the order of X.

    See Also
    --------
    auc_without : importance of each term over a set of rows.

    Notes
    -----
    ``O(rows · terms · log terms)`` time, ``O(rows · n)`` memory.

    Examples
    --------
    >>> from mbauc import explain
    >>> from mbauc.estimators import LinearScorer
    >>> scorer = LinearScorer([2.0, -1.0, 0.1], slope=1.0, names=["age", "income", "rooms"])
    >>> print(explain(scorer, [[1.5, 1.0, 3.0]], n=2)[0])
    score 2.3, probability 90.89%
       +0.00  baseline
       +3.00  age = 1.5
       -1.00  income = 1
       +0.30  1 more
    """
    check_whole("n", n, low=0)
    scorer, rows = rows_for(estimator, X)
    if means is None:
        means = getattr(estimator, "term_means_", None)
    return list(_explain_blocks(scorer, rows, n, means, _frame_texts(X if texts is None else texts)))


def _explain_blocks(
    scorer: LinearScorer,
    rows: Any,
    n: int,
    means: ArrayLike | None,
    text: Callable[[str, NDArray[np.intp]], Texts | None],
) -> Iterator[Explanation]:
    rows = rows.tocsr() if is_sparse(rows) else rows
    for start in range(0, rows.shape[0], _ROWS):
        block = rows[start : start + _ROWS]
        split, features = split_scores(scorer, block, means), getattr(scorer, "features", None)
        if features is None:
            tell = linear_values(split.terms, block)
        else:
            names, first = features.names, start
            tell = additive_values(
                features,
                split.terms,
                block,
                lambda j, own, names=names, first=first: text(names[j], first + own),  # type: ignore[misc]
            )
        yield from explain_terms(scorer, split, scorer.scores(block), n, tell)


def explain_terms(
    scorer: LinearScorer, split: ScoreTerms, scores: Array, n: int, tell: Tell
) -> Iterator[Explanation]:
    """Scores that were split, row by row; ``tell`` gives values of rows in terms."""
    slope, offset = scorer.line
    calibrated = scorer.slope is not None or scorer.calibration is not None
    base = slope * split.base + offset
    chances = scorer.probability(scores).tolist() if calibrated else [None] * scores.size
    # a column without a weight, or a curve that is flat, says nothing
    found = find_largest(slope * split.added, n)
    parts = [
        Contribution(split.terms[place].name, value, amount)
        for place, value, amount in zip(
            found.places, tell(found.rows, found.places), found.amounts.tolist(), strict=True
        )
    ]
    ends = np.searchsorted(found.rows, np.arange(scores.size + 1)).tolist()
    for k, score in enumerate(scores.tolist()):
        own = tuple(parts[ends[k] : ends[k + 1]])
        log_odds = slope * score + offset
        rest = log_odds - base - sum(part.log_odds for part in own)
        n_rest = int(found.counts[k]) - len(own)
        yield Explanation(score, log_odds, chances[k], base, own, rest if n_rest else 0.0, n_rest)


def _frame_texts(X: Any) -> Callable[[str, NDArray[np.intp]], Texts | None]:
    """What gives texts of a column of a table; None where X is none, or has no such column."""
    table: Any = None

    def text(name: str, rows: NDArray[np.intp]) -> Texts | None:
        nonlocal table
        if not (hasattr(X, "columns") or hasattr(X, "column_names")):
            return None
        if table is None:
            table = as_arrow_table(X, list_columns(X))
        if name not in table.column_names:
            return None
        return np.array([str(table[name][int(row)].as_py()) for row in rows], dtype=object)

    return text
