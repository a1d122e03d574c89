"""
A threshold that keeps a false-alarm promise
============================================

**Who has this problem.** At most 1% of the healthy patients, or of the honest customers, may raise an alarm.
You take the threshold that 1% of the negatives in your sample exceed. The true false-alarm rate of this
threshold is above 1% about half of the time, because a sample quantile is as often too low as too high.

**What you will have at the end.** A threshold that keeps a false-alarm promise with 95% confidence
(:class:`mbauc.NeymanPearsonClassifier` around any scorer), a simulation of how often it is kept, and its cost
in detections.
"""

# %%
# A scorer
# --------
# The rule works for the scores of any model. Train one, and take a very large set of other rows as the
# population, in which the true false-alarm rate of any threshold is known.
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import make_classification

from mbauc import MBAClassifier, NeymanPearsonClassifier
from mbauc.metrics.neyman_pearson import false_alarm_threshold, negatives_needed, threshold_rank

plt.rcParams["figure.constrained_layout.use"] = True

X, y = make_classification(
    160_000, n_features=20, n_informative=8, weights=[0.95], class_sep=1.2, flip_y=0.01, random_state=0
)
ranker = MBAClassifier().fit(X[:5_000], y[:5_000])
scores = ranker.decision_function(X[5_000:])
negatives, positives = scores[y[5_000:] == 0], scores[y[5_000:] == 1]
LIMIT, DELTA = 0.01, 0.05

# %%
# Simulate two rules
# ------------------
# Draw 2,000 negatives, set the threshold by both rules, and look up the true false-alarm rate; repeat a
# thousand times.
rng = np.random.default_rng(0)
ordered = np.sort(negatives)


def true_rates(thresholds):
    return 1 - np.searchsorted(ordered, thresholds, side="right") / ordered.size


def detections(thresholds):
    return 1 - np.searchsorted(np.sort(positives), thresholds, side="right") / positives.size


def draw_thresholds(n, repetitions):
    samples = [rng.choice(negatives, n) for _ in range(repetitions)]
    naive = [np.quantile(sample, 1 - LIMIT) for sample in samples]
    promised = [false_alarm_threshold(sample, alpha=LIMIT, delta=DELTA).threshold for sample in samples]
    return {"quantile of the sample": np.array(naive), "promise": np.array(promised)}


found = draw_thresholds(2_000, 1_000)
for name, thresholds in found.items():
    broken = np.mean(true_rates(thresholds) > LIMIT)
    print(f"{name:23} limit broken in {broken:6.1%}, positives found {detections(thresholds).mean():.1%}")

# %%
fig, ax = plt.subplots(figsize=(7, 3.6))
bins = np.linspace(0, 0.02, 61)
for (name, thresholds), colour in zip(found.items(), ["C1", "C0"], strict=True):
    ax.hist(true_rates(thresholds), bins, alpha=0.6, color=colour, label=name)
ax.axvline(LIMIT, color="black", linestyle="--", label="limit")
ax.set(xlabel="true false-alarm rate of the threshold", ylabel="repetitions", xlim=(0, 0.02))
ax.set_title("two ways to set a threshold")
ax.set_xticks(np.arange(0, 0.021, 0.005))
ax.xaxis.set_major_formatter(PercentFormatter(1, 1))
ax.legend()
plt.show()

# %%
# *What to look at.* Samples to the right of the dashed line exceed the limit. The quantile is right on average
# only; the rule exceeds the limit in at most 5% of the samples, up to chance.
#
# How it works, and how many negatives it needs
# ---------------------------------------------
# The threshold is the k-th smallest score of n negatives (an order statistic). The probability that its true
# false-alarm rate exceeds the limit depends on n and k alone, for any distribution of the scores, and is
# computed exactly. The rule takes the smallest k for which it is at most 5%.
print("negatives that the promise needs at least:", negatives_needed(LIMIT, DELTA))
sizes = [300, 500, 1_000, 2_000, 5_000, 10_000]
broken, power = {}, {}
for n in sizes:
    for name, thresholds in draw_thresholds(n, 1_000).items():
        broken.setdefault(name, []).append(np.mean(true_rates(thresholds) > LIMIT))
        power.setdefault(name, []).append(detections(thresholds).mean())
    above = n - threshold_rank(n, LIMIT, DELTA)
    print(f"of {n:6,} negatives {above:3} may be above the threshold, not {n * LIMIT:.0f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
for name, style in {"quantile of the sample": "C1s--", "promise": "C0o-"}.items():
    left.plot(sizes, broken[name], style, label=name)
    right.plot(sizes, power[name], style, label=name)
left.axhline(DELTA, color="black", linewidth=1, label="5% that were agreed on")
left.set(title="how often the limit is broken", ylabel="share of the repetitions", ylim=(0, 0.7))
right.set(title="what it costs", ylabel="share of the positives found", ylim=(0, None))
for ax in (left, right):
    ax.set(xscale="log", xlabel="negatives that set the threshold")
    ax.grid(color="0.9")
    ax.yaxis.set_major_formatter(PercentFormatter(1, 0))
left.legend()
plt.show()

# %%
# *What to look at.* On the left, the quantile exceeds the limit about as often with many rows as with few; the
# rule stays at or below the line, up to chance. On the right, the gap is the cost in detections: large for few
# negatives, small for many.
#
# In one step, for your own model
# -------------------------------
# The classifier holds out half of the negatives, trains on all other rows, and sets the threshold on the
# held-out ones. Never set it on training rows: their scores are too optimistic.
trained, new = slice(0, 3_000), slice(3_000, None)
detector = NeymanPearsonClassifier(MBAClassifier(), alpha=LIMIT, delta=DELTA, random_state=0).fit(
    X[trained], y[trained]
)
alarms = detector.predict(X[new])
print(f"threshold is number {detector.rank_:,} of {detector.n_calibration_:,} negatives held back")
print(f"false alarms {alarms[y[new] == 0].mean():.2%}, positives found {alarms[y[new] == 1].mean():.1%}")

# %%
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc threshold fraud.mbauc yesterday.csv --false-alarm 0.01 -o armed.mbauc
#    mbauc score armed.mbauc today.csv -o alarms.parquet
#
# When not to use it
# ------------------
# - When new rows are distributed differently from those that set the threshold (drift): set it again on recent
#   negatives.
# - When negatives are correlated, such as a hundred rows of one user: use one row for each user.
# - When the limit is on the number of alarms or on costs: use ``mbauc threshold --top 50`` or ``--cost 20``.
#   There is no guarantee for precision.
# - When you compare several thresholds and pick one: the guarantee holds for one rule, fixed beforehand.
#
# Where to go on
# --------------
# - :doc:`/user_guide/detection`: the rule for scores of any model, intervals for AUC and detection rates.
# - :class:`mbauc.TableRanker` takes ``false_alarm=0.01``.
# - :doc:`plot_03_top_of_the_list`: a ranker fitted to the partial AUC at low false-alarm rates.
