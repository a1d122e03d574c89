"""Two hypotheses (Eq. 1): what the best detector scores, and how well it can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit, logsumexp
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from mbauc.checks import check_number, check_whole
from mbauc.paper.detection.detector import AtomicCurve, TailCurve
from mbauc.paper.detection.mixture import GaussianMixture, LineMixture
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]

#: Standard deviations beyond which float64 sees no probability.
_FAR = 38.0
#: Places that are this close, in units of the largest distance, are the same but for rounding.
_SAME = 1e-10
#: Numbers in a block of draws.
_BLOCK = 1 << 22


class Hypotheses:
    """Detection problem whose positive and negative rows follow known Gaussian mixtures.

    Parameters
    ----------
    positive, negative : GaussianMixture
        Distributions of the two classes.

    Examples
    --------
    The paper's simulation with one component, whose best AUC is Φ(√2):

    >>> import numpy as np
    >>> both = Hypotheses(GaussianMixture(np.full(100, 0.1)), GaussianMixture(np.full(100, -0.1)))
    >>> round(both.closed_form_auc(), 5)
    0.92135
    >>> X, y = both.sample(1000, positive=0.1, random_state=0)
    >>> X.shape, int(y.sum())
    ((1000, 100), 100)
    >>> detector = both.curve().detector(0.01)
    >>> round(detector.eta, 3), round(detector.detection, 3), round(detector.false_alarm, 3)
    (14.192, 0.372, 0.01)
    """

    def __init__(self, positive: GaussianMixture, negative: GaussianMixture) -> None:
        if positive.dimension != negative.dimension:
            raise ValueError(
                f"both hypotheses must have the same dimension, got {positive.dimension} and "
                f"{negative.dimension}."
            )
        self.positive, self.negative = positive, negative

    def __repr__(self) -> str:
        return f"Hypotheses({self.positive!r}, {self.negative!r})"

    def sample(
        self, n: int, positive: float = 0.5, random_state: Any = None
    ) -> tuple[Array, NDArray[np.int64]]:
        """Draw n rows in random order, with a given share of positives (rounded to a whole row).

        Returns
        -------
        X, y : ndarray of shape (n, d) and (n,)
            Rows and labels 0 and 1.
        """
        check_whole("n", n)
        check_number("positive", positive, low=0.0, high=1.0)
        rng = generator(random_state)
        y = np.zeros(n, dtype=np.int64)
        y[: round(n * positive)] = 1
        y = rng.permutation(y)
        X = np.empty((n, self.positive.dimension))
        X[y == 1] = self.positive.sample(int(y.sum()), rng)
        X[y == 0] = self.negative.sample(n - int(y.sum()), rng)
        return X, y

    def log_likelihood_ratio(self, X: ArrayLike) -> Array:
        """Score of the Neyman–Pearson detector, log p₊(x)/p₋(x), shape (n,): no scorer has a larger AUC."""
        return self.positive.log_density(X) - self.negative.log_density(X)

    # -- the best detector ------------------------------------------------------------------------------

    def closed_form_auc(self) -> float | None:
        """AUC of the Neyman–Pearson detector in closed form, or None if there is none.

        There is one in two cases. Either all components share one covariance, their means lie on a line, and
        the ratio of the weights of both hypotheses increases along it: then the likelihood ratio is an
        increasing function of one linear score (footnote 6 of the paper, and its whole simulation study). Or
        both hypotheses are single normal distributions with the same mean and proportional covariances: then it
        is monotone in the distance from the mean.
        """
        curve = self._closed_form()
        return None if curve is None else curve.auc

    def curve(self, samples: int = 1_000_000, random_state: Any = 0) -> TailCurve | AtomicCurve:
        """ROC curve of the Neyman–Pearson detector: exact if there is a closed form, otherwise by Monte Carlo.

        Samples are drawn from the even mixture of both hypotheses with importance weights 2 p₋/(p₊ + p₋) and 2
        p₊/(p₊ + p₋), so that false-positive rates far below one in ``samples`` are still resolved. The relative
        error of Monte Carlo results is of the order of 1/√samples. ``O(samples K d²)`` time, 24 bytes per
        sample and blocks of 32 MB.
        """
        exact = self._closed_form()
        if exact is not None:
            return exact
        check_whole("samples", samples, low=2)
        rng = generator(random_state)
        step = max(1, _BLOCK // self.positive.dimension)
        sizes = [min(step, samples // 2 - start) for start in range(0, samples // 2, step)]
        ratio = np.concatenate(
            [
                self.log_likelihood_ratio(mixture.sample(size, rng))
                for mixture in (self.positive, self.negative)
                for size in sizes
            ]
        )
        plus, minus = expit(ratio), expit(-ratio)
        return AtomicCurve(ratio, plus / plus.sum(), minus / minus.sum())

    def _closed_form(self) -> TailCurve | None:
        positive, negative = _without_empty(self.positive), _without_empty(self.negative)
        return _along_a_line(positive, negative) or _around_a_point(positive, negative)

    # -- linear detectors -------------------------------------------------------------------------------

    def pair_moments(self) -> tuple[Array, Array]:
        """Population mean μ and second moment Σ of x⁺ - x⁻ (Eq. 8)."""
        mu = self.positive.mean - self.negative.mean
        return mu, self.positive.covariance + self.negative.covariance + np.outer(mu, mu)

    def linear_weights(self, l2: float = 0.0) -> Array:
        """Population solution of MBA-ℓ2: the minimiser of Eq. (9), shape (d,)."""
        check_number("l2", l2, low=0.0)
        mu, sigma = self.pair_moments()
        return np.asarray(cho_solve(cho_factor(sigma + l2 * np.eye(mu.size)), mu))

    def linear_curve(self, w: ArrayLike) -> TailCurve:
        """Exact ROC curve of the linear score x'w, whose area is a sum over pairs of components."""
        direction = np.asarray(w, dtype=np.float64)
        if direction.shape != (self.positive.dimension,) or not (
            direction.any() and np.isfinite(direction).all()
        ):
            raise ValueError(
                f"w must have {self.positive.dimension} finite entries, not all zero, got "
                f"{np.array2string(direction, threshold=6)}."
            )
        size = float(np.abs(direction).max())
        plus, minus = (mix.along(direction / size) for mix in (self.positive, self.negative))
        return _line_curve(plus, minus, size=size)

    @property
    def d_prime(self) -> float:
        """Distance of the class means in units of the mean covariance, √(Δ'((C₊ + C₋)/2)⁻¹Δ).

        For normal classes of equal covariance it is the d′ of the best detector, and its square the
        signal-to-noise ratio.
        """
        apart = self.positive.mean - self.negative.mean
        common = (self.positive.covariance + self.negative.covariance) / 2
        return float(np.sqrt(apart @ cho_solve(cho_factor(common), apart)))

    @property
    def snr_db(self) -> float:
        """Signal-to-noise ratio in decibels, 20 log₁₀ d′."""
        return float(20 * np.log10(self.d_prime)) if self.d_prime > 0 else -np.inf


