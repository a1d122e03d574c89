"""What the MBA paper states: its simulated distributions, and figures of Tables II and III and Section V-C."""

from __future__ import annotations

import numpy as np

from mbauc.paper.detection import GaussianMixture, Hypotheses

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


#: Columns of Table III.
TABLE3_METHODS = ("MBA-ℓ2", "MBA-ℓ1", "OLR", "SOLR", "OAM", "AdaAUC")

_CELLS = {
    "a1a": "88.98 0.14 88.67 0.15 88.64 0.27 88.04 0.14 87.61 0.45 88.51 0.34",
    "a9a": "89.97 0.01 89.97 0.02 90.17 0.03 89.88 0.03 89.30 0.22 89.99 0.04",
    "amazon": "77.12 0.44 71.35 2.50 69.90 2.21 71.87 0.74 60.23 3.90 74.97 0.89",
    "bank": "93.22 0.06 93.22 0.03 82.89 0.21 80.23 0.33 81.51 0.49 89.46 0.12",
    "codrna": "97.68 0.00 97.63 0.01 95.69 0.19 92.36 0.85 97.31 0.12 94.34 0.40",
    "german": "80.34 0.80 80.41 0.64 76.39 1.69 75.07 1.22 74.59 1.79 77.83 1.29",
    "ijcnn": "90.53 0.05 90.40 0.07 89.50 0.53 88.93 0.48 88.52 1.76 90.59 0.28",
    "madelon": "62.39 0.44 62.34 0.51 61.97 0.69 61.81 0.48 60.64 0.44 61.82 1.58",
    "mnist": "95.81 0.02 95.77 0.02 95.63 0.27 95.49 0.12 94.82 0.23 95.47 0.09",
    "mushrooms": "100.00 0.00 100.00 0.00 99.88 0.03 99.73 0.07 99.62 0.28 99.98 0.00",
    "phishing": "98.32 0.01 98.32 0.05 98.49 0.01 98.38 0.03 98.08 0.27 98.36 0.02",
    "svmguide3": "81.16 0.80 82.05 0.66 63.80 0.81 57.65 2.98 66.97 3.45 69.14 1.95",
    "usps": "95.89 0.04 95.83 0.06 95.82 0.15 95.71 0.07 94.65 0.53 95.74 0.13",
    "w1a": "92.28 0.23 91.21 0.36 84.81 1.34 79.84 1.15 87.83 1.59 90.70 0.67",
    "w7a": "96.27 0.07 96.17 0.08 93.05 0.29 89.27 0.82 93.92 0.55 95.09 0.26",
}

#: Circles of Table III, ● where an MBA is significantly better and ○ where it is worse: OLR, SOLR, OAM, AdaAUC.
TABLE3_CIRCLES = {
    "a1a": "●●●●",
    "a9a": "○●● ",
    "amazon": "●●●●",
    "bank": "●●●●",
    "codrna": "●●●●",
    "german": "●●●●",
    "ijcnn": "●●● ",
    "madelon": " ●● ",
    "mnist": "●●●●",
    "mushrooms": " ●●●",
    "phishing": "  ● ",
    "svmguide3": "●●●●",
    "usps": "●●●●",
    "w1a": "●●●●",
    "w7a": "●●●●",
}


def table3(dataset: str) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the AUC of each method on a data set, in percent."""
    numbers = [float(number) for number in _CELLS[dataset].split()]
    return dict(zip(TABLE3_METHODS, zip(numbers[::2], numbers[1::2], strict=True), strict=True))


#: Section V-C, Figure 4: how much better the best MBA is than the best other method, in points of AUC.
CLICK_GAINS = {"avazu app": 1.20, "avazu site": 0.43, "criteo": 0.54}
#: Table I: training rows of the click logs.
CLICK_ROWS = {"avazu app": 12_600_000, "avazu site": 23_600_000, "criteo": 45_800_000}
#: Table I: their test rows.
CLICK_TEST_ROWS = {"avazu app": 2_000_000, "avazu site": 2_600_000, "criteo": 6_000_000}
#: Chunks that the training rows are split into.
CLICK_CHUNKS = {"avazu app": 100, "avazu site": 200, "criteo": 200}
#: Figure 5: the runtime of MBA on Criteo is "under an hour".
CRITEO_SECONDS_BELOW = 3600.0
