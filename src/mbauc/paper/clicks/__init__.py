"""Synthetic click logs in the shape of Avazu and Criteo."""

from mbauc.paper.clicks.log import ClickLog

__all__ = ["ClickLog"]
