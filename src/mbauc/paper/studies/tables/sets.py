"""The tables of the study: where each comes from, what is left out and why, and its rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.datasets.entry import Entry, File
from mbauc.paper.datasets.files import locate, open_content
from mbauc.paper.datasets.registry import find
from mbauc.paper.studies.benchmark.runs import is_halved, load_rows

_UCI = "https://archive.ics.uci.edu/dataset"
_KAGGLE = "https://www.kaggle.com"


class Rows(NamedTuple):
    """A table in memory: a pandas frame with texts as categories, or a float array; labels are 0 and 1.

    Test rows are those of a test file; None where there is none.
    """

    X: Any
    y: NDArray[np.int64]
    X_test: Any = None
    y_test: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a study; each is itself alone, so that its rows can be kept."""

    name: str
    #: Page that describes it.
    source: str
    #: From the folder with the files, None for the usual places, to rows.
    read: Callable[[Path | None], Rows]
    #: Column that is left out to why it is.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: What else a reader should know.
    note: str = ""


# -- raw files ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RawFile:
    """A file with names, texts and blanks: where its label is, and how pandas reads it."""

    entry: Entry
    label: str
    positive: str
    #: Of ``pandas.read_csv``: what the file is written in, nothing on what its columns are.
    format: Mapping[str, Any]

    def read(self, folder: Path | None, **options: Any) -> tuple[Any, NDArray[np.int64]]:
        """All columns but the label, as pandas reads them with more options, and labels 0 and 1."""
        import pandas as pd

        file = self.entry.files[0]
        with open_content(locate(self.entry, folder)[file.name], file) as stream:
            frame = pd.read_csv(stream, **self.format, **options)
        y = (frame[self.label].astype(str) == self.positive).to_numpy(dtype=np.int64)
        return frame.drop(columns=self.label), y


def _read_tidy(
    raw: RawFile,
    left_out: tuple[str, ...],
    change: Callable[[Any], Any] | None,
    options: Mapping[str, Any],
    folder: Path | None,
) -> Rows:
    """Numbers as numbers, blanks as missing, texts as categories."""
    import pandas as pd

    frame, y = raw.read(folder, keep_default_na=False, na_values=["", " "], **options)
    frame = frame.drop(columns=list(left_out))
    if change is not None:
        frame = change(frame)
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    return Rows(frame.astype(dict.fromkeys(texts, "category")), y)


def _raw(
    name: str, file: File, size: tuple[int, int], label: str, positive: str, source: str, **written: Any
) -> RawFile:
    rows, columns = size
    entry = Entry(name, "extra", (file,), (rows, 0), columns, None, None, format="csv", source=source)
    return RawFile(entry, label, positive, written)


_CRITEO = ("label", *(f"I{k}" for k in range(1, 14)), *(f"C{k}" for k in range(1, 27)))
_FILES = (
    _raw("bank", find("bank").files[0], (41_188, 20), "y", "yes", f"{_UCI}/222/bank+marketing", sep=";"),
    _raw("adult", File("adult.csv"), (32_561, 10), "salary", ">50K", f"{_UCI}/2/adult"),
    _raw(
        "credit",
        File("credit.csv"),
        (30_000, 23),
        "default.payment.next.month",
        "1",
        f"{_UCI}/350/default+of+credit+card+clients",
        lineterminator="\r",
    ),
    _raw(
        "telco",
        File("telco.csv"),
        (7_043, 19),
        "Churn",
        "Yes",
        f"{_KAGGLE}/datasets/blastchar/telco-customer-churn",
    ),
    _raw(
        "avazu",
        File("avazu.first9999.csv"),
        (9_999, 22),
        "click",
        "1",
        f"{_KAGGLE}/c/avazu-ctr-prediction",
    ),
    _raw(
        "criteo",
        File("criteo.raw8000.tsv"),
        (8_000, 39),
        "label",
        "1",
        f"{_KAGGLE}/c/criteo-display-ad-challenge",
        sep="\t",
        header=None,
        names=_CRITEO,
    ),
)
RAW_FILES = {raw.entry.name: raw for raw in _FILES}


