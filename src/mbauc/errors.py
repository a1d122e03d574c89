"""Exceptions and warnings of the package."""

from __future__ import annotations

from collections.abc import Callable
from string import Formatter
from typing import Any, NamedTuple

__all__ = [
    "Advice",
    "BinormalWarning",
    "CancellationWarning",
    "CheckpointError",
    "DataWarning",
    "DiskFullError",
    "DivergedError",
    "DownloadError",
    "FewRowsWarning",
    "HeavyTailsWarning",
    "LeftOutWarning",
    "MbaucWarning",
    "ModelFileError",
    "MomentFileError",
    "NoPairsError",
    "NonFiniteError",
    "NotAvailableError",
    "NotTestedWarning",
    "OneClassGroupsWarning",
    "PartError",
    "PenaltyWarning",
    "PositiveLabelWarning",
    "SingularWarning",
]


class Sentence(NamedTuple):
    """A piece of advice: a template whose fields are arguments, their values, and other words for a command."""

    template: str
    arguments: dict[str, Any]
    command: str | None

    def render(self, write: Callable[..., str]) -> str:
        """The sentence with arguments as ``write`` has them, called with a name and the value, if any."""
        return _fill(self.template, self.arguments, write)

    def render_for_command(self, write: Callable[..., str]) -> str:
        """The same in the words for a command; nothing if it names an argument that ``write`` does not know."""
        try:
            return _fill(self.template if self.command is None else self.command, self.arguments, write)
        except LookupError:
            return ""


class Advice(str):
    """Advice in an error message, with argument names rendered for Python or for the command line.

    As a string it is the text for Python. The arguments are kept as data, so that the command line can write
    them as options; they survive concatenation with ``+``, use as the message of an exception or a warning, and
    pickling, but not an f-string.

    Parameters
    ----------
    template : str
        A sentence. Each ``{name}`` becomes ``name=value``, or ``name`` alone if no value is given.
    command : str, optional
        Alternative sentence for the command line; nothing if it is empty. A sentence with an argument that is
        not an option is omitted there in any case.
    **arguments
        Suggested values; an ellipsis stands for a value that only the user knows.

    Examples
    --------
    >>> advice = Advice("Pass {types}, or check {label}.", types={"depth": "category"})
    >>> error = ValueError("column 'depth' holds text. " + advice)
    >>> str(error)
    "column 'depth' holds text. Pass types={'depth': 'category'}, or check label."
    >>> str(error).for_command(lambda name, *value: f"--{name}")
    "column 'depth' holds text. Pass --types, or check --label."
    """

    _pieces: tuple[str | Sentence, ...]

    def __new__(cls, template: str, /, *, command: str | None = None, **arguments: Any) -> Advice:
        """A sentence alone."""
        return cls._of((Sentence(template, arguments, command),))

    @classmethod
    def of_argument(cls, name: str, *value: Any) -> Advice:
        """Advice that consists of one argument, with its value if there is one."""
        return cls._of((Sentence(f"{{{name}}}", dict(zip((name,), value, strict=False)), None),))

    @classmethod
    def _of(cls, pieces: tuple[str | Sentence, ...]) -> Advice:
        texts = (piece if isinstance(piece, str) else piece.render(_in_python) for piece in pieces)
        made = super().__new__(cls, "".join(texts))
        made._pieces = pieces
        return made

    def __str__(self) -> Advice:  # also what str(error) gives, so that errors can be joined to others
        return self

    def __add__(self, text: str) -> Advice:
        return Advice._of((*self._pieces, *_pieces(text)))

    def __radd__(self, text: str) -> Advice:
        return Advice._of((*_pieces(text), *self._pieces))

    def __reduce__(self) -> tuple[Any, ...]:
        return Advice._of, (self._pieces,)

    @property
    def fact(self) -> str:
        """The message without its advice."""
        return "".join(piece for piece in self._pieces if isinstance(piece, str)).rstrip()

    def for_command(self, write: Callable[..., str]) -> str:
        """Render the text for a command line, with arguments formatted by ``write``.

        Parameters
        ----------
        write : callable
            Called with the name of an argument and its value, if any; raises LookupError if there is no such
            option.
        """
        texts = (piece if isinstance(piece, str) else piece.render_for_command(write) for piece in self._pieces)
        return "".join(texts).strip()


def _pieces(text: str) -> tuple[str | Sentence, ...]:
    return text._pieces if isinstance(text, Advice) else (text,)


