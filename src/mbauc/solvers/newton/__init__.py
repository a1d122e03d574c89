"""Truncated Newton steps for losses over pairs that are no quadratic."""
