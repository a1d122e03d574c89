"""Slow twins: each follows its definition in the paper line by line and nothing else."""

import numpy as np
from scipy.special import expit


def pair_moments(X, y, w=None):
    """Eq. (13), and with weights: a double loop over all pairs."""
    X = np.asarray(X, dtype=float)
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    mu, sigma, total = np.zeros(X.shape[1]), np.zeros((X.shape[1],) * 2), 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            x = X[i] - X[j]
            mu += w[i] * w[j] * x
            sigma += w[i] * w[j] * np.outer(x, x)
            total += w[i] * w[j]
    return mu / total, sigma / total


def grouped_moments(X, y, groups, w=None, *, equal_groups=False):
    """Eq. (13) over the pairs of one group: a double loop; (mu, sigma, weight of each row's pairs, total)."""
    X = np.asarray(X, dtype=float)
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    mu, sigma, rows = np.zeros(X.shape[1]), np.zeros((X.shape[1],) * 2), np.zeros(len(X))
    for group in set(groups.tolist()):
        plus = [i for i in range(len(X)) if groups[i] == group and y[i] and w[i] > 0]
        minus = [i for i in range(len(X)) if groups[i] == group and not y[i] and w[i] > 0]
        in_all = sum(w[i] * w[j] for i in plus for j in minus) if equal_groups else 1.0
        for i in plus:
            for j in minus:
                x, weight = X[i] - X[j], w[i] * w[j] / in_all
                mu += weight * x
                sigma += weight * np.outer(x, x)
                rows[i] += weight
                rows[j] += weight
    total = rows.sum() / 2
    return mu / total, sigma / total, rows, total


def matched_moments(X_pos, X_neg):
    """Eq. (16): row i with row i."""
    mu, sigma = np.zeros(X_pos.shape[1]), np.zeros((X_pos.shape[1],) * 2)
    for a, b in zip(np.asarray(X_pos, dtype=float), np.asarray(X_neg, dtype=float), strict=True):
        mu += a - b
        sigma += np.outer(a - b, a - b)
    return mu / len(X_pos), sigma / len(X_pos)


def pairwise_risk(X, y, w):
    """Eq. (8): mean of (1 - w'(x⁺ - x⁻))² over all pairs."""
    losses = [(1 - w @ (X[i] - X[j])) ** 2 for i in np.flatnonzero(y) for j in np.flatnonzero(~y)]
    return float(np.mean(losses))


def auc(y, s, w=None):
    """Eq. (5): share of pairs won, ties one half."""
    w = np.ones(len(s)) if w is None else w
    won = total = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            won += w[i] * w[j] * (1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0)
            total += w[i] * w[j]
    return won / total


def grouped_auc(y, s, groups, w=None, equal_groups=False):
    """Share of pairs within groups won, ties one half; or the mean of that share over groups."""
    w = np.ones(len(s)) if w is None else w
    won, total = {}, {}
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~np.asarray(y, dtype=bool)):
            if groups[i] == groups[j] and w[i] * w[j] > 0:
                g, pair = groups[i], w[i] * w[j]
                won[g] = won.get(g, 0.0) + pair * (1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0)
                total[g] = total.get(g, 0.0) + pair
    if equal_groups:
        return float(np.mean([won[g] / total[g] for g in total]))
    return sum(won.values()) / sum(total.values())


def roc_curve(y, s, w=None):
    """Rates of rows at or above each threshold, from none to all."""
    y, s = np.asarray(y, dtype=bool), np.asarray(s)
    w = np.ones(len(s)) if w is None else w
    points = [(0.0, 0.0)]
    for threshold in sorted(set(s.tolist()), reverse=True):
        above = s >= threshold
        points.append((w[above & ~y].sum() / w[~y].sum(), w[above & y].sum() / w[y].sum()))
    return np.array(points)


def partial_area(y, s, max_fpr, min_tpr, w=None, steps=200_000):
    """∫ max(0, TPR(u) - min_tpr) du up to max_fpr, by the midpoint rule."""
    points = roc_curve(y, s, w)
    u = (np.arange(steps) + 0.5) / steps * max_fpr
    return max_fpr * np.maximum(0.0, np.interp(u, points[:, 0], points[:, 1]) - min_tpr).mean()


def delong(y, s):
    """DeLong et al. 1988: AUC, and its variance from the mean wins of each row; all pairs one by one."""
    auc, covariance = delong_covariance(y, [s])
    return auc[0], covariance[0, 0]


