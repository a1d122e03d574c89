"""Moments of rows in parts, whoever holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.counts_file import COUNTS, decode_counts, encode_counts
from mbauc.pairs.moment_file import encode_moments
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.scatter.counted import CountedScatters
from mbauc.rows.parts.accumulate import AccumulateTask, accumulate
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import SourceParts
from mbauc.runtime.progress import Advance, silent
from mbauc.store.array_schema import Arrays


@dataclass(frozen=True)
class SumMoments(AccumulateTask):
    """Task: moments of all pairs of the rows of a part, one for each fold.

    Memory: one d×d matrix for each fold and one more, or a tenth of one for each fold where rows are counted. A
    save of a pass that can be resumed writes ``8 d (d + 1)`` bytes.
    """

    n_threads: int = 1
    advance: Advance = silent

    state_name: ClassVar[str] = "moments"
    state_schema: ClassVar[Arrays] = COUNTS

    def start(self, fold: int) -> MomentsAccumulator:
        """No rows yet."""
        return MomentsAccumulator(self.schema.n_features, self.n_threads, self.advance)

    @property
    def result_bytes(self) -> int:
        """Matrices of all folds."""
        d = self.schema.n_features
        return 8 * d * (d + 1) * (1 if self.folds is None else self.folds.n_folds)

    def encode(self, accumulator: MomentsAccumulator) -> dict[str, Any]:
        """The sums so far."""
        sums = accumulator.peek()
        return encode_counts(sums) if isinstance(sums, CountedScatters) else encode_moments(sums)

    def finish(self, accumulator: MomentsAccumulator) -> MomentsAccumulator:
        """The sums of all rows, none of which waits to be counted."""
        return accumulator.flush()

    def decode(self, state: dict[str, NDArray[Any]]) -> MomentsAccumulator:
        """An accumulator with the sums of a state."""
        n_columns = state["scatters"].shape[1]
        if n_columns != self.schema.n_features:
            raise ValueError(f"holds moments of {n_columns:,} columns, the data has {self.schema.n_features:,}")
        if "counted" in state:
            return MomentsAccumulator.resume_counts(decode_counts(state), self.n_threads)
        return MomentsAccumulator.resume(PairMoments.decode(state), self.n_threads)


def sum_moments(
    rows: PartedRows,
    n_threads: int = 1,
    folds: FoldRule | None = None,
    *,
    frequencies: bool = False,
    advance: Advance = silent,
) -> tuple[list[PairMoments], NDArray[Any]]:
    """Moments of all pairs, of each fold if there are folds, and the classes; one job.

    ``frequencies`` says that a weight k stands for k equal rows. A source with a checkpoint resumes a pass that
    was interrupted. One that knows its moments (:func:`~mbauc.rows.source.known_moments`) is not read.
    """
    if folds is None and isinstance(rows.parts, SourceParts):
        known = rows.parts.known_moments()
        if known is not None:
            return [known.as_frequencies() if frequencies else known], np.asarray(rows.classes)
    task = SumMoments(rows.schema, folds=folds, n_threads=n_threads, advance=advance)
    found, classes = accumulate(rows.parts, task, rows.classes)
    moments = [one.finish() for one in found]
    return [one.as_frequencies() for one in moments] if frequencies else moments, np.asarray(classes)
