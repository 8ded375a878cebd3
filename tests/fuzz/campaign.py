"""A campaign: every problem in a child process, every verdict written down at once, a table in the end.

A child that is lost in a problem is killed and replaced. Verdicts go to ``build/fuzz/seed-<SEED>.jsonl``, one a line, so that a
campaign that was interrupted is continued by the same command, unless the package has changed since; what failed goes to
``build/fuzz/failures.txt``, one pasteable call a line after ``import paper_repro as pr; from math import inf``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import paper_repro
from tests.fuzz.judge import Verdict, judged
from tests.fuzz.problems import CELLS, REGIMES, draw

SLOW, LOST = 20.0, 60.0
"""CPU seconds from which a call counts as slow, and wall seconds after which a child is killed."""
FOLDER = Path("build/fuzz")
NAMES = ("refused", "wrong", "fault", "slow")
WRONG = ("optimum", "figures", "budget", "gap", "prior", "cross")
Key = tuple[str, str, int]


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("-n", type=int, default=1000, help="number of problems, dealt evenly to the cells")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="regime, /notion, regime/notion or regime/notion#number")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    problems = list(dealt(given.n, given.only))
    if not problems:
        parser.error(f"no cell is called {given.only!r}; regimes are {', '.join(REGIMES)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as if interrupted by hand
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell starts it in the background
    verdicts, complete = campaign(problems, given.seed, given.jobs)
    print("\n".join(table(verdicts)))
    failed = [verdict for verdict in verdicts if verdict.failures]
    FOLDER.joinpath("failures.txt").write_text("".join(f"{line}\n" for line in failure_lines(failed)))
    print(
        f"{len(failed)} of {len(verdicts)} problems failed{'' if complete else ' (interrupted)'}; {FOLDER}/failures.txt"
    )
    return 1 if failed else 0


def dealt(count: int, only: str = "") -> Iterator[Key]:
    """Problems in rounds through the cells that are asked for, so that every start of a campaign is one itself."""
    name, _, number = only.partition("#")
    regime, _, notion = name.partition("/")
    cells = [cell for cell in CELLS if regime in ("", cell[0]) and notion in ("", cell[1])]
    if number:
        yield from ((*cell, int(number)) for cell in cells)
        return
    for place in range(count if cells else 0):
        yield (*cells[place % len(cells)], place // len(cells))


def campaign(problems: list[Key], seed: int, jobs: int, *, folder: Path = FOLDER) -> tuple[list[Verdict], bool]:
    """Verdicts of the problems, and whether all were reached; those that a record has are not asked again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed-{seed}.jsonl"
    known = _recorded(path)
    names = [f"{regime}/{notion}#{number}" for regime, notion, number in problems]
    open_problems = [key for key, name in zip(problems, names, strict=True) if name not in known]
    start, failures, complete = time.monotonic(), 0, False
    with path.open("a") as record:
        if not known:
            record.seek(0)
            record.truncate()
            record.write(json.dumps({"version": _version()}) + "\n")
        try:
            for number, verdict in enumerate(_verdicts(open_problems, seed, jobs), start=1):
                known[verdict.name] = verdict
                record.write(json.dumps(asdict(verdict)) + "\n")
                record.flush()
                for line in failure_lines([verdict]):
                    print(line, flush=True)
                failures += bool(verdict.failures)
                _progress(number, len(open_problems), failures, time.monotonic() - start)
            complete = True
        except KeyboardInterrupt:
            pass
    return [known[name] for name in names if name in known], complete


def _progress(number: int, count: int, failures: int, seconds: float) -> None:
    text = f"{number} of {count} problems, {failures} failed, {seconds:.0f} s"
    if sys.stderr.isatty():
        print(f"\r{text} ", end="\n" if number == count else "", file=sys.stderr, flush=True)
    elif number % 100 == 0 or number == count:
        print(text, file=sys.stderr, flush=True)


def _version() -> str:
    """What the package's modules are."""
    root = Path(paper_repro.__file__).parent
    parts = sorted(root.rglob("*.py"))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:16]


def _recorded(path: Path) -> dict[str, Verdict]:
    """What an earlier run with this seed wrote down, if it was of the same package; a half-written last line is dropped."""
    if not path.exists():
        return {}
    head, *lines = path.read_text().splitlines() or [""]
    if not head or json.loads(head).get("version") != _version():
        return {}
    found = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        entry["failures"] = [tuple(failure) for failure in entry["failures"]]
        found[entry["name"]] = Verdict(**entry)
    return found


# ---- children


