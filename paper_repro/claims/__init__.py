"""The ledger: every claim of the five papers, judged by a computation that can fail."""

from __future__ import annotations

from paper_repro.claims.base import VERDICTS, Claim, Finding, Sample, all_claims
from paper_repro.claims.verify import Row, compare, faults, judge, read_ledger, write_ledger

__all__ = [
    "VERDICTS",
    "Claim",
    "Finding",
    "Row",
    "Sample",
    "all_claims",
    "compare",
    "faults",
    "judge",
    "read_ledger",
    "write_ledger",
]
