"""Tables that have scores of a model already, whatever it was: labels, scores and other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice
from mbauc.defaults import BLOCK_ROWS
from mbauc.errors import Advice
from mbauc.readers.table.faults import Report, SkippedRows
from mbauc.readers.table.files import Paths, open_tables
from mbauc.readers.table.inspection import read_column
from mbauc.readers.table.labels import TableLabels
from mbauc.readers.table.learning import find_labels
from mbauc.readers.table.reading import NumberColumn, TableReader


class ScoredTable:
    r"""Labels and scores of CSV, TSV or Parquet files, in memory: 9 bytes a row, 8 more for each other number.

    Parameters
    ----------
    paths, label, positive, weight, delimiter, names, on_error
        As for :class:`~mbauc.readers.TableSource`.
    score, probability : str
        Columns of numbers. A row without one is an error, or left out.
    also : mapping from arguments to names, optional
        Columns that will be asked for, so that one that is missing is said at once.

    Attributes
    ----------
    y : ndarray of shape (n,)
        1 for positive rows, 0 for negative ones.
    s, probability, weight : ndarray of shape (n,) or None
        Scores, and what else there is.
    classes : tuple
        The negative and the positive label.
    skipped : SkippedRows
        What was left out of the latest pass.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text("churn,p,plan\nno,0.1,a\nyes,0.7,b\nno,0.4,a\n")
    >>> table = ScoredTable(path, label="churn", score="p")
    >>> table.classes, table.y.tolist(), table.s.tolist(), table.column("plan").tolist()
    (('no', 'yes'), [0, 1, 0], [0.1, 0.7, 0.4], ['a', 'b', 'a'])
    """

    def __init__(
        self,
        paths: Paths,
        *,
        label: str,
        score: str,
        probability: str | None = None,
        weight: str | None = None,
        positive: Any = None,
        delimiter: str | None = None,
        names: Sequence[str] | str | None = None,
        on_error: str = "stop",
        also: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        check_choice("on_error", on_error, ("stop", "skip"))
        self.on_error, self.skipped = on_error, SkippedRows()
        tables, _ = open_tables(paths, delimiter, names)
        numbers = [NumberColumn("score", score)]
        if probability is not None:
            numbers.append(NumberColumn("probability", probability, 0.0, 1.0))
        labels = TableLabels(label, positive)
        reader = TableReader(tables, (), labels, weight, BLOCK_ROWS, scores=tuple(numbers))
        reader.check_columns(also)
        find_labels(reader)
        # from now on labels are known, and no pass learns more
        known = TableLabels(label, labels.positive or None, None if labels.positive else labels.classes)
        self._reader = TableReader(tables, (), known, weight, BLOCK_ROWS, scores=tuple(numbers))
        parts = [(rows.y, rows.weight, *rows.scores) for rows in self._reader.read(self._report())]
        if not parts:
            raise ValueError(f"{reader.where}: " + self.skipped.tell_empty())
        known.check(reader.where)
        y, weights, s, *rest = zip(*parts, strict=True)
        self.y: NDArray[np.int8] = np.concatenate(y)
        self.s: NDArray[np.float64] = np.concatenate(s)
        self.weight: NDArray[np.float64] | None = None if weight is None else np.concatenate(weights)
        if self.weight is not None and not self.weight.any():
            what = f"{reader.where}: the column of " + Advice.of_argument("weight", weight)
            raise ValueError(what + " is zero for all rows; at least one must be positive.")
        self.probability: NDArray[np.float64] | None = np.concatenate(rest[0]) if rest else None
        self.classes: tuple[Any, Any] = known.classes

    def column(self, name: str, argument: str | None = None) -> NDArray[Any]:
        """Another column of the same rows, as :meth:`.source.TableSource.column` has it; one pass."""
        return read_column(self._reader, name, self._report(), argument)

    def fingerprint(self) -> dict[str, object]:
        """The files, as :func:`~mbauc.rows.source.fingerprint_of` has them."""
        return {"files": [table.stamp() for table in self._reader.tables]}

    def _report(self) -> Report:
        self.skipped = SkippedRows()
        return self.skipped.report(self.on_error)
