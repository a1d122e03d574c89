"""
A threshold that keeps a false-alarm promise
============================================

**Who has this problem.** You promised that at most 1% of the healthy patients, or of the honest customers,
raise an alarm. You take the threshold that 1% of the negatives in your sample exceed. On new rows the rate is
above 1% about every other time: the sample's quantile is as often too low as too high.

**What you will have at the end.** A threshold that keeps the promise with 95% confidence
(:class:`mbauc.NeymanPearsonClassifier` around any scorer), a picture of how often it does, and what it costs.
"""

# %%
# A scorer
# --------
# The rule works for the scores of any model. We train one on some rows, and take a very large set of others
# as the truth: there the false-alarm rate of any threshold can be read off.
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
# Two rules, many times
# ---------------------
# Draw 2,000 negatives, set the threshold by both rules, and look up the true rate. Do that a thousand times,
# which in real life you cannot.
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
# *What to look at.* What is to the right of the dashed line broke the promise. The quantile is right on
# average, which helps nobody who has one sample only. The promise moves the heap to the left by just enough.
#
# How it works, and how many negatives it takes
# ---------------------------------------------
# The rule takes the k-th smallest score of n negatives. How often the true rate above it exceeds the limit
# depends on n and k alone, not on the model or on how scores spread, and can be computed exactly. The
# smallest k that is safe is taken.
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
# *What to look at.* On the left, more rows do not make the quantile safe. Points of the promise scatter
# around or below the line, by chance. On the right, its price is the gap, large for few negatives and small
# for many. So collect negatives, which are cheap.
#
# In one step, for your own model
# -------------------------------
# The classifier holds half of the negatives back, trains on all other rows, and sets the threshold. Never set
# it on rows that the model was trained on: their scores are too good.
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
# - When rows to come are not like those that set the threshold. No rule keeps a promise through a drift; set
#   it again on recent negatives.
# - When negatives depend on each other, such as a hundred rows of one user. Count one for each user.
# - When the limit is on the number of alarms, or on costs: take ``mbauc threshold --top 50`` or ``--cost
#   20``. A limit on *precision* is another promise.
# - When you look at several thresholds and take the one you like. The promise is about one, fixed beforehand.
#
# Where to go on
# --------------
# - :doc:`/user_guide/detection`: the rule on its own, intervals of detections, other intervals.
# - :class:`mbauc.TableRanker` takes ``false_alarm=0.01`` and does all of this with a table.
# - :doc:`plot_03_top_of_the_list`: a ranker that is fitted to few false alarms.
