"""Sources of blocks: LIBSVM text, CSV, TSV and Parquet files."""

from mbauc.readers.hashing import fold_columns
from mbauc.readers.libsvm.source import LibsvmSource, read_libsvm
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.source import TableSource
from mbauc.rows.source import GroupedBlock, RawBlock, Source, fingerprint_of

__all__ = [
    "GroupedBlock",
    "LibsvmSource",
    "RawBlock",
    "Source",
    "TableEncoding",
    "TableSource",
    "fingerprint_of",
    "fold_columns",
    "read_libsvm",
]
