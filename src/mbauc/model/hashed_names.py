"""What stands behind hashed columns, so that people can read the largest weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Columns that get names: the ones with the largest weights.
_COLUMNS = 100
#: Share of a column's rows that its named values must make up.
_SHARE = 0.9
#: Values that are named for a column, at most.
_VALUES = 3
#: Rows that are looked at: what carries a large weight is seldom rare.
_ROWS = 200_000


def find_hashed_names(source: Any, coef: NDArray[np.float64]) -> list[dict[str, Any]]:
    """The most frequent values in the hashed columns of the largest weights, from the first 200,000 rows.

    Parameters
    ----------
    source : Source
        The rows; only a table with hashed columns has names.
    coef : ndarray of shape (d,)
        Weights.

    Returns
    -------
    list of dict
        ``column``, up to three ``values`` such as ``site=a``, the most frequent first, and how many ``others``
        share the column. For the record of a model (``trained_on["hashed_columns"]``).
    """
    encoding = getattr(source, "encoding", None)
    if encoding is None or encoding.hash_dim is None:
        return []
    first = encoding.first_hashed
    order = np.argsort(-np.abs(coef[first:]), kind="stable")[:_COLUMNS] + first
    columns = [int(column) for column in order if coef[column]]
    found = source.slot_contents(columns, rows=_ROWS) if columns else {}
    return [_entry(column, values) for column, values in found.items() if values]


def _entry(column: int, values: list[tuple[str, str, int]]) -> dict[str, Any]:
    shares = np.cumsum([count for _, _, count in values])
    enough = int(np.searchsorted(shares, _SHARE * shares[-1])) + 1
    shown = [f"{name}={value}" for name, value, _ in values[: min(enough, _VALUES)]]
    return {"column": column, "values": shown, "others": len(values) - len(shown)}


def with_hashed_names(names: list[str], record: dict[str, Any]) -> list[str]:
    """Names of columns; hashed ones show the values behind them. Malformed records are left alone.

    Examples
    --------
    >>> from mbauc.model.hashed_names import with_hashed_names
    >>> known = {"column": 1, "values": ["site=a", "app=b", "app=c"], "others": 4}
    >>> with_hashed_names(["bid", "hash#0"], {"hashed_columns": [known]})
    ['bid', 'site=a, app=b, app=c, 4 others (hash#0)']
    """
    entries = record.get("hashed_columns")
    for entry in entries if isinstance(entries, list) else []:
        match entry:
            case {"column": int(column), "values": [str(), *_] as values, "others": int(others)} if (
                0 <= column < len(names) and names[column].startswith("hash#")
            ):
                more = f", {others:,} others" if others > 1 else ", 1 other" if others else ""
                names[column] = f"{', '.join(map(str, values))}{more} ({names[column]})"
    return names
