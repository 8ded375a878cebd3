"""Execute notebooks, each in a process of its own that ends with the command that started it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from paper_repro.errors import optional
from paper_repro.reproduce.forking import Forked, Template, notebook_modules

__all__ = ["NotebookRunError", "Task", "execute_all"]

# What makes two runs differ: dates, hash order and the number of threads.
KERNEL_ENVIRONMENT = {
    "JUPYTER_PREFER_ENV_PATH": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1451606400",
}


PROVISIONER = "forked"  # its name in pyproject.toml and the Makefile

_Process = subprocess.Popen[bytes] | Forked


class NotebookRunError(RuntimeError):
    """A run that cannot start or did not finish; its message is written for the user."""


class Task(NamedTuple):
    """A notebook to execute with parameters, and where the executed one goes."""

    name: str
    source: Path
    executed: Path
    parameters: Mapping[str, object]


def execute_all(tasks: Sequence[Task], jobs: int, done: Callable[[Task], None] = lambda task: None) -> None:
    """Execute notebooks, so many at a time, and say when each is done; whatever ends this ends what it started.

    ``done`` is called with each that succeeded, while the others run on.

    Raises
    ------
    NotebookRunError
        After the others, if some failed: a line for each, and where the executed notebook is kept; what its kernel said is
        beside it as ``.log``.
    """
    if not tasks:
        return
    start, waiting, failures = time.monotonic(), list(reversed(tasks)), []
    running: list[tuple[Task, _Process]] = []
    source = Template.start(notebook_modules({task.source: None for task in tasks}), _environment(tasks[0]))
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                running.append((task, _start(task, source)))
            time.sleep(0.02)
            for task, process in [entry for entry in running if entry[1].poll() is not None]:
                running.remove((task, process))
                if process.returncode:
                    failures.append(_failure(task))
                else:
                    done(task)
                verb = "failed" if process.returncode else "done"
                print(f"{task.name}: {task.source.name} {verb} after {time.monotonic() - start:.0f} s", flush=True)
    finally:
        if running:
            _end([*([source.process.pid] if source and source.process else []), *(each.pid for _, each in running)])
        if source:
            source.close()
        for _, process in running:
            process.wait()
    if failures:
        raise NotebookRunError("\n".join(failures))


def _environment(task: Task) -> dict[str, str]:
    # Settings of the user's home must not change a figure; make sets both already.
    build = task.executed.parent.parent
    settings = {"MPLCONFIGDIR": str(build / "matplotlib"), "IPYTHONDIR": str(build / "ipython")}
    environment = {**settings, **os.environ, **KERNEL_ENVIRONMENT}
    environment.pop("MPLBACKEND", None)  # with agg, notebooks lose their inline figures
    return environment


def _start(task: Task, source: Template | None) -> _Process:
    environment = _environment(task)
    arguments = [str(task.source), str(task.executed), json.dumps(task.parameters)]
    # The kernel inherits both streams and warns at each start.
    with task.executed.with_suffix(".log").open("wb") as log, open(os.devnull, "rb") as nothing:
        streams = [nothing.fileno(), log.fileno(), log.fileno()]
        if source:
            kernels = {"JUPYTER_DEFAULT_PROVISIONER_NAME": PROVISIONER} if _registered() else {}
            if process := source.fork(__name__, arguments, {**environment, **kernels}, os.getcwd(), streams):
                return process
        return subprocess.Popen(
            [sys.executable, "-m", __name__, *arguments],
            env=environment,
            stdin=nothing,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C goes to the command alone, which then ends the others
        )


@functools.cache
def _registered() -> bool:
    """Whether jupyter_client knows the provisioner; it does not in an environment that was built for an earlier checkout."""
    return bool(entry_points(group="jupyter_client.kernel_provisioners", name=PROVISIONER))


def _failure(task: Task) -> str:
    try:
        said = task.executed.with_suffix(".failure").read_text(encoding="utf-8")
    except OSError:
        log = task.executed.with_suffix(".log")
        return f"{task.name}: the process of {task.source.name} ended early; its messages are in {log}"
    return f"{task.name}: {task.source.name} failed {said}\nThe executed notebook is kept: {task.executed}"


def _end(numbers: Iterable[int]) -> None:
    """Kill processes and all they started: kernels, which have sessions of their own."""
    for number in numbers:
        psutil = optional("psutil", "notebooks")
        with contextlib.suppress(psutil.NoSuchProcess):
            worker = psutil.Process(number)
            worker.suspend()  # so that it starts no more
            for each in [*worker.children(recursive=True), worker]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()


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
    except optional("nbclient.exceptions", "notebooks").DeadKernelError:
        return f"in cell [{_last_started(executed)}]: its kernel ended, from lack of memory or by a call that ends it"
    except Exception as error:
        return f"to run: {type(error).__name__}: {error}"
    return ""


def _last_started(executed: Path) -> int:
    """The number of the cell that was last begun: papermill saves before and after each."""
    cells = json.loads(executed.read_text(encoding="utf-8"))["cells"]
    return sum(cell["cell_type"] == "code" and cell["metadata"]["papermill"]["status"] != "pending" for cell in cells)


if __name__ == "__main__":
    _, _source, _executed, _parameters = sys.argv
    if _said := _execute(Path(_source), Path(_executed), json.loads(_parameters)):
        Path(_executed).with_suffix(".failure").write_text(_said, encoding="utf-8")
        sys.exit(1)
