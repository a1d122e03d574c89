"""
An imbalanced table: from a data frame to a tested ranker
=========================================================

**Who has this problem.** You have a table with few positives, such as frauds among payments. It has texts,
times, missing values and skewed amounts. You want to rank the positives above the negatives, to know how well
that works on new rows, and to explain why a row has a high score.

**What you will have at the end.** A fitted :class:`mbauc.TableRanker`, its AUC with an interval on later
payments, the curve of a column, the reasons for a single score, and a model file.
"""

# %%
# The table
# ---------
# The payments are synthetic; replace them with your own, such as ``pd.read_csv("payments.csv")``. They are in
# order of time: train on the first two thirds, and test on the last third.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mbauc import TableRanker, load
from mbauc.cli.demo import make_payments
from mbauc.metrics import roc_auc_interval
from mbauc.plots import ContributionDisplay, CurveDisplay, RocBandDisplay

plt.rcParams["figure.constrained_layout.use"] = True

columns, fraud = make_payments(60_000, seed=0)
payments = pd.DataFrame(columns)
known, later = slice(0, 40_000), slice(40_000, None)
print(payments.head(4))
print(f"{fraud[known].sum():,} frauds in {fraud[known].size:,} payments ({fraud[known].mean():.1%})")

# %%
# Accuracy is no help here: predicting "no fraud" for every row is nearly always right. AUC is the probability
# that a fraud has a higher score than an honest payment, whatever the share of frauds.
#
# Fit, and read the log
# ---------------------------
# No encoding, scaling, imputation or tuning is needed.
ranker = TableRanker(random_state=0).fit(payments[known], fraud[known])
print(ranker.describe())

# %%
# **seen as** is the inferred type of each column, and **override** the setting that changes it. **selected**
# lists the features that were compared, their held-out AUC, and the choice. Here linear terms are far behind
# curves. **test AUC** is that of the latest fifth of these payments, because new rows will be later, too. The
# ranker is then refitted on all rows.
#
# Evaluate on later payments
# --------------------------
# The last third of the rows checks that estimate.
scores = ranker.decision_function(payments[later])
print("held-out rows: ", ranker.auc_)
print("later payments:", roc_auc_interval(fraud[later], scores))

# %%
at = [0.001, 0.01, 0.1]
fig, (whole, top) = plt.subplots(1, 2, figsize=(9, 4.2))
RocBandDisplay.from_predictions(fraud[later], scores, delta=None, name="new days", ax=whole)
RocBandDisplay.from_predictions(fraud[later], scores, delta=None, x_scale="log", at=at, ax=top)
top.get_legend().remove()
whole.set_title("all false-alarm rates")
top.set_title("the same, for few false alarms")
plt.show()

# %%
# *What to look at.* On the left, the distance from the diagonal, and the interval in the legend: if it is wide,
# you need more positives, not another model. On the right, the same curve with a logarithmic axis for low
# false-alarm rates. Points with whiskers are detection rates at 0.1%, 1% and 10% false alarms.
#
# The curve of a column
# ---------------------
# The score is a sum of curves, one for each column, and, where they help, heat maps for pairs of columns.
fig, ax = plt.subplots(figsize=(7, 3.6))
CurveDisplay.from_estimator(ranker, "amount", ax=ax)
ax.set_title("what the amount adds to the log-odds of fraud")
plt.show()

# %%
# *What to look at.* +0.69 log-odds double the odds of fraud, -0.69 halve them, and 0 is an average payment. The
# grey bars show where the rows are. The effect of the amount is U-shaped, which no linear term can fit. Do not
# interpret small ripples: they come from the smooth functions that the curve is a sum of, and the band does not
# cover this error.
#
# Explain one row
# ---------------
# The payment with the highest score, step by step from an average payment to this one:
first = int(np.argmax(scores))
rows = payments[later]
print(rows.iloc[[first]].to_string(index=False))
print("fraud:", bool(fraud[later][first]))

fig, ax = plt.subplots(figsize=(7.5, 3.4))
ContributionDisplay.from_estimator(ranker, rows, first, n=5, name="the first payment", ax=ax)
plt.show()

# %%
# *What to look at.* The longest bars. The contributions add up to the score; ``ranker.explain(rows)`` returns
# them as numbers. They explain the *score*, not the cause of the fraud.
#
# Save, load, score
# -----------------
# The model file holds the ranker and the encoding of raw columns.
path = Path(tempfile.mkdtemp()) / "fraud.mbauc"
ranker.save(path)
again = load(path)
print("same scores:", np.array_equal(again.decision_function(rows), scores))

# %%
# In a terminal
# -------------
# The same for files of any size, with bit-identical results:
#
# .. code-block:: sh
#
#    mbauc fit payments.csv --label fraud -o fraud.mbauc
#    mbauc evaluate fraud.mbauc later.csv --report report.html
#    mbauc explain fraud.mbauc later.csv --top 20
#    mbauc score fraud.mbauc today.csv -o scores.parquet
#
# When not to use it
# ------------------
# - With a few dozen positives, intervals are wide whatever you fit. Collect labels first.
# - Images, sound and long texts: train a network, for example with :doc:`AUC as its loss
#   </user_guide/objectives>`.
# - Where three or more columns interact, boosted trees can rank better (:doc:`measured </results/one_door>`).
#
# Where to go on
# --------------
# - :doc:`/user_guide/tables`: supported input, and the choice of held-out rows.
# - :doc:`plot_02_curves_and_interactions`: heat maps, bands, and a test against logistic regression.
# - :doc:`plot_05_false_alarm_promise`: from scores to alarms, with :class:`mbauc.NeymanPearsonClassifier`.
