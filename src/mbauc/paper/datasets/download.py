"""Downloads that go on where they were stopped, and end as a whole file or none."""

from __future__ import annotations

import email.message
import http.client
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mbauc.errors import DownloadError, NotAvailableError
from mbauc.paper.datasets.content import NoMemberError, identify
from mbauc.paper.datasets.doubtful_servers import NoWeakerProtocol, as_shown, content_range
from mbauc.paper.datasets.entry import Entry, File
from mbauc.paper.datasets.part_file import PartFile, part_of
from mbauc.paper.datasets.places import Folder, folders, path_of
from mbauc.runtime.progress import progress

#: From a path: True for a file that is whole, False for one that is not, None if there is no telling.
Verify = Callable[[Path], bool | None]

_CHUNK = 1 << 16
#: Answers of a server that may be different the next time, and those that say that it has no such file.
_PASSING, _ABSENT = {408, 425, 429, 500, 502, 503, 504}, {404, 410}
_LONGEST_PAUSE = 60.0


class Patience(NamedTuple):
    """How long to wait and how often to try.

    Attributes
    ----------
    timeout : float
        Seconds without a byte after which a connection counts as lost.
    retries : int
        Further attempts in a row that may bring nothing new.
    pause : float
        Seconds before the first of them; doubled each time, up to a minute.
    """

    timeout: float = 30.0
    retries: int = 4
    pause: float = 1.0


DEFAULT_PATIENCE = Patience()


