"""The mechanism as a document: its integers, and all that is stated of them, for anyone to verify.

A file is a JSON object with a field on each line. Its checksum detects accidents. No number relies on the checksum or on the
author of the file: :meth:`MechanismDocument.inspect` computes each number again from the integers alone.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paper_repro.certificates.checker import Refused, check
from paper_repro.checks import as_fraction, shortened
from paper_repro.columns.sampler import BITS, IntegerSampler, MatrixSampler, SpreadSampler
from paper_repro.graphs import Adjacency
from paper_repro.notions import (
    ApproximateDP,
    DifferentialPrivacy,
    MaximalLeakage,
    Notion,
    RenyiDP,
    SibsonInformation,
    notion_by_name,
)
from paper_repro.notions.constrained import Constraints
from paper_repro.sources import SourceSet, distance_to_hull
from paper_repro.types import FloatArray

__all__ = ["FORMAT", "Check", "MechanismDocument", "notion_of", "words_of", "write_for_r"]

FORMAT = "privacy-distortion mechanism, version 1"
# Leakages that are sums of logarithms may come out otherwise on another machine, in the last digits.
_CURVED = ("Renyi differential privacy", "Sibson information", "mutual information")
_LAST_DIGITS = 1e-9
# By how much rounding to integers, and that of the floats before it, may miss a budget.
_ROUNDING = 1e-9
_AS_WRITTEN = (
    "mechanism must be a document as it was written; got {0!r}, edited or damaged: {1}. Take the original file."
)
# Bits of a number of which any sum is exact in double precision.
_EXACT_SUMS = 52
# Categories that are shown.
_SHOWN = 20


class Check(NamedTuple):
    """A number: its name, what is stated, what was found, and whether that is so."""

    name: str
    stated: Any
    found: Any
    agrees: bool


@dataclass(frozen=True, eq=False)
class MechanismDocument:
    """A sampler, and what is stated of it.

    Attributes
    ----------
    sampler : IntegerSampler
    source : SourceSet, or None
        Its labels are those of the sampler.
    notion : Notion
        The notion for which the mechanism is optimal.
    budget : dict
        The constraint: a ``distortion``, or a ``leakage`` in nats.
    stated : dict
        Leakage in nats by the name of the notion; of the mechanism's own notion, or one as of :func:`notion_by_name`.
    distortion : float, or None
        The largest over the source set: a probability of change, or with costs the largest expected cost.
    constraints, knowledge, policy : dicts
        ``keep_at_least``, ``invariant`` and ``forbidden``; the origin of the source set; the treatment of missing and unknown
        values, and the origin of the randomness.
    version : str
        Of the package that wrote it.
    costs : ndarray, shape (M, M), or None
        Cost of each change, in place of 1.
    certificate : dict, or None
        Certificate of the optimum, for this source set or for one prior in it: see :mod:`paper_repro.certificates`.
    price : float, or None
        Leakage in nats beyond the least possible, by the certificate: the price of estimable frequencies.
    """

    sampler: IntegerSampler
    source: SourceSet | None = None
    notion: Notion = field(default_factory=DifferentialPrivacy)
    budget: Mapping[str, float] = field(default_factory=dict)
    stated: Mapping[str, float] = field(default_factory=dict)
    distortion: float | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    costs: FloatArray | None = None
    certificate: Mapping[str, Any] | None = None
    price: float | None = None
    _checksums: tuple[str, str] | None = None

    def write(self, path: str | Path) -> None:
        """Write it as JSON. Raises OSError if that cannot be."""
        Path(path).write_text(self.text, encoding="utf-8")

    @property
    def text(self) -> str:
        """The JSON that is written."""
        labels, source = self.sampler.labels, self.source
        content = {
            "format": FORMAT,
            "package_version": self.version,
            "categories": len(labels) if labels == range(len(labels)) else list(labels),
            "bits": self.sampler.bits,
            "integers": {name: numbers.tolist() for name, numbers in self.sampler.integers.items()},
            "source_set": None if source is None else _source_described(source),
            "notion": _described(self.notion),
            "budget": {name: _text(value) for name, value in self.budget.items()},
            "leakage": [
                {**_described(self._notion(name)), "nats": _text(value)} for name, value in self.stated.items()
            ],
            "distortion": self.distortion,
            "constraints": dict(self.constraints),
            "costs": None if self.costs is None else self.costs.tolist(),
            "knowledge": dict(self.knowledge),
            "policy": dict(self.policy),
            "certificate": self.certificate,
            "price": self.price,
        }
        lines = _lines(content)
        lines.append(f'"checksum": "{_checksum(lines)}"')
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def read(
        cls, path: str | Path, *, categories: Sequence[Any] | None = None, verify: bool = True
    ) -> MechanismDocument:
        """Read it from JSON, and verify it, unless :meth:`inspect` is to list what is wrong.

        Raises
        ------
        ValueError
            If it is no such document, of another version, for other categories than those given, was edited, or states a
            number that is not what its integers have.
        OSError
            If it cannot be read.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(
                f"mechanism must be a document in JSON; got {str(path)!r}, which is not JSON. Take the .mechanism.json file as "
                "`release` wrote it."
            ) from None
        except OSError as error:
            stem = Path(path).name.partition(".")[0]
            near = sorted(found.name for found in Path(path).parent.glob(f"{glob.escape(stem)}*.mechanism.json"))
            fix = f"Did you mean {shortened(near)}?" if near else "Check the name, the folder and the permissions."
            told = type(error)(
                f"mechanism must be a document that can be read; got {str(path)!r} ({error.strerror}). {fix}"
            )
            raise told from None
        found = content.get("format") if isinstance(content, dict) else None
        if found != FORMAT:
            raise ValueError(
                f"mechanism must be a document of the format {FORMAT!r}; got {str(path)!r} of the format {found!r}. Take the "
                "version of the package that wrote it."
            )
        try:
            document = cls._of(content, text)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, LookupError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(_AS_WRITTEN.format(str(path), what.rstrip("."))) from None
        own = list(document.sampler.labels)
        if categories is not None and list(categories) != own:
            raise ValueError(
                f"categories of the mechanism must be {shortened(list(categories))}; got {shortened(own)} in {str(path)!r}. Take "
                "the mechanism of this column, with its categories in this order."
            )
        for name, stated, again, agrees in document.inspect() if verify else ():
            if not agrees:
                raise ValueError(
                    _AS_WRITTEN.format(str(path), f"{name} is stated as {stated!r} and found to be {again!r}")
                )
        return document

    @classmethod
    def _of(cls, content: dict[str, Any], text: str) -> MechanismDocument:
        stated = content.pop("checksum")
        for name in ("budget", "constraints", "knowledge", "policy"):
            if not isinstance(content[name], dict):
                raise ValueError(f"{name!r} has no table of names and values")
        if unknown := sorted(set(content["constraints"]) - {"keep_at_least", "invariant", "forbidden"}):
            raise ValueError(f"the constraint {unknown[0]!r} is unknown")
        if not 1 <= content["bits"] <= BITS:
            raise ValueError(f"'bits' is {content['bits']!r}, and at most {BITS} is possible")
        as_written = _checksum([line.removesuffix(",") for line in text.split("\n")[1:-3]])
        checksums = stated, as_written if as_written == stated else _checksum(_lines(content))
        labels = content["categories"]
        labels = range(labels) if isinstance(labels, int) else labels
        if len(set(labels)) != len(labels):
            raise ValueError("a category occurs twice")
        numbers = {name: _integers(value) for name, value in content["integers"].items()}
        bits = content["bits"]
        kind: Any = MatrixSampler if set(numbers) == {"matrix"} else SpreadSampler
        sampler = kind(**numbers, labels=labels, bits=bits)
        notion = notion_of(content["notion"], len(labels))
        leakages = {}
        for entry in content["leakage"]:
            nats, name = float(entry.pop("nats")), entry["name"]
            if entry != _described(notion if name == notion.name else notion_by_name(name)):
                raise ValueError(f"the parameters of {name} are stated twice, and differently")
            leakages[name] = nats
        source, costs = content["source_set"], content["costs"]
        return cls(
            sampler,
            None if source is None else _source_of(source, labels),
            notion,
            {name: float(value) for name, value in content["budget"].items()},
            leakages,
            content["distortion"],
            content["constraints"],
            content["knowledge"],
            content["policy"],
            content["package_version"],
            None if costs is None else np.array(costs, dtype=float),
            content["certificate"],
            content["price"],
            checksums,
        )

    def _notion(self, name: str) -> Notion:
        return self.notion if name == self.notion.name else notion_by_name(name)

    def inspect(self) -> list[Check]:
        """Every number again, from the integers alone; what cannot be is in :attr:`stated_only`.

        What is exact has to agree to the last digit. Information and Rényi divergences, which have logarithms, may differ by 1e-9
        nats from machine to machine, and a budget may be missed by as much, relatively.

        Returns
        -------
        list of (name, stated, found, agrees)
        """
        checks, leakages = [], {}
        if self._checksums is not None:
            checks.append(Check("checksum", *self._checksums, self._checksums[0] == self._checksums[1]))
        for name, stated in self.stated.items():
            found = leakages[name] = self.sampler.leakage(self._notion(name), self.source)
            close = found == stated or (name in _CURVED and abs(found - stated) <= _LAST_DIGITS)
            checks.append(Check(f"{name}, nats", stated, found, close))
        # A budget is for both: a document that has one has to state both.
        if self.budget and (own := self.notion.name) not in leakages:
            checks.append(Check(f"{own}, nats", None, self.sampler.leakage(self.notion, self.source), False))
        distortion = None
        if self.source is not None and (self.budget or self.distortion is not None):
            distortion = self.sampler.distortion(self.source, self.costs)
            checks.append(Check("distortion", self.distortion, distortion, distortion == self.distortion))
        for name, most in self.budget.items():
            spent = distortion if name == "distortion" else leakages.get(self.notion.name)
            if spent is not None:
                within = spent <= most * (1 + _ROUNDING) + (1e-12 if name == "leakage" else 0.0)
                checks.append(Check(f"budget of {name}", most, spent, within))
        if self.source is not None:
            for name, word in (("source_set", repr(self.source)), ("class", self.source.source_class)):
                if name in self.knowledge:
                    said = self.knowledge[name]
                    checks.append(Check(f"{name}, in words", said, word, said == word))
        return [*checks, *self._constraints(), *self._optimum(leakages)]

    @property
    def stated_only(self) -> list[tuple[str, Any]]:
        """What no integer tells and nobody can verify, by name; and what is not stated at all, which is None.

        The source set is what privacy and distortion rest on, and names of categories what was released.
        """
        labels, knowledge = self.sampler.labels, {"rows": None, **self.knowledge}
        own = self.notion.name
        stated = {"budget": self.budget, f"{own}, nats": own in self.stated, "certificate": self.certificate}
        stated["distortion"] = self.distortion is not None
        found = [
            ("categories", f"{len(labels):,}: {shortened(list(labels[:_SHOWN]))}"),
            ("what is known", None if self.source is None else repr(self.source)),
            *((name, value) for name, value in knowledge.items() if name not in ("source_set", "class")),
            *self.policy.items(),
            ("package version", self.version or None),
        ]
        return [*found, *((name, None) for name, value in stated.items() if not value)]

    def _constraints(self) -> list[Check]:
        if not any(np.any(value) for value in self.constraints.values() if value is not None) or self.source is None:
            return []
        asked = {"keep_at_least": None, "invariant": False, "forbidden": None, **self.constraints}
        asked["invariant"] = bool(asked["invariant"])
        constraints, mechanism, checks = Constraints.of(self.source, **asked), self.sampler.mechanism, []
        if constraints is None:
            return []
        if constraints.floors.any():
            slack = float((1 - mechanism.distortions - constraints.floors).min())
            checks.append(Check("kept beyond keep_at_least, at least", 0.0, slack, slack >= -_ROUNDING))
        if constraints.invariant:
            vertices = self.source.vertices
            moved = float(np.abs(vertices @ mechanism.matrix - vertices).max())
            checks.append(Check("change of an expected frequency, at most", 0.0, moved, moved <= _ROUNDING))
        if constraints.forbidden:
            count = sum(mechanism.matrix[pair] > 0 for pair in constraints.forbidden)
            checks.append(Check("forbidden pairs that can occur", 0, int(count), count == 0))
        return checks

    def _is_about(self, certificate: Mapping[str, Any]) -> bool:
        """Whether a certificate is for this notion and budget, and for distributions of this source set."""
        notion, point, said = self.notion, certificate["points"][0], certificate["notion"]
        if getattr(notion, "alpha", 1.0) == math.inf:
            notion = DifferentialPrivacy() if isinstance(notion, RenyiDP) else MaximalLeakage()
        known = {"delta": getattr(notion, "delta", None), "order": getattr(notion, "alpha", None)}
        same = said["name"] == notion.name and said.get("standard", False) == getattr(notion, "standard", False)
        same &= all(known[name] == float(as_fraction(said[name])) for name in known if name in said)
        same &= bool(self.budget)  # a certificate is of a budget
        if "distortion" in self.budget:
            same &= "distortion" in point and float(as_fraction(point["distortion"])) == self.budget["distortion"]
        # A bound for fewer mechanisms, or for other costs, says nothing about this one.
        asked = {"at_least": "keep_at_least", "at_most": "forbidden", "invariant": "invariant"}
        same &= all(np.any(self.constraints.get(name)) for of, name in asked.items() if certificate.get(of))
        costs = [[float(as_fraction(cost)) for cost in row] for row in certificate.get("costs", ())]
        own = [] if self.costs is None else self.costs.tolist()
        same &= costs == own
        if self.source is None or not same:
            return same
        priors = np.array([[float(as_fraction(p)) for p in row] for row in certificate["source_set"]["vertices"]])
        if priors.shape[1] != self.source.alphabet_size:
            return False
        if self.source.bounds is not None:
            lower, upper = self.source.bounds
            said = [
                [float(as_fraction(p)) for p in certificate["source_set"].get(end, ())] for end in ("lower", "upper")
            ]
            same = not any(said) or np.allclose(said, [lower, upper], rtol=0, atol=_ROUNDING)
            return bool(same and ((lower - _ROUNDING <= priors) & (priors <= upper + _ROUNDING)).all())
        return all(distance_to_hull(prior, self.source.vertices) <= _ROUNDING for prior in priors)

    def _optimum(self, leakages: Mapping[str, float]) -> list[Check]:
        what = "price of estimability, nats"
        if self.certificate is None:  # nothing would prove it
            return [] if self.price is None else [Check(what, self.price, None, False)]
        try:
            found = "; ".join(check(self.certificate))
        except Refused as error:
            return [Check("certificate", "proved", f"refused: {error}", False)]
        checks = [Check("certificate", "proved", found, self._is_about(self.certificate))]
        point, own = self.certificate["points"][0], leakages.get(self.notion.name)
        bound = point.get("least_leakage") or point.get("least_ratio")
        price = None
        if own is not None and bound and "distortion" in self.budget:
            least = float(as_fraction(bound)) if "least_leakage" in point else math.log(as_fraction(bound))
            price = own - least
        if self.price is not None:
            agrees = price is not None and abs(price - self.price) <= _LAST_DIGITS
            checks.append(Check(what, self.price, price, agrees))
        return checks


