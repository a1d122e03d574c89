"""One door for tables: a data frame or files in, a tested ranker out."""

from mbauc.ranker.table_ranker import TableRanker, load

__all__ = ["TableRanker", "load"]
