"""Whether methods differ over many data sets, by their ranks (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from mbauc.checks import check_share
from mbauc.metrics.comparisons.holm import holm
from mbauc.metrics.comparisons.splits import finite_vector

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class RankTests:
    """Rank tests of several methods over several data sets.

    First test whether the methods differ at all (Friedman, or preferably Iman-Davenport), then which do, by
    post-hoc tests of all pairs (``nemenyi_p_value``, ``critical_difference``, ``wilcoxon_holm_p_value``) or of
    all methods against one (``holm_against``).

    Attributes
    ----------
    names : list of str
        Names of the methods.
    mean_rank : ndarray of shape (k,)
        Mean rank of each method over the data sets; 1 is best.
    friedman_p_value : float
        P-value of the Friedman test that all methods are equal; NaN for two methods, for which Wilcoxon's test
        is used.
    wilcoxon_p_value : ndarray of shape (k, k)
        Two-sided p-values of Wilcoxon's signed-rank test for each pair, **not adjusted** for multiple
        comparisons; see ``wilcoxon_holm_p_value``.
    iman_davenport_p_value : float
        P-value of the Iman-Davenport F statistic, which corrects the conservative Friedman test; NaN for two
        methods.
    n_datasets : int
        Number of data sets.
    """

    names: list[str]
    mean_rank: Array
    friedman_p_value: float
    wilcoxon_p_value: Array
    iman_davenport_p_value: float
    n_datasets: int

    @property
    def wilcoxon_holm_p_value(self) -> Array:
        """Wilcoxon p-values with Holm's adjustment for all pairs, shape (k, k)."""
        return holm(self.wilcoxon_p_value)

    @property
    def nemenyi_p_value(self) -> Array:
        """P-values of Nemenyi's test of two mean ranks, shape (k, k), adjusted for all pairs."""
        apart = np.abs(self.mean_rank[:, None] - self.mean_rank[None, :]) / self._stderr
        p = stats.studentized_range.sf(np.sqrt(2.0) * apart, len(self.names), np.inf)
        return np.where(apart == 0.0, 1.0, np.clip(p, 0.0, 1.0))

    def critical_difference(self, confidence: float = 0.95) -> float:
        """Critical difference of Nemenyi's test: the smallest significant difference of two mean ranks.

        Parameters
        ----------
        confidence : float, default=0.95
            One minus the family-wise error rate, between 0 and 1.
        """
        check_share("confidence", confidence)
        reach = float(stats.studentized_range.ppf(confidence, len(self.names), np.inf))
        return reach / float(np.sqrt(2.0)) * self._stderr

    def holm_against(self, control: str) -> dict[str, float]:
        """Holm-adjusted p-values of each other method against a control, from mean ranks.

        More powerful than comparing all pairs, if only differences from one method are of interest.

        Parameters
        ----------
        control : str
            Name of the control method.
        """
        if control not in self.names:
            raise ValueError(f"control must be one of {', '.join(map(repr, self.names))}, got {control!r}.")
        at = self.names.index(control)
        others = [k for k in range(len(self.names)) if k != at]
        z = np.abs(self.mean_rank[others] - self.mean_rank[at]) / self._stderr
        adjusted = holm(2 * stats.norm.sf(z))
        return {self.names[k]: float(p) for k, p in zip(others, adjusted, strict=True)}

    @property
    def _stderr(self) -> float:
        """Standard error of the difference of two mean ranks where no method is better."""
        k = len(self.names)
        return float(np.sqrt(k * (k + 1) / (6 * self.n_datasets)))

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [
            f"{name:{width}}  mean rank {rank:.2f}"
            for name, rank in zip(self.names, self.mean_rank, strict=True)
        ]
        if len(self.names) > 2:
            lines.append(
                f"all equal: p = {self.iman_davenport_p_value:.3g} (Iman-Davenport), "
                f"{self.friedman_p_value:.3g} (Friedman)"
            )
        adjusted, nemenyi = self.wilcoxon_holm_p_value, self.nemenyi_p_value
        lines += [
            f"{self.names[i]} - {self.names[j]}: p = {nemenyi[i, j]:.3g} (Nemenyi), {adjusted[i, j]:.3g} "
            f"(Wilcoxon, Holm), {self.wilcoxon_p_value[i, j]:.3g} (Wilcoxon, not adjusted)"
            for i, j in combinations(range(len(self.names)), 2)
        ]
        return "\n".join(lines)

    __repr__ = __str__