def delong_covariance(y, table):
    """The same of several scorers on the same rows."""
    plus, minus = np.flatnonzero(y), np.flatnonzero(~np.asarray(y, dtype=bool))
    wins = np.zeros((len(table), len(plus), len(minus)))
    for k, s in enumerate(table):
        for a, i in enumerate(plus):
            for b, j in enumerate(minus):
                wins[k, a, b] = 1.0 if s[i] > s[j] else 0.5 if s[i] == s[j] else 0.0
    of_plus, of_minus = np.atleast_2d(np.cov(wins.mean(axis=2))), np.atleast_2d(np.cov(wins.mean(axis=1)))
    return wins.mean(axis=(1, 2)), of_plus / len(plus) + of_minus / len(minus)


def clustered_covariance(y, table, clusters):
    """Obuchowski 1997: the covariance of AUCs where rows of a cluster depend on each other, term by term."""
    y = np.asarray(y, dtype=bool)
    labels, m, n = np.unique(clusters), int(y.sum()), int((~y).sum())
    wins = [
        [[(s[i] > s[j]) + (s[i] == s[j]) / 2 for j in np.flatnonzero(~y)] for i in np.flatnonzero(y)]
        for s in table
    ]
    wins = np.array(wins, dtype=float)
    auc = wins.mean(axis=(1, 2))
    of_plus, of_minus = np.zeros((2, len(labels), len(table)))
    for g, label in enumerate(labels):
        for i in np.flatnonzero(clusters[y] == label):
            of_plus[g] += wins[:, i, :].mean(axis=1) - auc
        for j in np.flatnonzero(clusters[~y] == label):
            of_minus[g] += wins[:, :, j].mean(axis=1) - auc
    with_plus, with_minus, all_of_them = len(set(clusters[y])), len(set(clusters[~y])), len(labels)
    s10 = with_plus / ((with_plus - 1) * m) * of_plus.T @ of_plus
    s01 = with_minus / ((with_minus - 1) * n) * of_minus.T @ of_minus
    s11 = all_of_them / (all_of_them - 1) * of_plus.T @ of_minus
    return auc, s10 / m + s01 / n + (s11 + s11.T) / (m * n)


def holm(p_values):
    """Holm 1979: for each hypothesis the smallest level at which the procedure, step by step, rejects it."""
    m = len(p_values)

    def rejected(level):
        done = set()
        for step, k in enumerate(sorted(range(m), key=lambda k: p_values[k])):
            # the level is a multiple of a p-value: a hair's breadth keeps it on the right side
            if p_values[k] * (m - step) > level * (1 + 1e-12):
                break
            done.add(k)
        return done

    levels = sorted({min(1.0, p * times) for p in p_values for times in range(1, m + 1)} | {1.0})
    return [next((level for level in levels if k in rejected(level)), 1.0) for k in range(m)]


def objective(sigma, mu, w, l1, l2, factors=None):
    """Eq. (14)."""
    factors = np.ones(len(mu)) if factors is None else factors
    penalty = sum(f * (l1 * abs(v) + l2 / 2 * v**2) for f, v in zip(factors, w, strict=True))
    return 0.5 * w @ sigma @ w - w @ mu + penalty


def coordinate_descent(sigma, mu, l1, l2, factors=None, sweeps=20_000):
    """Eq. (14) minimised one coordinate at a time with the textbook soft threshold."""
    factors = np.ones(len(mu)) if factors is None else factors
    w = np.zeros(len(mu))
    for _ in range(sweeps):
        before = w.copy()
        for j in range(len(mu)):
            rest = mu[j] - sigma[j] @ w + sigma[j, j] * w[j]
            curvature = sigma[j, j] + l2 * factors[j]
            if curvature > 0:
                w[j] = np.sign(rest) * max(abs(rest) - l1 * factors[j], 0.0) / curvature
        if np.abs(w - before).max() < 1e-14:
            break
    return w


def online_logistic(X, y, eta0, *, l2=0.0, fit_intercept=True, auto=False):
    """Zinkevich 2003 with the logistic loss; l2 as an implicit step. Weights, intercept, loss of each row.

    With ``auto`` the steps of the weights, past ones included, are divided by the mean ‖x‖² so far.
    """
    w, b, mean, losses = np.zeros(X.shape[1]), 0.0, 0.0 if auto else 1.0, []
    for t, (x, sign) in enumerate(zip(X, np.where(y, 1, -1), strict=True), 1):
        if auto:
            before, mean = mean, mean + (x @ x - mean) / t
            w = w * before / mean if mean > 0 else w
        eta = eta0 / np.sqrt(t)
        s = w @ x + b
        losses.append(np.logaddexp(0.0, -sign * s))
        g = -sign * expit(-sign * s)
        if mean > 0:
            w = w / (1 + eta / mean * l2) - eta / mean * g * x
        if fit_intercept:
            b = b - eta * g
    return w, b, losses


