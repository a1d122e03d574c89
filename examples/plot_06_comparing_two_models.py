"""
Is the new model better? Comparing AUCs
=======================================

**Who has this problem.** A new model has a slightly higher AUC than the old one, on some thousand test rows
with a few hundred positives. The two confidence intervals overlap: is the difference significant?

**What you will have at the end.** A paired test (DeLong, :func:`mbauc.metrics.compare_roc_auc`), and its
variants for clustered rows, for different test sets, and for many models.
"""

# %%
# One column more
# ---------------
# A simulation with known weights: six columns have an effect, the sixth the smallest. The old model lacks the
# sixth.
import matplotlib.pyplot as plt
import numpy as np

from mbauc import MBAClassifier
from mbauc.metrics import compare_roc_auc, compare_roc_auc_unpaired, holm, roc_auc_interval

plt.rcParams["figure.constrained_layout.use"] = True

rng = np.random.default_rng(0)
X = rng.standard_normal((160_000, 10))
weights = np.array([1.0, 0.8, 0.6, 0.4, 0.4, 0.35, 0, 0, 0, 0])
y = (rng.random(len(X)) < 1 / (1 + np.exp(3.6 - X @ weights))).astype(int)
train, test = slice(0, 20_000), slice(20_000, 26_000)
models = {"old": [0, 1, 2, 3, 4], "new": [0, 1, 2, 3, 4, 5]}
scores = {
    name: MBAClassifier().fit(X[train][:, columns], y[train]).decision_function(X[:, columns])
    for name, columns in models.items()
}
intervals = {name: roc_auc_interval(y[test], s[test]) for name, s in scores.items()}
compared = compare_roc_auc(y[test], {name: s[test] for name, s in scores.items()})
print(f"{y[test].sum()} positives among {y[test].size:,} test rows")
print(compared)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6))
for place, one in enumerate(intervals.values()):
    ends = [[one.auc - one.low], [one.high - one.auc]]
    left.errorbar(one.auc, place, xerr=ends, fmt="o", capsize=4, color=f"C{place}")
gain, low, high = (float(part[1, 0]) for part in (compared.difference, compared.low, compared.high))
right.errorbar(gain, 0, xerr=[[gain - low], [high - gain]], fmt="o", capsize=4, color="black")
right.axvline(0, color="0.4", linewidth=1)
right.locator_params(axis="x", nbins=5)
left.set_yticks([0, 1], list(intervals))
right.set_yticks([0], ["new - old"])
left.set(xlabel="AUC, with 95% interval", ylim=(-0.6, 1.6), title="each for itself")
right.set(xlabel="difference of the AUCs, with 95% interval", title="the difference, paired")
for ax in (left, right):
    ax.grid(axis="x", color="0.9")
plt.show()

# %%
# *What to look at.* On the left, most of the width of both intervals is due to the choice of test rows, which
# are the same for both models. The paired difference on the right excludes this part. Note the different
# scales.
#
# Power and false positives of three rules
# ----------------------------------------
# Apply three rules to 500 other test sets: to these two models, and to two models of equal AUC (the new one
# plus independent noise).
found = {}
for _ in range(500):
    rows = rng.integers(20_000, len(X), 6_000)
    old, new = scores["old"][rows], scores["new"][rows]
    twins = new + 0.3 * new.std() * rng.standard_normal((2, rows.size))
    for question, (a, b) in {"new against old": (new, old), "two equal models": twins}.items():
        one, two = roc_auc_interval(y[rows], a), roc_auc_interval(y[rows], b)
        answers = {
            "paired test": compare_roc_auc(y[rows], [a, b]).p_value[0, 1] < 0.05,
            "test as if unpaired": compare_roc_auc_unpaired(one, two).p_value < 0.05,
            "intervals do not overlap": one.low > two.high or two.low > one.high,
        }
        for rule, answer in answers.items():
            found.setdefault((question, rule), []).append(answer)
