"""Recompute the ledger from scratch, on all cores or on a cluster, and compare it with the one on record."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

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
from paper_repro.reproduce.cluster import digest, on_cluster

__all__ = [
    "INSTANCES",
    "LEDGER",
    "QUICK",
    "Journal",
    "Row",
    "compare",
    "faults",
    "judge",
    "read_ledger",
    "write_ledger",
]

LEDGER = DATA / "ledger.csv"
# Random instances that a claim is tried on, in full and in the quick mode.
INSTANCES, QUICK = 500, 4
# Instances that a worker takes at once; and those on which a wrong variant may go unnoticed.
_CHUNK, _TRIED = 25, 200
# A worker of a cluster may have several threads, and what z3 holds must not be touched by two of them.
_ONE_AT_A_TIME = threading.Lock()

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
        Variants of the statement, one constant changed, that are declared, and those that have another verdict.
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
    counterparts: tuple[str, ...]
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
_LISTS = ("also", "counterparts", "rests_on")
_COUNTS = ("tried", "relevant", "variants", "rejected")


def judge(
    instances: int = INSTANCES,
    *,
    claims: Sequence[Claim] | None = None,
    workers: int = -1,
    scheduler: str = "",
    progress: Callable[[int, int], None] | None = None,
    journal: Journal | None = None,
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
    journal : Journal, optional
        Keeps what is judged, and has what was judged before.

    Returns
    -------
    list of Row

    Raises
    ------
    ValueError
        If ``instances`` is below 1.
    """
    if instances < 1:
        raise ValueError(f"instances must be a whole number of at least 1; got {instances}. Give a larger number.")
    chosen = all_claims() if claims is None else list(claims)
    by_name = {claim.name: claim for claim in chosen}
    run = _local(by_name) if workers == 1 and not scheduler else _spread(workers, scheduler)
    # What takes longest should not come last: random instances first, in the order of the claims.
    tasks = [
        _Task(claim.name, start, min(start + _CHUNK, count))
        for claim in chosen
        for count in (claim.instances(instances),)
        for start in range(0, count, _CHUNK)
    ]
    tasks += [_Task(claim.name) for claim in chosen if claim.instance is None]
    steps = itertools.count(1)
    total = len(tasks) + sum(len(claim.wrong) for claim in chosen)

    def results(asked: list[_Task]) -> Iterator[tuple[_Task, _Result]]:
        known = journal.known if journal else {}
        for task, result in itertools.chain(
            ((task, known[task]) for task in asked if task in known), run([task for task in asked if task not in known])
        ):
            if journal:
                journal.add(task, result)
            yield task, result
            if progress:
                progress(next(steps), total)

    samples: dict[str, Sample] = {}
    findings: dict[str, Finding] = {}
    for task, result in results(tasks):
        if isinstance(result, Sample):
            samples[task.name] = samples.get(task.name, Sample()) | result
        elif isinstance(result, Finding):
            findings[task.name] = result
    findings |= {claim.name: claim.find(samples.get(claim.name)) for claim in chosen if claim.name not in findings}
    variants = [
        _Task(claim.name, variant=variant, verdict=findings[claim.name].verdict)
        for claim in chosen
        for variant in claim.wrong
    ]
    rejected = Counter(task.name for task, result in results(variants) if result is True)
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
    return [rows[name] for name in (statements() if claims is None else rows)]


