"""Run the notebooks: draw the figures listed in ``runs.toml``, or refresh the stored outputs."""

from __future__ import annotations

import ast
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from paper_repro import __version__
from paper_repro.errors import MissingPackageError, optional
from paper_repro.paths import NOTEBOOKS
from paper_repro.types import PARAMETER_TYPES

__all__ = ["NotebookRun", "NotebookRunError", "load_runs", "refresh_notebooks", "run_figures"]

SUFFIXES = (".csv", ".md", ".pdf", ".png", ".svg")

# What makes two runs differ: dates, hash order and the number of threads.
KERNEL_ENVIRONMENT = {
    "JUPYTER_PREFER_ENV_PATH": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1451606400",
}

# nbstripout's own list, and what papermill and each new Python would change.
VOLATILE_METADATA = [
    "metadata.signature",
    "metadata.widgets",
    "metadata.papermill",
    "metadata.language_info.version",
    "cell.metadata.collapsed",
    "cell.metadata.ExecuteTime",
    "cell.metadata.execution",
    "cell.metadata.heading_collapsed",
    "cell.metadata.hidden",
    "cell.metadata.papermill",
    "cell.metadata.scrolled",
]


class NotebookRunError(RuntimeError):
    """A run that cannot start or did not finish; its message is written for the user."""


@dataclass(frozen=True)
class NotebookRun:
    """One execution of a notebook with its own parameters.

    Parameters
    ----------
    name : str
        Letters, digits, ``_`` and ``-``.
    notebook : Path
        An existing notebook that declares the parameter ``output_dir``.
    parameters : mapping
        Values for declared parameters, of the declared types; the others keep their defaults.

    Raises
    ------
    NotebookRunError
        If one of these does not hold; the message names the value and what is allowed.
    """

    name: str
    notebook: Path
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.name):
            raise NotebookRunError(f"run {self.name!r}: a name has only letters, digits, _ and -")
        if not self.notebook.is_file() or self.notebook.suffix != ".ipynb":
            known = _listed(path.name for path in self.notebook.parent.glob("*.ipynb"))
            raise NotebookRunError(
                f"run {self.name!r}: no notebook {self.notebook.name!r} in {self.notebook.parent}; there is {known}"
            )
        declared = _declared_parameters(self.notebook)
        if "output_dir" not in declared:
            raise NotebookRunError(f"{self.notebook.name} must declare the parameter output_dir: str")
        for name, entry in declared.items():
            _literal(self.notebook, name, entry["default"])
        allowed = declared.keys() - {"output_dir"}
        for name, value in self.parameters.items():
            if name not in allowed:
                raise NotebookRunError(
                    f"run {self.name!r}: {self.notebook.name} has no parameter {name!r} to set; "
                    f"it has {_listed(allowed)}"
                )
            kind = str(declared[name]["inferred_type_name"]).partition("[")[0]
            types = PARAMETER_TYPES.get(kind, (object,))
            # bool is a subclass of int, and a true leakage makes no sense.
            if not isinstance(value, types) or (isinstance(value, bool) and kind in ("int", "float")):
                raise NotebookRunError(
                    f"run {self.name!r}: parameter {name} of {self.notebook.name} is {kind}, got {value!r}"
                )

    @property
    def values(self) -> dict[str, object]:
        """All parameters the notebook sees, defaults included, without ``output_dir``."""
        declared = _declared_parameters(self.notebook)
        defaults = {name: _literal(self.notebook, name, entry["default"]) for name, entry in declared.items()}
        del defaults["output_dir"]
        return {**defaults, **self.parameters}


