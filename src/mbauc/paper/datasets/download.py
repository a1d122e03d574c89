"""Files of data sets from their servers, by pooch: each comes whole and with the right content, or not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin

from mbauc.errors import DownloadError, NotAvailableError
from mbauc.paper.datasets.entry import Entry, File
from mbauc.paper.datasets.files import Folder, NoMemberError, find_file, identify, list_folders
from mbauc.runtime.progress import Progress, progress
from mbauc.store.lock import hold, remove_leftovers

#: What addresses may start with.
SCHEMES: tuple[str, ...] = ("https://",)
#: Further attempts after a connection that failed, with a pause of some seconds before each.
RETRIES = 3
#: Seconds without a byte after which a connection counts as lost.
TIMEOUT = 30.0

_CHUNK = 1 << 16
#: Status codes after which another attempt may succeed.
_PASSING = {408, 425, 429}
#: Status codes of a server that has no such file.
_ABSENT = {404, 410}
#: Start of the name of a folder in which a file is downloaded, beside its place.
_ROOM = ".mbauc-download-"
#: File in that folder that the process at work locks.
_HELD = "held"


def download(
    entry: Entry, data_dir: Folder | None = None, *, force: bool = False, show: bool = True
) -> dict[str, Path]:
    """Download the files of a data set that are not there yet.

    A transfer that breaks off is tried again from the start.

    Parameters
    ----------
    entry : Entry
        Of :func:`mbauc.paper.datasets.find`.
    data_dir : path, optional
        Folder for the files; without it the one that the environment variable ``MBAUC_DATA`` names, or the
        user's cache.
    force : bool, default=False
        Download files that are there already, and replace them.
    show : bool, default=True
        Show a progress bar on a terminal.

    Returns
    -------
    dict
        Paths by the official names of the files.

    Raises
    ------
    DownloadError, NotAvailableError
        If a file cannot be downloaded, or is not offered.
    ImportError
        If pooch is not installed.
    """
    folder = list_folders(data_dir)[0]
    for file in entry.files:
        if not file.urls:
            raise NotAvailableError(f"{entry.name} is not offered for download; see {entry.source}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cannot make the folder {folder}: {error.strerror or error}.") from error
    return {file.name: _provide(file, folder, force, show) for file in entry.files}


def _provide(file: File, folder: Path, force: bool, show: bool) -> Path:
    """The path of a file, downloaded if it is not there or ``force`` says so."""
    archive = folder / file.name
    here = find_file(file, folder) or (archive if archive.is_file() else None)
    if here is not None and not force:
        if is_official(here, file) is False:
            raise DownloadError(
                f"{here} is there already, but is not the official file. Move it away, or replace it "
                "(force=True, --force)."
            )
        return here
    for url in file.urls:
        target = archive if file.members else folder / url.rsplit("/", 1)[-1]
        try:
            _retrieve(url, target, file, show)
            break
        except DownloadError as error:
            # another address may have it, perhaps compressed in another way
            if error.status not in _ABSENT or url == file.urls[-1]:
                raise
    if here is not None and here != target:
        here.unlink()
    return target


def is_official(path: Path, file: File) -> bool | None:
    """Whether a file is whole and of the content on record; None if there is no telling."""
    try:
        content = identify(path, file)
    except NoMemberError:
        # an archive in an archive that has to be unpacked by hand
        return None if file.hint else False
    if content == "not on record":
        # compressed files have checksums of their own
        return True if path.suffix in (".bz2", ".gz", ".xz", ".zip") else None
    return content in ("original", "copy")


def _retrieve(url: str, target: Path, file: File, show: bool) -> None:
    """Download a file into a folder beside its place, and move it there if its content is right."""
    pooch = _import_pooch()
    if not url.startswith(SCHEMES):
        raise ValueError(f"url must start with {' or '.join(SCHEMES)}, got {url!r}.")
    with _make_room(target.parent) as room, progress(None, target.name, unit="B", show=show) as advance:
        downloader = pooch.HTTPDownloader(
            progressbar=_Bar(advance),
            chunk_size=_CHUNK,
            timeout=TIMEOUT,
            headers={"User-Agent": "mbauc", "Accept-Encoding": "identity"},
            hooks={"response": lambda response, *_, **__: _check_answer(url, response, target.parent)},
        )
        keeper = pooch.create(
            room, base_url="", registry={target.name: None}, urls={target.name: url}, retry_if_failed=RETRIES
        )
        with _explain_errors(url), _quiet(pooch.get_logger()):
            keeper.fetch(target.name, downloader=downloader)
        if is_official(room / target.name, file) is False:
            raise DownloadError(
                f"{url}: what came is not the official file: its checksum differs, or it cannot be read to its "
                "end. Nothing was kept. Try again later; if that does not help, the file was changed at its "
                "source."
            )
        os.replace(room / target.name, target)


def _import_pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise ImportError("downloads need pooch; install it with: pip install 'mbauc[datasets]'") from None
    return pooch


@contextmanager
def _make_room(folder: Path) -> Iterator[Path]:
    """A folder for what is not whole yet; folders of killed processes are removed."""
    remove_leftovers(folder, f"{_ROOM}*", _HELD)
    while True:
        try:
            room = TemporaryDirectory(prefix=_ROOM, dir=folder, ignore_cleanup_errors=True)
        except OSError as error:
            raise DownloadError(f"cannot write to {folder}: {error.strerror or error}.") from error
        with room as name, open(Path(name) / _HELD, "wb") as held:
            if hold(held):  # no other process removed it as a leftover before it was locked
                yield Path(name)
                return


def _check_answer(url: str, response: Any, folder: Path) -> None:
    """Refuse an answer that is not the file, before anything of it is read."""
    status, headers = response.status_code, response.headers
    length = headers.get("Content-Length", "")
    refusal = ""
    if response.is_redirect:
        place = headers["Location"]
        try:
            safe = urljoin(response.url, place).lower().startswith(SCHEMES)
        except ValueError:  # it is no address
            safe = False
        if not safe:
            refusal = f"the server points to {_printable(place)}, which is not as safe. Not followed."
    elif 400 <= status < 500 and status not in _PASSING:
        what = "the server has no such file" if status in _ABSENT else "the server refused"
        refusal = f"{what} ({status} {_printable(response.reason)})."
    elif headers.get("Content-Type", "").startswith("text/html") and status < 400:
        refusal = "the server sent a web page instead. Open the address in a browser."
    elif length.isdecimal() and int(length) > (free := shutil.disk_usage(folder).free):
        refusal = f"{int(length):,} bytes are to come, but {folder} has room for {free:,}. Make room there."
    if refusal:
        response.close()
        error = DownloadError(f"{url}: {refusal}")
        error.status = status if status >= 400 else None
        raise error


@contextmanager
def _explain_errors(url: str) -> Iterator[None]:
    """Whatever goes wrong with a connection or the disk becomes a DownloadError."""
    from requests import exceptions as http

    try:
        yield
    except DownloadError:
        raise
    except http.RequestException as error:
        if isinstance(error, http.HTTPError) and error.response is not None:
            what = f"the server answered {error.response.status_code} {_printable(error.response.reason)}"
        elif isinstance(error, http.SSLError):
            what = "the server's certificate is not valid, or the connection is not secure"
        elif isinstance(error, http.Timeout):
            what = "the server stopped answering"
        elif isinstance(error, http.ChunkedEncodingError):
            what = "the connection broke off"
        else:
            what = f"the connection failed; is there a network? ({_printable(error)})"
        raise DownloadError(f"{url}: {what}. Tried {1 + RETRIES} times, nothing was kept.") from error
    except OSError as error:
        raise DownloadError(f"{url}: cannot write the file: {error.strerror or error}.") from error


@contextmanager
def _quiet(logger: Any) -> Iterator[None]:
    """Keep pooch from telling each file on standard error."""
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)


def _printable(words: object) -> str:
    """Words of a server as a terminal may show them: nothing that moves the cursor, and not too many."""
    return "".join(c if c.isprintable() else "?" for c in str(words))[:200]


class _Bar:
    """A progress bar as pooch drives it: the total is set once, and again at the end."""

    def __init__(self, advance: Progress) -> None:
        self._advance, self._total, self._done = advance, 0, 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, total: int) -> None:
        # of each attempt: those before it do not count
        self._advance(-self._done)
        self._total, self._done = total, 0
        self._advance.expect(total)

    def update(self, size: int) -> None:
        size = min(size, self._total - self._done) if self._total else size
        self._done += size
        self._advance(size)

    def reset(self) -> None:
        """Nothing to do: :meth:`update` never goes beyond the total."""

    def close(self) -> None:
        """Nothing to do: the bar is closed where it was made."""
