"""What all blocks of a data set have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Schema:
    """Number of columns and, where they have some, their names as they stand in the data."""

    n_features: int
    names: tuple[Any, ...] | None = None

    def name_of(self, column: int) -> str | None:
        """Name of a column, for messages."""
        return None if self.names is None else str(self.names[column])

    def arrange(self, X: Any) -> Any:
        """A table with its columns in the order of all blocks; anything without names as it is."""
        names = getattr(X, "columns", None)
        if self.names is None or names is None or len(names) != self.n_features:
            return X
        if tuple(names) == self.names or self.n_features == 1:
            return X
        if set(names) != set(self.names):
            missing = next(name for name in self.names if name not in set(names))
            raise ValueError(f"X has no column {missing!r}, which other blocks have; all must have the same.")
        return X[list(self.names)]