def fetch(
    entry: Entry,
    data_dir: Folder | None = None,
    *,
    force: bool = False,
    patience: Patience = DEFAULT_PATIENCE,
    show: bool = True,
) -> dict[str, Path]:
    """Download the files of a data set that are not there yet.

    Parameters
    ----------
    entry : Entry
        Of :func:`mbauc.paper.datasets.find`.
    data_dir : path, optional
        Folder for the files; without it the one that the environment variable ``MBAUC_DATA`` names, or the
        user's cache.
    force : bool
        Download files that are there already, and replace them.
    patience : Patience
        Timeouts and retries.
    show : bool
        Show a progress bar on a terminal.

    Returns
    -------
    dict
        Paths by the official names of the files.

    Raises
    ------
    DownloadError, NotAvailableError
        If a file cannot be downloaded, or is not offered.
    """
    folder = folders(data_dir)[0]
    for file in entry.files:
        if not file.urls:
            raise NotAvailableError(f"{entry.name} is not offered for download; see {entry.source}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"cannot make the folder {folder}: {error.strerror or error}.") from error
    return {file.name: _fetch_file(file, folder, force, patience, show) for file in entry.files}


def _fetch_file(file: File, folder: Path, force: bool, patience: Patience, show: bool) -> Path:
    archive = folder / file.name
    here = path_of(file, folder) or (archive if archive.is_file() else None)
    if here is not None and not force:
        if verdict(here, file) is False:
            raise DownloadError(
                f"{here} is there already, but is not the official file. Move it away, or replace it "
                "(force=True, --force)."
            )
        return here
    for url in file.urls:
        target = archive if file.members else folder / url.rsplit("/", 1)[-1]
        try:
            download(
                url, target, verify=partial(verdict, file=file, name=target.name), patience=patience, show=show
            )
            break
        except DownloadError as error:
            # another address may have it, perhaps compressed in another way
            if error.status not in _ABSENT or url == file.urls[-1]:
                raise
    if here is not None and here != target:
        here.unlink()
    return target


def verdict(path: Path, file: File, name: str | None = None) -> bool | None:
    """Whether a file is whole and of the content on record; None if there is no telling."""
    name = path.name if name is None else name
    try:
        content = identify(path, file, name)
    except NoMemberError:
        # an archive in an archive that has to be unpacked by hand
        return None if file.hint else False
    if content == "not on record":
        # compressed files have checksums of their own
        return True if name.endswith((".bz2", ".gz", ".xz", ".zip")) else None
    return content in ("original", "copy")


def download(
    url: str,
    path: Folder,
    *,
    verify: Verify | None = None,
    patience: Patience = DEFAULT_PATIENCE,
    show: bool = True,
) -> None:
    """Download one file.

    What has come so far lies beside ``path`` with the ending ``.part``. After a failure, or if the process is
    killed, the next call goes on from there, provided that the server can send the rest of the same version of
    the file (HTTP ``Range`` with ``If-Range``). Only a file that is whole and passes ``verify`` gets its name;
    of one that does not pass nothing is kept.

    Parameters
    ----------
    url : str
        Address, http or https.
    path : path
        Where the file is to be, in a folder that exists.
    verify : callable, optional
        Takes the path of the finished file: True if it is whole, False if not, None if there is no telling.
    patience : Patience
        Timeouts and retries.
    show : bool
        Show a progress bar on a terminal.

    Raises
    ------
    DownloadError
        If the server does not have the file, cannot be reached, keeps breaking off or sends something else.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"url must start with https:// or http://, got {url!r}.")
    target = Path(os.fsdecode(path))
    with part_of(target) as part:
        transfer = _Transfer(url, part, patience, show)
        complete, good = transfer.run(), verify(part.path) if verify is not None else None
        if complete and good is False and transfer.doubtful:
            part.restart()
            complete, good = transfer.run(), verify(part.path) if verify is not None else None
        # a server may announce more bytes than there are
        if not complete and good is not True:
            kept = f" {part.size:,} bytes are kept: the next download goes on from there." if part.size else ""
            raise DownloadError(f"{url}: {transfer.problem}. Tried {transfer.attempts} times.{kept}")
        if good is False:
            part.discard()
            raise DownloadError(
                f"{url}: what came is not the official file: its checksum differs, or it cannot be read to its "
                "end. Nothing was kept. Try again later; if that does not help, the file was changed at its "
                "source."
            )
        part.finish(target)


class _LostError(Exception):
    """An attempt failed in a way that may pass; ``wait`` seconds were asked for before the next."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


class _Transfer:
    """Requests for one file, until it is there or patience is at its end.

    Attributes
    ----------
    doubtful : bool
        Whether bytes of several answers were joined, or an end came that nobody had announced.
    attempts : int
        Requests since bytes last came.
    problem : str
        What was wrong with the latest of them.
    """

    def __init__(self, url: str, part: PartFile, patience: Patience, show: bool) -> None:
        self._url, self._part, self._patience, self._show = url, part, patience, show
        self.doubtful, self.attempts, self.problem = False, 0, ""

    def run(self) -> bool:
        """Whether the file is complete, as far as the server says."""
        furthest = self._part.size
        self.attempts = 0
        while True:
            self.attempts += 1
            try:
                self._request()
                return True
            except _LostError as error:
                self.problem = str(error)
                if self._part.size > furthest:
                    furthest, self.attempts = self._part.size, 1
                if self.attempts > self._patience.retries:
                    return False
                pause = self._patience.pause * 2.0 ** (self.attempts - 1)
                time.sleep(min(max(pause, error.wait), _LONGEST_PAUSE))

    def _request(self) -> None:
        """One request, for the rest or for all of the file."""
        version = self._part.version(self._url) if self._part.size else None
        request = urllib.request.Request(
            self._url, headers={"User-Agent": "mbauc", "Accept-Encoding": "identity"}
        )
        if version is not None:
            request.add_header("Range", f"bytes={self._part.size}-")
            request.add_header("If-Range", version)
        try:
            safe = urllib.request.build_opener(NoWeakerProtocol)
            response = safe.open(request, timeout=self._patience.timeout)
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 416 or version is None:
                    raise _refusal(self._url, error) from None
                self._nothing_after(error.headers)
                return
        except DownloadError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise _loss(self._url, error) from error
        with response:
            self._receive(response, version)

    def _nothing_after(self, headers: email.message.Message) -> None:
        """What has come is all that the server has, or more than that."""
        self.doubtful = True
        if content_range(headers) != (None, self._part.size):
            self._part.restart()
            raise _LostError("the server has a shorter file than before")

    def _receive(self, response: Any, version: str | None) -> None:
        headers = response.headers
        if headers.get_content_type() == "text/html":
            raise DownloadError(
                f"{self._url}: the server sent a web page instead. Open the address in a browser."
            )
        if response.status == 206:
            start, total = content_range(headers)
            fits = start == self._part.size and (total is None or total >= start)
            if not fits or _version(headers) not in (None, version):
                self._part.restart()
                raise _LostError("the server went on from another place or with another version of the file")
            self.doubtful = True
        else:
            self._part.restart(self._url, _version(headers))
            length = headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else None
            self.doubtful |= total is None
        size = self._part.size
        self._part.check_room(None if total is None else total - size)
        with progress(total, self._part.path.stem, unit="B", show=self._show) as advance:
            advance(size)
            while chunk := self._read(response, _CHUNK if total is None else min(_CHUNK, total - size)):
                self._part.append(chunk)
                size += len(chunk)
                advance(len(chunk))
        if total is not None and size != total:
            raise _LostError(f"the connection broke off after {size:,} of {total:,} bytes")

    def _read(self, response: Any, most: int) -> bytes:
        """Some more bytes, as soon as there are any: what waits in a buffer is lost if the connection is."""
        if most <= 0:
            return b""
        try:
            return bytes(response.read1(most))
        except http.client.IncompleteRead as error:
            self._part.append(error.partial)
            raise _LostError("the connection broke off") from error
        except (OSError, http.client.HTTPException) as error:
            raise _loss(self._url, error) from error


def _refusal(url: str, error: urllib.error.HTTPError) -> Exception:
    if error.code in _PASSING:
        wait = error.headers.get("Retry-After", "")
        return _LostError(
            f"the server answered {error.code} {as_shown(error.reason)}",
            float(wait) if wait.isdecimal() else 0.0,
        )
    what = "the server has no such file" if error.code in _ABSENT else "the server refused"
    refusal = DownloadError(f"{url}: {what} ({error.code} {as_shown(error.reason)}).")
    refusal.status = error.code
    return refusal


def _loss(url: str, error: Exception) -> Exception:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return DownloadError(f"{url}: the server's certificate is not valid ({reason.verify_message}).")
    if isinstance(reason, socket.gaierror):
        return _LostError("the name of the server was not found; is there a network connection")
    if isinstance(reason, TimeoutError):
        return _LostError("the server stopped answering")
    if isinstance(reason, ConnectionRefusedError):
        return _LostError("the server refused the connection")
    return _LostError(f"the connection failed ({as_shown(reason)})")


def _version(headers: email.message.Message) -> str | None:
    """What names the version of a file well enough to continue it: a strong entity tag, or a date."""
    tag = headers.get("ETag")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")
