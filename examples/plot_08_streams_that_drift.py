"""
Streams that drift
==================

**Who has this problem.** Rows arrive in batches (an hour of transactions, a day of clicks), the ranker has to
be updated with each, and the data drift: fraudsters change their methods, users their tastes (concept drift).

**What you will have at the end.** A ranker that is updated with each batch and decays old ones, its AUC over
time, a choice of ``decay`` by that AUC, and a sliding window that removes old rows exactly.
"""

from collections import deque

import matplotlib.pyplot as plt
import numpy as np

from mbauc import MBAClassifier, PairMoments
from mbauc.metrics import StreamingAUC

# %%
# A synthetic stream
# ------------------
# 120 batches of 400 rows and 25 columns. The true weights are constant for 40 batches, rotate slowly for 40,
# jump, and are constant again.

rng = np.random.default_rng(0)
before, after = np.linalg.qr(rng.standard_normal((25, 2)))[0].T
angles = np.concatenate([np.zeros(40), np.linspace(0, np.pi / 2, 40), np.full(40, np.pi)])
phases = {"still": slice(5, 40), "turning": slice(40, 80), "after a jump": slice(80, 120)}
stream = []
for angle in angles:
    X = rng.standard_normal((400, 25))
    truth = X @ (np.cos(angle) * before + np.sin(angle) * after)
    y = (1.2 * truth + rng.logistic(size=400) > 3.2).astype(int)
    stream.append((X, y, truth))
print(f"{np.mean([y for _, y, _ in stream]):.1%} of the rows are positive")

# %%
# Test, then train (prequential evaluation)
# -----------------------------------------
# Each batch is first scored by the ranker so far, then used to update it: every row is a test row once.
# ``partial_fit`` updates the moments of all pairs. With ``decay=0.9`` the weight of a batch is multiplied by
# 0.9 with each later batch, an effective memory of ``1 / (1 - decay)`` = 10 batches.
#
# :class:`mbauc.metrics.StreamingAUC` accumulates scores, and its states add up. Scores of different versions
# of a ranker are not on one scale, so probabilities are compared.


def auc_of_batch(y, scores):
    return StreamingAUC(2**14).update(y, scores)


def test_then_learn(decay):
    ranker, tested = MBAClassifier(decay=decay), []
    for X, y, _ in stream:
        if hasattr(ranker, "coef_"):
            tested.append(auc_of_batch(y, ranker.predict_proba(X)[:, 1]))
        ranker.partial_fit(X, y, classes=[0, 1])
    return [None, *tested], ranker


runs = {decay: test_then_learn(decay) for decay in (0.4, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)}
known = [None, *(auc_of_batch(y, truth) for _, y, truth in stream[1:])]
for decay in (1.0, 0.9):
    positives, negatives = runs[decay][1].effective_sample_size_
    print(f"decay={decay}: effective size {positives:.0f} positives, {negatives:.0f} negatives at the end")

# %%
# *What to look at.* The dashed line after batch 40. Without decay the AUC falls during the slow drift, and
# after the jump it is below ½. With ``decay=0.9`` the ranker follows the drift and recovers from the jump in
# some ten batches. On the left, without drift, decay has no benefit.


def auc_over_time(tested):
    return [sum(tested[max(1, k - 4) : k + 1]).auc for k in range(1, len(tested))]


fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(range(1, 120), auc_over_time(known), color="0.5", linestyle=":", label="true scores")
ax.plot(range(1, 120), auc_over_time(runs[1.0][0]), "--", label="decay=1: no decay")
ax.plot(range(1, 120), auc_over_time(runs[0.9][0]), linewidth=2, label="decay=0.9")
for phase, part in phases.items():
    ax.axvline(part.stop, color="0.6", linewidth=0.8)
    ax.text(part.stop - 20, 1.01, phase, ha="center", transform=ax.get_xaxis_transform())
ax.set(xlabel="batch", ylabel="AUC of the last five batches", xlim=(1, 119))
fig.suptitle("AUC while the weights turn and jump")
ax.grid(color="0.9")
ax.legend(loc="lower left")
plt.show()

