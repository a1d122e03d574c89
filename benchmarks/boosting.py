"""Boosted trees for AUC: the losses over all pairs beside the objectives of LightGBM and XGBoost.

A fifth of the training rows is held out. Each objective has the same grid of trees and learning rates and the
same rounds; for each of three metrics, the AUC and the partial AUC up to false-alarm rates of 0.1 and 0.01, the
shape and the round with the best value on the rows held out are taken, and judged on the test rows.
"""

import time
from typing import ClassVar

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from benchmarks.held_out import RATES, Best, area, compose, judge, say, tables
from benchmarks.timing import report
from mbauc import objectives

ROUNDS, PATIENCE, EVERY = 300, 40, 5
#: (leaves for LightGBM, depth for XGBoost, learning rate)
SHAPES = ((7, 3, 0.1), (31, 5, 0.1))
OURS = (("squared", 1.0), ("squared_hinge", 1.0), ("squared_hinge", 0.1), ("logistic", 1.0), ("logistic", 0.1))
#: Rows of a made-up query, for objectives that LightGBM has for queries of up to 10,000 rows only.
QUERY = 100


# -- the two libraries ----------------------------------------------------------------------------------------


class LightGBM:
    """Rounds of LightGBM, one at a time."""

    name, title = "boosting", "LightGBM"
    own: ClassVar = {
        "binary": {"objective": "binary"},
        "binary, balanced": {"objective": "binary", "is_unbalance": True},
        "lambdarank": {"objective": "lambdarank", "lambdarank_truncation_level": QUERY},
        "rank_xendcg": {"objective": "rank_xendcg"},
    }
    make = staticmethod(objectives.lightgbm)

    def __init__(self, table, objective, shape):
        params = {"num_leaves": shape[0], "learning_rate": shape[2], "verbose": -1, "num_threads": 1, "seed": 0}
        self.function, group = objective, None
        if isinstance(objective, dict):
            self.function = None
            params |= objective
            if "rank" in objective["objective"]:
                group = np.diff(np.append(np.arange(0, table.y.size, QUERY), table.y.size))
        else:
            params["objective"] = "none"
        data = lgb.Dataset(table.X, table.y.astype(np.int32), group=group, params={"verbose": -1})
        self.booster = lgb.Booster(params, data)

    def round(self):
        self.booster.update(fobj=self.function)

    def scores(self, X, first, count):
        return self.booster.predict(X, start_iteration=first, num_iteration=count, raw_score=True)


class XGBoost:
    """Rounds of XGBoost, one at a time."""

    name, title = "boosting_xgboost", "XGBoost"
    own: ClassVar = {
        "binary:logistic": {"objective": "binary:logistic"},
        "binary:logistic, balanced": {"objective": "binary:logistic", "scale_pos_weight": None},
        "rank:pairwise": {"objective": "rank:pairwise", "lambdarank_pair_method": "mean"},
        "rank:pairwise, 8 pairs": {
            "objective": "rank:pairwise",
            "lambdarank_pair_method": "mean",
            "lambdarank_num_pair_per_sample": 8,
            "lambdarank_normalization": False,
        },
    }
    make = staticmethod(objectives.xgboost)

    def __init__(self, table, objective, shape):
        params = {"max_depth": shape[1], "eta": shape[2], "nthread": 1, "seed": 0, "base_score": 0.5}
        self.function, group = objective, None
        if isinstance(objective, dict):
            self.function = None
            params |= objective
            if "scale_pos_weight" in objective:
                params["scale_pos_weight"] = (~table.y).sum() / table.y.sum()
            if "rank" in objective["objective"]:
                group = np.zeros(table.y.size, dtype=np.uint32)
        self.data = xgb.QuantileDMatrix(table.X, table.y, qid=group, nthread=1)
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


def fit(library, table, objective):
    """Best round of each metric over all shapes, and milliseconds of the processor a round."""
    best, spent, rounds = {rate: Best() for rate in RATES}, 0.0, 0
    for shape in SHAPES:
        trees = library(table, objective, shape)
        valid, last = np.zeros(table.y_valid.size), 0
        found = dict.fromkeys(RATES, (-np.inf, 0))
        for number in range(1, ROUNDS + 1):
            clock = time.process_time()
            trees.round()
            spent, rounds = spent + time.process_time() - clock, rounds + 1
            if number % EVERY:
                continue
            valid, last = valid + trees.scores(table.X_valid, last, number - last), number
            found = {rate: max(found[rate], (area(table.y_valid, valid, rate), number)) for rate in RATES}
            if number - max(place for _, place in found.values()) >= PATIENCE:
                break
        for rate, (value, place) in found.items():
            if value > best[rate].value:
                best[rate] = Best(value, trees.scores(table.X_test, 0, place))
    return best, 1e3 * spent / rounds


def fit_all(library, table):
    """Test scores by objective and rate, and milliseconds a round."""
    scores, speed = {}, {}
    for name, params in library.own.items():
        best, speed[name] = fit(library, table, params)
        scores[name] = {rate: one.scores for rate, one in best.items()}
        say(library.title, table.name, name, speed[name])
    for loss, rate in OURS:
        name = f"all pairs, {loss}" + (f", max_fpr={rate:g}" if rate < 1 else "")
        best, speed[name] = fit(library, table, library.make(loss, max_fpr=rate))
        scores[name] = {rate: one.scores for rate, one in best.items()}
        say(library.title, table.name, name, speed[name])
    return scores, speed


def warm_up():
    """Compile what the objectives call."""
    y, s = np.arange(1000) < 200, np.linspace(0.0, 9.0, 1000)
    for loss in ("logistic", "squared_hinge"):
        for rate in RATES:
            objectives.xgboost(loss, max_fpr=rate)(y, s)


def run(libraries=(LightGBM, XGBoost), names=None):
    warm_up()
    for library in libraries:
        judged = {}
        for table in tables():
            if names is None or table.name in names:
                judged[table.name] = judge(table, *fit_all(library, table))
                say(library.title, table.name, *judged[table.name], sep="\n  ")
        report(library.name, *compose(f"{library.title} ", judged, library.title.lower()))
