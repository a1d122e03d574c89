"""What of a class is documented, and where the names in docstrings lead."""

import inspect
import re
from pydoc import ErrorDuringImport, locate

PACKAGE = "mbauc"

#: Beside code: the block of a name, and the link to its page.
SOURCE_LINK = re.compile(
    r'(?P<block><div class="viewcode-block" id="(?P<name>[^"]+)">\n)'
    r'<a class="viewcode-back" href="(?P<address>[^"]*)">.*?</a>'
)


def skip_member(app, what, name, value, skip, options):
    """Leave out what is not documented here: what other packages bring along, such as ``set_fit_request``."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    own = (getattr(function, "__module__", None) or "").split(".")[0] == PACKAGE
    documented = own and inspect.getdoc(function) and (callable(value) or isinstance(value, property))
    return None if documented else True


def link_name(app, env, node, content):
    """Where a name leads that a docstring has in another way than the reference.

    ``MBAClassifier`` in any module is ``mbauc.MBAClassifier``; what one module defines and another offers is in
    the reference of the other. What exists and has no page, because it is not public, is shown as code. Sphinx
    warns of all else.
    """
    if node.get("refdomain") != "py":
        return None
    from sphinx.util.nodes import make_refnode

    objects = env.get_domain("py").objects
    for name in possible_names(node["reftarget"].lstrip(".~"), node.get("py:module"), node.get("py:class")):
        found = find(name)
        if found is None:
            continue
        owner, _, member = name.rpartition(".")
        for public in (name, public_name(found, objects), f"{public_name(find(owner), objects)}.{member}"):
            if public in objects:
                entry = objects[public]
                return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content)
        return content
    return None


def possible_names(target, module, in_class):
    """Full names that a name may stand for, the likeliest first."""
    defined_in = getattr(find(f"{module}.{in_class}"), "__module__", None) if module and in_class else None
    inside = (module and in_class and f"{module}.{in_class}", module, defined_in, PACKAGE, "")
    return [f"{prefix}.{target}".lstrip(".") for prefix in inside if prefix is not None]


def find(name):
    """The object of a full name, or None."""
    try:
        return locate(name) if name else None
    except ErrorDuringImport:  # of an optional package
        return None


def public_name(value, objects):
    """Under which name the reference has an object that another module defines."""
    own = getattr(value, "__name__", None)
    names = (name for name in objects if own and name.rpartition(".")[2] == own)
    return next((name for name in names if find(name) is value), "")


def link_sources_back(app, pagename, templatename, context, doctree):
    """Lead "[docs]" beside the code of a name to the name's own page.

    Sphinx takes the last page that shows the name, and one module for all names of a file: wrong for methods
    that the classes of several modules inherit, and for classes that two modules offer.
    """
    if not pagename.startswith("_modules/mbauc/"):
        return
    module = pagename.removeprefix("_modules/").replace("/", ".")
    objects = app.env.get_domain("py").objects

    def link(match):
        name = f"{module}.{match['name']}"
        owner, _, member = name.rpartition(".")
        for public in (f"{public_name(find(owner), objects)}.{member}", public_name(find(name), objects)):
            if public in objects:
                entry = objects[public]
                address = f"{app.builder.get_relative_uri(pagename, entry.docname)}#{entry.node_id}"
                return match[0].replace(match["address"], address)
        return match["block"]  # without a link

    context["body"] = SOURCE_LINK.sub(link, context["body"])


def setup(app):
    """Connect them; summaries do not end at "Eq."."""
    from sphinx.ext import autosummary

    autosummary.WELL_KNOWN_ABBREVIATIONS += ("Eq.",)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", link_name)
    app.connect("html-page-context", link_sources_back)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