def _serve(pipe: Connection, seed: int) -> None:
    """Judge one problem after the other; interrupts are the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (key := pipe.recv()) is not None:
        pipe.send(("verdict", judged(draw(seed, *key), lambda seconds: pipe.send(("answered", seconds)))))


class _Child:
    def __init__(self, seed: int) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self.seed = seed
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, seed), daemon=True)
        self.process.start()
        theirs.close()
        self.key: Key | None = None
        self.since, self.answered = 0.0, -1.0

    def ask(self, key: Key) -> None:
        self.key, self.since, self.answered = key, time.monotonic(), -1.0
        self.pipe.send(key)

    def verdict(self) -> Verdict | None:
        """What it has to say, if it is done or gone."""
        try:
            while self.pipe.poll():
                what, value = self.pipe.recv()
                if what == "verdict":
                    return value
                self.answered = value
        except (EOFError, OSError):
            return self._gone(("fault", "the process died"))
        if time.monotonic() - self.since > LOST * (5 if self.answered >= 0 else 1):
            self.stop()
            return self._gone(("slow", f"no answer after {LOST:.0f} s") if self.answered < 0 else None)
        return None

    def _gone(self, failure: tuple[str, str] | None) -> Verdict:
        assert self.key is not None
        problem = draw(self.seed, *self.key)
        verdict = Verdict(problem.name, str(problem), problem.variant, seconds=max(self.answered, 0.0))
        if failure:
            verdict.failures, verdict.seconds = [(*failure, str(problem))], time.monotonic() - self.since
        return verdict

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def _verdicts(problems: Iterable[Key], seed: int, jobs: int) -> Iterator[Verdict]:
    left = iter(problems)
    children: list[_Child] = []
    try:
        children = [
            child for child, key in zip((_Child(seed) for _ in range(jobs)), left, strict=False) if not child.ask(key)
        ]
        while children:
            wait([child.pipe for child in children], timeout=1.0)
            for place, child in enumerate(children):
                verdict = child.verdict()
                if verdict is None:
                    continue
                yield verdict
                key = next(left, None)
                if not child.process.is_alive() or verdict.failures[:1] == [
                    ("fault", "the process died", verdict.line)
                ]:
                    child.stop()
                    child = children[place] = _Child(seed)
                if key is None:
                    child.stop()
                    child.key = None
                else:
                    child.ask(key)
            children = [child for child in children if child.key is not None]
    finally:
        for child in children:
            child.stop()


# ---- what is shown


def outcome(verdict: Verdict) -> str:
    """The worst that came of a problem: fault, wrong, refused, slow, or nothing."""
    kinds = {kind for kind, _, _ in verdict.failures}
    if "fault" in kinds:
        return "fault"
    if kinds & set(WRONG):
        return "wrong"
    return next(iter(kinds), "slow" if verdict.seconds > SLOW else "")


def failure_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """One reproducible call a failure, with what is wrong behind it."""
    for verdict in verdicts:
        for kind, message, line in verdict.failures:
            yield f"{line}  # {kind}: {' '.join(message.split())} [{verdict.name}]"


def table(verdicts: list[Verdict]) -> Iterator[str]:
    """Problems by regime and notion, then what failed by notion and parameter, then what was wrong by kind."""
    cells: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    variants: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        regime, _, rest = verdict.name.partition("/")
        cells[regime, rest.partition("#")[0]].append(verdict)
        variants[verdict.variant].append(verdict)
    head = f"{'problems':>9}{''.join(f'{name:>9}' for name in NAMES)}{'judged':>9}{'slowest':>9}"
    yield f"{'regime/notion':36}{head}"
    for regime in REGIMES:
        chosen = [key for key in cells if key[0] == regime]
        for key in sorted(chosen, key=CELLS.index):
            yield f"{'/'.join(key):36}{_row(cells[key])}"
        if len(chosen) > 1:
            yield f"{regime + ' (all)':36}{_row([verdict for key in chosen for verdict in cells[key]])}"
    yield ""
    yield f"{'notion with its parameter':36}{head}"
    for variant in sorted(variants):
        yield f"{variant:36}{_row(variants[variant])}"
    yield f"{'all':36}{_row(verdicts)}"
    yield ""
    kinds = Counter(kind for verdict in verdicts for kind in {kind for kind, _, _ in verdict.failures})
    yield "problems by kind of failure: " + (
        ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()) or "none"
    )


def _row(verdicts: list[Verdict]) -> str:
    counts = Counter(map(outcome, verdicts))
    judged_by = sum(bool(verdict.independent) for verdict in verdicts)
    slowest = max((verdict.seconds for verdict in verdicts), default=0.0)
    return (
        f"{len(verdicts):>9}{''.join(f'{counts[name] or chr(46):>9}' for name in NAMES)}{judged_by:>9}{slowest:>8.1f}s"
    )