def load_runs(path: Path = NOTEBOOKS / "runs.toml") -> list[NotebookRun]:
    """Read the list of runs: a table for each, with ``notebook`` (beside the list) and ``parameters``.

    Returns
    -------
    list of NotebookRun, in the order of the file

    Raises
    ------
    NotebookRunError
        If the file cannot be read, or a run is not valid.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotebookRunError(f"cannot read the list of runs {path}: {error}") from None
    runs = []
    for name, table in tables.items():
        if not isinstance(table, dict) or not isinstance(table.get("parameters", {}), dict):
            raise NotebookRunError(f"{path}: {name} must be a table with notebook and parameters")
        if unknown := table.keys() - {"notebook", "parameters"}:
            raise NotebookRunError(f"{path}: {name} has {_listed(unknown)}; allowed are notebook, parameters")
        runs.append(NotebookRun(name, path.parent / str(table.get("notebook")), table.get("parameters", {})))
    return runs


def run_figures(
    output_dir: Path | str, only: Sequence[str] = (), jobs: int = 2, *, notebooks: Path = NOTEBOOKS
) -> list[Path]:
    """Run the listed notebooks and put the figures and tables they draw into one folder, all or none.

    Each run writes ``<figure or table>.{csv,pdf,png,svg}`` into the folder it is given as ``output_dir``, and
    may name the data it read in ``<figure or table>.inputs``, a path relative to the checkout on each line.
    Files move to their place after every run has succeeded, each by one rename, and ``manifest.json`` comes
    last.

    Parameters
    ----------
    output_dir : path
        Made if it does not exist.
    only : sequence of str
        Names of the runs wanted; empty for all. The manifest keeps its entries of the others.
    jobs : int, >= 1
        Notebooks that run at the same time.
    notebooks : path
        The folder of ``runs.toml``; its parent is the checkout.

    Returns
    -------
    list of Path
        The files written, the manifest last.

    Raises
    ------
    NotebookRunError
        Before any notebook runs if the list, the selection or the folder is not valid; later if a notebook
        fails or leaves nothing to keep. Earlier figures are as they were, and the executed notebook is kept.
    """
    _check_jobs(jobs)
    runs = load_runs(notebooks / "runs.toml")
    names = [run.name for run in runs]
    if unknown := set(only) - set(names):
        raise NotebookRunError(f"no run {_listed(unknown)}; there is {_listed(names)}")
    if only:
        runs = [run for run in runs if run.name in only]
    target = Path(output_dir).absolute()
    _check_writable(target)
    manifest = _read_manifest(target / "manifest.json") if only else {}

    work = _make_workspace(notebooks)
    tasks = []
    for run in runs:
        staging = work / run.name
        staging.mkdir()
        parameters = {**run.parameters, "output_dir": str(staging)}
        tasks.append(_Task(run.name, run.notebook, work / f"{run.name}.ipynb", parameters))
    _execute_all(tasks, jobs, work)

    # A run may have stopped drawing a figure it drew before.
    manifest = {name: entry for name, entry in manifest.items() if entry.get("run") not in only}
    files: dict[str, Path] = {}
    for run in runs:
        found, entries = _collect(run, work / run.name, notebooks.parent)
        for name in found.keys() & files.keys():
            raise NotebookRunError(f"two runs write {name}: {files[name].parent.name} and {run.name}; see {work}")
        files.update(found)
        manifest.update(entries)
    written = work / "manifest.json"
    written.write_text(json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    _publish([*files.values(), written], [target / name for name in files] + [target / written.name])
    shutil.rmtree(work)
    return [target / name for name in files] + [target / written.name]


def refresh_notebooks(
    paths: Iterable[Path] | None = None, check: bool = False, jobs: int = 2, *, notebooks: Path = NOTEBOOKS
) -> list[Path]:
    """Run notebooks with their default parameters and store the new outputs in them, all or none.

    Source, cell ids and metadata stay as they are; what changes from run to run is left out, so a second
    refresh changes nothing.

    Parameters
    ----------
    paths : iterable of Path, optional
        The notebooks; by default all in ``notebooks``.
    check : bool
        Compare and write nothing.
    jobs : int, >= 1
        Notebooks that run at the same time.
    notebooks : path
        The folder of the notebooks; its parent is the checkout.

    Returns
    -------
    list of Path
        The notebooks whose stored outputs changed.

    Raises
    ------
    NotebookRunError
        If a notebook does not exist or fails, or if ``check`` finds a difference.
    """
    nbformat, nbstripout = _needed("nbformat"), _needed("nbstripout")
    _check_jobs(jobs)
    sources = sorted(notebooks.glob("*.ipynb")) if paths is None else [Path(path).absolute() for path in paths]
    for source in sources:
        if not source.is_file() or source.suffix != ".ipynb":
            raise NotebookRunError(f"no notebook {source}")
    work = _make_workspace(notebooks)
    tasks = [_Task(source.stem, source, work / f"{i:02d}-{source.name}", {}) for i, source in enumerate(sources, 1)]
    _execute_all(tasks, jobs, work)

    changed = []
    for task in tasks:
        stored = nbformat.read(task.source, as_version=4)
        executed = nbformat.read(task.executed, as_version=4)
        for cell, run in zip(stored.cells, executed.cells, strict=True):
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = run.outputs, run.execution_count
        nbstripout.strip_output(stored, keep_output=True, keep_count=True, keep_id=True, extra_keys=VOLATILE_METADATA)
        with task.executed.open("w", encoding="utf-8", newline="\n") as stream:
            nbformat.write(stored, stream)
        if task.executed.read_bytes() != task.source.read_bytes():
            changed.append(task)
    if check and changed:
        names = _listed(task.source.name for task in changed)
        raise NotebookRunError(f"outputs differ from the stored ones in {names}; see {work}")
    _publish([task.executed for task in changed], [task.source for task in changed])
    shutil.rmtree(work)
    return [task.source for task in changed]


class _Task(NamedTuple):
    name: str
    source: Path
    executed: Path
    parameters: dict[str, object]


def _execute_all(tasks: Sequence[_Task], jobs: int, work: Path) -> None:
    if not tasks:
        return
    start = time.monotonic()
    # Spawned, not forked: a worker must not inherit the locks of threads that the libraries may have started.
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), multiprocessing.get_context("spawn"), _start_worker, (work,))
    with pool:
        futures = {pool.submit(_execute, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                task = futures[future]
                if failure := future.result():
                    raise NotebookRunError(
                        f"{task.name}: {task.source.name} failed {failure}\n"
                        f"The executed notebook is kept: {task.executed}"
                    )
                print(f"{task.name}: {task.source.name} done after {time.monotonic() - start:.0f} s", flush=True)
        except BrokenProcessPool:
            raise NotebookRunError(f"a worker process died; its log is in {work}") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _check_jobs(jobs: int) -> None:
    if jobs < 1:
        raise NotebookRunError(f"jobs must be at least 1, got {jobs}")


def _start_worker(work: Path) -> None:
    os.environ.update(KERNEL_ENVIRONMENT)
    # Settings of the user's home must not change a figure; make sets both already.
    os.environ.setdefault("MPLCONFIGDIR", str(work.parent / "matplotlib"))
    os.environ.setdefault("IPYTHONDIR", str(work.parent / "ipython"))
    os.environ.pop("MPLBACKEND", None)  # with agg, notebooks lose their inline figures
    # The kernel inherits both streams and warns at each start.
    log = os.open(work / f"worker-{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)


def _execute(task: _Task) -> str:
    """Run one notebook in a worker; return what went wrong as text, as some exceptions cannot be pickled."""
    papermill = _papermill()
    try:
        papermill.execute_notebook(
            task.source,
            task.executed,
            task.parameters,
            kernel_name="python3",
            progress_bar=False,
            cwd=task.source.parent,
            coalesce_streams=True,  # else the split of a cell's prints depends on timing
        )
    except papermill.PapermillExecutionError as error:
        return f"in cell [{error.exec_count}]: {error.ename}: {error.evalue}"
    except Exception as error:
        return f"to run: {type(error).__name__}: {error}"
    return ""


def _papermill() -> Any:
    return _needed("papermill")


def _needed(module: str) -> Any:
    try:
        return optional(module, "notebooks")
    except MissingPackageError as error:
        raise NotebookRunError(str(error)) from None


def _declared_parameters(notebook: Path) -> dict[str, dict[str, Any]]:
    try:
        declared: dict[str, dict[str, Any]] = _papermill().inspect_notebook(notebook)
    except (OSError, ValueError) as error:
        raise NotebookRunError(f"cannot read {notebook}: {error}") from None
    return declared


def _literal(notebook: Path, name: str, text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise NotebookRunError(f"{notebook.name}: the default of {name} must be a plain value, got {text}") from None


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise NotebookRunError(f"cannot write into {folder}: {error.strerror}") from None


def _make_workspace(notebooks: Path) -> Path:
    build = notebooks.absolute().parent / "build" / "notebooks"
    _check_writable(build)
    return Path(tempfile.mkdtemp(prefix="run-", dir=build))


def _read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    try:
        manifest: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise NotebookRunError(f"cannot read {path}: {error}; a run of all figures writes it anew") from None
    return manifest


def _collect(run: NotebookRun, staging: Path, root: Path) -> tuple[dict[str, Path], dict[str, dict[str, Any]]]:
    """Sort what a run left: its files by name, and a manifest entry for each stem."""
    files, inputs = {}, {}
    for path in sorted(staging.iterdir()):
        if path.suffix == ".inputs":
            inputs[path.stem] = path.read_text(encoding="utf-8").split("\n")
        elif path.suffix in SUFFIXES:
            files[path.name] = path
        else:
            raise NotebookRunError(f"{run.name}: {run.notebook.name} left {path}; allowed are {_listed(SUFFIXES)}")
    if not files:
        raise NotebookRunError(f"{run.name}: {run.notebook.name} left no figure or table in output_dir")
    entries: dict[str, dict[str, Any]] = {}
    for path in files.values():
        entry = entries.setdefault(
            path.stem,
            {
                "inputs": {},
                "notebook": run.notebook.name,
                "outputs": {},
                "parameters": run.values,
                "run": run.name,
                "version": __version__,
            },
        )
        entry["outputs"][path.name] = _sha256(path)
    for stem, lines in inputs.items():
        if stem not in entries:
            raise NotebookRunError(f"{run.name}: {run.notebook.name} left {stem}.inputs but no {stem}.*")
        for line in filter(None, map(str.strip, lines)):
            if not (root / line).is_file():
                raise NotebookRunError(f"{run.name}: {stem}.inputs names {line!r}, which is no file in {root}")
            entries[stem]["inputs"][line] = _sha256(root / line)
    return files, entries


def _publish(sources: Sequence[Path], targets: Sequence[Path]) -> None:
    """Copy every file beside its target first, so that a full disk leaves the old ones, then rename."""
    copies = [target.with_name(f".{target.name}.{os.getpid()}.tmp") for target in targets]
    try:
        for source, copy in zip(sources, copies, strict=True):
            shutil.copyfile(source, copy)
        for copy, target in zip(copies, targets, strict=True):
            os.replace(copy, target)
    except OSError as error:
        raise NotebookRunError(f"cannot write {error.filename2 or error.filename}: {error.strerror}") from None
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
