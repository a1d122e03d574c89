"""Curves and interactions as sums of indicators: bins of numbers, levels of categories, cells of pairs."""
