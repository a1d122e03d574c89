"""
From laptop to cluster
======================

**Who has this problem:** the prototype runs on a sample in memory; the rows are in files, on a Dask or Spark
cluster, or on machines that may not send them anywhere. A sample is not good enough, and a second
implementation for the cluster is one too many.

**What you will have at the end:** the same fit in memory, from files, on Dask and from the sums of three
machines, a picture that shows that the weights are the same, and a picture that says when sending sums pays.
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
# All pairs of a positive and a negative row enter a linear fit through two sums, the mean and the second moment
# of their differences. Sums of parts of the rows add up, so it does not matter where the rows are. Everything
# below rests on that.

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
# ``mbauc.dask`` has the same estimators. With a ``Client`` in place, each worker turns its partitions into
# moments, and these are added up in a tree. This cluster has two workers in one process; an address in
# ``Client("tcp://…")`` is all that changes. Scores stay on the workers, and the AUC is that of all rows, not a
# mean of the partitions' AUCs.

dX, dy = da.from_array(X, chunks=(5_000, 30)), da.from_array(y, chunks=5_000)
dX_test, dy_test = da.from_array(X_test, chunks=(5_000, 30)), da.from_array(y_test, chunks=5_000)
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
with cluster, Client(cluster):
    ranker = mbauc.dask.MBAClassifier().fit(dX, dy)
    print("on Dask:  ", mbauc.dask.roc_auc_interval(dy_test, ranker.decision_function(dX_test)))
weights["on Dask"] = ranker.coef_
print("in memory:", roc_auc_interval(y_test, X_test @ weights["in memory"][0]))

# %%
# By hand, where rows must stay where they are
# --------------------------------------------
# Three hospitals, three data centres, or last week and today: each makes a file of moments and sends that.
# Nobody sees a row. The files are added up in any order. Tests need no rows either: each counts the scores of
# its own, and counts add up, too.

sites = np.array_split(np.arange(40_000), [7_000, 30_000])
for k, rows in enumerate(sites):
    PairMoments.from_arrays(X[rows], y[rows]).save(folder / f"site-{k}.moments")
total = sum(PairMoments.load(path) for path in sorted(folder.glob("*.moments")))
merged = MBAClassifier().fit_moments(total)
weights["three files of moments"] = merged.coef_
tests = [StreamingAUC().update(y_test[k::3], merged.decision_function(X_test[k::3])) for k in range(3)]
at_once = roc_auc(y_test, merged.decision_function(X_test))
print(f"{total.counts[0]:,} positives × {total.counts[1]:,} negatives, {total.n_pairs:,} pairs")
print(f"AUC from three counts {sum(tests).auc:.6f}, of all rows at once {at_once:.6f}")

# %%
# Are they the same?
# ------------------
# **What to look at:** on the left all marks of a column lie on each other. On the right is how far they are
# apart, on a logarithmic axis: additions in another order round differently in the last digits, and that is
# all. It is not a statistical error. Averaging the weights of three sites, which is often done, is another
# matter: each site then learns from its own pairs alone.

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
# **What to look at:** the level lines. A partition sends its moments, whose size depends on the columns alone;
# rows grow without end. Left of a crossing moments are *larger* than the rows they stand for: with thousands of
# columns make partitions large, or let ``solver="auto"`` go matrix-free, where a partition sends one vector for
# each product.

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
# The same with a DataFrame; not run here, because starting Spark takes longer than all of this page.
#
# .. code-block:: python
#
#    from mbauc.spark import MBAClassifier, roc_auc_interval
#
#    ranker = MBAClassifier().fit(df, features=names, label="click")
#    scored = df.withColumn("score", ranker.decision_function(df))  # lazy
#    print(roc_auc_interval(scored, "score", label="click"))
#
# The same in a shell
# -------------------
# A model file keeps its moments where columns are few, so that two machines can each train and one of them
# merge:
#
# .. code-block:: bash
#
#    mbauc fit monday.parquet --label click --hash-dim 1000 -o monday.mbauc
#    mbauc fit tuesday.parquet --like monday.mbauc -o tuesday.mbauc
#    mbauc merge monday.mbauc tuesday.mbauc -o both.mbauc
#
# When not to use this
# --------------------
# * **The rows fit on one machine**: a cluster is slower to start than a fit of millions of rows is to finish.
# * **Moments are not anonymous by law**: sums over few rows can give away single ones. Ask your privacy
#   officer, not a library.
# * **Columns learned on each site** (scales, lists of categories) differ, and then moments do not add up: hash,
#   or share one encoding.
#
# Where to go on
# --------------
# :doc:`../user_guide/clusters` has Dask and Spark in full, with memory and times; :doc:`../user_guide/model`
# has merging of model files. Classes: :class:`mbauc.PairMoments`, :class:`mbauc.dask.MBAClassifier`,
# :class:`mbauc.spark.MBAClassifier`, :class:`mbauc.metrics.StreamingAUC`.