# %%
# Choose decay
# ------------
# Run candidates side by side on historical batches.
#
# *What to look at.* Each line has its minimum elsewhere. Without drift a longer memory is better; during slow
# drift a short one is noisy and a long one late; after a jump a short one is best. Choose on a part of the
# history that has the changes you expect, and prefer the longer memory if two are about equal.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
memory = [1 / (1 - decay) if decay < 1 else 250 for decay in runs]
names = [f"{size:.3g}\n({decay:g})" for size, decay in zip(memory, runs, strict=True)]
for (phase, part), style in zip(phases.items(), ("o-", "s--", "^-."), strict=True):
    lost = [sum(known[part]).auc - sum(tested[part]).auc for tested, _ in runs.values()]
    ax.plot(memory, lost, style, label=phase)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="effective memory in batches (decay)",
    ylabel="AUC lost against true scores",
)
ax.set_xticks(memory, [*names[:-1], "all\n(1)"])
ax.set_yticks([0.01, 0.03, 0.1, 0.3], ["0.01", "0.03", "0.1", "0.3"])
ax.set_title("what each memory loses")
ax.minorticks_off()
ax.grid(color="0.9")
ax.legend()
plt.show()
overall = {decay: sum(tested[1:]).auc for decay, (tested, _) in runs.items()}
print("decay: AUC of all batches")
print("\n".join(f"{decay:5}: {auc:.3f}" for decay, auc in overall.items()))
print(f"best on this stream: decay={max(overall, key=overall.get)}")

# %%
# Subtract old rows exactly
# -------------------------
# Moments add and subtract. A sliding window of ten batches is the total, plus the new batch, minus the oldest;
# no row is read again.
#
# *What to look at.* Both have a memory of about ten batches, but the window has recovered from the jump after
# ten batches, while decay keeps some weight on older ones.

window, total, tested = deque(), PairMoments(25), [None]
for X, y, _ in stream:
    if window:
        ranker = MBAClassifier().fit_moments(total)
        tested.append(auc_of_batch(y, ranker.predict_proba(X)[:, 1]))
    window.append(PairMoments.from_arrays(X, y))
    total = total + window[-1]
    if len(window) > 10:
        total = total - window.popleft()

last_ten = [np.concatenate(part) for part in zip(*stream[-10:], strict=True)][:2]
gap = np.abs(MBAClassifier().fit_moments(total).coef_ - MBAClassifier().fit(*last_ten).coef_).max()
print(f"weights differ from a fit to the last ten batches by {gap:.0e} at most")

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, run, style in (("decay=0.9", runs[0.9][0], "s--"), ("window of ten batches", tested, "o-")):
    ax.plot(
        range(72, 104), [known[k].auc - run[k].auc for k in range(72, 104)], style, markersize=4, label=name
    )
ax.axvline(80, color="0.6", linewidth=0.8)
ax.set(xlabel="batch (the weights jump at 80)", ylabel="AUC lost against true scores", title="decay and window")
ax.grid(color="0.9")
ax.legend()
plt.show()

# %%
# In a terminal
# -------------
# .. code-block:: bash
#
#    mbauc fit history.parquet --label click --decay 0.99 -o model.mbauc      # for each block of 65,536 rows
#    mbauc update model.mbauc today.parquet --decay 0.9 -o model.mbauc --force   # each day
#
# When not to use it
# ------------------
# * **No drift**: decay only discards rows.
# * **Periodic changes** (hours, weekdays, seasons): make them features.
# * **Only the share of positives changes**: AUC does not depend on it; recalibrate the probabilities.
# * **More than some 10,000 columns**: memory grows with the square of the columns; refit from files instead.
# * **Batches at uneven times**: ``decay`` counts calls. Use ``moments.decayed(0.99**hours) +
#   PairMoments.from_arrays(X, y)``.
#
# Where to go on
# --------------
# :doc:`../user_guide/estimators`: streams; :doc:`../user_guide/commands` and :doc:`../user_guide/model`:
# updates of model files. Classes: :class:`mbauc.MBAClassifier`, :class:`mbauc.PairMoments`,
# :class:`mbauc.metrics.StreamingAUC`.
