"""Σ as a linear operator, for rows too wide to form it.

``from_rows`` and ``from_pairs`` make them of rows in memory, ``from_source`` of files of any size.
"""
