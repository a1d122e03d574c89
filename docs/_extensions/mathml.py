"""Formulas as MathML, which browsers draw by themselves: pages need no script and no network."""

from latex2mathml.converter import convert


def _visit_inline(self, node):
    self.body.append(convert(node.astext(), display="inline"))
    from docutils import nodes

    raise nodes.SkipNode


def _visit_block(self, node):
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    mark = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="math"{mark}>{number}{convert(node.astext(), display="block")}</div>\n')
    from docutils import nodes

    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
