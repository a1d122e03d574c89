"""Which files hold a table, and how their bytes are reached: folders, patterns, compression, archives."""

from __future__ import annotations

import glob
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote

from mbauc.checks import list_some
from mbauc.errors import Advice, DataWarning
from mbauc.readers.compressed import DAMAGE, archive_kind, is_damage, strip_ending, unpack
from mbauc.runtime.warn import warn
from mbauc.store.container import MARK

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = (".parquet", ".parq", ".pq")
#: Endings of the kinds of tables that can be asked for.
_KINDS = {"csv": (".csv", ".txt"), "tsv": (".tsv", ".tab"), "parquet": _PARQUET}
#: Texts that are no tables, by their names.
_PROSE = ("readme", "read_me", "license", "licence", "copying", "changelog", "notes")
#: How Hive and Spark write a missing value into the name of a folder.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class TableFile:
    """One file of a table."""

    #: Where it is.
    path: Path
    #: Its name within a zip archive.
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}/{self.member}" if self.member else str(self.path)

    @property
    def suffix(self) -> str:
        """Ending of its name that tells its format, without that of the compression."""
        name = PurePosixPath(self.member or self.path.name)
        return strip_ending(name).suffix.lower()

    @property
    def partitions(self) -> dict[str, str | None]:
        """Columns that stand in the names of its folders (``day=2014-10-21/part-0.parquet``), for all its rows.

        Those of the whole path count, however much of it was written down.
        """
        pairs = (part.split("=", 1) for part in Path(os.path.abspath(self.path)).parts[:-1] if "=" in part)
        return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, value in pairs}

    @property
    def is_parquet(self) -> bool:
        """Whether its first bytes mark a Parquet file."""
        if self.member:
            return False
        with open(self.path, "rb") as stream:
            return stream.read(4) == b"PAR1"

    def stamp(self) -> tuple[int, int]:
        """Size and time of its last change, by which a later pass sees whether it is still the same."""
        status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns

    def describe(self, stamp: tuple[int, int]) -> dict[str, object]:
        """Name and stamp, for fingerprints."""
        size, time = stamp
        partitions = [list(pair) for pair in self.partitions.items()]
        return {"name": str(self), "bytes": size, "mtime_ns": time, "partitions": partitions}

    def change_error(self) -> ValueError:
        """What to say if it is no longer the same."""
        return ValueError(
            f"{self} has changed since it was first read; expected the same rows in every pass. "
            + Advice(
                "Make the source again when the file is complete.",
                command="Run the command again when the file is complete.",
            )
        )

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes, decompressed; damage becomes an error that names the file."""
        with self._name_damage(), open(self.path, "rb") as stream:
            if self.member:
                with zipfile.ZipFile(stream) as archive, archive.open(self.member) as inner:
                    yield inner
                return
            self._check_kind(stream)
            inside = unpack(stream)
            if inside is None:
                yield stream
                return
            with inside:
                yield inside

    def _check_kind(self, stream: IO[bytes]) -> None:
        """Raise if the first bytes are those of an archive that is not read, or of a file of ours."""
        kind = archive_kind(stream)
        if kind in ("zstd", "7z", "compress"):
            raise ValueError(
                f"{self} is packed with {kind}, which is not supported; gzip (.gz), bzip2 (.bz2), xz and zip "
                "are. Unpack it first."
            )
        start = stream.read(len(MARK))
        stream.seek(0)
        if start == MARK:
            raise ValueError(
                f"{self} is a model or another file of mbauc, not data; expected rows as CSV, TSV or Parquet. "
                "Name the files of the rows."
            )

    def sample(self, most: int) -> tuple[bytes, int]:
        """Its first bytes, decompressed, and about how many there are in all."""
        with self._name_damage(), open(self.path, "rb") as stream:
            if self.member:
                with zipfile.ZipFile(stream) as archive, archive.open(self.member) as inner:
                    return inner.read(most), archive.getinfo(self.member).file_size
            inside = unpack(stream)
            if inside is None:
                return stream.read(most), os.fstat(stream.fileno()).st_size
            with inside:
                start = inside.read(most)
            size = os.fstat(stream.fileno()).st_size
            return start, int(size * len(start) / max(stream.tell(), 1)) if len(start) == most else len(start)

    @contextmanager
    def _name_damage(self) -> Iterator[None]:
        try:
            yield
        except (*DAMAGE, zipfile.BadZipFile) as error:
            if not isinstance(error, zipfile.BadZipFile) and not is_damage(error):
                raise  # what the system says is clear enough
            raise ValueError(
                f"{self}: the compressed file is cut short or damaged ({error}); not all of its rows can be "
                "read. Fetch it again."
            ) from None


def find_tables(paths: Paths, kind: str | None = None) -> list[TableFile]:
    """The files that paths stand for, in the order given; folders and patterns sorted by name.

    A path may be a file, a folder (its table files at any depth), a pattern with ``*``, or a file within a zip
    archive, written as if the archive were a folder: ``bank.zip/bank/bank-full.csv``. An archive with a single
    table needs no more than its own name.

    In folders, files of other kinds are left out with a :class:`~mbauc.errors.DataWarning`: hidden ones, those
    that begin with ``_``, those whose ending is no table's, and ``.txt`` beside files of other endings.

    Parameters
    ----------
    paths : path or sequence of paths
        As above.
    kind : {"csv", "tsv", "parquet"}, optional
        Only files of this kind are taken from folders, without a warning.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    if not isinstance(paths, str | bytes | os.PathLike | Iterable):
        raise TypeError(_no_paths(paths))
    given = [paths] if isinstance(paths, str | bytes | os.PathLike) else list(paths)
    if not given:
        raise ValueError("paths is empty; name at least one file.")
    files: list[TableFile] = []
    for each in given:
        if not isinstance(each, str | bytes | os.PathLike):
            raise TypeError(_no_paths(each))
        files += _expand(Path(os.fsdecode(each)), kind)
    return files