def _fill(template: str, arguments: dict[str, Any], write: Callable[..., str]) -> str:
    """A template with its fields written."""
    found = []
    for text, name, _, _ in Formatter().parse(template):
        found.append(text)
        if name is not None:
            found.append(write(name, arguments[name]) if name in arguments else write(name))
    return "".join(found)


def _in_python(name: str, *value: Any) -> str:
    """An argument as Python has it."""
    return f"{name}={_repr(value[0])}" if value else name


def _repr(value: Any) -> str:
    if value is ...:
        return "…"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_repr(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_repr, value)) + "]"
    return repr(value)


class NonFiniteError(ValueError):
    """The data contain NaN or infinity.

    Attributes
    ----------
    row, column : int
        Position of the first such value, from 0.
    value : float
        Its value.
    name : str or None
        Name of the column, if it has one.
    """

    def __init__(self, row: int, column: int, value: float, name: str | None = None) -> None:
        self.row, self.column, self.value, self.name = row, column, value, name
        label = f" ({name!r})" if name is not None else ""
        what = "NaN" if value != value else ("inf" if value > 0 else "-inf (infinity)")
        super().__init__(
            f"X contains {what} at row {row:,}, column {column:,}{label}; every value must be finite. "
            + ("Impute it (sklearn.impute.SimpleImputer)" if value != value else "Clip it")
            + " or drop the row."
        )

    def __reduce__(self) -> tuple[type, tuple[int, int, float, str | None]]:
        return type(self), (self.row, self.column, self.value, self.name)


class NoPairsError(ValueError):
    """There is no pair of a positive and a negative row, or none within a group."""


class PartError(ValueError):
    """Rows in one partition of a distributed data set are invalid.

    Attributes
    ----------
    part : int
        Number of the Dask or Spark partition, from 0.
    reason : str
        What is wrong, and where in the part.
    """

    def __init__(self, part: int, reason: str) -> None:
        self.part, self.reason = part, reason
        super().__init__(f"in partition {part:,} (counted from 0): {reason}")

    def __reduce__(self) -> tuple[type, tuple[int, str]]:
        return type(self), (self.part, self.reason)


class MomentFileError(ValueError):
    """A file contains no pair moments, is damaged, or has an unsupported format version."""


class ModelFileError(ValueError):
    """A file contains no model, is damaged, or has an unsupported format version."""


class CheckpointError(ValueError):
    """A checkpoint cannot be resumed: it is damaged, belongs to other settings or data, or is in use."""


class DiskFullError(OSError):
    """A file could not be written to disk; the message says what is kept and how to resume."""


class NotAvailableError(FileNotFoundError):
    """A data set is not on this machine; the message says where it was looked for and where to get it."""


class DownloadError(OSError):
    """A file could not be downloaded.

    Attributes
    ----------
    status : int or None
        HTTP status of the server's response (404 if there is no such file), if that was the error.
    """

    status: int | None = None


class DivergedError(ValueError):
    """The optimiser diverged: the step size was too large."""


class MbaucWarning(UserWarning):
    """Base class of the warnings of this package."""


class CancellationWarning(MbaucWarning):
    """Cancellation leaves few correct digits: moments were subtracted, or a column is far from zero."""


class SingularWarning(MbaucWarning):
    """The second moment Σ is singular, and there is no regularisation."""


class PenaltyWarning(MbaucWarning):
    """The selected penalty is at the edge of the grid; values beyond it may rank better."""


class HeavyTailsWarning(MbaucWarning):
    """A single row accounts for much of the variance of a column and dominates results based on variances."""


class BinormalWarning(MbaucWarning):
    """Scores are far from normal: the binormal AUC from moments differs from the AUC of the data."""


class FewRowsWarning(MbaucWarning):
    """There are too few rows of a class, or too few groups, for the nominal coverage of an interval."""


class NotTestedWarning(MbaucWarning):
    """The test on held-out rows was requested but not possible."""


class OneClassGroupsWarning(MbaucWarning):
    """Some groups have rows of only one class: they have no pairs and are ignored."""


class PositiveLabelWarning(MbaucWarning):
    """By the sort order of the labels the majority class is positive; the other label may be meant."""


class LeftOutWarning(MbaucWarning):
    """Columns of a data frame were dropped: they are empty, or have a different value in nearly every row."""


class DataWarning(MbaucWarning):
    """The data read are not those expected: incomplete files, or values unlike those of training."""