def ftrl_proximal(X, y, alpha, beta, lambda_1, lambda_2, *, fit_intercept=True):
    """McMahan et al. 2013, Algorithm 1, with a last column of ones that is not penalised."""
    X = np.c_[X, np.full(len(X), float(fit_intercept))]
    d = X.shape[1]
    z, n, losses = np.zeros(d), np.zeros(d), []
    lambda_1, lambda_2 = (np.append(np.full(d - 1, value), 0.0) for value in (lambda_1, lambda_2))

    def weight(i):
        if abs(z[i]) <= lambda_1[i]:
            return 0.0
        return -(z[i] - np.sign(z[i]) * lambda_1[i]) / ((beta + np.sqrt(n[i])) / alpha + lambda_2[i])

    for x, label in zip(X, y, strict=True):
        entries = np.flatnonzero(x)
        w = {i: weight(i) for i in entries}
        p = expit(sum(w[i] * x[i] for i in entries))
        losses.append(-np.log(p if label else 1 - p))
        for i in entries:
            g = (p - label) * x[i]
            sigma = (np.sqrt(n[i] + g**2) - np.sqrt(n[i])) / alpha
            z[i] += g - sigma * w[i]
            n[i] += g**2
    *w, b = (weight(i) for i in range(d))
    return np.array(w), b, losses


def oam(X, y, C, buffer_size, update, draws, passes=1):
    """Zhao et al. 2011; a row that finds its buffer full takes slot int(draw · rows seen), if there is one.

    Rows seen are those of the first pass. Weights, and for each row the mean hinge loss against the buffer, 0
    if that is empty.
    """
    w, losses = np.zeros(X.shape[1]), []
    buffers, seen = ([], []), [0, 0]
    X, y = np.tile(X, (passes, 1)), np.tile(y, passes)
    for number, (x, own, draw) in enumerate(zip(X, np.asarray(y, dtype=int), draws, strict=True)):
        sign, other = 2 * own - 1, 1 - own
        C_t = C * max(1.0, seen[other] / buffer_size)
        lost, start = [], w
        for b in buffers[other]:
            apart = sign * (x - b)
            lost.append(max(0.0, 1 - (w if update == "sequential" else start) @ apart))
            if update == "sequential" and lost[-1] > 0 and apart.any():
                w = w + min(C_t / 2, lost[-1] / (apart @ apart)) * apart
            elif update == "gradient" and start @ apart <= 1:
                w = w + C_t / 2 * apart
        losses.append(np.mean(lost) if lost else 0.0)
        first_pass = number < len(X) // passes
        seen[own] += first_pass
        if len(buffers[own]) < buffer_size:
            if first_pass:
                buffers[own].append(x)
        elif seen[own] > buffer_size and int(draw * seen[own]) < buffer_size:
            buffers[own][int(draw * seen[own])] = x
    return w, losses


class RunningClass:
    """Number, mean and covariance of the rows of one class as Gao et al. 2013 update them, or their sketch."""

    def __init__(self, d, rank, centred):
        self.T, self.c, self.centred = 0, np.zeros(d), centred
        self.gamma = np.zeros((d, d))
        self.Z, self.h = (None, None) if rank is None else (np.zeros((d, rank)), np.zeros(rank))

    def include(self, x, r):
        self.T += 1
        old, self.c = self.c, self.c + (x - self.c) / self.T
        self.gamma = (
            self.gamma
            + (np.outer(x, x) - self.gamma - np.outer(old, old)) / self.T
            + np.outer(old, old)
            - np.outer(self.c, self.c)
        )
        if self.Z is not None:
            self.Z = self.Z + np.outer(x, r)
            self.h = self.h + (r - self.h) / self.T

    def covariance(self):
        if self.Z is None:
            return self.gamma
        if self.centred:
            centred = self.Z - self.T * np.outer(self.c, self.h)
            return centred @ centred.T / self.T
        return self.Z @ self.Z.T / self.T - self.h @ self.h * np.outer(self.c, self.c)

    def trace(self):
        """A bound on the trace of the covariance, or that itself."""
        if self.Z is None or self.centred:
            return np.trace(self.covariance())
        return np.trace(self.Z @ self.Z.T) / self.T


class Unit:
    """The largest of some numbers so far, by which steps are divided, past ones included."""

    def __init__(self):
        self.largest = 0.0

    def update(self, w, number):
        """The weights as if the new number had been known from the start."""
        before, self.largest = self.largest, max(self.largest, number)
        return w * before / self.largest if before > 0 else w

    def step(self, eta, longest):
        return min(eta, longest) / self.largest if self.largest > 0 else 0.0


