"""Commands of ``mbauc`` that belong to the paper; loaded by name when asked for."""
