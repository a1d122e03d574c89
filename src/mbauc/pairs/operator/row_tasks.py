"""What runs where packed rows are, row by row: labels, scores and sums with a number for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.operator.pair_operator import Bucket, RowLabels
from mbauc.pairs.operator.sparse import combine_chunk, combine_chunk_by, label_chunks, score_chunk

Array = NDArray[np.float64]


class PackedChunk(NamedTuple):
    """Compact rows of one fold."""

    fold: int
    rows: CompactRows
    #: checksum of the rows in their order
    mark: int

    @classmethod
    def marked(cls, fold: int, rows: CompactRows) -> PackedChunk:
        """With the checksum, which a part that is made again after its worker was lost has as well."""
        arrays = (rows.starts, rows.columns, rows.values, rows.weight, rows.groups)
        mark = rows.stratum
        for array in arrays:
            mark = mark if array is None else crc32(array.tobytes(), mark)
        return cls(fold, rows, mark)


def leave_out_fold(packed: Iterable[PackedChunk], left_out: int | None) -> Iterator[CompactRows]:
    """Rows of all folds but one."""
    return (chunk.rows for chunk in packed if chunk.fold != left_out)


class LabelledPart(NamedTuple):
    """Labels of the rows of a part, and the checksums of its chunks."""

    number: int
    labels: RowLabels
    marks: list[int]


class ScoredPart(NamedTuple):
    """Scores of the rows of a part."""

    number: int
    scores: Array


@dataclass(frozen=True)
class RowPlaces:
    """Where the rows of each part are in a vector over all rows."""

    #: by number of the part: where its rows begin, and the checksums of its chunks
    first: Mapping[int, int]
    marks: Mapping[int, list[int]]

    @classmethod
    def of(cls, parts: Sequence[LabelledPart]) -> RowPlaces:
        """Of parts that stand one after another."""
        first = np.cumsum([0, *(part.labels.positive.size for part in parts)]).tolist()
        numbers = [part.number for part in parts]
        return cls(dict(zip(numbers, first[:-1], strict=True)), {part.number: part.marks for part in parts})

    def find(
        self, number: int, packed: Iterable[PackedChunk], left_out: int | None
    ) -> Iterator[tuple[CompactRows, slice]]:
        """The chunks of a part, and where their rows are; an error if they are not what was labelled."""
        own = [chunk for chunk in packed if chunk.fold != left_out]
        if [chunk.mark for chunk in own] != self.marks.get(number, []):
            raise ValueError(
                f"part {number:,} has other rows than before, or another order of rows: it was computed again "
                "after a worker was lost, and the data differ from one computation to the next. Write the data "
                "to files first, or cache them where they outlive a worker, and fit again."
            )
        place = self.first.get(number, 0)
        for chunk in own:
            yield chunk.rows, slice(place, place + chunk.rows.n_rows)
            place += chunk.rows.n_rows


@dataclass(frozen=True)
class LabelRows:
    """Task: labels of the rows of a part."""

    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> LabelledPart:
        """Chunk after chunk."""
        own = [chunk for chunk in packed if chunk.fold != self.left_out]
        return LabelledPart(number, label_chunks(chunk.rows for chunk in own), [chunk.mark for chunk in own])


@dataclass(frozen=True)
class ScoreRows:
    """Task: x'v of the rows of a part."""

    v: Array
    places: RowPlaces
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> ScoredPart:
        """Chunk after chunk."""
        scores = [np.empty(0)]
        for chunk, _ in self.places.find(number, packed, self.left_out):
            scores.append(np.empty(chunk.n_rows))
            score_chunk(chunk, self.v, scores[-1])
        return ScoredPart(number, np.concatenate(scores))


@dataclass(frozen=True)
class CombineRows:
    """Task: a part's share of Σ rᵢ xᵢ, or of the same with squared entries."""

    r: Array
    places: RowPlaces
    columns: int
    squared: bool
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> Array:
        """Over its rows, chunk after chunk."""
        result = np.zeros(self.columns)
        for chunk, own in self.places.find(number, packed, self.left_out):
            combine_chunk(chunk, self.r[own], result, squared=self.squared)
        return result


@dataclass(frozen=True)
class CombineRowsBy:
    """Task: a part's share of Σ rᵢ xᵢ of the rows of each bucket."""

    r: Array
    bucket: Bucket
    n_buckets: int
    places: RowPlaces
    columns: int
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> Array:
        """Over its rows, chunk after chunk."""
        result = np.zeros((self.n_buckets, self.columns))
        for chunk, own in self.places.find(number, packed, self.left_out):
            combine_chunk_by(chunk, self.r[own], self.bucket[own], result)
        return result
