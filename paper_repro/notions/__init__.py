"""Privacy notions: one a module, each with its loss and how its optimum is found."""

from __future__ import annotations

from collections.abc import Callable

from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.mutual_information import MutualInformation

__all__ = ["DifferentialPrivacy", "MutualInformation", "Notion", "Optimizer", "Proposal", "notion_by_name"]

_KNOWN: dict[str, Callable[[], Notion]] = {
    DifferentialPrivacy.name: DifferentialPrivacy,
    MutualInformation.name: MutualInformation,
}


def notion_by_name(name: str) -> Notion:
    """The notion with this name, for command lines and notebooks.

    Raises
    ------
    ValueError
        If there is none; the message lists those there are.

    >>> notion_by_name("mutual information")
    MutualInformation()
    """
    if name not in _KNOWN:
        raise ValueError(f"unknown privacy notion {name!r}; known are {', '.join(map(repr, _KNOWN))}")
    return _KNOWN[name]()
