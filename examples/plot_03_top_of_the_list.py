"""
The top of the list: when you can act on few alarms
===================================================

**Who has this problem.** Analysts look at the first hundred rows of a day, and never at the rest. The AUC
counts all pairs alike, also those between rows that nobody will ever see. A ranker that is best over all
pairs may be poor where you look.

**What you will have at the end.** A ranker fitted to the part of the ROC curve with few false alarms
(:class:`mbauc.PairwiseAUCClassifierCV` with ``max_fpr``), measured beside the one fitted to all pairs, and a
case where it brings nothing.
"""

# %%
# Attacks on a network
# --------------------
# Attacks come with more traffic and with some failed logins. Backups are harmless, few, and come with even
# more traffic. ``backups`` is their share.
import matplotlib.pyplot as plt
import numpy as np

from mbauc import PairwiseAUCClassifierCV
from mbauc.metrics import partial_roc_auc_interval, roc_auc_interval
from mbauc.metrics.neyman_pearson import detection_interval
from mbauc.plots import GainsDisplay, RocBandDisplay

plt.rcParams["figure.constrained_layout.use"] = True


def make_connections(n, seed, backups=0.03):
    rng = np.random.default_rng(seed)
    attack = (rng.random(n) < 0.05).astype(int)
    backup = (attack == 0) & (rng.random(n) < backups)
    traffic = rng.standard_normal(n) + 3.0 * attack + 4.0 * backup
    logins = rng.standard_normal(n) + 1.5 * attack
    return np.column_stack([traffic, logins, rng.standard_normal((n, 4))]), attack


X, y = make_connections(12_000, seed=0)
X_test, y_test = make_connections(60_000, seed=1)
print(f"{y.sum():,} attacks to learn from, {y_test.sum():,} to test on")

# %%
# Two fits
# --------
# Both minimise the same loss and are tuned by cross-validation of what they are for: all pairs, or pairs with
# the negatives of the highest scores, up to 1% false alarms. ``choice_`` says what was taken. The part that
# is fitted may be larger than the part asked for, because few rows may be too few to learn from.
whole = PairwiseAUCClassifierCV("squared_hinge", random_state=0).fit(X, y)
top = PairwiseAUCClassifierCV("squared_hinge", max_fpr=0.01, random_state=0).fit(X, y)
print("whole:", whole.choice_)
print("top:  ", top.choice_)
for name, ranker in {"whole": whole, "top": top}.items():
    traffic, logins, *noise = np.abs(ranker.coef_[0]) / np.abs(ranker.coef_[0]).sum()
    print(f"{name:6} weights: traffic {traffic:.0%}, failed logins {logins:.0%}, noise {sum(noise):.0%}")

# %%
# Each is best at what it was fitted for
# --------------------------------------
rankers = {"all pairs": whole, "the top 1%": top}
scores = {name: ranker.decision_function(X_test) for name, ranker in rankers.items()}
for name, s in scores.items():
    print(name)
    print("   AUC                   ", roc_auc_interval(y_test, s))
    print("   partial AUC up to 1%  ", partial_roc_auc_interval(y_test, s, max_fpr=0.01))
    print("   detections at 1%      ", detection_interval(y_test, s, false_alarm=0.01))

# %%
# The partial AUC is ½ for a coin and 1 at best, in the same part of the curve. Look at both rows before you
# decide: the ranker for the top pays for its top with pairs further down.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2))
for (name, s), style in zip(scores.items(), ["-", "--"], strict=True):
    RocBandDisplay.from_predictions(y_test, s, name=name, delta=None, linestyle=style, ax=left)
    RocBandDisplay.from_predictions(y_test, s, name=name, delta=None, linestyle=style, x_scale="log", ax=right)
left.set_title("plain axis: all pairs is ahead")
right.set_title("logarithmic axis: the top is ahead")
right.axvline(0.01, color="0.4", linewidth=1)
right.text(0.009, 0.93, "1% false alarms", color="0.3", ha="right")
right.get_legend().remove()
plt.show()

# %%
# *What to look at.* On the plain axis the part that counts is squeezed into the first hundredth of the
# picture, and you would take the wrong ranker. The logarithmic axis gives each decade the same room. Look
# left of the grey line, and where the curves cross.
#
# What an analyst sees
# --------------------
# Sort by score, and count the attacks from the top.
fig, ax = plt.subplots(figsize=(7, 4))
for (name, s), style in zip(scores.items(), ["-", "--"], strict=True):
    GainsDisplay.from_predictions(y_test, s, name=name, linestyle=style, plot_chance_level=False, ax=ax)
ax.set(xlim=(0, 0.06), ylim=(0, 0.6), ylabel="share of the attacks found", title="attacks from the top")
plt.show()

order = {name: np.argsort(-s) for name, s in scores.items()}
for k in (100, 300, 1000):
    print(
        f"attacks among the first {k:5,}:",
        {name: y_test[rows[:k]].sum().item() for name, rows in order.items()},
    )

# %%
# *What to look at.* Go to the share of rows that you can look at, and up. "At best" is a list that has all
# attacks first.
#
# Where it brings nothing
# -----------------------
# Without backups, traffic and logins tell the same story everywhere on the list. Then the ranker that is best
# over all pairs is about the best at the top, too.
X_calm, y_calm = make_connections(12_000, seed=2, backups=0.0)
X_new, y_new = make_connections(60_000, seed=3, backups=0.0)
for name, limit in {"all pairs": 1.0, "the top 1%": 0.01}.items():
    ranker = PairwiseAUCClassifierCV("squared_hinge", max_fpr=limit, random_state=0).fit(X_calm, y_calm)
    s = ranker.decision_function(X_new)
    print(f"{name:10}  detections at 1%: {detection_interval(y_new, s, false_alarm=0.01)}")

# %%
# Fitting the top never comes for free: it learns from fewer pairs, and its weights are noisier.
#
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc fit connections.csv --label attack --max-fpr 0.01 -o top.mbauc
#    mbauc evaluate top.mbauc later.csv --max-fpr 0.01   # AUC, and the part of it at few false alarms
#
# ``mbauc fit`` without ``--max-fpr`` fits curves: evaluate that model in the same way, and keep the better one.
#
# When not to use it
# ------------------
# - With few positives or few negatives at the top: 1% of 10,000 negatives are 100 rows. Ask for a larger
#   part, and measure at the small one.
# - When you are not sure where you will cut. The AUC is a fair summary of all cuts.
# - When a curve would do more. A score that is not linear can be good everywhere at once: try
#   :class:`mbauc.AdditiveAUCClassifier` first.
# - Without measuring both. On real data it gains on some sets and not on others: :doc:`/results/partial_auc`.
#
# Where to go on
# --------------
# - :doc:`/user_guide/losses`: the losses, and how a part of the curve becomes weights of pairs.
# - :doc:`/user_guide/detection`: intervals of partial AUCs and of detections.
# - :doc:`plot_05_false_alarm_promise`: keep the rate of 1%, with :class:`mbauc.NeymanPearsonClassifier`.
