"""Models and rows that reports are made of in these tests."""

import numpy as np

from mbauc.model import RankerModel, Threshold
from mbauc.report.model_origin import ModelOrigin

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "' onmouseover='window.hacked = 1",
    "]]><!-- <svg onload=window.hacked=1>",
    "🦊 名前 é &amp; &lt;b&gt;",
    "\u202eright to left",
    "lone \ud800 half",
    "zero \x00 byte\nand line",
    "",
    "long " * 2000,
    "</style><style>body { display: none }</style>",
    "javascript:window.hacked=1",
    "</title></bdi></code></svg><iframe srcdoc='<script>parent.hacked = 1</script>'>",
    "\u2067\u202dturned\u2066 round",
    "line\r\nand\u2028another",
]


class NamedColumns:
    """A layout of columns with any names."""

    def __init__(self, names):
        self.names, self.n_features = names, len(names)

    def feature_names(self):
        return self.names

    def scales(self):
        return np.ones(self.n_features), False


def make_model(names=None, *, d=6, coef=None, slope=1.0, classes=("no", "yes"), **rest):
    names = [f"column {k}" for k in range(d)] if names is None else names
    coef = np.random.default_rng(0).standard_normal(len(names)) if coef is None else np.asarray(coef, float)
    return RankerModel(NamedColumns(names), classes, coef, 0.0, slope, 0.0, 0.01, **rest)


def of_model(model):
    """A model as the origin of scores."""
    return ModelOrigin(model.classes, model=model)


def make_rows(n, rate, gap=1.8, seed=0):
    """Scores that are log-odds when multiplied by the gap."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(int)
    y[:2] = 0, 1
    return y, rng.standard_normal(n) + gap * y + np.log(rate / (1 - rate)) / gap - gap / 2


def typical():
    """A model with a threshold and a path, and 20,000 rows."""
    y, s = make_rows(20_000, 0.02)
    cut = Threshold(float(np.quantile(s[y == 0], 0.991)), 0.01, 0.95, 5000)
    penalties = np.geomspace(1e-4, 1e2, 20)
    path = [
        {"l1": 0.0, "l2": float(l2), "score": 0.9 - 0.004 * np.log10(100 * l2) ** 2, "stderr": 0.002}
        for l2 in penalties
    ]
    return make_model(d=40, slope=1.8, threshold=cut, path=path, trained_on={"rows": 100_000}), y, s
