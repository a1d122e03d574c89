"""A small network for AUC: the losses over all pairs of a batch beside the cross-entropy, in PyTorch.

Two hidden layers, the same epochs and as many learning rates for all. All begin with the weights that the
cross-entropy reaches in as many epochs, as LibAUC recommends for its losses; the epoch and the learning rate
are those with the best value on rows held out, for each of three metrics. LibAUC takes part where it is
installed: its losses with their optimizers, scores within 0 and 1, batches of as many positives as negatives.
"""

import time
from copy import deepcopy

import numpy as np
import torch
from torch import nn

from benchmarks.held_out import RATES, Best, area, compose, judge, say, tables
from benchmarks.timing import report
from mbauc.objectives.torch import PairwiseAUCLoss

try:
    from libauc.losses import AUCMLoss, pAUC_DRO_Loss
    from libauc.optimizers import PESG, SOPAs
except ImportError:
    AUCMLoss = None

EPOCHS, BATCH, LEARNING_RATES = 30, 1024, (0.01, 0.003, 0.001)
SETS = ("adult", "credit", "ijcnn1")


class Plain:
    """A loss with Adam and batches as they come."""

    def __init__(self, criterion, network, learning_rate, y):
        self.criterion, self.y = criterion, y
        self.optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, weight_decay=1e-5)

    def batches(self):
        return torch.randperm(self.y.numel()).split(BATCH)

    def loss(self, scores, rows):
        return self.criterion(scores, self.y[rows])


class Balanced(Plain):
    """A loss of LibAUC with its optimizer and batches of which one half is positive."""

    def __init__(self, criterion, optimizer, y):
        self.criterion, self.optimizer, self.y = criterion, optimizer, y
        self.rows = [torch.nonzero(y == label).ravel() for label in (1, 0)]

    def batches(self):
        for _ in range(-(-self.y.numel() // BATCH)):
            yield torch.cat([rows[torch.randint(rows.numel(), (BATCH // 2,))] for rows in self.rows])

    def loss(self, scores, rows):
        return self.criterion(torch.sigmoid(scores), self.y[rows], index=rows)


def plain(criterion):
    return lambda network, learning_rate, y: Plain(criterion, network, learning_rate, y)


def aucm(version):
    def make(network, learning_rate, y):
        loss = AUCMLoss(version=version, imratio=float(y.mean()))
        return Balanced(loss, PESG(network.parameters(), loss, lr=10 * learning_rate, verbose=False), y)

    return make


def dro(network, learning_rate, y):
    loss = pAUC_DRO_Loss(y.numel(), Lambda=1.0)
    return Balanced(loss, SOPAs(network.parameters(), lr=learning_rate, verbose=False), y)


def entropy(scores, y):
    return nn.functional.binary_cross_entropy_with_logits(scores, y)


def balanced_entropy(scores, y):
    weight = (y.numel() - y.sum()) / y.sum().clamp_min(1.0)
    return nn.functional.binary_cross_entropy_with_logits(scores, y, pos_weight=weight)


RECIPES = {"cross-entropy": plain(entropy), "cross-entropy, balanced": plain(balanced_entropy)}
if AUCMLoss is not None:
    RECIPES |= {"LibAUC, AUCM v1": aucm("v1"), "LibAUC, AUCM v2": aucm("v2"), "LibAUC, pAUC DRO": dro}
RECIPES |= {
    f"all pairs, {loss}": plain(PairwiseAUCLoss(loss)) for loss in ("squared", "squared_hinge", "logistic")
} | {
    f"all pairs, {loss}, max_fpr=0.1": plain(PairwiseAUCLoss(loss, max_fpr=0.1))
    for loss in ("squared_hinge", "logistic")
}


def standardize(table):
    mean, spread = table.X.mean(axis=0), table.X.std(axis=0)
    spread[spread == 0] = 1.0
    parts = {"train": table.X, "valid": table.X_valid, "test": table.X_test}
    return {name: torch.tensor((X - mean) / spread, dtype=torch.float32) for name, X in parts.items()}


def fit(table, recipe, start=None):
    """Best epoch of each metric over all learning rates, and milliseconds of the processor a batch."""
    X, y = standardize(table), torch.tensor(table.y, dtype=torch.float32)
    best, spent, batches = {rate: Best() for rate in RATES}, 0.0, 0
    for learning_rate in LEARNING_RATES:
        torch.manual_seed(0)
        layers = nn.Linear(X["train"].shape[1], 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)
        network = nn.Sequential(*layers, nn.Flatten(0))
        if start is not None:
            network.load_state_dict(start)
        training = recipe(network, learning_rate, y)
        for _ in range(EPOCHS):
            for rows in training.batches():
                clock = time.process_time()
                training.optimizer.zero_grad()
                training.loss(network(X["train"][rows]), rows).backward()
                training.optimizer.step()
                spent, batches = spent + time.process_time() - clock, batches + 1
            with torch.no_grad():
                scores = {part: network(X[part]).numpy().astype(np.float64) for part in ("valid", "test")}
            for rate in RATES:
                value = area(table.y_valid, scores["valid"], rate)
                if value > best[rate].value:
                    best[rate] = Best(value, scores["test"], deepcopy(network.state_dict()))
    return best, 1e3 * spent / batches


def fit_all(table):
    """Test scores by loss and rate, and milliseconds a batch."""
    trained = fit(table, plain(entropy))[0][1.0].state
    scores, speed = {}, {}
    for name, recipe in RECIPES.items():
        best, speed[name] = fit(table, recipe, trained)
        scores[name] = {rate: one.scores for rate, one in best.items()}
    return scores, speed


def run():
    torch.set_num_threads(1)
    for loss in ("logistic", "squared_hinge"):  # compiled before the clock runs
        PairwiseAUCLoss(loss, max_fpr=0.1)(torch.linspace(0, 9, 1000), torch.arange(1000) < 200)
        PairwiseAUCLoss(loss)(torch.linspace(0, 9, 1000), torch.arange(1000) < 200)
    judged = {}
    for table in tables():
        if table.name in SETS:
            judged[table.name] = judge(table, *fit_all(table))
            say(table.name, *judged[table.name], sep="\n  ")
    report("networks", *compose("", judged, "torch", *(["libauc"] if AUCMLoss else [])))
