"""How each thing looks in every figure: name, color, dashes and marker of a notion, a source set, the exact and the printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from paper_repro.types import NOTION_NAMES

__all__ = [
    "BOUNDS",
    "COLORS",
    "DASHES",
    "EXACT",
    "HATCHES",
    "MARKERS",
    "PRINTED",
    "UNREACHABLE",
    "Look",
    "by_letters",
    "letter_label",
    "notion_look",
    "plain_text",
    "set_label",
    "set_looks",
]

# Each at least 4.5:1 against white, so that a label may have its line's color, and at least 25 apart (CIE 1976), to the
# color-blind too. In grey print dashes or, where these are of one kind, lightness tell them apart.
COLORS = ["#000000", "#1D74DE", "#8B4A09", "#08484F", "#47167C", "#6C7355", "#6C1BF5", "#452302"]
DASHES: list[Any] = [
    "-",
    (0, (6, 2)),
    (0, (3, 1.2)),
    (0, (6, 2, 1.2, 2)),
    (0, (2.6, 1.2, 2.6, 4.4)),
    (0, (8, 2, 1.2, 2, 1.2, 2)),
    (0, (4, 1.5, 1.2, 1.5, 1.2, 1.5, 1.2, 1.5)),
    (0, (9, 1.5, 3, 1.5)),
]
MARKERS = ["o", "s", "^", "v", "P", "X", "<", "h"]
HATCHES = ["////", "\\\\\\\\", "....", "xxxx", "----", "oooo"]

_MOST_LETTERS = 28  # of a user's own name
_NOTIONS = (*NOTION_NAMES, "pointwise maximal leakage")
# Labels of notions whose names are for the keyboard, or say less than a reader needs.
_NOTION_LABELS = {
    "approximate differential privacy": "pointwise (ε, δ)-DP",
    "Renyi differential privacy": "Rényi differential privacy",
}
# A common palette: sets and notions are not mixed in one plot.
_NOTION_PLACES = dict(zip(_NOTIONS, (0, 1, 3, 2, 4, 6, 5, 7), strict=True))
_SET_PLACES = {"I": 0, "II": 1, "IIIa": 2, "IIIb": 3, "IIIc": 4}


@dataclass(frozen=True)
class Look:
    """Name (mathtext), color, dashes and marker of one thing, in all figures; its line is ``width`` points wide."""

    label: str
    color: str
    dash: Any
    marker: str
    width: float = 1.6
    fill: str = ""

    @property
    def line(self) -> dict[str, Any]:
        """For ``axes.plot``: a line, labelled."""
        return {"color": self.color, "linestyle": self.dash, "linewidth": self.width, "label": self.label}

    @property
    def mark(self) -> dict[str, Any]:
        """For ``axes.plot``: markers without a line."""
        fill = self.fill or self.color
        return {"color": self.color, "marker": self.marker, "mfc": fill, "ms": 5, "ls": "", "label": self.label}


EXACT = Look("exact", COLORS[0], DASHES[0], "o")
# The one sign for what a paper prints: thin, dotted, dark grey; or a hollow diamond. Nothing else is dotted or hollow so.
PRINTED = Look("as printed", "#595959", (0, (1, 1.6)), "D", 1.1, "white")
BOUNDS = {
    "lower": Look("lower bound", "#6A6A6A", (0, (2, 2)), "^", 0.9, "white"),
    "upper": Look("upper bound", "#6A6A6A", (0, (5, 3)), "v", 0.9, "white"),
}
# A region that no mechanism reaches.
UNREACHABLE: dict[str, Any] = {"facecolor": "#F3D9C4", "edgecolor": "none", "linewidth": 0}


def notion_look(name: str) -> Look:
    """How a privacy notion is drawn, by the name of its class. Raises ValueError if no notion has that name.

    Figures show ``ApproximateDP`` in Zhong and Bu's pointwise definition, its default, and the label says so.

    >>> notion_look("Renyi differential privacy").label, notion_look("approximate differential privacy").label
    ('Rényi differential privacy', 'pointwise (ε, δ)-DP')
    """
    if name not in _NOTION_PLACES:
        raise ValueError(f"unknown privacy notion {name!r}; known are {', '.join(_NOTIONS)}")
    place = _NOTION_PLACES[name]
    return Look(_NOTION_LABELS.get(name, name), COLORS[place], DASHES[place], MARKERS[place])


def set_looks(names: Iterable[str]) -> dict[str, Look]:
    """How the source sets of one figure are drawn: those of the papers always alike, a user's own in the first free styles.

    Raises ValueError if there are more sets than can be told apart (8).

    >>> looks = set_looks(["P_II_6", "mine"])
    >>> looks["P_II_6"].color == set_looks(["P_I_6", "P_II_6"])["P_II_6"].color, looks["mine"].label
    (True, 'mine')
    """
    wanted = list(dict.fromkeys(map(str, names)))
    if len(wanted) > len(COLORS):
        raise ValueError(
            f"at most {len(COLORS)} source sets can be told apart in one figure, got {len(wanted)}; draw fewer at a time"
        )
    places: dict[str, int] = {}
    for name in wanted:
        kind = _of_the_papers(name)
        place = _SET_PLACES[kind[0]] if kind else -1
        if place >= 0 and place not in places.values():
            places[name] = place
    free = iter([place for place in range(len(COLORS)) if place not in places.values()])
    for name in wanted:
        if name not in places:
            places[name] = next(free)
    return {
        name: Look(set_label(name), COLORS[place], DASHES[place], MARKERS[place])
        for name, place in ((name, places[name]) for name in wanted)
    }


def set_label(name: str) -> str:
    r"""The name of a source set as it is written in a figure.

    >>> set_label("P_IIIa_10"), set_label("prices in $"), set_label("a name that is much too long for a label")
    ('$\\mathcal{P}_{\\mathrm{IIIa}}^{(10)}$', 'prices in \\$', 'a name that is much too lon…')
    """
    if kind := _of_the_papers(name):
        return rf"$\mathcal{{P}}_{{\mathrm{{{kind[0]}}}}}^{{({kind[1]})}}$"
    return plain_text(name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1].rstrip() + "…")


def letter_label(letter: object) -> str:
    """The probability of a letter as it is written in a figure: ``x3`` has $P_3$, a letter with a name of its own keeps it.

    >>> letter_label("x3"), letter_label("rain")
    ('$P_{3}$', 'rain')
    """
    found = re.fullmatch(r"x(\d+)", str(letter))
    return f"$P_{{{found[1]}}}$" if found else plain_text(str(letter))


def by_letters(names: Sequence[str]) -> list[int]:
    """Where, in a list of source sets, the papers' ones have another number of letters than the one before.

    >>> by_letters(["P_I_6", "P_II_6", "P_I_10", "mine"])
    [2]
    """
    sizes = [kind[1] if (kind := _of_the_papers(name)) else "" for name in names]
    return [i for i in range(1, len(sizes)) if sizes[i] and sizes[i - 1] and sizes[i] != sizes[i - 1]]


def plain_text(text: str) -> str:
    r"""A text of a user's, in which ``$`` begins no formula.

    >>> plain_text("10 $ or 20 $")
    '10 \\$ or 20 \\$'
    """
    return text.replace("$", r"\$")


def _of_the_papers(name: str) -> tuple[str, str] | None:
    """Class and number of letters of a set that is named as the papers name theirs."""
    found = re.fullmatch(r"P_(I|II|IIIa|IIIb|IIIc)_(\d+)", name)
    return (found[1], found[2]) if found else None