def _lines(content: Mapping[str, Any]) -> list[str]:
    return [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in content.items()
    ]


def _checksum(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: float) -> float | str:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else "infinity"


def _integers(value: Any) -> Any:
    array = np.array(value)
    if array.dtype.kind != "i":
        raise ValueError("'integers' has other numbers than integers")
    return array.astype(np.int64)


def _described(notion: Notion) -> dict[str, Any]:
    """A notion's name, parameters and graph."""
    known = {name: getattr(notion, name) for name in ("delta", "standard", "alpha") if hasattr(notion, name)}
    known = {name: value if isinstance(value, bool) else _text(value) for name, value in known.items()}
    if notion.name == "mutual information":
        known = {}
    graph: Adjacency | None = getattr(notion, "adjacency", None)
    if graph is not None and graph.weights is not None:
        pairs = zip(graph.neighbor_pairs.tolist(), graph.weights, strict=True)
        known["weights"] = [[*pair, str(weight)] for pair, weight in pairs]
    elif graph is not None:
        known["neighbors"] = graph.edges.tolist()
    return {"name": notion.name, **known}


def notion_of(described: Mapping[str, Any], letters: int) -> Notion:
    """The notion that a document names, with its parameters and graph. Raises ValueError if there is none.

    >>> notion_of({"name": "approximate differential privacy", "delta": 0.1, "standard": True}, 2)
    ApproximateDP(delta=0.1, standard=True)
    """
    given = {name: value for name, value in described.items() if name not in ("name", "neighbors", "weights")}
    given = {name: value if isinstance(value, bool) else float(value) for name, value in given.items()}
    if "neighbors" in described:
        given["adjacency"] = Adjacency.from_edges(letters, [tuple(pair) for pair in described["neighbors"]])
    if "weights" in described:
        table = np.full((letters, letters), math.inf, dtype=object)
        np.fill_diagonal(table, 0)
        for one, other, weight in described["weights"]:
            table[one, other] = weight
        given["adjacency"] = Adjacency.from_weights(table)
    return type(notion_by_name(described["name"]))(**given)


