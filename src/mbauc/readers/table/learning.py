"""What a source has to learn from its rows before it can be read: an encoding, and which labels there are."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace

from mbauc.pairs.moments import PairMoments
from mbauc.readers.table.columns.plan import ColumnPlan
from mbauc.readers.table.columns.planning import LOOK_ROWS
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.code_learner import CodeLearner
from mbauc.readers.table.encoding.learner import EncodingLearner, EncodingSettings
from mbauc.readers.table.encoding.statistics import ColumnStatistics
from mbauc.readers.table.faults import SkippedRows
from mbauc.readers.table.files import cut_blocks
from mbauc.readers.table.first_features import FirstFeatures
from mbauc.readers.table.learned_moments import MOST_COLUMNS, LearnedMoments
from mbauc.readers.table.reading import TableReader, TableRows
from mbauc.runtime.ahead import map_ahead
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import single_threaded_blas


def learn_encoding(
    reader: TableReader,
    plan: ColumnPlan,
    settings: EncodingSettings,
    *,
    skipped: SkippedRows,
    first: FirstFeatures,
    on_error: str,
    verbose: bool,
) -> tuple[TableEncoding, PairMoments | None]:
    """The encoding of the rows, and their moments where these come with it at little cost.

    The reader's labels are seen in the same pass, or in as much as they take. Rows that cannot be used are
    counted in ``skipped``, unless the first one is an error; ``first`` keeps the features of the first rows.
    Columns that nothing is learned from are not read.
    """
    learner: EncodingLearner | CodeLearner
    if settings.encode == "codes":
        learner = CodeLearner(plan, settings.max_categories, settings.hash_dim)
        first = FirstFeatures()  # of some columns only
    else:
        learner = EncodingLearner(plan, settings)
    if not learner.needs_rows:
        find_labels(reader, every=True)
        return learner.encoding(), None
    reader = replace(reader, columns=learner.columns)
    moments = _choose_moments(reader, learner)
    blocks = first.watch(reader.read(skipped.report(on_error)))
    count = 0
    # BLAS may hang if a thread changes how many threads it has while another one computes: set it once for all
    with single_threaded_blas(), progress(None, "learning the columns", show=verbose) as advance:
        for rows in _learn_rows(blocks, learner, moments, reader.n_threads()):
            count += rows
            advance(rows)
    _check_labels(reader, count, skipped, every=True)
    encoding = learner.encoding()
    known = None if moments is None or reader.labels is None else moments.encoded(encoding, reader.labels)
    return encoding, known


def _choose_moments(reader: TableReader, learner: EncodingLearner | CodeLearner) -> LearnedMoments | None:
    """What adds up moments, where columns are few numbers and all pairs count."""
    if isinstance(learner, CodeLearner) or not learner.numbers_only or reader.group is not None:
        return None
    n_columns = len(learner.columns)
    return LearnedMoments(n_columns) if n_columns <= MOST_COLUMNS else None


def _learn_rows(
    blocks: Generator[TableRows, None, None],
    learner: EncodingLearner | CodeLearner,
    moments: LearnedMoments | None,
    n_threads: int,
) -> Iterator[int]:
    """Learn from blocks, whose numbers are summed up in threads; yields the number of rows of each."""
    if isinstance(learner, CodeLearner):
        for rows in blocks:
            learner.update(rows.features)
            yield rows.features.rows
        return

    def sum_up(rows: TableRows) -> tuple[TableRows, ColumnStatistics | None, PairMoments | None]:
        X = learner.matrix(rows.features)
        if X is None:
            return rows, None, None
        numbers = ColumnStatistics.of_block(X)
        whole = moments is not None and bool((numbers.count == rows.features.rows).all())
        return rows, numbers, moments.of_block(rows, X) if moments is not None and whole else None

    with closing(map_ahead(sum_up, blocks, n_threads)) as summed:
        for rows, numbers, sums in summed:
            learner.update(rows.features, numbers)
            if moments is not None:
                moments.add(rows, sums)
            yield rows.features.rows


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
