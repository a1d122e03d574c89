"""Rows whose features are made of others on the way: block by block, or where a cluster holds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.defaults import BLOCK_ROWS
from mbauc.rows.block import Block, check_columns
from mbauc.rows.groups import mark_keys
from mbauc.rows.matrix import as_matrix
from mbauc.rows.parts.protocol import Kind, Merge, PartedRows, Parts, Preview, Task
from mbauc.rows.parts.source import SourceParts
from mbauc.rows.reading import Item
from mbauc.rows.schema import Schema
from mbauc.rows.source import (
    GroupedBlock,
    GroupedScores,
    RawBlock,
    ScoredBlock,
    Source,
    about_rows,
    fingerprint_of,
    has_groups,
    pack_block,
    pack_scores,
    unpack_block,
)

#: Entries of the features of a block, at most, as far as rows allow: 12 bytes each.
_ENTRIES = 1 << 23
#: Features from which on small blocks are joined, up to that number of entries: moments of a block have to be
#: made and added, which then takes longer than its rows do.
_MANY_FEATURES, _JOINED_ENTRIES = 4_096, 1 << 24


class RowMap(Protocol):
    """What makes features of rows: a :class:`~mbauc.basis.feature_map.FeatureMap` and the like."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_entries(self) -> int:
        """Features of a row that are not zero."""

    def encode(self, X: Any, n_jobs: int | None = 1) -> Any:
        """The features of rows."""

    def scores(self, X: Any, coef: NDArray[np.float64], n_jobs: int | None = 1) -> NDArray[np.float64]:
        """``encode(X) @ coef``."""

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""