def _squared_loss_steps(X, y, l2, passes, draws, centred, step, unit=None):
    """What OPAUC and AdaOAM share: ``step(w, g)`` takes weights and the gradient of a row to new weights."""
    w, losses = np.zeros(X.shape[1]), []
    classes = [RunningClass(X.shape[1], None if draws is None else draws.shape[1], centred) for _ in range(2)]
    draws = np.zeros((len(X), 0)) if draws is None else draws
    for number in range(passes):
        for x, own, r in zip(X, np.asarray(y, dtype=int), draws, strict=True):
            sign, other = 2 * own - 1, classes[1 - own]
            lost = 0.0
            if other.T > 0:
                apart, S = x - other.c, other.covariance()
                if unit is not None:
                    w = unit.update(w, apart @ apart + other.trace() + l2)
                lost = ((1 - sign * w @ apart) ** 2 + w @ S @ w) / 2
                w = step(w, l2 * w - sign * apart + apart * (apart @ w) + S @ w)
            losses.append(lost)
            if number == 0:
                classes[own].include(x, r)
    return w, losses


def opauc(X, y, eta0, *, l2=0.0, constant=False, auto=False, passes=1, draws=None, centred=True):
    """Gao et al. 2013, Algorithm 1, means and covariances of the first pass; ``draws`` are r of the sketch.

    ``auto`` divides the step, at most 1, by the largest curvature so far. Weights, and the loss of each row.
    """
    t, unit = 0, Unit()

    def step(w, g):
        nonlocal t
        t += 1
        eta = eta0 if constant else eta0 / np.sqrt(t)
        return w - (unit.step(eta, 1.0) if auto else eta) * g

    return _squared_loss_steps(X, y, l2, passes, draws, centred, step, unit if auto else None)


def ada_oam(X, y, eta0, *, delta, l1=0.0, l2=0.0, passes=1, draws=None, centred=True):
    """Ding et al. 2015, Algorithm 1, and with l1 the soft threshold of the sparse variant of 2016."""
    G = np.zeros(X.shape[1])

    def step(w, g):
        nonlocal G
        G = G + g**2
        H = delta + np.sqrt(G)
        w = w - eta0 / H * g
        return np.sign(w) * np.maximum(0.0, np.abs(w) - l1 * eta0 / H)

    return _squared_loss_steps(X, y, l2, passes, draws, centred, step)


#: Eq. (7), the squared loss halved, and derivatives.
SURROGATES = {
    "squared": (lambda t: (1 - t) ** 2 / 2, lambda t: t - 1),
    "hinge": (lambda t: np.maximum(0.0, 1 - t), lambda t: np.where(t <= 1, -1.0, 0.0)),
    "logistic": (lambda t: np.logaddexp(0.0, -t), lambda t: -expit(-t)),
    "exponential": (lambda t: np.exp(-t), lambda t: -np.exp(-t)),
}


def mini_batch_pairwise(
    X, plus, minus, loss, eta0, *, l2=0.0, complete=False, constant=False, auto=False, longest=np.inf
):
    """Gradient descent on the pairs of each batch (rows of ``plus`` and ``minus``), one pair after another.

    ``auto`` divides the step, at most ``longest``, by the largest mean ‖x⁺‖² + ‖x⁻‖² of a batch so far.
    """
    phi, slope = SURROGATES[loss]
    w, unit, losses = np.zeros(X.shape[1]), Unit(), []
    for t, (high, low) in enumerate(zip(plus, minus, strict=True), 1):
        if auto:
            w = unit.update(w, np.mean([X[i] @ X[i] for i in high]) + np.mean([X[j] @ X[j] for j in low]))
        eta = eta0 if constant else eta0 / np.sqrt(t)
        eta = unit.step(eta, longest) if auto else eta
        pairs = [(i, j) for i in high for j in low] if complete else list(zip(high, low, strict=True))
        g, lost = np.zeros(X.shape[1]), 0.0
        for i, j in pairs:
            apart = X[i] - X[j]
            g = g + slope(w @ apart) * apart / len(pairs)
            lost = lost + phi(w @ apart) / len(pairs)
        w = w / (1 + eta * l2) - eta * g
        losses.append(lost)
    return w, losses


def fnv1a(data):
    """FNV-1a with 64 bits, as its authors define it."""
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & (2**64 - 1)
    return h


