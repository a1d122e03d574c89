"""
Files larger than memory, checkpoints and resume
================================================

**Who has this problem.** The training files do not fit into memory, or the job runs in a container with a
memory limit, on a machine that may be preempted.

**What you will have at the end.** A fit within a memory limit, whatever the number of rows, a plot of its
memory, and a job that is killed by ``SIGKILL`` and resumes to bit-identical weights.
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
# A small log, and a limit that is smaller still: 64 MB. The columns are hashed (:doc:`plot_07_click_logs`), so
# no encoding has to be learned before the fit.

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
# Memory against rows
# -------------------
# Any object with ``n_features``, ``classes`` and an iterator over blocks ``(X, y, weight)`` is a source. This
# one records the memory of the process at each block of another source. A first fit, to one file, warms up the
# libraries.


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
# *What to look at.* The slopes. Blocks that are kept in memory take more with every block. ``fit_source``
# stores rows in a compact form and moves them to a temporary file once they exceed the limit; its memory then
# stays constant. The limit is on the growth of the process, to within 32 MB. Values below zero are memory that
# was returned to the system.

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
# Reading takes most of the time, so the number of passes over the files matters. Solvers iterate over the
# compact rows, not over the files. Sampled ``pairs`` take two passes, one for labels and one for the sampled
# rows. Fractions of a pass are the first rows, read to infer types.

for estimator in (MBAClassifier(l2=0.003), MBAClassifier(l2=0.003, pairs=20_000, random_state=0)):
    part = Watched(open_log("log/part-0.parquet"))
    estimator.fit_source(part)
    print(f"pairs={estimator.pairs!r}: files read {part.rows[-1] / 100_000:.1f} times")

# %%
# Kill and resume
# ---------------
# With a ``checkpoint`` folder, the compact rows and the states of the solver are stored. This job runs in a
# process of its own and is killed after about half of the rows. Then the *same* job is started again.

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
# *What to look at.* The second line begins where the first one ended. In its flat part, blocks that are in the
# checkpoint are read and compared. If a file had changed, the job would stop with an error.

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
# In a terminal
# -------------
# .. code-block:: bash
#
#    mbauc fit log/ --label label --encode hash --hash-dim 65536 --memory 1GB --checkpoint state -o model.mbauc
#
# Here ``--memory`` limits the whole process, Python and libraries included, as a container does.
#
# When not to use it
# ------------------
# * **The rows fit into memory**: ``fit(X, y)`` has more options, such as scikit-learn's splitters.
# * **Jobs of a few seconds** need no checkpoint: a resumed run reads the files again to compare them.
# * **Losses other than the squared one**: they keep up to 140 bytes for each row in memory.
# * **Network drives**: keep the checkpoint on a local disk; renames and locks may be weaker elsewhere.
#
# Where to go on
# --------------
# :doc:`../user_guide/scale`: solvers, memory and checkpoints; :doc:`../user_guide/reliability`: guarantees
# after crashes; :doc:`../user_guide/data`: sources; :doc:`plot_10_laptop_to_cluster`: more than one machine.
# Classes: :class:`mbauc.MBAClassifier`, :class:`mbauc.readers.TableSource`.
