"""LIBSVM (svmlight) files of any size, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.defaults import BLOCK_ROWS
from mbauc.errors import Advice
from mbauc.readers.libsvm.labels import LibsvmLabels
from mbauc.readers.libsvm.parsing import build_matrix
from mbauc.readers.libsvm.paths import find_libsvm
from mbauc.readers.libsvm.queries import name_queries, warn_of_queries
from mbauc.readers.libsvm.reading import Path, Reading, Skipped, count_bytes, estimate_rows, stamp_files
from mbauc.readers.libsvm.rules import LARGEST, Rules, make_rules
from mbauc.readers.libsvm.unlabelled import UnlabelledLibsvm
from mbauc.rows.groups import mark_keys
from mbauc.rows.labels import has_label_sets
from mbauc.rows.source import GroupedBlock, RawBlock, file_stamps, pack_block
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count


class LibsvmSource:
    r"""Out-of-core source of rows from LIBSVM (svmlight) files, read again at each iteration.

    A line is a label followed by ``index:value`` pairs, separated by spaces or tabs. Blank lines, ``#``
    comments, CRLF line ends, rows with only a label and a missing final line end are allowed. Unsorted indices
    are sorted; duplicate indices in a row and values that are not finite numbers are errors. Query ids
    (``qid:``) are groups if ``group="qid"``, otherwise they are ignored with a warning. Files compressed with
    gzip, bzip2 or xz are decompressed on the fly.

    Time: ``O(bytes)``. Memory, however long the files are: a text of 512 bytes for each of ``block_rows``, at
    least 1 MiB (three such texts for compressed files), and two blocks, the current and the next one. That is
    about 130 MB at the default for rows of 39 entries, and at most 300 MB for any rows. Longer lines are held
    as a whole; the maximum length is 64 MiB. It is an error if a file changes after the source was created.

    Parameters
    ----------
    paths : path or sequence of paths
        One or several files, in order.
    n_features : int, optional
        Number of columns; a larger index is an error, unless ``extra="ignore"``.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0. "auto": if an index 0 occurs in any of the files.
    classes : sequence of two labels, optional
        Negative and positive label, two numbers or two strings; any other label is an error.
    positive : number or collection of numbers, optional
        The positive labels; all others are negative. With neither ``classes`` nor ``positive`` the files must
        have two labels, of which the larger is positive.
    block_rows : int, default=65536
        Maximum number of rows in a block. Blocks also end where the text buffer ends. Changing it affects
        moments only through rounding, and matrix-free weights within the solver's ``tol``.
    on_error : "stop" or "skip", default="stop"
        Whether an invalid line raises an error, or is skipped and counted. A third label is always an error,
        unless ``classes`` is given.
    extra : "error" or "ignore", default="error"
        Whether columns beyond ``n_features`` raise an error or are ignored, as when scoring with a model that
        has no weights for them. "ignore" requires ``n_features`` and ``zero_based``.
    group : "qid", optional
        Use query ids (``qid:`` after the label) as groups: only pairs within a query count. Every row must then
        have one.
    n_jobs : int, optional
        Number of threads; None for as many as BLAS may use, -1 for all cores. Does not affect the result.
    verbose : bool, default=False
        Show a progress bar on a terminal during the first pass.

    Attributes
    ----------
    n_features : int
        Number of columns.
    classes : tuple
        Negative and positive label; a class of several labels is a tuple.
    zero_based : bool
        Whether the first column has index 0.
    n_rows : int or None
        Number of rows; None if no initial pass was needed.
    about_rows : int or None
        Estimated number of rows, from the size of the files and of the first lines; None for archives.
    skipped : Skipped
        ``count`` and first ``examples`` of the lines skipped in the latest pass.

    Notes
    -----
    Unless ``n_features``, ``zero_based`` and ``classes`` are all given, the files are read once to determine
    them, and invalid lines are reported then.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.libsvm")
    >>> _ = path.write_text("+1 1:1 3:0.5\n-1 2:1  # seen twice\n-1\n")
    >>> source = LibsvmSource(path)
    >>> source.n_features, source.classes, source.n_rows
    (3, (-1, 1), 3)
    >>> for X, y, weight in source:
    ...     print(X.toarray(), y)
    [[1.  0.  0.5]
     [0.  1.  0. ]
     [0.  0.  0. ]] [1 0 0]
    """

    n_features: int
    classes: tuple[Any, Any]

    def __init__(
        self,
        paths: Path | Sequence[Path],
        *,
        n_features: int | None = None,
        zero_based: bool | Literal["auto"] = "auto",
        classes: Sequence[Any] | None = None,
        positive: Any = None,
        block_rows: int = BLOCK_ROWS,
        on_error: Literal["stop", "skip"] = "stop",
        extra: Literal["error", "ignore"] = "error",
        group: Literal["qid"] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self._files = stamp_files(paths)
        if group not in (None, "qid"):
            raise ValueError(f"group must be 'qid' or None: LIBSVM text has no other groups; got {group!r}.")
        check_whole("block_rows", block_rows)
        check_choice("extra", extra, ("error", "ignore"))
        self._block_rows = int(block_rows)
        self._n_threads = thread_count(n_jobs)
        self._labels = LibsvmLabels(classes, positive)
        rules = make_rules(n_features, zero_based, self._labels, on_error)._replace(grouped=group == "qid")
        self._ignore_others = extra == "ignore"
        if self._ignore_others:
            if n_features is None or rules.zero_based is None:
                raise ValueError(
                    "extra='ignore' needs n_features and zero_based, which say which columns are extra."
                )
            rules = rules._replace(n_features=LARGEST)
        self.n_rows: int | None = None
        self.skipped = Skipped()
        self._warned = False
        if n_features is None or rules.zero_based is None or not self._labels.is_given:
            rules = self._scan(rules, verbose)
        self._rules = rules
        self.zero_based = bool(rules.zero_based)
        self.n_features = int(n_features) if self._ignore_others and n_features else rules.n_features or 0
        self.classes = self._labels.classes()

    def _scan(self, rules: Rules, verbose: bool) -> Rules:
        """Read all rows for what is not given, and for their faults."""
        with progress(count_bytes(self._files), "first pass", unit="B", show=verbose) as advance:
            reading = Reading(self._files, rules, self._labels, self._block_rows, self._n_threads, advance)
            for _ in reading:
                pass
        complete = reading.completed_rules()
        if complete is None:
            return self._scan(rules._replace(zero_based=True), verbose)
        self.n_rows, self.skipped = reading.n_rows, reading.skipped
        self._note_queries(reading)
        return complete._replace(known=self._labels.two)

    @property
    def has_groups(self) -> bool:
        """Whether rows have groups (query ids)."""
        return self._rules.grouped

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        reading = Reading(self._files, self._rules, None, self._block_rows, self._n_threads)
        for rows in reading:
            self.skipped = reading.skipped
            self._note_queries(reading)
            X = build_matrix([rows], self.n_features, ignore_others=self._ignore_others)
            yield pack_block(X, self._labels.binary(rows.labels), None, mark_keys(rows.groups))
        self.skipped = reading.skipped

    def column(self, name: str, argument: str | None = None) -> NDArray[Any]:
        r"""Query ids of all rows, as strings; the only valid ``name`` is ``"qid"``.

        For another name, the error message refers to ``argument``. Two passes and ``O(n)`` memory.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "queries.libsvm")
        >>> _ = path.write_text("1 qid:7 1:1\n0 qid:7 2:1\n1 qid:12 1:1\n")
        >>> LibsvmSource(path, group="qid").column("qid")
        array(['7', '7', '12'], dtype=object)
        """
        if name != "qid":
            asked = repr(name) if argument is None else Advice("for {" + argument + "} ") + repr(name)
            raise ValueError("LIBSVM text has no column " + asked + "; query numbers are called 'qid'.")
        rules = self._rules._replace(grouped=True)
        reading = Reading(self._files, rules, None, self._block_rows, self._n_threads)
        keys = [rows.groups for rows in reading if rows.groups is not None]
        return name_queries((path for path, _ in self._files), np.concatenate(keys))

    def fingerprint(self) -> dict[str, object]:
        r"""Fingerprint of the files in their current state and of the settings.

        See :func:`~mbauc.rows.source.fingerprint_of`. ``O(files)`` time.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.libsvm")
        >>> _ = path.write_text("+1 1:1 3:0.5\n-1 2:1\n")
        >>> found = LibsvmSource(path).fingerprint()
        >>> found["files"][0]["bytes"], found["n_features"], found["positive"]
        (20, 3, [1.0])
        """
        rules = self._rules
        return {
            "source": "LibsvmSource",
            "version": 1,
            "files": file_stamps(path for path, _ in self._files),
            "n_features": self.n_features,
            "zero_based": self.zero_based,
            "known": rules.known.tolist(),
            "words": None if rules.words is None else rules.words.tolist(),
            "positive": self._labels.positive,
            "block_rows": self._block_rows,
            "on_error": "skip" if rules.skip else "stop",
            **({"extra": "ignore"} if self._ignore_others else {}),
            **({"group": "qid"} if rules.grouped else {}),
        }

    @property
    def layout(self) -> LibsvmLayout:
        """Layout of the files, as stored in a model."""
        return LibsvmLayout(self.n_features, self.zero_based, "qid" if self.has_groups else None)

    def _note_queries(self, reading: Reading) -> None:
        if reading.queries and not self._warned:
            self._warned = True
            warn_of_queries(Advice(" {group} makes groups of them.", group="qid"))

    @property
    def about_rows(self) -> int | None:
        """Estimated number of rows."""
        if self.n_rows is not None:
            return self.n_rows
        return estimate_rows(self._files)

    def __repr__(self) -> str:
        files = self._files[0][0] if len(self._files) == 1 else f"{len(self._files)} files"
        rows = "" if self.n_rows is None else f", {self.n_rows:,} rows"
        return f"LibsvmSource({files}{rows}, n_features={self.n_features}, classes={self.classes})"


@dataclass(frozen=True)
class LibsvmLayout:
    """Layout of LIBSVM text, whose columns are numbered, as stored in a model.

    Attributes
    ----------
    n_features : int
        Number of columns.
    zero_based : bool
        Whether the first column has index 0.
    group : "qid" or None
        Whether query ids are groups, so that only pairs within a query count.
    """

    n_features: int
    zero_based: bool
    group: Literal["qid"] | None = None

    def source(self, paths: Any, classes: Any, **options: Any) -> LibsvmSource:
        """Source of other files with the same columns; further columns are ignored."""
        several = has_label_sets(classes)  # some labels against all others
        return LibsvmSource(
            find_libsvm(paths),
            n_features=self.n_features,
            zero_based=self.zero_based,
            classes=None if several else tuple(classes),
            positive=classes[1] if several else None,
            extra="ignore",
            **{"group": self.group, **options},
        )

    def unlabelled(self, paths: Any, classes: Any, **options: Any) -> UnlabelledLibsvm:
        """Source of other files for scoring; labels may be any numbers."""
        return UnlabelledLibsvm(paths, self.n_features, self.zero_based, classes, **options)

    def feature_names(self) -> list[str]:
        """The column numbers, as in the files."""
        first = 0 if self.zero_based else 1
        return [str(column) for column in range(first, first + self.n_features)]

    def scales(self) -> tuple[NDArray[np.float64], bool]:
        """Divisors of the columns, and whether they are standard deviations: columns are not scaled."""
        return np.ones(self.n_features), False

    def to_dict(self) -> dict[str, Any]:
        """The layout as a dict for JSON."""
        about: dict[str, Any] = {"kind": "libsvm", "n_features": self.n_features, "zero_based": self.zero_based}
        return about if self.group is None else {**about, "group": self.group}
