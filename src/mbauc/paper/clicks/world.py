"""What a shape and a seed stand for: tables that the loops read, and how log-odds come about."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.clicks.shapes import SHAPES, Field, Shape
from mbauc.readers.hashing import hash_slots
from mbauc.rows.hashing.texts import hash_features, name_state
from mbauc.runtime.threads import run_threads

if TYPE_CHECKING:
    from mbauc.paper.clicks.kernels import Tables, Truth
    from mbauc.paper.clicks.slot_kernels import Slots

#: Rows, from row 0 on, on which the log-odds are calibrated.
_SAMPLE = 1 << 18
_PIECE = 1 << 14
#: Ranges of values, each twice as long as the one before, that a field may have beyond its frequent values.
_RANGES = 20


class _Values(NamedTuple):
    """How often the values of the fields occur."""

    alias: NDArray[np.uint32]
    head: NDArray[np.uint64]
    low: NDArray[np.uint64]
    width: NDArray[np.uint64]


@lru_cache(maxsize=8)
def tables(name: str, seed: int) -> Tables:
    """What the loops know about a shape under a seed."""
    from mbauc.paper.clicks.kernels import Tables

    shape = SHAPES[name]
    names = [field.name for field in shape.fields]
    start = _mix(_mix(seed) ^ _text_key(name))
    weight = np.array([field.weight for field in shape.fields])
    return Tables(
        start=np.uint64(start),
        key=_keys(start, 1, len(names)),
        effect=_keys(start, 2, len(names)),
        name=np.array([_text_key(f"{shape.label}/{each}") & 0xFFFFFFFF for each in names], dtype=np.uint64),
        **_values(name)._asdict(),
        parent=np.array([names.index(f.parent) if f.parent else -1 for f in shape.fields]),
        share=np.array([round(256 * f.share) for f in shape.fields], dtype=np.uint64),
        favourites=np.array([f.favourites - 1 for f in shape.fields], dtype=np.uint64),
        weight=weight,
        user=np.array([float(f.side == "user") for f in shape.fields]),
        page=np.array([float(f.side == "page") for f in shape.fields]),
        first=np.array([names.index(first) for first, _, _ in shape.pairs]),
        second=np.array([names.index(second) for _, second, _ in shape.pairs]),
        pair=_keys(start, 3, len(shape.pairs)),
        pair_weight=np.array([size for _, _, size in shape.pairs]),
        product=shape.product,
        hidden=sum(field.hidden for field in shape.fields),
    )


@lru_cache(maxsize=8)
def slots(name: str, width: int) -> Slots:
    """How the values of a shape become ``width`` hashed columns."""
    from mbauc.paper.clicks.slot_kernels import KNOWN, Slots, hex_slots

    shape = SHAPES[name]
    known = np.zeros((len(shape.fields), KNOWN), dtype=np.int32)
    prefix = np.zeros(len(shape.fields), dtype=np.uint64)
    names = tables(name, 0).name  # the same for all seeds
    for f, field in enumerate(shape.fields):
        if field.hidden:
            continue
        prefix[f] = name_state(field.name)
        if field.texts:
            known[f, 1 : field.size + 1] = hash_slots(hash_features(field.name, field.texts), width)
        else:
            hex_slots(names[f], prefix[f], np.uint64(width), known[f])
        known[f, 0] = hash_slots(hash_features(field.name, [""]), width)[0]
    return Slots(known, prefix, np.uint64(width))


def truth(name: str, seed: int, n_threads: int) -> Truth:
    """How log-odds come about, calibrated on the first 2¹⁸ rows.

    What single fields say, and what they say together, is scaled to the spreads of the shape, and the
    intercept is the one with which the sample has the shape's share of positives. Found once for each seed.
    """
    with _calibrating:
        if (name, seed) not in _truths:
            _truths[name, seed] = _calibrate(name, seed, n_threads)
        return _truths[name, seed]


_truths: dict[tuple[str, int], Truth] = {}
_calibrating = Lock()


def _calibrate(name: str, seed: int, n_threads: int) -> Truth:
    from mbauc.paper.clicks.kernels import Truth

    shape = SHAPES[name]
    single, together = scores(name, seed, 0, _SAMPLE, n_threads)
    # six decimals: another machine may round sums in another way
    of_single = round(shape.spread[0] / float(single.std()), 6)
    of_together = round(shape.spread[1] / float(together.std()), 6)
    log_odds = of_single * single + of_together * together
    return Truth(_intercept(log_odds, shape.positives), of_single, of_together)


def scores(
    name: str, seed: int, start: int, stop: int, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What single fields say about rows, and what they say together, before scaling."""
    from mbauc.paper.clicks import kernels

    single, together = np.empty(stop - start), np.empty(stop - start)

    def fill(first: int) -> None:
        part = slice(first, first + _PIECE)
        kernels.scores(start + first, tables(name, seed), single[part], together[part])

    run_threads(fill, range(0, stop - start, _PIECE), n_threads)
    return single, together


