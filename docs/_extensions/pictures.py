"""A box around each picture of a guide, in which it scrolls where the screen is narrow."""

import re

PICTURE = re.compile(r'<img [^>]*class = "sphx-glr-single-img" */>')


def put_into_boxes(app, pagename, templatename, context, doctree):
    """Boxes for the pictures of a page; the keyboard scrolls them too."""
    if "body" in context:
        context["body"] = PICTURE.sub(r'<div class="picture" tabindex="0">\g<0></div>', context["body"])


def setup(app):
    """Make them when a page is written."""
    app.connect("html-page-context", put_into_boxes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
