"""What a contender has to say for itself."""

import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

from benchmarks.click_fit import contenders

OURS = "ours"


class Contender:
    """One way to fit a ranker; a subclass is a file of ``contenders``.

    A setting is a dictionary of plain values; the empty one means that the user sets nothing. ``searched`` are
    the penalties tried (a learning rate where there is none), four for everybody, all at the budget
    ``compared_at``; ``ladder`` are budgets from cheap to dear, climbed with the best of them.
    """

    #: How tables call it.
    title = ""
    #: Whose version is shown, and what to install.
    distribution = ""
    #: Its scores are a linear function of the columns.
    linear = True
    #: Columns of the few rows that get imports and compiling out of the way; None for all.
    warm_columns = 1000
    #: Seconds after which a fit is killed; that of the run if not given.
    limit = None
    compared_at: ClassVar = {}
    ladder = ()

    def searched(self, rows):
        """Settings of the penalty for so many training rows, the strongest first: it makes for short fits."""
        return ()

    def convert(self, X, y, folder):
        """The data as users of this package hold them; not part of a fit's time."""
        return X, y

    def fit(self, data, threads, **setting):
        """A fitted model; all of this is timed."""
        raise NotImplementedError

    def scores(self, model, X):
        """Scores of the rows of a CSR matrix; not timed."""
        return model.decision_function(X)

    def remarks(self, data, threads):
        """What else readers should know, by name, such as the seconds of reading alone."""
        return {}


@cache
def all_contenders():
    """The contenders by the names of their files, this package first."""
    names = sorted((module.name for module in pkgutil.iter_modules(contenders.__path__)), key=_ours_first)
    modules = {name: import_module(f"{contenders.__name__}.{name}") for name in names}
    return {name: module.CONTENDER for name, module in modules.items() if hasattr(module, "CONTENDER")}


def _ours_first(name):
    return name != OURS, name


def installed_version(contender):
    """Version of the contender's package; None if it is not installed."""
    try:
        return version(contender.distribution)
    except PackageNotFoundError:
        return None
