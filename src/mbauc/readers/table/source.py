"""Tables in CSV, TSV and Parquet files as blocks of numbers."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.defaults import BLOCK_ROWS, ENCODE, MAX_CATEGORIES, MISSING, SCALE, SIGNED
from mbauc.pairs.moments import PairMoments
from mbauc.readers.table.columns.code_guess import guess_code, guess_frame_code
from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.guess import guess
from mbauc.readers.table.columns.plan import Judge, plan_known_columns
from mbauc.readers.table.columns.planning import plan_tables
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.learner import EncodingSettings
from mbauc.readers.table.encoding.other_zones import OtherZones
from mbauc.readers.table.encoding.unseen_levels import UnseenLevels
from mbauc.readers.table.faults import Report, SkippedRows
from mbauc.readers.table.files import Paths, is_frame, open_tables
from mbauc.readers.table.first_features import FirstFeatures
from mbauc.readers.table.inspection import count_slot_contents, measure_deviations, read_column
from mbauc.readers.table.labels import TableLabels
from mbauc.readers.table.learning import find_labels, learn_encoding
from mbauc.readers.table.passed_columns import PassedColumns
from mbauc.readers.table.reading import TableReader, TableRows
from mbauc.rows.groups import mark_keys
from mbauc.rows.parts.mapped import RowMap, score_mapped
from mbauc.rows.source import (
    GroupedBlock,
    GroupedScores,
    NumberedRows,
    NumberedScores,
    RawBlock,
    ScoredBlock,
    pack_block,
    pack_scores,
)
from mbauc.runtime.ahead import map_ahead


@dataclass(frozen=True)
class TableLayout:
    """Layout of tables (CSV, TSV or Parquet): encoding and roles of the columns, as stored in a model.

    Attributes
    ----------
    encoding : TableEncoding
        The fitted encoding of the columns.
    label : str or None
        Column of the labels; None if there are none.
    positive : tuple
        Positive labels as given by the user; empty if the larger label is positive.
    weight : str or None
        Column of the weights.
    group : str or None
        Column of the groups, if only pairs within groups count.
    names : tuple of str or None
        Column names given for text files without a header line.
    delimiter : str or None
        Field delimiter given for text files; None if it is detected from the first lines.
    """

    encoding: TableEncoding
    label: str | None
    positive: tuple[Any, ...] = ()
    weight: str | None = None
    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    group: str | None = None

    @property
    def n_features(self) -> int:
        """Number of encoded columns."""
        return self.encoding.n_features

    def source(self, paths: Paths | Any, classes: Any, **options: Any) -> TableSource:
        """Source of other files, or of a table in memory, with the same columns."""
        return TableSource(
            paths,
            label=self.label,
            positive=list(self.positive) or None,
            classes=tuple(classes),
            weight=self.weight,
            encoding=self.encoding,
            names=self.names,
            delimiter=self.delimiter,
            **{"group": self.group, **options},
        )

    def unlabelled(self, paths: Paths, classes: Any = None, **options: Any) -> TableSource:
        """Source of other files with the same columns, for scoring; the label may be missing."""
        return TableSource(
            paths,
            label=None,
            encoding=self.encoding,
            names=self.names,
            delimiter=self.delimiter,
            **options,
        )

    def feature_names(self) -> list[str]:
        """Names of the columns."""
        return self.encoding.feature_names

    def scales(self) -> tuple[NDArray[np.float64], bool]:
        """Divisors of the columns, and whether they are standard deviations."""
        return self.encoding.scales, self.encoding.standardised

    def to_dict(self) -> dict[str, Any]:
        """The layout as a dict for JSON; ``names``, ``delimiter`` and ``group`` only if they were given."""
        description = {
            "kind": "table",
            "encoding": self.encoding.to_dict(),
            "label": self.label,
            "positive": list(self.positive),
            "weight": self.weight,
        }
        if self.names is not None:
            description["names"] = list(self.names)
        if self.delimiter is not None:
            description["delimiter"] = self.delimiter
        if self.group is not None:
            description["group"] = self.group
        return description


class TableSource:
    r"""Out-of-core source of encoded rows from CSV, TSV or Parquet files, or from a table in memory.

    Column types are inferred from the first 50,000 rows; ``print(source.plan.describe())`` lists them with the
    reasons, and ``types``, ``ignore`` and ``id`` override them. The encoding (one-hot levels, means, scales) is
    learned in one pass when the source is created. For numeric tables this pass also computes the moments, so
    that a linear fit need not read the rows again (:meth:`known_moments`). With ``encode="hash"``,
    ``scale=None`` and ``missing="category"`` there is nothing to learn and no such pass. Blocks can then be
    iterated repeatedly, in the memory of a few of them.

    ``O(bytes)`` time a pass.

    Parameters
    ----------
    paths : path, sequence of paths, or table
        A pandas or polars frame, an Arrow table or a dict of columns, including the label; or files, folders,
        glob patterns (``"logs/*.csv.gz"``), or files in zip archives (``"bank.zip/bank-full.csv"``). CSV and
        TSV may be compressed with gzip, bzip2 or xz. All files must have the columns of the first one; further
        columns are ignored. Partition folders such as ``day=2014-10-21`` are columns as well, if they differ.
    label : str or None
        Name of the label column; None for scoring only (:meth:`score_rows`), which requires ``encoding``.
    positive : label or collection of labels, optional
        Positive label or labels; all others are negative. By default there must be two labels, of which the
        larger is positive (1 of 0/1, "yes" of "no"/"yes"). NA, NaN, null, ? and the like are missing labels,
        unless they are named here.
    classes : (negative, positive), optional
        The labels, if known beforehand: then the data may have a single class, and without ``positive`` a third
        label is an error.
    weight : str, optional
        Name of the column of row weights.
    group : str, optional
        Name of a column of groups (queries, users, days): only pairs within a group count. Not used as a
        feature. Groups of the blocks are 64-bit hashes of the values; a number has the same hash in all files,
        whatever its type. A row without a group is an error.
    cluster : str, optional
        Name of a column of clusters of dependent rows, for holding out whole clusters. Not used as a feature.
    types : mapping from names to kinds, optional
        Column types that override the inferred ones: ``"numeric"``, ``"category"``, ``"text"`` (short free
        text: words with ``encode="codes"``, otherwise a category), ``"time"`` (becomes hour and weekday),
        ``"day-first"`` or ``"month-first"`` (a time as text that ends with the year), or ``"group"``, ``"id"``,
        ``"ignore"``, which are not features.
    ignore, id : sequence of str
        Columns not to use.
    encode : {"hash", "onehot", "codes"}, default="hash"
        Encoding of categories; see :class:`~mbauc.readers.TableEncoding`. ``"hash"`` (feature hashing) suits
        many levels, ``"onehot"`` few, ``"codes"`` additive models. Without categories, ``"hash"`` is the same
        as ``"onehot"``. ``"codes"`` keeps one column for each column, except for free text, which becomes a
        column per frequent word: numbers unchanged, categories as integer codes, NaN for missing values;
        ``signed``, ``missing`` and ``scale`` are then ignored, and integers that are few or round are numeric.
    hash_dim : int, optional
        Number of hashed columns, at least 2. More columns mean fewer collisions, but exact moments of d columns
        take ``8 d²`` bytes: 0.8 GB for the default of 10,000, as in the paper. With ``"codes"``, number of hash
        slots for each hashed column; by default about ten per distinct value, at most 2²⁴.
    signed : bool, default=False
        Whether hashed features have a random sign, so that collisions cancel on average.
    missing : {"category", "mean"}, default="category"
        ``"category"``: a missing number is 0 (after scaling), with an indicator column. ``"mean"``: it is
        imputed by the mean of the column, without an indicator. Missing categories are always a category of
        their own.
    scale : {"standard", "max-abs", None}, default="standard"
        Scaling of numeric columns, not of indicators. ``"standard"`` also subtracts the mean.
    max_categories : int, default=1000
        Maximum number of one-hot columns of a category; its rarer values share one, ``(other)``. With
        ``"codes"``, maximum number of levels; columns with more are hashed.
    block_rows : int, default=65536
        Maximum number of rows in a block. Changing it affects moments only through rounding, and matrix-free
        weights within the solver's ``tol``.
    delimiter : str, optional
        Field delimiter; by default detected from the first lines.
    names : sequence of str or "auto", optional
        Column names for files without a header line; ``"auto"`` names them c1, c2, ….
    on_error : {"stop", "skip"}, default="stop"
        Whether an invalid row (wrong number of fields, missing label, non-numeric value in a numeric column)
        raises an error, or is skipped and counted in ``skipped``.
    encoding : TableEncoding, optional
        A fitted encoding to use; the parameters from ``encode`` to ``max_categories`` are then ignored.
    verbose : bool, default=False
        Show a progress bar on a terminal while learning.

    Attributes
    ----------
    n_features : int
        Number of columns of every block.
    classes : tuple
        Negative and positive label; a class of several labels is a tuple.
    plan : ColumnPlan
        Type of each column, and how it was inferred.
    names : list of str or None
        Column names of files without a header line, as given or generated.
    encoding : TableEncoding
        The fitted encoding of the columns, which can be applied to other tables.
    layout : TableLayout
        Layout of the files, as stored in a model.
    skipped : SkippedRows
        The rows skipped in the latest pass.
    about_rows : int
        About how many rows there are.
    n_rows : int or None
        Number of rows from the metadata of the files (Parquet); None for other formats. With
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
    click   label     set by user                   -               label=…
    site    category  texts                         3 columns       ignore=['site']
    bid     numeric   numbers with a decimal point  2 columns       types={'bid': 'category'}
    (inferred from the first 5 rows)
    >>> source.feature_names
    ['site=a', 'site=b', 'site=c', 'bid', 'bid=(missing)']
    >>> PairMoments.from_blocks(source)
    PairMoments(5 features, 2 positives × 3 negatives = 6 pairs)
    """

    def __init__(
        self,
        paths: Paths | Any,
        *,
        label: str | None,
        positive: Any = None,
        classes: tuple[Any, Any] | None = None,
        weight: str | None = None,
        group: str | None = None,
        cluster: str | None = None,
        types: Mapping[str, str] | None = None,
        ignore: Sequence[str] = (),
        id: Sequence[str] = (),
        encode: Literal["hash", "onehot", "codes"] = ENCODE,
        hash_dim: int | None = None,
        signed: bool = SIGNED,
        missing: Literal["category", "mean"] = MISSING,
        scale: Literal["standard", "max-abs"] | None = SCALE,
        max_categories: int = MAX_CATEGORIES,
        block_rows: int = BLOCK_ROWS,
        delimiter: str | None = None,
        names: Sequence[str] | str | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        encoding: TableEncoding | None = None,
        verbose: bool = False,
    ) -> None:
        check_whole("block_rows", block_rows)
        check_choice("on_error", on_error, ("stop", "skip"))
        settings = EncodingSettings(encode, hash_dim, signed, missing, scale, max_categories)
        settings.check()
        if encoding is not None and (types or ignore or id or cluster is not None):
            raise ValueError(
                "encoding already defines the columns; leave out types, ignore, id and cluster, or encoding."
            )
        if label is None and encoding is None:
            raise ValueError(
                "label must name a column; rows without labels can only be scored, with an encoding."
            )
        self.paths = paths
        self.on_error = on_error
        self.skipped = SkippedRows()
        self._first = FirstFeatures()
        # other rows than those that the encoding was learned from; once is enough
        self._warns_of_unseen = encoding is not None
        tables, names = open_tables(paths, delimiter, names)
        labels = None if label is None else TableLabels(label, positive, classes)
        if labels is None:
            weight = group = None
        reader = TableReader(tables, (), labels, weight, block_rows, group, named=names is not None)
        if encoding is not None:
            first = tables[0].column_names
            said = {"label": label, "weight": weight, "group": group}
            plan = plan_known_columns(first, encoding.columns, said, reader.where)
        elif label is not None:
            plan = plan_tables(
                tables,
                label=label,
                weight=weight,
                group=group,
                cluster=cluster,
                types=types,
                ignore=ignore,
                id=id,
                on_error=on_error,
                judge=_choose_judge(paths, encode),
                where=reader.where,
            )
        self._reader = replace(reader, columns=plan.features)
        self._reader.check_columns()
        self._moments: PairMoments | None = None
        if encoding is None:
            encoding, self._moments = learn_encoding(
                self._reader,
                plan,
                settings,
                skipped=self.skipped,
                first=self._first,
                on_error=on_error,
                verbose=verbose,
            )
        else:
            find_labels(self._reader)
        if labels is not None:
            # from now on labels are known, and no pass learns more
            labels = TableLabels(labels.name, labels.positive or None, labels.classes)
            self._reader = replace(self._reader, labels=labels)
            self.classes: tuple[Any, Any] = labels.classes
        self.n_features: int = encoding.n_features
        self.plan = plan.with_widths(encoding.describe_widths())
        self.layout = TableLayout(
            encoding,
            label,
            tuple(labels.positive) if labels else (),
            weight,
            None if names is None else tuple(names),
            delimiter,
            group,
        )

    def __repr__(self) -> str:
        return f"TableSource({self._reader.where}, label={self.layout.label!r}, {self.n_features:,} features)"

    # -- what it is ----------------------------------------------------------------------------------

    @property
    def encoding(self) -> TableEncoding:
        """The fitted encoding of the columns."""
        return self.layout.encoding

    @property
    def names(self) -> list[str] | None:
        """Names of the columns of files without a header line."""
        return None if self.layout.names is None else list(self.layout.names)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the blocks; see :class:`~mbauc.readers.TableEncoding`. A new list."""
        return self.encoding.feature_names

    @property
    def has_groups(self) -> bool:
        """Whether rows have groups."""
        return self.layout.group is not None

    @property
    def n_rows(self) -> int | None:
        """Number of rows in the files, including skipped ones; None if a file is text."""
        count = 0
        for table in self._reader.tables:
            if table.n_rows is None:
                return None
            count += table.n_rows
        return count

    @property
    def about_rows(self) -> int:
        """Estimated number of rows, for text files from the first megabyte of each. ``O(files)`` time."""
        return sum(table.about_rows for table in self._reader.tables)

    def fingerprint(self) -> dict[str, object]:
        r"""Fingerprint of the files, as they were when the source was created, and of the settings.

        See :func:`~mbauc.rows.source.fingerprint_of`. The encoding is included by its SHA-256. A file that has
        changed since then is an error in the next pass. ``O(files + d)`` time.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,site\n0,a\n1,b\n")
        >>> found = TableSource(path, label="click", hash_dim=100).fingerprint()
        >>> found["files"][0]["bytes"], found["hash_dim"], found["classes"]
        (19, 100, [0, 1])
        """
        encoding = json.dumps(self.encoding.to_dict(), sort_keys=True).encode()
        group = {} if self.layout.group is None else {"group": self.layout.group}
        return {
            "source": "TableSource",
            "version": 1,
            "files": [table.stamp() for table in self._reader.tables],
            "label": self.layout.label,
            "classes": [list(side) if isinstance(side, tuple) else side for side in self.classes],
            "positive": list(self.layout.positive),
            "weight": self.layout.weight,
            "n_features": self.n_features,
            "hash_dim": self.encoding.hash_dim,
            "signed": self.encoding.signed,
            "encoding": hashlib.sha256(encoding).hexdigest(),
            "block_rows": int(self._reader.block_rows),
            "on_error": self.on_error,
            **group,
        }

    def on(self, paths: Paths | Any) -> TableSource:
        r"""Source of other files with the same encoding and classes, such as test data.

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
        tables, _ = open_tables(paths, self.layout.delimiter, self.layout.names)
        other = copy.copy(self)
        other.paths, other.skipped, other._first = paths, SkippedRows(), FirstFeatures()
        other._warns_of_unseen, other._moments = True, None
        other._reader = replace(self._reader, tables=tables)
        other._reader.check_columns()
        return other

    def known_moments(self) -> PairMoments | None:
        """Moments of all pairs, if they were computed while the encoding was learned; otherwise None.

        Available for numeric tables of up to 128 columns without missing values and groups, whose encoding was
        learned from them. The files are not read again; files that have changed since then are an error.
        """
        if self._moments is not None:
            for table in self._reader.tables:
                table.check_unchanged()
        return self._moments

    # -- reading -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        """The blocks from the first row on; rows keep their order, and no block spans two files."""
        rows, n_threads = self._labelled_rows(), self._reader.n_threads()
        with closing(map_ahead(self._encode_block, rows, n_threads)) as blocks:
            yield from blocks

    def _encode_block(self, labelled: tuple[TableRows, NDArray[np.int8]]) -> RawBlock | GroupedBlock:
        rows, y = labelled
        return pack_block(self.encoding.matrix(rows.features), y, rows.weight, mark_keys(rows.groups))

    def score_blocks(self, coef: NDArray[np.float64]) -> Iterator[ScoredBlock | GroupedScores]:
        """Labels, scores x'w, weights and groups block by block, faster than through matrices."""
        for rows, y in self._labelled_rows():
            scores = self.encoding.scores(rows.features, coef)
            yield pack_scores(y, scores, rows.weight, mark_keys(rows.groups))

    def score_rows(
        self, coef: NDArray[np.float64], keep: Sequence[str] = (), features: RowMap | None = None
    ) -> Iterator[NumberedScores]:
        """Row numbers, scores x'w and selected raw columns, block by block; labels are not needed.

        Parameters
        ----------
        coef : ndarray of shape (n_features,)
            Weights of the columns, or of ``features``.
        keep : sequence of str, default=()
            Raw columns to return. Without any rows, one empty block has their types.
        features : FeatureMap, optional
            Encoding of the columns as features, applied before the weights.
        """
        return (
            NumberedScores(numbers, self._score(rows, coef, features), columns)
            for numbers, rows, columns in self.number_rows(keep)
        )

    def _score(self, rows: Features, coef: NDArray[np.float64], features: RowMap | None) -> NDArray[np.float64]:
        if not rows.rows:  # a block without rows has no columns either
            return np.empty(0)
        if features is None:
            return self.encoding.scores(rows, coef)
        return score_mapped(self.encoding.matrix(rows), features, coef, None)

    def number_rows(self, keep: Sequence[str] = ()) -> Iterator[NumberedRows]:
        """Row numbers, columns before encoding, and the raw columns to ``keep``, block by block.

        Labels are not needed. Without any rows, one empty block has the types of the columns kept.
        """
        self._reader.check_columns({"keep": keep})
        return self._number_rows(PassedColumns.of(self._reader.tables, keep))

    def _number_rows(self, passed: PassedColumns) -> Iterator[NumberedRows]:
        none = True
        for rows in self._read(passed.names):
            yield NumberedRows(rows.numbers, rows.features, passed.select(rows.table))
            none = False
        if none:
            yield NumberedRows(np.empty(0, dtype=np.int64), Features(0, {}, {}), passed.nothing)

    def column(self, name: str, argument: str | None = None) -> NDArray[Any]:
        r"""Values of any column of the files for the rows of the blocks, such as for splits by time or group.

        Numbers if all values are numeric, times if Arrow recognises them, otherwise strings. Values stay
        strings if numbers would not be exact (16 digits or more, leading zeros), if two strings would become
        the same number (1.1 and 1.10), and if one denotes a missing number (NA). One pass and ``O(n)`` memory.
        If there is no such column, the error message refers to ``argument``.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,bid,user\n0,0.5,ann\n1,2.0,bob\n")
        >>> TableSource(path, label="click", types={"user": "group"}).column("user")
        array(['ann', 'bob'], dtype=object)
        """
        return read_column(self._reader, name, self._report(), argument)

    def column_deviations(self, coef: NDArray[np.float64]) -> dict[str, float]:
        r"""Importance of each column of the table: the standard deviation of its contribution to the scores.

        Indicators of a category are combined, hashed or not, and so are a number and its missing-value
        indicator. Row weights are used. One pass.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from mbauc.readers import TableSource
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
        >>> _ = path.write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,0.5\n1,b,1.5\n")
        >>> TableSource(path, label="click", encode="onehot").column_deviations(np.array([-1.0, 1.0, 0.5]))
        {'site': 1.0, 'bid': 0.5}
        """
        return measure_deviations(self.encoding, self._read(), coef)

    def slot_contents(
        self, columns: Sequence[int], *, rows: int | None = None
    ) -> dict[int, list[tuple[str, str, int]]]:
        r"""Values that share hashed columns: for each column (name, value, rows), most frequent first.

        Makes one more pass; the first 200,000 rows are available after any pass, if their text takes less than
        32 MB. Memory for the values of the requested columns.

        Parameters
        ----------
        columns : sequence of int
            Columns of the blocks, such as those with the largest weights.
        rows : int, optional
            Stop after the block that contains this row; by default all rows are read.

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
        known = self._first.get(rows)
        features = known if known is not None else (block.features for block in self._read())
        return count_slot_contents(self.encoding, features, columns, rows)

    def _read(self, more: Sequence[str] = ()) -> Iterator[TableRows]:
        blocks = self._reader.read(self._report(), more)
        return self._watch_levels(blocks) if self._warns_of_unseen else blocks

    def _watch_levels(self, blocks: Iterator[TableRows]) -> Iterator[TableRows]:
        """The same blocks; at their end columns of other zones, or without a known value, are warned of."""
        unseen, zones = UnseenLevels(self.encoding.known_levels()), OtherZones(self.encoding.columns)
        for rows in blocks:
            unseen.look(rows.features)
            zones.look(rows.table.schema)
            yield rows
        if self._warns_of_unseen:
            self._warns_of_unseen = False
            unseen.warn()
            zones.warn()

    def _labelled_rows(self) -> Generator[tuple[TableRows, NDArray[np.int8]], None, None]:
        for rows in self._first.watch(self._read()):
            if rows.y is None:
                raise ValueError("a source with label=None has no labels to iterate over; use score_rows.")
            yield rows, rows.y

    def _report(self) -> Report:
        """What to do, in a new pass, about rows that cannot be used."""
        self.skipped = SkippedRows()
        return self.skipped.report(self.on_error)


def _choose_judge(paths: Any, encode: str) -> Judge:
    """What decides what a column is: types of a frame say more than those of a file."""
    if encode != "codes":
        return guess
    return guess_frame_code if is_frame(paths) else guess_code
