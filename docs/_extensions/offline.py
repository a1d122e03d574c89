"""A warning for each page that would fetch something from the network when it is opened."""

import re
from pathlib import Path

#: Links to follow are no concern: only what a browser fetches by itself.
FETCHED = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^\"'> ]+")


def find_fetched(folder):
    """Tags that name another server, by page."""
    for page in sorted(Path(folder).rglob("*.html")):
        for tag in FETCHED.findall(page.read_text(encoding="utf-8")):
            yield page, tag


def warn_of_fetched(app, error):
    """Look at all pages once they are written."""
    from sphinx.util import logging

    if error is None and app.builder.name == "html":
        for page, tag in find_fetched(app.outdir):
            logging.getLogger(__name__).warning("%s fetches from the network: %s", page, tag)


def setup(app):
    """Look when a build ends."""
    app.connect("build-finished", warn_of_fetched)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
