"""How Sphinx sets the site. `build_site.py` puts its sources together in build/docs, and calls it."""

import html
import importlib
import inspect
import re
import subprocess
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

import paper_repro
from paper_repro.paths import ROOT
from paper_repro.reproduce.formulas import mathml

project = "paper_repro"
version = release = paper_repro.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.linkcode", "sphinx.ext.napoleon"]
suppress_warnings = [
    "myst.header",  # pages that a code host shows too leave out a level
    "ref.python",  # words of a type that are names of attributes too
]

smartquotes = False

html_theme = "furo"
html_title = "paper_repro"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = html_show_sphinx = html_show_copyright = False
html_show_search_summary = False  # it is fetched, which a page opened from the disk may not

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the outputs are those that are stored and tested
nb_render_markdown_format = "myst"

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "BoolArray", "FloatArray", "IntArray")}
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
napoleon_use_ivar = True
# Types of parameters are written for people: "ndarray, shape (V, M)".
nitpick_ignore_regex = [("py:(class|data|obj|exc)", ".*")]

ORIGINS = {
    "notebooks/": "`make notebooks` computes its outputs, and `make test` compares them.",
    "figures/ledger": "`make verify` judges every row again.",
    "figures/": "`make figures` draws all again.",
    "papers/": "`make verify` judges every row again.",
    "api/": "`make test` runs the examples.",
    "": "",
}


def anchors(app, doctree):
    """Let links lead to `<a id="...">` too."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for raw in doctree.findall(nodes.raw):
        for name in re.findall(r'<a id="([^"]+)"', raw.astext()):
            slugs.setdefault(name, (0, name, name))


def prose(app, what, name, obj, options, lines):
    """Set the prose of a docstring as it stands: programs, which are indented, in lines of their own, and tables."""
    end = next((i for i, line in enumerate(lines) if re.fullmatch("-{3,}", line)), len(lines))
    for i in reversed(range(1, end)):
        before = next((line for line in reversed(lines[: i - 1]) if line), "")
        if lines[i].startswith("    ") and not lines[i - 1] and not before.startswith(" "):
            lines[i:i] = ["::", ""]
        elif re.fullmatch(r"[|-]+", lines[i]):
            last = next((j for j in range(i, len(lines)) if not lines[j].startswith("|")), len(lines))
            rows = [line.strip("| ").split(" | ") for line in (lines[i - 1], *lines[i + 1 : last])]
            told = [f"   {'  -' if place else '* -'} {cell}" for row in rows for place, cell in enumerate(row)]
            lines[i - 1 : last] = [".. list-table::", "   :header-rows: 1", "", *told, ""]
    # Examples after a section, without a head of their own, are none of its entries.
    first = next((i for i, line in enumerate(lines) if line.startswith(">>> ")), 0)
    if "-" * 3 in "".join(lines[:first]) and "Examples" not in lines[:first]:
        lines[first:first] = ["Examples", "--------"]


def signature(app, what, name, obj, options, arguments, returned):
    """Write a signature as its source does: names of types without where they are from."""
    short = [re.sub(r"~?[\w.]*\.(\w+)", r"\1", text or "") for text in (arguments, returned)]
    short = [re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text).replace("<factory>", "...") for text in short]
    return short[0] or None, short[1] or None


def public(app, env, node, contnode):
    """Resolve a name as users know it, `paper_repro.optimal_mechanism` or `SourceSet.from_counts`, to where it is defined."""
    name = node.get("reftarget", "").removeprefix("paper_repro.")
    home = getattr(getattr(paper_repro, name.partition(".")[0], None), "__module__", None)
    if node.get("refdomain") != "py" or not home:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], f"{home}.{name}", node, contnode)


def formula(self, node):
    """Write a formula as MathML, which needs no script and no font of ours."""
    told = mathml(node.astext())
    if not told:
        logging.getLogger(__name__).warning("no formula: %s", node.astext(), location=node)
    # Only fonts for mathematics have a prime that is meant to be raised and made small again.
    told = re.sub("<msup>(<mi>.</mi>)<mi>′</mi></msup>", r'<mrow>\1<mi class="prime">′</mi></mrow>', told)
    if isinstance(node, nodes.math_block):
        told = '<div class="formula">' + told.replace("<math", '<math display="block"', 1) + "</div>"
    elif len(node.astext()) > 40:
        kind = "longer" if len(node.astext()) > 120 else "long"
        told = f'<span class="{kind}">{told}</span>'
    self.body.append(told)
    raise nodes.SkipNode


def linkcode_resolve(domain, info):
    """Return where an object is defined: its line in the page of its module, as seen from a page in `api`."""
    try:
        found = importlib.import_module(info["module"])
        for part in info["fullname"].split("."):
            found = inspect.getattr_static(found, part)
        found = inspect.unwrap(getattr(getattr(found, "fget", None) or found, "__func__", found))
        path, line = Path(inspect.getsourcefile(found)).resolve(), inspect.getsourcelines(found)[1]
    except (AttributeError, OSError, TypeError, ValueError):
        return None
    if not path.is_relative_to(ROOT / "paper_repro"):
        return None
    return f"../{path.relative_to(ROOT).with_suffix('.html').as_posix()}#L{line}"


def git(*arguments):
    """Return what git says of the checkout, or nothing where there is none."""
    try:
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True).stdout
    except OSError:
        return ""


@cache
def commits():
    """Return the last commit of each file, as its short name and day; none where there is no git."""
    found = {}
    for part in git("log", "--format=%x00%h of %cs", "--name-only", "--no-renames").split("\0")[1:]:
        commit, *names = part.split("\n")
        for name in filter(None, names):
            found.setdefault(name, commit)
    return found


@cache
def changed():
    """Return the files that are not as they were committed."""
    return {line[3:] for line in git("status", "--porcelain").splitlines()}


def file_of(page, path):
    """Return the file of the repository that a page is made from."""
    if page.startswith("papers/"):
        return "data/ledger.csv"
    if page.startswith("api/") and path.endswith(".rst"):
        name = "paper_repro/" + page.removeprefix("api/").replace(".", "/")
        return f"{name}.py" if (ROOT / f"{name}.py").exists() else f"{name}/__init__.py"
    if page == "api/index":
        return "paper_repro/__init__.py"
    return f"docs/{path}" if (ROOT / "docs" / path).exists() else path


def origin(app, pagename, templatename, context, doctree):
    """End a page with where it comes from: file, commit, command."""
    if doctree is None:
        return
    source = file_of(pagename, Path(app.env.doc2path(pagename)).relative_to(app.srcdir).as_posix())
    commit = commits().get(source, "")
    told = f"From `{source}`" + (f", commit {commit}" if commit else f", version {version}")
    told += ", changed since. " if source in changed() else ". "
    told += next(text for start, text in ORIGINS.items() if pagename.startswith(start))
    told = re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(told))
    context["body"] += f'<p class="origin">{told}</p>'


def setup(app):
    """Register what is above."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("autodoc-process-docstring", prose, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", signature)
    app.connect("doctree-read", anchors)
    app.connect("missing-reference", public)
    app.connect("html-page-context", origin)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
