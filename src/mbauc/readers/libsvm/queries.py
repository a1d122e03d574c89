"""The query numbers of LIBSVM text, behind the keys that they are known by in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.libsvm.lines import read_lines
from mbauc.rows.groups import hash_groups

_QUERY = re.compile(rb"[ \t]qid:([^\s#]+)")


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
