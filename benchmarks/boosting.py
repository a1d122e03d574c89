"""Boosted trees for AUC: the losses over all pairs beside the objectives of LightGBM and XGBoost.

A fifth of the training rows is held out. Each objective has the same grid of trees and learning rates and the
same rounds; for each of three metrics, the AUC and the partial AUC up to false-alarm rates of 0.1 and 0.01, the
shape and the round with the best value on the rows held out are taken, and judged on the test rows. Objectives
for a part of the ROC curve begin with the scores of the same loss over the whole of it.
"""

import bz2
import json
import sys
import time
from dataclasses import dataclass, field
from typing import ClassVar

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.model_selection import train_test_split

from benchmarks.datasets import folder, load_all
from benchmarks.timing import RESULTS, report
from mbauc import objectives
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.metrics.partial_auc import partial_roc_auc

ROUNDS, PATIENCE, EVERY = 400, 60, 4
#: (leaves, depth for XGBoost, learning rate)
SHAPES = ((7, 3, 0.1), (7, 3, 0.03), (31, 5, 0.1), (31, 5, 0.03))
RATES = (1.0, 0.1, 0.01)
#: Rows of a made-up query, for objectives that LightGBM has for queries of up to 10,000 rows only.
QUERY = 1000
DRAWS = 300


@dataclass
class Table:
    name: str
    X: np.ndarray
    y: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass
class Best:
    """The best round of all shapes so far for a metric, and its scores."""

    value: float = -np.inf
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    rounds: int = 0


# -- data -----------------------------------------------------------------------------------------------------


def tables():
    wanted = ("a9a", "ijcnn1", "bank", "mammography")
    for data in load_all():
        if data.name in wanted:
            yield table(data.name, *map(dense, (data.X, data.X_test)), data.y, data.y_test)
        if data.name == wanted[-1]:
            break
    adult = read("adult.csv.bz2", "\n").iloc[:, 1:].drop(columns="salary K$")
    yield halves("adult", adult.drop(columns="salary"), adult["salary"] == ">50K")
    credit = read("credit.csv.bz2", "\r").iloc[:, 1:]
    label = "default.payment.next.month"
    yield halves("credit", credit.drop(columns=label), credit[label] == 1)


def read(name, line_end):
    with bz2.open(folder() / name) as stream:
        return pd.read_csv(stream, lineterminator=line_end)


def halves(name, frame, y):
    X = pd.get_dummies(frame).to_numpy(dtype=np.float64)
    X, X_test, y, y_test = train_test_split(X, y.to_numpy(), test_size=0.5, stratify=y, random_state=0)
    return table(name, X, X_test, y, y_test)


def dense(X):
    return np.asarray(X.todense() if hasattr(X, "todense") else X)


def table(name, X, X_test, y, y_test):
    X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    return Table(name, X, y, X_valid, y_valid, X_test, y_test)


# -- the two libraries ----------------------------------------------------------------------------------------


class LightGBM:
    """Rounds of LightGBM, one at a time."""

    title = "LightGBM"
    own: ClassVar = {
        "binary": {"objective": "binary"},
        "binary, balanced": {"objective": "binary", "is_unbalance": True},
        "lambdarank": {"objective": "lambdarank"},
        "lambdarank, all pairs": {"objective": "lambdarank", "lambdarank_truncation_level": QUERY},
        "rank_xendcg": {"objective": "rank_xendcg"},
    }
    make = staticmethod(objectives.lightgbm)

    def __init__(self, table, objective, shape, start):
        params = {"num_leaves": shape[0], "learning_rate": shape[2], "verbose": -1, "num_threads": 1, "seed": 0}
        self.function, group = objective, None
        if isinstance(objective, dict):
            self.function = None
            params |= objective
            if "rank" in objective["objective"]:
                group = np.diff(np.append(np.arange(0, table.y.size, QUERY), table.y.size))
        else:
            params["objective"] = "none"
        data = lgb.Dataset(
            table.X, table.y.astype(np.int32), group=group, init_score=start, params={"verbose": -1}
        )
        self.booster = lgb.Booster(params, data)

    def round(self):
        self.booster.update(fobj=self.function)

    def scores(self, X, first, count):
        return self.booster.predict(X, start_iteration=first, num_iteration=count, raw_score=True)