def fmix64(h):
    """The finaliser of MurmurHash3, as its author defines it."""
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & (2**64 - 1)
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 & (2**64 - 1)
    return h ^ h >> 33


def slow_hash(column, value):
    """The hash of a feature ``column=value`` (docs/user_guide/data.md)."""
    return fmix64(fnv1a(f"{column}={value}".encode()))


#: ℓ(m), ℓ'(m) and ℓ''(m) of a margin m, each by its definition; the smoothed hinge has width ½
PAIR_LOSSES = {
    "squared": (lambda m: (1 - m) ** 2 / 2, lambda m: m - 1, lambda m: 1.0),
    "squared_hinge": (
        lambda m: (1 - m) ** 2 / 2 if m < 1 else 0.0,
        lambda m: m - 1 if m < 1 else 0.0,
        lambda m: 1.0 if m < 1 else 0.0,
    ),
    "hinge": (
        lambda m: 0.0 if m >= 1 else (1 - m) ** 2 if m >= 0.5 else 0.75 - m,
        lambda m: 0.0 if m >= 1 else -2 * (1 - m) if m >= 0.5 else -1.0,
        lambda m: 2.0 if 0.5 <= m < 1 else 0.0,
    ),
    "logistic": (
        lambda m: max(0.0, -m) + np.log1p(np.exp(-abs(m))),
        lambda m: -expit(-m),
        lambda m: expit(m) * expit(-m),
    ),
    "exponential": (lambda m: np.exp(-m), lambda m: -np.exp(-m), lambda m: np.exp(-m)),
}


def weighted_pairs(y, w=None, groups=None, equal_groups=False):
    """(i, j, weight) of all pairs of a positive and a negative row of one group; the weights add up to 1."""
    w = np.ones(len(y)) if w is None else w
    groups = np.zeros(len(y)) if groups is None else groups
    pairs = [
        (i, j, w[i] * w[j])
        for i in np.flatnonzero(y)
        for j in np.flatnonzero(~np.asarray(y, dtype=bool))
        if groups[i] == groups[j] and w[i] * w[j] > 0
    ]
    if equal_groups:
        own = {g: sum(u for i, _, u in pairs if groups[i] == g) for g in {groups[i] for i, _, _ in pairs}}
        return [(i, j, u / own[groups[i]] / len(own)) for i, j, u in pairs]
    total = sum(u for _, _, u in pairs)
    return [(i, j, u / total) for i, j, u in pairs]


def pair_loss(loss, pairs, s):
    """Value, gradient and Hessian by the scores: a loop over weighted pairs."""
    ell, slope, curvature = PAIR_LOSSES[loss]
    value, gradient, hessian = 0.0, np.zeros(len(s)), np.zeros((len(s), len(s)))
    for i, j, u in pairs:
        m = s[i] - s[j]
        value += u * ell(m)
        gradient[i] += u * slope(m)
        gradient[j] -= u * slope(m)
        hessian[[i, j, i, j], [i, j, j, i]] += u * curvature(m) * np.array([1, 1, -1, -1])
    return value, gradient, hessian


def kept_share(w, s, low, high):
    """What remains of the weights between two shares of the whole, highest scores first; ties share alike."""
    kept = np.zeros(len(w))
    for i in range(len(w)):
        above = sum(w[j] for j in range(len(w)) if s[j] > s[i]) / w.sum()
        tied = sum(w[j] for j in range(len(w)) if s[j] == s[i]) / w.sum()
        kept[i] = w[i] * max(0.0, min(above + tied, high) - max(above, low)) / tied
    return kept


def region_pairs(pairs, s, max_fpr=1.0, min_tpr=0.0, min_fpr=0.0, groups=None):
    """The pairs of a region of the ROC curve of each group, which keeps its weight; no row has weight 0."""
    groups = np.zeros(len(s)) if groups is None else groups
    found = []
    for g in {groups[i] for i, _, _ in pairs}:
        own = [pair for pair in pairs if groups[pair[0]] == g]
        plus, minus = sorted({i for i, _, _ in own}), sorted({j for _, j, _ in own})
        a = np.array([sum(u for i, _, u in own if i == row) for row in plus])
        b = np.array([sum(u for _, j, u in own if j == row) for row in minus])
        kept_a = kept_share(a, -s[plus], 0.0, 1 - min_tpr)
        kept_b = kept_share(b, s[minus], min_fpr, max_fpr)
        scale = a.sum() / (kept_a.sum() * kept_b.sum())
        found += [
            (i, j, p * q * scale)
            for i, p in zip(plus, kept_a, strict=True)
            for j, q in zip(minus, kept_b, strict=True)
        ]
    return found
