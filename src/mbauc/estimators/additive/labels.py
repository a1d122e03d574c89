"""Bins, groups and values of columns as people would write them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import MISSING, Levels, Steps, digits_apart
from mbauc.basis.feature_map import FeatureMap

#: Numbers of this size and more are written in thousands, millions and billions.
_LARGE = ((1e9, "G"), (1e6, "M"), (1e4, "k"))


def short_number(value: float, digits: int = 4) -> str:
    """A number in a few letters, for axes and ranges.

    Examples
    --------
    >>> [short_number(x) for x in (0.0, 61.0, -1.25, 2512.0, 120_000.0, 3.456789e6, 1e-7)]
    ['0', '61', '−1.25', '2512', '120k', '3.457M', '1e-07']
    """
    size, unit = abs(value), ""
    for least, letter in _LARGE:
        if least <= size < 1e13:
            size, unit = size / (1e3 if letter == "k" else least), letter
            break
    text = f"{size:.0f}" if not unit and 1e3 <= size < 1e4 and digits < 4 else f"{size:.{digits}g}"
    return ("−" if value < 0 else "") + text + unit


def plain_number(value: float) -> str:
    """A number as it would be written in a table.

    Examples
    --------
    >>> plain_number(1234567.0), plain_number(0.1), plain_number(-3.5)
    ('1234567', '0.1', '-3.5')
    """
    return f"{value:.10g}"


def is_discrete(column: Steps) -> bool:
    """Whether each bin is one value: then its ends are in the middle between neighbours."""
    middle = column.centers[:-1] + np.diff(column.centers) / 2
    return bool(np.array_equal(column.edges, middle)) or column.edges.size == 0


def short_numbers(values: Iterable[float]) -> list[str]:
    """Numbers in a few letters each, and no two alike.

    Examples
    --------
    >>> short_numbers([10_001.0, 10_002.0]), short_numbers([10_000.0, 20_000.0])
    (['10.001k', '10.002k'], ['10k', '20k'])
    """
    given = [float(value) for value in values]

    def write(digits: int) -> list[str]:
        return [short_number(value, digits) for value in given]

    return write(digits_apart(write, 4))


def step_labels(column: Steps) -> list[str]:
    """Names of the bins: values, or ranges of them."""
    return _range_labels(column, [(k, k) for k in range(column.edges.size + 1)])


def group_labels(features: FeatureMap, j: int) -> list[str]:
    """Names of the coarse groups of a column: ranges, or levels."""
    column, groups = features.columns[j], features.coarse[j]
    members = {group: np.flatnonzero(groups == group) for group in np.unique(groups).tolist()}
    if isinstance(column, Levels):
        found = {group: _level_group(column, own) for group, own in members.items()}
    else:
        bins = {group: own for group, own in members.items() if own[0] < column.width - 1}
        ends = [(int(own[0]), int(own[-1])) for own in bins.values()]
        found = dict(zip(bins, _range_labels(column, ends), strict=True))
        found |= dict.fromkeys(members.keys() - bins.keys(), "missing")
    return [found.get(group, "") for group in range(int(features.coarse_widths[j]))]


def _level_group(column: Levels, own: NDArray[np.intp]) -> str:
    labels = [column.labels()[k] for k in own]
    if labels == [MISSING]:
        return "missing"
    return labels[0] if len(labels) == 1 and own[0] < column.kept.size else "other"


def _range_labels(column: Steps, ranges: list[tuple[int, int]]) -> list[str]:
    """Bins from one to another as ranges, with as many digits as tell them and their ends apart."""
    single = is_discrete(column) and all(first == last for first, last in ranges)
    ends = {k for first, last in ranges for k in (first - 1, last) if 0 <= k < column.edges.size}
    edges = column.edges[sorted(() if single else ends)]

    def write_edges(digits: int) -> list[str]:
        return [short_number(float(edge), digits) for edge in edges]

    def write(digits: int) -> list[str]:
        return [_range(column, first, last, digits) for first, last in ranges]

    return write(digits_apart(write, digits_apart(write_edges, 3)))


def _range(column: Steps, first: int, last: int, digits: int) -> str:
    """Bins first to last as one range; of whole numbers by their first and last value."""
    edges = column.edges
    if is_discrete(column) and first == last:
        return short_number(float(column.centers[first]), max(digits, 4))
    low, high = first > 0, last < edges.size
    ends = np.array([edges[first - 1] if low else np.nan, edges[last] if high else np.nan])
    if _is_whole(column):
        # a range of whole numbers begins with the one after the end of the range before
        ends = np.floor(ends) + (np.array([1.0, 0.0]) if low and high else 0.0)
    lower, upper = (short_number(float(end), digits) for end in ends)
    if low and high:
        return lower if ends[0] == ends[1] else f"{lower} to {upper}"
    return f"≤ {upper}" if high else f"> {lower}" if low else "any"


def _is_whole(column: Steps) -> bool:
    return bool((column.centers % 1 == 0).all() and (2 * column.edges % 1 == 0).all())


def format_log_odds(value: float) -> str:
    """Log-odds with a sign and two digits; what rounds to zero has the sign of zero.

    Examples
    --------
    >>> format_log_odds(0.4567), format_log_odds(-1.0), format_log_odds(-0.001)
    ('+0.46', '−1.00', '+0.00')
    """
    return f"{value:+z.2f}".replace("-", "−")
