"""Sampled pairs as products, from the rows that were drawn alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.pairs.operator.dense import DensePairOperator
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.rows.finite import require_finite
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.rows.parts.draw import Sample

Array = NDArray[np.float64]


class SampledOperator(NamedTuple):
    """Pairs that were drawn, and where their rows lie."""

    #: the drawn rows of both classes (all pairs among them), or the differences of the pairs as drawn
    pairs: SparsePairOperator | DensePairOperator
    #: mean of the two class means, shape (d,)
    middle: Array


def build_sample_operator(sample: Sample, matched: bool, n_threads: int) -> SampledOperator:
    """Pairs of rows i[k], j[k], or all pairs among them, as a linear operator.

    Reads and copies the drawn rows, nothing else.

    Parameters
    ----------
    sample : Sample
        The pairs, and rows that hold them.
    matched : bool
        Whether to pair row k of one with row k of the other, instead of all with all.
    n_threads : int
        Threads to use.

    Raises
    ------
    NonFiniteError
        At the first NaN or infinity among the drawn rows, by its row in X.
    """
    X, drawn = sample.block.X, sample.pairs
    X = canonical_csr(X) if is_sparse(X) else X
    plus, minus = X[drawn[0]], X[drawn[1]]
    for part, numbers in zip((plus, minus), drawn, strict=True):
        require_finite(part, numbers)
    middle = (np.asarray(plus.mean(axis=0)).ravel() + np.asarray(minus.mean(axis=0)).ravel()) / 2
    size = drawn[0].size
    if matched:
        if plus.dtype != np.float64:
            plus = plus.astype(np.float64)
        try:
            with np.errstate(over="ignore"):
                return SampledOperator(
                    build_matrix_operator(plus - minus, [np.arange(size)], None, n_threads), middle
                )
        except NonFiniteError:  # of two numbers that are finite
            raise ValueError(
                "X holds values whose differences overflow float64; rescale the features."
            ) from None
    together = np.concatenate(drawn)
    strata = [np.arange(size), np.arange(size, together.size)]
    return SampledOperator(build_matrix_operator(X[together], strata, None, n_threads), middle)
