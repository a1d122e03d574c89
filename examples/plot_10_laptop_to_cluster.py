"""
From laptop to cluster
======================

**Who has this problem.** Your prototype runs on a sample in memory; all rows are in files, on a Dask or Spark
cluster, or on machines that must not share them. You want the same model from all rows, without a second
implementation.

**What you will have at the end.** The same fit in memory, from files, on Dask and from the moments of three
sites, a plot of the differences of their weights, and a plot of the bytes sent.
"""

import tempfile
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster
from sklearn.datasets import make_classification

import mbauc.dask
from mbauc import MBAClassifier, PairMoments
from mbauc.metrics import StreamingAUC, roc_auc, roc_auc_interval
from mbauc.readers import TableSource

# %%
# On a laptop
# -----------
# A linear fit depends on all pairs of a positive and a negative row only through the moments of their
# differences. Moments of parts of the rows add up, so it does not matter where the rows are.

X, y = make_classification(60_000, n_features=30, n_informative=15, weights=[0.95], random_state=0)
X_test, y_test = X[40_000:], y[40_000:]
X, y = X[:40_000], y[:40_000]
weights = {"in memory": MBAClassifier().fit(X, y).coef_}

# %%
# From files
# ----------
# The source reads Parquet files block by block; files may be larger than memory
# (:doc:`plot_09_larger_than_memory`).

folder = Path(tempfile.mkdtemp())
names = [f"x{k}" for k in range(30)]
for k, rows in enumerate(np.array_split(np.arange(40_000), 4)):
    pd.DataFrame(X[rows], columns=names).assign(click=y[rows]).to_parquet(folder / f"part-{k}.parquet")
source = TableSource(folder, label="click", scale=None)
weights["from files"] = MBAClassifier().fit_source(source).coef_

# %%
# On Dask
# -------
# ``mbauc.dask`` has the same estimators. Each worker computes the moments of its partitions, and these are
# merged in a tree. This cluster has two workers in one process; for a real one pass its address,
# ``Client("tcp://…")``. Scores are lazy, and the AUC is that of all rows, not a mean over partitions.

dX, dy = da.from_array(X, chunks=(5_000, 30)), da.from_array(y, chunks=5_000)
dX_test, dy_test = da.from_array(X_test, chunks=(5_000, 30)), da.from_array(y_test, chunks=5_000)
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
with cluster, Client(cluster):
    ranker = mbauc.dask.MBAClassifier().fit(dX, dy)
    print("on Dask:  ", mbauc.dask.roc_auc_interval(dy_test, ranker.decision_function(dX_test)))
weights["on Dask"] = ranker.coef_
print("in memory:", roc_auc_interval(y_test, X_test @ weights["in memory"][0]))

# %%
# Federated: rows stay where they are
# -----------------------------------
# Three hospitals, three data centres, or last week and today: each sends a file of moments, and no rows. The
# files are added in any order. To evaluate, each site sends its ``StreamingAUC``; these add up, too.

sites = np.array_split(np.arange(40_000), [7_000, 30_000])
for k, rows in enumerate(sites):
    PairMoments.from_arrays(X[rows], y[rows]).save(folder / f"site-{k}.moments")
total = sum(PairMoments.load(path) for path in sorted(folder.glob("*.moments")))
merged = MBAClassifier().fit_moments(total)
weights["three files of moments"] = merged.coef_
tests = [StreamingAUC().update(y_test[k::3], merged.decision_function(X_test[k::3])) for k in range(3)]
at_once = roc_auc(y_test, merged.decision_function(X_test))
print(f"{total.counts[0]:,} positives × {total.counts[1]:,} negatives, {total.n_pairs:,} pairs")
print(f"AUC from three StreamingAUC {sum(tests).auc:.6f}, of all rows at once {at_once:.6f}")

# %%
# Are they the same?
# ------------------
# *What to look at.* On the left, the marks of each column coincide. On the right, their differences on a
# logarithmic axis are rounding errors, because the order of additions differs. Averaging the weights of three
# sites would give another model: each site would learn from its own pairs only.

