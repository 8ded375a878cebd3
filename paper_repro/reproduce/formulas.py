r"""Texts with formulas between dollar signs, for Markdown that GitHub and Jupyter set, and for HTML that needs no library.

Markdown reads a text before the formulas are set: it would take ``\{`` for a brace, ``_`` for emphasis and ``<`` for a tag. What
it would spoil is written in LaTeX that it leaves alone. For HTML a formula becomes MathML, which browsers set by themselves.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from functools import cache
from xml.etree import ElementTree

from paper_repro.errors import optional
from paper_repro.types import LATEX_SIGNS

__all__ = ["failing_formulas", "html_text", "latex_text", "markdown_text", "mathml"]

_FORMULA = re.compile(r"(?<!\\)\$(.+?)(?<!\\)\$", re.DOTALL)
# A backslash before punctuation is gone after Markdown; these commands have letters.
_COMMANDS = {
    r"\{": r"\lbrace ",
    r"\}": r"\rbrace ",
    r"\,": r"\thinspace ",
    r"\:": r"\medspace ",
    r"\;": r"\thickspace ",
    r"\!": r"\negthinspace ",
    r"\|": r"\Vert ",
    r"\\": r"\cr ",
    r"\operatorname": r"\mathrm",  # GitHub does not allow it
    "<": r"\lt ",
    ">": r"\gt ",
    "|": r"\vert ",
    "*": r"\ast ",
    "_": " _",  # after a space it may open an emphasis, but nothing closes one
    "\n": " ",
}
_COMMAND = re.compile(r"\\operatorname\b|\\[{}\\,:;!|]|[<>|*_\n]")
# Elements of MathML that have a fixed number of parts.
_PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}

# `\mathcal P` is LaTeX too, but only with braces does the letter become the character that it is.
_NEEDS_BRACES = re.compile(r"(\\math(?:bb|bf|cal|frak|scr))\s*([A-Za-z])")


def markdown_text(text: str) -> str:
    r"""A text as Markdown on one line: its formulas survive, and nothing else in it is taken for markup.

    >>> print(markdown_text(r"At $D_1 < D$ the set $\{P\}$ of P_II_6 is * | <b>."))
    At $D _1 \lt  D$ the set $\lbrace P\rbrace $ of P\_II\_6 is \* \| &lt;b&gt;.
    """
    return _each(text, lambda formula: f"${_COMMAND.sub(lambda found: _COMMANDS[found[0]], formula)}$", _plain)


def html_text(text: str) -> str:
    r"""A text as HTML: formulas as MathML, or as their source where that fails.

    >>> html_text(r"a & $\frac{a}$")
    'a &amp; <code>\\frac{a}</code>'
    """
    return _each(text, lambda formula: mathml(formula) or f"<code>{html.escape(formula)}</code>", _unescaped)


def latex_text(text: str) -> str:
    r"""A text as LaTeX: its formulas as they are, and nothing else in it a command.

    >>> print(latex_text(r"a & $b_1$ \$"))
    a \& $b_1$ \$
    """
    signs = str.maketrans(LATEX_SIGNS)
    return _each(text, lambda formula: f"${formula}$", lambda plain: plain.replace(r"\$", "$").translate(signs))


def failing_formulas(texts: Iterable[str]) -> list[str]:
    r"""The formulas of some texts that :func:`html_text` shows as source, each once.

    >>> failing_formulas([r"$x_1 \le 1$ and $\frac{a}$", "a dollar"])
    ['\\frac{a}']
    """
    return sorted({formula for text in texts for formula in _FORMULA.findall(text) if not mathml(formula)})


@cache
def mathml(formula: str) -> str:
    r"""A formula as MathML that names its source, or the empty string where it is none, or has a command that is unknown.

    >>> mathml("D_1")
    '<math alttext="D_1"><mrow><msub><mi>D</mi><mn>1</mn></msub></mrow></math>'
    >>> mathml(r"\nonsense"), mathml("a_{")
    ('', '')
    """
    converter = optional("latex2mathml.converter", "plot")
    try:
        told = converter.convert(_NEEDS_BRACES.sub(r"\1{\2}", formula.replace(r"\arg\m", r"\operatorname{arg}\m")))
        told = told.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
        tree = ElementTree.fromstring(told)
    except Exception:  # it has a dozen errors of its own, and others for what it does not foresee
        return ""
    wrong = [part for part in tree.iter() if len(part) != _PARTS.get(part.tag, len(part))]
    # Browsers heed no other variant: letters of another alphabet are characters of their own.
    wrong += [part for part in tree.iter() if part.get("mathvariant", "normal") != "normal"]
    if wrong or "\\" in "".join(tree.itertext()):
        return ""
    for part in tree.iter("mi"):
        text = part.text or ""
        if len(text) > 1 and text.isalpha():  # log and the like stand off from what is beside them
            part.tag, part.attrib = "mo", {"lspace": "0.17em", "rspace": "0.1em"}
    tree.attrib = {"alttext": formula}
    return ElementTree.tostring(tree, encoding="unicode").replace(" />", "/>")


def _each(text: str, formula: Callable[[str], str], plain: Callable[[str], str]) -> str:
    """A text whose odd parts are formulas."""
    return "".join((formula if i % 2 else plain)(part) for i, part in enumerate(_FORMULA.split(text)))


def _unescaped(text: str) -> str:
    return html.escape(text.replace(r"\$", "$"))


def _plain(text: str) -> str:
    told = html.escape(text.replace(r"\$", "$"), quote=False).replace("\n", " ")
    return re.sub(r"([\\*_`|\[\]~$])", r"\\\1", told)
