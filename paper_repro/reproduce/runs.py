"""Run the notebooks: draw the figures listed in ``runs.toml``, or refresh the stored outputs."""

from __future__ import annotations

import ast
import difflib
import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from paper_repro import __version__
from paper_repro.errors import optional
from paper_repro.paths import NOTEBOOKS, check_checkout
from paper_repro.reproduce.certificates import figure_certificates
from paper_repro.reproduce.execution import NotebookRunError, Task, execute_all
from paper_repro.reproduce.files import MANIFEST, check_file_name, replace_files
from paper_repro.reproduce.kept import Kept, fingerprint
from paper_repro.reproduce.manifest import Entries, check_different, collected, gallery, may_write, no_longer_drawn
from paper_repro.reproduce.names import published_names
from paper_repro.reproduce.parameters import check_values, declared_parameters

__all__ = ["NotebookRun", "NotebookRunError", "load_runs", "refresh_notebooks", "run_figures"]

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


@dataclass(frozen=True)
class NotebookRun:
    """One execution of a notebook with its own parameters.

    Parameters
    ----------
    name : str
        That of a file, without ending.
    notebook : Path
        An existing notebook that declares the parameter ``output_dir``.
    parameters : mapping
        Values for declared parameters, of the declared types; the others keep their defaults.

    Raises
    ------
    NotebookRunError
        If one of these does not hold, a ValueError told to the user; the message names the value and what is allowed.
    """

    name: str
    notebook: Path
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.notebook.is_file() or self.notebook.suffix != ".ipynb":
            known = [path.name for path in self.notebook.parent.glob("*.ipynb")]
            raise NotebookRunError(
                f"run {self.name!r}: notebook must be one of {_listed(known)} in {self.notebook.parent}; got "
                f"{self.notebook.name!r}. {_nearest(self.notebook.name, known)}"
            )
        _check_kernel(self.notebook)
        declared = _declared(self.notebook)
        if "output_dir" not in declared:
            raise NotebookRunError(
                f"{self.notebook.name} must declare the parameter output_dir: str; got {_listed(declared)}. Add it to the cell "
                "with the tag parameters."
            )
        try:
            check_file_name(self.name)
            check_values(self.parameters, {name: kind for name, (kind, _) in declared.items() if name != "output_dir"})
        except ValueError as error:
            raise NotebookRunError(f"run {self.name!r} of {self.notebook.name}: {error}") from None

    @property
    def values(self) -> dict[str, object]:
        """All parameters the notebook sees, defaults included, without ``output_dir``."""
        defaults = {name: default for name, (_, default) in _declared(self.notebook).items() if name != "output_dir"}
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
        raise NotebookRunError(
            f"the list of runs must be a TOML file that can be read; got {str(path)!r} ({_one_line(error)}). Correct it."
        ) from None
    runs = []
    for name, table in tables.items():
        if not isinstance(table, dict) or not isinstance(table.get("parameters", {}), dict):
            raise NotebookRunError(
                f"{name} in {path} must be a table with notebook and parameters; got {table!r}. See the other runs there."
            )
        if unknown := table.keys() - {"notebook", "parameters"}:
            raise NotebookRunError(
                f"keys of {name} in {path} must be notebook and parameters; got {_listed(unknown)}. Put the values of a notebook "
                "into its parameters."
            )
        runs.append(NotebookRun(name, path.parent / str(table.get("notebook")), table.get("parameters", {})))
    return runs


