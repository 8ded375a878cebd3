"""Recompute the ledger from scratch, on all cores or on a cluster, and compare it with the one on record."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from paper_repro.claims.base import (
    Claim,
    Finding,
    Sample,
    Statement,
    all_claims,
    claims_of,
    sample_of,
    statements,
    told_apart,
)
from paper_repro.errors import optional
from paper_repro.paths import DATA

__all__ = ["INSTANCES", "LEDGER", "QUICK", "Row", "compare", "faults", "judge", "read_ledger", "write_ledger"]

LEDGER = DATA / "ledger.csv"
# Random instances that a claim is tried on, in full and in the quick mode.
INSTANCES, QUICK = 500, 4
# Instances that a worker takes at once; and those on which a wrong variant may go unnoticed.
_CHUNK, _TRIED = 25, 200

_PROVENANCE = (
    "# Written by `make verify RECORD=1` from the checks in paper_repro/claims; statements from its TOML files.\n"
)


@dataclass(frozen=True)
class Row:
    """One row of the ledger: a statement, as :class:`paper_repro.claims.base.Statement` has it, and what came of it.

    Attributes
    ----------
    verdict, evidence : str
        As of :class:`paper_repro.claims.base.Finding`; ``numbers`` and ``tolerance`` too.
    tried, relevant : int
        Random instances drawn, and those of them that meet the antecedent.
    variants, rejected : int
        Wrong variants of the statement that are declared, and those that the check told apart from it.
    """

    name: str
    paper: str
    number: str
    place: str
    text: str
    statement: str
    reading: str
    verdict: str
    weight: str
    evidence: str
    correction: str
    exact: str
    independent: str
    also: tuple[str, ...]
    rests_on: tuple[str, ...]
    tried: int
    relevant: int
    variants: int
    rejected: int
    tolerance: float
    numbers: dict[str, float]

    @classmethod
    def of(cls, text: Statement, finding: Finding, **counts: int) -> Row:
        """The row of a statement; ``counts`` has what was tried, relevant, declared and rejected."""
        said: dict[str, Any] = {field: getattr(text, field) for field in _FIELDS if hasattr(text, field)}
        found: dict[str, Any] = {
            "verdict": finding.verdict,
            "evidence": finding.evidence,
            "tolerance": finding.tolerance,
        }
        return cls(**said | found | dict.fromkeys(_COUNTS, 0) | counts | {"numbers": dict(finding.numbers)})


_FIELDS = [field.name for field in fields(Row)]
_COUNTS = ("tried", "relevant", "variants", "rejected")


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
    by_name = {claim.name: claim for claim in chosen}
    run = _local(by_name) if workers == 1 and not scheduler else _spread(workers, scheduler)
    # What takes longest should not come last: random instances first, in the order of the claims.
    tasks: list[_Task] = []
    for claim in chosen:
        count = claim.instances(instances)
        tasks += [(claim.name, start, min(start + _CHUNK, count), "", "") for start in range(0, count, _CHUNK)]
    tasks += [(claim.name, 0, 0, "", "") for claim in chosen if claim.instance is None]
    steps = len(tasks) + sum(len(claim.wrong) for claim in chosen)
    samples: dict[str, Sample] = {}
    findings: dict[str, Finding] = {}
    for done, (name, result) in enumerate(run(tasks), start=1):
        if isinstance(result, Sample):
            samples[name] = samples.get(name, Sample()) | result
        elif isinstance(result, Finding):
            findings[name] = result
        if progress:
            progress(done, steps)
    findings |= {claim.name: claim.find(samples.get(claim.name)) for claim in chosen if claim.name not in findings}
    variants: list[_Task] = [
        (claim.name, 0, 0, findings[claim.name].verdict, variant) for claim in chosen for variant in claim.wrong
    ]
    rejected: Counter[str] = Counter()
    for step, (name, result) in enumerate(run(variants), start=len(tasks) + 1):
        rejected[name] += result is True
        if progress:
            progress(step, steps)
    rows = {
        claim.name: Row.of(
            claim.text,
            findings[claim.name],
            tried=claim.instances(instances),
            relevant=samples.get(claim.name, Sample()).count,
            variants=len(claim.wrong),
            rejected=rejected[claim.name],
        )
        for claim in chosen
    }
    if claims is None:
        rows |= {
            name: Row.of(text, Finding("not checkable", text.reason))
            for name, text in statements().items()
            if text.reason
        }
    return [rows[name] for name in statements() if name in rows]


def faults(rows: Iterable[Row]) -> list[str]:
    """What makes a row worthless or unfair, one line each: a wrong variant that passes, a fault that is not weighed.

    >>> faults([])
    []
    """
    lines = []
    for row in rows:
        if row.rejected < row.variants:
            lines.append(f"{row.name}: {row.variants - row.rejected} of {row.variants} wrong variants pass its check")
        faulty = row.verdict in ("corrected", "refuted", "depends on the reading")
        if faulty and not row.weight:
            lines.append(f"{row.name}: {row.verdict}, but its entry has no weight")
        if row.weight and not faulty:
            lines.append(f"{row.name}: {row.verdict}, but its entry has the weight {row.weight!r}")
    return lines


def compare(rows: Iterable[Row], recorded: Iterable[Row], *, same_instances: bool = True) -> list[str]:
    """What differs from the record, one line each: texts, verdicts, numbers beyond their tolerance, rows new, gone or moved.

    With ``same_instances=False``, how many random instances were tried is not compared; everything else is.
    """
    rows, recorded = list(rows), list(recorded)
    before, now = {row.name: row for row in recorded}, {row.name: row for row in rows}
    lines = [
        f"{name}: {count} times on record" for name, count in Counter(row.name for row in recorded).items() if count > 1
    ]
    lines += [f"{name}: not on record; `make verify RECORD=1` writes it" for name in now if name not in before]
    lines += [f"{name}: on record, but no longer claimed" for name in before if name not in now]
    order = [name for name in now if name in before]
    for name, other in zip(order, (name for name in before if name in now), strict=True):
        if name != other:
            lines.append(f"{name}: on record in another order, {other} stands there")
            break
    skipped = {"numbers", "rejected"} | (set() if same_instances else {"tried", "relevant"})
    for name in order:
        row, old = now[name], before[name]
        if row.verdict != old.verdict:
            lines.append(f"{name}: {row.verdict}, on record {old.verdict}: {row.evidence}")
            continue
        for field in _FIELDS:
            found, there = getattr(row, field), getattr(old, field)
            if field not in skipped and found != there:
                lines.append(f"{name}: its {field} is {found!r}, on record {there!r}")
        if row.numbers.keys() != old.numbers.keys():
            lines.append(f"{name}: has numbers for {', '.join(row.numbers)}, on record {', '.join(old.numbers)}")
        for key in row.numbers.keys() & old.numbers.keys():
            if not _same(row.numbers[key], old.numbers[key], max(row.tolerance, 1e-9)):
                lines.append(f"{name}, {key}: {row.numbers[key]!r}, on record {old.numbers[key]!r}")
    return sorted(lines)


def read_ledger(path: Path = LEDGER) -> list[Row]:
    """The ledger on record.

    Raises ValueError, naming file and line, for a row that is none.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        if reader.fieldnames != _FIELDS:
            raise ValueError(
                f"{path}: the columns must be {', '.join(_FIELDS)}, got {', '.join(reader.fieldnames or ())}"
            )
        rows = []
        for line in reader:
            try:
                told: dict[str, Any] = dict(line)
                told |= {field: int(line[field]) for field in _COUNTS} | {"tolerance": float(line["tolerance"])}
                told |= {field: tuple(line[field].split("; ")) if line[field] else () for field in ("also", "rests_on")}
                rows.append(Row(**told | {"numbers": json.loads(line["numbers"])}))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}, line {reader.line_num + 1}, {line.get('name')}: {error}") from None
    return rows


