"""Code without the empty line at its end, which doctests in Markdown need."""


def strip_end(app, doctree):
    """Cut empty lines off the end of each block of code."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        if text != text.rstrip() and len(block.children) == 1:
            block.rawsource = text.rstrip()
            block.children[:] = [nodes.Text(text.rstrip())]


def setup(app):
    """Strip them once a page is read."""
    app.connect("doctree-read", strip_end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
