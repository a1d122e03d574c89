"""
An imbalanced table: from a data frame to a tested ranker
=========================================================

**Who has this problem.** You have a table with few positives, such as frauds among payments. It has texts,
times, gaps, and amounts that span four decades. You want to rank the positives above the negatives, to know
how well that works on rows to come, and to be able to say why a row is at the top.

**What you will have at the end.** A fitted :class:`mbauc.TableRanker`, its AUC with an interval on later
payments, the curve of a column, the reasons of a single score, and a file to score with.
"""

# %%
# The table
# ---------
# The payments are made up, so that you can run this page as it is. Take ``pd.read_csv("payments.csv")``
# instead for your own. They are in the order of days: we train on the first two thirds and keep the last
# third for the end.
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
# Accuracy says nothing here: who never raises an alarm is right nearly always. AUC is the probability that a
# fraud has a higher score than an honest payment, whatever the share of frauds.
#
# Fit, and read what was done
# ---------------------------
# Nothing has to be set, encoded, scaled or imputed.
ranker = TableRanker(random_state=0).fit(payments[known], fraud[known])
print(ranker.describe())

# %%
# **seen as** is the inferred type of each column, and **override** what to write where it is wrong.
# **selected** says which features were compared, their held-out AUC, and which were selected. Here
# linear terms are far behind curves. **test AUC** is that of the latest fifth of these payments, because
# the rows to come are later than those that you have. Then the ranker was trained once more, on all rows.
#
# How well does it rank the payments that follow?
# -----------------------------------------------
# We kept later rows of our own, so that we can check the test.
scores = ranker.decision_function(payments[later])
print("promised:", ranker.auc_)
print("found:   ", roc_auc_interval(fraud[later], scores))

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
# *What to look at.* On the left, the distance from chance, and the interval in the legend: if it is wide, you
# need more positives, not another model. On the right is the same curve where people work: nobody looks into
# a tenth of all payments. Points with whiskers are the frauds found at 0.1%, 1% and 10% false alarms.
#
# What a column does
# ------------------
# The score is a sum of curves, one for each column, so that each can be drawn by itself.
fig, ax = plt.subplots(figsize=(7, 3.6))
CurveDisplay.from_estimator(ranker, "amount", ax=ax)
ax.set_title("what the amount adds to the log-odds of fraud")
plt.show()

# %%
# *What to look at.* +0.69 log-odds double the odds of fraud, -0.69 halve them, and 0 is what an average
# payment gets. The grey bars show where the rows are. No straight line has the U of the amount. Read the
# large shape only: between its steep ends the curve ripples, because it is a sum of a few waves, and the
# band, which is about noise, does not tell.
#
# Why this row?
# -------------
# The payment with the highest score, step by step from an average payment to this one:
first = int(np.argmax(scores))
rows = payments[later]
print(rows.iloc[[first]].to_string(index=False))
print("fraud:", bool(fraud[later][first]))

fig, ax = plt.subplots(figsize=(7.5, 3.4))
ContributionDisplay.from_estimator(ranker, rows, first, n=5, name="the first payment", ax=ax)
plt.show()

# %%
# *What to look at.* The longest bars. Start, steps and end add up to the score; ``ranker.explain(rows)`` has
# them as numbers. They say what the *score* rests on, not what caused the fraud.
#
# Save, load, score
# -----------------
# One file holds the ranker and how raw columns become features.
path = Path(tempfile.mkdtemp()) / "fraud.mbauc"
ranker.save(path)
again = load(path)
print("same scores:", np.array_equal(again.decision_function(rows), scores))

# %%
# In a terminal
# -------------
# The same with files of any size, and to the same bits:
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
# - With some dozen positives, intervals are wide whatever you fit. Collect labels first.
# - Images, sounds and long texts have no columns to draw curves of. Train a network with :doc:`AUC as its
#   loss </user_guide/objectives>` instead.
# - Where many columns act together in threes and more, trees can rank better: :doc:`measured against them
#   </results/one_door>`.
#
# Where to go on
# --------------
# - :doc:`/user_guide/tables`: what goes in, which rows it is tested on.
# - :doc:`plot_02_curves_and_interactions`: heat maps, bands, and a test against straight lines.
# - :doc:`plot_05_false_alarm_promise`: from scores to alarms, with :class:`mbauc.NeymanPearsonClassifier`.
