"""LIBSVM text to arrays: cut at line ends, counted, and parsed by threads into places that the counts leave.

And what is said about a line that cannot be read.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.errors import Advice
from mbauc.readers.libsvm.labels import plain_label
from mbauc.readers.libsvm.lines import Text
from mbauc.readers.libsvm.rules import LARGEST, Rules
from mbauc.rows.groups import GROUP
from mbauc.rows.hashing.texts import name_state
from mbauc.runtime.threads import run_threads

#: Bytes parsed at a time by a thread: less is not worth waking one.
_PIECE = 1 << 20
#: Pieces from which on threads count them: it takes a tenth of the time of parsing.
_MANY = 64
#: Faults of which more than the number is kept.
REMEMBERED = 5
#: Characters of a token that are shown.
_SHOWN = 60
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_CORRECT = "Correct the line, or pass over such lines with {on_error}."
#: What to do about a line unless something else is said of it.
CORRECT = Advice(_CORRECT, on_error="skip")


class LineFault(NamedTuple):
    """A line that does not keep to the rules."""

    #: How many lines and rows of the text stand before it.
    line: int
    row: int
    #: One of the codes of the compiled loops.
    kind: int
    #: What is wrong, up to the next space; empty for an index that occurs twice.
    token: bytes
    #: That index's column, else -1.
    column: int


class ParsedRows(NamedTuple):
    """Parsed rows."""

    #: A CSR matrix, sorted and without duplicates; columns start from 0, or from -1 if an index 0 occurred
    #: where it was yet to be seen whether any would.
    indptr: NDArray[np.int64]
    columns: NDArray[np.signedinteger]
    values: NDArray[np.float64]
    #: As they stand in the text; 0 and 1 for text labels.
    labels: NDArray[np.float64]
    #: Where in the text the line of each row starts.
    places: NDArray[np.int64]
    #: Range of the columns; lowest > highest if there are no entries.
    lowest: int
    highest: int
    #: Number of lines, rows or not.
    lines: int
    #: Rows with a query number.
    queries: int
    #: Keys of the query numbers, if these are groups.
    groups: NDArray[np.uint64] | None
    #: The first few lines that do not keep to the rules.
    faults: list[LineFault]
    #: How many there are, or 1 if the first one ended it.
    n_faults: int


def parse_text(text: Text, rules: Rules, n_threads: int) -> ParsedRows:
    """Rows of whole lines.

    ``O(bytes)`` time; memory: 12 bytes for each colon and 24 for each line end of the text, 32 with groups.
    """
    from mbauc.readers.libsvm import kernels

    cuts = _cuts(text)
    pieces = [text[a:b] for a, b in pairwise(cuts)]
    n_threads = min(n_threads, len(pieces))
    counted = run_threads(kernels.count, pieces, n_threads if len(pieces) >= _MANY else 1)
    counts = np.array(counted, dtype=np.int64).reshape(-1, 2)
    row_at, entry_at = np.concatenate([np.zeros((1, 2), np.int64), counts.cumsum(axis=0)]).T
    n_rows, n_entries = int(row_at[-1]), int(entry_at[-1])
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    number: type[np.signedinteger] = np.int32 if n_entries <= LARGEST else np.int64
    columns = np.empty(n_entries, dtype=number)
    values, labels = np.empty(n_entries), np.empty(n_rows)
    places = np.empty(n_rows, dtype=np.int64)
    groups = np.empty(n_rows if rules.grouped else 0, dtype=np.uint64)
    start_of_hashes = name_state(GROUP)
    faults = np.empty((len(pieces), REMEMBERED, 4), dtype=np.int64)
    failed = [len(pieces)]

    def parse(k: int) -> tuple[int, ...]:
        if k > failed[0]:
            return 0, 0, 0, -1, 0, 0
        rows, entries = slice(row_at[k], row_at[k + 1]), slice(entry_at[k], entry_at[k + 1])
        found: tuple[int, ...] = kernels.parse(
            pieces[k],
            rules.base,
            rules.least,
            rules.most,
            rules.known,
            rules.words,
            rules.skip,
            entry_at[k],
            start_of_hashes,
            indptr[row_at[k] + 1 : row_at[k + 1] + 1],
            columns[entries],
            values[entries],
            labels[rows],
            places[rows],
            groups[rows],
            faults[k],
        )
        places[rows] += cuts[k]
        if found[-1] and not rules.skip:
            failed[0] = min(failed[0], k)
        return found

    found = run_threads(parse, range(len(pieces)), n_threads)
    noted: list[LineFault] = []
    row, entry = 0, 0
    for k, (rows, entries, *_, wrong) in enumerate(found):
        for before, line, kind, where in faults[k, : min(wrong, REMEMBERED)].tolist():
            if len(noted) < REMEMBERED:
                lines_before = int(row_at[k]) + kernels.count(pieces[k][:line])[0]
                twice = kind == kernels.TWICE
                token = b"" if twice else _token(pieces[k], where)
                noted.append(LineFault(lines_before, row + before, kind, token, where if twice else -1))
        # blank lines, comments and faults leave gaps
        at, start = int(row_at[k]), int(entry_at[k])
        if at > row:
            labels[row : row + rows] = labels[at : at + rows]
            places[row : row + rows] = places[at : at + rows]
            if rules.grouped:
                groups[row : row + rows] = groups[at : at + rows]
        if at > row or start > entry:
            indptr[row + 1 : row + rows + 1] = indptr[at + 1 : at + rows + 1] - (start - entry)
        if start > entry:
            columns[entry : entry + entries] = columns[start : start + entries]
            values[entry : entry + entries] = values[start : start + entries]
        row, entry = row + rows, entry + entries
    return ParsedRows(
        indptr[: row + 1],
        columns[:entry],
        values[:entry],
        labels[:row],
        places[:row],
        min(part[2] for part in found),
        max(part[3] for part in found),
        n_rows,
        sum(part[4] for part in found),
        groups[:row] if rules.grouped else None,
        noted,
        sum(part[5] for part in found),
    )


def _cuts(text: Text) -> list[int]:
    """Places at which to cut the text into pieces: 0, line ends, its size."""
    cuts = [0]
    while cuts[-1] < text.size:
        place = min(cuts[-1] + _PIECE, text.size)
        while text[place - 1] != ord("\n"):
            ends = np.flatnonzero(text[place : place + (1 << 16)] == ord("\n"))
            place = place + int(ends[0]) + 1 if ends.size > 0 else place + (1 << 16)
        cuts.append(place)
    return cuts


def _token(text: Text, place: int) -> bytes:
    """What stands at a place, up to the next space or line end, as far as anybody wants to read it."""
    words = text[place : place + 200].tobytes().split(maxsplit=1)
    return words[0] if words else b""


def build_matrix(parts: list[ParsedRows], n_features: int, *, ignore_others: bool = False) -> sp.csr_array:
    """The rows of all parts as a matrix, if ``ignore_others`` without columns beyond ``n_features``."""
    indptr, columns, values = parts[0].indptr, parts[0].columns, parts[0].values
    if len(parts) > 1:
        columns = np.concatenate([part.columns for part in parts])
        values = np.concatenate([part.values for part in parts])
        sizes = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)])
        indptr = np.cumsum(sizes, dtype=np.int64)
    if values.size <= LARGEST:
        indptr = indptr.astype(np.int32)
    width = max(n_features, *(part.highest + 1 for part in parts)) if ignore_others else n_features
    X = sp.csr_array((values, columns, indptr), shape=(indptr.size - 1, width))
    X.has_sorted_indices = X.has_canonical_format = True
    return X if width == n_features else X[:, :n_features]


def describe_fault(fault: LineFault, rules: Rules) -> tuple[str, str]:
    """What was expected and what came, and what to do about it (perhaps nothing to add).

    ``O(1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.libsvm import kernels
    >>> rules = Rules(False, None, np.empty(0), None, False)
    >>> describe_fault(LineFault(0, 0, kernels.BAD_ENTRY, b"17;1", -1), rules)
    ("expected 'index:value', got '17;1'", '')
    """
    from mbauc.readers.libsvm import kernels

    token = fault.token.split(b"#")[0] or fault.token
    got = f"got {_quote(token)}"
    index, colon, value = token.partition(b":")
    if fault.kind in (kernels.BAD_LABEL, kernels.OTHER_LABEL) and colon:
        return f"expected a label before the first 'index:value', {got}", ""
    if fault.kind == kernels.BAD_LABEL:
        if re.fullmatch(rb"[^0-9+\-.]\S*", token) and not _NOT_FINITE.fullmatch(token):
            return (
                f"expected a number as label, {got}",
                _in_python("Text labels need both names: classes=(negative, positive)."),
            )
        return f"expected a finite number as label, {got}", ""
    if fault.kind == kernels.OTHER_LABEL:
        negative, positive = _known_labels(rules)
        return (
            f"expected the label {negative!r} or {positive!r}, {got}",
            Advice("For a class against the rest give {positive}."),
        )
    if fault.kind == kernels.NO_QUERY:
        return (
            "expected a query number such as 'qid:7' after the label, got none",
            Advice("Without {group} rows need none; pairs are then formed across queries."),
        )
    if fault.kind == kernels.TWICE:
        return f"expected each index once, got {fault.column + rules.base} twice", ""
    if fault.kind == kernels.LARGE_VALUE:
        return f"expected a value below 1.8e308, {got}", ""
    if fault.kind == kernels.BAD_INDEX:
        number = int(index)
        if number == 0:
            from_zero = _in_python("If columns count from 0, pass {zero_based}.", zero_based=True)
            return f"expected an index of at least 1, {got}", from_zero
        if rules.n_features is None or number > LARGEST:
            return f"expected an index of at most {LARGEST:,}, {got}", ""
        largest = rules.n_features - 1 + rules.base
        return f"expected an index of at most {largest:,} (n_features={rules.n_features}), {got}", ""
    if re.fullmatch(rb"-[0-9]+", index) and colon:
        return f"expected an index of at least {rules.base if rules.least == 0 else 0}, {got}", ""
    if _NOT_FINITE.fullmatch(value):
        return f"expected a finite value, {got}", ""
    return f"expected 'index:value', {got}", ""


def _in_python(text: str, **arguments: object) -> Advice:
    """Advice for callers in Python; commands say what holds for any line."""
    return Advice(text, command=_CORRECT, on_error="skip", **arguments)


def _known_labels(rules: Rules) -> list[str | int | float]:
    """The labels that may occur, as a caller would write them."""
    if rules.words is not None:
        return [word.tobytes().rstrip(b"\0").decode() for word in rules.words]
    return [plain_label(label) for label in rules.known]


def _quote(token: bytes) -> str:
    """A token in quotes, cut where it is long; bytes that are not text are escaped."""
    text = token.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
