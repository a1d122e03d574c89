"""The errors and warnings of the package that a caller may want to catch by name, and what they advise."""

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
    """Text of an error that names arguments: in Python as Python has them, elsewhere as options.

    As a string it is the text for Python. The arguments stay with it as data, so that the command line can
    write them as options: after texts were put before and behind it with ``+``, as the text of an exception or
    a warning, and through pickle. An f-string makes plain text of it.

    Parameters
    ----------
    template : str
        A sentence. Each ``{name}`` becomes ``name=value``, or ``name`` alone if no value is given.
    command : str, optional
        Other words for the command line; nothing at all if it is empty. A sentence with an argument that is no
        option is left out there in any case.
    **arguments
        Values to pass; an ellipsis stands for one that only the reader knows.

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
        """An argument alone, with its value if there is one."""
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
        """The text without its advice."""
        return "".join(piece for piece in self._pieces if isinstance(piece, str)).rstrip()

    def for_command(self, write: Callable[..., str]) -> str:
        """The text for a command line, with arguments as ``write`` has them.

        Parameters
        ----------
        write : callable
            Called with the name of an argument and, if there is one, its value; raises LookupError if there is
            no option for it.
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
    """The data hold a NaN or an infinity.

    Attributes
    ----------
    row, column : int
        Place of the first one, counted from 0.
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
    """The rows of one part of a data set on a cluster are invalid.

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
    """A file does not hold pair moments that this version can read."""


class ModelFileError(ValueError):
    """A file does not hold a model that this version can read."""


class CheckpointError(ValueError):
    """A checkpoint cannot be resumed: damaged, of other settings or data, or in use by another process."""


class DiskFullError(OSError):
    """A file could not be written to disk; the message says what is kept and how to resume."""


class NotAvailableError(FileNotFoundError):
    """A data set is not on this machine; the message says where it was looked for and where to get it."""


class DownloadError(OSError):
    """A file could not be downloaded.

    Attributes
    ----------
    status : int or None
        What the server answered (404 if it has no such file), if it was the answer that was wrong.
    """

    status: int | None = None


class DivergedError(ValueError):
    """The weights diverged: the step was too large."""


class MbaucWarning(UserWarning):
    """Base of the warnings of this package."""


class CancellationWarning(MbaucWarning):
    """Subtracting moments left so little that rounding errors dominate it."""


class SingularWarning(MbaucWarning):
    """The second moment is singular and nothing regularises it."""


class PenaltyWarning(MbaucWarning):
    """The chosen penalty lies at the edge of the grid: others may rank better."""


class HeavyTailsWarning(MbaucWarning):
    """A single row makes up much of the variance of a column, and so decides what depends on variances."""


class BinormalWarning(MbaucWarning):
    """Scores are far from normal: AUC estimated from moments is not the AUC of the data."""


class FewRowsWarning(MbaucWarning):
    """A class has too few rows for the coverage that an interval aims at."""


class NotTestedWarning(MbaucWarning):
    """Rows were to be held out for a test, and it could not be made."""


class OneClassGroupsWarning(MbaucWarning):
    """Groups have rows of one class only: they have no pairs and do not count."""


class PositiveLabelWarning(MbaucWarning):
    """The sort order of two labels made most rows positive; the other label may be meant."""


class LeftOutWarning(MbaucWarning):
    """Columns of a data frame are not learned from: they are empty, or differ in nearly every row."""


class DataWarning(MbaucWarning):
    """Data were read, but not as expected: another set than on record, or not all files."""
