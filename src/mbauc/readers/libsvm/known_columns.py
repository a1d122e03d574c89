"""LIBSVM rows whose columns a model knows; columns that it has not seen have no weight and are left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.readers.libsvm.files import Reading, Skipped
from mbauc.readers.libsvm.lines import Text
from mbauc.readers.libsvm.source import LibsvmSource, _matrix
from mbauc.readers.libsvm.text import Fault, Rows
from mbauc.rows.source import RawBlock

#: Columns that a file may have: more than that, and indices would not fit into 32 bits.
_MOST = 2**31 - 1
_ENDINGS = (".libsvm", ".svm", ".svmlight")
_COMPRESSED = (".gz", ".bz2", ".xz")


def is_libsvm_name(path: Path) -> bool:
    """Whether a file is LIBSVM text by its name."""
    name = path.name.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return name.endswith(_ENDINGS)


def libsvm_files(paths: Any) -> Any:
    """The same paths with the LIBSVM files of a folder, at any depth and sorted by name, in its place.

    Files and folders whose names begin with ``.`` or ``_`` are left out.

    Raises
    ------
    FileNotFoundError
        If a folder has none.
    """
    found: list[Any] = []
    for path in [paths] if isinstance(paths, str | bytes | os.PathLike) else paths:
        folder = Path(os.fsdecode(path))
        if not folder.is_dir():
            found.append(path)
            continue
        files = sorted(
            file
            for file in folder.rglob("*")
            if is_libsvm_name(file)
            and file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
        )
        if not files:
            raise FileNotFoundError(
                f"{folder} has no LIBSVM files ({', '.join(_ENDINGS)}, also compressed); name the files."
            )
        found += files
    return found


class KnownColumns:
    """The first columns of LIBSVM files.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, or folders of them.
    n_features : int
        Columns to keep.
    zero_based : bool
        Whether columns are counted from 0.
    classes : sequence of two labels
        Both labels, negative first.
    options
        Further options of :class:`~mbauc.readers.LibsvmSource`.
    """

    def __init__(self, paths: Any, n_features: int, zero_based: bool, classes: Any, **options: Any) -> None:
        self._source = LibsvmSource(
            libsvm_files(paths), n_features=_MOST, zero_based=zero_based, classes=classes, **options
        )
        self.n_features, self.classes = n_features, self._source.classes

    @property
    def about_rows(self) -> int | None:
        """About how many rows there are."""
        return self._source.about_rows

    @property
    def skipped(self) -> Skipped:
        """Lines that were passed over in the latest pass."""
        return self._source.skipped

    def fingerprint(self) -> dict[str, object]:
        """What the blocks depend on."""
        return {"source": "KnownColumns", "n_features": self.n_features, "of": self._source.fingerprint()}

    def __iter__(self) -> Iterator[RawBlock]:
        """The blocks without other columns."""
        for block in self._source:
            yield block._replace(X=block.X[:, : self.n_features])


class NumberedRows(NamedTuple):
    """Some rows to score.

    Attributes
    ----------
    X : csr_array
        Their columns.
    numbers : ndarray of int64
        Which rows they are, counted from 0 over all files: those that were left out count, blank lines and
        comments do not.
    """

    X: sp.csr_array
    numbers: NDArray[np.int64]


class UnlabelledLibsvm:
    """The first columns of LIBSVM files to score; where labels are numbers, any number will do.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, or folders of them.
    n_features : int
        Columns to keep.
    zero_based : bool
        Whether columns are counted from 0.
    classes : sequence of two labels
        Those of the model. Where they are words, rows must have one of them.
    options
        ``block_rows``, ``on_error`` and ``n_jobs`` of :class:`~mbauc.readers.LibsvmSource`.
    """

    def __init__(self, paths: Any, n_features: int, zero_based: bool, classes: Any, **options: Any) -> None:
        words = all(isinstance(label, str) for label in classes)
        self._source = LibsvmSource(
            libsvm_files(paths),
            n_features=_MOST,
            zero_based=zero_based,
            classes=tuple(classes) if words else (0, 1),
            **options,
        )
        rules = self._source._rules
        self._rules = rules if words else rules._replace(known=np.empty(0))
        self.n_features = n_features
        self.skipped = Skipped()

    @property
    def about_rows(self) -> int | None:
        """About how many rows there are."""
        return self._source.about_rows

    def __iter__(self) -> Iterator[NumberedRows]:
        """The blocks without other columns."""
        source = self._source
        reading = _NumberedReading(source._files, self._rules, None, source._block_rows, source._n_threads)
        for rows in reading:
            self.skipped = reading.skipped
            yield NumberedRows(_matrix([rows], _MOST)[:, : self.n_features], reading.numbers)
        self.skipped = reading.skipped


class _NumberedReading(Reading):
    """A pass that knows which of all rows, faulty ones included, it has just read (``numbers``)."""

    numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def _check(self, path: str, text: Text, rows: Rows, lines: int, before: int) -> None:
        first = self.n_rows + self.skipped.count
        super()._check(path, text, rows, lines, before)
        self.numbers = first + np.arange(rows.labels.size)
        if rows.n_faults:
            faulty = _faulty_lines(text, rows)
            self.numbers += np.searchsorted(faulty, rows.places)

    def _message(self, path: str, fault: Fault, lines: int, before: int) -> str:
        from mbauc.readers.libsvm import kernels

        said = super()._message(path, fault, lines, before)
        if self._rules.skip or fault.kind != kernels.BAD_LABEL:
            return said
        return f"{said} As the label of a row to score any number will do, such as 0."


def _faulty_lines(text: Text, rows: Rows) -> NDArray[np.int64]:
    """Where the lines start that are neither rows nor blank nor comments."""
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    others = np.flatnonzero(~np.isin(starts, rows.places))
    return np.array(
        [starts[k] for k in others.tolist() if text[starts[k] : ends[k]].tobytes().partition(b"#")[0].strip()],
        dtype=np.int64,
    )
