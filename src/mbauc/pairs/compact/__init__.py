"""Sparse rows in few bytes: in memory, or in a file that products read."""
