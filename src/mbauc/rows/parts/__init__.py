"""Rows in parts: who holds them, what runs on each of them, and how results merge."""
