"""Tables in CSV, TSV and Parquet files as blocks of numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.column_values import WrongTypeError, distinct_numbers, flat, numbers, of_one_type
from mbauc.readers.table.columns import no_such_column, plan_columns
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.faults import Fault, SkippedRows, settled, stop
from mbauc.readers.table.feature_scores import feature_scores
from mbauc.readers.table.features import Features, read_features
from mbauc.readers.table.files import Paths
from mbauc.readers.table.first_look import LOOK_ROWS, first_rows, learned_plan, left_out, widths
from mbauc.readers.table.labels import TableLabels
from mbauc.readers.table.learning import EncodingLearner, EncodingSettings
from mbauc.readers.table.opening import open_tables
from mbauc.readers.table.parquet_table import ParquetTable
from mbauc.readers.table.pieces import Piece, Report, in_blocks
from mbauc.rows.source import RawBlock
from mbauc.runtime.ahead import one_ahead
from mbauc.runtime.progress import progress


class _Rows(NamedTuple):
    """Rows of a block that can be used, not yet encoded."""

    features: Features
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    table: Any


class TableSource:
    r"""Blocks of rows from CSV, TSV or Parquet files, as numbers.

    What a column is is decided on the first 50,000 rows, and ``print(source.plan.describe())`` says what
    and why; ``types``, ``ignore`` and ``id`` say otherwise. What has to be learned (one-hot categories, means,
    scales) is learned in one pass when the source is made; with ``encode="hash"``, ``scale=None`` and
    ``missing="category"`` there is nothing to learn and that pass is saved. Then blocks stream, as often as
    wanted, in the memory of a few of them.

    ``O(bytes)`` time a pass.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders, patterns (``"logs/*.csv.gz"``), or files in zip archives (``"bank.zip/bank-full.csv"``).
        CSV and TSV may be compressed with gzip, bzip2 or xz. All files have the columns of the first one; what
        others have besides is left out. Names of folders such as ``day=2014-10-21`` are columns as well, if
        they differ.
    label : str
        Name of the label column.
    positive : label or collection of labels, optional
        The positive ones; all others are negative. Without it there must be two, the larger of which is
        positive (1 of 0/1, "yes" of "no"/"yes"). NA, NaN, null, ? and the like are missing labels, unless
        they are named here.
    classes : (negative, positive), optional
        Known from other data: then rows of one class alone are fine, and without ``positive`` a third label is
        an error.
    weight : str, optional
        Name of a column with row weights.
    types : mapping from names to kinds, optional
        ``"numeric"``, ``"category"``, ``"time"`` (becomes hour and weekday), or ``"group"``, ``"id"``,
        ``"ignore"``, which are left out.
    ignore, id : sequence of str
        Columns to leave out.
    encode : {"hash", "onehot"}
        How categories become columns; see :class:`~mbauc.readers.TableEncoding`. A table without categories
        has nothing to hash and is encoded as by ``"onehot"``.
    hash_dim : int
        Number of hashed columns, 2 or more. Exact moments of d columns take ``8 d²`` bytes: 10,000
        columns, as in the paper and by default, take 0.8 GB.
    signed : bool
        Whether hashed features have a sign.
    missing : {"category", "mean"}
        ``"category"``: a missing number is 0 (after scaling), and an indicator of its own is 1.
        ``"mean"``: it is the column's mean, without an indicator. A missing category is a category either way.
    scale : {None, "max-abs", "standard"}
        How numeric columns are scaled; indicators are not. ``"standard"`` subtracts the mean as well.
    max_categories : int
        One-hot columns that a category may have; its rarer values share one, ``(other)``.
    block_rows : int
        Rows in a block, at most. Moments of other blocks differ by rounding, matrix-free weights by what the
        solver's ``tol`` leaves open.
    delimiter : str, optional
        What separates fields; told from the first lines by default.
    names : sequence of str or "auto", optional
        Names of the columns of files without a header line; ``"auto"`` calls them c1, c2, ….
    on_error : {"stop", "skip"}
        Whether a row that cannot be used (wrong number of fields, no label, no number where one should
        be) is an error, or left out and counted in ``skipped``.
    encoding : TableEncoding, optional
        An encoding learned earlier; then ``encode`` to ``max_categories`` have no say.
    verbose : bool
        Show a progress bar on a terminal while learning.

    Attributes
    ----------
    n_features : int
        Number of columns of every block.
    classes : tuple
        The negative and the positive label; several on one side are a tuple of labels.
    plan : ColumnPlan
        What each column is, and why.
    names : list of str or None
        Names of the columns of files without a header line, as given or counted.
    encoding : TableEncoding
        How columns become numbers; use it on other tables.
    skipped : SkippedRows
        What was left out of the latest pass.
    about_rows : int
        About how many rows there are.
    n_rows : int or None
        Number of rows in the files, where they say so themselves (Parquet); None if one does not. With
        ``on_error="skip"`` the blocks may have fewer.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc import PairMoments
    >>> from mbauc.readers import TableSource
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
    >>> _ = path.write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,0.7\n0,c,1.0\n1,b,\n")
    >>> source = TableSource(path, label="click", encode="onehot")
    >>> print(source.plan.describe())
    column  seen as   why                           becomes         override
    click   label     you said so                   -               label=…
    site    category  texts                         3 columns       ignore=['site']
    bid     numeric   numbers with a decimal point  2 columns       types={'bid': 'category'}
    (decided on the first 5 rows)
    >>> source.feature_names
    ['site=a', 'site=b', 'site=c', 'bid', 'bid=(missing)']
    >>> PairMoments.from_blocks(source)
    PairMoments(5 features, 2 positives × 3 negatives = 6 pairs)
    """

    def __init__(
        self,
        paths: Paths,
        *,
        label: str,
        positive: Any = None,
        classes: tuple[Any, Any] | None = None,
        weight: str | None = None,
        types: Mapping[str, str] | None = None,
        ignore: Sequence[str] = (),
        id: Sequence[str] = (),
        encode: str = "hash",
        hash_dim: int = 10_000,
        signed: bool = False,
        missing: str = "category",
        scale: str | None = None,
        max_categories: int = 1_000,
        block_rows: int = 65_536,
        delimiter: str | None = None,
        names: Sequence[str] | str | None = None,
        on_error: str = "stop",
        encoding: TableEncoding | None = None,
        verbose: bool = False,
    ) -> None:
        check_whole("block_rows", block_rows)
        check_choice("on_error", on_error, ("stop", "skip"))
        settings = EncodingSettings(encode, hash_dim, signed, missing, scale, max_categories)
        settings.check()
        if encoding is not None and (types or ignore or id):
            raise ValueError("an encoding knows its columns; pass either it or types, ignore and id.")
        self.paths = paths
        self.label = label
        self.weight = weight
        self.block_rows = block_rows
        self.on_error = on_error
        self.skipped = SkippedRows()
        self._delimiter = delimiter
        self._tables, self.names = open_tables(paths, delimiter, names)
        self._labels = TableLabels(label, positive, classes)
        if encoding is None:
            others = (name for name, kind in (types or {}).items() if kind in ("group", "id", "ignore"))
            unread = {name for name in (*ignore, *id, *others) if isinstance(name, str)}
            first = first_rows(self._tables, unread, on_error, self._where)
            self.plan = plan_columns(
                first,
                label=label,
                weight=weight,
                types=types,
                ignore=ignore,
                id=id,
                left_out=left_out(self._tables),
                where=self._where,
            )
        else:
            used = {label, weight, *(column.name for column in encoding.columns)}
            unread = {name for name in self._tables[0].column_names if name not in used}
            first = first_rows(self._tables, unread, on_error, self._where)
            self.plan = learned_plan(first, encoding, label, weight, self._where)
        self._check_columns()
        learner = EncodingLearner(self.plan, settings)
        if encoding is None and learner.needs_rows:
            self._learn(learner, verbose)
        else:
            self._find_labels()
        self.encoding = learner.encoding() if encoding is None else encoding
        self._finish()

    def _finish(self) -> None:
        self.classes: tuple[Any, Any] = self._labels.classes
        self._labels = TableLabels(self.label, self._labels.positive or None, self.classes)
        self.n_features: int = self.encoding.n_features
        self.plan = self.plan.with_widths(widths(self.plan, self.encoding))

    def __repr__(self) -> str:
        return f"TableSource({self._where}, label={self.label!r}, {self.n_features:,} features)"

    @property
    def n_rows(self) -> int | None:
        """Number of rows in the files, skipped ones included; None if a file is text."""
        count = 0
        for table in self._tables:
            if table.n_rows is None:
                return None
            count += table.n_rows
        return count

    @property
    def about_rows(self) -> int:
        """About how many rows there are; of text files by the first megabyte of each. ``O(files)`` time."""
        return sum(table.about_rows for table in self._tables)

    def fingerprint(self) -> dict[str, object]:
        r"""What the blocks depend on: the files as they were when the source was made, and the settings.

        See :func:`~mbauc.rows.source.fingerprint_of`. The encoding is told by its SHA-256. A file that has
        changed since is an error in the next pass. ``O(files + d)`` time.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,site\n0,a\n1,b\n")
        >>> told = TableSource(path, label="click", hash_dim=100).fingerprint()
        >>> told["files"][0]["bytes"], told["hash_dim"], told["classes"]
        (19, 100, [0, 1])
        """
        encoding = json.dumps(self.encoding.to_dict(), sort_keys=True).encode()
        return {
            "source": "TableSource",
            "version": 1,
            "files": [table.stamp() for table in self._tables],
            "label": self.label,
            "classes": [list(side) if isinstance(side, tuple) else side for side in self.classes],
            "positive": list(self._labels.positive),
            "weight": self.weight,
            "n_features": self.n_features,
            "hash_dim": self.encoding.hash_dim,
            "signed": self.encoding.signed,
            "encoding": hashlib.sha256(encoding).hexdigest(),
            "block_rows": int(self.block_rows),
            "on_error": self.on_error,
        }

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the blocks; see :class:`~mbauc.readers.TableEncoding`. A new list."""
        return self.encoding.feature_names

    # -- reading -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[RawBlock]:
        """The blocks from the first row on; rows keep their order, and no block spans two files."""
        for rows in self._rows():
            yield RawBlock(self.encoding.matrix(rows.features), rows.y, rows.weight)

    def scored(self, coef: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.int8], NDArray[np.float64], Any]]:
        """Labels, scores x'w and weights, block by block; faster than to make the matrices of the blocks."""
        for rows in self._rows():
            yield rows.y, feature_scores(self.encoding, rows.features, coef), rows.weight

    def on(self, paths: Paths) -> TableSource:
        r"""Other files read in the same way: the same encoding and the same classes. For test data.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "monday.csv").write_text("click,bid\n0,0.5\n1,2.0\n")
        >>> _ = (folder / "tuesday.csv").write_text("click,bid\n1,4.0\n")
        >>> monday = TableSource(folder / "monday.csv", label="click", scale="max-abs")
        >>> [block.X.tolist() for block in monday.on(folder / "tuesday.csv")]
        [[[2.0]]]
        """
        other: TableSource = object.__new__(type(self))
        vars(other).update(vars(self))
        other.paths = paths
        other.skipped = SkippedRows()
        other._tables, _ = open_tables(paths, self._delimiter, self.names)
        other._check_columns()
        return other

    def column(self, name: str) -> NDArray[Any]:
        r"""One column of the files, used or not, for the rows of the blocks: for splits by time or group.

        Numbers where all values are, times where Arrow knows them as such, texts otherwise. Texts stay texts
        where numbers would not be exact (16 digits and more, leading zeros), where two texts would become one
        number (1.1 and 1.10), and where one spells a missing number (NA). One pass and ``O(n)`` memory.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,bid,user\n0,0.5,ann\n1,2.0,bob\n")
        >>> TableSource(path, label="click", types={"user": "group"}).column("user")
        array(['ann', 'bob'], dtype=object)
        """
        for table in self._tables:
            if name not in table.column_names:
                raise ValueError(no_such_column(repr(name), name, table.column_names, str(table.file)))
        try:
            parts = [flat(rows.table[name]) for rows in self._rows([name])]
        except WrongTypeError as error:
            raise ValueError(
                f"{self._where}: expected numbers, times or texts in column {name!r}, got {error}."
            ) from None
        if not parts:
            raise ValueError(f"{self._where}: there are no rows.")
        arrow = pyarrow()
        values = arrow.concat_arrays(of_one_type(parts))
        if arrow.types.is_string(values.type):
            found = distinct_numbers(values)
            if found is not None:
                return found
        return np.asarray(values.to_numpy(zero_copy_only=False))

    def slot_contents(
        self, columns: Sequence[int], *, rows: int | None = None
    ) -> dict[int, list[tuple[str, str, int]]]:
        r"""Which values share hashed columns: for each column (name, value, rows), the most frequent first.

        Nothing is kept while hashing, so this is one more pass; memory for the values that are asked for.

        Parameters
        ----------
        columns : sequence of int
            Columns of the blocks, such as those with the largest weights.
        rows : int, optional
            Stop after the block with this row; by default all rows are looked at.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,site\n0,a\n1,b\n0,a\n1,c\n")
        >>> source = TableSource(path, label="click", hash_dim=2)
        >>> source.slot_contents([0, 1])
        {0: [('site', 'a', 2)], 1: [('site', 'b', 1), ('site', 'c', 1)]}
        """
        counts: dict[int, dict[tuple[str, str], int]] = {int(column): {} for column in columns}
        for column in counts:
            if not self.encoding.first_hashed <= column < self.n_features:
                raise ValueError(
                    f"columns must be hashed ones, from {self.encoding.first_hashed:,} to "
                    f"{self.n_features - 1:,}, got {column:,}; feature_names has the names of the others."
                )
        seen = 0
        for some in self._rows():
            for column, name, value, count in self.encoding.slot_contents(some.features, set(counts)):
                found = counts[column]
                found[name, value] = found.get((name, value), 0) + count
            seen += some.features.rows
            if rows is not None and seen >= rows:
                break
        return {
            column: [(name, value, count) for (name, value), count in sorted(found.items(), key=_most_frequent)]
            for column, found in counts.items()
        }

    @property
    def _where(self) -> str:
        first = str(self._tables[0].file)
        return first if len(self._tables) == 1 else f"{first} and {len(self._tables) - 1} more"

    def _pieces(
        self, columns: Sequence[str], report: Report, rows: int, coded: Collection[str] = ()
    ) -> Iterator[Piece]:
        for table in self._tables:
            pieces = table.pieces(columns, report, coded)
            # Parquet has nothing to report that somebody could see ahead of its rows
            ahead = one_ahead(pieces) if isinstance(table, ParquetTable) else pieces
            yield from in_blocks(ahead, rows)

    def _rows(self, more: Sequence[str] = ()) -> Iterator[_Rows]:
        """Blocks of rows that can be used; what cannot is reported."""
        skipped = self.skipped = SkippedRows()
        report: Report = stop if self.on_error == "stop" else skipped.note
        used = [self.label, *([self.weight] if self.weight else []), *(c.name for c in self.plan.features)]
        columns = list(dict.fromkeys([*used, *more]))
        coded = {column.name for column in self.plan.features if column.kind != "time"}
        for piece in self._pieces(columns, report, self.block_rows, coded):
            features, faults = read_features(piece.table, self.plan.features, piece.file)
            y, label_faults = self._labels.read(piece)
            weight, weight_faults = _weights(piece, self.weight)
            keep = settled(label_faults + weight_faults + faults, piece.place, report)
            table = piece.table
            if keep is not None:
                table = table.filter(pyarrow().array(keep))
                y, weight = y[keep], weight if weight is None else weight[keep]
            if table.num_rows:
                yield _Rows(features.kept(keep), y, weight, table)

    # -- learning ------------------------------------------------------------------------------------

    def _check_columns(self) -> None:
        """Raise if a file lacks a column that is used."""
        used = [("the label", self.label), *([("the weight", self.weight)] if self.weight else [])]
        used += [("the feature", column.name) for column in self.plan.features]
        for table in self._tables:
            present = set(table.column_names)
            for what, name in used:
                if name not in present:
                    raise ValueError(
                        no_such_column(f"{what} {name!r}", name, table.column_names, str(table.file))
                    )

    def _learn(self, learner: EncodingLearner, verbose: bool) -> None:
        with progress(None, "learning the columns", show=verbose) as advance:
            count = 0
            for rows in self._rows():
                learner.update(rows.features)
                count += rows.y.size
                advance(rows.y.size)
        self._check_found(count)

    def _find_labels(self) -> None:
        """Read labels until both classes have been seen."""
        count = 0
        for piece in self._pieces([self.label], SkippedRows().note, LOOK_ROWS):
            self._labels.look(piece)
            count += piece.table.num_rows
            if self._labels.complete and count >= LOOK_ROWS:
                return
        self._check_found(count)

    def _check_found(self, count: int) -> None:
        if not count:
            raise ValueError(f"{self._where}: there are no rows that can be used. {self.skipped}.")
        self._labels.check(self._where)


def _most_frequent(item: tuple[tuple[str, str], int]) -> tuple[int, str, str]:
    (name, value), count = item
    return -count, name, value


def _weights(piece: Piece, name: str | None) -> tuple[NDArray[np.float64] | None, list[Fault]]:
    if name is None:
        return None, []
    try:
        column = flat(piece.table[name])
        values, _ = numbers(column)
    except WrongTypeError as error:
        raise ValueError(
            f"{piece.file}: expected numbers in the weight column {name!r}, got {error}."
        ) from None
    bad = ~(np.isfinite(values) & (values >= 0))
    if not bad.any():
        return values, []
    message: Callable[[int], str] = lambda row: (  # noqa: E731
        f"expected a weight of at least 0 in column {name!r}, got {column[row].as_py()!r}."
    )
    return values, [Fault(bad, "no weight", message)]
