"""Settings of the documentation: ``make docs``."""

import os
import sys
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "mbauc"
author = "The mbauc developers"
copyright = "The mbauc developers, BSD-3-Clause"
release = version = version_of("mbauc")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "command_reference",
    "code_blocks",
    "table_cells",
    "pictures",
    "public_names",
    "start_picture",
    "offline",
]
exclude_patterns = ["_build", "gallery/*.md5", "gallery/*.ipynb", "**sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True  # a name that leads nowhere is an error
smartquotes = False  # "--" in prose is that of an option

# pages of text
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
copybutton_selector = ":not(.sphx-glr-script-out) > div.highlight > pre"  # not what a guide prints
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# names and what they are
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types that docstrings state
autodoc_mock_imports = [name for name in ("torch",) if find_spec(name) is None]  # not in the extra "docs"
python_maximum_signature_line_length = 88
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template has them

# guides that run
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_|run_",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "image_srcset": ["2x"],
    "write_computation_times": False,  # its page fetches scripts
    "within_subsection_order": "FileNameSortKey",
    # "-D plot_gallery=0" is no bool to Sphinx, which warns of that
    "plot_gallery": os.environ.get("DOCS_GALLERY", "1") != "0",
    "reset_modules": ("matplotlib",),
    # guides that use a name, on the name's page
    "doc_module": ("mbauc",),
    "backreferences_dir": "gallery/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = f"mbauc {version}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["mbauc.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"theory": []}  # it has no pages below it
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": f"mbauc <small>{version}</small>"},
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
linkcheck_timeout = 20
linkcheck_anchors = False