def run_figures(
    output_dir: Path | str,
    only: Sequence[str] = (),
    jobs: int = 2,
    *,
    again: bool = False,
    notebooks: Path = NOTEBOOKS,
) -> list[Path]:
    """Run the listed notebooks and put the figures and tables they draw into one folder, all or none, with certificates.

    Each run writes ``<figure or table>.{csv,pdf,png,svg}`` into the folder it is given as ``output_dir``, and
    tells of each in ``<figure or table>.about``, JSON for the manifest; ``inputs`` are paths relative to the checkout.
    Files move to their place after every run has succeeded, each by one rename; ``README.md``, a page made from the
    manifest, and ``manifest.json`` come last, and what the earlier manifest lists and no run draws any more goes.
    What a run left is kept in ``build`` until something changes that it was made from, so that after an interruption
    or a failure, and where nothing has changed, only what is missing runs.

    Parameters
    ----------
    output_dir : path
        Made if it does not exist.
    only : sequence of str
        Names of the runs wanted; empty for all. The manifest keeps its entries of the others.
    jobs : int, >= 1
        Notebooks that run at the same time.
    again : bool
        Run those too of which nothing has changed.
    notebooks : path
        The folder of ``runs.toml``; its parent is the checkout.

    Returns
    -------
    list of Path
        The files of these runs, the manifest last; written are those that differ.

    Raises
    ------
    NotebookRunError
        Before any notebook runs if the list, the selection or the folder is not valid, or two runs write figures
        of one name; after the others if a notebook fails or leaves nothing to keep, or two outputs are the same.
        Earlier figures are as they were, and the executed notebook is kept.
    """
    _check_start(notebooks, jobs)
    runs = load_runs(notebooks / "runs.toml")
    owners: dict[str, str] = {}
    for run in runs:
        for name in published_names(run.notebook, run.values):
            if owners.setdefault(name, run.name) != run.name:
                raise NotebookRunError(
                    f"each figure must be written by one run; got {name} of {owners[name]} and {run.name}. Rename one of them."
                )
    names = [run.name for run in runs]
    if unknown := sorted(set(only) - set(names)):
        raise NotebookRunError(
            f"run must be one of {_listed(names)}; got {_listed(map(repr, unknown))}. {_nearest(unknown[0], names)}"
        )
    if only:
        runs = [run for run in runs if run.name in only]
    if not str(output_dir):
        raise NotebookRunError("output must be the name of a folder; got ''. Write . for the current folder.")
    target = Path(output_dir).absolute()
    _check_writable(target)
    # A run may have stopped drawing a figure it drew before.
    earlier = _read_manifest(target / MANIFEST, needed=bool(only))
    manifest = {name: entry for name, entry in earlier.items() if only and entry.get("run") not in only}

    with _workspace(notebooks) as work:
        kept, tasks = Kept(work.parent / "kept"), []
        made_from = {run.name: fingerprint(run.notebook, run.values) for run in runs}
        for run in runs:
            (work / run.name).mkdir()
            if again or not kept.restore(run.name, made_from[run.name], work / run.name):
                parameters = {**run.parameters, "output_dir": str(work / run.name)}
                tasks.append(Task(run.name, run.notebook, work / f"{run.name}.ipynb", parameters))
        if len(tasks) < len(runs):
            print(f"{len(runs) - len(tasks)} of {len(runs)} runs are unchanged and not repeated", flush=True)
        execute_all(tasks, jobs, lambda task: kept.store(task.name, made_from[task.name], work / task.name))
        files: dict[Path, bytes] = {}
        owners = {}
        for run in runs:
            about = {"notebook": run.notebook.name, "parameters": run.values, "run": run.name, "version": __version__}
            try:
                found, entries = collected(work / run.name, notebooks.parent, about)
            except ValueError as error:
                raise NotebookRunError(f"{run.name}: {run.notebook.name} {error}") from None
            for name in found.keys() & owners.keys():
                raise NotebookRunError(
                    f"each figure must be written by one run; got {name} of {owners[name]} and {run.name}. Rename one; their "
                    f"files are in {work}."
                )
            owners |= dict.fromkeys(found, run.name)
            files |= {target / name: content for name, content in found.items()}
            manifest |= entries
        if not only and notebooks == NOTEBOOKS:
            files |= {target / "certificates" / name: content for name, content in _certificates(kept, work, again)}
        try:
            check_different({path.name: content for path, content in files.items() if path.parent == target})
        except ValueError as error:
            raise NotebookRunError(str(error)) from None
        if may_write(target / "README.md"):
            page = gallery(manifest, Path(os.path.relpath(notebooks, target)).as_posix())
            files[target / "README.md"] = page.encode()
        text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        replace_files(_different({**files, target / MANIFEST: text.encode()}))
        for path in no_longer_drawn(target, earlier, manifest):
            path.unlink()
    return [*files, target / MANIFEST]


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
    _check_start(notebooks, jobs)
    sources = sorted(notebooks.glob("*.ipynb")) if paths is None else [Path(path).absolute() for path in paths]
    for source in sources:
        if not source.is_file() or source.suffix != ".ipynb":
            raise NotebookRunError(
                f"notebook must be an existing .ipynb file; got {str(source)!r}. Take one of those in {notebooks}."
            )
        _check_kernel(source)
    with _workspace(notebooks) as work:
        tasks = [Task(source.stem, source, work / f"{i:02d}-{source.name}", {}) for i, source in enumerate(sources, 1)]
        execute_all(tasks, jobs)
        refreshed = {task.source: _with_outputs(task.source, task.executed) for task in tasks}
        changed = {source: content for source, content in refreshed.items() if content != source.read_bytes()}
        if check and changed:
            names = _listed(source.name for source in changed)
            raise NotebookRunError(
                f"outputs must be equal to the stored ones; got others in {names}. The executed notebooks are in {work}; to "
                "store their outputs, run make notebooks."
            )
        replace_files(changed)
    return list(changed)