class XGBoost:
    """Rounds of XGBoost, one at a time."""

    title = "XGBoost"
    own: ClassVar = {
        "binary:logistic": {"objective": "binary:logistic"},
        "binary:logistic, balanced": {"objective": "binary:logistic", "scale_pos_weight": None},
        "rank:pairwise": {"objective": "rank:pairwise", "lambdarank_pair_method": "mean"},
        "rank:pairwise, 8 pairs": {
            "objective": "rank:pairwise",
            "lambdarank_pair_method": "mean",
            "lambdarank_num_pair_per_sample": 8,
        },
    }
    make = staticmethod(objectives.xgboost)

    def __init__(self, table, objective, shape, start):
        params = {"max_depth": shape[1], "eta": shape[2], "nthread": 1, "seed": 0, "base_score": 0.5}
        self.function, group = objective, None
        if isinstance(objective, dict):
            self.function = None
            params |= objective
            if "scale_pos_weight" in objective:
                params["scale_pos_weight"] = (~table.y).sum() / table.y.sum()
            if "rank" in objective["objective"]:
                group = np.zeros(table.y.size, dtype=np.uint32)
        self.data = xgb.QuantileDMatrix(table.X, table.y, base_margin=start, qid=group, nthread=1)
        self.booster = xgb.Booster(params, [self.data])
        self.rounds, self.matrices = 0, {}

    def round(self):
        self.booster.update(self.data, self.rounds, fobj=self.function)
        self.rounds += 1

    def scores(self, X, first, count):
        if id(X) not in self.matrices:
            self.matrices[id(X)] = xgb.DMatrix(X, nthread=1)
        margins = self.booster.predict(
            self.matrices[id(X)], output_margin=True, iteration_range=(first, first + count)
        )
        return margins.astype(np.float64)


# -- one objective on one table -------------------------------------------------------------------------------


def area(y, s, rate):
    if rate == 1.0:
        return roc_auc(y, s)
    return partial_roc_auc(y, s, max_fpr=rate, standardized=False) / rate


def fit(library, table, objective, rates=RATES, start=None):
    """Best round of each metric over all shapes, and milliseconds a round."""
    best, spent, rounds = {rate: Best() for rate in rates}, 0.0, 0
    begun = {part: 0.0 if start is None else start[part] for part in ("train", "valid", "test")}
    for shape in SHAPES:
        trees = library(table, objective, shape, None if start is None else start["train"])
        valid, last = np.zeros(table.y_valid.size) + begun["valid"], 0
        found = dict.fromkeys(rates, (-np.inf, 0))
        for number in range(1, ROUNDS + 1):
            clock = time.perf_counter()
            trees.round()
            spent, rounds = spent + time.perf_counter() - clock, rounds + 1
            if number % EVERY:
                continue
            valid, last = valid + trees.scores(table.X_valid, last, number - last), number
            found = {rate: max(found[rate], (area(table.y_valid, valid, rate), number)) for rate in rates}
            if number - max(place for _, place in found.values()) >= PATIENCE:
                break
        for rate, (value, place) in found.items():
            if value > best[rate].value:
                parts = {"train": table.X, "valid": table.X_valid, "test": table.X_test}
                made = {part: begun[part] + trees.scores(X, 0, place) for part, X in parts.items()}
                best[rate] = Best(value, made, place)
    return best, 1e3 * spent / rounds


