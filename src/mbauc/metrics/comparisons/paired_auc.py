"""Whether scorers on the same rows differ in AUC: DeLong's paired test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr
from scipy.stats import chi2

from mbauc.checks import check_share, list_some
from mbauc.errors import Advice
from mbauc.metrics.comparisons.holm import holm
from mbauc.metrics.intervals.delong import covariance_of_means, quantile
from mbauc.metrics.intervals.sample_design import Weights, validate_design, warn_of_few_rows
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import mean_of_positives, placements
from mbauc.rows.column_faults import column_names

Array = NDArray[np.float64]

#: Differences of shares up to this, times the root of the number of units, may come from rounding.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)
#: Eigenvalues of a correlation matrix up to this are zero but for rounding.
_DEPENDENT = 1e-12


@dataclass(frozen=True, repr=False)
class AucComparison:
    """Result of a paired comparison of the AUCs of several scorers.

    Attributes
    ----------
    names : list of str
        Names of the scorers.
    auc : ndarray of shape (k,)
        Their AUCs.
    covariance : ndarray of shape (k, k)
        Covariance matrix of the AUC estimates.
    difference, stderr, p_value : ndarray of shape (k, k)
        Difference of AUC (row minus column), its standard error, and the two-sided p-value. Each p-value is for
        a single pair, **not adjusted** for multiple comparisons; see ``holm_p_value``.
    low, high : ndarray of shape (k, k)
        Confidence interval of each difference, not adjusted for multiple comparisons.
    statistic, p_value_all : float
        χ² statistic of the hypothesis that all AUCs are equal, and its p-value.
    confidence : float
        Coverage of the intervals.
    """

    names: list[str]
    auc: Array
    covariance: Array
    difference: Array
    stderr: Array
    p_value: Array
    low: Array
    high: Array
    statistic: float
    p_value_all: float
    confidence: float

    @property
    def holm_p_value(self) -> Array:
        """P-values with Holm's adjustment for all pairs, shape (k, k); see :func:`holm`."""
        return holm(self.p_value)

    def __str__(self) -> str:
        adjusted, alone = self.holm_p_value, len(self.names) == 2
        width = max(len(name) for name in self.names)
        lines = [f"{name:{width}}  {auc:.4f}" for name, auc in zip(self.names, self.auc, strict=True)]
        lines += [
            f"{self.names[i]} - {self.names[j]}: {self.difference[i, j]:+.4f} "
            f"({100 * self.confidence:g}% interval {self.low[i, j]:+.4f} to {self.high[i, j]:+.4f}, "
            f"p = {self.p_value[i, j]:.3g}{'' if alone else f' not adjusted, {adjusted[i, j]:.3g} Holm'})"
            for i, j in combinations(range(len(self.names)), 2)
        ]
        return "\n".join(lines)

    __repr__ = __str__


