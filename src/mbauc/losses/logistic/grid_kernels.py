"""Compiled loops between scores and a grid; importing this module imports numba.

A grid has cells of one step each. Rows enter a cell as the weighted sums of powers of their place in it, and
take from it the value of a polynomial; both go through ``NODES`` nodes, a step apart, around the cell.
"""

from __future__ import annotations

from mbauc.runtime.compiled import compiled

#: Nodes of the polynomial of a cell: of degree 7, and one more than its neighbours on each side.
NODES = 8


@compiled()
def spread(x, weight, starts, lows, cell_starts, per_step, sums):  # type: ignore[no-untyped-def]
    """Add each row's weight times the powers of its place to its cell."""
    for g in range(starts.size - 1):
        low, first = lows[g], cell_starts[g]
        for i in range(starts[g], starts[g + 1]):
            at = (x[i] - low) * per_step
            cell = int(at)
            u = at - cell - 0.5
            u2 = u * u
            w0 = weight[i]
            w1 = w0 * u
            w2, w3 = w0 * u2, w1 * u2
            w4, w5 = w2 * u2, w3 * u2
            w6, w7 = w4 * u2, w5 * u2
            place = sums[first + cell]
            place[0] += w0
            place[1] += w1
            place[2] += w2
            place[3] += w3
            place[4] += w4
            place[5] += w5
            place[6] += w6
            place[7] += w7


@compiled()
def to_nodes(sums, cell_starts, powers, nodes):  # type: ignore[no-untyped-def]
    """What the sums of each cell weigh at the nodes around it; ``powers[:, p]`` is the polynomial of node p."""
    for g in range(cell_starts.size - 1):
        shift = (NODES - 1) * g
        for cell in range(cell_starts[g], cell_starts[g + 1]):
            into = nodes[shift + cell : shift + cell + NODES]
            for k in range(NODES):
                for p in range(NODES):
                    into[p] += powers[k, p] * sums[cell, k]


@compiled()
def convolve(nodes, cell_starts, near, far, linear, forward, found):  # type: ignore[no-untyped-def]
    """Sums over the nodes of each group: ``Σ weight K(margin)``.

    ``near[r]`` is K where the target is ``r - reach`` steps from the source; beyond it K is ``far`` and
    ``linear`` times the distance where the margin is negative, else 0. The margin is the place of the target
    less that of the source, or, not ``forward``, the opposite.
    """
    reach = near.size // 2
    for g in range(cell_starts.size - 1):
        first = cell_starts[g] + (NODES - 1) * g
        size = cell_starts[g + 1] - cell_starts[g] + NODES - 1
        for j in range(size):
            begin, end = max(0, j - reach), min(size, j + reach + 1)
            w = nodes[first + j]
            into = found[first + begin : first + end]
            table = near[reach + begin - j : reach + end - j]
            for i in range(into.size):
                into[i] += w * table[i]
        # what is farther away: sums of weights, and of weights times distances, that grow from node to node
        count, total = 0.0, 0.0
        for r in range(size - reach - 1):
            j = size - 1 - r if forward else r
            i = j - reach - 1 if forward else j + reach + 1
            total += linear * count
            count += nodes[first + j]
            total += nodes[first + j] * linear * (reach + 1)
            found[first + i] += far * count + total


@compiled()
def to_cells(nodes, cell_starts, powers, cells):  # type: ignore[no-untyped-def]
    """The polynomial of each cell through its nodes; ``powers[p]`` is the polynomial of node p."""
    for g in range(cell_starts.size - 1):
        shift = (NODES - 1) * g
        for cell in range(cell_starts[g], cell_starts[g + 1]):
            into = cells[cell]
            for k in range(NODES):
                into[k] = 0.0
            for p in range(NODES):
                for k in range(NODES):
                    into[k] += powers[p, k] * nodes[shift + cell + p]


@compiled()
def evaluate(x, starts, lows, cell_starts, per_step, cells, found):  # type: ignore[no-untyped-def]
    """The value of the polynomial of its cell at each row."""
    for g in range(starts.size - 1):
        low, first = lows[g], cell_starts[g]
        for i in range(starts[g], starts[g + 1]):
            at = (x[i] - low) * per_step
            cell = int(at)
            u = at - cell - 0.5
            c = cells[first + cell]
            u2 = u * u
            u4 = u2 * u2
            lower = (c[0] + c[1] * u) + (c[2] + c[3] * u) * u2
            upper = (c[4] + c[5] * u) + (c[6] + c[7] * u) * u2
            found[i] = lower + upper * u4
