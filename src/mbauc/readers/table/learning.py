"""What a source has to learn from its rows before it can be read: an encoding, and which labels there are."""

from __future__ import annotations

from dataclasses import replace

from mbauc.readers.table.columns.plan import ColumnPlan
from mbauc.readers.table.columns.planning import LOOK_ROWS
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.code_learner import CodeLearner
from mbauc.readers.table.encoding.learner import EncodingLearner, EncodingSettings
from mbauc.readers.table.faults import SkippedRows, stop
from mbauc.readers.table.files import cut_blocks
from mbauc.readers.table.first_features import FirstFeatures
from mbauc.readers.table.reading import TableReader
from mbauc.runtime.progress import progress


def learn_encoding(
    reader: TableReader,
    plan: ColumnPlan,
    settings: EncodingSettings,
    *,
    skipped: SkippedRows,
    first: FirstFeatures,
    on_error: str,
    verbose: bool,
) -> TableEncoding:
    """The encoding of the rows; the reader's labels are seen in the same pass, or in as much as they take.

    Rows that cannot be used are counted in ``skipped``, unless the first one is an error; ``first`` keeps the
    features of the first rows. Columns that nothing is learned from are not read.
    """
    learner: EncodingLearner | CodeLearner
    if settings.encode == "codes":
        learner = CodeLearner(plan, settings.max_categories, settings.hash_dim)
        first = FirstFeatures()  # of some columns only
    else:
        learner = EncodingLearner(plan, settings)
    if not learner.needs_rows:
        find_labels(reader, every=True)
        return learner.encoding()
    reader = replace(reader, columns=learner.columns)
    count = 0
    with progress(None, "learning the columns", show=verbose) as advance:
        for rows in first.watch(reader.read(stop if on_error == "stop" else skipped.note)):
            learner.update(rows.features)
            count += rows.features.rows
            advance(rows.features.rows)
    _check_labels(reader, count, skipped, every=True)
    return learner.encoding()


def find_labels(reader: TableReader, *, every: bool = False) -> None:
    """Read labels until both classes, or ``every`` positive label, have been seen; if known, one row."""
    labels = reader.labels
    if labels is None:
        return
    count, least = 0, 1 if labels.known else LOOK_ROWS
    for table in reader.tables:
        for piece in cut_blocks(table.pieces([labels.name], SkippedRows().note), least):
            labels.look(piece)
            count += piece.table.num_rows
            if labels.complete and count >= least and not (every and labels.absent):
                return
    _check_labels(reader, count, SkippedRows(), every=every)


def _check_labels(reader: TableReader, count: int, skipped: SkippedRows, *, every: bool) -> None:
    if not count:
        raise ValueError(f"{reader.where}: " + skipped.tell_empty())
    if reader.labels is not None:
        reader.labels.check(reader.where, every=every)
