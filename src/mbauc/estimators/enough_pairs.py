"""``pairs="enough"``: twice as many pairs again and again, until the AUC of held-out rows stops moving."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, FewRowsWarning
from mbauc.estimators.fitting import PairSettings, build_moments, build_operator, weigh_sample_operator
from mbauc.metrics import AucInterval, compare_roc_auc, roc_auc_interval
from mbauc.metrics.intervals.sample_design import FEW_ROWS
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.quadratic import Quadratic
from mbauc.pairs.sampling import pair_moments, with_canonical_rows
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse
from mbauc.rows.parts.draw import Sample, draw_rows
from mbauc.rows.scores import scores
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator
from mbauc.runtime.warn import warn
from mbauc.solvers.choice import Demand, choose_solver
from mbauc.solvers.workload import Workload

Array = NDArray[np.float64]
RowNumbers = NDArray[np.intp]
Interval = tuple[float, float]

#: Pairs to begin with.
FIRST_PAIRS = 1000
#: Pairs are enough after two doublings in a row that moved the AUC by less than this, with 95% confidence.
AUC_TOLERANCE = 0.001
#: One row of a class in this many is held out …
_ONE_IN = 5
#: … at most this many …
_MOST = 10_000
#: … and at least this many, if they are not more than half of the class.
_FEWEST = FEW_ROWS
#: Rows read in order that cost as much as a pair that is drawn (measured: 6 to 9).
_ROWS_FOR_A_PAIR = 8
#: Numbers in the positive rows of a round of pairs.
_ROUND = 1 << 21

_ATTRIBUTES = ("pairs_", "pairs_path_", "held_out_", "held_out_auc_")


class PairsStep(NamedTuple):
    """What one number of pairs led to.

    Attributes
    ----------
    pairs : int or "all"
        Number of pairs.
    rows : int
        Different rows that the pairs are made of.
    auc : float
        Of the held-out rows.
    interval : (float, float)
        95% interval of the AUC (DeLong).
    gain : float or None
        AUC minus that of the step before; None for the first step.
    gain_interval : (float, float) or None
        95% interval of the gain: paired, so far narrower than two intervals of an AUC.
    """

    pairs: int | Literal["all"]
    rows: int
    auc: float
    interval: Interval
    gain: float | None
    gain_interval: Interval | None

    @property
    def is_still(self) -> bool:
        """Whether the whole interval of the gain lies within the tolerance, on either side of 0."""
        return self.gain_interval is not None and max(map(abs, self.gain_interval)) < AUC_TOLERANCE

    def __str__(self) -> str:
        pairs = self.pairs if isinstance(self.pairs, str) else f"{self.pairs:,}"
        text = (
            f"{pairs} pairs of {self.rows:,} rows: AUC {self.auc:.4f} "
            f"({self.interval[0]:.4f} to {self.interval[1]:.4f})"
        )
        if self.gain is None or self.gain_interval is None:
            return text
        return f"{text}, {self.gain:+.4f} ({self.gain_interval[0]:+.4f} to {self.gain_interval[1]:+.4f})"


def forget_path(ranker: Any) -> None:
    """Drop what a fit with ``pairs="enough"`` left, before another kind of fit."""
    for name in _ATTRIBUTES:
        if hasattr(ranker, name):
            delattr(ranker, name)


def fit_enough(ranker: Any, block: Block, demand: Demand, solve: Callable[[Quadratic], None]) -> None:
    """Fit to more and more pairs of the rows that are not held out, until more of them change nothing.

    Reads the held-out rows and the rows of the pairs; no others, unless all pairs are needed.

    Parameters
    ----------
    ranker : MBAClassifier
        Whose settings say how, and which has the last fit in the end.
    block : Block
        The data.
    demand : Demand
        What its settings ask of a solver.
    solve : callable
        Gives the ranker the weights for some pairs.
    """
    block = with_canonical_rows(block)
    rng = generator(ranker.random_state)
    held_out, train = hold_out(block, rng)
    numbers = plan_pair_counts(train.size, block.n_features if _is_unregularised(ranker) else 1)
    sample = _Sample(ranker, block, demand, solve, train, numbers, rng)
    test = _HeldOut(block, held_out, sample.n_threads)
    path: list[PairsStep] = []
    with progress(None, "doubling pairs", unit="pair", show=bool(ranker.verbose)) as advance:
        for pairs in numbers:
            sample.fit(pairs)
            path.append(test.step(pairs, sample.count_rows(pairs), ranker.coef_[0]))
            advance.note(str(test.auc))
            advance(pairs - (path[-2].pairs if len(path) > 1 else 0))  # type: ignore[operator]
            if all(step.is_still for step in path[-2:]):
                break
        else:
            sample.fit_all()
            path.append(test.step("all", train.size, ranker.coef_[0]))
    ranker.pairs_ = path[-1].pairs
    ranker.pairs_path_ = path
    ranker.held_out_ = held_out
    ranker.held_out_auc_ = test.auc


def hold_out(block: Block, rng: np.random.Generator) -> tuple[RowNumbers, RowNumbers]:
    """Numbers of the held-out and of the other rows, both rising; rows of weight zero are neither.

    One row in five of each class, at most 10,000, and at least 100 or half the class.
    """
    out = np.zeros(block.n_rows, dtype=bool)
    few = []
    for positive, name in ((True, "positive"), (False, "negative")):
        numbers = block.rows_of(positive)
        if numbers.size < 4:
            raise ValueError(
                Advice("{pairs} holds out rows of each class", pairs="enough")
                + f", and there are {numbers.size} {name} rows; at least 4 are needed. "
                + Advice("Use {pairs}.", pairs="all")
            )
        size = min(_MOST, max(numbers.size // _ONE_IN, min(_FEWEST, numbers.size // 2)))
        out[numbers[rng.choice(numbers.size, size, replace=False, shuffle=False)]] = True
        if size < _FEWEST:
            few.append(f"{size} {name}")
    if few:
        warn(
            Advice("{pairs} holds out", pairs="enough")
            + f" {' and '.join(few)} rows: with fewer than {_FEWEST} the intervals of the AUC tend to be too "
            + "narrow. "
            + Advice("For data this small use {pairs}.", pairs="all"),
            FewRowsWarning,
        )
    return np.flatnonzero(out), np.flatnonzero(~out if block.weight is None else ~out & (block.weight > 0))


def plan_pair_counts(n_rows: int, fewest: int) -> list[int]:
    """Numbers of pairs to try before all: doubling, as long as a pair for every eight rows is not exceeded.

    A pair that is drawn costs about as much as eight rows that are read in their order.
    """
    numbers, pairs = [], FIRST_PAIRS
    while _ROWS_FOR_A_PAIR * pairs <= n_rows:
        if pairs >= fewest:
            numbers.append(pairs)
        pairs *= 2
    return numbers


def _is_unregularised(ranker: Any) -> bool:
    """Whether fewer pairs than columns would leave the weights undetermined."""
    return not isinstance(ranker.l2, str) and ranker.l2 == 0.0


class _HeldOut:
    """Rows that no pair is made of, and how one set of weights after the other ranks them."""

    def __init__(self, block: Block, numbers: RowNumbers, n_threads: int) -> None:
        self._X, self._numbers, self._n_threads = block.X, numbers, n_threads
        self._y = block.positive[numbers]
        self._weight = None if block.weight is None else block.weight[numbers]
        self._before: Array | None = None
        self.auc: AucInterval

    def step(self, pairs: int | Literal["all"], n_rows: int, w: Array) -> PairsStep:
        """AUC of the rows under the weights w, and the gain over the weights of the call before."""
        values = scores(self._X, w[None, :], self._numbers, self._n_threads)[0]
        # a weight makes a row likelier to be drawn; it does not make two observations of one
        weights: Literal["sampling"] | None = None if self._weight is None else "sampling"
        gain, gain_interval = None, None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)  # said once, when they were held out
            self.auc = roc_auc_interval(self._y, values, sample_weight=self._weight, weights=weights)
            if self._before is not None:
                both = compare_roc_auc(
                    self._y, [values, self._before], sample_weight=self._weight, weights=weights
                )
                gain = float(both.difference[0, 1])
                gain_interval = float(both.low[0, 1]), float(both.high[0, 1])
        self._before = values
        return PairsStep(pairs, n_rows, self.auc.auc, (self.auc.low, self.auc.high), gain, gain_interval)


class _Sample:
    """Pairs drawn once: the first S of them are the sample of size S, for every S."""

    def __init__(
        self,
        ranker: Any,
        block: Block,
        demand: Demand,
        solve: Callable[[Quadratic], None],
        train: RowNumbers,
        numbers: list[int],
        rng: np.random.Generator,
    ) -> None:
        self._ranker, self._block, self._train = ranker, block, train
        self._demand, self._solve = demand, solve
        self._settings = replace(PairSettings.from_estimator(ranker), pairs="all")
        self.n_threads = self._settings.n_threads
        if not numbers:
            return
        self._drawn = draw_rows(block, numbers[-1], rng, train)
        # each fit has its own d³, while what products cost shrinks with the sample
        self._choose_solver(2 * numbers[0], len(numbers))
        self._moments = MomentsAccumulator(block.n_features, self.n_threads)
        self._class_weights = [block.class_weight(positive, train) for positive in (True, False)]

    def count_rows(self, pairs: int) -> int:
        """Different rows that the first pairs are made of."""
        return sum(np.unique(part[:pairs]).size for part in self._drawn)

    def fit(self, pairs: int) -> None:
        """Fit to the first pairs."""
        if self._ranker.solver_.name == "gram":
            self._solve(self._build_moments(pairs))
        else:
            sample = Sample(self._block, (self._drawn[0][:pairs], self._drawn[1][:pairs]))
            self._solve(weigh_sample_operator(sample, self._block, self._settings, self._train))

    def fit_all(self) -> None:
        """Fit to all pairs of the rows that are not held out."""
        ranker, block, train = self._ranker, self._block, self._train
        self._choose_solver(train.size)
        if ranker.solver_.name == "gram":
            self._solve(build_moments(block, self._settings, None, train))
        else:
            self._solve(build_operator(block, self._settings, None, train))

    def _choose_solver(self, n_rows: int, n_fits: int = 1) -> None:
        workload = Workload.from_matrix(self._block.X, n_rows)
        self._ranker.solver_ = choose_solver(self._demand, workload, parse_memory(None), n_fits=n_fits)

    def _build_moments(self, pairs: int) -> PairMoments:
        """Moments of the first pairs; the moments of earlier calls are reused."""
        total = self._moments
        size = max(int(self._ranker.batch_size), _round_size(self._block.X))
        for start in range(total.counts[0], pairs, size):
            part = slice(start, min(start + size, pairs))
            i, j = (rows[part] for rows in self._drawn)
            total.add_moments(pair_moments(self._block, i, j, self._ranker.pairing, self.n_threads))
        (plus, plus_size), (minus, minus_size) = self._class_weights
        return total.finish_sample((plus, minus), (plus_size, minus_size))


def _round_size(X: Any) -> int:
    """Pairs whose rows and differences take some 50 MB: short rounds would spend their time on merging."""
    return int(_ROUND * X.shape[0] // max(1, X.nnz if is_sparse(X) else X.size))
