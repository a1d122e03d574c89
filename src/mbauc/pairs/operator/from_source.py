"""Pairs as products, from a source that is read once, in bounded memory; a cache file outlives a kill."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, CheckpointError
from mbauc.pairs.compact.cache import RowCacheWriter, open_cache, wrong_columns
from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.rows import Chunk, CompactRows
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.lost_digits import check_overflow, warn_of_lost_digits
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.rows.fingerprint import BlockMark, EarlierBlocks, content_crc, fingerprint_as_json
from mbauc.rows.reading import locate_in_source, read_blocks
from mbauc.rows.source import Observe, Source, about_rows, ignore
from mbauc.runtime.ahead import one_ahead
from mbauc.runtime.memory import own_memory
from mbauc.runtime.progress import Progress, progress
from mbauc.store.json_values import describe_differences
from mbauc.store.lock import FolderLock

#: Name of the cache in its folder.
CACHE_NAME = "rows.cache"
#: Vectors over the columns in use that a solver holds.
_VECTORS = 40
#: Bytes for each column of the data.
_COLUMN_BYTES = 80
#: Blocks in memory while reading: one being read, one in work, its compact rows, and what making them takes.
_BLOCKS = 4
#: Growth of a process that is not worth going to disk for.
_SLACK = 1 << 25


def require_column_room(n_features: int, memory: int, used: int = 0) -> None:
    """Raise if vectors over the columns alone take more than is allowed, however few rows there are.

    A handful of rows with one huge index would otherwise take gigabytes.
    """
    need = _COLUMN_BYTES * n_features + 8 * _VECTORS * used
    if need > memory + _SLACK:
        raise ValueError(
            f"a fit to {n_features:,} columns{f', {used:,} of which occur,' if used else ''} takes at least "
            f"{need / 1e9:,.1f} GB; {memory / 1e9:,.1f} GB are allowed. "
            + Advice("Hash the columns to fewer, allow more {memory}, or look for a mistaken column index.")
        )


def build_source_operator(
    source: Source,
    *,
    n_threads: int,
    memory: int,
    row_bytes: int = 0,
    folder: Path | None = None,
    show: bool = False,
    observe: Observe = ignore,
) -> SparsePairOperator:
    """All pairs of a source as a linear operator, in one pass over its blocks.

    Compact rows (:class:`~mbauc.pairs.compact.rows.CompactRows`, 2 or 4 bytes an entry) stay in
    memory as long as they fit. Otherwise all of them go to a file that products read, a chunk for each thread
    at a time: a nameless temporary one, or one in ``folder``. Results have the same bits in each case.

    The file in ``folder`` is written from the first block on and kept. The next call with the same folder

    * reads nothing, if the file is complete and the source's ``fingerprint()`` is the one it was made from;
    * reads the blocks, compares each with the checksum in the file and takes the rows from there, if the
      fingerprint differs or there is none;
    * resumes after the last whole block, if the file is not complete. Blocks before it are read and compared.

    Time: one pass, ``O(entries)``. Memory: the process grows by ``memory``, give or take 32 MB, or by what the
    source holds, four blocks and 320 bytes for each column in use if these alone are more. What the source
    holds is measured where the system reports it (Linux).

    Parameters
    ----------
    source : Source
        Blocks of rows, dense or sparse; kept as sparse.
    n_threads : int
        Threads to use, in this and in all products.
    memory : int
        Bytes that rows, blocks and the vectors of a solver may take.
    row_bytes : int, default=0
        Bytes of it for each row that the rows may not take: for numbers of the rows.
    folder : Path, optional
        Where to keep the cache file; made if it does not exist.
    show : bool, default=False
        Show a progress bar on a terminal.
    observe : callable
        Looks on while blocks are read.

    Raises
    ------
    CheckpointError
        If the file in the folder is damaged, or the data is not what it was made from.
    DiskFullError
        If the file cannot be written. A temporary one is gone then, one in ``folder`` can be resumed from.
    ValueError
        If the rows are of one class, or something is wrong with a block.

    Warns
    -----
    CancellationWarning
        If a column is so far from zero that little is left of its differences.
    """
    require_column_room(source.n_features, memory)
    with progress(about_rows(source), "reading rows", show=show) as advance:
        reading = _Reading(source, n_threads, memory, row_bytes, advance, observe)
        if folder is None:
            chunks = reading.collect()
        else:
            folder = Path(os.fsdecode(folder))
            lock = FolderLock(folder, "rows.lock")
            try:
                path = folder / CACHE_NAME
                chunks = reading.reuse(path) if path.exists() else reading.write(path)
            finally:
                lock.release()
    collector = reading.collector
    for stratum in range(len(collector.counts)):
        check_overflow(collector.order.columns, collector.sums(stratum)[1])
    pairs = SparsePairOperator(chunks, collector, n_threads)
    warn_of_lost_digits(pairs)
    return pairs


class _Marked(NamedTuple):
    """A block, which of its rows are positive and have weight, and its checksum if one was asked for."""

    rows: SparseBlock
    positive: NDArray[np.bool_]
    mark: BlockMark


def _mark_blocks(source: Source, checksums: bool) -> Generator[_Marked, None, None]:
    for block in read_blocks(source):
        if not block.n_rows:
            continue
        with locate_in_source(block):
            rows = SparseBlock.from_block(block)
        crc = 0
        if checksums:
            crc = content_crc(rows.X, block.positive, block.weight, rows.ones, block.groups)
        yield _Marked(rows, block.positive & block.used, BlockMark(block.n_rows, crc))


class _Reading:
    """One pass over a source, or none."""

    def __init__(
        self,
        source: Source,
        n_threads: int,
        memory: int,
        row_bytes: int,
        advance: Progress,
        observe: Observe,
    ) -> None:
        self._source, self._n_threads, self._memory = source, n_threads, memory
        self._row_bytes = row_bytes
        self._advance, self._observe = advance, observe
        self.collector = Collector(source.n_features, 2, n_threads)
        self._largest = self._n_blocks = 0
        self._before, self._beside = own_memory(), 0

    @property
    def _room(self) -> int:
        """Bytes that remain for the rows."""
        vectors = 8 * _VECTORS * self.collector.order.used
        reading = _COLUMN_BYTES * self._source.n_features + _BLOCKS * self._largest
        # blocks are gone when numbers of the rows are made
        numbers = self._row_bytes * sum(self.collector.counts)
        return self._memory - vectors - max(reading, self._beside, numbers)

    def _require_room(self) -> None:
        require_column_room(self._source.n_features, self._memory, self.collector.order.used)

    def _look(self, held: int) -> None:
        """Note what the process has grown by beside the rows held: buffers of the source, libraries, blocks."""
        self._beside = max(self._beside, own_memory() - self._before - held - _SLACK)

    # -- without a folder ----------------------------------------------------------------------------------

    def collect(self) -> list[Chunk]:
        """Rows in memory, or in a temporary file as soon as they do not fit."""
        held: deque[tuple[list[CompactRows], BlockMark]] = deque()
        size = 0
        writer: RowCacheWriter | None = None
        try:
            for _, block in self._blocks(checksums=False):
                chunks = self._compact(block)
                size += sum(chunk.nbytes for chunk in chunks)
                held.append((chunks, block.mark))
                self._look(size)
                self._require_room()
                if writer is None and size > self._room:
                    writer = RowCacheWriter(None, self._header(None))
                while held and writer is not None:
                    writer.add_block(*held.popleft())
            self._require_pairs()
            if writer is None:
                return [chunk for chunks, _ in held for chunk in chunks]
            return writer.finish(self.collector.state()).chunks(self._room)
        finally:
            if writer is not None:
                writer.close()

    # -- with one ------------------------------------------------------------------------------------------

    def write(self, path: Path) -> list[Chunk]:
        """Rows in a file that is written from the start, or resumed."""
        now = fingerprint_as_json(self._source)
        writer = RowCacheWriter(path, self._header(now), self._n_threads)
        try:
            before = EarlierBlocks(
                writer.name, writer.marks, describe_differences(writer.first_fingerprint, now)
            )
            for number, block in self._blocks(checksums=True):
                self._require_room()
                if number < len(before.marks):
                    before.compare(number, block.mark)
                    self.collector.count(block.rows)
                else:
                    writer.add_block(self._compact(block), block.mark)
            before.compare_length(self._n_blocks)
            self._require_pairs()
            self._require_unchanged(now, writer.name)
            return writer.finish(self.collector.state()).chunks(self._room)
        finally:
            writer.close()

    def reuse(self, path: Path) -> list[Chunk]:
        """Rows in a complete file; the source is read only if it does not vouch for being the same."""
        cache = open_cache(path, self._n_threads)
        if cache.n_features != self._source.n_features:
            raise wrong_columns(str(path), cache.n_features, self._source.n_features)
        now = fingerprint_as_json(self._source)
        if now is None or cache.fingerprint != now:
            before = EarlierBlocks(str(path), cache.marks, describe_differences(cache.fingerprint, now))
            for number, block in self._blocks(checksums=True):
                before.compare(number, block.mark)
            before.compare_length(self._n_blocks)
        self.collector = Collector.resume(self._source.n_features, cache.state, self._n_threads)
        return cache.chunks(self._room)

    # -- both --------------------------------------------------------------------------------------------------

    def _header(self, fingerprint: dict[str, Any] | None) -> dict[str, Any]:
        return {"n_features": self._source.n_features, "fingerprint": fingerprint}

    def _blocks(self, checksums: bool) -> Iterator[tuple[int, _Marked]]:
        """Blocks and their numbers, from 0; the next one is read and checked while the caller works on one."""
        self._n_blocks, look = 0, self._observe(self._advance)
        for block in one_ahead(_mark_blocks(self._source, checksums)):
            look(block.rows.X, block.positive)
            self._largest = max(self._largest, block.rows.nbytes)
            yield self._n_blocks, block
            self._n_blocks += 1
            self._advance(block.mark.rows)

    def _compact(self, block: _Marked) -> list[CompactRows]:
        self.collector.count(block.rows)
        return self.collector.compact(block.rows)

    def _require_pairs(self) -> None:
        plus, minus = self.collector.counts
        if not plus or not minus:
            raise ValueError(
                f"there are no pairs in the source ({plus:,} positives, {minus:,} negatives of positive "
                "weight); pairs need rows of both classes."
            )

    def _require_unchanged(self, fingerprint: dict[str, Any] | None, path: str) -> None:
        now = fingerprint_as_json(self._source)
        if now != fingerprint:
            raise CheckpointError(
                f"the data was changed while it was read ({describe_differences(fingerprint, now)}). Delete "
                f"{path} and start again once the data stays as it is."
            )
