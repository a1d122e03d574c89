"""Curves and interactions: the search for features and their penalties, and the estimator that fits them."""
