"""The updates of the rivals as compiled loops, one algorithm a file; importing one imports numba.

All take rows the same way. ``indptr[i]`` to ``indptr[i + 1]`` are the places of row i in ``columns`` and
``values``; ``columns`` is None for dense rows, ``values`` is None for data of ones, and the compiler drops
what is not there. ``order`` lists the rows to learn from, ``positive[k]`` tells the class of ``order[k]``.
Sums run over the entries of a row in order, so that a dense row gives the same bits as a sparse one: its
zeros add nothing.

All return how many rows (or steps) they took. Fewer than asked for means that the next score is not finite,
and that row changed nothing. The loss of each row before it was learned from adds to
``loss[0] + log(loss[1])``, which starts from (0, 1).
"""