def _tidy(
    name: str,
    *,
    left_out: Mapping[str, str] | None = None,
    change: Callable[[Any], Any] | None = None,
    note: str = "",
    **options: Any,
) -> Table:
    """A raw file whose columns somebody has looked through; ``options`` are those of ``pandas.read_csv``."""
    raw = RAW_FILES[name]
    read = partial(_read_tidy, raw, tuple(left_out or ()), change, options)
    return Table(name, raw.entry.source, read, left_out or {}, note)


def take_hour(frame: Any) -> Any:
    """Avazu's ``hour``, year to hour in eight digits, as the hour of the day."""
    return frame.assign(hour=frame["hour"].str[-2:])


# -- files on record, and one beside them ---------------------------------------------------------------------


def _read_on_record(name: str, folder: Path | None) -> Rows:
    X, y, X_test, y_test = load_rows(name, folder)
    if is_halved(name):
        return Rows(np.concatenate([X, X_test]), np.concatenate([y, y_test]))
    return Rows(X, y, X_test, y_test)


def _on_record(name: str) -> Table:
    """A data set of the paper, in the columns of its LIBSVM files."""
    return Table(name, find(name).source, partial(_read_on_record, name))


_MAMMOGRAPHY = Entry(
    "mammography",
    "extra",
    (File("mammography"),),
    (11_183, 0),
    6,
    260,
    None,
    source="https://www.openml.org/d/310",
)


def _read_mammography(folder: Path | None) -> Rows:
    from mbauc.readers.libsvm.in_memory import read_libsvm

    path = locate(_MAMMOGRAPHY, folder)["mammography"]
    X, labels = read_libsvm(path, n_features=_MAMMOGRAPHY.columns, labels="raw")
    return Rows(np.asarray(X.toarray(), dtype=np.float64), (labels == 1).astype(np.int64))


# -- all of them ----------------------------------------------------------------------------------------------

_NAMES_ROWS = "it names rows"
#: Columns of raw files from which the label can be read off, and how.
GIVEAWAYS = {"adult": {"salary K$": "it gives the label away"}}

TABLES = {
    table.name: table
    for table in (
        _tidy("bank", note="`duration`, known only after the call, is in, as in Table III"),
        _tidy("adult", left_out={"Unnamed: 0": "it numbers the rows", **GIVEAWAYS["adult"]}),
        _tidy("credit", left_out={"ID": _NAMES_ROWS}),
        _tidy(
            "telco",
            left_out={"customerID": _NAMES_ROWS},
            note="blanks in `TotalCharges` are missing numbers",
        ),
        _tidy(
            "avazu",
            left_out={"id": _NAMES_ROWS},
            change=take_hour,
            note="the first 9,999 rows; all columns are codes, so categories; `hour` is the hour of the day",
            dtype=str,
        ),
        _tidy("criteo", note="the first 8,000 rows"),
        _on_record("german"),
        _on_record("svmguide3"),
        Table("mammography", _MAMMOGRAPHY.source, _read_mammography),
        _on_record("ijcnn"),
        _on_record("usps"),
        _on_record("madelon"),
        _on_record("a1a"),
        _on_record("a9a"),
        _on_record("mushrooms"),
        _on_record("w1a"),
    )
}


@lru_cache(maxsize=1)
def load_table(table: Table, folder: Path | None) -> Rows:
    """The rows of a table. The last one is kept: tasks come table by table."""
    return table.read(folder)


@lru_cache(maxsize=64)
def fingerprint(table: Table, folder: Path | None) -> str:
    """A checksum of all rows and labels: results of other files of that name are never taken for these."""
    import pandas as pd

    sums = []
    for part in load_table(table, folder):
        if part is not None:
            hashes = pd.util.hash_pandas_object(pd.DataFrame(part), index=False).to_numpy()
            sums.append(zlib.crc32(hashes.tobytes()))
    return "-".join(f"{number:08x}" for number in sums)
