"""Columns as functions of them: bins of numbers, levels of categories, cells of pairs, random waves."""
