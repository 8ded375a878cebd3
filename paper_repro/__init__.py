"""How little need a published category reveal, if it may be changed with probability at most D?

Five papers on privacy-distortion trade-offs, reproduced exactly. Leakages are in nats throughout.

>>> import paper_repro as pr
>>> source = pr.load_source_set("P_II_6")
>>> pr.optimal_mechanism(source, distortion=0.2)
OptimalMechanism(differential privacy: leakage=2.677279 nats, distortion=0.200000, gap=0e+00 nats)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from paper_repro.composition import (
    ParallelComposition,
    parallel_composition,
    parallel_distortion,
    parallel_leakage,
    product_mechanism,
)
from paper_repro.curves import distortion_curve, leakage_curve
from paper_repro.databases import (
    DatabaseOptimum,
    Profile,
    database_distortion_curve,
    database_leakage_curve,
    optimal_database_mechanism,
)
from paper_repro.errors import CertificateError, SolverError
from paper_repro.graphs import Adjacency, Query, adjacency_from_query, clique, hamming, line, ring
from paper_repro.guessing import (
    bayes_vulnerability,
    conditional_min_entropy,
    min_entropy,
    min_entropy_capacity,
    min_entropy_leakage,
)
from paper_repro.mechanisms import (
    Mechanism,
    distance_mechanism,
    randomized_response,
    truncated_geometric,
    uniform_least_distortion,
)
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalInformation,
    MaximalLeakage,
    MutualInformation,
    Notion,
    PointwiseMaximalLeakage,
    RenyiDP,
    SibsonInformation,
    notion_by_name,
)
from paper_repro.notions.exact_curves import ExactCurve, exact_curve
from paper_repro.sources import SourceSet, load_source_set, read_source_set, source_set_names
from paper_repro.tradeoff import OptimalMechanism, optimal_mechanism

if TYPE_CHECKING:
    from paper_repro.columns.estimating import estimate
    from paper_repro.columns.releasing import release
    from paper_repro.papers.folding import Folding

__all__ = [
    "Adjacency",
    "ApproximateDP",
    "CertificateError",
    "DatabaseOptimum",
    "DifferentialPrivacy",
    "ExactCurve",
    "Folding",
    "MaximalInformation",
    "MaximalLeakage",
    "Mechanism",
    "MutualInformation",
    "Notion",
    "OptimalMechanism",
    "ParallelComposition",
    "PointwiseMaximalLeakage",
    "Profile",
    "Query",
    "RenyiDP",
    "SibsonInformation",
    "SolverError",
    "SourceSet",
    "adjacency_from_query",
    "bayes_vulnerability",
    "clique",
    "conditional_min_entropy",
    "database_distortion_curve",
    "database_leakage_curve",
    "distance_mechanism",
    "distortion_curve",
    "estimate",
    "exact_curve",
    "hamming",
    "leakage_curve",
    "line",
    "load_source_set",
    "min_entropy",
    "min_entropy_capacity",
    "min_entropy_leakage",
    "notion_by_name",
    "optimal_database_mechanism",
    "optimal_mechanism",
    "parallel_composition",
    "parallel_distortion",
    "parallel_leakage",
    "product_mechanism",
    "randomized_response",
    "read_source_set",
    "release",
    "ring",
    "source_set_names",
    "truncated_geometric",
    "uniform_least_distortion",
]

__version__ = "0.1.0"


# What not everyone needs is imported when it is asked for.
_ON_DEMAND = {
    "Folding": "paper_repro.papers.folding",
    "estimate": "paper_repro.columns.estimating",
    "release": "paper_repro.columns.releasing",
}


def __getattr__(name: str) -> object:
    """What belongs to a paper, or to a column of one's own."""
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those too that are imported on demand, so that a shell completes them."""
    return sorted(__all__)
