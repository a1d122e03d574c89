"""Settings of the search for features, which AdditiveAUCClassifier, TableRanker and the command line share."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.checks import check_choice, check_whole
from mbauc.defaults import FEATURES
from mbauc.errors import Advice
from mbauc.estimators.additive.loss_choice import check_loss
from mbauc.runtime.seeds import check_seed
from mbauc.runtime.threads import thread_count


def check_search(estimator: Any) -> None:
    """Raise for settings of the search, here or of tables, that no data could make sense of."""
    check_choice("features", estimator.features, FEATURES)
    check_loss(estimator.loss)
    check_whole("bins", estimator.bins, low=2)
    check_whole("search_rows", estimator.search_rows, low=100)
    check_choice("weights", estimator.weights, ("sampling", "frequency"))
    if isinstance(estimator.interactions, int | np.integer):
        check_whole("interactions", estimator.interactions, low=0)
    check_interactions(estimator.features, estimator.interactions)
    check_seed(estimator.random_state)
    thread_count(estimator.n_jobs)


def check_interactions(features: Any, interactions: Any) -> None:
    """Raise if interactions are asked for beside features that have none."""
    none = interactions is None or (isinstance(interactions, int | np.integer) and interactions == 0)
    if none or (hasattr(interactions, "__len__") and len(interactions) == 0):
        return
    if features in ("linear", "curves", "fourier"):
        raise ValueError(
            Advice("{interactions} asks for interactions, {features} for none", features=features)
            + Advice("; leave out one of the two, or pass {features}.", features="interactions")
        )
