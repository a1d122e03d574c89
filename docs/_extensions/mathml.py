"""Formulas as MathML, which browsers draw by themselves: pages need no script and no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

#: A fraction of two letters or digits without braces, which docutils takes for one argument.
FRACTION = re.compile(r"(\\[dt]?frac)\s*(\d|(?<=\s)[a-zA-Z])\s*([a-zA-Z\d])")


def convert(node, *, as_block):
    """A formula in LaTeX as MathML; one that cannot be converted is a warning, and shown as it is."""
    try:
        return tex2mathml(FRACTION.sub(r"\1{\2}{\3}", node.astext()), as_block=as_block)
    except MathError as error:
        from sphinx.util import logging

        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def visit_inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def visit_block(writer, node):
    """Write a formula of its own, with its number if it has one."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    mark = f' id="{node["ids"][0]}"' if node["ids"] else ""
    writer.body.append(f'<div class="formula"{mark}>{convert(node, as_block=True)}{number}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
