"""Certificates of the figures: every curve at its breakpoints, a file for each source set and notion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from paper_repro.certificates.documents import joined, written
from paper_repro.certificates.linear import simplest_between
from paper_repro.graphs import line, ring
from paper_repro.notions import ApproximateDP, DifferentialPrivacy, MaximalLeakage, MutualInformation, Notion
from paper_repro.sources import SourceSet, load_source_set, source_set_names
from paper_repro.tradeoff import optimal_mechanism

__all__ = ["figure_certificates"]

# Distortions of every file, beside the breakpoints that are known.
_DISTORTIONS = ("1/10", "1/5", "3/10")
# Breakpoints are rational: the simplest fractions this close to their floats, relatively.
_SAME = Fraction(1, 10**12)
_SIX_ANSWERS = SourceSet([["1/6"] * 6], name="six answers")


def figure_certificates() -> dict[str, bytes]:
    """Contents of the files in ``figures/certificates``, by name; the same bytes each time.

    Differential privacy for all source sets (figures 4 and 5), mutual information for those of figures 6 and 7, the other notions
    of Zhong and Bu's figure 4 for its prior, and the graphs of answers of Alvim's tables at ratio 2.
    """
    files = {}
    for name in source_set_names():
        source = load_source_set(name)
        for stem, notion in _notions(name):
            found = [optimal_mechanism(source, distortion=place, notion=notion) for place in _places(source, notion)]
            files[f"{name}_{stem}.json"] = written(joined([best.certificate for best in found])).encode()
    for graph in (ring(6), line(6)):
        best = optimal_mechanism(_SIX_ANSWERS, leakage=math.log(2), notion=DifferentialPrivacy(graph))
        files[f"{graph.name}_6_differential_privacy.json"] = written(best.certificate).encode()
    return files


def _notions(name: str) -> Iterator[tuple[str, Notion]]:
    yield "differential_privacy", DifferentialPrivacy()
    if name in ("P_II_6", "P_II_10"):
        yield "mutual_information", MutualInformation()
    if name == "P_II_4":
        yield "approximate_differential_privacy", ApproximateDP(0.1)
        yield "maximal_leakage", MaximalLeakage()


def _places(source: SourceSet, notion: Notion) -> list[Any]:
    """Distortions, as Fractions."""
    known = [value for value in np.unique(notion.breakpoints(source)) if value > 0]
    exact = (Fraction(float(value)) for value in known)
    found = [simplest_between(value * (1 - _SAME), value * (1 + _SAME)) for value in exact]
    return sorted({*found, *map(Fraction, _DISTORTIONS)})
