"""The click logs of Section V-C as they can be had: synthetic ones of any size, and small real samples."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse as sp

from mbauc.errors import NotAvailableError
from mbauc.metrics import roc_auc
from mbauc.paper.clicks.log import ClickLog
from mbauc.paper.clicks.shapes import SHAPES
from mbauc.paper.datasets.entry import File
from mbauc.paper.datasets.files import find_file, list_folders
from mbauc.paper.studies.printed import CLICK_CHUNKS, CLICK_ROWS, CLICK_TEST_ROWS
from mbauc.readers.hashing import fold_columns
from mbauc.readers.libsvm.in_memory import read_libsvm
from mbauc.readers.table.source import TableSource
from mbauc.rows.source import RawBlock

#: Columns, as in the paper.
COLUMNS = 10_000
#: Columns of the real Criteo sample before they are folded.
WIDE = 1 << 20
#: A chunk with fewer rows than this is not worth the name: small sets have fewer chunks.
_CHUNK_ROWS = 500
#: Training rows for each test row.
_TEST_SHARE = 5
#: Test rows, at least.
_FEWEST_TEST = 1_000
#: Test rows, and validation rows, at most.
_MOST_HELD = 1_000_000
#: Rows to make at a time where there are no chunks.
_PIECE = 1 << 18
#: Training rows for each validation row.
_VALIDATION_SHARE = 10

_CRITEO_PARTS = ("criteo60k.part1", "criteo60k.part2", "criteo60k.part3")
_AVAZU_FILE = "avazu.first9999.csv"
#: Its first rows, which are the training set.
_AVAZU_TRAINING = 7_000


@dataclass(frozen=True)
class ClickSet:
    """Rows to learn from, then rows to choose settings on, then rows to be judged on."""

    #: Names in files and on pages.
    key: str
    title: str
    #: The paper's set that this one stands for.
    paper: str
    #: Number of columns.
    n_features: int
    #: Number of rows of each kind.
    n_fit: int
    n_validation: int
    n_test: int
    #: Parts in which the rows to learn from are handed out.
    n_chunks: int
    #: From two row numbers to the rows between them; rows to learn from come first.
    rows: Callable[[int, int], RawBlock]
    #: Tells this data from any other.
    data: str
    #: AUC on the test rows of the best possible scores, where they are known.
    best_auc: Callable[[], float] | None = None
    #: The same rows before their columns were folded.
    wide: ClickSet | None = None

    @property
    def n_train(self) -> int:
        """Rows that are not test rows."""
        return self.n_fit + self.n_validation

    def chunks(self) -> Iterator[RawBlock]:
        """The rows to learn from, one chunk in memory at a time."""
        edges = np.linspace(0, self.n_fit, self.n_chunks + 1).astype(np.int64)
        for start, stop in pairwise(edges.tolist()):
            yield self.rows(start, stop)

    def validation(self) -> Iterator[RawBlock]:
        """Rows to choose settings on, some at a time."""
        return self._pieces(self.n_fit, self.n_train)

    def test(self) -> Iterator[RawBlock]:
        """Rows to be judged on, some at a time."""
        return self._pieces(self.n_train, self.n_train + self.n_test)

    def _pieces(self, start: int, stop: int) -> Iterator[RawBlock]:
        for first in range(start, stop, _PIECE):
            yield self.rows(first, min(first + _PIECE, stop))


def synthetic(shape: str, rows: int, seed: int, n_jobs: int | None = None) -> ClickSet:
    """A synthetic log of a shape with ``rows`` training rows, or the paper's number if that is less."""
    paper = shape.replace("-", " ")
    train = min(rows, CLICK_ROWS[paper])
    test = min(max(train // _TEST_SHARE, _FEWEST_TEST), _MOST_HELD)
    log = ClickLog(train + test, shape=shape, hash_dim=COLUMNS, seed=seed, n_jobs=n_jobs)
    title = f"{paper.title()}, synthetic"
    data = f"ClickLog {shape} {train} {test} {COLUMNS} {seed}"
    best = partial(_best_auc, log, train, train + test)
    return _split(shape, title, paper, COLUMNS, train, test, log.rows, data, best)


def of_paper_size(shape: str, share: float, seed: int, n_jobs: int | None = None) -> ClickSet:
    """A synthetic log with a share of the paper's rows, all of which are learned from.

    Then come validation rows, a tenth as many and a million at most, and the same share of its test rows.
    """
    paper = shape.replace("-", " ")
    fit, test = (max(round(share * rows[paper]), _FEWEST_TEST) for rows in (CLICK_ROWS, CLICK_TEST_ROWS))
    validation = min(fit // _VALIDATION_SHARE, _MOST_HELD)
    train, count = fit + validation, fit + validation + test
    log = ClickLog(count, shape=shape, hash_dim=COLUMNS, seed=seed, n_jobs=n_jobs)
    return ClickSet(
        f"{shape}-full",
        f"{paper.title()}, {fit / 1e6:.3g} million rows",
        paper,
        COLUMNS,
        fit,
        validation,
        test,
        _count_chunks(paper, fit),
        log.rows,
        f"ClickLog {shape} {fit} {validation} {test} {COLUMNS} {seed}",
        partial(_best_auc, log, train, count),
    )


def _best_auc(log: ClickLog, start: int, stop: int) -> float:
    """AUC of the true log-odds."""
    pieces = (log.rows(first, min(first + _PIECE, stop)).y for first in range(start, stop, _PIECE))
    return roc_auc(np.concatenate(list(pieces)), log.log_odds(start, stop))


def criteo_sample(folder: Path | None, seed: int) -> ClickSet:
    """60,000 consecutive rows of the Criteo log: 40,000 to learn from, shuffled, the last 20,000 to test on."""
    paths = [_locate(name, folder) for name in _CRITEO_PARTS]
    parts = [read_libsvm(path, n_features=WIDE) for path in paths]
    X, y = sp.csr_array(sp.vstack([part[0] for part in parts])), np.concatenate([part[1] for part in parts])
    train = y.size - parts[-1][1].size
    wide = _in_memory("criteo-sample-wide", "", "criteo", X, y, train, seed)
    title = "Criteo, 60,000 real rows"
    return _in_memory("criteo-sample", title, "criteo", fold_columns(X, COLUMNS), y, train, seed, wide)


def avazu_sample(folder: Path | None, seed: int) -> ClickSet:
    """The first 9,999 rows of the Avazu log, app and site: 7,000 to learn from, the rest to test on."""
    columns = [field.name for field in SHAPES["avazu-app"].columns]
    types = dict.fromkeys(columns, "category") | {"id": "id"}
    source = TableSource(
        _locate(_AVAZU_FILE, folder), label="click", types=types, hash_dim=COLUMNS, verbose=False
    )
    blocks = list(source)
    X, y = sp.csr_array(sp.vstack([block.X for block in blocks])), np.concatenate([b.y for b in blocks])
    return _in_memory("avazu-sample", "Avazu, 9,999 real rows", "avazu app", X, y, _AVAZU_TRAINING, seed)


#: How each set is made, by its key: from rows, seed, folder and threads.
SETS: dict[str, Callable[[int, int, Path | None, int | None], ClickSet]] = {
    **{
        shape: lambda rows, seed, folder, n_jobs, shape=shape: synthetic(shape, rows, seed, n_jobs)  # type: ignore[misc]
        for shape in ("avazu-app", "avazu-site", "criteo")
    },
    "avazu-sample": lambda rows, seed, folder, n_jobs: avazu_sample(folder, seed),
    "criteo-sample": lambda rows, seed, folder, n_jobs: criteo_sample(folder, seed),
}
#: The synthetic logs of the paper's sizes, from share, seed and threads.
FULL_SETS: dict[str, Callable[[float, int, int | None], ClickSet]] = {
    f"{shape}-full": lambda share, seed, n_jobs, shape=shape: of_paper_size(shape, share, seed, n_jobs)  # type: ignore[misc]
    for shape in ("avazu-app", "avazu-site", "criteo")
}
#: The paper's sets that each one stands for.
STANDS_FOR = {
    "avazu-app-full": ("avazu app",),
    "avazu-site-full": ("avazu site",),
    "criteo-full": ("criteo",),
    "avazu-app": ("avazu app",),
    "avazu-site": ("avazu site",),
    "criteo": ("criteo",),
    "avazu-sample": ("avazu app", "avazu site"),
    "criteo-sample": ("criteo",),
}


def select_sets(datasets: tuple[str, ...], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the keys that stand for a data set that was asked for; all if none was."""
    found = tuple(key for key in keys if not datasets or set(STANDS_FOR[key]) & set(datasets))
    if not found:
        raise ValueError(
            f"datasets must hold a click log ({', '.join(CLICK_ROWS)}), got {', '.join(datasets)}."
        )
    return found


def _split(
    key: str,
    title: str,
    paper: str,
    n_features: int,
    train: int,
    test: int,
    read_rows: Callable[[int, int], RawBlock],
    data: str,
    best_auc: Callable[[], float] | None = None,
    wide: ClickSet | None = None,
) -> ClickSet:
    validation = min(train // _VALIDATION_SHARE, _MOST_HELD)
    fit = train - validation
    chunks = _count_chunks(paper, fit)
    return ClickSet(
        key, title, paper, n_features, fit, validation, test, chunks, read_rows, data, best_auc, wide
    )


def _count_chunks(paper: str, fit: int) -> int:
    return max(1, min(CLICK_CHUNKS[paper], fit // _CHUNK_ROWS))


def _in_memory(
    key: str,
    title: str,
    paper: str,
    X: sp.csr_array,
    y: np.ndarray,
    train: int,
    seed: int,
    wide: ClickSet | None = None,
) -> ClickSet:
    """Rows in memory, the training rows in random order."""
    order = np.arange(y.size)
    order[:train] = np.random.default_rng([seed, 5]).permutation(train)
    X, y = X[order], y[order].astype(np.int8)
    X.sort_indices()
    sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in (X.indptr, X.indices, X.data, y)]
    data = "-".join(f"{number:08x}" for number in sums)
    return _split(
        key,
        title,
        paper,
        X.shape[1],
        train,
        y.size - train,
        lambda a, b: RawBlock(X[a:b], y[a:b]),
        data,
        None,
        wide,
    )


def _locate(name: str, folder: Path | None) -> Path:
    folders = list_folders(folder)
    path = next((path for place in folders if (path := find_file(File(name), place))), None)
    if path is None:
        raise NotAvailableError(
            f"{name} (plain, .bz2, .gz or .xz) is not in {' or '.join(map(str, folders))}; name its folder by "
            "--data-dir or the environment variable MBAUC_DATA"
        )
    return path