def _intercept(log_odds: NDArray[np.float64], share: float) -> float:
    """What has to be added so that the mean probability is ``share``: Newton's method."""
    intercept = float(np.log(share / (1.0 - share)))
    for _ in range(20):
        probability = 1.0 / (1.0 + np.exp(-intercept - log_odds))
        step = (share - float(probability.mean())) / float((probability * (1.0 - probability)).mean())
        intercept += step
        if abs(step) < 1e-9:
            break
    return round(intercept, 6)


@lru_cache(maxsize=8)
def _values(name: str) -> _Values:
    from mbauc.paper.clicks.kernels import CELL_BITS

    shape: Shape = SHAPES[name]
    count, cells = len(shape.fields), 1 << CELL_BITS
    found = _Values(
        np.zeros((count, cells), dtype=np.uint32),
        np.zeros(count, dtype=np.uint64),
        np.zeros((count, _RANGES), dtype=np.uint64),
        np.zeros((count, _RANGES), dtype=np.uint64),
    )
    for f, field in enumerate(shape.fields):
        first, last = _cells(field, cells - _RANGES)
        weights = field.weights(first, last)
        shares = np.zeros(cells)
        shares[0] = field.missing
        shares[1 : first.size + 1] = (1.0 - field.missing) * weights / weights.sum()
        found.alias[f] = _alias(shares, CELL_BITS)
        single = int((first == last).sum())
        found.head[f] = single
        found.low[f, : first.size - single] = first[single:]
        found.width[f, : first.size - single] = (last - first + 1.0)[single:]
    return found


def _cells(field: Field, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """First and last values of the cells of a field: single values, then ranges that double in length."""
    head = min(field.size, most - 1)
    first = [float(value) for value in range(1, head + 1)]
    last = list(first)
    while last[-1] < field.size:
        first.append(last[-1] + 1.0)
        last.append(min(2.0 * last[-1], float(field.size)))
    return np.array(first), np.array(last)


def _alias(shares: NDArray[np.float64], bits: int) -> NDArray[np.uint32]:
    """Walker's alias table: for each cell a limit of 20 bits, and the cell from there on."""
    count = shares.size
    left = (shares * count).tolist()
    limit = np.full(count, 1 << 20, dtype=np.uint32)
    other = np.arange(count, dtype=np.uint32)
    small = [cell for cell in range(count) if left[cell] < 1.0]
    large = [cell for cell in range(count) if left[cell] >= 1.0]
    while small and large:
        cell, giver = small.pop(), large[-1]
        limit[cell], other[cell] = round(left[cell] * (1 << 20)), giver
        left[giver] -= 1.0 - left[cell]
        if left[giver] < 1.0:
            small.append(large.pop())
    return (limit << np.uint32(bits)) | other


def _mix(x: int) -> int:
    from mbauc.paper.clicks.kernels import mix

    return int(mix(np.uint64(x)))


def _keys(start: int, purpose: int, count: int) -> NDArray[np.uint64]:
    return np.array([_mix((start ^ (purpose << 32)) + k) for k in range(count)], dtype=np.uint64)


def _text_key(text: str) -> int:
    return int(hash_features("clicks", [text])[0])
