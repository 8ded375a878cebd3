"""Privacy notions: one a module, each with its loss and how its optimum is found."""

from __future__ import annotations

from collections.abc import Callable

from paper_repro.errors import wrong
from paper_repro.notions.approximate_differential_privacy import ApproximateDP
from paper_repro.notions.base import Notion, Optimizer, Proposal
from paper_repro.notions.differential_privacy import DifferentialPrivacy
from paper_repro.notions.information import MutualInformation, SibsonInformation
from paper_repro.notions.maximal_information import MaximalInformation, PointwiseMaximalLeakage
from paper_repro.notions.maximal_leakage import MaximalLeakage
from paper_repro.notions.renyi_differential_privacy import RenyiDP
from paper_repro.types import NOTION_NAMES

__all__ = [
    "NOTION_NAMES",
    "ApproximateDP",
    "DifferentialPrivacy",
    "MaximalInformation",
    "MaximalLeakage",
    "MutualInformation",
    "Notion",
    "Optimizer",
    "PointwiseMaximalLeakage",
    "Proposal",
    "RenyiDP",
    "SibsonInformation",
    "notion_by_name",
]

_KNOWN: dict[str, Callable[[float, float], Notion]] = {
    DifferentialPrivacy.name: lambda alpha, delta: DifferentialPrivacy(),
    ApproximateDP.name: lambda alpha, delta: ApproximateDP(delta),
    MaximalInformation.name: lambda alpha, delta: MaximalInformation(),
    MaximalLeakage.name: lambda alpha, delta: MaximalLeakage(),
    RenyiDP.name: lambda alpha, delta: RenyiDP(alpha),
    SibsonInformation.name: lambda alpha, delta: SibsonInformation(alpha),
    MutualInformation.name: lambda alpha, delta: MutualInformation(),
}


def notion_by_name(name: str, *, alpha: float = 2.0, delta: float = 0.1) -> Notion:
    """The notion with this name, for command lines and notebooks.

    The order ``alpha`` and the probability ``delta``, both dimensionless, go to the notions that have them.

    Raises
    ------
    ValueError
        If there is none; the message lists those there are. Or if the parameter is outside the notion's range.

    >>> notion_by_name("mutual information"), notion_by_name("Sibson information", alpha=3)
    (MutualInformation(), SibsonInformation(alpha=3))
    """
    if not isinstance(name, str) or name not in _KNOWN:
        raise ValueError(wrong("name", f"be one of {', '.join(map(repr, _KNOWN))}", name))
    return _KNOWN[name](alpha, delta)
