"""The data sets of the paper: what is on record, where files are, and how they get there."""

from mbauc.paper.datasets.files import locate
from mbauc.paper.datasets.registry import DataSet, find, load, names

__all__ = ["DataSet", "find", "load", "locate", "names"]
