"""What the MBA paper states of its simulation study: the distributions, and the figures of Table II."""

from __future__ import annotations

import numpy as np

from mbauc.detection import GaussianMixture, Hypotheses

#: Numbers of components.
COMPONENTS = (1, 2, 3)
#: Sampled pairs as a share of the training rows.
RATIOS = (0.01, 0.1, 1.0)
#: Not stated in the paper; the only dimension that gives its Neyman–Pearson column.
DIMENSION = 100

_SHARES = {1: ([1.0], [-0.1]), 2: ([0.9, 0.1], [-0.1, 0.1]), 3: ([0.8, 0.1, 0.1], [-0.1, 0.0, 0.1])}

NEYMAN_PEARSON = {1: 92.13, 2: 83.71, 3: 80.22}

#: Mean and standard deviation of the AUC over 50 training sets, by (components, ratio).
TABLE2 = {
    "MBA-ℓ2": {
        (1, 0.01): (87.43, 0.69),
        (1, 0.1): (91.44, 0.10),
        (1, 1.0): (91.88, 0.04),
        (2, 0.01): (80.15, 0.68),
        (2, 0.1): (83.15, 0.10),
        (2, 1.0): (83.47, 0.04),
        (3, 0.01): (76.39, 0.47),
        (3, 0.1): (79.52, 0.11),
        (3, 1.0): (79.93, 0.11),
    },
    "ONLR": {
        (1, 0.01): (86.79, 0.99),
        (1, 0.1): (90.54, 0.29),
        (1, 1.0): (90.69, 0.24),
        (2, 0.01): (77.64, 1.41),
        (2, 0.1): (80.19, 0.69),
        (2, 1.0): (80.19, 0.69),
        (3, 0.01): (73.07, 1.06),
        (3, 0.1): (75.94, 0.64),
        (3, 1.0): (75.91, 0.83),
    },
    "AdaAUC": {
        (1, 0.01): (80.94, 2.77),
        (1, 0.1): (90.25, 0.31),
        (1, 1.0): (91.70, 0.07),
        (2, 0.01): (69.75, 3.24),
        (2, 0.1): (80.12, 0.69),
        (2, 1.0): (83.01, 0.11),
        (3, 0.01): (66.38, 1.95),
        (3, 0.1): (76.72, 0.33),
        (3, 1.0): (79.61, 0.06),
    },
}


def hypotheses(components: int) -> Hypotheses:
    """The two mixtures of Section V-A; the positive one is the negative one mirrored."""
    shares, levels = _SHARES[components]
    negative = GaussianMixture(np.outer(levels, np.ones(DIMENSION)), weights=shares)
    positive = GaussianMixture(-negative.means, weights=shares)
    return Hypotheses(positive, negative)
