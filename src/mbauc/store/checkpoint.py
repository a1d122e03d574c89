"""States of a long computation in a folder, so that a killed run goes on to the same bits."""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import sys
import threading
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.errors import Advice, CheckpointError, DiskFullError
from mbauc.store.array_schema import Arrays, Size
from mbauc.store.arrays import Declared, encoded, read_plain
from mbauc.store.atomic import atomic_write, remove_parts
from mbauc.store.file_schema import Json, Record, Text, shortened, shown
from mbauc.store.fingerprint import differences
from mbauc.store.lock import FolderLock

MAGIC = b"MBAUCKPT"
VERSION = 1
#: Magic, version, CRC-32 of all that follows.
_HEAD = struct.Struct("<8sII")
_IDENTITY = "identity"
#: What is told about the arrays of a state, and the arrays of one that has none.
_ABOUT, _NOTHING = Record({"identity": Json(), "name": Text()}), Arrays({})
_CHUNK = 1 << 20
#: State of what the first run has settled for all later ones, such as the number of threads: no progress yet.
SETTLED = "settled"
#: How a system says that a place is not to be written to.
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
#: Saving takes at most about one part in this many of the time.
_RARE = 20


class Checkpoint:
    """A folder of saved states that belong to one computation.

    A state is a dict of arrays, saved under a name: one file with a checksum, replaced whole or not at all. The
    folder remembers the identity of the computation (settings, data), and a computation of another identity
    is refused. One process at a time may use it. The folder should hold nothing else.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    identity : dict
        All that the result depends on, as JSON can hold it.
    interval : float
        Seconds between saves of what is offered. Where saving is slow it happens less often, so that it takes
        no more than about 5% of the time. 0 saves at every offer.

    Raises
    ------
    CheckpointError
        If the folder belongs to another computation or another process, is damaged or cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> folder = tempfile.mkdtemp()
    >>> with Checkpoint(folder, {"l2": 1.0}) as checkpoint:
    ...     checkpoint.save("solver", {"w": np.arange(3.0)})
    >>> with Checkpoint(folder, {"l2": 1.0}) as checkpoint:
    ...     checkpoint.load("solver")
    {'w': array([0., 1., 2.])}
    >>> Checkpoint(folder, {"l2": 2.0})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mbauc.errors.CheckpointError: ... was made with other settings or data (l2 was 1.0, now 2.0). ...
    """

    def __init__(
        self, folder: str | os.PathLike[str], identity: dict[str, Any], *, interval: float = 30.0
    ) -> None:
        self.folder = _folder(folder)
        self._interval = check_number("interval", interval, low=0.0)
        self._identity = json.loads(json.dumps(identity, allow_nan=False))
        self._saved, self._cost = time.monotonic(), 0.0
        #: set by Ctrl-C within `interruptible`: the next state that is offered is the last
        self._stopping = False
        #: whether anything was offered, so that there is something to wait for
        self._offered = False
        try:
            self._lock = FolderLock(self.folder, "checkpoint.lock")
        except OSError as error:
            raise self._unusable(error) from error
        try:
            remove_parts(self.folder)  # of a run that was killed while saving
            if self.load(_IDENTITY, _NOTHING) is None:
                self.save(_IDENTITY, {})
        except BaseException as error:
            self._lock.release()
            if isinstance(error, OSError) and error.errno in _FORBIDDEN:
                raise self._unusable(error) from error
            raise

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- states ------------------------------------------------------------------------------------------

    def save(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Write a state; it is on disk when this returns. ``O(bytes)``."""
        began = time.monotonic()
        path = self._path(name)
        pieces = encoded(arrays, {"identity": self._identity, "name": name})
        crc = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        try:
            with atomic_write(path) as stream:
                stream.write(_HEAD.pack(MAGIC, VERSION, crc))
                for piece in pieces:
                    stream.write(piece)
        except OSError as error:
            size = sum(len(piece) for piece in pieces)
            raise DiskFullError(
                error.errno,
                f"a checkpoint of {size / 1e6:,.1f} MB could not be written ({error.strerror or error}). "
                "The one before it is whole: make room, and "
                + Advice("the same call goes on from there", command="the same command goes on from there"),
                str(path),
            ) from error
        self._saved = time.monotonic()
        self._cost = self._saved - began

    def load(self, name: str, expected: Arrays | None = None, **sizes: Size) -> dict[str, NDArray[Any]] | None:
        """The latest state of this name; None if there is none.

        Parameters
        ----------
        name : str
            Of the state.
        expected : Arrays, optional
            What it must hold; by default, any arrays.
        **sizes : int or collection of int
            Sizes in what is expected.

        Raises
        ------
        CheckpointError
            If the file is damaged, cut short, of a newer version, of another computation or not as expected.
        """
        path = self._path(name)

        def wanted(about: dict[str, Any], declared: Declared) -> Collection[str]:
            _ABOUT.check(about, "the note")
            self._require_own(path, name, about)
            if expected is not None:
                expected.check_declared(declared, **sizes)
            return declared

        try:
            with open(path, "rb") as stream:
                length = self._checked_length(path, stream)
                _, arrays = read_plain(stream, _HEAD.size, length, wanted)
            if expected is not None:
                expected.check_values(arrays)
        except FileNotFoundError:
            return None
        except CheckpointError:
            raise
        except ValueError as error:
            raise self._error(path, f"cannot be read ({shortened(str(error))})") from error
        return arrays

    def _checked_length(self, path: Path, stream: IO[bytes]) -> int:
        """Bytes behind the head, once that and the checksum are as they should be."""
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size or head[: len(MAGIC)] != MAGIC:
            raise self._error(path, "is not a checkpoint of mbauc, or was cut short")
        _, version, crc = _HEAD.unpack(head)
        if version != VERSION:
            raise CheckpointError(
                f"{path} has format version {version}, this mbauc reads version {VERSION}. "
                "Go on with the mbauc that wrote it, or delete the folder to start again."
            )
        found = length = 0
        while chunk := stream.read(_CHUNK):
            found, length = zlib.crc32(chunk, found), length + len(chunk)
        if found != crc:
            raise self._error(path, "does not fit its checksum: it is damaged, was cut short or edited")
        return length

    def _require_own(self, path: Path, name: str, about: dict[str, Any]) -> None:
        """Raise unless a state is of this computation, and under its own name."""
        whose, named = about["identity"], about["name"]
        if whose != self._identity:
            what = f"was made with other settings or data ({differences(whose, self._identity)})"
            if name != _IDENTITY:
                raise self._error(path, what)
            raise CheckpointError(
                f"{path} {what}. Delete the folder {self.folder} to start again, or choose another."
            )
        if named != name:
            raise self._error(path, f"holds the state {shown(named)}")

    def due(self) -> bool:
        """Whether it is time to save."""
        pause = self._interval and max(self._interval, _RARE * self._cost)
        return self._stopping or time.monotonic() - self._saved >= pause

    def offer(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Save a state if it is time to; nothing is copied or kept otherwise.

        Within :func:`interruptible` this is where a pending Ctrl-C takes effect.
        """
        self._offered = True
        if not self.due():
            return
        self.save(name, arrays)
        if self._stopping:
            raise KeyboardInterrupt

    def holds_progress(self) -> bool:
        """Whether there is anything in the folder that a run goes on from."""
        fixed = {self._path(_IDENTITY).name, self._path(SETTLED).name}
        # glob finds nothing where the folder is gone
        return any(
            path.name not in fixed and path.suffix not in (".lock", ".part") for path in self.folder.glob("*")
        )

    # -- inside --------------------------------------------------------------------------------------------

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.state"

    def _error(self, path: Path, what: str) -> CheckpointError:
        return CheckpointError(f"{path} {what}. Delete that file, or choose another folder.")

    def _unusable(self, error: OSError) -> CheckpointError:
        return CheckpointError(
            Advice("{checkpoint} cannot be used ", checkpoint=str(self.folder))
            + f"({os.strerror(error.errno or 0)}); name a folder that can be made and written to."
        )

    def _way_on(self) -> str:
        """What another call will do, judged by what is in the folder now."""
        call = Advice(
            "the same call with {checkpoint}",
            command="the same command with {checkpoint}",
            checkpoint=str(self.folder),
        )
        if self.holds_progress():
            return "interrupted; " + call + " goes on from here"
        return "interrupted before anything was saved; " + call + " starts again"


@contextmanager
def interruptible(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Ctrl-C saves the next state that is offered, and raises a KeyboardInterrupt that says how to go on.

    States are views into memory that goes on being used, so that only at an offer are they whole: it is waited
    for, which takes a sweep over the rows at most. A second Ctrl-C stops at once; the latest save stays. Before
    anything has been offered the first stops at once as well.

    Without a checkpoint, and in threads other than the main one, nothing is different from usual.
    """
    if checkpoint is None:
        yield
        return
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if main else None
    # a program with a way of its own to deal with Ctrl-C keeps it
    ours = before is signal.default_int_handler

    def stop(number: int, frame: object) -> None:
        if checkpoint._stopping or not checkpoint._offered:
            raise KeyboardInterrupt
        checkpoint._stopping = True
        _say("interrupted; saving at the end of this sweep (Ctrl-C again stops at once)")

    if ours:
        signal.signal(signal.SIGINT, stop)
    try:
        yield
        if checkpoint._stopping:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise KeyboardInterrupt(checkpoint._way_on()) from None
    finally:
        checkpoint._stopping = checkpoint._offered = False
        if ours:
            signal.signal(signal.SIGINT, before)


def _folder(folder: Any) -> Path:
    """The path of a folder, or an error that names the argument."""
    if not isinstance(folder, str | bytes | os.PathLike) or not os.fsdecode(folder):
        raise ValueError(f"checkpoint must be the path of a folder, got {folder!r}.")
    path = Path(os.fsdecode(folder))
    if path.is_file():
        raise CheckpointError(Advice("{checkpoint} is a file; name a folder.", checkpoint=str(path)))
    return path


def _say(text: str) -> None:
    sys.stderr.write(f"\n{text}\n")
    sys.stderr.flush()