def faults(rows: Iterable[Row]) -> list[str]:
    """What makes a row worthless or unfair, one line each: an altered statement that goes unnoticed, a weight that is missing.

    >>> faults([])
    []
    """
    lines = []
    for row in rows:
        if row.rejected < row.variants:
            lines.append(
                f"{row.name}: {row.variants - row.rejected} of {row.variants} altered statements get the same verdict"
            )
        faulty = row.verdict in ("corrected", "refuted", "depends on the reading")
        if faulty and not row.weight:
            lines.append(f"{row.name}: {row.verdict}, but its entry has no weight; give it one")
        if row.weight and not faulty:
            lines.append(f"{row.name}: {row.verdict}, but its entry has the weight {row.weight!r}; remove it")
        if row.verdict == "source text uncertain" and not (row.text and row.correction):
            lines.append(
                f"{row.name}: {row.verdict}, but its entry does not say what our copy shows (text) and what is true (correction)"
            )
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
    lines += [f"{name}: on record, but no entry has this name any more" for name in before if name not in now]
    order = [name for name in now if name in before]
    for name, other in zip(order, (name for name in before if name in now), strict=True):
        if name != other:
            lines.append(f"{name}: on record in another order, where {other} has its place")
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
                told |= {field: tuple(line[field].split("; ")) if line[field] else () for field in _LISTS}
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
        told |= {field: "; ".join(told[field]) for field in _LISTS}
        numbers = {key: _rounded(value) for key, value in row.numbers.items()}
        writer.writerow(told | {"numbers": json.dumps(numbers, ensure_ascii=False)})
    beside = path.with_suffix(".new")
    beside.write_text(text.getvalue(), encoding="utf-8", newline="")
    beside.replace(path)


class _Task(NamedTuple):
    """Instances of a claim, from and to; or a wrong variant of it, and the verdict from which it is to be told apart."""

    name: str
    start: int = 0
    stop: int = 0
    variant: str = ""
    verdict: Any = ""


_Result = Sample | Finding | bool


class Journal:
    """What was judged so far, on disk, for a run that was interrupted; what other code or data found is not taken.

    Attributes
    ----------
    known : dict
        Results of tasks, as they were when the journal was opened.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{digest()}.jsonl"
        self.known: dict[_Task, _Result] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else ():
            try:
                task, kind, told = json.loads(line)
                self.known[_Task(*task)] = _KINDS[kind](**told)
            except ValueError:
                continue  # the line that was being written when the run ended

    def add(self, task: _Task, result: _Result) -> None:
        """Keep a result, unless it is known."""
        if task not in self.known:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            told = {"value": result} if isinstance(result, bool) else asdict(result)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([task, type(result).__name__, told]) + "\n")

    def close(self) -> None:
        """Forget everything: the run is complete."""
        self._path.unlink(missing_ok=True)


_KINDS: dict[str, Callable[..., _Result]] = {"Sample": Sample, "Finding": Finding, "bool": lambda value: bool(value)}


def _local(claims: dict[str, Claim]) -> Callable[[list[_Task]], Iterable[tuple[_Task, _Result]]]:
    return lambda tasks: ((task, _do(claims[task.name], task)) for task in tasks)


def _spread(workers: int, scheduler: str) -> Callable[[list[_Task]], Iterable[tuple[_Task, _Result]]]:
    def run(tasks: list[_Task]) -> Iterable[tuple[_Task, _Result]]:
        if scheduler:
            yield from on_cluster(_do_by_name, tasks, scheduler)
        elif tasks:
            joblib = optional("joblib", "cluster")
            calls = (joblib.delayed(_do_by_name)(task) for task in tasks)
            yield from joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)(calls)

    return run


def _do_by_name(task: _Task) -> tuple[_Task, _Result]:
    with _ONE_AT_A_TIME:
        return task, _do(claims_of([task.name])[0], task)


def _do(claim: Claim, task: _Task) -> _Result:
    try:
        if task.variant:
            return told_apart(claim, task.verdict, task.variant, _TRIED)
        return claim.find() if claim.instance is None else sample_of(claim, task.start, task.stop)
    except Exception as error:
        what = task.variant or f"instances {task.start} to {task.stop}"
        error.add_note(f"in the check of {claim.name} ({claim.text.number}), {what}")
        raise


def _same(first: float, second: float, tolerance: float) -> bool:
    if first == second:
        return True
    return math.isclose(first, second, rel_tol=1e-6, abs_tol=tolerance)


def _rounded(value: float) -> float:
    """Ten significant digits: more would record rounding."""
    return float(f"{value:.10g}") + 0.0
