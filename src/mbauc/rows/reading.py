"""Blocks of parts and of sources, checked; an error says where: part or block, row and column."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from mbauc.errors import NonFiniteError, PartError
from mbauc.rows.block import Block, Columns, check_columns
from mbauc.rows.labels import Labels
from mbauc.rows.schema import Schema
from mbauc.rows.source import Source, has_groups, unpack_block

#: A block of a part: checked, or as an engine hands it over.
Item = Block | Columns


class PartReader:
    """Checks the blocks of a part one after the other.

    Whatever is wrong with a block, or what a visitor finds in it, is raised as a
    :class:`~mbauc.errors.PartError` whose cause is the error about the rows of all blocks.
    """

    def __init__(self, number: int, schema: Schema) -> None:
        self._number, self._schema, self._first = number, schema, 0

    def visit_columns(self, item: Item, visit: Callable[[int, Columns], None]) -> None:
        """Call ``visit`` with the rows before a block, and its columns, if it has rows."""
        if isinstance(item, Block):
            with _locate(self._number, item.first, self._schema):
                visit(item.first, (item.X, item.positive, item.weight, item.ids, item.groups))
            return
        with _locate(self._number, self._first, self._schema):
            columns = check_columns((*item, None, None, None)[:5], self._schema, self._first)
            if columns[1].size:
                visit(self._first, columns)
        self._first += columns[1].size

    def visit_block(self, item: Item, labels: Labels, visit: Callable[[Block], None]) -> None:
        """Call ``visit`` with a block if its labels show which rows are positive."""
        if isinstance(item, Block):
            with _locate(self._number, item.first, self._schema):
                visit(item)
            return

        def check(first: int, columns: Columns) -> None:
            X, y, weight, ids, groups = columns
            positive = labels.mask(y)
            if positive is not None:
                visit(Block(X, positive, weight, ids, first, groups=groups))

        self.visit_columns(item, check)


def visit_columns(
    number: int, items: Iterable[Item], schema: Schema, visit: Callable[[int, Columns], None]
) -> None:
    """Call ``visit`` with the rows before each block of a part, and its columns, if it has rows."""
    reader = PartReader(number, schema)
    for item in items:
        reader.visit_columns(item, visit)


def visit_blocks(
    number: int, items: Iterable[Item], schema: Schema, labels: Labels, visit: Callable[[Block], None]
) -> None:
    """Call ``visit`` with each block of a part whose labels show which rows are positive."""
    reader = PartReader(number, schema)
    for item in items:
        reader.visit_block(item, labels, visit)


@contextmanager
def _locate(number: int, first: int, schema: Schema) -> Iterator[None]:
    try:
        yield
    except PartError:
        raise
    except NonFiniteError as error:
        found = NonFiniteError(first + error.row, error.column, error.value, schema.name_of(error.column))
        raise PartError(number, str(found)) from found
    except ValueError as error:
        where = f" (rows of the block that begins at row {first:,})" if first else ""
        raise PartError(number, f"{error}{where}") from error


def read_blocks(source: Source) -> Generator[Block, None, None]:
    """The blocks of a source one by one, empty ones too; an error names the block, from 1.

    ``O(entries)``; only sparse rows out of order are copied.
    """
    first, schema, labels = 0, Schema(source.n_features), Labels((0, 1))
    grouped = has_groups(source)
    for number, raw in enumerate(source, start=1):
        name = f"block {number:,} of the source"
        X, y, weight, groups = unpack_block(raw, name)
        try:
            X, y, weight, _, groups = check_columns((X, y, weight, None, groups), schema, first)
            positive = labels.require_mask(y) if y.size else y.astype(bool)
        except ValueError as error:
            raise ValueError(f"{name} (from row {first:,} on): {error}") from error
        if y.size and grouped != (groups is not None):
            raise ValueError(
                f"{name} has no groups, but the source has has_groups = True; yield (X, y, weight, groups)."
                if grouped
                else f"{name} has groups, but the source has no attribute has_groups = True; add it."
            )
        yield Block(X, positive, weight, None, first, groups=groups)
        first += y.size


@contextmanager
def locate_in_source(block: Block) -> Iterator[None]:
    """Within this context an error about a row of a block becomes one about a row of the source."""
    try:
        yield
    except NonFiniteError as error:
        raise NonFiniteError(block.first + error.row, error.column, error.value) from None
