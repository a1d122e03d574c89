"""The files of a table: where they are, how their bytes are reached, and their rows as Arrow columns."""

from mbauc.readers.table.files.csv_table import CsvTable
from mbauc.readers.table.files.frame_table import FrameTable, is_frame
from mbauc.readers.table.files.parquet_table import ParquetTable
from mbauc.readers.table.files.paths import Paths, TableFile, find_tables
from mbauc.readers.table.files.pieces import Piece, cut_blocks, place_number
from mbauc.readers.table.files.tables import Table, open_tables

__all__ = [
    "CsvTable",
    "FrameTable",
    "ParquetTable",
    "Paths",
    "Piece",
    "Table",
    "TableFile",
    "cut_blocks",
    "find_tables",
    "is_frame",
    "open_tables",
    "place_number",
]