def words_of(notion: Notion) -> str:
    """A notion's name for people, with its parameters.

    >>> words_of(ApproximateDP(0.1)), words_of(RenyiDP(2))
    ('pointwise (ε, δ)-differential privacy with δ = 0.1', 'Rényi differential privacy of order 2')
    """
    if isinstance(notion, ApproximateDP):
        return f"{notion.title} with δ = {notion.delta:g}"
    if isinstance(notion, RenyiDP | SibsonInformation):
        return f"{notion.title} of order {notion.alpha:g}"
    return notion.title


def _source_described(source: SourceSet) -> dict[str, Any]:
    if source.bounds is not None:
        lower, upper = (bound.tolist() for bound in source.bounds)
        return {"name": source.name, "lower": lower, "upper": upper}
    return {"name": source.name, "vertices": source.vertices.tolist()}


def _source_of(described: Mapping[str, Any], labels: Sequence[Any]) -> SourceSet:
    if "lower" in described:
        lower, upper = (np.array(described[name], dtype=float) for name in ("lower", "upper"))
        return SourceSet.from_intervals(lower, upper, labels, described["name"])
    return SourceSet(np.array(described["vertices"], dtype=float), labels, described["name"])


def write_for_r(sampler: IntegerSampler, path: str | Path) -> MatrixSampler:
    """Write a CSV that R reads as a matrix for ``sdcMicro::pram(data, pd=...)``; what it says, as a sampler with its own leakage.

    Its numbers are integers over ``2**52``, so that each row sums to 1 exactly, in whatever order and precision R adds it, and
    are written with 17 digits, from which R gets them back. In R:
    ``pd <- as.matrix(read.csv(path, row.names=1, check.names=FALSE))``. Of at most 10,000 categories.
    Raises ValueError above, and OSError if the file cannot be written.

    >>> import tempfile
    >>> from paper_repro.mechanisms import randomized_response
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_for_r(IntegerSampler.of(randomized_response(3, 1.0)), Path(folder, "pd.csv"))
    >>> round(written.leakage(DifferentialPrivacy()), 12)
    1.0
    """
    exported = MatrixSampler.of_matrix(sampler.mechanism.matrix, sampler.labels, _EXACT_SUMS)
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["", *map(str, exported.labels)])
        for label, row in zip(exported.labels, exported.mechanism.matrix.tolist(), strict=True):
            rows.writerow([str(label), *(f"{entry:.17g}" for entry in row)])
    return exported
