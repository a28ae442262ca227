"""How the site is built from these pages: `tox -e site`, or `sphinx-build -W docs build/site`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "xla-lint"
author = "the xla-lint developers"
copyright = author  # noqa: A001  # Sphinx calls it so
release = version = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"xla-lint {version}"
html_static_path = ["pictures", "style"]
html_css_files = ["site.css"]
templates_path: list[str] = []
exclude_patterns: list[str] = []
nitpicky = True


def lead_to_the_site(_: Sphinx, __: str, text: list[str]) -> None:
    """What leads to a file beside this folder leads to its page."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        text[0] = text[0].replace(f"](../{name}.md", f"]({name.lower()}.md")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", lead_to_the_site)