class MappedSource:
    """A source whose blocks have the features that a map makes of another's.

    Blocks are cut where their features would take much more memory than the rows. Dense blocks of rows without
    groups are joined where features are many.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.basis.columns import Steps
    >>> from mbauc.basis.feature_map import FeatureMap
    >>> class Rows(list):
    ...     n_features, classes = 1, (0, 1)
    >>> rows = Rows([(np.array([[1.0], [5.0]]), np.array([0, 1]))])
    >>> steps = FeatureMap(("x",), (Steps(np.array([2.0]), np.array([1.0, 5.0])),))
    >>> [block.X.toarray().tolist() for block in MappedSource(rows, steps)]
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """

    def __init__(self, source: Source, features: RowMap, n_jobs: int | None = 1) -> None:
        self.source, self.features, self.n_jobs = source, features, n_jobs
        self.n_features = features.n_features
        self.classes = source.classes

    @property
    def has_groups(self) -> bool:
        """Whether rows are of groups."""
        return has_groups(self.source)

    @property
    def about_rows(self) -> int | None:
        """About how many rows there are."""
        return about_rows(self.source)

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        entries = _JOINED_ENTRIES if self.n_features >= _MANY_FEATURES else _ENTRIES
        most = max(1, entries // max(self.features.n_entries, 1))
        for X, y, weight, groups in self._raw_blocks(most):
            for start in range(0, y.size, most):
                own = slice(start, start + most)
                rest = (None if one is None else np.asanyarray(one)[own] for one in (weight, groups))
                yield pack_block(self.features.encode(X[own], self.n_jobs), y[own], *rest)

    def _raw_blocks(self, most: int) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Rows as the source has them, as matrices; joined up to ``most`` rows where features are many."""
        held: list[tuple[Any, Any, Any]] = []
        for number, raw in enumerate(self.source, start=1):
            X, y, weight, groups = unpack_block(raw, f"block {number:,} of the source")
            X, y = as_matrix(X), np.asarray(y)
            joins = self.n_features >= _MANY_FEATURES and groups is None and _is_whole(X, y, weight)
            full = sum(one[1].size for one in held) + y.size > most
            if held and (full or not joins or not _are_alike(held[0], (X, y, weight))):
                yield *_join(held), None
                held = []
            if joins:
                held.append((X, y, weight))
            else:
                yield X, y, weight, groups
        if held:
            yield *_join(held), None

    def score_blocks(self, coef: NDArray[np.float64]) -> Iterator[ScoredBlock | GroupedScores]:
        """Labels and scores of the rows, without their features."""
        for number, raw in enumerate(self.source, start=1):
            X, y, weight, groups = unpack_block(raw, f"block {number:,} of the source")
            yield pack_scores(y, score_mapped(X, self.features, coef, self.n_jobs), weight, groups)

    def fingerprint(self) -> dict[str, object] | None:
        """What the blocks depend on; None if that is unknown of the rows."""
        below = fingerprint_of(self.source)
        if below is None:
            return None
        text = json.dumps(self.features.to_dict(), sort_keys=True)
        return {"rows": below, "features": hashlib.sha256(text.encode()).hexdigest()}


def _is_whole(X: Any, y: Any, weight: Any) -> bool:
    """Whether a block is dense with a label and a weight for each row; what has not is an error of its own."""
    return isinstance(X, np.ndarray) and y.shape == X.shape[:1] and np.shape(weight) in ((), y.shape)


def _are_alike(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> bool:
    """Whether blocks have the same columns, and labels and weights of one kind."""
    same_types = one[0].dtype == other[0].dtype and one[1].dtype == other[1].dtype
    return same_types and one[0].shape[1] == other[0].shape[1] and (one[2] is None) == (other[2] is None)


def _join(blocks: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    """Blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    X, y, weight = zip(*blocks, strict=True)
    return np.concatenate(X), np.concatenate(y), None if weight[0] is None else np.concatenate(weight)


def score_mapped(
    X: Any, features: RowMap, coef: NDArray[np.float64], n_jobs: int | None = 1
) -> NDArray[np.float64]:
    """Scores of the features that a map makes of rows; wide rows are taken a few at a time."""
    step = max(1_024, _ENTRIES // max(X.shape[1], 1))
    starts = range(0, max(X.shape[0], 1), step)
    found = [features.scores(X[start : start + step], coef, n_jobs) for start in starts]
    return found[0] if len(found) == 1 else np.concatenate(found)


class BlockSource:
    """Rows in memory as a source of blocks."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.n_features, self.classes, self.n_rows = block.n_features, (0, 1), block.n_rows
        self.has_groups = block.groups is not None

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        block = self.block
        for start in range(0, block.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            weight = None if block.weight is None else block.weight[rows]
            groups = None if block.groups is None else mark_keys(block.groups[rows])
            yield pack_block(block.X[rows], block.positive[rows].astype(np.int8), weight, groups)


@dataclass(frozen=True)
class MappedTask:
    """A task on features that are made of the rows of a part where they are."""

    task: Task
    features: RowMap
    schema: Schema

    def __call__(self, number: int, items: Iterable[Item]) -> Any:
        """What the task makes of the features."""
        return self.task(number, map(self._map, items))

    def _map(self, item: Item) -> Item:
        if isinstance(item, Block):
            return replace(item, X=self.features.encode(item.X))
        X, y, weight, ids, groups = check_columns((*item, None, None, None)[:5], self.schema)
        return (None if X is None else self.features.encode(X)), y, weight, ids, groups


class MappedParts:
    """Parts whose rows have the features that a map makes of others, anew for each job."""

    def __init__(self, parts: Parts, features: RowMap, schema: Schema) -> None:
        self.parts, self._features, self._schema = parts, features, schema
        self.kind: Kind = parts.kind
        self.largest_result = parts.largest_result

    def _mapped(self, task: Task) -> MappedTask:
        return MappedTask(task, self._features, self._schema)

    def reduce(self, task: Task, merge: Merge) -> Any:
        """One result of all parts."""
        return self.parts.reduce(self._mapped(task), merge)

    def collect(self, task: Task) -> list[Any]:
        """The result of each part."""
        return self.parts.collect(self._mapped(task))

    def persist(self, task: Task) -> Parts:
        """What a task makes of the features, where they are."""
        return self.parts.persist(self._mapped(task))

    def fix_order(self) -> MappedParts:
        """The same rows in an order that can be counted on."""
        return MappedParts(self.parts.fix_order(), self._features, self._schema)

    def labels_only(self) -> Parts:
        """The rows without features."""
        return self.parts.labels_only()

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sums of the scores of all rows in rising order."""
        return self.parts.rank(self._mapped(task), summarise)

    def preview(self) -> Preview | None:
        """Some of the rows."""
        found = self.parts.preview()
        return None if found is None else found._replace(X=self._features.encode(found.X))

    def release(self) -> None:
        """Give back what the workers hold."""
        self.parts.release()


def map_rows(rows: PartedRows, features: RowMap, n_jobs: int | None = 1) -> PartedRows:
    """The same rows with the features that a map makes of theirs; memory is read in blocks, as files are."""
    schema, parts = Schema(features.n_features), rows.parts
    if parts.kind == "cluster":
        return replace(rows, parts=MappedParts(parts, features, rows.schema), schema=schema)
    if isinstance(parts, SourceParts):
        mapped = parts.over(MappedSource(parts.source, features, n_jobs), observe=parts.observe)
    else:
        [block] = parts.items  # type: ignore[attr-defined]
        mapped = SourceParts(MappedSource(BlockSource(block), features, n_jobs))
    return replace(rows, parts=mapped, schema=schema, classes=(0, 1))
