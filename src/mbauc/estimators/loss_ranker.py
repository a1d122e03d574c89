"""What both estimators of any loss over pairs share: the loss, and the part of the ROC curve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse as sp

from mbauc.estimators.capabilities import is_quadratic
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.solved_ranker import SolvedRanker
from mbauc.estimators.validation import check_factors
from mbauc.losses import Region, get_loss
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse
from mbauc.solvers import Solution
from mbauc.solvers.column_scales import Scaling

#: Share of numbers other than zero up to which dense rows are worth packing.
_MOSTLY_ZEROS = 0.25


class LossRanker(SolvedRanker):
    """A ranker that lowers a loss over all pairs, or over those of a region of the ROC curve."""

    loss_: str

    def _check_settings(self) -> None:
        super()._check_settings()
        self._region()
        if not self._chooses_loss():
            get_loss(self.loss)

    def _chooses_loss(self) -> bool:
        """Whether the loss is ours to choose."""
        return isinstance(self.loss, str) and self.loss == "auto"

    def _region(self) -> Region:
        """The part of the ROC curve that counts."""
        return Region(self.max_fpr, self.min_tpr, self.min_fpr)

    def _is_quadratic(self) -> bool:
        """Whether the settings ask for Eq. (14) alone, for which the rows need not be kept."""
        return is_quadratic(self.get_params(deep=False))

    def _pack_zeros(self, block: Block) -> Block:
        """The same rows as sparse ones where most numbers are zeros, which sweeps then pass over."""
        X = block.X
        if is_sparse(X) or np.count_nonzero(X) > _MOSTLY_ZEROS * X.size:
            return block
        return replace(block, X=sp.csr_array(X))

    def _make_problems(
        self, pairs: PairOperator, scale: Scaling, quadratic: Quadratic | None = None
    ) -> PairProblems:
        """The problems of all losses over some pairs."""
        return PairProblems(
            pairs,
            check_factors(self.penalty_factors, pairs.n_features),
            scale=scale,
            region=self._region(),
            quadratic=quadratic,
        )

    def _store_solution(self, problem: Any, solution: Solution) -> None:
        super()._store_solution(problem, solution)
        if hasattr(self, "moments_"):
            # other losses have none to keep
            del self.moments_
