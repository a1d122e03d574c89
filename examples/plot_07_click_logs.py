"""
Click logs: from raw rows to a ranked list
==========================================

**Who has this problem.** You log impressions of ads, search results or recommendations. The columns are
categories (site, app, device, campaign) of high cardinality, one row in ten or fewer is clicked, and you need
to rank new rows by how likely a click is.

**What you will have at the end.** A ranker trained from Parquet files, its AUC on later rows with an interval,
its cumulative gains, and a file of new rows with score, probability and reasons.
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
# A synthetic log in the shape of Avazu's; skip this step if you have your own. Test rows come later than
# training rows, as in production.

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
# One-hot encoding needs a column for every value, and a rule for unseen values. Feature hashing maps a value
# such as ``site_id=25444442`` to one of ``hash_dim`` columns by a fixed formula: nothing is learned, and all
# machines agree. The drawback is collisions: some values share a column.
#
# :class:`mbauc.readers.TableSource` reads CSV, TSV and Parquet, and infers the type of each column. Check its
# plan first: codes that are taken as numbers are a common error.

train = TableSource(folder / "monday.parquet", label="click", hash_dim=2**14)
for line in train.plan.describe().splitlines()[:5]:
    print(line[:56])

# %%
# Choose ``hash_dim`` by the AUC of later rows. ``fit_source`` streams the file; ``train.on`` reads other files
# into the same columns.


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
# *What to look at.* Where the curve flattens. To the left of that point, collisions cost AUC; to the right,
# more columns take memory and gain little. The remaining gap to the dashed line is not due to hashing: this
# log also has effects of *pairs* of values, which a linear model cannot express, and values too rare to learn.

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
# Cumulative gains
# ----------------
# AUC summarises the whole list; if you show ten ads out of a hundred, only its top matters.
#
# *What to look at.* The share of all clicks (vertical) in the share of rows that you can show (horizontal). The
# dotted diagonal is a random order; the distance to the true log-odds is what a better model could gain.

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
# A model file holds the weights and the encoding of raw rows. ``score_files`` streams any number of rows;
# ``reasons=2`` adds the values that raise a score most, in log-odds, where +0.69 doubles the odds.

save_model(RankerModel.of(ranker, train.layout, train.classes), folder / "clicks.mbauc")
ranker = mbauc.load(folder / "clicks.mbauc")
ranker.score_files(folder / "wednesday.parquet", folder / "scores.csv", reasons=2)
ranked = pd.read_csv(folder / "scores.csv", index_col="row").sort_values("score", ascending=False)
ranked.head(5).round(3)

# %%
# The first row of the list, step by step from an average row to this one. *What to look at.* Whether a single
# value dominates the score. If it is rare in the training rows, do not rely on the score.

first = ranked.index[0]
explained = ranker.explain(folder / "wednesday.parquet", n=8)[first]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ContributionDisplay(explained, name=f"row {first}").plot(ax)
plt.show()

# %%
# In a terminal
# -------------
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
# When not to use it
# ------------------
# * **Few rows, or columns with few values**: :class:`mbauc.TableRanker` also tries curves and pairs of columns.
# * **Recommendation of items to users**: a linear model has no user-item interactions. Use a factorisation
#   model, or add the pair as a column.
# * **Bids that depend on the probability**: the probabilities above are in closed form and tend to be
#   overconfident. ``mbauc fit`` calibrates them on held-out rows, ``mbauc calibrate`` on later ones.
#
# Where to go on
# --------------
# :doc:`../user_guide/data`: column types and hashing; :doc:`../user_guide/model`: the model file;
# :doc:`../user_guide/groups`: pairs within a query or a user; :doc:`../user_guide/commands`: the command line.
# Classes: :class:`mbauc.MBAClassifier`,
# :class:`mbauc.readers.TableSource`, :class:`mbauc.plots.GainsDisplay`.
