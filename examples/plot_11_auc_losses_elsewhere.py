"""
AUC losses in LightGBM, XGBoost and PyTorch
===========================================

**Who has this problem:** you train boosted trees or a network, are judged by AUC, and wonder whether training
for AUC itself would help. Or only pairs within a query, a user or a day count, and the usual loss does not know
that.

**What you will have at the end:** the losses over all pairs as objectives of these libraries, a fair comparison
with the libraries' own losses, defeats beside victories, and one case where the difference is large.
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
# In the first, positives are frequent, in the second rare, and in the third every tenth label is wrong. Test
# sets are large, so that small differences can be seen.


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
# A fair comparison
# -----------------
# Each objective gets the same trees and the same learning rate, and stops by the AUC of the same validation
# rows: ``objective.metric`` is that AUC. All that changes is the objective.


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
# **What to look at:** which intervals leave out zero, and that the axis has *hundredths* of AUC. No loss over
# all pairs is ahead everywhere: what gains with one library or table loses with another, and all of it is
# small. The squared loss, which also pulls at pairs that are in order by far, has the least to offer. If you
# hoped for a jump, this is the picture to remember: trees that stop by AUC rank about as well with any sensible
# loss.

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
# Where it pays: groups
# ---------------------
# A list is shown to one user at a time, so which of *their* rows comes first is all that counts. In these data
# a discount makes a row likelier to be clicked, but users who click much anyway are offered small discounts,
# and who clicks much is not in the table. Over all rows large discounts go with few clicks, and a loss over all
# rows learns just that. Told the users, an objective sees pairs within them alone.

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
# **What to look at:** the circles, which are what users notice: without the groups the list is in random order
# for each of them. The crosses, the AUC over all rows, say the opposite. So decide first which of the two is
# *your* metric. LightGBM's own lambdarank, which knows the users too, does about as well; pairs within groups
# have no limit to the rows of a group and weigh all its pairs alike.

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
# In PyTorch it is a loss like any other. All pairs of a batch are in it, so batches should be large, and the
# cross-entropy is the better start: train with that first, then go on with the pairs. (To judge what the pairs
# bring, go on with the cross-entropy as long, and compare.)

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
# When not to use this
# --------------------
# * **You need probabilities**: what comes out is a score. Calibrate it, or keep the library's own loss.
# * **Training is distributed over workers**: each sees the pairs of its own rows alone. Within groups that no
#   worker shares, nothing is lost.
# * **Batches hold few positives**: then the pairs of a batch say little.
# * **You hope for a better AUC on an ordinary table**: try other features first, and measure, as above.
#
# Where to go on
# --------------
# :doc:`../user_guide/objectives` has this on public data sets, with times, parts of the ROC curve and the
# objectives of others; :doc:`../user_guide/groups` has pairs within groups for rankers without trees;
# :doc:`../user_guide/curves` a model that you can read. Classes: :class:`mbauc.AdditiveAUCClassifier`,
# :class:`mbauc.PairwiseAUCClassifier`; functions: :func:`mbauc.objectives.lightgbm`,
# :func:`mbauc.objectives.xgboost`.
