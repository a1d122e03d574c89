"""Dask dataframes as blocks: columns of the same rows stay together, and partitions as they are."""

from __future__ import annotations

from typing import Any

from dask.delayed import Delayed

from mbauc.rows.block import Columns

#: Expressions that give the rows of a partition in another order each time they are computed.
_UNSTEADY = {"DiskShuffle", "P2PShuffle", "HashJoinP2P"}


def is_frame(value: Any) -> bool:
    """Whether a value is a Dask dataframe or series."""
    return hasattr(value, "map_partitions") and hasattr(value, "simplify")


def keeps_order(frame: Any) -> bool:
    """Whether the rows of a partition stand in the same order each time: not so after a shuffle."""
    lowered = frame.simplify().expr.lower_completely()
    return not any(type(one).__name__ in _UNSTEADY for one in lowered.walk())


def frame_pieces(frame: Any) -> list[Delayed]:
    """Delayed objects of the partitions.

    No columns are read that are not asked for, but partitions are left as they are: in full optimisation the
    more of them are merged the fewer columns are asked for, and partitions of X and y would not match.
    """
    return list(frame.simplify().to_delayed(optimize_graph=False))


def join_columns(columns: dict[str, Any]) -> Any:
    """One collection whose partitions are lists of one tuple (X, y, weight, ids, groups).

    One expression for all columns, so that what they have in common, a shuffle for instance, is computed once:
    two times it might give the rows of X and of y in different orders.

    ``columns`` go by the names of the block's fields, all in the same number of partitions.
    """
    first, *others = columns.values()
    return first.map_partitions(
        _make_block,
        *others,
        fields=tuple(columns),
        meta=first._meta,
        align_dataframes=False,
        enforce_metadata=False,
    )


def _make_block(*columns: Any, fields: tuple[str, ...]) -> list[Columns]:
    given = dict(zip(fields, columns, strict=True))
    return [(given.get("X"), given["y"], given.get("weight"), given.get("ids"), given.get("groups"))]
