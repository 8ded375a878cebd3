"""Execute notebooks, each in a process of its own that ends with the command that started it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from paper_repro.errors import optional

__all__ = ["NotebookRunError", "Task", "execute_all"]

# What makes two runs differ: dates, hash order and the number of threads.
KERNEL_ENVIRONMENT = {
    "JUPYTER_PREFER_ENV_PATH": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1451606400",
}


class NotebookRunError(RuntimeError):
    """A run that cannot start or did not finish; its message is written for the user."""


class Task(NamedTuple):
    """A notebook to execute with parameters, and where the executed one goes."""

    name: str
    source: Path
    executed: Path
    parameters: Mapping[str, object]


def execute_all(tasks: Sequence[Task], jobs: int) -> None:
    """Execute notebooks, so many at a time, and say when each is done; whatever ends this ends what it started.

    Raises
    ------
    NotebookRunError
        If one fails; the executed notebook is kept, and what its kernel said is beside it as ``.log``.
    """
    start, waiting = time.monotonic(), list(reversed(tasks))
    running: list[tuple[Task, subprocess.Popen[bytes]]] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                running.append((task, _start(task)))
            time.sleep(0.02)
            for task, process in [entry for entry in running if entry[1].poll() is not None]:
                running.remove((task, process))
                if process.returncode:
                    raise NotebookRunError(_failure(task))
                print(f"{task.name}: {task.source.name} done after {time.monotonic() - start:.0f} s", flush=True)
    finally:
        _end(process for _, process in running)


def _start(task: Task) -> subprocess.Popen[bytes]:
    # Settings of the user's home must not change a figure; make sets both already.
    build = task.executed.parent.parent
    settings = {"MPLCONFIGDIR": str(build / "matplotlib"), "IPYTHONDIR": str(build / "ipython")}
    environment = {**settings, **os.environ, **KERNEL_ENVIRONMENT}
    environment.pop("MPLBACKEND", None)  # with agg, notebooks lose their inline figures
    arguments = [str(task.source), str(task.executed), json.dumps(task.parameters)]
    # The kernel inherits both streams and warns at each start.
    with task.executed.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", __name__, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C goes to the command alone, which then ends the others
        )


def _failure(task: Task) -> str:
    try:
        said = task.executed.with_suffix(".failure").read_text(encoding="utf-8")
    except OSError:
        return f"{task.name}: the process of {task.source.name} died; see {task.executed.with_suffix('.log')}"
    return f"{task.name}: {task.source.name} failed {said}\nThe executed notebook is kept: {task.executed}"


def _end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Kill processes and all they started: kernels have sessions of their own."""
    for process in processes:
        if process.poll() is None:
            psutil = optional("psutil", "notebooks")
            worker = psutil.Process(process.pid)
            worker.suspend()  # so that it starts no more
            for each in [*worker.children(recursive=True), worker]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()


def _execute(source: Path, executed: Path, parameters: dict[str, object]) -> str:
    """Run one notebook; what went wrong as text, and empty if nothing did."""
    papermill = optional("papermill", "notebooks")
    try:
        papermill.execute_notebook(
            source,
            executed,
            parameters,
            kernel_name="python3",
            progress_bar=False,
            cwd=source.parent,
            coalesce_streams=True,  # else the split of a cell's prints depends on timing
        )
    except papermill.PapermillExecutionError as error:
        return f"in cell [{error.exec_count}]: {error.ename}: {error.evalue}"
    except Exception as error:
        return f"to run: {type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    _, _source, _executed, _parameters = sys.argv
    if _said := _execute(Path(_source), Path(_executed), json.loads(_parameters)):
        Path(_executed).with_suffix(".failure").write_text(_said, encoding="utf-8")
        sys.exit(1)
