"""Hashes of 64 bits that are the same on every machine."""
