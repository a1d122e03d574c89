"""What lines of LIBSVM text have to keep to, as far as the caller says or a pass has found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.errors import Advice
from mbauc.readers.libsvm.labels import LibsvmLabels
from mbauc.readers.libsvm.lines import Text

#: The largest index.
LARGEST = 2**31 - 1


class Rules(NamedTuple):
    """What lines have to keep to."""

    #: Whether the first column has index 0; None if that is yet to be seen.
    zero_based: bool | None
    #: Number of columns, if it is known.
    n_features: int | None
    #: The labels that may occur; empty if any number may.
    known: NDArray[np.float64]
    #: Text labels, negative first, each with a zero after it.
    words: Text | None
    #: Whether lines that do not keep to the rules are passed over.
    skip: bool
    #: Whether labels are ignored, as when rows are scored.
    any_label: bool = False
    #: Whether each row has a query number, which is its group.
    grouped: bool = False

    @property
    def base(self) -> int:
        """Index of the first column; 1 as long as no index 0 has been seen."""
        return 0 if self.zero_based else 1

    @property
    def least(self) -> int:
        """The lowest column that may occur."""
        return -1 if self.zero_based is None else 0

    @property
    def most(self) -> int:
        """The highest column that may occur."""
        return (LARGEST - self.base) if self.n_features is None else self.n_features - 1

    def completed(self, lowest: int, highest: int) -> Rules | None:
        """The rules with the range of columns that a pass has found.

        None if the pass has to be repeated with ``zero_based=True``.
        """
        rules, shift = self, 0
        if rules.zero_based is None:
            shift = 1 if lowest < 0 else 0
            rules = rules._replace(zero_based=bool(shift))
        width = highest + shift + 1
        if rules.n_features is None:
            if width < 1:
                raise ValueError(
                    "no row has an entry 'index:value', so the number of columns is unknown. "
                    + Advice("Pass {n_features}.", command="Check the files.")
                )
            return rules._replace(n_features=width)
        # an index that is one too large was let pass as long as the first column seemed to have index 1
        return rules if width <= rules.n_features else None


def make_rules(n_features: int | None, zero_based: bool | str, labels: LibsvmLabels, on_error: str) -> Rules:
    """What lines have to keep to, as far as the caller says."""
    check_choice("on_error", on_error, ("stop", "skip"))
    if n_features is not None:
        check_whole("n_features", n_features)
        if n_features > LARGEST + 1:
            raise ValueError(f"n_features must be at most {LARGEST + 1:,}, got {n_features:,}.")
    if not isinstance(zero_based, bool | np.bool_) and zero_based != "auto":
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}.")
    return Rules(
        None if zero_based == "auto" else bool(zero_based),
        None if n_features is None else int(n_features),
        labels.known,
        labels.words,
        on_error == "skip",
    )