averaged = np.mean([MBAClassifier().fit(X[rows], y[rows]).coef_ for rows in sites], axis=0)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[3, 2])
for (name, coef), marker in zip(weights.items(), "osx+", strict=True):
    left.plot(coef[0], marker, fillstyle="none", markersize={"o": 10, "s": 6}.get(marker, 5), label=name)
left.axhline(0, color="0.7", linewidth=0.8)
left.set(xlabel="column", ylabel="weight", title="weights of four fits")
left.legend(fontsize=8)
exact = weights.pop("in memory")
weights["averaged weights"] = averaged
gaps = {name: np.abs(coef - exact).max() / np.abs(exact).max() for name, coef in weights.items()}
right.plot(list(gaps.values()), list(gaps), "o", markersize=9)
right.set(xscale="log", xlim=(1e-17, 1), xlabel="relative difference to in memory", title="how far apart")
right.margins(y=0.2)
right.grid(color="0.9")
right.invert_yaxis()
plt.show()
for name, gap in gaps.items():
    print(f"{name}: {gap:.0e}")

# %%
# What is sent
# ------------
# *What to look at.* The horizontal lines. A partition sends its moments, whose size depends only on the number
# of columns. To the left of a crossing, moments are *larger* than the rows: with thousands of columns use
# large partitions, or ``solver="auto"``, which may choose the matrix-free solver, where a partition sends one
# vector for each product.

rows = np.array([1e1, 1e9])
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (d, colour), style in zip({30: "tab:blue", 1_000: "tab:orange"}.items(), ("o-", "s--"), strict=True):
    PairMoments.from_arrays(np.eye(4, d), [0, 0, 1, 1]).save(folder / "size.moments")
    sent = (folder / "size.moments").stat().st_size
    ax.plot(rows, [sent, sent], style, color=colour, linewidth=2, label=f"moments of {d:,} columns")
    ax.plot(rows, 8 * d * rows, style[1:], color=colour, linewidth=1, alpha=0.7, label=f"rows of {d:,} columns")
    print(f"{d:,} columns: moments have {sent / 1e6:.3g} MB, as much as {sent / (8 * d):,.0f} rows")
ax.set(xscale="log", yscale="log", xlabel="rows of a partition", ylabel="bytes", title="what a partition sends")
ax.grid(color="0.9")
ax.legend(fontsize=8)
plt.show()

# %%
# On Spark
# --------
# The same with a Spark DataFrame (not run on this page):
#
# .. code-block:: python
#
#    from mbauc.spark import MBAClassifier, roc_auc_interval
#
#    ranker = MBAClassifier().fit(df, features=names, label="click")
#    scored = df.withColumn("score", ranker.decision_function(df))  # lazy
#    print(roc_auc_interval(scored, "score", label="click"))
#
# In a terminal
# -------------
# A model file with up to 2,048 columns usually keeps its moments, so models of two machines can be merged:
#
# .. code-block:: bash
#
#    mbauc fit monday.parquet --label click --hash-dim 1000 -o monday.mbauc
#    mbauc fit tuesday.parquet --like monday.mbauc -o tuesday.mbauc
#    mbauc merge monday.mbauc tuesday.mbauc -o both.mbauc
#
# When not to use it
# ------------------
# * **The rows fit on one machine**: a local fit has no cluster overhead.
# * **Privacy**: moments are not anonymous; sums over few rows can reveal single ones.
# * **Encodings learned on each site** (scales, categories) differ, and their moments cannot be added: hash, or
#   share one encoding.
#
# Where to go on
# --------------
# :doc:`../user_guide/clusters`: Dask and Spark, with memory and times; :doc:`../user_guide/model`: merging of
# model files. Classes: :class:`mbauc.PairMoments`, :class:`mbauc.dask.MBAClassifier`,
# :class:`mbauc.spark.MBAClassifier`, :class:`mbauc.metrics.StreamingAUC`.
