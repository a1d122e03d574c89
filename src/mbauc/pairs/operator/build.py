"""All pairs of rows as a linear operator, whoever holds the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.reduction import Reduction
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.lost_digits import warn_of_lost_digits
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.operator.reduced import ReducedPairOperator
from mbauc.pairs.operator.row_room import require_row_room, row_bytes
from mbauc.rows.parts.memory import MemoryParts
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import SourceParts


@contextmanager
def open_operator(
    rows: PartedRows,
    n_threads: int,
    memory: int,
    *,
    equal_groups: bool = False,
    reduction: Reduction | None = None,
    other_loss: bool = False,
) -> Iterator[tuple[PairOperator, NDArray[Any]]]:
    """An operator of all pairs, or of those within groups if rows have groups, and the classes.

    ``equal_groups`` says that each group counts alike, instead of each pair. With a ``reduction`` the pairs are
    in its coordinates. ``other_loss`` says that they are for a loss other than the squared one, which holds
    numbers of the rows: those of a source then have what is left of the memory, and are refused if it is not
    enough for these numbers.
    """
    with _open_all_pairs(rows, n_threads, memory, other_loss) as (pairs, classes):
        if rows.grouped and rows.parts.kind != "memory":
            require_row_room(pairs.n_rows, memory, grouped=True, other_loss=False)
            pairs.bucket_bytes = min(pairs.bucket_bytes, memory // 8)
        own = pairs if reduction is None else ReducedPairOperator(pairs, reduction)
        if not rows.grouped:
            yield own, classes
            return
        yield GroupedPairOperator(own, equal_groups=equal_groups), classes


@contextmanager
def _open_all_pairs(
    rows: PartedRows, n_threads: int, memory: int, other_loss: bool
) -> Iterator[tuple[PairOperator, NDArray[Any]]]:
    """An operator of all pairs, and the classes.

    Rows in memory are taken as they are, or packed if sparse. A source is packed in one pass, in bounded
    memory, into a file if need be; with a checkpoint that file is resumed. Workers pack their rows, in two
    jobs, and hold them until the context ends.
    """
    parts = rows.parts
    if isinstance(parts, MemoryParts):
        [block] = parts.items
        strata = [block.rows_of(True), block.rows_of(False)]
        yield (
            build_matrix_operator(block.X, strata, block.weight, n_threads, block.groups),
            np.asarray(rows.classes),
        )
    elif isinstance(parts, SourceParts):
        folder = None if parts.checkpoint is None else parts.checkpoint.folder
        # where the number of rows is known, nothing is read in vain
        known = getattr(parts.source, "n_rows", None)
        require_row_room(known or 0, memory, grouped=rows.grouped, other_loss=other_loss)
        pairs = build_source_operator(
            parts.source,
            n_threads=n_threads,
            memory=memory,
            row_bytes=row_bytes(grouped=rows.grouped, other_loss=other_loss),
            folder=folder,
            show=parts.show,
            observe=parts.observe,
        )
        require_row_room(pairs.n_rows, memory, grouped=rows.grouped, other_loss=other_loss)
        yield pairs, np.asarray(rows.classes)
    else:
        packed = PackedRows(rows)
        try:
            operator = packed.operator()
            warn_of_lost_digits(operator)
            yield operator, packed.classes
        finally:
            packed.release()
