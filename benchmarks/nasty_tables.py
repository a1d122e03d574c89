"""Made-up tables on which automatic penalties are known to fail: units, factors, rare levels, heavy tails."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse as sp


class Table(NamedTuple):
    """Rows to train on and rows to test on; labels are True and False."""

    name: str
    X: object
    y: np.ndarray
    X_test: object
    y_test: np.ndarray


Draw = Callable[[np.random.Generator, int], tuple[object, np.ndarray]]


def tables(seed: int = 0) -> Iterator[Table]:
    """Every kind, made anew for a seed."""
    for number, (name, rows, test_rows, draw) in enumerate(_kinds()):
        rng = np.random.default_rng([seed, number])
        make = draw(rng)
        yield Table(name, *make(rng, rows), *make(rng, test_rows))


def _kinds():
    for units in (1e3, 1e5, 1e8):
        yield f"one noise column in units of {units:.0e}", 5000, 20_000, _noise_in_large_units(units)
    yield "one strong column in units of 1e-05", 5000, 20_000, _small_units(1e-5)
    yield "units from 1e-8 to 1e8, tall", 5000, 20_000, _mixed_units(30, 8)
    yield "units from 1e-8 to 1e8, wide", 400, 20_000, _mixed_units(200, 8)
    yield "units from 0.01 to 100, wide", 400, 20_000, _mixed_units(200, 2)
    yield "incomes and times beside flags", 3000, 20_000, _incomes
    yield "20 factors, 0.17 of the variance", 1500, 6000, _factors(1000, 20, 0.17)
    yield "20 factors, 0.83 of the variance", 1500, 6000, _factors(1000, 20, 0.83)
    yield "10 factors, 0.91 of the variance", 1500, 6000, _factors(1000, 10, 0.91)
    yield "50 factors, 0.67 of the variance", 1500, 6000, _factors(1000, 50, 0.67)
    for exponent in (1.0, 1.5, 2.0):
        yield f"power-law spectrum, exponent {exponent:g}", 2000, 6000, _power_law(500, exponent)
    yield "smooth peaks (spectra)", 600, 6000, _peaks(800)
    yield "near-duplicates", 3000, 20_000, _near_duplicates(100)
    yield "more columns than rows", 200, 6000, _isotropic(1000, 20)
    yield "10 positives of 3,000", 3000, 20_000, _isotropic(20, 20, rate=1 / 300)
    yield "30 positives of 5,000, even signal", 5000, 20_000, _even_signal
    yield "one-hot with rare levels", 5000, 20_000, _one_hot(0)
    yield "one-hot beside an amount", 5000, 20_000, _one_hot(1)
    yield "heavy tails (t, 2 degrees)", 3000, 20_000, _heavy_tails
    yield "log-normal amounts", 3000, 20_000, _log_normal
    yield "constant and repeated columns", 2000, 20_000, _degenerate


def _labels(rng, n, rate):
    y = np.zeros(n, dtype=bool)
    y[: max(round(n * rate), 2)] = True
    return rng.permutation(y)


def _noise_in_large_units(units):
    def prepare(rng):
        def draw(rng, n):
            y = _labels(rng, n, 0.1)
            return np.c_[rng.standard_normal((n, 6)) + 0.8 * y[:, None], units * rng.standard_normal(n)], y

        return draw

    return prepare


def _small_units(units):
    def prepare(rng):
        def draw(rng, n):
            y = _labels(rng, n, 0.1)
            strong = units * (rng.standard_normal(n) + 2.0 * y)
            return np.c_[rng.standard_normal((n, 6)) + 0.2 * y[:, None], strong], y

        return draw

    return prepare


def _mixed_units(d, decades):
    def prepare(rng):
        units, shift = 10.0 ** rng.uniform(-decades, decades, d), rng.standard_normal(d) * (2.5 / np.sqrt(d))

        def draw(rng, n):
            y = _labels(rng, n, 0.2)
            return (rng.standard_normal((n, d)) + y[:, None] * shift) * units, y

        return draw

    return prepare


def _incomes(rng):
    effects = rng.standard_normal(40)

    def draw(rng, n):
        y = _labels(rng, n, 0.1)
        flags = rng.random((n, 40)) < 1 / (1 + np.exp(2.5 - 0.5 * y[:, None] * effects))
        income = np.exp(10.5 + 0.7 * rng.standard_normal(n) - 0.3 * y)
        seconds = 1.7e9 + 3e7 * rng.random(n)
        ratio = rng.beta(2 + y, 40, n)
        return np.c_[flags.astype(float), income, seconds, ratio], y

    return draw


def _factors(d, k, share):
    def prepare(rng):
        loadings = rng.standard_normal((k, d)) * np.sqrt(share / (1 - share) / k)
        shift = np.zeros(d)
        shift[rng.choice(d, 50, replace=False)] = 0.25

        def draw(rng, n):
            y = _labels(rng, n, 0.2)
            return rng.standard_normal((n, k)) @ loadings + rng.standard_normal((n, d)) + y[:, None] * shift, y

        return draw

    return prepare


def _power_law(d, exponent):
    def prepare(rng):
        rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
        spread = np.arange(1, d + 1) ** (-exponent / 2)
        shift = rng.standard_normal(d) * 1.5 / np.sqrt(d)

        def draw(rng, n):
            y = _labels(rng, n, 0.2)
            return ((rng.standard_normal((n, d)) + y[:, None] * shift) * spread) @ rotation, y

        return draw

    return prepare


def _peaks(d):
    def prepare(rng):
        centres = np.linspace(0, 1, 40)
        shapes = np.exp(-(((np.linspace(0, 1, d) - centres[:, None]) / 0.02) ** 2))
        shift = 0.5 * rng.standard_normal(40) * (rng.random(40) < 0.2)

        def draw(rng, n):
            y = _labels(rng, n, 0.3)
            heights = rng.standard_normal((n, 40)) * 3.0 / np.arange(1, 41) + y[:, None] * shift
            return heights @ shapes + 0.05 * rng.standard_normal((n, d)), y

        return draw

    return prepare


def _near_duplicates(d):
    def prepare(rng):
        shift = 0.3 * rng.standard_normal(d // 2)

        def draw(rng, n):
            y = _labels(rng, n, 0.1)
            X = rng.standard_normal((n, d // 2)) + y[:, None] * shift
            return np.c_[X, X + 1e-5 * rng.standard_normal(X.shape)], y

        return draw

    return prepare


def _isotropic(d, informative, rate=0.3):
    def prepare(rng):
        shift = np.zeros(d)
        shift[:informative] = 2.0 / np.sqrt(informative)

        def draw(rng, n):
            y = _labels(rng, n, rate if n < 5000 else max(rate, 0.05))
            return rng.standard_normal((n, d)) + y[:, None] * shift, y

        return draw

    return prepare


def _even_signal(rng, d=200):
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d) / 2
    shift = 0.15 * rng.standard_normal(d)

    def draw(rng, n):
        y = _labels(rng, n, 0.006 if n == 5000 else 0.1)
        return (rng.standard_normal((n, d)) + y[:, None] * shift) @ mixing, y

    return draw


def _one_hot(amounts, fields=15, levels=200):
    def prepare(rng):
        chances = 1.0 / np.arange(1, levels + 1)
        chances /= chances.sum()
        effects = 0.5 * rng.standard_normal((fields, levels))

        def draw(rng, n):
            codes = rng.choice(levels, size=(n, fields), p=chances)
            logit = effects[np.arange(fields), codes].sum(axis=1) - 2.5
            amount = np.exp(6 + rng.standard_normal(n))
            if amounts:
                logit = logit + 0.5 * np.log(amount / np.exp(6))
            y = rng.random(n) < 1 / (1 + np.exp(-logit))
            rows = np.repeat(np.arange(n), fields)
            columns = (codes + levels * np.arange(fields)).ravel()
            X = sp.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(n, fields * levels))
            return (sp.hstack([X, sp.csr_matrix(amount[:, None])]).tocsr() if amounts else X), y

        return draw

    return prepare


def _heavy_tails(rng):
    shift = 0.4 * rng.standard_normal(30)

    def draw(rng, n):
        y = _labels(rng, n, 0.1)
        return rng.standard_t(2, (n, 30)) + y[:, None] * shift, y

    return draw


def _log_normal(rng):
    scales, shift = rng.uniform(0.5, 2.0, 20), 0.3 * rng.standard_normal(20)
    units = 10.0 ** rng.uniform(-2, 4, 20)

    def draw(rng, n):
        y = _labels(rng, n, 0.1)
        return np.exp(scales * rng.standard_normal((n, 20)) + y[:, None] * shift) * units, y

    return draw


def _degenerate(rng):
    def draw(rng, n):
        y = _labels(rng, n, 0.1)
        X = rng.standard_normal((n, 10)) + 0.4 * y[:, None]
        return np.c_[X, X, X @ rng.standard_normal((10, 5)) * 0 + 3.0, 1e6 + 0 * X[:, :2]], y

    return draw
