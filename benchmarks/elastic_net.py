"""Two ways to the elastic net from moments: scikit-learn's path with active-set steps, and skglm."""

import numpy as np
from skglm.datafits import QuadraticHessian
from skglm.penalties import L1
from skglm.solvers import AndersonCD
from skglm.utils.jit_compilation import compiled_clone

from benchmarks.timing import once, report
from mbauc.solvers import Penalty, elastic_net_path

D, L2 = 3000, 0.01


def moments(seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * D, D)) @ (np.eye(D) + 0.02 * rng.standard_normal((D, D)))
    sigma = A.T @ A / (2 * D)
    w = np.zeros(D)
    w[:60] = rng.standard_normal(60)
    return sigma, sigma @ w + 0.05 * rng.standard_normal(D)


def run():
    sigma, mu = moments()
    top = np.abs(mu).max()
    shares = (0.1, 0.01, 0.001)
    path = []
    ours = once(lambda: path.extend(elastic_net_path(sigma, mu, [s * top for s in shares], L2, np.ones(D))))
    rows = [(f"this package, l1 = {shares} of max|μ|", f"{ours:.2f} s", "")]
    ridged = sigma + L2 * np.eye(D)

    def skglm_path():
        w, found = None, []
        for share in shares:
            solver = AndersonCD(tol=1e-6 * top, fit_intercept=False, warm_start=w is not None)
            start = None if w is None else ridged @ w
            datafit, penalty = compiled_clone(QuadraticHessian()), compiled_clone(L1(share * top))
            w, *_ = solver.solve(ridged, -mu, datafit, penalty, w_init=w, Xw_init=start)
            found.append(w.copy())  # the next call starts from w and overwrites it
        return found

    first = once(skglm_path)
    found = []
    second = once(lambda: found.extend(skglm_path()))
    rows += [
        ("skglm, first call (compiles)", f"{first:.2f} s", ""),
        ("skglm, second call", f"{second:.2f} s", ""),
    ]
    for share, solution, w in zip(shares, path, found, strict=True):
        penalty = Penalty(share * top, L2, np.ones(D))
        gap = abs(solution.objective - (0.5 * w @ sigma @ w - w @ mu + penalty.value(w))) / abs(
            solution.objective
        )
        rows.append(
            (
                f"l1 = {share} of max: weights, optimality",
                f"{(solution.coef != 0).sum()}, {solution.optimality:.0e}",
                "",
            )
        )
        rows.append((f"l1 = {share} of max: relative difference in objective", f"{gap:.0e}", "at most 1e-6"))
    report("elastic_net", rows)


if __name__ == "__main__":
    run()
