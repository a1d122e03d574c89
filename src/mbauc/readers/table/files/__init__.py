"""The files of a table: where they are, how their bytes are reached, and their rows as Arrow columns."""
