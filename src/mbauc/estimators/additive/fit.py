"""The weights of chosen features over all pairs of all rows, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.defaults import LOG_LOSS
from mbauc.estimators.additive.choice import Chosen
from mbauc.estimators.additive.coordinates import Statistics, block_moments, noise_of
from mbauc.estimators.additive.log_loss import LogOdds
from mbauc.estimators.additive.loss_choice import ChosenLoss, choose_loss, lower_log_loss
from mbauc.estimators.fitting import operate_rows
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.scorer import match_log_odds
from mbauc.estimators.source_fit import SourceRun
from mbauc.losses import PairLoss, Region, Squared, get_loss
from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.build import open_operator
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic, ScoreSummary
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.block import Block
from mbauc.rows.matrix import as_dense
from mbauc.rows.parts.mapped import map_rows
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.row_sample import RowSample
from mbauc.runtime.progress import show_wait
from mbauc.solvers import Solution
from mbauc.solvers.evidence import inverse_root
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Features whose moments are formed, at most, whatever the memory.
_MOST_FORMED = 12_000
#: Matrices of features × features that a pass may hold at a time.
_MATRICES = 3
#: Excess risk to reach from products with the rows, and optimality from moments.
_PRODUCT_TOL, _GRAM_TOL = 1e-5, 1e-8
_MAX_ITER = 1_000
#: Mean curvature of another loss that its penalty goes by at least, so that there is one.
_LEAST_CURVATURE = 1e-3


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """Weights of all features, and what goes with them."""

    coef: Array
    #: standard error of each, given the penalties
    errors: Array
    solution: Solution
    summary: ScoreSummary
    #: of the classes: sums of weights, and rows that they count for
    weights: tuple[float, float]
    sizes: tuple[float, float]
    classes: NDArray[Any]
    loss: str
    #: mean and standard deviation of what each term adds to scores
    term_means: Array
    term_deviations: Array
    #: share of the rows in which each feature is not zero
    feature_shares: Array
    #: what was found out on the way, for people
    note: str = ""
    #: slope and intercept of scores that have log-odds of their own
    line: tuple[float, float] | None = None


def fit_chosen(
    chosen: Chosen,
    rows: PartedRows,
    sample: RowSample,
    loss: str | PairLoss,
    memory: int,
    run: SourceRun,
    frequencies: bool,
) -> AdditiveFit:
    """Fit the weights of chosen features to all rows.

    From the moments of the search where its sample was all rows; otherwise in one more pass, or from products
    with the rows where features are too many for their moments, or for another loss.
    """
    choice = choose_loss(chosen, loss, whole=sample.is_whole)
    wanted = get_loss(Squared.name if choice.is_log_loss else choice.loss)
    opened = _open_pairs(chosen, rows, sample, memory, run, frequencies, rows_needed=wanted.name != "squared")
    waiting = f"solving for {chosen.strength.size:,} coordinates"
    with opened as (pairs, classes), show_wait(waiting, show=run.show):
        return _solve_chosen(chosen, pairs, classes, sample, choice, wanted)


def _solve_chosen(
    chosen: Chosen,
    pairs: Quadratic,
    classes: NDArray[Any],
    sample: RowSample,
    choice: ChosenLoss,
    wanted: PairLoss,
) -> AdditiveFit:
    """The weights of chosen features, and what goes with them."""
    l2 = 2.0 * noise_of(pairs.effective_sizes)
    problem = Problem(pairs, chosen.strength, scale=False)
    tol = _GRAM_TOL if isinstance(pairs, PairMoments) else _PRODUCT_TOL
    solution = squared = problem.solve(0.0, l2, tol=tol, max_iter=_MAX_ITER)
    if wanted.name != "squared" and isinstance(pairs, PairOperator):
        problems = PairProblems(pairs, chosen.strength, scale=False, region=Region())
        curvature = max(problems.mean_curvature(wanted, solution.coef), _LEAST_CURVATURE)
        solution = problems.newton(wanted).solve(
            0.0, l2 * curvature, tol=_PRODUCT_TOL, max_iter=_MAX_ITER, start=solution.coef
        )
    line: tuple[float, float] | None = None
    if choice.held_out is not None:
        found = lower_log_loss(chosen, start=choice.held_out.start)
        solution, line = _as_solution(found, solution), choice.held_out.straighten(found)
    coef = chosen.basis.reduction.expand(solution.coef)
    means, deviations, shares = _summarise_terms(chosen, sample, coef)
    return AdditiveFit(
        coef,
        _errors(chosen, pairs, squared.coef, solution.coef),
        solution,
        pairs.summarise_scores(solution.coef),
        pairs.weights,
        pairs.effective_sizes,
        np.asarray(classes),
        LOG_LOSS if choice.is_log_loss else wanted.name,
        means,
        deviations,
        shares,
        choice.note,
        line,
    )


def _as_solution(found: LogOdds, squared: Solution) -> Solution:
    """Weights of the log-loss, as solvers return theirs."""
    return replace(
        squared,
        coef=found.coef,
        objective=found.objective,
        optimality=found.optimality,
        iterations=found.iterations,
        excess_risk=0.0,
        excess_bound=float("inf"),
    )


@contextmanager
def _open_pairs(
    chosen: Chosen,
    rows: PartedRows,
    sample: RowSample,
    memory: int,
    run: SourceRun,
    frequencies: bool,
    *,
    rows_needed: bool,
) -> Iterator[tuple[Quadratic, NDArray[Any]]]:
    """All pairs in the coordinates of the features: moments, or an operator where rows are needed."""
    reduction, threads = chosen.basis.reduction, run.n_threads
    if sample.is_whole and chosen.columns.size:
        block = sample_block(chosen, frequencies)
        if not rows_needed:
            whole = chosen.columns.size == chosen.rows.Z.shape[1]
            yield chosen.rows.whole if whole else block_moments(block, threads), sample.classes
            return
        pairs = operate_rows(block, threads)
        yield pairs.as_frequencies() if frequencies else pairs, sample.classes
        return
    mapped = map_rows(rows, chosen.features, threads if rows.parts.kind != "cluster" else 1)
    formed = _MATRICES * 8 * reduction.n_features**2 <= memory // 2 and reduction.n_features <= _MOST_FORMED
    # rows of a group may lie in several blocks, whose moments do not add up then
    if formed and not rows_needed and not rows.grouped:
        [moments], classes = sum_moments(
            mapped, 1 if rows.parts.kind == "cluster" else threads, frequencies=frequencies
        )
        with show_wait(f"moments of {reduction.n_coordinates:,} coordinates", show=run.show):
            moments = moments.reduced(reduction)
        yield moments, classes
        return
    with open_operator(mapped, threads, memory, reduction=reduction, other_loss=rows_needed) as (
        reduced,
        classes,
    ):
        if isinstance(reduced, GroupedPairOperator):
            warn_of_one_class_groups(reduced.pair_weights)
        yield reduced.as_frequencies() if frequencies else reduced, classes


def sample_block(chosen: Chosen, frequencies: bool) -> Block:
    """The rows of the search in the coordinates that are used."""
    rows, columns = chosen.rows, chosen.columns
    Z = rows.take(np.arange(rows.positive.size), columns)
    return Block(Z, rows.positive, rows.weight, frequencies=frequencies, groups=rows.groups)


def _errors(chosen: Chosen, pairs: Quadratic, squared: Array, u: Array) -> Array:
    """Standard error of each feature's weight: of the normal weights whose mean the solution is (Wahba).

    Errors of another loss are those of the squared one, in units of the scores of normal classes: about right
    relative to the weights, and too large where columns are rarely other than zero. Where Σ was not formed,
    that of the rows of the search stands for it; where these have other coordinates, as if coordinates were
    uncorrelated.
    """
    reduction, noise = chosen.basis.reduction, noise_of(pairs.effective_sizes)
    penalty = noise * chosen.strength
    covariance: Array | None = None
    if isinstance(pairs, PairMoments):
        covariance = Statistics.of(pairs).covariance
    elif chosen.columns.size:
        covariance = chosen.rows.statistics().select(chosen.columns).covariance
    if covariance is None:
        alone = noise / (np.maximum(pairs.diagonal - pairs.mu**2, 0.0) / 2 + penalty)
    else:
        root = inverse_root(covariance, penalty + 1e-12)
    # (2C + μμ' + 2νP) u = μ: the solution is a multiple of (C + νP)⁻¹ μ, which has the unit of log-odds
    ratio = max(1.0 - float(pairs.mu @ squared), 0.0) / 2
    ratio *= _slope(pairs, squared) / _slope(pairs, u)
    errors = np.zeros(reduction.n_features)
    for block, (features, columns) in zip(reduction.blocks, reduction.places(), strict=True):
        own = np.diag(alone[columns]) if covariance is None else noise * root[:, columns].T @ root[:, columns]
        variance = np.diagonal(own) if isinstance(block, int) else np.einsum("ij,jk,ik->i", block, own, block)
        errors[features] = ratio * np.sqrt(np.maximum(variance, 0.0))
    return errors


def _slope(pairs: Quadratic, u: Array) -> float:
    """Scores times this are log-odds."""
    return match_log_odds(*pairs.summarise_scores(u), prior_odds=1.0)[1]


def _summarise_terms(chosen: Chosen, sample: RowSample, coef: Array) -> tuple[Array, Array, Array]:
    """Mean and deviation of what each term adds to scores, and the share of each feature, over all rows."""
    features = chosen.features
    X = as_dense(sample.block.X)
    share = sample.share / sample.share.sum()
    added = features.contributions(X, coef)
    means = share @ added
    deviations = np.sqrt(np.maximum(share @ (added - means) ** 2, 0.0))
    codes = features.codes(X)
    shares = np.zeros(features.n_features)
    for term in features.terms():
        if term.kind == "number":
            shares[term.start] = 1.0
            continue
        own = features.cells(codes, *term.columns) if term.kind == "cells" else codes[:, term.columns[0]]
        shares[term.start : term.stop] = np.bincount(own, share, minlength=term.stop - term.start)
    return means, deviations, shares
