"""AUC over the pairs within groups, and an interval for which the groups are what was sampled."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_flag, check_share
from mbauc.errors import FewRowsWarning, OneClassGroupsWarning
from mbauc.losses import PairWeights
from mbauc.metrics.intervals.delong import AucInterval, Scale, check_scale, interval_ends
from mbauc.metrics.intervals.sample_design import effective_size, enough_rows
from mbauc.metrics.ranked import RankedScores
from mbauc.rows.groups import check_groups
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]

#: With fewer groups than this (equal ones that say as much) an interval is rough.
FEW_GROUPS = 10


def grouped_roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    equal_groups: bool = False,
) -> float:
    """AUC within groups: the share of correctly ranked pairs among pairs of rows of the same group.

    Only rows of the same group are compared, so it measures the ranking within each query, user or day and is
    invariant to a shift of the scores of any group. Ties count one half. ``O(n log n)``.

    Parameters
    ----------
    y_true, y_score
        As for :func:`roc_auc`.
    groups : array-like of shape (n,)
        Group of each row: numbers or strings.
    sample_weight
        As for :func:`roc_auc`.
    equal_groups : bool, default=False
        Whether to average over groups with equal weights (macro average). By default groups are weighted by
        their number of pairs.

    Returns
    -------
    float

    Warns
    -----
    OneClassGroupsWarning
        If groups have rows of only one class. They have no pairs and are ignored.

    Examples
    --------
    >>> y, s, day = [0, 1, 0, 1, 1], [0.1, 0.2, 0.7, 0.9, 0.6], ["mon", "mon", "tue", "tue", "tue"]
    >>> print(f"{grouped_roc_auc(y, s, day):.4f}")
    0.6667
    >>> grouped_roc_auc(y, s, day, equal_groups=True)
    0.75
    """
    return GroupedAuc.validate(y_true, y_score, groups, sample_weight, equal_groups=equal_groups).auc


def grouped_roc_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    equal_groups: bool = False,
    confidence: float = 0.95,
    scale: Scale = "logit",
) -> AucInterval:
    """AUC within groups with a confidence interval that treats groups as the independent sampling units.

    Groups must be independent of each other; rows within a group may be dependent in any way. With πg the
    weight of group g (its share of the pairs, or 1/G with ``equal_groups``), the AUC is Σ πg Ag, and its
    variance is estimated by Σ (πg (Ag - AUC))² / (1 - πg): for equal groups the variance of a mean, otherwise
    the delta method for a ratio, with a leverage correction. Quantiles are Student's t with one degree of
    freedom less than the effective number of groups, 1 / Σ πg² (Kish). ``O(n log n)``.

    In simulations with 6 to 200 groups of equal or very different sizes, at AUCs from 0.77 to 0.94, the
    coverage of 95% intervals was 93.8% to 95.8% in the settings without a warning, and 89.8% to 99.0% in the
    others (docs/results/coverage.md).

    Parameters
    ----------
    y_true, y_score, groups, sample_weight, equal_groups
        As for :func:`grouped_roc_auc`. The meaning of weights does not matter, because the variance is
        estimated between groups.
    confidence : float, default=0.95
        Coverage, between 0 and 1.
    scale : {"logit", "linear"}, default="logit"
        Scale on which the interval is symmetric. On the logit scale it stays within [0, 1].

    Returns
    -------
    AucInterval
        If all groups are ranked perfectly, the interval is (α/2)^(1/m) to 1, as for :func:`roc_auc_interval`,
        with m the number of groups.

    Warns
    -----
    OneClassGroupsWarning
        As for :func:`grouped_roc_auc`.
    FewRowsWarning
        If there are too few groups for the nominal coverage: an effective number below 10, or below 2 / (1 -
        AUC), which is 40 for an AUC of 0.95.

    References
    ----------
    Obuchowski 1997 for clustered ROC curves; MacKinnon and White 1985 for the correction.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> user = np.repeat(np.arange(200), 10)
    >>> y = np.tile(np.arange(10) < 3, 200)
    >>> s = rng.standard_normal(2000) + y + 5 * rng.standard_normal(200)[user]
    >>> print(grouped_roc_auc_interval(y, s, user))
    0.7586 (95% interval 0.7333 to 0.7822)
    """
    check_share("confidence", confidence)
    check_scale(scale)
    found = GroupedAuc.validate(y_true, y_score, groups, sample_weight, equal_groups=equal_groups)
    interval = found.interval(confidence, scale)
    warn_of_few_groups(found.effective_groups, interval.auc)
    return interval


class GroupedAuc(NamedTuple):
    """AUC of each group with rows of both classes, and the share of the whole that it counts for.

    Attributes
    ----------
    aucs : ndarray of shape (n_groups,)
        AUC of each group.
    shares : ndarray of shape (n_groups,)
        Their shares, which add up to 1 but for rounding.
    """

    aucs: Array
    shares: Array

    @classmethod
    def validate(
        cls, y: Any, s: Any, groups: Any, sample_weight: Any = None, *, equal_groups: Any = False
    ) -> GroupedAuc:
        """From what a caller passed; groups of one class are warned of."""
        check_flag("equal_groups", equal_groups)
        ranked = RankedScores.validate(y, s, sample_weight)
        pairs = pairs_within_groups(ranked, groups)
        warn_of_one_class_groups(pairs)
        found = cls.of(pairs, ranked.values)
        return found.equally() if equal_groups else found

    @classmethod
    def of(cls, pairs: PairWeights, scores: Array) -> GroupedAuc:
        """From pairs, by their weights, and the scores of all rows."""
        return cls(group_aucs(pairs, scores), pairs.group_shares)

    def equally(self) -> GroupedAuc:
        """The same with each group counting alike."""
        return GroupedAuc(self.aucs, np.full(self.aucs.size, 1.0 / self.aucs.size))

    @property
    def auc(self) -> float:
        """Mean over the groups."""
        return float(np.average(self.aucs, weights=self.shares))

    @property
    def effective_groups(self) -> float:
        """How many groups of equal shares say as much (Kish)."""
        return effective_size(self.shares)

    def interval(self, confidence: float = 0.95, scale: Scale = "logit") -> AucInterval:
        """With the interval of a sample of groups, without a word where they are few."""
        auc = self.auc
        stderr = float(np.sqrt(covariance_of_group_means(self.aucs[:, None], self.shares)[0, 0]))
        size = self.effective_groups
        low, high = interval_ends(auc, stderr, size, confidence, scale, freedom=size - 1.0)
        return AucInterval(auc, low, high, stderr, confidence)


def covariance_of_group_means(values: Array, shares: Array) -> Array:
    """Covariance of k weighted means over groups of values, shape (G, k)."""
    if shares.size < 2:
        raise ValueError(
            "an interval needs at least 2 groups with rows of both classes, got 1. For "
            "the rows of a single group use roc_auc_interval."
        )
    share = shares / shares.sum()
    apart = values - values[0]  # exactly 0 where all are equal
    apart = (apart - share @ apart) * (share / np.sqrt(1.0 - share))[:, None]
    return np.asarray(apart.T @ apart)


def warn_of_few_groups(groups: float, auc: float) -> None:
    """Warn where an interval over groups may not hold the truth as often as it says."""
    enough = enough_rows(auc, FEW_GROUPS)
    if groups < enough:
        near = "" if enough == FEW_GROUPS else f" at an AUC of {auc:.4f}"
        warn(
            f"the effective number of groups is {groups:.3g}; with fewer than {enough:,}{near} the confidence "
            "interval is unreliable.",
            FewRowsWarning,
        )


# -- pairs within groups --------------------------------------------------------------------------------------


def pairs_within_groups(ranked: RankedScores, groups: Any) -> PairWeights:
    """The pairs of rows of the same group, each counting alike."""
    return PairWeights.build(ranked.positive, ranked.weight, check_groups(groups, ranked.values.size))


class CountedGroups(Protocol):
    """Groups of which some are of one class."""

    @property
    def n_groups(self) -> int:
        """Groups with rows of both classes."""

    @property
    def one_class_groups(self) -> int:
        """The others."""

    @property
    def one_class_rows(self) -> int:
        """Their rows."""


def warn_of_one_class_groups(pairs: CountedGroups) -> None:
    """Warn of groups without a pair, if there are any."""
    if pairs.one_class_groups:
        n_groups = pairs.one_class_groups + pairs.n_groups
        warn(
            f"{pairs.one_class_groups:,} of {n_groups:,} groups have rows of one class only "
            f"({pairs.one_class_rows:,} rows in all); they have no pairs and are ignored.",
            OneClassGroupsWarning,
        )


def group_aucs(pairs: PairWeights, scores: Array) -> Array:
    """AUC of each group by the weights of its pairs; exactly 0 or 1 where its classes do not overlap.

    ``O(n log n)``: rows are sorted by group and score, and what lies below each is a difference of sums.
    """
    group, values = pairs.row_groups, scores[np.concatenate([pairs.plus, pairs.minus])]
    order = _sort_by_group(group, values, pairs.n_groups)
    group, values = group[order], values[order]
    is_new = np.append(True, (group[1:] != group[:-1]) | (values[1:] != values[:-1]))
    runs = np.flatnonzero(is_new)  # of equal scores
    plus = _sum_of_runs(_relative(pairs.plus_weight, pairs.plus_starts), order, runs, 0)
    minus = _sum_of_runs(_relative(pairs.minus_weight, pairs.minus_starts), order, runs, pairs.plus.size)
    first = np.searchsorted(group[runs], np.arange(pairs.n_groups))
    ends = np.append(first, runs.size)
    n_runs = np.diff(ends)
    up_to = np.append(0.0, np.cumsum(minus))
    below = up_to[:-1] - up_to[first].repeat(n_runs) + minus / 2
    above = up_to[ends[1:]].repeat(n_runs) - up_to[1:] + minus / 2
    won, lost = np.add.reduceat(plus * below, first), np.add.reduceat(plus * above, first)
    return np.asarray(won / (won + lost))


def _sort_by_group(group: NDArray[np.intp], values: Array, n_groups: int) -> NDArray[np.intp]:
    """Order of the rows by group, and within one by score."""
    order = np.argsort(values)
    # numbers of two bytes are sorted digit by digit
    key = group[order].astype(np.uint16 if n_groups <= 1 << 16 else np.uint32)
    return order if n_groups == 1 else order[np.argsort(key, kind="stable")]


def _relative(weight: Array, starts: NDArray[np.intp]) -> Array:
    """Weights over the largest of their group: ones where all are equal, so that sums are exact counts."""
    return np.asarray(weight / np.maximum.reduceat(weight, starts[:-1]).repeat(np.diff(starts)))


def _sum_of_runs(weight: Array, order: NDArray[np.intp], runs: NDArray[np.intp], first: int) -> Array:
    """Weight of one class, whose rows are numbered from ``first`` on, in each run of equal scores."""
    mass = np.zeros(order.size)
    mass[first : first + weight.size] = weight
    return np.asarray(np.add.reduceat(mass[order], runs))
