"""Compiled loops from values to hashed columns; importing this module imports numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mbauc.paper.clicks.kernels import BATCH, draw, labels, room, score
from mbauc.rows.hashing.kernels import fmix64, fnv1a
from mbauc.runtime.compiled import compiled

#: Values of a field whose hashed column is looked up.
KNOWN = 4_096

_KNOWN = np.uint32(KNOWN)
# Odd numbers that mix the bits of a value into its name.
_NAME_1 = np.uint64(0x7FEB352D)
_NAME_2 = np.uint64(0x846CA68B)
#: The low 32 bits.
_LOW_32 = np.uint64(0xFFFFFFFF)
#: What a hexadecimal digit below 10 is added to.
_DIGIT = np.uint64(ord("0"))
#: What a hexadecimal digit from 10 on is added to.
_LETTER = np.uint64(ord("a") - 10)
_0, _1, _4, _6, _9, _12, _15, _16, _28, _63 = (np.uint64(n) for n in (0, 1, 4, 6, 9, 12, 15, 16, 28, 63))


class Slots(NamedTuple):
    """How values become hashed columns.

    Attributes
    ----------
    known : ndarray of int32, shape (f, KNOWN)
        Columns of the first values, and of missing ones.
    prefix : ndarray of uint64, shape (f,)
        FNV-1a of the name of the field and an equals sign.
    width : uint64
        Number of columns.
    """

    known: Any
    prefix: Any
    width: Any


@intrinsic
def _lowest(context, word):  # type: ignore[no-untyped-def]
    """Place of the lowest bit that is set in a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@compiled()
def name_of(code, key):  # type: ignore[no-untyped-def]
    """The 32 bits of the name of a value; no two values of a field have the same."""
    x = (code ^ key) & _LOW_32
    x = ((x ^ (x >> _16)) * _NAME_1) & _LOW_32
    x = ((x ^ (x >> _15)) * _NAME_2) & _LOW_32
    return x ^ (x >> _16)


@compiled()
def _hex_digit(name, place):  # type: ignore[no-untyped-def]
    digit = (name >> (_28 - np.uint64(place) * _4)) & _15
    return digit + (_LETTER if digit > _9 else _DIGIT)


@compiled()
def hex_texts(codes, key, text):  # type: ignore[no-untyped-def]
    """Names of values, eight digits each."""
    for i in range(codes.size):
        _write_hex(name_of(np.uint64(codes[i]), key), text[8 * i : 8 * i + 8])


@compiled()
def _write_hex(name, text):  # type: ignore[no-untyped-def]
    for place in range(8):
        text[place] = np.uint8(_hex_digit(name, place))


@compiled()
def _hash_slot(code, key, prefix, width, text):  # type: ignore[no-untyped-def]
    """The hashed column of a value; see :func:`mbauc.readers.hashing.hash_features`. ``text`` is scratch."""
    _write_hex(name_of(code, key), text)
    return (fmix64(fnv1a(text, 0, 8, prefix)) >> _1) % width


@compiled()
def hex_slots(key, prefix, width, slots):  # type: ignore[no-untyped-def]
    """The hashed columns of the first values, from 0 on."""
    text = np.empty(8, dtype=np.uint8)
    for code in range(slots.size):
        slots[code] = np.int32(_hash_slot(np.uint64(code), key, prefix, width, text))


@compiled()
def _find_slots(t, slots, codes, found):  # type: ignore[no-untyped-def]
    """The hashed columns of rows: ``found`` has a row for each row."""
    text = np.empty(8, dtype=np.uint8)
    for f in range(t.hidden, t.key.size):
        own, known, name, prefix = codes[f], slots.known[f], t.name[f], slots.prefix[f]
        for i in range(own.size):
            if own[i] < _KNOWN:
                found[i, f - t.hidden] = known[own[i]]
            else:
                slot = _hash_slot(np.uint64(own[i]), name, prefix, slots.width, text)
                found[i, f - t.hidden] = np.int32(slot)


@compiled()
def _mark(found, words, groups):  # type: ignore[no-untyped-def]
    """Set the bits of columns, and of the words that have any."""
    for column in found:
        slot = np.uint64(column)
        words[slot >> _6] |= _1 << (slot & _63)
        groups[slot >> _12] |= _1 << ((slot >> _6) & _63)


@compiled()
def _collect(words, groups, columns):  # type: ignore[no-untyped-def]
    """The columns whose bits are set, in order, and how many; all bits are cleared."""
    count = 0
    for g in range(groups.size):
        group = groups[g]
        if group == _0:
            continue
        groups[g] = _0
        while group != _0:
            w = (np.uint64(g) << _6) | _lowest(group)
            group &= group - _1
            word = words[w]
            words[w] = _0
            while word != _0:
                columns[count] = np.int32((w << _6) | _lowest(word))
                word &= word - _1
                count += 1
    return count


@compiled()
def rows(start, t, truth, slots, ends, columns, entries, y):  # type: ignore[no-untyped-def]
    """Rows from ``start`` on as the parts of a CSR matrix, and their labels; returns the number of entries."""
    keys, codes, single, together, sides = room(t)
    found = np.empty((BATCH, t.key.size - t.hidden), dtype=np.int32)
    words = np.zeros((np.int64(slots.width) >> 6) + 1, dtype=np.uint64)
    groups = np.zeros((words.size >> 6) + 1, dtype=np.uint64)
    count = 0
    ends[0] = 0
    for first in range(0, y.size, BATCH):
        n = min(BATCH, y.size - first)
        draw(np.uint64(start + first), t, keys[:n], codes[:, :n])
        score(t, codes[:, :n], single[:n], together[:n], sides[:, :n])
        labels(truth, keys[:n], single[:n], together[:n], y[first : first + n])
        _find_slots(t, slots, codes[:, :n], found[:n])
        for i in range(n):
            _mark(found[i], words, groups)
            count += _collect(words, groups, columns[count:])
            ends[first + i + 1] = count
    entries[:count] = 1.0
    return count
