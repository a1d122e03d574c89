"""Eq. (14) with Σ as a matrix."""
