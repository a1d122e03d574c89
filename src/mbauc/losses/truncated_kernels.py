"""Compiled sweeps over sorted scores for truncated squares; importing this module imports numba.

One side's rows are targets, the other's are sources. A source acts on a target if it is ahead of it, where the
negatives are moved up by a knot: ``side * (source - target) > 0``, side 1 for positive targets and -1 for
negative ones. Both sides compare the same two numbers, so that they agree on each pair, however it is rounded.
"""

from __future__ import annotations

from mbauc.runtime.compiled import compiled


@compiled()
def _add(total, lost, value):  # type: ignore[no-untyped-def]
    """Kahan's sum: many equal weights are all rounded to the same side, which would add up."""
    value -= lost
    found = total + value
    return found, (found - total) - value


@compiled()
def lift(target, starts, source, weight, source_starts, knots, side, sums):  # type: ignore[no-untyped-def]
    """Add ``Σ b (source - target)₊`` of each target times a coefficient to its sum.

    Sums go from target to target by what lies between them: nothing is subtracted, so nothing cancels.
    ``knots`` are (move of the target, move of the source, coefficient).
    """
    step = -side
    for g in range(starts.size - 1):
        begin, end = (starts[g + 1] - 1, starts[g] - 1) if side > 0 else (starts[g], starts[g + 1])
        first, last = source_starts[g], source_starts[g + 1]
        for k in range(knots.shape[0]):
            move, source_move, coefficient = knots[k]
            j = last - 1 if side > 0 else first
            count, lost, sum1 = 0.0, 0.0, 0.0
            at = target[begin] + move
            for i in range(begin, end, step):
                x = target[i] + move
                sum1 += side * (at - x) * count
                at = x
                while first <= j < last:
                    gap = side * (source[j] + source_move - x)
                    if gap <= 0.0:
                        break
                    count, lost = _add(count, lost, weight[j])
                    sum1 += weight[j] * gap
                    j += step
                sums[i] += coefficient * sum1


@compiled()
def lift_and_add(target, target_weight, starts, source, weight, source_starts, knots, sums):  # type: ignore[no-untyped-def]
    """The same for side 1, and half of ``Σ a b (source - target)₊²``, with the coefficients."""
    total = 0.0
    for g in range(starts.size - 1):
        first, last = source_starts[g], source_starts[g + 1]
        for k in range(knots.shape[0]):
            move, source_move, coefficient = knots[k]
            j = last - 1
            count, lost, sum1, sum2, part = 0.0, 0.0, 0.0, 0.0, 0.0
            at = target[starts[g + 1] - 1] + move
            for i in range(starts[g + 1] - 1, starts[g] - 1, -1):
                x = target[i] + move
                between = at - x
                sum2 += between * (2.0 * sum1 + between * count)
                sum1 += between * count
                at = x
                while j >= first:
                    gap = source[j] + source_move - x
                    if gap <= 0.0:
                        break
                    count, lost = _add(count, lost, weight[j])
                    sum1 += weight[j] * gap
                    sum2 += weight[j] * gap * gap
                    j -= 1
                sums[i] += coefficient * sum1
                part += target_weight[i] * sum2
            total += 0.5 * coefficient * part
    return total


@compiled()
def reach(target, starts, source, source_starts, move, source_move, side, ends):  # type: ignore[no-untyped-def]
    """How many sources act on each target, plus where the running sums of its group begin (:func:`run`)."""
    step = -side
    for g in range(starts.size - 1):
        begin, end = (starts[g + 1] - 1, starts[g] - 1) if side > 0 else (starts[g], starts[g + 1])
        first, last = source_starts[g], source_starts[g + 1]
        j = last - 1 if side > 0 else first
        place = first + g
        for i in range(begin, end, step):
            x = target[i] + move
            while first <= j < last and side * (source[j] + source_move - x) > 0.0:
                j += step
                place += 1
            ends[i] = place


@compiled()
def run(values, weight, starts, side, sums):  # type: ignore[no-untyped-def]
    """Running sums of weighted values in the order in which sources begin to act, from 0 in each group."""
    for g in range(starts.size - 1):
        first, last = starts[g], starts[g + 1]
        total, lost, place = 0.0, 0.0, first + g
        sums[place] = 0.0
        for r in range(last - first):
            i = last - 1 - r if side > 0 else first + r
            total, lost = _add(total, lost, weight[i] * values[i])
            sums[place + 1 + r] = total


@compiled()
def gather(v, rows, values, starts, origins):  # type: ignore[no-untyped-def]
    """The values of rows, each less the one of its group's origin, so that a common offset is gone."""
    for g in range(starts.size - 1):
        offset = v[origins[g]]
        for i in range(starts[g], starts[g + 1]):
            values[i] = v[rows[i]] - offset


@compiled()
def weigh(weight, ends, coefficients, sums, found):  # type: ignore[no-untyped-def]
    """What the sources that act on each target sum up to, times its weight."""
    for i in range(weight.size):
        total = 0.0
        for k in range(coefficients.size):
            total += coefficients[k] * sums[ends[k, i]]
        found[i] = weight[i] * total


@compiled()
def put(values, weight, diagonal, ends, coefficients, sums, rows, out):  # type: ignore[no-untyped-def]
    """Rows of the Hessian product: the diagonal times the value, less what the sources sum up to."""
    for i in range(rows.size):
        total = 0.0
        for k in range(coefficients.size):
            total += coefficients[k] * sums[ends[k, i]]
        out[rows[i]] = diagonal[i] * values[i] - weight[i] * total
