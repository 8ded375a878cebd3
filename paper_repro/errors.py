"""Errors that are the package's own."""

from __future__ import annotations

__all__ = ["CertificateError", "SolverError"]


class SolverError(RuntimeError):
    """A solver stopped without an answer."""


class CertificateError(RuntimeError):
    """An answer was found, but its certificate does not close within the documented tolerance."""
