"""States of a long computation in a folder, so that a killed run is resumed to the same bits."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mbauc.checks import abbreviate, check_number
from mbauc.errors import Advice, CheckpointError, DiskFullError
from mbauc.store import container
from mbauc.store.array_schema import Arrays, Size
from mbauc.store.arrays import Declared
from mbauc.store.atomic import remove_parts
from mbauc.store.file_kind import FileKind
from mbauc.store.file_schema import Json, Record, Text
from mbauc.store.interruption import Interruption
from mbauc.store.json_values import describe_differences
from mbauc.store.lock import FolderLock

STATE = FileKind("state of a checkpoint", CheckpointError, "Delete that file, or choose another folder")
_IDENTITY = "identity"
#: Schema of the description of a state.
_ABOUT = Record({"identity": Json(), "name": Text()})
#: Schema of a state without arrays.
_NOTHING = Arrays({})
#: State of what the first run has decided for all later ones, such as the number of threads: no progress yet.
DECISIONS = "decisions"
#: How a system says that a place is not to be written to.
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
#: Saving takes at most about one part in this many of the time.
_RARE = 20


class Pace:
    """When to save: every ``interval`` seconds, and less often where saving is slow."""

    def __init__(self, interval: float) -> None:
        self._interval = check_number("interval", interval, low=0.0)
        self._saved, self._cost = time.monotonic(), 0.0

    def is_due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self._saved >= (self._interval and max(self._interval, _RARE * self._cost))

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Take the time of a save, from which on the next one waits."""
        began = time.monotonic()
        yield
        self._saved = time.monotonic()
        self._cost = self._saved - began


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
    interval : float, default=30.0
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
        self.pace, self.interruption = Pace(interval), Interruption()
        self._identity = json.loads(json.dumps(identity, allow_nan=False))
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

    def save(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Write a state; it is on disk when this returns. ``O(bytes)``."""
        path = self._path(name)
        try:
            with self.pace.measure():
                container.write(path, STATE, {"identity": self._identity, "name": name}, arrays)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise DiskFullError(
                error.errno,
                f"a checkpoint could not be written ({reason}). The previous one is intact: make room, and "
                + Advice("the same call resumes from there", command="the same command resumes from there"),
                str(path),
            ) from error

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
            If the file is damaged, cut short, of another version, of another computation or not as expected.
        """
        path = self._path(name)

        def select(about: dict[str, Any], declared: Declared) -> Collection[str]:
            _ABOUT.check(about, "the note")
            self._require_own(path, name, about)
            if expected is not None:
                expected.check_declared(declared, **sizes)
            return declared

        try:
            _, arrays = container.read(path, STATE, select)
            if expected is not None:
                expected.check_values(arrays)
        except FileNotFoundError:
            return None
        except CheckpointError:
            raise
        except ValueError as error:
            raise STATE.reject_content(str(path), error) from error
        return arrays

    def _require_own(self, path: Path, name: str, about: dict[str, Any]) -> None:
        """Raise unless a state is of this computation, and under its own name."""
        whose, named = about["identity"], about["name"]
        if whose != self._identity:
            what = f"was made with other settings or data ({describe_differences(whose, self._identity)})"
            if name != _IDENTITY:
                raise STATE.reject(str(path), what)
            raise CheckpointError(
                f"{path} {what}. Delete the folder {self.folder} to start again, or choose another."
            )
        if named != name:
            raise STATE.reject(str(path), f"holds the state {abbreviate(named)}")

    def offer(self, name: str, arrays: Mapping[str, Any] | Callable[[], Mapping[str, Any]]) -> None:
        """Save a state if it is time to; nothing is copied or kept otherwise, and a function is not called.

        Within :func:`interruptible` this is where a pending Ctrl-C takes effect.
        """
        self.interruption.expected = True
        if self.interruption.pending or self.pace.is_due():
            self.save(name, arrays() if callable(arrays) else arrays)
            self.interruption.take_effect()

    def holds_progress(self) -> bool:
        """Whether there is anything in the folder that a run can be resumed from."""
        fixed = {self._path(_IDENTITY).name, self._path(DECISIONS).name}
        # glob finds nothing where the folder is gone
        return any(
            path.name not in fixed and path.suffix not in (".lock", ".part") for path in self.folder.glob("*")
        )

    def explain_interruption(self) -> str:
        """What another call will do, judged by what is in the folder now."""
        call = Advice(
            "the same call with {checkpoint}",
            command="the same command with {checkpoint}",
            checkpoint=str(self.folder),
        )
        if self.holds_progress():
            return "interrupted; " + call + " resumes from here"
        return "interrupted before anything was saved; " + call + " starts again"

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.state"

    def _unusable(self, error: OSError) -> CheckpointError:
        return CheckpointError(
            Advice("{checkpoint} cannot be used ", checkpoint=str(self.folder))
            + f"({os.strerror(error.errno or 0)}); name a folder that can be created and is writable."
        )


@contextmanager
def interruptible(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Ctrl-C saves the next state that is offered, and raises a KeyboardInterrupt that says how to resume.

    States are views into memory that is still in use, and are whole only when they are offered. So the next
    offer is awaited, which takes a sweep over the rows at most. A second Ctrl-C stops at once; the latest save
    stays. Before anything has been offered the first stops at once as well.

    Without a checkpoint, and in threads other than the main one, nothing is different from usual.
    """
    if checkpoint is None:
        yield
        return
    with checkpoint.interruption.defer(checkpoint.explain_interruption):
        yield


def _folder(folder: Any) -> Path:
    """The path of a folder, or an error that names the argument."""
    if not isinstance(folder, str | bytes | os.PathLike) or not os.fsdecode(folder):
        raise ValueError(f"checkpoint must be the path of a folder, got {folder!r}.")
    path = Path(os.fsdecode(folder))
    if path.is_file():
        raise CheckpointError(Advice("{checkpoint} is a file; name a folder.", checkpoint=str(path)))
    return path