rates = {key: np.mean(values) for key, values in found.items()}
for (question, rule), rate in rates.items():
    print(f"{question:17} {rule:25} says 'they differ' in {rate:6.1%}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True)
for ax, question in zip(axes, ["new against old", "two equal models"], strict=True):
    own = {rule: rate for (asked, rule), rate in rates.items() if asked == question}
    bars = ax.barh(list(own), list(own.values()), color="C0", height=0.6)
    ax.bar_label(bars, [f"{rate:.0%}" for rate in own.values()], padding=28)
    ax.set(title=question, xlim=(0, 1.12), xlabel="share that says 'they differ'")
axes[1].axvline(0.05, color="black", linestyle="--", linewidth=1)
axes[0].invert_yaxis()
plt.show()

# %%
# *What to look at.* On the left, where the models differ, the bars are the power of each rule. On the right,
# where they do not, bars should end near the dashed line of 5%. The unpaired rules have almost no power.
#
# Clustered rows
# --------------
# Ten rows of one user carry less information than rows of ten users. Here two equal models score 400 users with
# 10 rows each; labels depend on the user. A test that treats rows as independent has too many false positives.
# ``clusters=`` names the users.
p_values = {"rows taken for independent": [], "clusters=user": []}
user = np.repeat(np.arange(400), 10)
for _ in range(300):
    risk, first, second = rng.standard_normal((3, 400))
    label = rng.random(user.size) < 1 / (1 + np.exp(1.5 - 2 * risk[user]))
    rivals = [(risk + first)[user], (risk + second)[user]]
    for name, clusters in {"rows taken for independent": None, "clusters=user": user}.items():
        p_values[name].append(compare_roc_auc(label, rivals, clusters=clusters).p_value[0, 1])
for name, values in p_values.items():
    print(f"{name:27} says 'they differ' (p < 0.05) in {np.mean(np.array(values) < 0.05):.0%}; they do not")

# %%
# Different test sets: last month and this one
# --------------------------------------------
# For different rows use the unpaired test, which takes two intervals:
months = [slice(20_000, 26_000), slice(26_000, 32_000)]
march, april = (roc_auc_interval(y[rows], scores["new"][rows]) for rows in months)
print(f"March {march}\nApril {april}\nMarch - April: {compare_roc_auc_unpaired(march, april)}")

# %%
# Many models
# -----------
# Each of five candidates has one more column, of which only the first has an effect. The smallest of many
# p-values is often small by chance; Holm's adjustment corrects for this.
candidates = {f"old + column {k}": [*models["old"], k] for k in range(5, 10)}
rivals = {"old": scores["old"][test]} | {
    name: MBAClassifier().fit(X[train][:, own], y[train]).decision_function(X[test][:, own])
    for name, own in candidates.items()
}
several = compare_roc_auc(y[test], rivals)
alone = several.p_value[0, 1:]
for name, gain, p, adjusted in zip(candidates, several.difference[1:, 0], alone, holm(alone), strict=True):
    print(f"{name}: AUC {gain:+.4f}, p = {p:.4f} alone, {adjusted:.4f} with Holm's adjustment")

# %%
# ``several.holm_p_value`` adjusts for all pairs of models; ``holm`` here for the five comparisons with *old*.
#
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc compare old.mbauc new.mbauc tomorrow.csv
#    mbauc compare old.mbauc new.mbauc searches.csv --group query     # AUC within queries
#
# When not to use it
# ------------------
# - On rows that either model was trained or tuned on.
# - To decide whether a difference *matters*. With a million rows tiny differences are significant: read the
#   interval, and decide beforehand which difference in AUC is worth a change.
# - For folds of a cross-validation, which share training rows: take ``paired_t_test`` with ``test_ratio``.
#
# Where to go on
# --------------
# - :doc:`/user_guide/detection`: weights, clusters, partial AUC, tests over data sets.
# - :doc:`/results/coverage`: measured coverage of the intervals.
# - :doc:`plot_02_curves_and_interactions`: :class:`mbauc.AdditiveAUCClassifier` against logistic regression.
