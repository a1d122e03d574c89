"""Blocks of parts and of sources, checked; an error says where: part or block, row and column."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from mbauc.errors import NonFiniteError, PartError
from mbauc.rows.block import Block, Columns, check_columns
from mbauc.rows.labels import Labels
from mbauc.rows.schema import Schema
from mbauc.rows.source import Source, unpack_block


def visit_columns(
    number: int, raw: Iterable[Columns], schema: Schema, visit: Callable[[int, Columns], None]
) -> None:
    """Call ``visit`` with the rows before each block of a part, and its columns, if it has rows.

    Whatever is wrong with a block, here or in what ``visit`` finds, is raised as a
    :class:`~mbauc.errors.PartError`.
    """
    first = 0
    for block in raw:
        with _placed(number, first, schema):
            columns = check_columns((*block, None, None)[:4], schema, first)
            if columns[1].size:
                visit(first, columns)
        first += columns[1].size


def visit_blocks(
    number: int, raw: Iterable[Columns], schema: Schema, labels: Labels, visit: Callable[[Block], None]
) -> None:
    """Call ``visit`` with each block of a part whose labels tell which rows are positive."""

    def check(first: int, columns: Columns) -> None:
        X, y, weight, ids = columns
        positive = labels.mask(y)
        if positive is not None:
            visit(Block(X, positive, weight, ids, first))

    visit_columns(number, raw, schema, check)


@contextmanager
def _placed(number: int, first: int, schema: Schema) -> Iterator[None]:
    try:
        yield
    except PartError:
        raise
    except NonFiniteError as error:
        found = NonFiniteError(first + error.row, error.column, error.value, schema.name_of(error.column))
        raise PartError(number, str(found)) from None
    except ValueError as error:
        where = f" (rows of the block that begins at row {first:,})" if first else ""
        raise PartError(number, f"{error}{where}") from None


def read_blocks(source: Source) -> Generator[Block, None, None]:
    """The blocks of a source one by one, empty ones too; an error names the block, from 1.

    ``O(entries)``; only sparse rows out of order are copied.
    """
    first, schema, labels = 0, Schema(source.n_features), Labels((0, 1))
    for number, raw in enumerate(source, start=1):
        name = f"block {number:,} of the source"
        X, y, weight = unpack_block(raw, name)
        try:
            X, y, weight, _ = check_columns((X, y, weight, None), schema, first)
            positive = labels.require_mask(y) if y.size else y.astype(bool)
        except ValueError as error:
            raise ValueError(f"{name} (from row {first:,} on): {error}") from error
        yield Block(X, positive, weight, None, first)
        first += y.size


@contextmanager
def rows_of_source(block: Block) -> Iterator[None]:
    """Within this context an error about a row of a block becomes one about a row of the source."""
    try:
        yield
    except NonFiniteError as error:
        raise NonFiniteError(block.first + error.row, error.column, error.value) from None
