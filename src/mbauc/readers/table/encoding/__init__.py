"""How the columns of a table become numbers."""

from mbauc.readers.table.encoding.code_columns import CodeColumn
from mbauc.readers.table.encoding.feature_kinds import CategoryFeature, NumericFeature
from mbauc.readers.table.encoding.table_encoding import TableEncoding

__all__ = ["CategoryFeature", "CodeColumn", "NumericFeature", "TableEncoding"]
