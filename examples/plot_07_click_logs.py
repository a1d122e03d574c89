"""
Click logs: from raw rows to a ranked list
==========================================

**Who has this problem:** you log impressions of ads, search results or recommendations. A row is a line of
categories (site, app, device, campaign), some of them with a million values; one row in ten or fewer is
clicked; and you need a list that has first what is most likely to be clicked.

**What you will have at the end:** a ranker trained from Parquet files, its AUC on later rows with an interval,
a chart of what the top of the list is worth, and a table of new rows with a score, a probability and reasons.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import mbauc
from mbauc.metrics import roc_auc_interval
from mbauc.model import RankerModel, save_model
from mbauc.paper.clicks import ClickLog
from mbauc.plots import ContributionDisplay, GainsDisplay
from mbauc.readers import TableSource

# %%
# Raw rows
# --------
# This page makes up a log in the shape of Avazu's, so that nothing has to be downloaded; with a log of your
# own, skip this step. Test rows come later than training rows, as they will in production.

folder = Path(tempfile.mkdtemp())
log = ClickLog(141_000, shape="avazu-app")
days = {"monday": log[:100_000], "tuesday": log[100_000:140_000], "wednesday": log[140_000:]}
for day, rows in days.items():
    rows.write_parquet(folder / f"{day}.parquet", verbose=False)

monday = pd.read_parquet(folder / "monday.parquet")
print(f"{len(monday):,} rows, {monday.click.mean():.1%} clicked")
print("most values:", monday.nunique().nlargest(3).to_dict())
monday.iloc[:, :7].head(3)

# %%
# Hash the categories
# -------------------
# One-hot encoding needs a column for every value and a rule for values that come up tomorrow. Hashing sends a
# value such as ``site_id=25444442`` to one of ``hash_dim`` columns by a fixed formula: nothing has to be
# learned, and any machine finds the same columns. The price is that some values share a column.
# :class:`mbauc.readers.TableSource` reads CSV, TSV and Parquet, and says what it takes each column for. Read
# that first: a code that is taken for a number is the most common mistake.

train = TableSource(folder / "monday.parquet", label="click", hash_dim=2**14)
for line in train.plan.describe().splitlines()[:5]:
    print(line[:56])

# %%
# How many columns? Measure it. ``fit_source`` streams the file; ``train.on`` reads other files into the same
# columns.


def fit_and_test(hash_dim):
    train = TableSource(folder / "monday.parquet", label="click", hash_dim=hash_dim)
    ranker = mbauc.MBAClassifier().fit_source(train)
    later = [(block.y, ranker.decision_function(block.X)) for block in train.on(folder / "tuesday.parquet")]
    return ranker, *map(np.concatenate, zip(*later, strict=True))


fits = {2**bits: fit_and_test(2**bits) for bits in (8, 10, 12, 14, 16)}
ranker, y, s = fits[2**14]
truth = log.log_odds(100_000, 140_000)  # known because the log is made up: no ranker can do better
best = roc_auc_interval(y, truth).auc
print(f"2^14 columns: AUC {roc_auc_interval(y, s)}")
print(f"true log-odds: AUC {best:.4f}")

# %%
# **What to look at:** where the curve flattens. Left of that point values that mean different things share a
# weight. Right of it, columns take memory wherever the model is served and bring little. What is left up to the
# dashed line once the curve is flat is not due to hashing: this log also has effects of *pairs* of values,
# which weights of single values cannot express, and values too rare to learn.

found = [roc_auc_interval(y, s) for _, y, s in fits.values()]
ends = np.array([(one.auc - one.low, one.high - one.auc) for one in found]).T
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.errorbar(list(fits), [one.auc for one in found], ends, fmt="o-", capsize=4, label="ranker, 95% interval")
ax.axhline(best, color="0.35", linestyle="--", label="true log-odds")
ax.set_xscale("log", base=2)
ax.set(xlabel="hashed columns (hash_dim)", ylabel="AUC of later rows", title="how many columns are enough")
ax.grid(color="0.9")
ax.legend()
plt.show()

# %%
# What the top of the list is worth
# ---------------------------------
# AUC speaks of the whole list; whoever shows ten ads out of a hundred wants to know about its top. **What to
# look at:** take the share of rows that you can show on the horizontal axis, and read off the share of all
# clicks that they get. The dotted diagonal is a random order; the distance to the curve of the true log-odds is
# all that a better model could still win.

fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
gains = GainsDisplay.from_predictions(y, s, name="hashed ranker", ax=ax, linewidth=2)
GainsDisplay.from_predictions(y, truth, name="true log-odds", ax=ax, color="tab:orange", linestyle="-.")
ax.set_title("clicks from the top of the list")
plt.show()
for share in (0.05, 0.2):
    at = np.searchsorted(gains.share, share)
    print(f"top {share:.0%} of the rows: {gains.found[at]:.0%} of the clicks, a lift of {gains.lift[at]:.1f}")

# %%
# New rows, ranked, with reasons
# ------------------------------
# A model file holds the weights and the layout of the raw rows, so that it scores files as they come.
# ``score_files`` streams any number of them; ``reasons=2`` adds the values that raise a score most, in
# log-odds, where +0.69 doubles the odds.

save_model(RankerModel.of(ranker, train.layout, train.classes), folder / "clicks.mbauc")
ranker = mbauc.load(folder / "clicks.mbauc")
ranker.score_files(folder / "wednesday.parquet", folder / "scores.csv", reasons=2)
ranked = pd.read_csv(folder / "scores.csv", index_col="row").sort_values("score", ascending=False)
ranked.head(5).round(3)

# %%
# The first row of the list, as a sum from an average row to this one. **What to look at:** whether one value
# carries the score. If it is an id that was seen a few times, the row is a guess.

first = ranked.index[0]
explained = ranker.explain(folder / "wednesday.parquet", n=8)[first]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ContributionDisplay(explained, name=f"row {first}").plot(ax)
plt.show()

# %%
# The same in a shell
# -------------------
# .. code-block:: bash
#
#    mbauc data clicks --shape avazu-app --rows 100000 -o monday.parquet
#    mbauc data clicks --shape avazu-app --rows 40000 --start 100000 -o tuesday.parquet
#    mbauc data clicks --shape avazu-app --rows 1000 --start 140000 -o wednesday.parquet
#    mbauc fit monday.parquet --label click --encode hash --hash-dim 16384 -o clicks.mbauc
#    mbauc evaluate clicks.mbauc tuesday.parquet --report tuesday.html
#    mbauc score clicks.mbauc wednesday.parquet --reasons 2 -o scores.csv
#    mbauc explain clicks.mbauc wednesday.parquet --top 1 --n 8
#
# When not to use this
# --------------------
# * **Few rows, or columns with few values**: :class:`mbauc.TableRanker` also tries curves and pairs of columns.
# * **All that matters is who likes what**, users times items: weights of single values say nothing about such
#   pairs. Use a factorisation model, or add the pair as a column.
# * **Prices depend on the probability**, as in auctions: those above come in closed form and tend to be too
#   sure of themselves. ``mbauc fit`` calibrates them on held-out rows, ``mbauc calibrate`` on later ones.
#
# Where to go on
# --------------
# :doc:`../user_guide/data` has what columns are taken for and how values are hashed, :doc:`../user_guide/model`
# the model file, :doc:`../user_guide/groups` pairs that count only within a query or a user,
# :doc:`../user_guide/commands` a whole session in a shell. Classes: :class:`mbauc.MBAClassifier`,
# :class:`mbauc.readers.TableSource`, :class:`mbauc.plots.GainsDisplay`.
