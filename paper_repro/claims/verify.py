"""Recompute the ledger from scratch, on all cores or on a cluster, and compare it with the one on record."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper_repro.claims.base import Claim, Finding, Sample, all_claims, claims_of, sample_of
from paper_repro.errors import optional
from paper_repro.paths import DATA

__all__ = ["INSTANCES", "LEDGER", "QUICK", "Row", "compare", "judge", "read_ledger", "write_ledger"]

LEDGER = DATA / "ledger.csv"
# Random instances that a claim is tried on, in full and in the quick mode.
INSTANCES, QUICK = 500, 4
# Instances that a worker takes at once.
_CHUNK = 25

_PROVENANCE = (
    "# Written by `make verify RECORD=1` from the checks in paper_repro/claims; statements are in our own words.\n"
)
_FIELDS = [
    "name", "paper", "number", "place", "statement", "verdict", "evidence", "correction", "instances", "tolerance", "numbers",
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One row of the ledger: a claim and its finding."""

    name: str
    paper: str
    number: str
    place: str
    statement: str
    verdict: str
    evidence: str
    correction: str
    instances: int
    tolerance: float
    numbers: dict[str, float]

    @classmethod
    def of(cls, claim: Claim, finding: Finding) -> Row:
        return cls(
            claim.name,
            claim.paper,
            claim.number,
            claim.place,
            claim.statement,
            finding.verdict,
            finding.evidence,
            claim.correction,
            finding.instances,
            finding.tolerance,
            dict(finding.numbers),
        )


def judge(
    instances: int = INSTANCES,
    *,
    claims: Sequence[Claim] | None = None,
    workers: int = -1,
    scheduler: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Judge claims, each on so many random instances.

    Parameters
    ----------
    instances : int, >= 1
        Slow claims take a share of it.
    claims : sequence of Claim, optional
        All, if not given.
    workers : int
        Processes; -1 takes all cores, 1 none but this one. The rows do not depend on it.
    scheduler : str
        Address of a Dask scheduler, to spread the work over its workers instead.
    progress : callable, optional
        Called with the tasks done and their number.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If ``instances`` is below 1.
    """
    if instances < 1:
        raise ValueError(f"instances must be at least 1, got {instances}")
    chosen = all_claims() if claims is None else list(claims)
    tasks: list[tuple[str, int, int]] = []
    for claim in chosen:
        count = claim.instances(instances)
        tasks += [(claim.name, start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK)]
    fixed = [(claim.name, 0, 0) for claim in chosen if claim.instance is None]
    samples: dict[str, Sample] = {}
    findings: dict[str, Finding] = {}
    by_name = {claim.name: claim for claim in chosen}
    run = _local(by_name) if workers == 1 and not scheduler else _spread(workers, scheduler)
    # What takes longest should not come last: random instances first, in the order of the claims.
    for done, (name, result) in enumerate(run([*tasks, *fixed]), start=1):
        if isinstance(result, Sample):
            samples[name] = samples.get(name, Sample()) | result
        else:
            findings[name] = result
        if progress:
            progress(done, len(tasks) + len(fixed))
    return [Row.of(claim, findings.get(claim.name) or claim.find(samples.get(claim.name))) for claim in chosen]


def compare(rows: Iterable[Row], recorded: Iterable[Row], *, same_instances: bool = True) -> list[str]:
    """What differs from the record, one line each: verdicts, numbers beyond their tolerance, rows that are new or gone.

    With ``same_instances=False``, how many random instances were tried is not compared; verdicts and numbers are.
    """
    before = {row.name: row for row in recorded}
    now = {row.name: row for row in rows}
    lines = [f"{name}: not on record; `make verify RECORD=1` writes it" for name in now if name not in before]
    lines += [f"{name}: on record, but no longer claimed" for name in before if name not in now]
    for name in now.keys() & before.keys():
        row, old = now[name], before[name]
        if row.verdict != old.verdict:
            lines.append(f"{name}: {row.verdict}, on record {old.verdict}: {row.evidence}")
            continue
        for field in ("paper", "number", "place", "statement", "correction"):
            if getattr(row, field) != getattr(old, field):
                lines.append(f"{name}: its {field} is not the one on record")
        if same_instances and row.instances != old.instances:
            lines.append(f"{name}: {row.instances} instances, on record {old.instances}")
        if row.numbers.keys() != old.numbers.keys():
            lines.append(f"{name}: has numbers for {', '.join(row.numbers)}, on record {', '.join(old.numbers)}")
        for key in row.numbers.keys() & old.numbers.keys():
            if not _same(row.numbers[key], old.numbers[key], max(row.tolerance, 1e-9)):
                lines.append(f"{name}, {key}: {row.numbers[key]!r}, on record {old.numbers[key]!r}")
    return sorted(lines)


def read_ledger(path: Path = LEDGER) -> list[Row]:
    """The ledger on record."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                **{field: line[field] for field in _FIELDS[:8]},
                instances=int(line["instances"]),
                tolerance=float(line["tolerance"]),
                numbers=json.loads(line["numbers"]),
            )
            for line in csv.DictReader(line for line in file if not line.startswith("#"))
        ]


def write_ledger(rows: Iterable[Row], path: Path = LEDGER) -> None:
    """Put a ledger on record."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_PROVENANCE)
        writer = csv.DictWriter(file, _FIELDS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            fields: dict[str, Any] = {field: getattr(row, field) for field in _FIELDS}
            numbers = {key: _rounded(value) for key, value in row.numbers.items()}
            writer.writerow(fields | {"numbers": json.dumps(numbers, ensure_ascii=False)})


def _local(claims: dict[str, Claim]) -> Callable[[list[tuple[str, int, int]]], Iterable[tuple[str, Sample | Finding]]]:
    return lambda tasks: (_do(claims[name], start, stop) for name, start, stop in tasks)


def _spread(
    workers: int, scheduler: str
) -> Callable[[list[tuple[str, int, int]]], Iterable[tuple[str, Sample | Finding]]]:
    def run(tasks: list[tuple[str, int, int]]) -> Iterable[tuple[str, Sample | Finding]]:
        joblib = optional("joblib", "cluster")
        calls = (joblib.delayed(_do_by_name)(*task) for task in tasks)
        if not scheduler:
            yield from joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)(calls)
            return
        distributed = optional("distributed", "cluster")
        with distributed.Client(scheduler, timeout="20s") as client:
            futures = client.map(_do_task, tasks, pure=False)
            for future in distributed.as_completed(futures):
                yield future.result()

    return run


def _do_task(task: tuple[str, int, int]) -> tuple[str, Sample | Finding]:
    return _do_by_name(*task)


def _do_by_name(name: str, start: int, stop: int) -> tuple[str, Sample | Finding]:
    return _do(claims_of([name])[0], start, stop)


def _do(claim: Claim, start: int, stop: int) -> tuple[str, Sample | Finding]:
    try:
        return claim.name, claim.find() if claim.instance is None else sample_of(claim, start, stop)
    except Exception as error:
        error.add_note(f"in the check of {claim.name} ({claim.number}), instances {start} to {stop}")
        raise


def _same(first: float, second: float, tolerance: float) -> bool:
    if first == second:
        return True
    return math.isclose(first, second, rel_tol=1e-6, abs_tol=tolerance)


def _rounded(value: float) -> float:
    """Ten significant digits: more would record rounding."""
    return float(f"{value:.10g}") + 0.0
