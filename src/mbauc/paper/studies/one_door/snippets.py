"""The methods as the few lines that a user writes: these texts are what is run, timed and counted."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.studies.tables.methods import EBM, LIGHTGBM, Method, make_brief_ebm
from mbauc.paper.study import Record

#: Seconds after which EBM is stopped.
EBM_SECONDS = 240.0


class Snippet(NamedTuple):
    """Lines of Python: ``X``, ``y`` and ``X_test`` in, ``scores`` out."""

    imports: str
    fit: str
    score: str

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self)

    @property
    def lines(self) -> int:
        """Lines besides imports."""
        return len([*self.fit.splitlines(), *self.score.splitlines()])


class Scripted:
    """A classifier of a snippet: ``fit`` runs the lines up to the fit, ``decision_function`` the others."""

    def __init__(self, snippet: Snippet, seed: int) -> None:
        self._snippet, self._seed = snippet, seed
        self._names: dict[str, Any] = {}

    def fit(self, X: Any, y: NDArray[np.int64]) -> Scripted:
        """Run the lines that learn."""
        # who sets no seed draws from this one
        np.random.seed(self._seed)  # noqa: NPY002
        self._names = {"X": X, "y": y}
        exec(f"{self._snippet.imports}\n{self._snippet.fit}", self._names)
        return self

    def decision_function(self, X_test: Any) -> NDArray[np.float64]:
        """Run the lines that score."""
        self._names["X_test"] = X_test
        exec(self._snippet.score, self._names)
        return np.asarray(self._names["scores"], dtype=np.float64)

    def record(self) -> Record:
        """What a TableRanker took the columns for and chose; nothing of others."""
        plan = getattr(self._names["model"], "plan_", None)
        if plan is None:
            return {}
        columns = [(column.name, column.kind, column.why) for column in plan.columns if column.kind != "label"]
        choice = self._names["model"].model_.trained_on.get("choice", "")
        return {"plan": json.dumps(columns), "choice": " ".join(choice.split())}


RANKER, UNTESTED = "table-ranker", "table-ranker-untested"
_RANKER = Snippet(
    "from mbauc import TableRanker",
    "model = TableRanker()\nmodel.fit(X, y)",
    "scores = model.decision_function(X_test)",
)
_SKRUB = "from skrub import tabular_pipeline"
_PROBABILITIES = "scores = model.predict_proba(X_test)[:, 1]"
SNIPPETS = {
    RANKER: _RANKER,
    UNTESTED: _RANKER._replace(fit="model = TableRanker(hold_out=0)\nmodel.fit(X, y)"),
    LIGHTGBM: Snippet(
        "from lightgbm import LGBMClassifier",
        'texts = dict.fromkeys(X.select_dtypes(exclude="number"), "category")\n'
        # it refuses names such as "Unnamed: 0"
        "prepare = lambda X: X.astype(texts).set_axis(range(X.shape[1]), axis=1)\n"
        "model = LGBMClassifier()\n"
        "model.fit(prepare(X), y)",
        "scores = model.predict_proba(prepare(X_test))[:, 1]",
    ),
    EBM: Snippet(
        "from interpret.glassbox import ExplainableBoostingClassifier",
        "model = ExplainableBoostingClassifier()\nmodel.fit(X, y)",
        _PROBABILITIES,
    ),
    "skrub-logistic": Snippet(
        f"{_SKRUB}\nfrom sklearn.linear_model import LogisticRegression",
        "model = tabular_pipeline(LogisticRegression())\nmodel.fit(X, y)",
        _PROBABILITIES,
    ),
    "skrub-boosting": Snippet(
        _SKRUB,
        'model = tabular_pipeline("classification")\nmodel.fit(X, y)',
        _PROBABILITIES,
    ),
}


def _scripted(key: str, name: str, requires: str, **more: Any) -> Method:
    return Method(key, name, partial(Scripted, SNIPPETS[key]), requires=requires, **more)


METHODS = {
    method.key: method
    for method in (
        _scripted(RANKER, "TableRanker", "mbauc:TableRanker"),
        _scripted(UNTESTED, "TableRanker, hold_out=0", "mbauc:TableRanker"),
        _scripted(LIGHTGBM, "LightGBM", "lightgbm"),
        _scripted(EBM, "EBM", "interpret", warm_up=make_brief_ebm, most_seconds=EBM_SECONDS),
        _scripted("skrub-logistic", "skrub, logistic regression", "skrub"),
        _scripted("skrub-boosting", "skrub, boosting", "skrub"),
    )
}
