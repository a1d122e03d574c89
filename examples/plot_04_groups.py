"""
Pairs that count only within a query, a user or a day
=====================================================

**Who has this problem.** You rank the results of each search, the offers to one user, the alarms of one day:
rows of different groups are never on the same list. AUC over all rows also rewards a score for telling apart
users who buy much from users who buy little, which does not help to rank the offers of one user.

**What you will have at the end.** A ranker fitted to the pairs within groups (``groups=`` of any estimator),
the AUC within groups with its interval and a paired test, the groups that are ranked worst, and a case where
groups do not matter.
"""

# %%
# Offers that users see
# ---------------------
# Synthetic offers: each user buys the cheaper and better rated of the offers shown. But users who buy much are
# shown more expensive offers; ``spread`` is the strength of this effect.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mbauc import MBAClassifier
from mbauc.errors import OneClassGroupsWarning
from mbauc.metrics import compare_grouped_roc_auc, group_table, grouped_roc_auc_interval, roc_auc_interval

plt.rcParams["figure.constrained_layout.use"] = True


def make_offers(n_users, seed, spread=2.0):
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(n_users), rng.integers(5, 40, n_users))
    keen, cheaper, rating = rng.standard_normal(n_users)[user], *rng.standard_normal((2, user.size))
    bought = -1.5 + 1.5 * keen + cheaper + 0.7 * rating + rng.logistic(size=user.size) > 0
    offers = pd.DataFrame(
        {"price": spread * keen - cheaper, "rating": rating, "month": rng.integers(1, 13, user.size)}
    )
    return offers, bought.astype(int), user


offers, bought, user = make_offers(600, seed=0)
print(f"{len(offers):,} offers to {user.max() + 1} users, {bought.mean():.0%} bought")

# %%
# One column, over all rows and within users
# ------------------------------------------
# Over all offers, the expensive ones are bought more often. Among the offers to one user, the cheap ones are.
price, mean_of_user = offers["price"], offers["price"].groupby(user).transform("mean")
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, values, label in zip(
    axes, [price, price - mean_of_user], ["price", "price, compared with what the user sees"], strict=True
):
    tenth = pd.qcut(values, 10, labels=False)
    share, error = (pd.Series(bought).groupby(tenth).agg(one) for one in ("mean", "sem"))
    ax.errorbar(values.groupby(tenth).mean(), share, yerr=1.96 * error, fmt="o-", capsize=3)
    ax.set_xlabel(label)
    ax.grid(color="0.9")
axes[0].set(ylabel="share bought, in tenths of the rows", ylim=(0, None))
axes[0].set_title("over all rows")
axes[1].set_title("within users")
plt.show()

# %%
# *What to look at.* The directions. If both panels rise or fall alike, groups hardly matter for a column. Here
# they are opposite (Simpson's paradox).
#
# Fit to all pairs, and to those within users
# -------------------------------------------
# Pass ``groups=``: numbers, texts or dates; rows of a group need not be adjacent. Users who bought everything
# or nothing have no pairs. A warning gives their number; here it is printed and the warning switched off.
one_class = pd.Series(bought).groupby(user).nunique() == 1
print(f"{one_class.sum()} of {one_class.size} users have rows of one class only")
warnings.simplefilter("ignore", OneClassGroupsWarning)

test_offers, test_bought, test_user = make_offers(400, seed=1)
across = MBAClassifier().fit(offers, bought)
within = MBAClassifier().fit(offers, bought, groups=user)
rankers = {"all pairs": across, "within users": within}
for name, ranker in rankers.items():
    print(f"{name:13}", dict(zip(offers.columns, ranker.coef_[0].round(3).tolist(), strict=True)))

# %%
# The weight of the price changes its sign. The test has other users than the training.
scores = {name: ranker.decision_function(test_offers) for name, ranker in rankers.items()}
for name, s in scores.items():
    print(f"{name:13} AUC over all rows {roc_auc_interval(test_bought, s)}")
    print(f"{'':13} AUC within users  {grouped_roc_auc_interval(test_bought, s, test_user)}")

# %%
# The two metrics order the rankers differently. If no list has rows of two users, AUC within users is the one
# that counts. Its interval and the paired test treat users as the sampling units.
print(compare_grouped_roc_auc(test_bought, scores, test_user))

# %%
# When groups do not matter
# -------------------------
# The same with ``spread=0``: users still differ in how much they buy, but not in what they are shown. Then
# pairs across users are as informative as pairs within users.
measured = {}
for spread in (2.0, 0.0):
    (X, y, g), (X_new, y_new, g_new) = (make_offers(n, seed, spread) for n, seed in ((600, 0), (400, 1)))
    for name, groups in {"all pairs": None, "within users": g}.items():
        s = MBAClassifier().fit(X, y, groups=groups).decision_function(X_new)
        measured[spread, name] = roc_auc_interval(y_new, s), grouped_roc_auc_interval(y_new, s, g_new)

fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharex=True, sharey=True)
for ax, spread, title in zip(axes, (2.0, 0.0), ("prices follow the user", "prices do not"), strict=True):
    for place, name in enumerate(["within users", "all pairs"]):
        for one, shift, style in zip(measured[spread, name], (0.1, -0.1), ("C0o", "C1s"), strict=True):
            ends = [[one.auc - one.low], [one.high - one.auc]]
            ax.errorbar(one.auc, place + shift, xerr=ends, fmt=style, capsize=3)
    ax.axvline(0.5, color="0.5", linewidth=1, linestyle=":")
    ax.set(title=title, xlabel="AUC of new users, with 95% interval", ylim=(-0.5, 1.5))
    ax.grid(axis="x", color="0.9")
axes[0].set_yticks([0, 1], ["fitted within users", "fitted to all pairs"])
axes[1].plot([], [], "C0o", label="AUC over all rows")
axes[1].plot([], [], "C1s", label="AUC within users")
axes[1].legend(loc="center left")
plt.show()

# %%
# *What to look at.* On the left, squares and circles swap places between the two fits. On the right both fits
# have the same AUCs.
#
# Which groups are ranked worst?
# ------------------------------
# Groups with the most misranked pairs come first. Groups of few rows have wide intervals.
print(group_table(test_bought, scores["within users"], test_user, most=5))

# %%
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc fit offers.csv --label bought --group user -o offers.mbauc
#    mbauc evaluate offers.mbauc new.csv                       # AUC within users as well
#    mbauc compare old.mbauc offers.mbauc new.csv --group user
#
# When not to use it
# ------------------
# - When all rows are on one list, such as the alarms of all machines in one control room: differences between
#   groups then help to rank.
# - For probabilities: they refer to rows of all groups.
# - When you rank across groups and rows of a group are correlated. Pass ``clusters`` to the interval instead of
#   ``groups`` to the fit: :doc:`plot_06_comparing_two_models`.
#
# Where to go on
# --------------
# - :doc:`/user_guide/groups`: files, streams, clusters of machines, curves within groups.
# - :class:`mbauc.TableRanker` takes ``group="user"``, the name of a column.
# - :doc:`plot_03_top_of_the_list`: when only the top of one long list counts.