def write_ledger(rows: Iterable[Row], path: Path = LEDGER) -> None:
    """Put a ledger on record; the file is replaced as a whole."""
    text = io.StringIO(newline="")
    text.write(_PROVENANCE)
    writer = csv.DictWriter(text, _FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        told: dict[str, Any] = {field: getattr(row, field) for field in _FIELDS}
        told |= {field: "; ".join(told[field]) for field in ("also", "rests_on")}
        numbers = {key: _rounded(value) for key, value in row.numbers.items()}
        writer.writerow(told | {"numbers": json.dumps(numbers, ensure_ascii=False)})
    beside = path.with_suffix(".new")
    beside.write_text(text.getvalue(), encoding="utf-8", newline="")
    beside.replace(path)


_Task = tuple[str, int, int, Any, str]
"""A claim, its instances from and to, or the verdict from which a wrong variant is to be told apart."""
_Result = tuple[str, Sample | Finding | bool]


def _local(claims: dict[str, Claim]) -> Callable[[list[_Task]], Iterable[_Result]]:
    return lambda tasks: (_do(claims[task[0]], *task[1:]) for task in tasks)


def _spread(workers: int, scheduler: str) -> Callable[[list[_Task]], Iterable[_Result]]:
    def run(tasks: list[_Task]) -> Iterable[_Result]:
        joblib = optional("joblib", "cluster")
        calls = (joblib.delayed(_do_task)(task) for task in tasks)
        if not scheduler:
            yield from joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)(calls)
            return
        distributed = optional("distributed", "cluster")
        with distributed.Client(scheduler, timeout="20s") as client:
            futures = client.map(_do_task, tasks, pure=False)
            for future in distributed.as_completed(futures):
                yield future.result()

    return run


def _do_task(task: _Task) -> _Result:
    return _do(claims_of([task[0]])[0], *task[1:])


def _do(claim: Claim, start: int, stop: int, verdict: Any, variant: str) -> _Result:
    try:
        if variant:
            return claim.name, told_apart(claim, verdict, variant, _TRIED)
        return claim.name, claim.find() if claim.instance is None else sample_of(claim, start, stop)
    except Exception as error:
        error.add_note(
            f"in the check of {claim.name} ({claim.text.number}), {variant or f'instances {start} to {stop}'}"
        )
        raise


def _same(first: float, second: float, tolerance: float) -> bool:
    if first == second:
        return True
    return math.isclose(first, second, rel_tol=1e-6, abs_tol=tolerance)


def _rounded(value: float) -> float:
    """Ten significant digits: more would record rounding."""
    return float(f"{value:.10g}") + 0.0
