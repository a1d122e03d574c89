"""What columns are divided by before they are penalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.quadratic import Quadratic

Array = NDArray[np.float64]
#: False, True, "auto", or what each column of the data is divided by.
Scaling = bool | Literal["auto"] | Array

#: Rare levels of a category explain variances that differ by as much as there are rows. Beyond this multiple of
#: that, columns are in different units …
_UNITS_DIFFER = 1e3
#: … and so they are beyond this ratio, which double precision cannot hold side by side.
_PRECISION = 1e10
#: Columns of zeros and ones have E[x²] = E[x], up to rounding.
_ZERO_ONE = 1e-9


def scale_columns(pairs: Quadratic, scale: Scaling) -> Array:
    """What each column that the vectors of a quadratic are over is divided by."""
    if isinstance(scale, np.ndarray):
        return scale if pairs.columns is None else np.asarray(scale[pairs.columns])
    _check_underflow(float(pairs.diagonal.max(initial=0.0)))
    return column_scales(scale, *pairs.summarise_columns())


def _check_underflow(largest: float) -> None:
    """Raise if the squares of all columns have lost their digits: what is divided by them overflows."""
    if 0.0 < largest < np.finfo(np.float64).tiny:
        raise ValueError(
            "X holds values so small that their squares underflow float64; rescale the features "
            "(sklearn.preprocessing.MaxAbsScaler)."
        )


def column_scales(
    scale: Scaling, variances: Array, means: Sequence[Array], weights: Sequence[float], n_rows: int
) -> Array:
    """What each column is divided by.

    ``True`` is the standard deviation, 1 for constant columns. ``"auto"`` is 1, as long as variances differ by
    no more than rare levels explain, 1,000 times the number of rows (or 1e10). If they differ by more, columns
    are in different units: columns of zeros and ones are left as they are, all others divided by their
    standard deviation, so that units no longer matter.

    Parameters
    ----------
    scale : bool, "auto" or ndarray
        What is asked for; an array is taken as it is.
    variances : ndarray of shape (d,)
        Of each column over all rows.
    means : sequence of ndarrays of shape (d,)
        By class; a single one for differences, among which there are no columns of zeros and ones.
    weights : sequence of float
        Of the classes.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> flag, income = 0.25 - 0.1**2, 4e10
    >>> means = [np.array([0.6, 5e4]), np.array([0.4, 7e4])]
    >>> column_scales("auto", np.array([0.25, income]), means, [10.0, 10.0], 20)
    array([1.e+00, 2.e+05])
    >>> column_scales("auto", np.array([0.25, 9.0]), means, [10.0, 10.0], 20)
    array([1., 1.])
    """
    if isinstance(scale, np.ndarray):
        return scale
    if scale is False:
        return np.ones(variances.size)
    deviations = np.sqrt(variances)
    largest = np.maximum.reduce([np.abs(mean) for mean in means])
    constant = deviations <= 10 * np.finfo(np.float64).eps * largest
    deviations = np.where(constant, 1.0, deviations)
    if scale is True:
        return deviations
    differing = variances[~constant]
    if not differing.size or differing.max() <= min(_UNITS_DIFFER * n_rows, _PRECISION) * differing.min():
        return np.ones(variances.size)
    if len(means) < 2:
        return deviations
    mean = np.average(means, axis=0, weights=weights if sum(weights) > 0 else None)
    zero_one = np.abs(variances + mean**2 - mean) <= _ZERO_ONE * np.abs(mean)
    return np.where(zero_one, 1.0, deviations)


def check_scale(scale: Any) -> None:
    """Raise unless scale is True, False or "auto"."""
    if isinstance(scale, bool | np.bool_) or (isinstance(scale, str) and scale == "auto"):
        return
    raise ValueError(f"scale must be True, False or 'auto', got {scale!r}.")
