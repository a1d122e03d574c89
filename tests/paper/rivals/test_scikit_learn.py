import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression


@pytest.mark.filterwarnings("ignore:The smaller class has")
@parametrize_with_checks(
    [
        OnlineLogisticRegression(),
        FTRLProximal(),
        OAM(),
        OAM(update="gradient"),
        OPAUC(),
        OPAUC(rank=3),
        AdaOAM(),
        AdaOAM(l1=0.01),
        MiniBatchPairwise(),
        MiniBatchPairwise("hinge", pairing="complete"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
