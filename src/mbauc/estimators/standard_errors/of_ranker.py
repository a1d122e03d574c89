"""Standard errors of a fitted ranker, from its moments or from the rows of the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import FewRowsWarning
from mbauc.estimators.source_fit import is_source
from mbauc.estimators.standard_errors.from_moments import coefficient_standard_errors
from mbauc.estimators.standard_errors.jackknife import Fit, jackknife_standard_errors
from mbauc.estimators.validation import name_columns, validate_training_data
from mbauc.metrics.intervals.sample_design import FEW_ROWS
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.rows.reading import read_blocks
from mbauc.runtime.threads import blas_for_matrix, thread_count
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]

#: With fewer rows of a class for each weight, errors from moments are a tenth too small and more.
_ROWS_A_WEIGHT = 4


class FittedRanker(Protocol):
    """What standard errors are taken of: fitted attributes and settings of a ranker."""

    coef_: Array
    scale_: Array
    moments_: PairMoments
    solver_: Any
    classes_: NDArray[Any]
    pairs: Any
    pairing: str
    weights: str
    n_jobs: int | None


def errors_from_moments(ranker: FittedRanker, ridge: Array | None) -> Array:
    """As if columns were normal; refused where moments do not tell, with a warning where they tell little."""
    if ridge is None or not hasattr(ranker, "moments_"):
        raise ValueError(
            f"this fit kept no moments to take standard errors from (solver_ is {ranker.solver_.name!r}); pass "
            "its rows, coef_standard_errors(X, y), or fit with solver='gram'."
        )
    if _holds_levels(ranker.moments_):
        raise ValueError(
            "these moments are of pairs within blocks, and do not tell how rows vary within a block; pass "
            "the blocks: coef_standard_errors([(X, y), …])."
        )
    smaller, used = min(ranker.moments_.effective_sizes), int(np.count_nonzero(ranker.coef_))
    if smaller < max(FEW_ROWS, _ROWS_A_WEIGHT * used):
        warn(
            f"the smaller class has an effective size of {smaller:,.0f} rows, for {used:,} weights: standard "
            "errors from moments tend to be too small. Pass the rows: coef_standard_errors(X, y).",
            FewRowsWarning,
        )
    with blas_for_matrix(ranker.coef_.size):
        return coefficient_standard_errors(ranker.moments_, ranker.coef_[0], ridge)[None, :]


def _holds_levels(moments: PairMoments) -> bool:
    """Whether pairs are those within several blocks, whose levels are in the class covariances."""
    plus, minus = moments.counts
    matched = moments.n_pairs == plus == minus
    return moments.is_closed and not matched and moments.n_pairs != plus * minus


def errors_from_rows(ranker: FittedRanker, ridge: Array | None, X: Any, y: Any, sample_weight: Any) -> Array:
    """By leaving out each row of the fit."""
    if ridge is None:
        raise ValueError(
            "this estimator came from a model without moments and does not know its penalty in the columns' "
            "units; take standard errors of the estimator that was fitted."
        )
    if not ranker.coef_.any():
        return np.zeros_like(ranker.coef_)
    in_blocks = y is None
    fit = Fit(
        ranker.coef_[0],
        ridge,
        scaled=ranker.scale_ != 1.0,
        within_block=in_blocks and bool(getattr(ranker, "within_block", False)),
        decay=float(getattr(ranker, "decay", 1.0)) if in_blocks else 1.0,
        drawn=_count_drawn(ranker),
        matched=ranker.pairing == "matched",
    )
    found = jackknife_standard_errors(
        lambda: _read_rows(ranker, X, y, sample_weight), fit, thread_count(ranker.n_jobs)
    )
    known = getattr(ranker, "effective_sample_size_", found.effective_sizes)
    if fit.drawn is None and not np.allclose(known, found.effective_sizes, rtol=1e-6):
        (plus, minus), (fit_plus, fit_minus) = found.effective_sizes, known
        raise ValueError(
            f"these rows count for {plus:,.6g} positives and {minus:,.6g} negatives, those of the fit for "
            f"{fit_plus:,.6g} and {fit_minus:,.6g}; pass the same rows and weights. Pass a stream with "
            "decay as the list of its blocks."
        )
    return found.errors[None, :]


def _count_drawn(ranker: FittedRanker) -> int | None:
    """How many pairs were drawn; None for all."""
    if hasattr(ranker, "moments_"):
        return ranker.moments_.counts[0] if ranker.moments_.is_sampled else None
    pairs: Any = getattr(ranker, "pairs_", ranker.pairs)
    return None if isinstance(pairs, str) else int(pairs)


def _read_rows(ranker: FittedRanker, X: Any, y: Any, sample_weight: Any) -> Iterator[Block]:
    """Rows of a table, of a source, or of a list of blocks."""
    if y is not None:
        yield _check_rows(ranker, X, y, sample_weight)
    elif is_source(X):
        for block in read_blocks(X):
            yield replace(block, frequencies=ranker.weights == "frequency")
    elif isinstance(X, list | tuple) and X and all(isinstance(block, tuple) for block in X):
        for block in X:
            yield _check_rows(ranker, *block)
    else:
        raise ValueError(
            "rows need their labels: coef_standard_errors(X, y), or a list of blocks (X, y) or "
            "(X, y, sample_weight)."
        )


def _check_rows(ranker: FittedRanker, X: Any, y: Any, sample_weight: Any = None) -> Block:
    with name_columns(X):
        return validate_training_data(ranker, X, y, sample_weight, reset=False, classes=ranker.classes_)[0]
