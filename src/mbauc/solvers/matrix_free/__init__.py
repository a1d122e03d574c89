"""Eq. (14) from products of Σ with vectors alone."""
