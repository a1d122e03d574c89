"""Pair moments: all that the positive/negative pairs say to a linear ranker under the squared loss."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.basis.reduction import Reduction
from mbauc.checks import check_number, check_whole
from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.closed_pairs import ClosedPairs
from mbauc.pairs.moment_file import decode_moments, encode_moments, read_moments, write_moments
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.quadratic import ColumnSummary, ScoreSummary
from mbauc.pairs.running_sums import RunningSums
from mbauc.pairs.scatter import WeightedMean, class_scatters
from mbauc.pairs.scorer_statistics import ScorerStatistics
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels
from mbauc.rows.matrix import as_matrix, is_sparse
from mbauc.rows.source import unpack_block
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count

Array = NDArray[np.float64]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PairMoments(ScorerStatistics):
    """Moments of the differences x⁺ - x⁻ over all pairs of a positive and a negative row.

    Stored as weight, mean and scatter of each class, from which Eq. (13) of the paper follows exactly::

        μ = m₊ - m₋        Σ = C₊ + C₋ + μ μ'        C = scatter / weight

    without forming a pair. Per-class sums are additive over any split of the rows, so moments can be merged
    (``a + b``), subtracted (``a - b``) and decayed (``a.decayed(0.9)``). Pair (i, j) has weight wᵢ wⱼ.

    Moments of *matched* pairs (Eq. 16, :meth:`from_pairs`) and of pairs within blocks (:meth:`closed`) also
    store the scatter of the differences, because class sums do not determine it.

    Objects are immutable. Memory: ``8 d (d + 1)`` bytes, twice that for matched or closed pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import PairMoments
    >>> X = np.array([[2.0, 1.0], [4.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 2.0]])
    >>> y = np.array([1, 1, 0, 0, 0])
    >>> moments = PairMoments.from_arrays(X, y)
    >>> moments
    PairMoments(2 features, 2 positives × 3 negatives = 6 pairs)
    >>> moments.mean_difference
    array([ 2. , -0.5])
    >>> moments.second_moment
    array([[ 5.        , -1.5       ],
           [-1.5       ,  1.16666667]])
    >>> first, rest = PairMoments.from_arrays(X[:2], y[:2]), PairMoments.from_arrays(X[2:], y[2:])
    >>> np.allclose((first + rest).second_moment, moments.second_moment)
    True
    """

    sums: MomentSums

    def __init__(self, n_features: int) -> None:
        """Moments of no rows at all; adding them to others changes nothing."""
        check_whole("n_features", n_features)
        object.__setattr__(self, "sums", MomentSums(ClassMoments.empty(n_features)))

    @classmethod
    def from_sums(cls, sums: MomentSums) -> PairMoments:
        """Build moments from given sums, which must not be modified afterwards."""
        sums.classes.packed.buffer.setflags(write=False)
        moments = object.__new__(cls)
        object.__setattr__(moments, "sums", sums)
        return moments

    # -- ways to make them ---------------------------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> PairMoments:
        """Exact moments of all pairs in one pass over X.

        ``O(n d²)`` time for dense rows, ``O(Σ k²)`` for sparse rows with k entries; memory of the moments plus
        a few blocks of rows. X is not copied, and sparse X is not made dense.

        Parameters
        ----------
        X : array or CSR/CSC of shape (n, d)
            Rows of numbers of any real dtype.
        y : array-like of shape (n,)
            Two-valued labels; the larger is positive. A single class is allowed.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights: pair (i, j) has weight wᵢ wⱼ. For μ and Σ, weight k is equivalent to k copies
            of the row; see :attr:`effective_sizes` for the effective number of rows.
        classes : sequence of two labels, optional
            Required if y contains only one class and is not in {0, 1}, {-1, 1} or boolean.
        n_jobs : int, optional
            Number of threads; by default as many as BLAS may use.
        verbose : bool, default=False
            Show a progress bar on a terminal.
        """
        block = Block.checked(X, y, sample_weight, Labels(classes))
        with progress(block.n_rows, "pair moments", show=verbose) as advance:
            return cls.from_sums(
                MomentSums(ClassMoments.from_block(block, thread_count(n_jobs), None, advance))
            )

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[tuple[Any, ...]],
        *,
        classes: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> PairMoments:
        """Exact moments of all pairs of rows in a stream of blocks, within and across blocks.

        Memory of two moments and one block, whatever the number of blocks.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, sample_weight)
            As for :meth:`from_arrays`. A block may hold one class only.
        classes, n_jobs
            As for :meth:`from_arrays`. ``classes`` is required unless labels are 0/1, ±1 or boolean.
        verbose : bool, default=False
            Show a progress bar on a terminal.
        """
        total: RunningSums | None = None
        labels, n_threads = Labels(classes), thread_count(n_jobs)
        with progress(None, "pair moments", show=verbose) as advance:
            for number, raw in enumerate(blocks, start=1):
                X, y, weight, groups = unpack_block(raw, f"block {number}")
                if groups is not None:
                    raise ValueError(
                        f"block {number} has groups, but these are moments of the pairs of all rows. Leave the "
                        "groups out, or fit an estimator, which takes pairs within groups."
                    )
                block = Block.checked(X, y, weight, labels, name=f"block {number}")
                if total is None:
                    total = RunningSums(block.n_features, n_threads, advance)
                total.add(block)
        sums = None if total is None else total.settle()
        if sums is None:
            raise ValueError("blocks is empty; at least one block of rows is needed.")
        return cls.from_sums(sums)

    @classmethod
    def from_pairs(cls, X_pos: Any, X_neg: Any, *, n_jobs: int | None = None) -> PairMoments:
        """Moments of the pairs (X_pos[i], X_neg[i]) alone, Eq. (16).

        Unlike all pairs, matched pairs carry a cross-scatter K: Σ = C₊ + C₋ + μ μ' - K - K'.

        Parameters
        ----------
        X_pos, X_neg : array or sparse matrix of shape (pairs, d)
            Row i of one is paired with row i of the other.
        n_jobs : int, optional
            As for :meth:`from_arrays`.
        """
        X_pos, X_neg = as_matrix(X_pos), as_matrix(X_neg)
        if X_pos.shape != X_neg.shape:
            raise ValueError(f"X_pos and X_neg must have one shape, got {X_pos.shape} and {X_neg.shape}.")
        if is_sparse(X_pos) != is_sparse(X_neg):
            raise ValueError("X_pos and X_neg must both be dense or both be sparse; convert one of them.")
        n_threads = thread_count(n_jobs)
        rows, none = np.arange(X_pos.shape[0]), np.arange(0)
        (plus, _), packed = class_scatters(X_pos, (rows, none), None, n_threads)
        (_, minus), packed_minus = class_scatters(X_neg, (none, rows), None, n_threads)
        packed.buffer[...] += packed_minus.buffer
        if X_pos.dtype != np.float64:
            X_pos = X_pos.astype(np.float64)
        (differences, _), scatter = class_scatters(X_pos - X_neg, (rows, none), None, n_threads)
        pairs = ClosedPairs(differences, scatter.combine(1.0, 0.0))
        return cls.from_sums(MomentSums(ClassMoments(plus, minus, packed), pairs))

    # -- what they say -------------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of columns d."""
        return self.sums.n_features

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows (positives, negatives)."""
        return self.sums.counts

    @property
    def weights(self) -> tuple[float, float]:
        """Sum of the weights (positives, negatives)."""
        return self.sums.classes.positive.weight, self.sums.classes.negative.weight

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Effective sample size of each class (positives, negatives), for standard errors and ``l2="auto"``.

        Kish's (Σw)²/Σw², which is invariant to the unit of the weights and decreases with decay; or the sum of
        the weights if they are frequencies (:meth:`as_frequencies`). For S rows sampled from n it is 1/(1/n +
        1/S), in line with the variance of their mean. With pairs within groups, the weight of a row is that of
        its pairs.
        """
        if self.sums.pairs is not None and self.sums.pairs.row_sizes is not None:
            return self.sums.pairs.row_sizes
        return self.sums.classes.positive.effective_size, self.sums.classes.negative.effective_size

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        if self.sums.pairs is not None:
            return self.sums.pairs.differences.count
        return self.sums.classes.positive.count * self.sums.classes.negative.count

    @property
    def is_closed(self) -> bool:
        """Whether the pairs are a closed set (matched, within blocks or groups) instead of all pairs."""
        return self.sums.pairs is not None

    @property
    def is_grouped(self) -> bool:
        """Whether the pairs are those within groups."""
        return self.sums.grouped

    @property
    def is_sampled(self) -> bool:
        """Whether the rows are a sample of a data set whose class weights the moments have."""
        return self.sums.sampled

    @property
    def has_pairs(self) -> bool:
        """Whether there is at least one pair, so that μ and Σ exist."""
        if self.sums.pairs is not None:
            return self.sums.pairs.differences.weight > 0
        return self.sums.classes.positive.weight > 0 and self.sums.classes.negative.weight > 0

    def _require_pairs(self) -> None:
        if not self.has_pairs:
            raise ValueError(
                f"there are no pairs yet ({self.counts[0]:,} positives, {self.counts[1]:,} negatives); "
                "pair moments need rows of both classes."
            )

    @property
    def class_means(self) -> tuple[Array, Array]:
        """Weighted mean row of each class, (positives, negatives)."""
        return self.sums.classes.positive.mean.copy(), self.sums.classes.negative.mean.copy()

    def class_covariance(self, positive: bool) -> Array:
        """Covariance matrix (divided by the weight) of one class. ``O(d²)``."""
        return self.sums.classes.covariance(positive)

    @property
    def mean_difference(self) -> Array:
        """First moment μ of the differences (Eq. 13), shape (d,)."""
        self._require_pairs()
        if self.sums.pairs is not None:
            return self.sums.pairs.differences.mean.copy()
        return self.sums.classes.positive.mean - self.sums.classes.negative.mean

    @property
    def difference_covariance(self) -> Array:
        """Covariance Σ - μ μ' of the differences: C₊ + C₋ over all pairs. A new array, ``O(d²)``."""
        self._require_pairs()
        if self.sums.pairs is not None:
            return self.sums.pairs.scatter / self.sums.pairs.differences.weight
        return self.sums.classes.difference_covariance()

    @property
    def second_moment(self) -> Array:
        """Second moment Σ of the differences (Eq. 13), shape (d, d). A new array, ``O(d²)``."""
        sigma = self.difference_covariance
        mu = self.mean_difference
        # row by row: an outer product in one go would be a second d×d matrix
        for row, value in zip(sigma, mu, strict=True):
            row += value * mu
        return sigma

    @property
    def cross_scatter(self) -> Array | None:
        """Symmetric part (K + K')/2 of the cross-scatter of matched pairs, divided by their weight.

        None for all pairs, for which it is zero.
        """
        if self.sums.pairs is None:
            return None
        plus, minus = self.class_covariance(True), self.class_covariance(False)
        return np.asarray((plus + minus - self.difference_covariance) / 2)

    @property
    def column_variances(self) -> Array:
        """Variance of each column over the rows of both classes, weighted. ``O(d)``."""
        return self.sums.classes.column_variances()

    # -- as a quadratic, see mbauc.pairs.quadratic -----------------------------------------------------

    @property
    def columns(self) -> None:
        """None, because μ and Σ cover all columns of the data."""

    @property
    def mu(self) -> Array:
        """Alias of :attr:`mean_difference`, for solvers."""
        return self.mean_difference

    @property
    def diagonal(self) -> Array:
        """Diagonal of Σ. ``O(d²)``."""
        return np.diagonal(self.second_moment).copy()

    def matrix(self) -> Array:
        """Alias of :attr:`second_moment`, for solvers."""
        return self.second_moment

    def product(self, v: Array) -> Array:
        """Σ v. ``O(d²)``."""
        return np.asarray(self.second_moment @ v)

    def leading_block(self) -> Array:
        """Empty, because a formed Σ is factorised instead of preconditioned."""
        return np.empty((0, 0))

    def summarise_columns(self) -> ColumnSummary:
        """Variances and class means of the columns."""
        return ColumnSummary(self.column_variances, self.class_means, self.weights, sum(self.counts))

    def summarise_scores(self, w: ArrayLike) -> ScoreSummary:
        """Difference, middle and spread of the class means of the score x'w."""
        plus, minus = self.score_means(w)
        if self.sums.pairs is not None:
            # what classes differ in across blocks is not what w was fitted to
            gap, spread = self.score_difference(w)
            return ScoreSummary(gap, (plus + minus) / 2, spread / 2)
        variance = float(np.average(self.score_variances(w), weights=self.weights))
        return ScoreSummary(plus - minus, (plus + minus) / 2, variance)

    # -- algebra -------------------------------------------------------------------------------------

    def __add__(self, other: PairMoments) -> PairMoments:
        """Moments of the rows of both; of all pairs, those across the two included."""
        if not isinstance(other, PairMoments):
            return NotImplemented
        return self.from_sums(self.sums.copy().merge(other.sums))

    def __radd__(self, other: int) -> PairMoments:
        """``sum(moments)`` starts from 0."""
        return self if other == 0 else NotImplemented

    def __sub__(self, part: PairMoments) -> PairMoments:
        """Moments of the remaining rows when the rows of ``part`` are taken out.

        Warns (:class:`~mbauc.errors.CancellationWarning`) where so little is left that rounding errors
        take more than ten of its sixteen digits.
        """
        if not isinstance(part, PairMoments):
            return NotImplemented
        whole = self.sums
        whole.check_other(part.sums, "subtract")
        pairs = whole.pairs
        if pairs is not None and part.sums.pairs is not None:
            pairs = pairs.subtract(part.sums.pairs)
        return self.from_sums(MomentSums(whole.classes.subtract(part.sums.classes), pairs, whole.sampled))

    def decayed(self, factor: float) -> PairMoments:
        """Copy with all weights multiplied by ``factor``, so that older rows count less.

        μ and Σ do not change; rows added later have more weight. In a closed set, the weight of each pair is
        multiplied once.
        """
        check_number("factor", factor, low=0.0, high=1.0, open_low=True)
        pairs = self.sums.pairs
        pairs = pairs and pairs.decay(pairs.differences.decay_share(factor))
        return self.from_sums(MomentSums(self.sums.classes.decay(factor), pairs, self.sums.sampled))

    def closed(self) -> PairMoments:
        """Copy as a closed set: merging adds other sets of pairs, but no pairs across sets.

        This is the form of Section III for streams, with pairs within blocks only.
        """
        if self.sums.pairs is not None:
            return self
        if not self.has_pairs:
            return self.from_sums(replace(self.sums, pairs=ClosedPairs.empty(self.n_features)))
        plus, minus = self.sums.classes.positive, self.sums.classes.negative
        weight = plus.weight * minus.weight
        squared = plus.squared_weight * minus.squared_weight
        differences = WeightedMean(self.n_pairs, weight, squared, self.mean_difference)
        pairs = ClosedPairs(differences, self.difference_covariance * weight)
        return self.from_sums(replace(self.sums, pairs=pairs))

    def as_frequencies(self) -> PairMoments:
        """Copy that treats weights as frequencies: weight k stands for k equal rows.

        Only :attr:`effective_sizes` changes. Call it before any decay.
        """
        return self.from_sums(self.sums.as_frequencies())

    def standing_for(self, weights: tuple[float, float], sizes: tuple[float, float]) -> PairMoments:
        """Copy of a sample's moments with the class weights of the data from which it was drawn.

        Means and covariances do not change. In a closed set all pairs get equal weight.

        Parameters
        ----------
        weights, sizes : (float, float)
            Sum of the weights and effective size of each class of the data.
        """
        return self.from_sums(self.sums.standing_for(weights, sizes))

    def reduced(self, reduction: Reduction) -> PairMoments:
        """Moments of the same pairs in other coordinates, T'x; ``O(d²)`` for each coordinate of a block."""
        pairs = self.sums.pairs and self.sums.pairs.reduce(reduction)
        return self.from_sums(MomentSums(self.sums.classes.reduce(reduction), pairs, self.sums.sampled))

    def rescaled(self, center: Array, scale: Array) -> PairMoments:
        """Moments of all pairs of the same rows with columns (x - center) / scale; ``O(d²)``."""
        return self.from_sums(MomentSums(self.sums.classes.rescale(center, scale), sampled=self.sums.sampled))

    def swapped(self) -> PairMoments:
        """Moments of all pairs of the same rows with the other label each; ``O(d²)``."""
        return self.from_sums(MomentSums(self.sums.classes.swap(), sampled=self.sums.sampled))

    # -- housekeeping --------------------------------------------------------------------------------

    def encode(self) -> dict[str, Any]:
        """The moments as named arrays of numbers and text, for files; without copying."""
        return encode_moments(self.sums)

    @classmethod
    def decode(cls, arrays: Mapping[str, NDArray[Any]]) -> PairMoments:
        """Restore moments from the output of :meth:`encode`, sharing the memory of the arrays."""
        return cls.from_sums(decode_moments(arrays))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the moments to a file (plain arrays, no pickle), atomically.

        Raises
        ------
        DiskFullError
            If the disk is full; an existing file at ``path`` is kept.
        """
        write_moments(path, self.encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PairMoments:
        """Load moments from a file written by :meth:`save`.

        Raises
        ------
        MomentFileError
            If the file is not a moments file, is damaged, or has an unsupported format version.
        """
        return cls.decode(read_moments(path))

    def __repr__(self) -> str:
        plus, minus = self.counts
        rows = f"{plus:,} positives × {minus:,} negatives"
        joint = ", closed set of" if self.is_closed else " ="
        features = f"{self.n_features:,} feature{'' if self.n_features == 1 else 's'}"
        return f"PairMoments({features}, {rows}{joint} {self.n_pairs:,} pairs)"
