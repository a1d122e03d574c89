"""The data sets of the paper's Table I: by name, where they are on this machine, and as rows and labels."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.errors import DataWarning
from mbauc.paper.datasets.catalogue import ENTRIES
from mbauc.paper.datasets.entry import Entry, File
from mbauc.paper.datasets.files import Folder, locate, open_content
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.warn import warn

#: Sets with at most this many columns are loaded as dense arrays.
DENSE_COLUMNS = 1_000
#: How far a ratio may be from the printed one: Table I rounds some figures and cuts others off.
RATIO_TOLERANCE = 0.01

LabelArray = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class DataSet:
    """A data set in memory.

    Attributes
    ----------
    name : str
        Name in the registry.
    X, X_test : ndarray or CSR array
        Training and test rows, float64; dense up to 1,000 columns.
    y, y_test : ndarray of int8
        1 for positive rows, 0 for negative ones.
    """

    name: str
    X: Any
    y: LabelArray
    X_test: Any
    y_test: LabelArray


def _simplify(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_BY_NAME = {_simplify(name): entry for entry in ENTRIES for name in (entry.name, *entry.aliases)}


def names(group: str | None = None) -> tuple[str, ...]:
    """Names of the registered data sets in the order of the paper, optionally of one group only.

    Examples
    --------
    >>> from mbauc.paper.datasets import names
    >>> names("clicks")
    ('avazu app', 'avazu site', 'criteo')
    >>> len(names("benchmark")), len(names())
    (15, 19)
    """
    groups = dict.fromkeys(entry.group for entry in ENTRIES)
    if group is not None and group not in groups:
        raise ValueError(f"group must be None or one of {', '.join(map(repr, groups))}, got {group!r}.")
    return tuple(entry.name for entry in ENTRIES if group in (None, entry.group))


def find(name: str) -> Entry:
    """Registry entry of a data set; case, spaces and punctuation of the name are ignored.

    Examples
    --------
    >>> from mbauc.paper.datasets import find
    >>> entry = find("Avazu-App")
    >>> entry.name, entry.rows, entry.split
    ('avazu app', (12642186, 1953951), 'provided')
    """
    entry = _BY_NAME.get(_simplify(name)) if isinstance(name, str) else None
    if entry is None:
        near = get_close_matches(_simplify(str(name)), _BY_NAME, 1)
        guess = f" Did you mean {_BY_NAME[near[0]].name!r}?" if near else ""
        raise ValueError(f"name must be one of {', '.join(names())}; got {name!r}.{guess}")
    return entry


def load(name: str, data_dir: Folder | None = None, random_state: Any = 0) -> DataSet:
    """Load a data set of the paper, split into training and test rows.

    The files are located by :func:`locate`; nothing is downloaded. Data sets without test rows are split into
    stratified halves. A :class:`~mbauc.errors.DataWarning` reports differences from the registry.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : path, optional
        Folder to search first.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the split into halves; not used for data sets with test rows.

    Returns
    -------
    DataSet
        Rows as float64, dense up to 1,000 columns and CSR above; labels 0 and 1.

    Examples
    --------
    >>> from mbauc.paper.datasets import load
    >>> a9a = load("a9a")                                             # doctest: +SKIP
    >>> a9a.X.shape, a9a.X_test.shape                                 # doctest: +SKIP
    ((32561, 123), (16281, 123))
    """
    entry = find(name)
    paths = locate(entry, data_dir)
    data = _load(entry, paths, random_state)
    unlike = differences(entry, _figures(data.y, data.y_test, data.X.shape[1]))
    if unlike:
        folder = next(iter(paths.values())).parent
        warn(
            f"{entry.name} in {folder} is not the set on record: {'; '.join(unlike)}. "
            f"'mbauc data check {entry.word}' compares its files with the official ones.",
            DataWarning,
        )
    return data


class Figures(NamedTuple):
    """What a data set measures: training and test rows, columns, positive training and test rows."""

    rows: int
    test_rows: int
    columns: int
    positives: int
    test_positives: int

    @property
    def ratio(self) -> float:
        """Negative training rows for each positive one."""
        return (self.rows - self.positives) / self.positives if self.positives else float("inf")


def measure(entry: Entry, data_dir: Folder | None = None) -> Figures:
    """What the files of a data set measure; of click logs only the labels are kept in memory."""
    paths = locate(entry, data_dir)
    if not entry.folded:
        data = _load(entry, paths, 0)
        return _figures(data.y, data.y_test, data.X.shape[1])
    y = _labels(entry, entry.train, paths)
    if entry.test:
        return _figures(y, _labels(entry, entry.test, paths), entry.columns)
    train, test = _split(entry, y, 0)
    return _figures(y[train], y[test], entry.columns)


def differences(entry: Entry, found: Figures) -> list[str]:
    """In what a data set is not the one on record; empty if it is."""
    expected: list[tuple[str, int, int | None]] = [
        ("training rows", found.rows, entry.rows[0]),
        ("test rows", found.test_rows, entry.rows[1]),
        ("columns", found.columns, entry.columns),
    ]
    if entry.test:
        expected.append(("positive training rows", found.positives, entry.positives))
    else:
        expected.append(("positive rows", found.positives + found.test_positives, entry.positives))
    unlike = [f"{n:,} {what} instead of {on:,}" for what, n, on in expected if on is not None and n != on]
    # where positives were never counted the printed ratio has to do
    printed = entry.printed.ratio if entry.printed is not None and entry.positives is None else found.ratio
    if abs(found.ratio - printed) > RATIO_TOLERANCE * printed:
        unlike.append(f"{found.ratio:.2f} negatives for each positive instead of {printed:.2f}")
    return unlike


def _figures(y: LabelArray, y_test: LabelArray, columns: int) -> Figures:
    return Figures(y.size, y_test.size, columns, int(y.sum()), int(y_test.sum()))


def _labels(entry: Entry, files: Sequence[File], paths: dict[str, Path]) -> LabelArray:
    from mbauc.readers.libsvm.source import LibsvmSource

    source = LibsvmSource(
        [paths[file.name] for file in files],
        n_features=entry.width,
        zero_based=entry.zero_based,
        positive=entry.positive,
    )
    return np.concatenate([block.y for block in source])


def _load(entry: Entry, paths: dict[str, Path], random_state: Any) -> DataSet:
    wanted = entry.rows[0] if entry.test else sum(entry.rows)
    X, y = _read_all(entry, entry.train, paths, wanted)
    if entry.test:
        return DataSet(entry.name, X, y, *_read_all(entry, entry.test, paths, entry.rows[1]))
    train, test = _split(entry, y, random_state)
    return DataSet(entry.name, X[train], y[train], X[test], y[test])


def _split(entry: Entry, y: LabelArray, random_state: Any) -> tuple[Any, Any]:
    """Training and test rows: slices or row numbers."""
    if entry.held_out:
        # a file that is too short must not leave the training set empty
        start = y.size - min(entry.held_out, y.size // 2)
        return slice(start), slice(start, None)
    from sklearn.model_selection import train_test_split

    if min(np.count_nonzero(y), np.count_nonzero(y == 0)) < 2:
        raise ValueError(
            f"{entry.name}: each half needs a row of both classes; the files have not got two of each."
        )
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    halves = train_test_split(np.arange(y.size), test_size=0.5, stratify=y, random_state=random_state)
    return halves[0], halves[1]


def _read_all(
    entry: Entry, files: Sequence[File], paths: dict[str, Path], wanted: int
) -> tuple[Any, LabelArray]:
    """The joined rows of some files, in the columns and in the form in which they are used."""
    parts: list[tuple[Any, LabelArray]] = []
    for file in files:
        # a copy of the first file may hold the rows of both
        if file.name in paths and sum(y.size for _, y in parts) < wanted:
            parts.append(_read(entry, file, paths[file.name]))
    X: Any = parts[0][0] if len(parts) == 1 else sp.vstack([X for X, _ in parts], format="csr")
    if entry.folded:
        from mbauc.readers.hashing import fold_columns

        X = fold_columns(X, entry.columns)
    elif entry.width is not None:
        if X[:, entry.columns :].count_nonzero():
            raise ValueError(
                f"{paths[files[0].name]}: columns after {entry.columns} were expected to be zero throughout."
            )
        X = X[:, : entry.columns]
    if is_sparse(X) and X.shape[1] <= DENSE_COLUMNS:
        X = X.toarray()
    return X, np.concatenate([y for _, y in parts])


def _read(entry: Entry, file: File, path: Path) -> tuple[Any, LabelArray]:
    X: Any
    if entry.format == "libsvm":
        from mbauc.readers.libsvm.in_memory import read_libsvm

        # raw labels: one file of a set may hold rows of one class only
        X, labels = read_libsvm(
            path, n_features=entry.width or entry.columns, zero_based=entry.zero_based, labels="raw"
        )
    else:
        with open_content(path, file) as stream:
            X, labels = (_one_hot_csv if entry.format == "csv" else _arff)(stream)
    return X, np.isin(labels, _positive_labels(entry, labels)).astype(np.int8)


def _positive_labels(entry: Entry, labels: NDArray[Any]) -> NDArray[Any]:
    if isinstance(entry.positive, int):
        return np.unique(labels)[: entry.positive]
    return np.array(entry.positive)


def _one_hot_csv(stream: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A table with a header, the label in its last column: numbers as they are, then a column a category."""
    lines = csv.reader(io.TextIOWrapper(stream, encoding="utf-8", newline=""), delimiter=";")
    next(lines)
    *columns, labels = (np.array(column) for column in zip(*lines, strict=True))
    numbers, categories = [], []
    for column in columns:
        try:
            numbers.append(column.astype(np.float64)[:, None])
        except ValueError:
            categories.append((column[:, None] == np.unique(column)).astype(np.float64))
    return np.hstack(numbers + categories), labels


def _arff(stream: Any) -> tuple[Any, NDArray[Any]]:
    """The rows after ``@data``, the label at their end.

    The names of the columns are passed over: in Amazon's file some occur twice and some hold odd characters.
    """
    for line in stream:
        if line.strip().lower() == b"@data":
            break
    rows, labels = [], []
    for line in stream:
        if line.strip():
            *values, label = line.decode("utf-8").strip().split(",")
            rows.append(sp.csr_array(np.array(values, dtype=np.float64)[None]))
            labels.append(label.strip())
    return sp.vstack(rows, format="csr"), np.array(labels)
