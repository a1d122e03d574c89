"""Hashes line by line from the definitions of their authors."""

MASK = 2**64 - 1


def fnv1a(data):
    """FNV-1a with 64 bits, as its authors define it."""
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def fmix64(h):
    """The finaliser of MurmurHash3, as its author defines it."""
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & MASK
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 & MASK
    return h ^ h >> 33


def slow_hash(column, value):
    """The hash of the feature ``column=value``."""
    return fmix64(fnv1a(f"{column}={value}".encode()))
