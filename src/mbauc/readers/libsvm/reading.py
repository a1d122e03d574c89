"""The rows of one or several LIBSVM files in order, part by part; says which file and line is at fault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.libsvm.labels import LibsvmLabels
from mbauc.readers.libsvm.lines import DamagedArchiveError, LongLineError, Stamp, Text, read_lines, stamp_of
from mbauc.readers.libsvm.parsing import (
    CORRECT,
    REMEMBERED,
    LineFault,
    ParsedRows,
    describe_fault,
    parse_text,
)
from mbauc.readers.libsvm.rules import Rules
from mbauc.runtime.progress import Advance, silent

#: Bytes of text read at a time for each row of a block.
_ROW = 512
#: Bytes of text read at a time, at least.
_TEXT = 1 << 20
#: Bytes looked at to estimate how many rows a file has.
_FIRST_BYTES = 1 << 18


@dataclass(frozen=True)
class Skipped:
    """How many lines were skipped, and what was wrong with the first five."""

    count: int = 0
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.count:
            return "no lines were left out"
        lines = "1 line was" if self.count == 1 else f"{self.count:,} lines were"
        return f"{lines} left out. The first: " + self.examples[0]


Path = str | os.PathLike[str]
#: Paths, and what each file is expected to be.
Files = tuple[tuple[str, Stamp], ...]


def stamp_files(paths: Any) -> Files:
    """One path or several, with the stamps of the files as they are now."""
    try:
        listed = [paths] if isinstance(paths, str | bytes | os.PathLike) else list(paths)
        names = tuple(os.fsdecode(path) for path in listed)
    except TypeError:
        raise ValueError(f"paths must be a path or several, got {paths!r}.") from None
    if not names:
        raise ValueError("paths is empty; name at least one file.")
    return tuple((name, stamp_of(name)) for name in names)


def count_bytes(files: Files) -> int:
    """Bytes of all files, compressed or not."""
    return sum(size for _, (size, _) in files)


def estimate_rows(files: Files) -> int | None:
    """About how many rows there are, by the first lines; None for archives."""
    with open(files[0][0], "rb") as stream:
        start = stream.read(_FIRST_BYTES)
    lines = start.count(b"\n")
    # archives are hardly ever text
    return int(count_bytes(files) * lines / len(start)) if lines and start.isascii() else None


class Reading:
    """One pass over files: iterate for the rows, part by part.

    Parameters
    ----------
    files : tuple of (str, Stamp)
        Paths of the files, in order, and what each is expected to be.
    rules : Rules
        What lines have to keep to.
    labels : LibsvmLabels or None
        Takes note of the labels, and knows when there is one too many; None to let all pass.
    block_rows : int or None
        Rows of a part, at most; None for parts as large as they come.
    n_threads : int
        Threads that parse.
    advance : callable
        Called with the number of bytes of the files that were read.

    Attributes
    ----------
    n_rows, queries, lowest, highest : int
        Rows so far, how many have a query number that is not read, and the range of their columns.
    skipped : Skipped
        Lines passed over so far.
    """

    def __init__(
        self,
        files: Files,
        rules: Rules,
        labels: LibsvmLabels | None,
        block_rows: int | None,
        n_threads: int,
        advance: Advance = silent,
    ) -> None:
        self._files, self._rules, self._labels = files, rules, labels
        self._block_rows, self._n_threads, self._advance = block_rows, n_threads, advance
        self.n_rows, self.queries = 0, 0
        self.lowest, self.highest = 2**40, -2
        self.skipped = Skipped()

    def __iter__(self) -> Iterator[ParsedRows]:
        if self._labels is not None:
            self._labels.seen.clear()
        for path, stamp in self._files:
            before = self.n_rows
            yield from self._file(path, stamp)
            if self.n_rows == before and not self._rules.skip:
                raise ValueError(f"{path} has no rows. Check that it was written to its end, or leave it out.")
        if self.n_rows == 0:
            names = ", ".join(path for path, _ in self._files[:3])
            raise ValueError(f"no rows in {names}; " + str(self.skipped) + ".")

    def completed_rules(self) -> Rules | None:
        """The rules with what the pass has found; None if it has to be repeated with ``zero_based=True``."""
        return self._rules.completed(self.lowest, self.highest)

    def number_rows(self) -> NDArray[np.int64]:
        """Which rows the latest part has, counted from 0 over all files.

        Lines that were passed over count, blank lines and comments do not. To be asked before the next part.
        """
        first, text, rows = self._latest
        numbers = first + np.arange(rows.labels.size)
        if rows.n_faults:
            numbers += np.searchsorted(_find_faulty(text, rows), rows.places)
        return numbers

    def _file(self, path: str, stamp: Stamp) -> Iterator[ParsedRows]:
        lines, first_row = 0, self.n_rows
        size = None if self._block_rows is None else max(_TEXT, _ROW * self._block_rows)
        try:
            for text, taken in read_lines(path, size, stamp):
                for part in self._parts(text):
                    rows = parse_text(part, self._rules, self._n_threads)
                    self._check(path, part, rows, lines, self.n_rows - first_row)
                    lines += rows.lines
                    self.n_rows += rows.labels.size
                    self.lowest, self.highest = min(self.lowest, rows.lowest), max(self.highest, rows.highest)
                    if rows.labels.size > 0:
                        yield rows
                self._advance(taken)
        except DamagedArchiveError as error:
            raise ValueError(
                f"{error} {self.n_rows - first_row:,} rows read before it. Fetch or pack the file again."
            ) from error
        except LongLineError as error:
            raise ValueError(
                f"{path}, line {lines + 1:,}: {error} {self.n_rows - first_row:,} rows read before it. A line "
                "has one row; check that the file has line ends."
            ) from error

    def _parts(self, text: Text) -> Iterator[Text]:
        if self._block_rows is None:
            yield text
            return
        from mbauc.readers.libsvm import kernels

        while text.size > 0:
            stop = kernels.after_lines(text, self._block_rows)
            yield text[:stop]
            text = text[stop:]

    def _check(self, path: str, text: Text, parsed: ParsedRows, lines: int, before: int) -> None:
        """Raise, or take note, if lines are at fault; ``lines`` and ``before`` count lines and rows so far."""
        from mbauc.readers.libsvm import kernels

        if parsed.faults and not self._rules.skip:
            raise ValueError(self._message(path, parsed.faults[0], lines, before))
        self._latest = self.n_rows + self.skipped.count, text, parsed
        if parsed.n_faults:
            known = self.skipped.examples
            more = [
                self._message(path, fault, lines, before) for fault in parsed.faults[: REMEMBERED - len(known)]
            ]
            self.skipped = Skipped(self.skipped.count + parsed.n_faults, (*known, *more))
        self.queries += 0 if self._rules.grouped else parsed.queries
        strange = None if self._labels is None else self._labels.see(parsed.labels)
        if strange is not None and self._labels is not None:
            place = int(parsed.places[strange])
            line = lines + kernels.count(text[:place])[0] + 1
            raise ValueError(
                f"{path}, line {line:,}: "
                + self._labels.too_many(float(parsed.labels[strange]))
                + f" {before + strange:,} rows read before it."
            )

    def _message(self, path: str, fault: LineFault, lines: int, before: int) -> str:
        from mbauc.readers.libsvm import kernels

        what, advice = describe_fault(fault, self._rules)
        said = f"{path}, line {lines + fault.line + 1:,}: {what}. {before + fault.row:,} rows read before it."
        if self._rules.skip:
            return said
        said = f"{said} " + (advice or CORRECT)
        if not self._rules.any_label or fault.kind != kernels.BAD_LABEL:
            return said
        return said + " Rows to score need a label, too: any number will do, such as 0."


def _find_faulty(text: Text, parsed: ParsedRows) -> NDArray[np.int64]:
    """Where the lines start that are neither rows nor blank nor comments."""
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    others = np.flatnonzero(~np.isin(starts, parsed.places))
    return np.array(
        [starts[k] for k in others.tolist() if text[starts[k] : ends[k]].tobytes().partition(b"#")[0].strip()],
        dtype=np.int64,
    )
