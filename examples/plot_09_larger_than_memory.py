"""
Files larger than memory, and kill -9
=====================================

**Who has this problem:** the training rows are in files that do not fit into memory, or the job runs in a
container with a hard limit, on a machine that may be taken away in the middle.

**What you will have at the end:** a fit that stays within a limit of memory however many rows there are, a
picture that shows it, and a job that was killed by ``SIGKILL`` and resumed to exactly the weights of a run that
nobody disturbed.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mbauc import MBAClassifier
from mbauc.paper.clicks import ClickLog
from mbauc.readers import TableSource
from mbauc.runtime.memory import own_memory

# %%
# A folder of files
# -----------------
# A small log serves to show it, with a limit that is smaller still: 64 MB. With your files, only the numbers
# change. The columns are hashed (:doc:`plot_07_click_logs` says why), so that nothing has to be learned before
# the fit.

folder = Path(tempfile.mkdtemp())
(folder / "log").mkdir()
log = ClickLog(400_000, shape="criteo")
for k in range(4):
    log[100_000 * k : 100_000 * (k + 1)].write_parquet(folder / "log" / f"part-{k}.parquet", verbose=False)


def open_log(name="log"):
    return TableSource(folder / name, label="label", hash_dim=2**16, block_rows=16_384)


source = open_log()
print(f"{source.n_features:,} columns; as a sparse matrix the rows take {400_000 * 39 * 12 / 1e6:,.0f} MB")

# %%
# Memory stays flat
# -----------------
# Any object with ``n_features``, ``classes`` and blocks ``(X, y, weight)`` to iterate over is a source. This
# one passes on the blocks of another and notes what the process holds at each of them. A first fit, to one
# file, loads what libraries load once.


class Watched:
    def __init__(self, source):
        self.source, self.n_features, self.classes = source, source.n_features, source.classes
        self.rows, self.held = [0], [own_memory() / 1e6]

    def __iter__(self):
        for block in self.source:
            self.rows.append(self.rows[-1] + block.y.size)
            self.held.append(own_memory() / 1e6)
            yield block


MBAClassifier(l2=0.003).fit_source(open_log("log/part-0.parquet"), memory="64MB")
watched = {"fit_source(memory='64MB')": Watched(source)}
ranker = MBAClassifier(l2=0.003).fit_source(watched["fit_source(memory='64MB')"], memory="64MB")
watched["all rows kept in memory"] = Watched(source)
blocks = list(watched["all rows kept in memory"])  # what a fit in memory begins with

# %%
# **What to look at:** the slopes. Rows that are kept take more with every block. ``fit_source`` packs rows to a
# few bytes an entry, and once they no longer fit, moves all of them to a temporary file; its line stays where
# it is, however many rows follow. The limit is what the process may grow by, give or take 32 MB. Below zero,
# memory that was free before has been given back.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, seen), style in zip(watched.items(), ("-", "--"), strict=True):
    ax.plot(np.array(seen.rows) / 1e3, np.array(seen.held) - seen.held[0], style, linewidth=2, label=name)
ax.axhspan(64, 96, color="0.85", label="limit, and 32 MB of tolerance")
ax.set(xlabel="thousand rows read", ylabel="growth of the process (MB)", xlim=(0, 400))
ax.set_title("memory while rows are read")
ax.grid(color="0.9")
ax.legend(loc="upper left")
plt.show()
del blocks

# %%
# How often files are read
# ------------------------
# Reading takes most of the time, so passes matter more than arithmetic. Solvers do not come back to the files,
# they sweep over the packed rows. A number of ``pairs`` takes two passes, one for labels and one for the rows
# that are drawn. What is more than a whole number is a look at the first rows.

for estimator in (MBAClassifier(l2=0.003), MBAClassifier(l2=0.003, pairs=20_000, random_state=0)):
    part = Watched(open_log("log/part-0.parquet"))
    estimator.fit_source(part)
    print(f"pairs={estimator.pairs!r}: files read {part.rows[-1] / 100_000:.1f} times")

# %%
# Kill it
# -------
# With a ``checkpoint`` the packed rows and the states of the solver go to a folder. We start this job as a
# process of its own, and kill it once about half of the rows are there. Then the *same* job is started again.

job = """
import numpy as np
from mbauc import MBAClassifier
from mbauc.readers import TableSource

source = TableSource("log", label="label", hash_dim=2**16, block_rows=16_384)
ranker = MBAClassifier(l2=0.003).fit_source(source, memory="64MB", checkpoint="state")
np.save("weights.npy", ranker.coef_)
"""
(folder / "job.py").write_text(job)


def run_job(kill_at=np.inf):
    """Bytes in the checkpoint as time goes by, and the exit code."""
    process, began, seen = subprocess.Popen([sys.executable, "job.py"], cwd=folder), time.perf_counter(), []
    while process.poll() is None:
        saved = sum(path.stat().st_size for path in (folder / "state").glob("rows.cache*"))
        seen.append((time.perf_counter() - began, saved / 1e6))
        if saved > kill_at:
            process.kill()  # SIGKILL: the process cannot say good-bye
        time.sleep(0.01)
    return np.array(seen), process.returncode


killed, code = run_job(kill_at=16e6)
print(f"exit code {code}; left in the folder:")
print("\n".join(f"   {path.name}" for path in sorted((folder / "state").iterdir())))
resumed, code = run_job()
same = np.array_equal(np.load(folder / "weights.npy"), ranker.coef_)
print(f"exit code {code}; the same weights to the bit: {same}")

# %%
# **What to look at:** the second line begins where the first one ended. Its level stretch is the check that the
# files are still the same: blocks that are in the checkpoint are read and compared, not packed again. Had a
# file changed, the job would have stopped with an error rather than mix two data sets. At the end both lines
# are one fit.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(*killed.T, color="tab:orange", linewidth=2, label="first run")
ax.plot(*killed[-1], "X", color="black", markersize=11, label="kill -9")
resumed[:, 0] += killed[-1, 0]
ax.plot(*resumed.T, color="tab:blue", linewidth=2, linestyle="--", label="second run")
ax.axvline(killed[-1, 0], color="0.6", linewidth=0.8)
ax.set(xlabel="seconds (start of Python and imports included)", ylabel="rows in the checkpoint (MB)")
ax.set_title("a fit that is killed and goes on")
ax.grid(color="0.9")
ax.legend(loc="upper left")
plt.show()

# %%
# The same in a shell
# -------------------
# .. code-block:: bash
#
#    mbauc fit log/ --label label --encode hash --hash-dim 65536 --memory 1GB --checkpoint state -o model.mbauc
#
# Here ``--memory`` is what the whole process may take, Python and libraries included, as a container counts it.
#
# When not to use this
# --------------------
# * **The rows fit into memory**: ``fit(X, y)`` has more to offer, such as scikit-learn's splitters, and no file
#   is parsed twice.
# * **Jobs of a few seconds** need no checkpoint: a resumed run reads the files again to compare them.
# * **A limit below what Python and its libraries take**: ``mbauc fit`` refuses it before any row is read, and
#   says what is needed.
# * **Losses other than the squared one** keep some numbers for each row in memory, wherever the rows are.
# * **Network drives**: keep the checkpoint on a local disk; renames and locks may mean less elsewhere.
#
# Where to go on
# --------------
# :doc:`../user_guide/scale` has the costs and the file formats, :doc:`../user_guide/reliability` what is
# promised when things go wrong, :doc:`../user_guide/data` how to write a source,
# :doc:`plot_10_laptop_to_cluster` more than one machine. Classes: :class:`mbauc.MBAClassifier`,
# :class:`mbauc.readers.TableSource`.
