"""Waiting: import, first dense fit, first sparse fit of a new process, and a small fit."""

import numpy as np

from benchmarks.timing import in_new_process, report, seconds
from mbauc import MBAClassifier

_DATA = "import numpy as np; X = np.random.default_rng(0).standard_normal((%d, 20)); y = X[:, 0] > 0.5;"
_SPARSE = _DATA + "from scipy import sparse as sp; X = sp.csr_matrix(X * (X > 0.5));"
_FIT = "from mbauc import MBAClassifier; MBAClassifier().fit(X, y)"
#: Rows of a fit that needs no compiled loops, and of one that does.
_FEW, _MANY = 2_000, 20_000


def run(repeats=5):
    programs = {
        "import": "from mbauc import MBAClassifier",
        "numpy": "import numpy",
        "help": "import sys; sys.argv = ['mbauc', '--help']; from mbauc.cli.main import main; main()",
        "sklearn": "import sklearn.linear_model",
        "dense": _DATA % _FEW + _FIT,
        "sparse": _SPARSE % _FEW + _FIT,
        "dense, many": _DATA % _MANY + _FIT,
        "sparse, many": _SPARSE % _MANY + _FIT,
    }
    for code in programs.values():
        in_new_process(code)
    best = dict.fromkeys(programs, np.inf)
    for _ in range(repeats):
        for name, code in programs.items():
            best[name] = min(best[name], in_new_process(code))
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 5)), rng.random(100) < 0.3
    small = seconds(lambda: MBAClassifier().fit(X, y), repeats=50)
    report(
        "startup",
        [
            (
                "from mbauc import MBAClassifier / import sklearn.linear_model",
                f"{best['import'] / best['sklearn']:.2f}",
                "below 1.5",
            ),
            (
                "first dense fit of a process, beyond the import",
                f"{best['dense'] - best['import']:.2f} s",
                "",
            ),
            (
                f"first sparse fit beyond first dense fit, {_MANY:,} × 20, kernels cached",
                f"{best['sparse, many'] - best['dense, many']:.2f} s",
                "at most 0.4 s",
            ),
            (
                f"the same, {_FEW:,} × 20: no kernels",
                f"{best['sparse'] - best['dense']:.2f} s",
                "at most 0.1 s",
            ),
            (
                "mbauc --help, beyond import numpy",
                f"{best['help'] - best['numpy']:+.2f} s",
                "below 0.3 s",
            ),
            ("fit of 100 × 5", f"{1000 * small:.2f} ms", "below 5 ms"),
        ],
    )


if __name__ == "__main__":
    run()
