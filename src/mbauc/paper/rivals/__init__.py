"""The algorithms that the MBA paper compares with, as scikit-learn classifiers in their own right.

==================================  ==================  =================  ==================================
class                               the paper's name    loss               cost a row of k entries, d columns
==================================  ==================  =================  ==================================
:class:`OnlineLogisticRegression`   OLR, ONLR           logistic           O(k)
:class:`FTRLProximal`               SOLR                logistic           O(k)
:class:`OAM`                        OAM                 pairwise hinge     O(B k), buffers of B rows
:class:`OPAUC`                      OPAUC               pairwise squared   O(d²), or O(d τ) with rank τ
:class:`AdaOAM`                     AdaAUC              pairwise squared   O(d²), or O(d τ) with rank τ
:class:`MiniBatchPairwise`          MB-PSL, MB-PHL      any of Eq. (7)     O(k)
==================================  ==================  =================  ==================================
"""

from mbauc.paper.rivals.ada_oam import AdaOAM
from mbauc.paper.rivals.ftrl_proximal import FTRLProximal
from mbauc.paper.rivals.mini_batch_pairwise import MiniBatchPairwise
from mbauc.paper.rivals.oam import OAM
from mbauc.paper.rivals.online_logistic_regression import OnlineLogisticRegression
from mbauc.paper.rivals.opauc import OPAUC

__all__ = ["OAM", "OPAUC", "AdaOAM", "FTRLProximal", "MiniBatchPairwise", "OnlineLogisticRegression"]
