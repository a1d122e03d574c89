"""A small network for AUC: the losses over all pairs of a batch beside the cross-entropy, in PyTorch.

Two hidden layers, Adam, the same batches, epochs and learning rates for all; the epoch and the learning rate
are those with the best value on rows held out, for each of three metrics. Losses for a part of the ROC curve
begin with the weights that the same loss over the whole of it has reached.
"""

import time
from copy import deepcopy

import numpy as np
import torch
from torch import nn

from benchmarks.held_out import RATES, Best, area, compose, judge, say, tables
from benchmarks.timing import report
from mbauc.objectives.torch import PairwiseAUCLoss

EPOCHS, BATCH, LEARNING_RATES = 30, 1024, (0.01, 0.003, 0.001)
SETS = ("adult", "credit", "ijcnn1")


class Entropy(nn.Module):
    """The cross-entropy, with balanced classes or not."""

    def __init__(self, balance=False):
        super().__init__()
        self.balance = balance

    def forward(self, scores, y):
        weight = (y.numel() - y.sum()) / y.sum().clamp_min(1.0) if self.balance else None
        return nn.functional.binary_cross_entropy_with_logits(scores, y, pos_weight=weight)


LOSSES = {
    "cross-entropy": Entropy(),
    "cross-entropy, balanced": Entropy(balance=True),
    **{f"all pairs, {loss}": PairwiseAUCLoss(loss) for loss in ("squared", "logistic", "squared_hinge")},
}


#: Losses that are also taken to the rates.
PARTED = ("all pairs, logistic", "all pairs, squared_hinge")


def standardize(table):
    mean, spread = table.X.mean(axis=0), table.X.std(axis=0)
    spread[spread == 0] = 1.0
    parts = {"train": table.X, "valid": table.X_valid, "test": table.X_test}
    return {name: torch.tensor((X - mean) / spread, dtype=torch.float32) for name, X in parts.items()}


def fit(table, criterion, rates=RATES, start=None):
    """Best epoch of each metric over all learning rates, and milliseconds a batch."""
    X, y = standardize(table), torch.tensor(table.y, dtype=torch.float32)
    best, spent, batches = {rate: Best() for rate in rates}, 0.0, 0
    for learning_rate in LEARNING_RATES:
        torch.manual_seed(0)
        width = X["train"].shape[1]
        network = nn.Sequential(
            nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0)
        )
        if start is not None:
            network.load_state_dict(start)
        optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, weight_decay=1e-5)
        for _ in range(EPOCHS):
            for rows in torch.randperm(y.numel()).split(BATCH):
                clock = time.perf_counter()
                optimizer.zero_grad()
                criterion(network(X["train"][rows]), y[rows]).backward()
                optimizer.step()
                spent, batches = spent + time.perf_counter() - clock, batches + 1
            with torch.no_grad():
                scores = {part: network(X[part]).numpy().astype(np.float64) for part in ("valid", "test")}
            for rate in rates:
                value = area(table.y_valid, scores["valid"], rate)
                if value > best[rate].value:
                    best[rate] = Best(value, scores, deepcopy(network.state_dict()))
    return best, 1e3 * spent / batches


def fit_all(table):
    """Test scores by loss and rate, and milliseconds a batch."""
    scores, speed = {}, {}
    for name, criterion in LOSSES.items():
        best, speed[name] = fit(table, criterion)
        scores[name] = {rate: one.scores["test"] for rate, one in best.items()}
        if name not in PARTED:
            continue
        name = f"{name}, to its rate"
        scores[name] = {}
        for rate in RATES[1:]:
            part = PairwiseAUCLoss(criterion.loss, max_fpr=rate)
            more, speed[name] = fit(table, part, (rate,), best[rate].state)
            # where it helps on the rows held out
            scores[name][rate] = max(best[rate], more[rate], key=lambda one: one.value).scores["test"]
    return scores, speed


def run():
    torch.set_num_threads(1)
    judged = {}
    for table in tables():
        if table.name in SETS:
            judged[table.name] = judge(table, *fit_all(table))
            say(table.name, *judged[table.name], sep="\n  ")
    report("networks", *compose("", judged))