def fit_all(library, table):
    """Test scores by objective and rate, and milliseconds a round."""
    scores, speed = {}, {}
    for name, params in library.own.items():
        best, speed[name] = fit(library, table, params)
        scores[name] = {rate: one.scores["test"] for rate, one in best.items()}
        say(library.title, table.name, name, speed[name])
    for loss in ("logistic", "squared_hinge", "squared"):
        name = f"all pairs, {loss}"
        best, speed[name] = fit(library, table, library.make(loss))
        scores[name] = {rate: one.scores["test"] for rate, one in best.items()}
        say(library.title, table.name, name, speed[name])
        if loss == "squared":
            continue
        name = f"{name}, to its rate"
        scores[name] = {}
        for rate in RATES[1:]:
            objective = library.make(loss, max_fpr=rate)
            part, speed[name] = fit(library, table, objective, (rate,), start=best[rate].scores)
            # rounds of the second kind are taken where they help on the rows held out
            chosen = part[rate] if part[rate].value > best[rate].value else best[rate]
            scores[name][rate] = chosen.scores["test"]
        say(library.title, table.name, name, speed[name])
    return scores, speed


def say(*what):
    print(*what, file=sys.stderr, flush=True)


# -- what is reported -----------------------------------------------------------------------------------------


def partial_difference(y, first, second, rate, rng):
    """Difference of two partial AUCs and its standard error, by redrawing rows of each class."""
    weights = [np.ones(y.size)]
    for _ in range(DRAWS):
        drawn = np.zeros(y.size)
        for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
            drawn[rows] = rng.multinomial(rows.size, np.full(rows.size, 1.0 / rows.size))
        weights.append(drawn)
    gaps = areas(y, first, rate, weights) - areas(y, second, rate, weights)
    return gaps[0], gaps[1:].std()


def areas(y, s, rate, weights):
    """Partial areas of a scorer under several weights of the rows; the rows are sorted once."""
    order = np.argsort(-s, kind="stable")
    runs = np.flatnonzero(np.append(True, np.diff(s[order]) != 0))
    found = []
    for weight in weights:
        w = weight[order]
        hits = np.append(0.0, np.cumsum(np.add.reduceat(w * y[order], runs)))
        alarms = np.append(0.0, np.cumsum(np.add.reduceat(w * ~y[order], runs)))
        x, t = alarms / alarms[-1], hits / hits[-1]
        end = np.searchsorted(x, rate, side="right")
        x, t = np.append(x[:end], rate), np.append(t[:end], np.interp(rate, x, t))
        found.append(np.trapezoid(t, x) / rate)
    return np.array(found)


def mark(value, gap, stderr):
    """A value in points, with a sign where it differs from the library's own at the 5% level."""
    sign = "" if abs(gap) < 1.96 * stderr or gap == 0 else (" +" if gap > 0 else " −")
    return f"{100 * value:.2f}{sign}"


def judge(table, scores, speed):
    rng, rows = np.random.default_rng(0), []
    own = next(iter(scores))
    for name, found in scores.items():
        cells = []
        for rate in RATES:
            if rate not in found:
                cells.append("")
            elif name == own:
                cells.append(f"{100 * area(table.y_test, found[rate], rate):.2f}")
            elif rate == 1.0:
                pair = compare_roc_auc(table.y_test, {"new": found[rate], "own": scores[own][rate]})
                cells.append(mark(pair.auc[0], pair.difference[0, 1], pair.stderr[0, 1]))
            else:
                gap, stderr = partial_difference(table.y_test, found[rate], scores[own][rate], rate, rng)
                cells.append(mark(area(table.y_test, found[rate], rate), gap, stderr))
        rows.append([name, *cells, f"{speed[name]:.1f}"])
    return rows


def run(names=None):
    for library in (LightGBM, XGBoost):
        store = RESULTS / f"boosting_{library.title.lower()}.json"
        rows = [("set", "objective | AUC | up to 0.1 | up to 0.01 | ms a round", "")]
        for table in tables():
            if names and table.name not in names:
                continue
            for cells in judge(table, *fit_all(library, table)):
                rows.append((table.name, " | ".join(cells), ""))
                say(table.name, *cells)
        report(store.stem, rows, ["…"])
        say(json.loads(store.read_text())["name"])
