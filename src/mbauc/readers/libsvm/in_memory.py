"""LIBSVM (svmlight) files read into memory, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_choice
from mbauc.errors import MbaucWarning
from mbauc.readers.libsvm.labels import LibsvmLabels
from mbauc.readers.libsvm.parsing import build_matrix
from mbauc.readers.libsvm.queries import warn_of_queries
from mbauc.readers.libsvm.reading import Path, Reading, count_bytes, stamp_files
from mbauc.readers.libsvm.rules import make_rules
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import run_threads, thread_count
from mbauc.runtime.warn import warn


def read_libsvm(
    paths: Path | Sequence[Path],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    labels: Literal["binary", "raw"] = "binary",
    on_error: Literal["stop", "skip"] = "stop",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[sp.csr_array, NDArray[Any]]:
    r"""Read LIBSVM (svmlight) files into memory.

    ``O(bytes)`` time. Memory: 12 bytes for each entry and 24 for each row, and temporarily the text of a plain
    file; twice as much for compressed or several files.

    Parameters
    ----------
    paths, n_features, zero_based, classes, positive
        As for :class:`~mbauc.readers.LibsvmSource`.
    labels : "binary" or "raw", default="binary"
        "binary" returns 1 and 0 for positive and negative rows; "raw" returns the numbers in the file, of which
        there may be any number.
    on_error : "stop" or "skip", default="stop"
        Whether an invalid line raises an error or is skipped; a warning gives the number of skipped lines.
    n_jobs, verbose
        As for :class:`~mbauc.readers.LibsvmSource`.

    Returns
    -------
    X : csr_array of shape (n, d)
        Features, float64, with sorted indices and no duplicates.
    y : ndarray of shape (n,)
        Labels: int8, or float64 with ``labels="raw"``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mbauc.readers import read_libsvm
    >>> path = pathlib.Path(tempfile.mkdtemp(), "digits.libsvm")
    >>> _ = path.write_text("7 1:0.5\n2 2:-1e-3\n3 1:2 2:5\n")
    >>> X, y = read_libsvm(path, positive={2, 7})
    >>> X.shape, y
    ((3, 2), array([1, 1, 0], dtype=int8))
    >>> read_libsvm(path, labels="raw")[1]
    array([7., 2., 3.])
    """
    check_choice("labels", labels, ("binary", "raw"))
    raw = labels == "raw"
    if raw and not (classes is None and positive is None):
        raise ValueError("labels='raw' returns labels as they are; leave out classes and positive.")
    files = stamp_files(paths)
    seen = LibsvmLabels(classes, positive)
    rules = make_rules(n_features, zero_based, seen, on_error)
    n_threads = thread_count(n_jobs)
    while True:
        with progress(count_bytes(files), "reading", unit="B", show=verbose) as advance:
            reading = Reading(files, rules, None if raw else seen, None, n_threads, advance)
            parts = list(reading)
        complete = reading.completed_rules()
        if complete is not None:
            break
        rules = rules._replace(zero_based=True)
    if rules.zero_based is None and complete.zero_based:
        # they were parsed as if the first column had index 1
        run_threads(lambda part: np.add(part.columns, 1, out=part.columns), parts, n_threads)
    if reading.queries:
        warn_of_queries()
    if reading.skipped.count:
        warn(str(reading.skipped), MbaucWarning)
    if not raw:
        seen.classes()  # or an error, if there are no two
    found = parts[0].labels if len(parts) == 1 else np.concatenate([part.labels for part in parts])
    return build_matrix(parts, complete.n_features or 0), found if raw else seen.binary(found)
