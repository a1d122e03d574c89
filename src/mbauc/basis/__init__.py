"""Columns of data as functions of them: what a linear ranker needs to draw curves."""
