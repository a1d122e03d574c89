"""Compiled loops that draw the values and labels of rows; importing this module imports numba.

Random numbers are functions of a counter, so that any row can be made without those before it. All of
them are 64 bits without a sign, and all constants have to be so too: with a signed one a sum would become a
floating-point number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mbauc.runtime.compiled import compiled

#: Cells of an alias table, as a power of 2; 20 more bits of a number choose within a cell, 32 in a range.
CELL_BITS = 10
#: Rows that are made together, field by field, so that the tables of one field stay in the fastest cache.
BATCH = 256
#: One over the standard deviation of the sum of four uniform numbers of 16 bits.
NORMAL = 1.0 / 37837.2
# Odd numbers that keep the counters of rows, fields and values apart.
ROW_STEP = 0x9E3779B97F4A7C15
FIELD_STEP = 0xD1B54A32D192ED03
VALUE_STEP = 0x8CB92BA72F3D8DD7

# The same as unsigned numbers, for compiled loops.
_ROW = np.uint64(ROW_STEP)
_FIELD = np.uint64(FIELD_STEP)
_VALUE = np.uint64(VALUE_STEP)
# Multipliers of splitmix64.
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
# Masks of the low bits.
_LOW_32 = np.uint64((1 << 32) - 1)
_LOW_20 = np.uint64((1 << 20) - 1)
_LOW_16 = np.uint64((1 << 16) - 1)
_LOW_8 = np.uint64((1 << 8) - 1)
#: Mask of the cell.
_CELL = np.uint64((1 << CELL_BITS) - 1)
_CELL_BITS = np.uint64(CELL_BITS)
#: Shift that leaves the bits of the cell.
_CELL_SHIFT = np.uint64(64 - CELL_BITS)
_1, _8, _11, _16, _27, _30, _31, _32, _48 = (np.uint64(n) for n in (1, 8, 11, 16, 27, 30, 31, 32, 48))


class Tables(NamedTuple):
    """What the loops know about the fields; f stands for a field, p for a pair of fields.

    Attributes
    ----------
    start : uint64
        Counter of row 0.
    key, effect, name : ndarray of uint64, shape (f,)
        Where the counters of a field start: for its favourites, its effects, the names of its values.
    alias : ndarray of uint32, shape (f, cells)
        Alias tables: a limit, then ten bits of another cell. Random numbers of 20 bits below the limit stand
        for the cell, others for the other one.
    head : ndarray of uint64, shape (f,)
        Up to here a cell is a value; those above are ranges of values.
    low, width : ndarray of uint64, shape (f, ranges)
        First value and number of values of the ranges.
    parent, share, favourites : ndarray of shape (f,)
        Field on which a field depends or -1, in how many of 256 rows, and the number of favourites less 1.
    weight, user, page : ndarray of float64, shape (f,)
        Size of the effects, and 1 for fields of the two sides.
    first, second, pair, pair_weight : ndarray of shape (p,)
        Fields of a pair, where its counter starts, and the size of its effects.
    product : float
        Size of the product of the two sides.
    hidden : int
        Number of fields that the log does not show; they come first.
    """

    start: Any
    key: Any
    effect: Any
    name: Any
    alias: Any
    head: Any
    low: Any
    width: Any
    parent: Any
    share: Any
    favourites: Any
    weight: Any
    user: Any
    page: Any
    first: Any
    second: Any
    pair: Any
    pair_weight: Any
    product: Any
    hidden: Any


class Truth(NamedTuple):
    """How log-odds come from what single fields and what fields together say."""

    intercept: float
    single: float
    together: float


@compiled()
def mix(x):  # type: ignore[no-untyped-def]
    """A random number from a counter: the finaliser of splitmix64."""
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@compiled()
def normal(x):  # type: ignore[no-untyped-def]
    """A number that is nearly normal (the sum of four uniform ones) from a counter."""
    x = mix(x)
    total = (x & _LOW_16) + ((x >> _16) & _LOW_16) + ((x >> _32) & _LOW_16) + (x >> _48)
    return (np.float64(total) - 131070.0) * NORMAL


@compiled()
def draw(start, t, keys, codes):  # type: ignore[no-untyped-def]
    """Keys and values of rows from ``start`` on."""
    for i in range(keys.size):
        keys[i] = mix(t.start + (start + np.uint64(i)) * _ROW)
    for f in range(t.key.size):
        step, alias, head, own = np.uint64(f + 1) * _FIELD, t.alias[f], t.head[f], codes[f]
        low, width = t.low[f], t.width[f]
        if t.parent[f] < 0:
            for i in range(keys.size):
                own[i] = _pick(mix(keys[i] + step), alias, head, low, width)
            continue
        above, key, share, favourites = codes[t.parent[f]], t.key[f], t.share[f], t.favourites[f]
        # a value is missing where that of its parent is; hidden fields have no missing values
        for i in range(keys.size):
            x = mix(keys[i] + step)
            choice = mix(x + _ROW)
            followed = mix(key + np.uint64(above[i]) * _VALUE + ((choice >> _8) & favourites) * _FIELD)
            # a branch that cannot be foretold costs more than what it saves
            x = followed if (choice & _LOW_8) < share else x
            own[i] = np.uint32(0) if above[i] == 0 else _pick(x, alias, head, low, width)


@compiled()
def _pick(x, alias, head, low, width):  # type: ignore[no-untyped-def]
    """The value of a field that a random number stands for."""
    cell = x >> _CELL_SHIFT
    entry = np.uint64(alias[cell])
    cell = entry & _CELL if ((x >> _32) & _LOW_20) >= (entry >> _CELL_BITS) else cell
    if cell <= head:
        return np.uint32(cell)
    place = cell - head - _1
    return np.uint32(low[place] + (((x & _LOW_32) * width[place]) >> _32))


@compiled()
def score(t, codes, single, together, sides):  # type: ignore[no-untyped-def]
    """What single fields say about rows, and what they say together."""
    user, page = sides[0], sides[1]
    single[:] = 0.0
    sides[:] = 0.0
    for f in range(t.hidden, t.key.size):
        own, key, weight = codes[f], t.effect[f], t.weight[f]
        in_user, in_page = t.user[f], t.page[f]
        for i in range(single.size):
            effect = weight * normal(key + np.uint64(own[i]) * _VALUE)
            single[i] += effect
            user[i] += in_user * effect
            page[i] += in_page * effect
    for i in range(single.size):
        together[i] = t.product * (user[i] * page[i])
    for p in range(t.pair.size):
        first, second, key, weight = codes[t.first[p]], codes[t.second[p]], t.pair[p], t.pair_weight[p]
        for i in range(single.size):
            x = key + np.uint64(first[i]) * _VALUE + np.uint64(second[i]) * _FIELD
            together[i] += weight * normal(x)


@compiled()
def labels(truth, keys, single, together, y):  # type: ignore[no-untyped-def]
    """1 with the probability that the log-odds say, else 0."""
    for i in range(keys.size):
        log_odds = truth.intercept + truth.single * single[i] + truth.together * together[i]
        y[i] = np.float64(mix(keys[i]) >> _11) * 2.0**-53 * (1.0 + np.exp(-log_odds)) < 1.0


@compiled()
def scores(start, t, single, together):  # type: ignore[no-untyped-def]
    """What single fields and fields together say about rows from ``start`` on."""
    keys, codes, _, _, sides = room(t)
    for first in range(0, single.size, BATCH):
        n = min(BATCH, single.size - first)
        part = slice(first, first + n)
        draw(np.uint64(start + first), t, keys[:n], codes[:, :n])
        score(t, codes[:, :n], single[part], together[part], sides[:, :n])


@compiled()
def values(start, t, truth, found, y):  # type: ignore[no-untyped-def]
    """Values and labels of rows from ``start`` on; ``found`` has a row for each field."""
    keys, codes, single, together, sides = room(t)
    for first in range(0, y.size, BATCH):
        n = min(BATCH, y.size - first)
        part = slice(first, first + n)
        draw(np.uint64(start + first), t, keys[:n], codes[:, :n])
        score(t, codes[:, :n], single[:n], together[:n], sides[:, :n])
        labels(truth, keys[:n], single[:n], together[:n], y[part])
        found[:, part] = codes[t.hidden :, :n]


@compiled()
def room(t):  # type: ignore[no-untyped-def]
    """Room for a batch: keys, values, and what goes into log-odds."""
    codes = np.empty((t.key.size, BATCH), dtype=np.uint32)
    return np.empty(BATCH, dtype=np.uint64), codes, np.empty(BATCH), np.empty(BATCH), np.empty((2, BATCH))
