import bz2

import pytest

from mbauc import AdditiveAUCClassifier
from mbauc.metrics import roc_auc
from mbauc.paper.datasets import load


@pytest.mark.data
@pytest.mark.slow
def test_ijcnn_is_ranked_by_interactions(shared_file, monkeypatch):
    monkeypatch.setenv("MBAUC_DATA", str(shared_file("ijcnn1.bz2").parent))
    data = load("ijcnn")
    ranker = AdditiveAUCClassifier(random_state=0).fit(data.X, data.y)
    assert ranker.features_ == "interactions"
    assert roc_auc(data.y_test, ranker.decision_function(data.X_test)) > 0.98


@pytest.mark.data
def test_mammography_is_ranked_better_by_curves_than_by_lines(shared_file):
    from sklearn.datasets import load_svmlight_file

    with bz2.open(shared_file("mammography.bz2")) as stream:
        X, y = load_svmlight_file(stream)
    X = X.toarray()
    aucs = {
        kind: roc_auc(
            y[1::2], AdditiveAUCClassifier(kind, random_state=0).fit(X[::2], y[::2]).decision_function(X[1::2])
        )
        for kind in ("linear", "curves")
    }
    assert aucs["curves"] > aucs["linear"] + 0.01
