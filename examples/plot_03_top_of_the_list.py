"""
The top of the list: when you can act on few alarms
===================================================

**Who has this problem.** Analysts review the first hundred rows of a day, and never the rest. AUC counts all
pairs alike, also those of rows that nobody reviews. A ranker with the best AUC may be poor at the top of the
list.

**What you will have at the end.** A ranker fitted to the partial AUC at low false-alarm rates
(:class:`mbauc.PairwiseAUCClassifierCV` with ``max_fpr``), compared with one fitted to all pairs, and a case
where both rank alike.
"""

# %%
# Attacks on a network
# --------------------
# Synthetic connections. Attacks have more traffic and some failed logins. Backups are harmless and rare, and
# have even more traffic; ``backups`` is their share.
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
# Both minimise the same loss, and cross-validation selects penalties: by AUC for one, by the partial AUC up to
# 1% false alarms for the other. ``choice_`` reports the choice. The fitted part of the ROC curve may be larger
# than 1%, because the negatives in that part may be too few to learn from.
whole = PairwiseAUCClassifierCV("squared_hinge", random_state=0).fit(X, y)
top = PairwiseAUCClassifierCV("squared_hinge", max_fpr=0.01, random_state=0).fit(X, y)
print("whole:", whole.choice_)
print("top:  ", top.choice_)
for name, ranker in {"whole": whole, "top": top}.items():
    traffic, logins, *noise = np.abs(ranker.coef_[0]) / np.abs(ranker.coef_[0]).sum()
    print(f"{name:6} weights: traffic {traffic:.0%}, failed logins {logins:.0%}, noise {sum(noise):.0%}")

# %%
# Compare AUC and partial AUC
# ---------------------------
rankers = {"all pairs": whole, "the top 1%": top}
scores = {name: ranker.decision_function(X_test) for name, ranker in rankers.items()}
for name, s in scores.items():
    print(name)
    print("   AUC                   ", roc_auc_interval(y_test, s))
    print("   partial AUC up to 1%  ", partial_roc_auc_interval(y_test, s, max_fpr=0.01))
    print("   detections at 1%      ", detection_interval(y_test, s, false_alarm=0.01))

# %%
# Partial AUC is scaled so that ½ is a coin and 1 is perfect. Compare both metrics before you decide: the
# ranker fitted to the top has a lower AUC over all pairs.
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
# *What to look at.* On the linear axis false-alarm rates below 1% take a hundredth of the width. On the
# logarithmic axis, look left of the grey line, and where the curves cross.
#
# Cumulative gains
# ----------------
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
# *What to look at.* The share of attacks found at the share of rows that you can review. "At best" is a list
# with all attacks first.
#
# When it makes no difference
# ---------------------------
# Without backups, the ranker with the best AUC is also about the best at the top.
X_calm, y_calm = make_connections(12_000, seed=2, backups=0.0)
X_new, y_new = make_connections(60_000, seed=3, backups=0.0)
for name, limit in {"all pairs": 1.0, "the top 1%": 0.01}.items():
    ranker = PairwiseAUCClassifierCV("squared_hinge", max_fpr=limit, random_state=0).fit(X_calm, y_calm)
    s = ranker.decision_function(X_new)
    print(f"{name:10}  detections at 1%: {detection_interval(y_new, s, false_alarm=0.01)}")

# %%
# A fit to the top uses fewer pairs, so its weights are noisier.
#
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc fit connections.csv --label attack --max-fpr 0.01 -o top.mbauc
#    mbauc evaluate top.mbauc later.csv --max-fpr 0.01   # AUC and partial AUC
#
# ``mbauc fit`` without ``--max-fpr`` fits curves: evaluate that model in the same way, and keep the better one.
#
# When not to use it
# ------------------
# - With few negatives at the top: 1% of 10,000 negatives are 100 rows. Fit with a larger ``max_fpr``, and
#   evaluate at the small one.
# - When the threshold is not decided: AUC summarises all thresholds.
# - Before :class:`mbauc.AdditiveAUCClassifier`: a nonlinear score may be better over the whole ROC curve.
# - Without comparing both rankers: on real data it helps on some sets only (:doc:`/results/partial_auc`).
#
# Where to go on
# --------------
# - :doc:`/user_guide/losses`: the losses, and how partial AUC is optimised.
# - :doc:`/user_guide/detection`: intervals for partial AUC and detection rates.
# - :doc:`plot_05_false_alarm_promise`: a threshold that keeps a false-alarm promise.
