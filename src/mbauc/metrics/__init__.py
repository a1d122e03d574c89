"""How good a ranking is, and how sure one can be of it."""

from mbauc.metrics.bootstrap import roc_auc_bootstrap
from mbauc.metrics.d_prime import d_prime
from mbauc.metrics.delong import AucComparison, AucInterval, compare_roc_auc, roc_auc_interval
from mbauc.metrics.holm import holm
from mbauc.metrics.partial import partial_roc_auc, partial_roc_auc_interval
from mbauc.metrics.probabilities import calibration_error, log_loss, normalized_entropy
from mbauc.metrics.rank_tests import RankTests, rank_tests
from mbauc.metrics.roc_auc import roc_auc
from mbauc.metrics.significance import PairedTest, WinTieLoss, paired_t_test, win_tie_loss
from mbauc.metrics.streaming import StreamingAUC
from mbauc.metrics.unpaired import AucDifference, compare_roc_auc_unpaired

__all__ = [
    "AucComparison",
    "AucDifference",
    "AucInterval",
    "PairedTest",
    "RankTests",
    "StreamingAUC",
    "WinTieLoss",
    "calibration_error",
    "compare_roc_auc",
    "compare_roc_auc_unpaired",
    "d_prime",
    "holm",
    "log_loss",
    "normalized_entropy",
    "paired_t_test",
    "partial_roc_auc",
    "partial_roc_auc_interval",
    "rank_tests",
    "roc_auc",
    "roc_auc_bootstrap",
    "roc_auc_interval",
    "win_tie_loss",
]