def rank_tests(scores: Mapping[str, ArrayLike]) -> RankTests:
    """Compare methods over several data sets by ranks, with post-hoc tests.

    Pass one number for each data set and method, such as the mean AUC over splits: data sets are independent,
    splits of one data set are not. The Friedman and Iman-Davenport tests show whether any methods differ; the
    Nemenyi, Holm and Wilcoxon tests show which.

    Parameters
    ----------
    scores : mapping of method to array-like of shape (n,)
        Score of each method on each of n data sets, in the same order; higher is better.

    Returns
    -------
    RankTests

    References
    ----------
    Demšar 2006, Statistical comparisons of classifiers over multiple data sets; Iman and Davenport 1980,
    Approximations of the critical region of the Friedman statistic; Nemenyi 1963, Distribution-free multiple
    comparisons.

    Examples
    --------
    >>> tests = rank_tests({
    ...     "a": [0.90, 0.80, 0.70, 0.95, 0.60, 0.85],
    ...     "b": [0.88, 0.79, 0.66, 0.90, 0.59, 0.80],
    ...     "c": [0.89, 0.75, 0.67, 0.88, 0.55, 0.78],
    ... })
    >>> tests
    a  mean rank 1.00
    b  mean rank 2.33
    c  mean rank 2.67
    all equal: p = 0.000542 (Iman-Davenport), 0.0094 (Friedman)
    a - b: p = 0.0545 (Nemenyi), 0.0938 (Wilcoxon, Holm), 0.0312 (Wilcoxon, not adjusted)
    a - c: p = 0.0109 (Nemenyi), 0.0938 (Wilcoxon, Holm), 0.0312 (Wilcoxon, not adjusted)
    b - c: p = 0.832 (Nemenyi), 0.125 (Wilcoxon, Holm), 0.125 (Wilcoxon, not adjusted)
    >>> {name: round(p, 4) for name, p in tests.holm_against("a").items()}
    {'b': 0.0209, 'c': 0.0078}
    """
    names = [str(name) for name in scores]
    if len(names) < 2:
        raise ValueError("scores must hold at least two methods to compare.")
    columns = [finite_vector(f"scores[{name!r}]", values) for name, values in scores.items()]
    if len({column.size for column in columns}) > 1 or columns[0].size < 2:
        sizes = ", ".join(f"{name}: {column.size}" for name, column in zip(names, columns, strict=True))
        raise ValueError(f"scores must cover the same data sets, at least 2; got {sizes}.")
    table = np.array(columns)
    p_values = np.ones((len(names), len(names)))
    for i, j in combinations(range(len(names)), 2):
        if (table[i] != table[j]).any():
            p_values[i, j] = p_values[j, i] = float(stats.wilcoxon(table[i], table[j]).pvalue)
    friedman, iman_davenport = _all_equal(table)
    mean_rank = stats.rankdata(-table, axis=0).mean(axis=1)
    return RankTests(names, mean_rank, friedman, p_values, iman_davenport, table.shape[1])


def _all_equal(table: Array) -> tuple[float, float]:
    """P-values of all k methods being equal on n data sets: Friedman's, and that of Iman and Davenport."""
    k, n = table.shape
    if k < 3:
        return np.nan, np.nan
    if (table == table[0]).all():
        return 1.0, 1.0
    found = stats.friedmanchisquare(*table)
    chi = float(found.statistic)
    rest = n * (k - 1) - chi
    # where the ranks are the same on every data set nothing is left but rounding
    ratio = (n - 1) * chi / rest if rest > 1e-12 * chi else np.inf
    return float(found.pvalue), float(stats.f.sf(ratio, k - 1, (k - 1) * (n - 1)))
