"""Errors that are the package's own."""

from __future__ import annotations

__all__ = ["CertificateError", "InfeasibleError", "SolverError"]


class SolverError(RuntimeError):
    """A solver stopped without an answer."""


class InfeasibleError(SolverError):
    """A program has no feasible point."""


class CertificateError(RuntimeError):
    """An answer was found, but its certificate does not close within the documented tolerance."""