class DiscreteHypotheses:
    """Two hypotheses over finitely many outcomes 0, 1, …, m - 1, with ties, so that γ matters.

    Parameters
    ----------
    positive, negative : array-like of shape (m,)
        Probability of each outcome.

    Examples
    --------
    >>> fair, loaded = [0.5, 0.5], [0.2, 0.8]
    >>> both = DiscreteHypotheses(loaded, fair)
    >>> both.curve().detector(0.25)
    Detector(log_eta=0.4700036292457356, gamma=0.5, detection=0.4, false_alarm=0.25)
    """

    def __init__(self, positive: ArrayLike, negative: ArrayLike) -> None:
        tables = [np.asarray(part, dtype=np.float64) for part in (positive, negative)]
        if tables[0].ndim != 1 or tables[0].shape != tables[1].shape or tables[0].size == 0:
            raise ValueError(
                f"positive and negative must list the same outcomes, got shapes {tables[0].shape} and "
                f"{tables[1].shape}."
            )
        for name, table in zip(("positive", "negative"), tables, strict=True):
            if not (np.isfinite(table).all() and (table >= 0).all() and abs(table.sum() - 1) < 1e-9):
                raise ValueError(f"{name} must hold probabilities that sum to one, got {table.tolist()}.")
        self.positive, self.negative = (table / table.sum() for table in tables)

    def log_likelihood_ratio(self, outcomes: ArrayLike) -> Array:
        """Logarithm of p₊/p₋ of each outcome, an integer from 0; impossible ones give NaN."""
        places = np.asarray(outcomes)
        m = self.positive.size
        if places.dtype.kind not in "iub" or not ((places >= 0) & (places < m)).all():
            raise ValueError(f"outcomes must be whole numbers from 0 to {m - 1}, got {outcomes!r}.")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(self.positive) - np.log(self.negative)
        return np.asarray(ratio[places.astype(np.intp)])

    def curve(self) -> AtomicCurve:
        """ROC curve of the Neyman–Pearson detector."""
        possible = np.flatnonzero(self.positive + self.negative > 0)
        return AtomicCurve(
            self.log_likelihood_ratio(possible), self.positive[possible], self.negative[possible]
        )


# -- closed forms ---------------------------------------------------------------------------------------------


def _without_empty(mixture: GaussianMixture) -> GaussianMixture:
    """The same without components of share 0."""
    used = mixture.weights > 0
    if used.all():
        return mixture
    return GaussianMixture(mixture.means[used], mixture.covariances[used], mixture.weights[used])