def _with_outputs(source: Path, executed: Path) -> bytes:
    """A notebook with the outputs of an executed copy, as it is stored."""
    nbformat, nbstripout = optional("nbformat", "notebooks"), optional("nbstripout", "notebooks")
    stored, run = nbformat.read(source, as_version=4), nbformat.read(executed, as_version=4)
    for cell, executed_cell in zip(stored.cells, run.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = executed_cell.outputs, executed_cell.execution_count
    nbstripout.strip_output(stored, keep_output=True, keep_count=True, keep_id=True, extra_keys=VOLATILE_METADATA)
    return (nbformat.writes(stored).rstrip("\n") + "\n").encode()


def _certificates(kept: Kept, work: Path, again: bool) -> list[tuple[str, bytes]]:
    """Names and contents of the figures' certificates, made where something has changed."""
    folder, name = work / "certificates", "certificates.of.figures"
    folder.mkdir()
    made_from = fingerprint(NOTEBOOKS / "runs.toml", {})
    if again or not kept.restore(name, made_from, folder):
        for file, content in figure_certificates().items():
            (folder / file).write_bytes(content)
        kept.store(name, made_from, folder)
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


def _different(files: Mapping[Path, bytes]) -> dict[Path, bytes]:
    return {path: content for path, content in files.items() if not path.is_file() or path.read_bytes() != content}


def _check_start(notebooks: Path, jobs: int) -> None:
    if jobs < 1:
        raise NotebookRunError(
            f"jobs must be a whole number, at least 1; got {jobs!r}. Take 1 to run one after the other."
        )
    try:
        if notebooks == NOTEBOOKS:
            check_checkout("running the notebooks")
        for package in ("papermill", "nbformat", "nbstripout", "psutil"):
            if not find_spec(package):  # importing them all takes seconds
                optional(package, "notebooks")
    except (FileNotFoundError, ImportError) as error:
        raise NotebookRunError(str(error)) from None


def _declared(notebook: Path) -> dict[str, tuple[str, object]]:
    """Type and default of each parameter that the cell tagged ``parameters`` declares."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotebookRunError(
            f"notebook must be a file that can be read; got {str(notebook)!r} ({type(error).__name__}: {_one_line(error)}). Save "
            "it again in JupyterLab."
        ) from None
    declared: dict[str, tuple[str, object]] = {}
    for name, (kind, text) in declared_parameters("".join(tagged[0]["source"])).items() if tagged else ():
        try:
            declared[name] = (kind, ast.literal_eval(text))
        except (SyntaxError, ValueError):
            raise NotebookRunError(
                f"the default of {name} in {notebook.name} must be a plain value; got {text}. Write a number, a text or a list "
                "of these."
            ) from None
    return declared


def _check_kernel(notebook: Path) -> None:
    """Raise for a notebook that does not name its language, which papermill would say after half a minute only."""
    try:
        about = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
        language = about.get("language_info", {}).get("name") or about.get("kernelspec", {}).get("language")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotebookRunError(
            f"notebook must be a file that can be read; got {str(notebook)!r} ({type(error).__name__}: {_one_line(error)}). Save "
            "it again in JupyterLab."
        ) from None
    if not language:
        raise NotebookRunError(
            f"{notebook.name} must name its kernel in the metadata; got neither a kernelspec nor a language. Open it in "
            "JupyterLab, choose the kernel Python 3, and save it."
        )


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise NotebookRunError(
            f"the output must be a folder that you may write to; got {str(folder)!r} ({error.strerror}). Name another folder."
        ) from None


@contextmanager
def _workspace(notebooks: Path) -> Iterator[Path]:
    """A folder for one run, which is left for a look if a notebook fails, and else removed, after an interruption too."""
    build = notebooks.absolute().parent / "build" / "notebooks"
    _check_writable(build)
    work, failed = Path(tempfile.mkdtemp(prefix="run-", dir=build)), False
    try:
        yield work
    except (NotebookRunError, OSError) as error:
        failed = True
        raise NotebookRunError(str(error)) from None
    finally:
        if not failed:
            shutil.rmtree(work)


def _read_manifest(path: Path, needed: bool) -> Entries:
    try:
        manifest: Entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        if not needed:
            return {}
        raise NotebookRunError(
            f"the manifest must be a JSON file that can be read; got {str(path)!r} ({_one_line(error)}). Run make figures "
            "without --only, which writes it anew."
        ) from None
    return manifest


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else "Choose one of these."


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
