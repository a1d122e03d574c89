"""What both estimators of Eq. (14) share: sampled pairs, moments that are kept, standard errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.checks import check_choice
from mbauc.estimators.scorer import LinearScorer
from mbauc.estimators.solved_ranker import SolvedRanker
from mbauc.estimators.standard_errors.of_ranker import errors_from_moments, errors_from_rows
from mbauc.estimators.validation import check_factors
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.sampling import check_sampling
from mbauc.rows.parts.protocol import Preview
from mbauc.solvers.choice import SolverChoice
from mbauc.solvers.column_scales import scale_columns

Array = NDArray[np.float64]


class MomentRanker(SolvedRanker):
    """A ranker whose weights, threshold, probabilities and standard errors all come from moments."""

    #: What ``pairs`` may be besides a number.
    _words_for_pairs: tuple[str, ...] = ("all",)

    def coef_standard_errors(
        self, X: Any = None, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Standard errors of the weights: their standard deviation over repeated samples of the data.

        With the training rows they are jackknife (leave-one-out) estimates in closed form, valid for
        independent rows of any distribution, and for weights, ``within_block``, ``scale`` and any penalty.
        Without them they are computed from the moments, assuming columns that are normal within each class.

        Parameters
        ----------
        X, y, sample_weight : optional
            The training rows, as passed to the fit. Pass a source of blocks as X alone; for a stream with decay
            or pairs within blocks pass, as X, the list of its blocks (X, y) or (X, y, sample_weight) in order.
            After ``pairs="enough"``, leave out the held-out rows.

        Returns
        -------
        ndarray of shape (1, d)
            Zero for weights that are exactly zero: errors are conditional on the selected support. They include
            neither the bias of the penalty nor the variation of ``l2="auto"`` between samples.

        Warns
        -----
        FewRowsWarning
            From moments, if the effective size of a class is below 100 rows, or below 4 per weight.

        Notes
        -----
        Ratio of estimated to true standard error (1 is right), range over 5 columns with l2=0, and 400
        positives among 2,000 rows unless stated otherwise, in 400 to 1,000 simulated data sets:

        ================================  ============  ============
        data                              from rows     from moments
        ================================  ============  ============
        normal                            0.98 to 1.05  0.97 to 1.04
        Student's t₅                      0.96 to 1.03  0.83 to 1.02
        Student's t₃                      0.98 to 1.08  0.59 to 1.06
        log-normal                        1.01 to 1.05  0.83 to 1.08
        binary                            0.98 to 1.03  0.87 to 1.08
        one-hot, 1% in the rarest         0.97 to 1.06  0.90 to 1.10
        log-normal, exponential weights   1.00 to 1.07  0.87 to 1.08
        log-normal, scale=True, l2=1      0.99 to 1.03  0.87 to 1.05
        log-normal, 1,000 matched pairs   1.03 to 1.14  0.89 to 1.04
        normal, 10 positives of 1,000     0.95 to 1.08  0.74 to 0.83
        log-normal, 10 positives          0.97 to 1.15  0.70 to 0.89
        normal, 10 positives, l2="auto"   0.72 to 0.93  0.60 to 0.77
        normal, 50 columns, 100 of 1,000  1.02 to 1.20  0.82 to 0.96
        ================================  ============  ============

        With a number of ``pairs`` the errors include the sampling of pairs; the additional variance of matched
        pairs is estimated as for normal columns. Pairs within 10 blocks of 200 rows whose levels are 3 standard
        deviations apart: 0.96 to 1.10; within 50 blocks of 20 rows, 4 of them positive: 1.01 to 1.17, since
        there each row is a large part of its block.

        The formulas are in :mod:`mbauc.estimators.standard_errors.jackknife`, ``O(n d²)`` time, two passes,
        sparse rows dense a few at a time; and in :mod:`mbauc.estimators.standard_errors.from_moments`,
        ``O(d³)``.
        """
        check_is_fitted(self)
        if self._within_groups:
            raise ValueError(
                "standard errors of weights are for all pairs, and this fit is to pairs within groups. Fit "
                "without groups, or bootstrap the groups."
            )
        if X is None:
            return errors_from_moments(self, self._ridge)
        return errors_from_rows(self, self._ridge, X, y, sample_weight)

    @classmethod
    def restore(
        cls,
        scorer: LinearScorer,
        settings: Mapping[str, Any] | None = None,
        *,
        l1: float | None = None,
        l2: float | None = None,
        moments: PairMoments | None = None,
    ) -> Self:
        """Build a fitted estimator from the weights of a scorer.

        ``solution_`` and ``n_iter_`` are not available. With moments the estimator can be updated
        (``partial_fit``) and has standard errors.

        Parameters
        ----------
        scorer : LinearScorer
            The weights, as returned by :meth:`scorer`; they are copied.
        settings : dict, optional
            Parameters of the estimator.
        l1, l2 : float, optional
            Penalties of the original fit, for ``l1_`` and ``l2_``. With moments l2 is required.
        moments : PairMoments, optional
            Moments from which the weights were computed.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from mbauc import MBAClassifier
        >>> X, y = make_classification(500, random_state=0)
        >>> ranker = MBAClassifier().fit(X, y)
        >>> again = MBAClassifier.restore(ranker.scorer())
        >>> bool((again.predict_proba(X) == ranker.predict_proba(X)).all())
        True
        """
        if moments is not None and (l2 is None or moments.n_features != scorer.n_features):
            raise ValueError(
                f"moments must be of the scorer's {scorer.n_features:,} columns and come with the penalty l2, "
                f"got those of {moments.n_features:,} with l2={l2!r}."
            )
        ranker = super().restore(scorer, settings, l1=l1, l2=l2)
        if moments is not None:
            ranker._set_moments(moments)
        return ranker

    def _set_moments(self, moments: PairMoments) -> None:
        """Store moments that weights were found from elsewhere."""
        self.solver_ = SolverChoice("gram", "the weights were given")
        self.moments_ = moments
        self.effective_sample_size_ = moments.effective_sizes
        factors = check_factors(self.penalty_factors, moments.n_features)
        self._set_scale(scale_columns(moments, self._scaling()), factors)

    def _preview(self, X: Any) -> Preview | None:
        """Rows of drawn pairs, of which there are two a pair; None for all pairs."""
        return None if isinstance(self.pairs, str) else Preview(X, 2 * int(self.pairs), in_blocks=False)

    def _check_settings(self) -> None:
        super()._check_settings()
        if isinstance(self.pairs, str) and self.pairs not in self._words_for_pairs:
            words = " or ".join(repr(word) for word in self._words_for_pairs)
            raise ValueError(f"pairs must be {words}, or a whole number of at least 1, got {self.pairs!r}.")
        check_sampling(1 if isinstance(self.pairs, str) else self.pairs, self.batch_size, self.pairing)
        check_choice("solver", self.solver, ("auto", "gram", "matrix-free"))
