"""The directive ``command-reference``: every command with its options, from the parsers that run."""


def setup(app):
    """Register the directive."""
    return {"parallel_read_safe": True, "parallel_write_safe": True}
