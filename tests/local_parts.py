"""The engine that tests run on without an engine: parts are lists, and jobs are loops that are counted."""

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np

from mbauc.estimators.parts_classifier import ClusterClassifier, ClusterRows
from mbauc.estimators.parts_classifier_cv import ClusterClassifierCV
from mbauc.metrics.rank_sums import RankSums
from mbauc.metrics.ranked import RankedScores
from mbauc.rows.matrix import is_sparse
from mbauc.rows.part_rows import Layout
from mbauc.rows.parts import PartBlock


class LocalParts:
    """Parts in memory, each a list of items; see :class:`mbauc.rows.parts.Parts`.

    Tasks and results are pickled, as on the way to a worker and back, and every part is read from an iterator,
    as Spark hands it over.

    Attributes
    ----------
    jobs : list of str
        The names of the tasks that were run.
    """

    def __init__(self, parts, largest_result=float("inf"), jobs=None):
        self._parts = parts
        self.n_parts, self.largest_result = len(parts), largest_result
        self.jobs = [] if jobs is None else jobs
        self.released = False

    def merged(self, task, merge):
        # pairs of neighbours, so that the tree has another shape than a chain
        level = self.collected(task)
        while len(level) > 1:
            level = [reduce(merge, level[k : k + 2]) for k in range(0, len(level), 2)]
        return level[0]

    def collected(self, task):
        assert not self.released, "a part was asked for after it had been given back"
        self.jobs.append(type(task).__name__)
        return [_sent(_sent(task)(number, iter(part))) for number, part in enumerate(self._parts)]

    def kept(self, task):
        return LocalParts(self.collected(task), self.largest_result, self.jobs)

    def steady(self):
        return LocalParts(self._parts, self.largest_result, self.jobs)

    def without_features(self):
        parts = [[block._replace(X=None) for block in part] for part in self._parts]
        return LocalParts(parts, self.largest_result, self.jobs)

    def ranked(self, task):
        return RankSums.of(RankedScores.concatenate(self.collected(task)))

    def release(self):
        self.released = True


def _sent(value):
    return pickle.loads(pickle.dumps(value))


def cut(cuts, X, y, weight=None, ids=None, blocks=1):
    """Rows in parts that end where ``cuts`` say, each in so many blocks.

    Parameters
    ----------
    cuts : sequence of int
        Row numbers; two equal ones make an empty part.
    """
    ends = [0, *sorted(cuts), len(y)]
    parts = []
    for first, last in pairwise(ends):
        edges = np.linspace(first, last, blocks + 1).astype(int)
        parts.append([_block(slice(a, b), X, y, weight, ids) for a, b in pairwise(edges)])
    return LocalParts(parts)


def _block(rows, X, y, weight, ids):
    of = [None if one is None else one[rows] for one in (X, y, weight, ids)]
    return PartBlock(*of)


def rows_of(parts, X, *, weighted=False, with_ids=False, classes=None, names=None):
    """What an estimator is given."""
    d = X.shape[1] if is_sparse(X) or hasattr(X, "shape") else len(X[0])
    return ClusterRows(parts, Layout(d, names), classes, weighted, with_ids)


class Ranker(ClusterClassifier):
    """The classifier of any engine, on local parts."""

    def fit_parts(self, parts, X, **known):
        self._fit_rows(rows_of(parts, X, **known))
        return self


class RankerCV(ClusterClassifierCV):
    """The same with cross-validation."""

    def fit_parts(self, parts, X, **known):
        self._fit_rows(rows_of(parts, X, **known))
        return self
