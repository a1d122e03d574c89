"""The query numbers of LIBSVM text, behind the keys that they are known by in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import MbaucWarning
from mbauc.readers.libsvm.lines import read_lines
from mbauc.rows.groups import hash_groups
from mbauc.runtime.warn import warn

#: Bytes that are looked at together for the first row.
_FIRST = 1 << 16
_FIRST_ROW = re.compile(rb"(?m)^[ \t]*[^\s#][^\n]*")
_QUERY = re.compile(rb"[ \t]qid:([^\s#]+)")


def has_queries(paths: Iterable[str]) -> bool:
    """Whether the first row of some files has a query number."""
    for path in paths:
        for lines in read_lines(path, _FIRST):
            row = _FIRST_ROW.search(lines.text.tobytes())
            if row is not None:
                return _QUERY.search(row.group().partition(b"#")[0]) is not None
    return False


def name_queries(paths: Iterable[str], keys: NDArray[np.uint64]) -> NDArray[np.object_]:
    """The text of the query number behind each key, from a look at all lines."""
    found: set[bytes] = set()
    for path in paths:
        for lines in read_lines(path):
            found.update(_QUERY.findall(lines.text.tobytes()))
    texts = np.array([text.decode("utf-8", "replace") for text in found], dtype=object)
    known = hash_groups(list(texts))
    order = np.argsort(known)
    return np.asarray(texts[order][np.searchsorted(known[order], keys)])


def warn_of_queries(advice: str = "") -> None:
    """Warn that query numbers are not read; ``advice`` says what would."""
    warn(
        "rows have query numbers (qid:), which are ignored: pairs are formed across queries." + advice,
        MbaucWarning,
    )