def _no_paths(given: object) -> str:
    return (
        f"paths must name files, got {type(given).__name__}. Pass a table in memory by itself; join several "
        "to one first."
    )


def _expand(path: Path, kind: str | None) -> list[TableFile]:
    if path.is_dir():
        return [TableFile(file) for file in _tables_in(path, kind)]
    if path.exists():
        return [TableFile(path, _only_member(path))] if _is_zip(path) else [TableFile(path)]
    archive = next((parent for parent in path.parents if parent.is_file()), None)
    if archive is not None and _is_zip(archive):
        return [TableFile(archive, _member(archive, path.relative_to(archive).as_posix()))]
    if glob.has_magic(str(path)):
        matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
        if not matches:
            raise FileNotFoundError(f"no file matches {path}.")
        return [file for match in matches for file in _expand(match, kind)]
    raise FileNotFoundError(f"there is no file {path}.")


def _tables_in(folder: Path, kind: str | None) -> list[Path]:
    """The table files of a folder; a warning tells what is left out, unless that was asked for."""
    endings = _TEXT + _PARQUET if kind is None else _KINDS[kind]
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    names = [file.relative_to(folder) for file in files]
    tables = [file for file, name in zip(files, names, strict=True) if _is_table(name, endings)]
    tables = [file for file in tables if TableFile(file).suffix != ".txt"] or tables
    if not tables:
        raise FileNotFoundError(
            f"{folder} has no table files ({', '.join(endings)}, also compressed); name the files."
        )
    if kind is None and len(tables) < len(files):
        taken = set(tables)
        others = [str(name) for file, name in zip(files, names, strict=True) if file not in taken]
        warn(f"{folder}: {_list_names(others, 3)} left out; only its tables are read.", DataWarning)
    return tables


def _is_table(path: Path, endings: Sequence[str]) -> bool:
    if any(part.startswith((".", "_")) for part in path.parts):
        return False
    name = strip_ending(path)
    if name.suffix.lower() == ".txt" and name.stem.lower() in _PROSE:
        return False
    return name.suffix.lower() in endings


def _is_zip(path: Path) -> bool:
    with open(path, "rb") as stream:
        return archive_kind(stream) == "zip"


def _members(path: Path) -> list[str]:
    with TableFile(path)._name_damage(), zipfile.ZipFile(path) as archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
    return [name for name in names if not name.startswith("__MACOSX/")]


def _only_member(path: Path) -> str:
    tables = [name for name in _members(path) if PurePosixPath(name).suffix.lower() in _TEXT]
    tables = [name for name in tables if not PurePosixPath(name).name.startswith(".")]
    rows = [name for name in tables if not name.lower().endswith(".txt")] or tables
    if len(rows) == 1:
        return rows[0]
    if "xl/workbook.xml" in _members(path):
        raise ValueError(
            f"{path} is an Excel workbook; expected rows as CSV, TSV or Parquet. Save the sheet as CSV."
        )
    if not rows:
        raise ValueError(f"{path} holds no table ({', '.join(_TEXT)}); it holds {_list_names(_members(path))}.")
    raise ValueError(
        f"{path} holds {len(rows)} tables ({_list_names(rows)}); name one, as in {str(path / rows[0])!r}."
    )


def _member(path: Path, member: str) -> str:
    names = _members(path)
    if member not in names:
        raise FileNotFoundError(f"{path} holds no file {member!r}; it holds {_list_names(names)}.")
    return member


def _list_names(names: list[str], most: int = 10) -> str:
    return list_some(map(repr, names), most) or "nothing"
