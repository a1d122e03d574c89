"""Compiled products of several vectors in one sweep over compact rows; importing this module imports numba.

The vectors stand side by side, eight numbers for each column: an entry of a row reads and writes one line of
cache for all of them, and the processor adds the eight at once. numba does not find such loops by itself, so
the two loops over the entries of a row are spelled out with vectors of eight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mbauc.runtime.compiled import compiled

#: Vectors of a sweep.
LANES = 8
#: Bytes that a line of them takes.
_LINE = 8 * LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


def lines(count: int) -> Any:
    """Zeros for each vector, shape (count, LANES), each line of which is one line of cache."""
    room = np.zeros((count + 1) * LANES)
    first = -room.ctypes.data % _LINE // 8
    return room[first : first + count * LANES].reshape(count, LANES)


@intrinsic
def _score_row(context: Any, lines: Any, columns: Any, values: Any, begin: Any, end: Any, scores: Any) -> Any:
    """Add the line of each column of a row, times its value if it has one, to ``scores``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        entries = _Entries(context, builder, signature, arguments)
        target = entries.vector(5)
        total = entries.loop(lambda place, total: entries.add(total, place), builder.load(target, align=8))
        builder.store(total, target, align=8)

    return types.void(lines, columns, values, begin, end, scores), generate


@intrinsic
def _combine_row(context: Any, lines: Any, columns: Any, values: Any, begin: Any, end: Any, shares: Any) -> Any:
    """Add ``shares``, times the value if there is one, to the line of each column of a row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        entries = _Entries(context, builder, signature, arguments)
        shares = builder.load(entries.vector(5), align=8)

        def add(place: Any, shares: Any) -> Any:
            line = entries.line(place)
            own = builder.fadd(builder.load(line, align=8), entries.times_value(shares, place))
            builder.store(own, line, align=8)
            return shares

        entries.loop(add, shares)

    return types.void(lines, columns, values, begin, end, shares), generate


class _Entries:
    """The entries of a row in code that is being generated: (lines, columns, values, begin, end, a line)."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self._context, self._builder, self._signature, self._arguments = context, builder, signature, arguments
        self._lines, self._columns = self._data(0), self._data(1)
        self._values = None if isinstance(signature.args[2], types.NoneType) else self._data(2)

    def _data(self, number: int) -> Any:
        array = self._context.make_array(self._signature.args[number])
        return array(self._context, self._builder, self._arguments[number]).data

    def vector(self, number: int) -> Any:
        """Where the numbers of an array begin, as a line."""
        return self._builder.bitcast(self._data(number), _VECTOR.as_pointer())

    def line(self, place: Any) -> Any:
        """The line of the column of an entry."""
        builder, wide = self._builder, ir.IntType(64)
        column = builder.zext(builder.load(builder.gep(self._columns, [place])), wide)
        first = builder.gep(self._lines, [builder.mul(column, wide(LANES))])
        return builder.bitcast(first, _VECTOR.as_pointer())

    def times_value(self, line: Any, place: Any) -> Any:
        """A line times the value of an entry, if it has one."""
        if self._values is None:
            return line
        builder = self._builder
        value = builder.load(builder.gep(self._values, [place]))
        if value.type != ir.DoubleType():
            value = builder.fpext(value, ir.DoubleType())
        eight = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            eight = builder.insert_element(eight, value, ir.IntType(32)(lane))
        return builder.fmul(line, eight)

    def add(self, total: Any, place: Any) -> Any:
        """A sum and one entry more."""
        own = self._builder.load(self.line(place), align=8)
        return self._builder.fadd(total, self.times_value(own, place))

    def loop(self, body: Callable[[Any, Any], Any], first: Any) -> Any:
        """What ``body(place, sum so far)`` comes to over the entries."""
        builder, (begin, end) = self._builder, self._arguments[3:5]
        before = builder.basic_block
        head, work, done = (builder.append_basic_block(name) for name in ("head", "work", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        place, total = builder.phi(begin.type), builder.phi(first.type)
        builder.cbranch(builder.icmp_unsigned("<", place, end), work, done)
        builder.position_at_end(work)
        more = body(place, total)
        following = builder.add(place, begin.type(1))
        for value, start, later in ((place, begin, following), (total, first, more)):
            value.add_incoming(start, before)
            value.add_incoming(later, builder.basic_block)
        builder.branch(head)
        builder.position_at_end(done)
        return total


@compiled()
def product(
    starts: Any, columns: Any, values: Any, weight: Any, scales: Any, v: Any, centres: Any, out: Any, sums: Any
) -> None:
    """Add scale · X'(D(Xv - centre)) of each vector to ``out``, and such sums of centred scores to ``sums``.

    Vectors have scales and centres of their own, shape (LANES,); to one whose scale is zero the rows do not
    count.
    """
    shares = np.empty(LANES)
    for row in range(starts.size - 1):
        begin, end = np.uintp(starts[row]), np.uintp(starts[row + 1])
        for lane in range(LANES):
            shares[lane] = -centres[lane]
        _score_row(v, columns, values, begin, end, shares)
        w = 1.0 if weight is None else weight[row]
        for lane in range(LANES):
            shares[lane] *= w * scales[lane]
            sums[lane] += shares[lane]
        _combine_row(out, columns, values, begin, end, shares)
