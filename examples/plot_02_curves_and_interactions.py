"""
Curves and interactions that you can read
=========================================

**Who has this problem.** You need a score that people can check: a credit score, a risk of relapse, a reason
to call a customer. Logistic regression can be read, but a straight line says that ten more years always count
the same. Trees follow the data, but nobody can read them.

**What you will have at the end.** An :class:`mbauc.AdditiveAUCClassifier`: a curve for each column, a heat
map where two columns act together, bands that say how sure each height is, and a paired test of whether all
of that ranks better than straight lines do.
"""

# %%
# Loans
# -----
# A made-up table, so that we know the truth. Risk is high for the young and the old. A large share of the
# loan in the price of the house is risky where the rate is variable, and harmless where it is fixed. Incomes
# have gaps.
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mbauc import AdditiveAUCClassifier
from mbauc.metrics import compare_roc_auc
from mbauc.plots import CurveDisplay, ImportanceDisplay, InteractionDisplay

plt.rcParams["figure.constrained_layout.use"] = True

rng = np.random.default_rng(0)
n = 24_000
loans = pd.DataFrame(
    {
        "age": rng.integers(19, 75, n).astype(float),
        "income": np.round(rng.lognormal(10.3, 0.6, n), -2),
        "loan_share": np.round(1.2 * rng.beta(2, 4, n), 3),
        "late_before": rng.poisson(0.4, n).astype(float),
        "job": rng.choice(["employee", "retired", "self-employed", "student"], n, p=[0.6, 0.15, 0.2, 0.05]),
        "rate": rng.choice(["fixed", "variable"], n, p=[0.6, 0.4]),
    }
)
risk = (
    -4.8
    + 0.8 * ((loans["age"] - 48) / 16) ** 2
    - 0.6 * (np.log(loans["income"]) - 10.3)
    + 0.6 * loans["late_before"].clip(upper=2)
    + 7.0 * loans["loan_share"] * (loans["rate"] == "variable")
)
defaulted = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int).to_numpy()
loans.loc[rng.random(n) < 0.08, "income"] = np.nan
train, test = slice(0, 16_000), slice(16_000, None)
print(f"{defaulted.mean():.1%} of {n:,} loans defaulted")

# %%
# Fit, and look at the curves
# ---------------------------
# Texts and gaps go in as they are. The ranker chooses between straight lines, curves, and curves with
# interactions by held-out AUC, and ``choice_`` says why.
ranker = AdditiveAUCClassifier(random_state=0).fit(loans[train], defaulted[train])
print(textwrap.fill(ranker.choice_, 84))

# %%
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.4))
for ax, column in zip(axes, ["age", "income", "late_before"], strict=True):
    CurveDisplay.from_estimator(ranker, column, ax=ax)
fig.suptitle("what three columns add to the log-odds of a default")
plt.show()

# %%
# *What to look at.* **Shape**: age has the U that we put in, for which no straight line is right. **Height**
# is in log-odds: +0.69 doubles the odds of a default. **Band**: the 95% interval of each height by itself,
# given the penalties. It is wide where the grey bars, the rows, are low. **Missing values** have a height of
# their own, to the right of the line; nothing was imputed. **Few values** are points, because there is
# nothing between them.
#
# The interaction
# ---------------
# A heat map shows what two columns add together *beyond* both of their curves.
fig, ax = plt.subplots(figsize=(8, 3))
InteractionDisplay.from_estimator(ranker, ("loan_share", "rate"), ax=ax)
ax.set_title("what share and rate add together")
plt.show()

# %%
# *What to look at.* Blue raises the score, brown lowers it, and bold numbers mark cells more than two
# standard errors from zero. With a variable rate the risk rises faster with the share of the loan than the
# curve of that share says, with a fixed rate slower. A map whose colours change at random from cell to cell
# would say nothing.
#
# What matters
# ------------
# The bars tell how much a column moves a typical row. The figures on the right tell how the AUC of the test
# rows changes when a column adds the same to every row.
fig, ax = plt.subplots(figsize=(7, 2.8))
ImportanceDisplay.from_estimator(ranker, loans[test], defaulted[test], ax=ax)
plt.show()

# %%
# *What to look at.* Whether bars and figures agree. A long bar that costs little AUC moves rows that are
# ranked well already, or is doubled by other columns. The job was made without any effect.
#
# Is it better than straight lines?
# ---------------------------------
# Logistic regression as one would write it, curves alone, and what was chosen, on the same test rows. The
# test is paired: scores of the same rows go up and down together.
numbers, texts = ["age", "income", "loan_share", "late_before"], ["job", "rate"]
line = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), texts),
    ),
    LogisticRegression(),
).fit(loans[train], defaulted[train])
curves = AdditiveAUCClassifier("curves", random_state=0).fit(loans[train], defaulted[train])
rankers = {"curves + interactions": ranker, "curves": curves, "straight lines": line}
compared = compare_roc_auc(
    defaulted[test], {name: one.decision_function(loans[test]) for name, one in rankers.items()}
)
print(compared)

# %%
# If the interval of a difference holds zero, take the simpler one: it is easier to explain, and you have no
# evidence against it.
#
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc fit loans.csv --label defaulted -o loans.mbauc     # chooses as above; --features curves insists
#    mbauc inspect loans.mbauc --plots pictures               # all curves and heat maps, as PNG and SVG
#
# When not to use it
# ------------------
# - Where straight lines rank as well. Then ``features="auto"`` takes them by itself.
# - Where three or more columns act together and only the AUC counts: trees may be ahead (:doc:`measured
#   </results/tables>`).
# - To find causes. A curve says how the score changes along a column, with all others as they are.
# - To read the band as one of the whole curve: :doc:`how often it holds </user_guide/curves>` was measured.
#
# Where to go on
# --------------
# - :doc:`/user_guide/curves`: levels, gaps, penalties, all settings.
# - :doc:`plot_01_imbalanced_table`: the same curves with files and a report, by :class:`mbauc.TableRanker`.
# - :doc:`plot_06_comparing_two_models`: the paired test in detail.
