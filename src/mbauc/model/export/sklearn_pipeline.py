"""A model as a fitted scikit-learn pipeline that takes tables with the raw columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from mbauc.features.table_encoder import TableEncoder
from mbauc.model.layout import TableLayout
from mbauc.model.model import RankerModel


def to_sklearn(model: RankerModel) -> Any:
    r"""Convert a model to a fitted scikit-learn estimator with the same scores, up to rounding.

    For tables the result is a ``Pipeline`` with the steps ``columns`` and ``ranker`` that takes the raw
    columns; for LIBSVM text it is the ranker alone. The ranker is an :class:`mbauc.MBAClassifier`; if the model
    has a threshold it is wrapped in a ``FixedThresholdClassifier``, so that ``predict`` uses the threshold
    instead of 0. The result can be pickled (loading it needs mbauc), and ``clone`` gives an unfitted copy with
    the same columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from mbauc import MBAClassifier
    >>> from mbauc.readers import TableSource
    >>> from mbauc.model import RankerModel
    >>> from mbauc.model.export import to_sklearn
    >>> path = pathlib.Path(tempfile.mkdtemp(), "clicks.csv")
    >>> _ = path.write_text("click,site,bid\n0,a,0.5\n1,b,1.5\n0,a,0.7\n0,c,1.0\n1,b,1.1\n")
    >>> source = TableSource(path, label="click")
    >>> ranker = MBAClassifier(l2=0.1).fit_source(source)
    >>> model = RankerModel.of(ranker, source.layout, source.classes)
    >>> to_sklearn(model).predict(pd.DataFrame({"site": ["b", "a"], "bid": [2.0, 0.1]}))
    array([1, 0])
    """
    ranker: Any = model.estimator()
    if model.threshold is not None:
        # it takes scores from its threshold on, ours raises the alarm above: the next number is the first such
        above = float(np.nextafter(model.cut, np.inf))
        fitted = ranker
        ranker = FixedThresholdClassifier(
            fitted, threshold=above, pos_label=fitted.classes_[1], response_method="decision_function"
        )
        ranker.estimator_ = fitted
    if not isinstance(model.layout, TableLayout):
        return ranker
    return Pipeline([("columns", TableEncoder(encoding=model.layout.encoding)), ("ranker", ranker)])
