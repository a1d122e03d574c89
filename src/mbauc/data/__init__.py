"""Blocks of rows from LIBSVM text, CSV, TSV and Parquet; the MBA paper's data sets by name; click logs."""

from mbauc.data.block import Block, Source, fingerprint_of
from mbauc.data.clicks.log import ClickLog
from mbauc.data.hashing import fold_columns
from mbauc.data.libsvm.source import LibsvmSource, read_libsvm
from mbauc.data.scaling import ColumnStatistics, ScaledSource
from mbauc.data.sets.places import locate
from mbauc.data.sets.registry import DataSet, find, load, names
from mbauc.data.splits import ForwardSplit, group_split, stratified_halves, time_split
from mbauc.data.table.encoding import TableEncoding
from mbauc.data.table.source import TableSource

__all__ = [
    "Block",
    "ClickLog",
    "ColumnStatistics",
    "DataSet",
    "ForwardSplit",
    "LibsvmSource",
    "ScaledSource",
    "Source",
    "TableEncoding",
    "TableSource",
    "find",
    "fingerprint_of",
    "fold_columns",
    "group_split",
    "load",
    "locate",
    "names",
    "read_libsvm",
    "stratified_halves",
    "time_split",
]
