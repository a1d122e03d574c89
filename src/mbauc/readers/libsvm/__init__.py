"""LIBSVM text: bytes to lines to rows."""
