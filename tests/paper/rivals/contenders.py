"""Every rival in every variant, with settings of its own, so that no test depends on defaults."""

import pickle

import numpy as np
from scipy import sparse as sp
from sklearn.base import clone

from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression

CLASSES = [OnlineLogisticRegression, FTRLProximal, OAM, OPAUC, AdaOAM, MiniBatchPairwise]
WALKING = {
    "logistic": OnlineLogisticRegression(0.5, l2=0.01, random_state=0),
    "logistic auto": OnlineLogisticRegression("auto", random_state=0),
    "ftrl": FTRLProximal(0.3, 1.0, lambda_1=0.5, lambda_2=0.1, random_state=0),
    "oam sequential": OAM(0.05, update="sequential", buffer_size=20, random_state=0),
    "oam gradient": OAM(0.01, update="gradient", buffer_size=20, random_state=0),
    "opauc": OPAUC(0.05, l2=0.01, learning_rate="constant", random_state=0),
    "opauc auto": OPAUC("auto", l2=0.01, random_state=0),
    "opauc sketched": OPAUC(0.05, rank=3, random_state=0),
    "opauc uncentred": OPAUC(0.05, rank=3, centred=False, random_state=0),
    "ada": AdaOAM(0.1, l2=0.01, random_state=0),
    "ada sketched": AdaOAM(0.1, l1=0.01, rank=3, random_state=0),
}
DRAWING = {
    "squared": MiniBatchPairwise("squared", eta0=0.1, batch_size=8, l2=0.01, random_state=0),
    "squared complete": MiniBatchPairwise(
        "squared", eta0="auto", batch_size=8, pairing="complete", random_state=0
    ),
    "hinge": MiniBatchPairwise(
        "hinge", eta0=0.1, batch_size=8, learning_rate="constant", l2=0.01, random_state=0
    ),
    "logistic pairs": MiniBatchPairwise("logistic", eta0=0.1, batch_size=8, pairing="complete", random_state=0),
    "exponential": MiniBatchPairwise("exponential", eta0=0.01, batch_size=8, random_state=0),
}
EVERY = WALKING | DRAWING


def fresh(name, **settings):
    """A new rival by name, some settings changed."""
    return clone(EVERY[name]).set_params(**settings)


def assert_agree(actual, expected, tol=1e-10):
    """Equal but for rounding, beside the largest of them."""
    actual, expected = np.ravel(actual), np.ravel(expected)
    assert actual.shape == expected.shape
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tol * np.abs(expected).max())


def mean_of_passes(losses, passes):
    """What ``loss_curve_`` should be."""
    return np.reshape(losses, (passes, -1)).mean(axis=1)


def halfway(w, X, y):
    """Minus the score in the middle between two class means."""
    return -(X[y == 1].mean(axis=0) + X[y == 0].mean(axis=0)) @ np.ravel(w) / 2


def dense_and_sparse(X):
    """The two forms that rows are read in."""
    return X, sp.csr_array(X)


def snapshot(estimator):
    """All that a fitted estimator knows, as bytes."""
    return pickle.dumps({**vars(estimator), "coef_": estimator.coef_, "t_": estimator.t_})
