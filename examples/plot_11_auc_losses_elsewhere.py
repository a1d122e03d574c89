"""
AUC losses in LightGBM, XGBoost and PyTorch
===========================================

**Who has this problem.** You train boosted trees or a network, evaluate by AUC, and want to know whether an AUC
loss would help. Or only pairs within a query, a user or a day count.

**What you will have at the end.** Losses over all pairs as custom objectives of these libraries, a comparison
with the libraries' own losses, and a case where the difference is large.
"""

import warnings

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost as xgb

from mbauc import objectives
from mbauc.errors import OneClassGroupsWarning
from mbauc.metrics import compare_roc_auc, grouped_roc_auc_interval

# %%
# Three tables
# ------------
# Synthetic: one with frequent positives, one with rare ones, and one in which every tenth label is wrong. Test
# sets are large, to detect small differences.


def make_table(kind, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    signal = X[:, 0] * X[:, 1] + X[:, 2] + np.abs(X[:, 3]) + 0.5 * X[:, 4]
    y = signal + rng.logistic(size=n) > (5.5 if kind == "rare positives" else 3)
    return X, (y ^ (rng.random(n) < 0.1 * (kind == "wrong labels"))).astype(int)


kinds = ("frequent positives", "rare positives", "wrong labels")
tables = {kind: [make_table(kind, n, n + len(kind)) for n in (8_000, 4_000, 40_000)] for kind in kinds}
for kind, (train, _, _) in tables.items():
    print(f"{kind}: {train[1].mean():.1%} positive")

# %%
# Compare the objectives
# ----------------------
# Each objective has the same trees and learning rate, and early stopping by the AUC of the same validation rows
# (``objective.metric``).


def score_lightgbm(loss, train, valid, X_test):
    objective = objectives.lightgbm(loss) if loss != "own" else "binary"
    metric = {"metric": "auc"} if loss == "own" else {"metric": "none"}
    params = {"objective": objective, "learning_rate": 0.1, "num_leaves": 15, "verbose": -1, "num_threads": 1}
    data, stop = lgb.Dataset(*train), lgb.early_stopping(20, verbose=False)
    measure = None if loss == "own" else objective.metric
    valid = [data.create_valid(*valid)]
    booster = lgb.train(params | metric, data, 200, valid, feval=measure, callbacks=[stop])
    return booster.predict(X_test, raw_score=True)


def score_xgboost(loss, train, valid, X_test):
    objective = objectives.xgboost(loss) if loss != "own" else "binary:logistic"
    measure = objective.metric if loss != "own" else "auc"
    settings = {"learning_rate": 0.1, "max_depth": 4, "n_estimators": 200, "n_jobs": 1}
    model = xgb.XGBClassifier(objective=objective, eval_metric=measure, early_stopping_rounds=20, **settings)
    return model.fit(*train, eval_set=[valid], verbose=False).predict(X_test, output_margin=True)


losses = ("own", "logistic", "squared_hinge", "squared")
compared = {}
for kind, (train, valid, (X_test, y_test)) in tables.items():
    for library, score in (("LightGBM", score_lightgbm), ("XGBoost", score_xgboost)):
        scores = {loss: score(loss, train, valid, X_test) for loss in losses}
        compared[kind, library] = compare_roc_auc(y_test, scores)
table = pd.DataFrame({key: one.auc for key, one in compared.items()}, index=losses)
table.T.round(4)

# %%
# *What to look at.* Which intervals exclude zero, and the unit, *hundredths* of AUC. No loss over all pairs is
# ahead everywhere, and all differences are small. The squared loss, which also penalises pairs that are ranked
# correctly by a wide margin, gains least. Trees with early stopping by AUC rank about as well with any
# sensible loss.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", sharey=True, sharex=True)
for ax, kind in zip(axes, kinds, strict=True):
    for library, marker, shift in (("LightGBM", "o", -0.13), ("XGBoost", "s", 0.13)):
        found = compared[kind, library]
        gained, low, high = 100 * np.array([found.difference, found.low, found.high])[:, 1:, 0]
        ends = [gained - low, high - gained]
        ax.errorbar(gained, np.arange(3) + shift, xerr=ends, fmt=marker, capsize=3, label=library)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_title(kind)
    ax.grid(color="0.9")
axes[0].set_yticks(range(3), losses[1:])
axes[0].set_ylim(2.5, -0.5)
axes[1].set_xlabel("hundredths of AUC gained over the library's own loss, 95% interval")
axes[2].legend(fontsize=8)
plt.show()

# %%
# When it helps: groups
# ---------------------
# Each list is shown to one user, so only the order of the rows of that user counts. In these data a discount
# raises the probability of a click, but users who click much get small discounts, and the table does not say
# who clicks much. Over all rows large discounts go with few clicks, and a loss over all rows learns that. With
# groups, an objective uses only pairs within users.

rng = np.random.default_rng(0)
user = np.repeat(np.arange(3_000), 10)
eager = rng.standard_normal(3_000)[user]
discount = 0.7 * rng.standard_normal(30_000) - eager
X = np.column_stack([discount, rng.standard_normal((30_000, 4))])
clicked = (discount + 0.5 * X[:, 1] + 2.5 * eager + rng.logistic(size=30_000) > 2).astype(int)
train, test, sizes = user < 1_000, user >= 1_000, {"group": np.full(1_000, 10)}
choices = {
    "LightGBM's binary": ("binary", {}),
    "all pairs": (objectives.lightgbm(), {}),
    "LightGBM's lambdarank": ("lambdarank", sizes),
    "pairs within users": (objectives.lightgbm(), sizes),
}
ranked = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", OneClassGroupsWarning)  # users who clicked all or nothing have no pairs
    for name, (objective, group) in choices.items():
        data = lgb.Dataset(X[train], clicked[train], **group)
        params = {"objective": objective, "num_leaves": 15, "verbose": -1, "num_threads": 1}
        ranked[name] = lgb.train(params, data, 40).predict(X[test])
    within = [grouped_roc_auc_interval(clicked[test], s, user[test]) for s in ranked.values()]
over_all = compare_roc_auc(clicked[test], ranked).auc
for name, one in zip(ranked, within, strict=True):
    print(f"{name}: {one}")

# %%
# *What to look at.* The circles, AUC within users: without groups the order is close to random. The crosses,
# AUC over all rows, rank the objectives the other way: decide first which of the two is *your* metric.
# LightGBM's lambdarank, which also uses the groups, does about as well; the objectives of mbauc have no limit
# on the rows of a group and weight all its pairs equally.

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
middle = np.array([one.auc for one in within])
ends = [[one.auc - one.low for one in within], [one.high - one.auc for one in within]]
ax.errorbar(middle, range(4), xerr=ends, fmt="o", capsize=4, markersize=7, label="within users, 95% interval")
ax.plot(over_all, range(4), "x", markersize=9, markeredgewidth=2, label="over all rows")
ax.set_yticks(range(4), list(ranked))
ax.set(xlabel="AUC of test rows", ylim=(3.5, -0.5))
fig.suptitle("pairs within users, and over all rows")
ax.grid(color="0.9")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
plt.show()

# %%
# Networks
# --------
# In PyTorch the loss counts all pairs of a batch, so use large batches. Train with the cross-entropy first,
# then fine-tune with the AUC loss. To measure the gain, compare with as many more epochs of the cross-entropy.

try:
    import torch

    from mbauc.objectives.torch import PairwiseAUCLoss
except ImportError:
    print("not run: PyTorch is not installed (pip install 'mbauc[torch]')")
else:
    torch.manual_seed(0)
    parts = [torch.tensor(part).float() for table in tables["rare positives"] for part in table]
    X, y, _, _, X_test, y_test = parts
    nn = torch.nn
    network = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer, scores = torch.optim.Adam(network.parameters(), lr=0.01), {}
    for criterion in (nn.BCEWithLogitsLoss(), PairwiseAUCLoss("logistic")):
        for rows in [rows for _ in range(10) for rows in torch.randperm(len(y)).split(1_000)]:
            optimizer.zero_grad()
            criterion(network(X[rows]), y[rows]).backward()
            optimizer.step()
        scores[type(criterion).__name__] = network(X_test).detach().numpy()
    print(compare_roc_auc(y_test.numpy(), scores))

# %%
# When not to use it
# ------------------
# * **You need probabilities**: outputs are scores. Calibrate them, or keep the library's own loss.
# * **Distributed training**: each worker uses the pairs of its own rows only. Keep each group on one worker.
# * **Batches with few positives**: gradients are noisy.
# * **A higher AUC on an ordinary table**: try other features first, and measure, as above.
#
# Where to go on
# --------------
# :doc:`../user_guide/objectives`: public data sets, times, partial AUC, objectives of other libraries;
# :doc:`../user_guide/groups`: pairs within groups for linear models and curves; :doc:`../user_guide/curves`:
# interpretable models. Classes: :class:`mbauc.AdditiveAUCClassifier`,
# :class:`mbauc.PairwiseAUCClassifier`; functions: :func:`mbauc.objectives.lightgbm`,
# :func:`mbauc.objectives.xgboost`.
