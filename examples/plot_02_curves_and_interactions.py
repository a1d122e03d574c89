"""
Curves and interactions that you can read
=========================================

**Who has this problem.** You need a score that people can check: a credit score, a risk of relapse, a churn
score. Logistic regression is interpretable but linear: ten more years of age always count the same. Boosted
trees fit nonlinear effects but are not interpretable.

**What you will have at the end.** An :class:`mbauc.AdditiveAUCClassifier` (a generalised additive model): a
curve for each column, heat maps of interactions, confidence bands, and a paired test against logistic
regression.
"""

# %%
# Loans
# -----
# A synthetic table, whose true effects are known. Risk is high for the young and the old. A loan that is a
# large share of the price of the house is risky if the rate is variable, and not if it is fixed. Some incomes
# are missing.
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
# Texts and missing values need no encoding. The ranker selects linear terms, curves, or curves with
# interactions by held-out AUC; ``choice_`` gives the reason.
ranker = AdditiveAUCClassifier(random_state=0).fit(loans[train], defaulted[train])
print(textwrap.fill(ranker.choice_, 84))

# %%
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.4))
for ax, column in zip(axes, ["age", "income", "late_before"], strict=True):
    CurveDisplay.from_estimator(ranker, column, ax=ax)
fig.suptitle("what three columns add to the log-odds of a default")
plt.show()

# %%
# *What to look at.* **Shape**: the effect of age is U-shaped, as simulated. **Height** is in log-odds: +0.69
# doubles the odds of a default. **Band**: the pointwise 95% interval, given the penalties. It is wide where
# there are few rows (the grey bars). **Missing values** have a level of their own, to the right of the line;
# nothing is imputed. Columns with **few values** are drawn as points.
#
# The interaction
# ---------------
# A heat map shows what two columns add together *beyond* their curves.
fig, ax = plt.subplots(figsize=(8, 3))
InteractionDisplay.from_estimator(ranker, ("loan_share", "rate"), ax=ax)
ax.set_title("what share and rate add together")
plt.show()

# %%
# *What to look at.* Blue raises the score, brown lowers it, and bold numbers mark cells more than two
# standard errors from zero. With a variable rate the risk rises faster with the share of the loan than its
# curve does, with a fixed rate slower. Colours that change at random from cell to cell would be noise.
#
# Feature importance
# ------------------
# Bars are the standard deviation of a column's contribution over the rows. The numbers on the right are the
# change of the test AUC without that contribution.
fig, ax = plt.subplots(figsize=(7, 2.8))
ImportanceDisplay.from_estimator(ranker, loans[test], defaulted[test], ax=ax)
plt.show()

# %%
# *What to look at.* Whether bars and numbers agree. A long bar with little loss of AUC belongs to a column that
# moves rows which are ranked well without it, or that is correlated with others. The job has no true effect.
#
# Compare with logistic regression
# --------------------------------
# Logistic regression in a scikit-learn pipeline, curves alone, and the selected model, on the same test rows
# (paired DeLong test).
numbers, texts = ["age", "income", "loan_share", "late_before"], ["job", "rate"]
line = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), texts),
    ),
    LogisticRegression(),
).fit(loans[train], defaulted[train])
curves = AdditiveAUCClassifier("curves", random_state=0).fit(loans[train], defaulted[train])
rankers = {"curves + interactions": ranker, "curves": curves, "logistic regression": line}
compared = compare_roc_auc(
    defaulted[test], {name: one.decision_function(loans[test]) for name, one in rankers.items()}
)
print(compared)

# %%
# If the interval of a difference contains zero, take the simpler model.
#
# In a terminal
# -------------
# .. code-block:: sh
#
#    mbauc fit loans.csv --label defaulted -o loans.mbauc     # selects as above; or --features curves
#    mbauc inspect loans.mbauc --plots pictures               # all curves and heat maps, as PNG and SVG
#
# When not to use it
# ------------------
# - Where three or more columns interact and only the AUC counts: boosted trees may rank better
#   (:doc:`measured </results/tables>`).
# - To find causes. A curve shows how the score changes along a column with all other columns fixed.
# - As a band for the whole curve: it is pointwise (:doc:`measured coverage </user_guide/curves>`).
#
# Where to go on
# --------------
# - :doc:`/user_guide/curves`: levels, missing values, penalties, all settings.
# - :doc:`plot_01_imbalanced_table`: the same model by :class:`mbauc.TableRanker`, with files and a report.
# - :doc:`plot_06_comparing_two_models`: the paired test in detail.
