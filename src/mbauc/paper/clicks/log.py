"""A synthetic click log: any number of rows, made where they are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_choice, check_flag, check_whole
from mbauc.paper.clicks import world
from mbauc.paper.clicks.shapes import SHAPES
from mbauc.rows.source import RawBlock
from mbauc.runtime.ahead import cut_ranges, map_ahead
from mbauc.runtime.threads import thread_count

#: Columns, at most: a row is sorted in a map of one bit for each.
_WIDEST = 1 << 24
#: Rows are numbered up to here.
_LAST = 1 << 62
#: Rows that a thread makes at a time where there are no blocks.
_PIECE = 1 << 16


class ClickLog:
    r"""Synthetic click log that resembles Criteo or Avazu, generated on the fly.

    Row i depends only on the shape, the seed and i, so any range of rows can be generated independently and
    reproducibly on any machine, without files and in constant memory, up to 10⁹ rows and more. Training and
    test rows are ranges of the same log: ``log[:a]`` and ``log[a:]``, or ``start``.

    Rows have two views. *Raw* (:meth:`table`, :meth:`write_parquet`): the columns of the original log, all of
    them categories. *Hashed* (iteration, :meth:`rows`, :meth:`write_libsvm`): a CSR row with a 1 in the hashed
    column of each of them. :class:`~mbauc.readers.TableSource` encodes the raw view as the same columns; only
    if two values of a row collide it has their count, and the log has 1.

    ``O(entries)`` time: one to three million rows a second on two cores. Memory of an iteration: one block per
    thread and the current one, 12 bytes per entry; 31 MB per block at the default.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    shape : {"criteo", "avazu-app", "avazu-site"}, default="criteo"
        Log to resemble: 39 columns and 2.92 negatives for each positive, 22 columns and 8.33, or 22 columns and
        4.06.
    hash_dim : int, default=10000
        Number of hashed columns, at most 2²⁴.
    seed : int, default=0
        Seed of the effects and of the rows.
    block_rows : int, default=65536
        Number of rows in a block; does not affect the rows.
    start : int, default=0
        Index of the first row.
    n_jobs : int, optional
        Number of threads; None for as many as BLAS may use, -1 for all cores. Does not affect the rows.

    Attributes
    ----------
    n_features : int
        Number of hashed columns.
    classes : tuple
        ``(0, 1)``, the labels of the raw view.
    label : str
        Name of the label column of the raw view.

    Notes
    -----
    **Values.** Frequencies follow a power law (counts a log-normal one), with sizes, skews and missing values
    near those of the originals, and up to 10⁷ values a column. Columns depend on each other: on hidden traits
    of users and pages, each of which has its favourite values, or on another column (a domain follows from
    the site). Rows are exchangeable: hours are drawn, not in order.

    **Clicks.** The log-odds of a click are::

        intercept + a · (effects of values) + b · (effects of pairs of values + user side · page side)

    All effects are random and nearly normal. The two sides are sums of effects of some columns; what they say
    together is more than a linear ranker can learn. a and b give both parts fixed spreads, the intercept the
    ratio of negatives and positives. All three are determined on the first 2¹⁸ rows, in about 0.1 seconds when
    the first label is needed. :meth:`log_odds` gives the true log-odds: no ranker has a larger AUC, except by
    chance.

    Examples
    --------
    >>> from mbauc import MBAClassifier, PairMoments
    >>> from mbauc.paper.clicks import ClickLog
    >>> from mbauc.metrics import roc_auc
    >>> log = ClickLog(40_000, shape="avazu-site", hash_dim=300)
    >>> ranker = MBAClassifier().fit_moments(PairMoments.from_blocks(log[:30_000]))
    >>> X, y, _ = log.rows(30_000, 40_000)
    >>> X.shape, round(float(y.mean()), 1)
    ((10000, 300), 0.2)
    >>> roc_auc(y, log.log_odds(30_000, 40_000)) > roc_auc(y, ranker.decision_function(X)) > 0.6
    True
    """

    classes: tuple[int, int] = (0, 1)

    def __init__(
        self,
        n_rows: int,
        *,
        shape: str = "criteo",
        hash_dim: int = 10_000,
        seed: int = 0,
        block_rows: int = 65_536,
        start: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        check_whole("n_rows", n_rows, low=0)
        check_choice("shape", shape, tuple(SHAPES))
        check_whole("hash_dim", hash_dim, low=2)
        check_whole("seed", seed, low=0)
        check_whole("block_rows", block_rows)
        check_whole("start", start, low=0)
        if hash_dim > _WIDEST:
            raise ValueError(f"hash_dim must be at most {_WIDEST:,}, got {hash_dim:,}.")
        if seed >= 1 << 63:
            raise ValueError(f"seed must be less than 2^63, got {seed:,}.")
        if start + n_rows > _LAST:
            raise ValueError(f"rows are numbered up to 2^62; start + n_rows is {start + n_rows:,}.")
        self.n_rows, self.start = int(n_rows), int(start)
        self.shape, self.seed = shape, int(seed)
        self.block_rows = int(block_rows)
        self.n_features = int(hash_dim)
        self.label = SHAPES[shape].label
        self.n_jobs = n_jobs
        self._n_threads = thread_count(n_jobs)

    def __repr__(self) -> str:
        first = f" from row {self.start:,} on" if self.start else ""
        return (
            f"ClickLog({self.n_rows:,} rows{first}, shape={self.shape!r}, hash_dim={self.n_features}, "
            f"seed={self.seed})"
        )

    def __getitem__(self, part: slice) -> ClickLog:
        """Some of the rows as a log of their own: ``log[:1000]``."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError(f"a log is cut by slices without a step, as in log[:1000]; got {part!r}.")
        first, last, _ = part.indices(self.n_rows)
        return ClickLog(
            max(0, last - first),
            shape=self.shape,
            hash_dim=self.n_features,
            seed=self.seed,
            block_rows=self.block_rows,
            start=self.start + first,
            n_jobs=self.n_jobs,
        )

    # -- hashed --------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[RawBlock]:
        yield from self._blocks(self.block_rows)

    def rows(self, start: int = 0, stop: int | None = None) -> RawBlock:
        """Hashed view of the rows ``start`` to ``stop`` - 1 of this log; by default all rows.

        Memory: 12 bytes per entry and 5 per row, temporarily twice that.
        """
        part = self._part(start, stop)
        if part.n_rows <= _PIECE:
            return part._block(range(part.n_rows))
        blocks = list(part._blocks(_PIECE))
        columns = np.concatenate([block.X.indices for block in blocks])
        sizes = np.concatenate([[0], *(np.diff(block.X.indptr) for block in blocks)])
        # numbers of 32 bits where they suffice, as scipy would choose
        ends = np.cumsum(sizes, dtype=np.int32 if columns.size < 2**31 else np.int64)
        y = np.concatenate([block.y for block in blocks])
        return RawBlock(self._matrix(np.ones(columns.size), columns, ends), y)

    def _blocks(self, n_rows: int) -> Iterator[RawBlock]:
        return map_ahead(self._block, cut_ranges(self.n_rows, n_rows), self._n_threads)

    def _block(self, piece: range) -> RawBlock:
        from mbauc.paper.clicks import slot_kernels

        most = len(piece) * len(SHAPES[self.shape].columns)
        ends, columns = np.empty(len(piece) + 1, dtype=np.int32), np.empty(most, dtype=np.int32)
        entries, y = np.empty(most), np.empty(len(piece), dtype=np.int8)
        tables, slots = world.tables(self.shape, self.seed), world.slots(self.shape, self.n_features)
        first = self.start + piece.start
        count = slot_kernels.rows(first, tables, self._truth, slots, ends, columns, entries, y)
        return RawBlock(self._matrix(entries[:count], columns[:count], ends), y)

    def _matrix(
        self, entries: NDArray[np.float64], columns: NDArray[np.int32], ends: NDArray[Any]
    ) -> sp.csr_array:
        X = sp.csr_array((entries, columns, ends), shape=(ends.size - 1, self.n_features))
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    # -- raw -----------------------------------------------------------------------------------------

    def table(self, start: int = 0, stop: int | None = None) -> Any:
        """Raw view of the rows ``start`` to ``stop`` - 1 as an Arrow table of the label and categories.

        Criteo's counts are rounded down to two binary digits (0, 1, 2, 3, 4, 6, 8, 12, …), as is common
        before they are hashed. Missing values are null. Needs pyarrow.
        """
        from mbauc.paper.clicks import kernels
        from mbauc.paper.clicks.raw import arrow_table

        part = self._part(start, stop)
        codes = np.empty((len(SHAPES[self.shape].columns), part.n_rows), dtype=np.uint32)
        y = np.empty(part.n_rows, dtype=np.int8)
        kernels.values(part.start, world.tables(self.shape, self.seed), self._truth, codes, y)
        return arrow_table(self.shape, codes, y)

    # -- truth ---------------------------------------------------------------------------------------

    def log_odds(self, start: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """True log-odds of a click in rows ``start`` to ``stop`` - 1 of this log: the best possible scores."""
        part = self._part(start, stop)
        intercept, of_single, of_together = self._truth
        first, last = part.start, part.start + part.n_rows
        single, together = world.scores(self.shape, self.seed, first, last, self._n_threads)
        return np.asarray(intercept + of_single * single + of_together * together)

    @property
    def _truth(self) -> Any:
        return world.truth(self.shape, self.seed, self._n_threads)

    def _part(self, start: int, stop: int | None) -> ClickLog:
        """Some of the rows; an error if there are no such rows."""
        stop = self.n_rows if stop is None else stop
        check_whole("start", start, low=0)
        check_whole("stop", stop, low=0)
        if not start <= stop <= self.n_rows:
            raise ValueError(
                f"expected 0 <= start <= stop <= {self.n_rows:,}, the number of rows; got start={start:,} and "
                f"stop={stop:,}."
            )
        return self[start:stop]

    # -- files ---------------------------------------------------------------------------------------

    def write_libsvm(self, path: str | os.PathLike[str], *, verbose: bool = True) -> int:
        """Write the hashed view as LIBSVM text: labels +1 and -1, columns counted from 1, values 1.

        The file is written atomically; an existing one is replaced. Memory: 16,384 rows per thread and as many
        more, 13 MB each for Criteo.

        Parameters
        ----------
        path : path
            File to write.
        verbose : bool, default=True
            Show a progress bar on a terminal.

        Returns
        -------
        int
            Number of rows written.
        """
        from mbauc.paper.clicks.writers import write_libsvm

        check_flag("verbose", verbose)
        return write_libsvm(path, self.rows, self.n_rows, self.n_features, self._n_threads, verbose)

    def write_parquet(self, path: str | os.PathLike[str], *, verbose: bool = True) -> int:
        """Write the raw view as Parquet with dictionary-encoded strings; otherwise as :meth:`write_libsvm`.

        Needs pyarrow. Memory: a row group of 131,072 rows for each thread and one more, about 50 MB each for
        Criteo.
        """
        from mbauc.paper.clicks.raw import arrow_schema
        from mbauc.paper.clicks.writers import write_parquet

        check_flag("verbose", verbose)
        schema = arrow_schema(self.shape)
        return write_parquet(path, self.table, self.n_rows, schema, self._n_threads, verbose)