def _along_a_line(positive: GaussianMixture, negative: GaussianMixture) -> TailCurve | None:
    """The curve if the likelihood ratio rises with one linear score, then a mixture of unit normals."""
    covariance = positive.covariances[0]
    if not all(np.array_equal(part, covariance) for mix in (positive, negative) for part in mix.covariances):
        return None
    lower = np.linalg.cholesky(covariance)
    # around a common centre: the means may all be far away, their distances are what counts
    centre = np.concatenate([positive.means, negative.means]).mean(axis=0)
    places = [solve_triangular(lower, (mix.means - centre).T, lower=True).T for mix in (positive, negative)]
    everything = np.concatenate(places)
    apart = everything - everything[0]
    lengths = np.linalg.norm(apart, axis=1)
    direction = np.eye(positive.dimension)[0]
    if lengths.max() > 0.0:
        direction = apart[lengths.argmax()] / lengths.max()
        if np.abs(apart - np.outer(apart @ direction, direction)).max() > _SAME * lengths.max():
            return None
    points = [place @ direction for place in places]
    sign = _direction(points[0], positive.weights, points[1], negative.weights)
    if sign == 0:
        return None
    plus, minus = (
        LineMixture(mix.weights, sign * part, np.ones(part.size))
        for mix, part in zip((positive, negative), points, strict=True)
    )

    def log_ratio(z: float) -> float:
        above, below = (logsumexp(t * z - t**2 / 2, b=share) for share, t, _ in (plus, minus))
        return float(above - below)

    return _line_curve(plus, minus, log_ratio)


def _line_curve(
    plus: LineMixture,
    minus: LineMixture,
    log_ratio: Callable[[float], float] | None = None,
    size: float = 1.0,
) -> TailCurve:
    """The curve of a score with a mixture of normal distributions under both hypotheses, times ``size``."""
    origin, unit = 0.0, 1.0
    if log_ratio is None:
        # in standard deviations, so that a root is found as well for scores of any scale
        origin, unit = float(plus.centres.mean()), float(max(plus.widths.max(), minus.widths.max()))
        plus, minus = (
            LineMixture(share, (centres - origin) / unit, widths / unit)
            for share, centres, widths in (plus, minus)
        )
    centres = np.concatenate([plus.centres, minus.centres])
    span = float(centres.min() - _FAR), float(centres.max() + _FAR)
    return TailCurve(plus.tail, minus.tail, span, plus.beats(minus), log_ratio, origin * size, unit * size)


def _direction(plus: Array, plus_share: Array, minus: Array, minus_share: Array) -> int:
    """1 if the ratio of shares never falls along the line, -1 if it never rises, 0 if it does both.

    A ratio of shares that rises makes the likelihood ratio rise, because normal densities with a common
    variance are totally positive.
    """
    points = np.concatenate([plus, minus])
    order = np.argsort(points, kind="stable")
    gaps = np.diff(points[order])
    place = np.empty(points.size, dtype=np.intp)
    # points that only rounding tells apart are one
    place[order] = np.concatenate([[0], np.cumsum(gaps > _SAME * max(1e-300, np.ptp(points)))])
    shares = [
        np.bincount(place[part], weights=share, minlength=place.max() + 1)
        for part, share in (
            (slice(0, plus.size), plus_share),
            (slice(plus.size, None), minus_share),
        )
    ]
    steps = np.diff(np.arctan2(*shares))  # the ratio, infinity included
    if (steps >= -1e-12).all():
        return 1
    return -1 if (steps <= 1e-12).all() else 0


def _around_a_point(positive: GaussianMixture, negative: GaussianMixture) -> TailCurve | None:
    """The curve if both are normal about the same mean with covariances that are multiples of each other."""
    if positive.n_components > 1 or negative.n_components > 1:
        return None
    plus, minus, d = positive.covariances[0], negative.covariances[0], positive.dimension
    factor = float(np.trace(plus) / np.trace(minus))
    if not np.array_equal(positive.means, negative.means) or not np.allclose(
        plus, factor * minus, rtol=1e-12, atol=1e-14 * np.abs(plus).max()
    ):
        return None
    sign = 1.0 if factor >= 1 else -1.0

    def tail(scale: float) -> Callable[[Any], Array]:
        def one(z: Any) -> Array:
            distance = np.maximum(0.0, sign * np.asarray(z)) / scale
            return np.asarray(chi2.sf(distance, d) if sign > 0 else chi2.cdf(distance, d))

        return one

    def log_ratio(z: float) -> float:
        return -0.5 * d * float(np.log(factor)) + 0.5 * sign * z * (1 - 1 / factor)

    auc = float(f_distribution.cdf(max(factor, 1 / factor), d, d))
    far = max(1.0, factor) * (d + _FAR * np.sqrt(2 * d) + _FAR**2)
    span = (0.0, float(far)) if sign > 0 else (-float(far), 0.0)
    return TailCurve(tail(factor), tail(1.0), span, auc, log_ratio)
