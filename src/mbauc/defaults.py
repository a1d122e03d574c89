"""Defaults of one job that Python and the command line share: both take them from here."""

from typing import Final, Literal, get_args

#: How the columns of a table become numbers; see :class:`mbauc.readers.TableSource`.
ENCODE: Final = "hash"
MISSING: Final = "category"
SCALE: Final = "standard"
HASH_DIM, SIGNED, MAX_CATEGORIES = 10_000, False, 1_000
#: What a column may be said to be.
COLUMN_KINDS = ("numeric", "category", "text", "time", "day-first", "month-first", "group", "id", "ignore")
#: Rows that are read at a time.
BLOCK_ROWS = 65_536
#: Share of the rows that a training holds out to test on, and the seed of what it draws.
HOLD_OUT, SEED = 0.2, 0
#: Folds of a cross-validation that is asked for without a number.
FOLDS = 5
#: Rows that curves are chosen on, at most, and bins of a curve; see :class:`mbauc.AdditiveAUCClassifier`.
SEARCH_ROWS, BINS = 50_000, 64
#: Kinds of features that can be asked for there.
FeatureChoice = Literal["auto", "linear", "curves", "interactions", "fourier"]
FEATURES = get_args(FeatureChoice)
#: Loss of curves of tables: chosen, where all rows fit into the search.
TABLE_LOSS = "auto"
#: Name of the loss of rows, not of pairs: that of logistic regression.
LOG_LOSS = "log_loss"
