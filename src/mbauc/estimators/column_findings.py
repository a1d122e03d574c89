"""Columns worth a warning before anybody relies on a model: doubtful, constant, doubled, leaking or shifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.design import ColumnKind
from mbauc.checks import list_some
from mbauc.errors import Advice
from mbauc.metrics import roc_auc

Array = NDArray[np.float64]

#: AUC of one column alone from which on it gives the label away.
_LEAKING = 0.99
#: AUC of telling late rows from early ones by one column, from which on it has shifted.
_SHIFTED = 0.8
#: Share of the rows that are late.
_LATE = 0.2
#: Rows of each class below which no AUC is judged.
_LEAST_ROWS = 10
#: Bins of a number, folds, and rows that a rate is drawn towards the rate of all rows by.
_BINS, _FOLDS, _PRIOR_ROWS = 64, 5, 1.0


#: What columns are taken for that may be numbers.
_TAKEN_FOR = {
    "category": "is treated as a category",
    "id": "is treated as an id and excluded from the features",
}
#: What is said of several columns at once.
_TOGETHER = {
    "constant": "are constant (the same value in all rows).",
    "shifted": "drift: their values differ in the last fifth of the rows.",
}
#: What to do about columns that are shifted, unless it has been done.
_TEST_LATE = " If the rows are in time order, test on the last rows."


@dataclass(frozen=True)
class ColumnFinding:
    """What is odd about one column.

    Attributes
    ----------
    column : str
        Its name.
    finding : {"category", "id", "constant", "duplicate", "leaking", "shifted"}
        What it is; ``"category"`` and ``"id"`` are what a column is taken for that may be numbers.
    other : str or None
        The earlier column that a duplicate says the same as; why it may be numbers.
    auc : float or None
        AUC of the label by this column alone if it is leaking; of telling the last fifth of the rows from those
        before if it is shifted.
    of : str or None
        The table's column that it is a part of, such as the hour of a time; None if it is one itself.
    """

    column: str
    finding: str
    other: str | None = None
    auc: float | None = None
    of: str | None = None

    @property
    def sentence(self) -> str:
        """The finding and what to do about it, in words."""
        if self.finding in _TAKEN_FOR:
            return (
                f"column {self.column!r} {_TAKEN_FOR[self.finding]}, because {self.other}. "
                + "Correct the data, or leave such values empty. "
                + Advice("{types} with {on_error} ", types={self.column: "numeric"}, on_error="skip")
                + "reads it as numeric and skips such rows."
            )
        # parts of a column are left out together
        whole = "it" if self.of is None else repr(self.of)
        ignore = Advice.of_argument("ignore", [self.of or self.column])
        leave_out = f"Leave {whole} out with " + ignore + "."
        if self.finding == "constant":
            return f"column {self.column!r} is constant (the same value in all rows). " + leave_out
        if self.finding == "duplicate":
            return f"column {self.column!r} duplicates {self.other!r}: its values map one-to-one. " + leave_out
        if self.finding == "leaking":
            return (
                f"column {self.column!r} alone has an AUC of {self.auc:.3f}, a sign of data leakage: is it "
                "known " + "before the label? " + f"If not, leave {whole} out with " + ignore + "."
            )
        return (
            f"column {self.column!r} drifts: its values differ in the last fifth of the rows (AUC "
            f"{self.auc:.2f} for separating these rows by this column).{_TEST_LATE}"
        )


def tell_findings(findings: Sequence[ColumnFinding], *, tested_late: bool) -> list[str]:
    """Findings in sentences; several columns that are constant, or shifted, in one.

    Where the test was on the last rows, ``tested_late``, nobody is told to test on these.
    """
    told = [one.sentence for one in findings if one.finding not in _TOGETHER]
    for finding, said in _TOGETHER.items():
        own = [one for one in findings if one.finding == finding]
        if len(own) == 1:
            told.append(own[0].sentence)
        elif own:
            shown = list_some((repr(one.column) for one in own), 5)
            told.append(f"columns {shown} {said}" + (_TEST_LATE if finding == "shifted" else ""))
    # what ends otherwise may carry advice, which is more than its text
    return [one.removesuffix(_TEST_LATE) if tested_late and one.endswith(_TEST_LATE) else one for one in told]


def inspect_columns(
    X: Array, y: NDArray[np.generic], columns: Sequence[ColumnKind], *, ordered: bool = True
) -> list[ColumnFinding]:
    """Columns worth a warning, in the order of the columns.

    - *constant*: one value, or none, in all rows. Nothing else is said of it.
    - *duplicate*: a number that orders the rows as an earlier one does, forwards or (if none is missing)
      backwards, or a category whose levels are those of an earlier one under other names.
    - *leaking*: its AUC alone is above 0.99. Of a number that is the AUC of its values, or of the rates of 64
      bins of them; of a category, of the rates of its levels. Rates are of other rows (5 folds).
    - *shifted*: the last fifth of the rows can be told from those before with an AUC above 0.8, found likewise.

    An AUC is judged only if there are 10 rows on either side. ``O(n log n)`` time for each column.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows as numbers and codes, NaN where a value is missing: a sample will do.
    y : ndarray of shape (n,)
        Which rows are positive.
    columns : sequence of ColumnKind
        Names of the columns, and which are categories.
    ordered : bool, default=True
        Whether the order of the rows means anything; without it nothing is called shifted.

    Returns
    -------
    list of ColumnFinding

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.basis.design import ColumnKind
    >>> from mbauc.estimators.column_findings import inspect_columns
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.3
    >>> X = np.column_stack([rng.normal(size=500), y + 0.1 * rng.random(500)])
    >>> (found,) = inspect_columns(X, y, [ColumnKind("bid"), ColumnKind("refund")])
    >>> print(found.finding, found.auc)
    leaking 1.0
    >>> print(found.sentence.partition("? ")[2])
    If not, leave it out with ignore=['refund'].
    """
    positive = np.asarray(y).astype(bool)
    late = np.arange(positive.size) >= (1.0 - _LATE) * positive.size
    seen: dict[tuple[bool, bytes], str] = {}
    found = []
    for values, kind in zip(np.asarray(X, dtype=np.float64).T, columns, strict=True):
        distinct, codes = np.unique(values, return_inverse=True)  # NaN is one value, the last
        if distinct.size <= 1:
            found.append(ColumnFinding(kind.name, "constant"))
            continue
        key = _find_key(codes, distinct.size, kind.categorical)
        if key is not None and key in seen:
            found.append(ColumnFinding(kind.name, "duplicate", other=seen[key]))
        elif key is not None:
            seen[key] = kind.name
        auc = _separate(codes, positive, kind.categorical)
        if auc > _LEAKING:
            found.append(ColumnFinding(kind.name, "leaking", auc=auc))
        auc = _separate(codes, late, kind.categorical) if ordered else 0.5
        if auc > _SHIFTED:
            found.append(ColumnFinding(kind.name, "shifted", auc=auc))
    return found


def _find_key(codes: NDArray[np.intp], n_distinct: int, categorical: bool) -> tuple[bool, bytes] | None:
    """What columns that say the same have in common; None if a category hardly repeats, so that any would."""
    if not categorical:
        # backwards too: the one that begins with the smaller code
        turned = n_distinct - 1 - codes
        first = np.flatnonzero(codes != turned)[:1]
        return False, (np.where(codes[first] > turned[first], turned, codes) if first.size else codes).tobytes()
    if n_distinct > 0.5 * codes.size:
        return None
    _, firsts = np.unique(codes, return_index=True)
    order = np.empty(n_distinct, dtype=codes.dtype)
    order[np.argsort(firsts)] = np.arange(n_distinct)
    return True, order[codes].tobytes()


def _separate(codes: NDArray[np.intp], positive: NDArray[np.bool_], categorical: bool) -> float:
    """AUC of telling rows apart by one column alone; 0.5 if there are too few of either side."""
    if min(positive.sum(), (~positive).sum()) < _LEAST_ROWS:
        return 0.5
    if categorical:
        return roc_auc(positive, _rate_by_others(codes, positive))
    auc = roc_auc(positive, codes.astype(np.float64))
    bins = (np.cumsum(np.bincount(codes)) - 1) * _BINS // codes.size
    return max(auc, 1.0 - auc, roc_auc(positive, _rate_by_others(bins[codes], positive)))


def _rate_by_others(codes: NDArray[np.intp], positive: NDArray[np.bool_]) -> Array:
    """For each row the share of positives with its code among rows of other folds."""
    fold = np.random.default_rng(0).permutation(codes.size) % _FOLDS
    n_codes = int(codes.max()) + 1
    rates = np.empty(codes.size)
    for held_out in range(_FOLDS):
        train, test = fold != held_out, fold == held_out
        rows = np.bincount(codes[train], minlength=n_codes)
        hits = np.bincount(codes[train], positive[train], n_codes)
        rates[test] = ((hits + _PRIOR_ROWS * positive.mean()) / (rows + _PRIOR_ROWS))[codes[test]]
    return rates
