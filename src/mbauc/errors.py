"""The errors and warnings of the package that a caller may want to catch by name."""


class NonFiniteError(ValueError):
    """A NaN or an infinity stood in the data.

    Attributes
    ----------
    row, column : int
        Where the first one stands, counted from 0.
    value : float
        What stands there.
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


class PartError(ValueError):
    """Something is wrong with the rows of one part of a data set on a cluster.

    Attributes
    ----------
    part : int
        Its number, from 0: that of the Dask partition or of the Spark partition.
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
    """A checkpoint cannot be gone on from: damaged, of other settings or data, or in use by another process."""


class DiskFullError(OSError):
    """Something could not be written to disk; the message says what is kept and how to go on."""


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
    """A step was so large that weights grew beyond all bounds."""


class MbaucWarning(UserWarning):
    """Base of the warnings of this package."""


class CancellationWarning(MbaucWarning):
    """Subtracting moments left so little that rounding errors dominate it."""


class SingularWarning(MbaucWarning):
    """The second moment is singular and nothing regularises it."""


class PenaltyWarning(MbaucWarning):
    """The penalty that was chosen lies at the edge of those that were tried: others may rank better."""


class HeavyTailsWarning(MbaucWarning):
    """A single row makes up much of the variance of a column: what goes by variances goes by that row."""


class BinormalWarning(MbaucWarning):
    """Scores are far from normal: AUC estimated from moments is not the AUC of the data."""


class FewRowsWarning(MbaucWarning):
    """A class has too few rows for the coverage that an interval aims at."""


class PositiveLabelWarning(MbaucWarning):
    """The order of two words made most rows positive; it may be the other label that is meant."""


class DataWarning(MbaucWarning):
    """Data were read, but not quite what one may think: another set than on record, or not all files."""
