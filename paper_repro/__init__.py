"""How little need a published category reveal, if it may be changed with probability at most D?

Five papers on privacy-distortion trade-offs, reproduced exactly. Leakages are in nats throughout.

>>> import paper_repro as pr
>>> source = pr.load_source_set("P_II_6")
>>> pr.optimal_mechanism(source, distortion=0.2)
OptimalMechanism(differential privacy: leakage=2.677279 nats, distortion=0.200000, gap=0e+00 distortion)
"""

from paper_repro.curves import ExactCurve, exact_curve
from paper_repro.datasets import load_source_set, read_source_set, source_set_names
from paper_repro.errors import CertificateError, SolverError
from paper_repro.mechanisms import Mechanism, randomized_response
from paper_repro.notions import DifferentialPrivacy, MutualInformation, notion_by_name
from paper_repro.source_sets import SourceSet
from paper_repro.tradeoff import OptimalMechanism, distortion_curve, leakage_curve, optimal_mechanism

__all__ = [
    "CertificateError",
    "DifferentialPrivacy",
    "ExactCurve",
    "Mechanism",
    "MutualInformation",
    "OptimalMechanism",
    "SolverError",
    "SourceSet",
    "distortion_curve",
    "exact_curve",
    "leakage_curve",
    "load_source_set",
    "notion_by_name",
    "optimal_mechanism",
    "randomized_response",
    "read_source_set",
    "source_set_names",
]

__version__ = "0.1.0"
