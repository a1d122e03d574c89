"""The engine that tests run on without an engine: parts are lists, and jobs are loops that are counted."""

import functools
import pickle
from itertools import pairwise

import numpy as np

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.metrics.ranked import RankedScores
from mbauc.rows.matrix import is_sparse
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.schema import Schema
from mbauc.runtime.threads import single_threaded_blas


class LocalParts:
    """Parts in memory, each a list of items; see :class:`mbauc.rows.parts.protocol.Parts`.

    Tasks and results are pickled, as on the way to a worker and back, and every part is read from an iterator,
    as Spark hands it over.

    Attributes
    ----------
    jobs : list of str
        The names of the tasks that were run.
    """

    kind = "cluster"

    def __init__(self, parts, largest_result=float("inf"), jobs=None):
        self._parts = parts
        self.n_parts, self.largest_result = len(parts), largest_result
        self.jobs = [] if jobs is None else jobs
        self.released = False

    def reduce(self, task, merge):
        # pairs of neighbours, so that the tree has another shape than a chain
        level = self.collect(task)
        while len(level) > 1:
            level = [functools.reduce(merge, level[k : k + 2]) for k in range(0, len(level), 2)]
        return level[0]

    def collect(self, task):
        assert not self.released, "a part was asked for after it had been given back"
        self.jobs.append(type(task).__name__)
        with single_threaded_blas():
            return [_sent(_sent(task)(number, iter(part))) for number, part in enumerate(self._parts)]

    def persist(self, task):
        return LocalParts(self.collect(task), self.largest_result, self.jobs)

    def fix_order(self):
        return LocalParts(self._parts, self.largest_result, self.jobs)

    def labels_only(self):
        parts = [[(None, *block[1:]) for block in part] for part in self._parts]
        return LocalParts(parts, self.largest_result, self.jobs)

    def rank(self, task, summarise):
        return summarise(RankedScores.concatenate(self.collect(task)))

    def preview(self):
        return None

    def release(self):
        self.released = True


def _sent(value):
    return pickle.loads(pickle.dumps(value))


def cut(cuts, X, y, weight=None, ids=None, blocks=1, groups=None):
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
        parts.append([_block(slice(a, b), X, y, weight, ids, groups) for a, b in pairwise(edges)])
    return LocalParts(parts)


def _block(rows, *columns):
    return tuple(None if one is None else one[rows] for one in columns)


def rows_of(parts, X, *, weighted=False, with_ids=False, grouped=False, classes=None, names=None):
    """What an estimator is given."""
    d = X.shape[1] if is_sparse(X) or hasattr(X, "shape") else len(X[0])
    return PartedRows(parts, Schema(d, names), classes, weighted, with_ids, grouped)


class Ranker(MBAClassifier):
    """The classifier of any engine, on local parts."""

    def fit_parts(self, parts, X, **known):
        return super().fit_parts(rows_of(parts, X, **known))


class RankerCV(MBAClassifierCV):
    """The same with cross-validation."""

    def fit_parts(self, parts, X, **known):
        return super().fit_parts(rows_of(parts, X, **known))
