"""Real tables with rows held out, and how objectives are judged on their test rows."""

import bz2
import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.datasets import folder, load_all
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.metrics.partial_auc import partial_roc_auc

#: False-alarm rates up to which the ROC curve counts; 1 is the whole AUC.
RATES = (1.0, 0.1, 0.01)
DRAWS = 150


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
    """The best round of all so far for a metric, and the test scores then."""

    value: float = -np.inf
    scores: np.ndarray | None = None
    #: weights of a network
    state: dict | None = None


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


def area(y, s, rate):
    if rate == 1.0:
        return roc_auc(y, s)
    return partial_roc_auc(y, s, max_fpr=rate, standardized=False) / rate


def say(*what, **how):
    print(*what, file=sys.stderr, flush=True, **how)


# -- what is reported -----------------------------------------------------------------------------------------


def redraw(y):
    """How often each row is there: once, and then redrawn within its class many times."""
    rng, weights = np.random.default_rng(0), np.ones((DRAWS + 1, y.size), dtype=np.float32)
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        for drawn in weights[1:]:
            drawn[rows] = np.bincount(rng.integers(0, rows.size, rows.size), minlength=rows.size)
    return weights


def partial_difference(y, first, second, rate, weights):
    """Difference of two partial AUCs and its standard error."""
    gaps = areas(y, first, rate, weights) - areas(y, second, rate, weights)
    return gaps[0], gaps[1:].std()


def areas(y, s, rate, weights):
    """Partial areas of a scorer under several weights of the rows; the rows are sorted once."""
    order = np.argsort(-s, kind="stable")
    runs = np.flatnonzero(np.append(True, np.diff(s[order]) != 0))
    found = []
    for weight in weights:
        w = weight[order].astype(np.float64)
        hits = np.append(0.0, np.cumsum(np.add.reduceat(w * y[order], runs)))
        alarms = np.append(0.0, np.cumsum(np.add.reduceat(w * ~y[order], runs)))
        x, t = alarms / alarms[-1], hits / hits[-1]
        end = np.searchsorted(x, rate, side="right")
        x, t = np.append(x[:end], rate), np.append(t[:end], np.interp(rate, x, t))
        found.append(np.trapezoid(t, x) / rate)
    return np.array(found)


class Verdict(NamedTuple):
    """Value of a metric on the test rows, and how far it is from that of the first objective."""

    value: float
    gap: float = 0.0
    stderr: float = 0.0

    @property
    def sign(self):
        """+1 or -1 where the first objective is worse or better at the 5% level, one by one; else 0."""
        return 0 if abs(self.gap) <= 1.96 * self.stderr else int(np.sign(self.gap))

    def __str__(self):
        return f"{100 * self.value:.2f}{('', '⁺', '⁻')[self.sign]}"


class Judged(NamedTuple):
    """An objective on a table: its verdicts by rate, and milliseconds a round."""

    objective: str
    verdicts: dict[float, Verdict]
    milliseconds: float

    def __str__(self):
        return f"{self.objective}: {self.cell} in {self.milliseconds:.1f} ms a round"

    @property
    def cell(self):
        return " / ".join(str(self.verdicts.get(rate, "")) for rate in RATES).removeprefix(" / ")


def judge(table, scores, speed):
    """Verdicts on objectives whose test scores are given by rate; the first is the measure."""
    weights, (own, *_) = redraw(table.y_test), scores
    judged = []
    for name, found in scores.items():
        verdicts = {}
        for rate, s in found.items():
            value = area(table.y_test, s, rate)
            if name == own:
                verdicts[rate] = Verdict(value)
            elif rate == 1.0:
                pair = compare_roc_auc(table.y_test, {"new": s, "own": scores[own][rate]})
                verdicts[rate] = Verdict(value, pair.difference[0, 1], pair.stderr[0, 1])
            else:
                gap, stderr = partial_difference(table.y_test, s, scores[own][rate], rate, weights)
                verdicts[rate] = Verdict(value, gap, stderr)
        judged.append(Judged(name, verdicts, speed[name]))
    return judged


def compose(head, judged, *packages):
    """Rows and notes of a table: objectives by sets, then better and worse sets by rate, and time."""
    sets = list(judged)
    rows = [(f"{head}objective", " | ".join([*sets, "better, worse", "time a round"]), "")]
    own = [judged[name][0] for name in sets]
    for place, first in enumerate(judged[sets[0]]):
        row = [judged[name][place] for name in sets]
        counts = []
        for rate in RATES:
            signs = [one.verdicts[rate].sign for one in row if rate in one.verdicts]
            if signs:
                counts.append(f"{signs.count(1)}, {signs.count(-1)}")
        ratio = np.exp(
            np.mean(np.log([a.milliseconds / b.milliseconds for a, b in zip(row, own, strict=True)]))
        )
        cells = [*(one.cell for one in row), "" if place == 0 else " / ".join(counts), f"{ratio:.2f}"]
        rows.append((first.objective, " | ".join(cells), ""))
    return rows, (
        "AUC / partial AUC up to a false-alarm rate of 0.1 / 0.01 (area over its largest value), percent, on "
        f"test rows. ⁺ and ⁻: better or worse than {own[0].objective} at the 5% level, one by one (paired "
        "DeLong test; rows redrawn for partial AUC). Time: that of a round over that of the first row, "
        f"geometric mean. {', '.join(f'{name} {version(name)}' for name in packages)}.",
    )
