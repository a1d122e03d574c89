"""Moments of the training and test rows of splits, in one pass where the splits are folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.cross_validation.problems import SplitMoments
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings, build_moments
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.runtime.progress import progress


def accumulate_splits(
    block: Block, settings: PairSettings, rounds: list[list[Split]], rng: np.random.Generator
) -> tuple[PairMoments, list[SplitMoments]]:
    """Moments of all rows, and of the training and test rows of each split."""
    total: PairMoments | None = None
    parts: list[SplitMoments] = []
    used = block.rows_of(True).size + block.rows_of(False).size
    with progress(used * len(rounds), "cross-validation", show=settings.verbose) as advance:

        def of(subset: NDArray[np.intp] | None) -> PairMoments:
            moments = build_moments(block, settings, rng, subset, advance)
            if not moments.has_pairs:
                raise ValueError(
                    "a split is left with one class once rows of zero weight are dropped; "
                    "AUC needs both classes."
                )
            return moments

        for splits in rounds:
            tests = [of(split.test) for split in splits]
            held_out = sum(split.test.size for split in splits)
            partition = splits[0].train is None and held_out in (used, block.n_rows)
            if partition:
                # the folds of this round are all rows once: no pass of its own for the total
                whole = sum(tests[1:], tests[0])
                total = total or whole
            elif total is None:
                total = of(None)
            for split, test in zip(splits, tests, strict=True):
                if split.train is not None:
                    parts.append(SplitMoments(test, train=of(split.train)))
                elif partition or settings.are_all:
                    parts.append(SplitMoments(test, whole=whole if partition else total))
                else:
                    # other pairs were drawn for the total than for the test rows: nothing to subtract
                    others = np.setdiff1d(np.arange(block.n_rows), split.test)
                    parts.append(SplitMoments(test, train=of(others)))
    return total, parts  # type: ignore[return-value]
