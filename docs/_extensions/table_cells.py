"""Numbers in tables stay on one line with their errors and marks, however narrow the column."""

import re

#: Blanks around a plus-minus, and behind the mark of a significant difference.
HELD = re.compile(r" ± |(?<=[●○]) ")


def hold_together(app, doctree):
    """Make these blanks ones at which no line breaks."""
    from docutils import nodes

    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            held = HELD.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
            text.parent.replace(text, nodes.Text(held))


def setup(app):
    """Change them once a page is read."""
    app.connect("doctree-read", hold_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
