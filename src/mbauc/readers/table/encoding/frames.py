"""Encodings of a table in memory: a data frame needs no label and no pass over files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbauc.checks import check_whole
from mbauc.defaults import BLOCK_ROWS, MAX_CATEGORIES
from mbauc.readers.table.arrow import as_arrow_table
from mbauc.readers.table.columns.code_guess import guess_frame_code
from mbauc.readers.table.columns.guess import guess
from mbauc.readers.table.columns.plan import ColumnPlan, Judge, plan_columns
from mbauc.readers.table.columns.planning import LOOK_ROWS
from mbauc.readers.table.encoding.code_learner import CodeLearner
from mbauc.readers.table.encoding.frame_rows import list_columns, read_frame_rows
from mbauc.readers.table.encoding.learner import EncodingLearner, EncodingSettings
from mbauc.readers.table.encoding.table_encoding import TableEncoding


def learn_table_codes(
    table: Any,
    *,
    types: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    max_categories: int = MAX_CATEGORIES,
    hash_dim: int | None = None,
) -> TableEncoding:
    """Learn the encoding of a table in memory as codes, as ``TableSource(encode="codes")`` does for files.

    Text and categorical columns are categories, floating-point columns are numeric. Integer columns are numeric
    as well, unless they look like codes with more than 32 values. Times become hour and weekday; short free
    text becomes a binary column for each frequent word. Serial numbers, and texts with a different value in
    nearly every row, are ids and dropped. Column types are inferred from the first 50,000 rows; levels are
    learned from all rows.

    ``O(n)`` time per column; memory for one block and the levels.

    Parameters
    ----------
    table : Arrow table, pandas or polars frame, or dict of columns
        Features, without the label.
    types : mapping from names to kinds, optional
        Column types that override the inferred ones: ``"numeric"``, ``"category"``, ``"text"``, ``"time"``, or
        ``"group"``, ``"id"``, ``"ignore"``, which are not features.
    ignore : sequence of str, default=()
        Columns not to use.
    max_categories : int, default=1000
        Maximum number of levels of a category; columns with more are hashed.
    hash_dim : int, optional
        Number of hash slots for each hashed column; by default about ten per distinct value, at most 2²⁴.

    Returns
    -------
    TableEncoding
        ``transform`` encodes this or another table as a matrix; ``code_columns`` describes its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mbauc.readers import learn_table_codes
    >>> table = pd.DataFrame({"bid": [0.5, None, 2.0], "site": ["b", "a", None]})
    >>> encoding = learn_table_codes(table)
    >>> encoding.code_columns[1]
    CodeColumn(name='site', levels=('a', 'b'), hashed=None)
    >>> encoding.transform(table).tolist()
    [[0.5, 1.0], [nan, 0.0], [2.0, nan]]
    >>> encoding.transform({"bid": [1], "site": ["new"]}).tolist()
    [[1.0, 2.0]]
    """
    check_whole("max_categories", max_categories)
    if hash_dim is not None:
        check_whole("hash_dim", hash_dim, low=2)
    rows = as_arrow_table(table, list_columns(table))
    return learn_planned_codes(rows, plan_frame_codes(rows, types, ignore), max_categories, hash_dim)


def plan_frame_codes(
    rows: Any, types: Mapping[str, str] | None = None, ignore: Sequence[str] = ()
) -> ColumnPlan:
    """What the columns of an Arrow table are, where they become codes."""
    return _plan_frame(rows, types, ignore, guess_frame_code)


def _plan_frame(rows: Any, types: Mapping[str, str] | None, ignore: Sequence[str], judge: Judge) -> ColumnPlan:
    if not rows.num_rows:
        raise ValueError("the table has no rows; pass the rows from which the columns are to be learned.")
    return plan_columns(rows.slice(0, LOOK_ROWS), label=None, types=types, ignore=ignore, judge=judge)


def learn_planned_codes(
    rows: Any, plan: ColumnPlan, max_categories: int = MAX_CATEGORIES, hash_dim: int | None = None
) -> TableEncoding:
    """How an Arrow table becomes codes, given what its columns are."""
    return _learn(rows, CodeLearner(plan, max_categories, hash_dim))


def learn_table(
    table: Any,
    settings: EncodingSettings,
    *,
    types: Mapping[str, str] | None = None,
) -> tuple[TableEncoding, ColumnPlan]:
    """How a table in memory becomes a matrix, as ``TableSource`` does it, and what its columns are."""
    rows = as_arrow_table(table, list_columns(table))
    if settings.encode == "codes":
        plan = plan_frame_codes(rows, types)
        encoding = learn_planned_codes(rows, plan, settings.max_categories, settings.hash_dim)
    else:
        plan = _plan_frame(rows, types, (), guess)
        encoding = _learn(rows, EncodingLearner(plan, settings))
    return encoding, plan.with_widths(encoding.describe_widths())


def _learn(rows: Any, learner: CodeLearner | EncodingLearner) -> TableEncoding:
    if learner.needs_rows:
        for start in range(0, rows.num_rows, BLOCK_ROWS):
            learner.update(read_frame_rows(rows.slice(start, BLOCK_ROWS), learner.columns, start))
    return learner.encoding()
