"""CSV, TSV and Parquet: which column means what, and how it becomes numbers."""
