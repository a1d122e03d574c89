"""Out-of-core readers of CSV, TSV, Parquet and LIBSVM files, as sources of blocks of rows."""

from mbauc.readers.hashing import fold_columns
from mbauc.readers.libsvm.in_memory import read_libsvm
from mbauc.readers.libsvm.source import LibsvmSource
from mbauc.readers.table.encoding import CodeColumn, TableEncoding
from mbauc.readers.table.encoding.frames import learn_table_codes
from mbauc.readers.table.source import TableSource
from mbauc.rows.source import GroupedBlock, RawBlock, Source, fingerprint_of

__all__ = [
    "CodeColumn",
    "GroupedBlock",
    "LibsvmSource",
    "RawBlock",
    "Source",
    "TableEncoding",
    "TableSource",
    "fingerprint_of",
    "fold_columns",
    "learn_table_codes",
    "read_libsvm",
]
