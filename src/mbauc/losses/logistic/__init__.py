"""The logistic loss over all pairs: on a grid, by a sweep over sorted scores, or pair by pair."""

from mbauc.losses.logistic.loss import Logistic

__all__ = ["Logistic"]
