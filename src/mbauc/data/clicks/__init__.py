"""Synthetic click logs in the shape of Avazu and Criteo."""
