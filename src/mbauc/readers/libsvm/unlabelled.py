"""LIBSVM rows to score: whatever their labels, and without columns that no weight is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.defaults import BLOCK_ROWS
from mbauc.errors import Advice
from mbauc.readers.libsvm.labels import LibsvmLabels
from mbauc.readers.libsvm.parsing import build_matrix
from mbauc.readers.libsvm.paths import find_libsvm
from mbauc.readers.libsvm.reading import Reading, Skipped, estimate_rows, stamp_files
from mbauc.readers.libsvm.rules import LARGEST, Rules
from mbauc.rows.parts.mapped import RowMap, score_mapped
from mbauc.rows.scores import scores
from mbauc.rows.source import NumberedRows, NumberedScores
from mbauc.runtime.threads import thread_count


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
    block_rows, on_error, n_jobs
        As of :class:`~mbauc.readers.LibsvmSource`.
    """

    def __init__(
        self,
        paths: Any,
        n_features: int,
        zero_based: bool,
        classes: Sequence[Any],
        *,
        block_rows: int = BLOCK_ROWS,
        on_error: str = "stop",
        n_jobs: int | None = None,
    ) -> None:
        check_whole("block_rows", block_rows)
        check_choice("on_error", on_error, ("stop", "skip"))
        words = all(isinstance(label, str) for label in classes)
        labels = LibsvmLabels(tuple(classes), None) if words else LibsvmLabels(None, None)
        self._rules = Rules(zero_based, LARGEST, labels.known, labels.words, on_error == "skip", any_label=True)
        self._files, self._block_rows = stamp_files(find_libsvm(paths)), block_rows
        self._n_threads = thread_count(n_jobs)
        self.n_features, self.skipped = n_features, Skipped()

    @property
    def about_rows(self) -> int | None:
        """About how many rows there are."""
        return estimate_rows(self._files)

    def score_rows(
        self, coef: NDArray[np.float64], keep: Sequence[str] = (), features: RowMap | None = None
    ) -> Iterator[NumberedScores]:
        """Numbers and scores x'w of the rows, block by block; there are no columns to ``keep``.

        Weights are for the columns, or for the ``features`` that a map makes of them.
        """
        return (
            NumberedScores(numbers, self._score(X, coef, features)) for numbers, X, _ in self.number_rows(keep)
        )

    def _score(self, X: Any, coef: NDArray[np.float64], features: RowMap | None) -> NDArray[np.float64]:
        if features is not None:
            return score_mapped(X, features, coef, None)
        return np.asarray(scores(X, coef[None, :])[0])

    def number_rows(self, keep: Sequence[str] = ()) -> Iterator[NumberedRows]:
        """Numbers of the rows, and the rows; there are no columns to ``keep``."""
        if keep:
            raise ValueError("LIBSVM text has no columns to keep; " + Advice("leave out {keep}."))
        return self._number_rows()

    def _number_rows(self) -> Iterator[NumberedRows]:
        reading = Reading(self._files, self._rules, None, self._block_rows, self._n_threads)
        for rows in reading:
            self.skipped = reading.skipped
            X = build_matrix([rows], self.n_features, ignore_others=True)
            yield NumberedRows(reading.number_rows(), X)
        self.skipped = reading.skipped