def compare_roc_auc(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> AucComparison:
    """Paired DeLong test of two or more scorers on the same rows.

    AUCs on the same rows are correlated; the test accounts for the correlation and so detects differences that
    overlapping confidence intervals hide. Variances are computed from differences of placements, which stays
    accurate for scorers that differ in a single pair among a million rows. ``O(k n log n + k² n)`` for k
    scorers.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    scores : mapping of name to scores, or array-like of shape (k, n)
        One row of scores for each scorer.
    sample_weight, weights, clusters, confidence
        As for :func:`roc_auc_interval`.

    Returns
    -------
    AucComparison

    Warns
    -----
    FewRowsWarning
        As for :func:`roc_auc_interval`, for the AUC closest to 0 or 1.

    See Also
    --------
    compare_roc_auc_unpaired : AUCs on different rows.
    compare_grouped_roc_auc : AUCs within groups.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> signal = rng.standard_normal(1000) + y
    >>> print(compare_roc_auc(y, {"clean": signal, "noisy": signal + rng.standard_normal(1000)}))
    clean  0.7122
    noisy  0.6108
    clean - noisy: +0.1014 (95% interval +0.0545 to +0.1482, p = 2.24e-05)
    """
    check_share("confidence", confidence)
    names, table = validate_scorers(scores)
    scorers = [validate_scorer(name, y_true, s, sample_weight) for name, s in zip(names, table, strict=True)]
    first = scorers[0]
    design = validate_design(first, weights, clusters)
    shares = np.column_stack([placements(ranked) for ranked in scorers])
    auc = np.array([mean_of_positives(first, share[first.positive]) for share in shares.T])
    warn_of_few_rows(design.effective_sizes, farthest_from_half(auc), design.kinds)
    return compare_means(
        names,
        auc,
        shares,
        lambda gap: mean_of_positives(first, gap[first.positive]),
        lambda gaps: covariance_of_means(first, design, gaps),
        confidence,
        rounded=first.weight is not None and bool((first.weight % 1).any()),
    )


def validate_scorers(scores: Any) -> tuple[list[str], list[Any]]:
    """Names and scores of two or more scorers, as a caller passed them."""
    if isinstance(scores, Mapping):
        names, table = [str(name) for name in scores], list(scores.values())
    elif (columns := column_names(scores)) is not None:
        raise ValueError(
            "scores must be a dict of scores by name, or an array with a row for each scorer, got a table "
            f"with the columns {list_some(map(repr, columns))}; pass "
            "{name: table[name] for name in table.columns}."
        )
    else:
        table = list(np.atleast_2d(np.asarray(scores, dtype=np.float64)))
        names = [str(k) for k in range(len(table))]
    if len(table) < 2:
        raise ValueError(
            "scores must hold at least two scorers to compare"
            + Advice("; use roc_auc_interval for one.", command=".")
        )
    return names, table


def farthest_from_half(auc: Array) -> float:
    """The AUC that is nearest to 0 or 1."""
    return float(max(auc, key=lambda value: abs(value - 0.5)))


def compare_means(
    names: list[str],
    auc: Array,
    shares: Array,
    mean: Callable[[Array], float],
    covariance: Callable[[Array], Array],
    confidence: float,
    *,
    rounded: bool,
    freedom: float = np.inf,
) -> AucComparison:
    """Compare k AUCs that are means over units (rows, groups) of shares of pairs won, shape (units, k).

    ``mean`` and ``covariance`` are those of the means of other columns over the same units. ``rounded`` says
    that equal shares may differ by rounding. With few units the quantiles are Student's.
    """
    # differences of shares, not of variances: nearly equal scorers differ in few units, by little
    difference, stderr = np.zeros((len(auc), len(auc))), np.zeros((len(auc), len(auc)))
    for i, j in combinations(range(len(auc)), 2):
        gap = _gap(shares[:, i], shares[:, j], rounded=rounded)
        difference[i, j] = mean(gap)
        stderr[i, j] = np.sqrt(covariance(gap[:, None])[0, 0])
    difference, stderr = difference - difference.T, stderr + stderr.T
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0.0, 0.0, np.abs(difference) / stderr)
    half = quantile(confidence, freedom) * stderr
    to_first = [_gap(shares[:, 0], share, rounded=rounded) for share in shares.T[1:]]
    return AucComparison(
        names,
        auc,
        covariance(shares),
        difference,
        stderr,
        2 * (ndtr(-z) if np.isinf(freedom) else stdtr(freedom, -z)),
        difference - half,
        difference + half,
        *_all_equal(difference[0, 1:], covariance(np.column_stack(to_first))),
        confidence,
    )


def _gap(first: Array, second: Array, *, rounded: bool) -> Array:
    """How the shares of the units differ between two scorers.

    Where weights are not whole numbers, their sums differ a little by the order in which they are added up.
    """
    gap = first - second
    if rounded:
        gap[np.abs(gap) <= _ROUNDING * np.sqrt(gap.size)] = 0.0
    return gap


def _all_equal(gaps: Array, covariance: Array) -> tuple[float, float]:
    """χ² of all gaps being zero, and its p-value; gaps that follow from others do not count."""
    spread_of_gaps = np.sqrt(np.diag(covariance))
    known = spread_of_gaps > 0.0
    if gaps[~known].any():
        return np.inf, 0.0
    if not known.any():
        return 0.0, 1.0
    units = spread_of_gaps[known]
    values, vectors = np.linalg.eigh(covariance[np.ix_(known, known)] / np.outer(units, units))
    free = values > _DEPENDENT
    statistic = float(((vectors.T @ (gaps[known] / units))[free] ** 2 / values[free]).sum())
    return statistic, float(chi2.sf(statistic, int(free.sum())))


def validate_scorer(name: str, y: Any, s: Any, sample_weight: Any) -> RankedScores:
    """The scores of one of several scorers, or an error that names it."""
    try:
        return RankedScores.validate(y, s, sample_weight, s_name=None)
    except ValueError as error:
        raise ValueError(f"scorer {name!r}: {error}") from None
