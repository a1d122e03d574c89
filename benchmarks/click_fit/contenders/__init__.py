"""One file a contender, each with its ``CONTENDER``; packages that may be missing are imported in ``fit``."""
