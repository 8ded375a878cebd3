"""Notebook runs: all figures or none, a manifest that matches the files, and errors a user can act on."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from paper_repro.reproduce import kept
from paper_repro.reproduce import runs as notebook_runs
from paper_repro.reproduce.runs import NotebookRun, NotebookRunError, load_runs, refresh_notebooks, run_figures
from tests.reproduce.small import BODY, make_notebook

pytest.importorskip("papermill")

RUNS = """\
[narrow]
notebook = "curves.ipynb"

[wide]
notebook = "curves.ipynb"
parameters = { budget = 0.5, names = ["wide_left", "wide_right"] }
"""


@pytest.fixture
def notebooks(tmp_path):
    """A checkout in small: two runs of one notebook, and a data file."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    make_notebook(folder / "curves.ipynb")
    (folder / "runs.toml").write_text(RUNS)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prior.csv").write_text("0.5,0.5\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_figures_and_manifest(notebooks, tmp_path, capfd):
    output = tmp_path / "new" / "figures"
    written = run_figures(output, notebooks=notebooks)

    found = contents(output)
    assert {path.name for path in written} == found.keys()
    stems = ["curve", "wide_left", "wide_right"]
    assert found.keys() == {f"{stem}{suffix}" for stem in stems for suffix in (".csv", ".svg")} | {
        "README.md",
        "manifest.json",
    }
    assert found["wide_left.csv"] == b"wide_left\n0.5\n"

    manifest = json.loads(found["manifest.json"])
    assert list(manifest) == stems
    for stem, entry in manifest.items():
        assert entry["notebook"] == "curves.ipynb"
        assert entry["inputs"] == {"data/prior.csv": sha256(b"0.5,0.5\n")}
        assert entry["outputs"] == {f"{stem}{suffix}": sha256(found[f"{stem}{suffix}"]) for suffix in (".csv", ".svg")}
    assert manifest["curve"]["parameters"] == {"budget": 0.25, "names": ["curve"]}
    assert manifest["wide_left"]["parameters"] == {"budget": 0.5, "names": ["wide_left", "wide_right"]}

    # One line a run, and nothing of what kernels say when they start.
    out, err = capfd.readouterr()
    assert sorted(line.split(":")[0] for line in out.splitlines()) == ["narrow", "wide"]
    assert err == ""

    # A second run, of one alone, leaves the other's entry, and forgets what the run no longer draws.
    (notebooks / "runs.toml").write_text(RUNS.replace('"wide_left", ', ""))
    run_figures(output, only=["wide"], jobs=1, notebooks=notebooks)
    again = json.loads((output / "manifest.json").read_text())
    assert list(again) == ["curve", "wide_right"]
    assert not (output / "wide_left.svg").exists()
    assert "wide_left" not in (output / "README.md").read_text()
    assert again["curve"] == manifest["curve"]
    assert not list((tmp_path / "build" / "notebooks").glob("run-*"))


def test_failure_leaves_earlier_figures(notebooks, tmp_path):
    output = tmp_path / "figures"
    output.mkdir()
    (output / "curve.csv").write_text("earlier")
    (output / "manifest.json").write_text("{}")
    before = contents(output)
    (notebooks / "runs.toml").write_text(RUNS.replace("0.5", "2.0"))

    with pytest.raises(NotebookRunError, match=r"curves\.ipynb failed .*budget must be at most 1, got 2\.0") as raised:
        run_figures(output, notebooks=notebooks)

    assert contents(output) == before
    kept = Path(str(raised.value).split("kept: ")[1])
    assert "ValueError" in kept.read_text()


@pytest.mark.parametrize(
    ("left", "message"),
    [
        ([], "must leave a figure or table"),
        (["notes.txt"], r"files of \.csv, .* only; got 'notes\.txt'"),
        (["same.csv"], r"written by one run; got same\.csv of narrow and wide"),
        (["curve.about", "other.csv"], r"got curve\.about without curve"),
        (["curve.about", "curve.csv"], r"got 'data/lost\.csv' in curve\.about"),
        (["{}.csv"], r"^figures must differ; got narrow\.csv and wide\.csv"),
    ],
)
def test_unusable_results_are_refused(notebooks, tmp_path, monkeypatch, left, message):
    def execute(tasks, jobs, done):
        for task in tasks:
            for name in left:
                Path(task.parameters["output_dir"], name.format(task.name)).write_text('{"inputs": ["data/lost.csv"]}')

    monkeypatch.setattr(notebook_runs, "execute_all", execute)  # kernels take seconds
    with pytest.raises(NotebookRunError, match=message):
        run_figures(tmp_path / "figures", notebooks=notebooks)
    assert contents(tmp_path / "figures") == {}


@pytest.fixture
def executed(monkeypatch):
    """Names of the runs that were executed, by something faster than kernels."""
    names = []

    def execute(tasks, jobs, done):
        for task in tasks:
            names.append(task.name)
            Path(task.parameters["output_dir"], f"{task.name}.csv").write_text(f"drawn by {task.name}")
            done(task)

    monkeypatch.setattr(notebook_runs, "execute_all", execute)
    return names


def test_only_what_has_changed_runs_again(notebooks, tmp_path, executed, monkeypatch):
    def again(**options):
        executed.clear()
        run_figures(tmp_path / "figures", notebooks=notebooks, **options)
        assert all(
            (tmp_path / "figures" / f"{name}.csv").read_text() == f"drawn by {name}" for name in ("narrow", "wide")
        )
        return list(executed)

    assert again() == ["narrow", "wide"]
    drawn = (tmp_path / "figures" / "wide.csv").stat()
    assert again() == []
    assert (tmp_path / "figures" / "wide.csv").stat() == drawn

    # Files that were edited or deleted are put back.
    (tmp_path / "figures" / "narrow.csv").write_text("edited")
    (tmp_path / "figures" / "wide.csv").unlink()
    assert again() == []

    (notebooks / "runs.toml").write_text(RUNS.replace("0.5", "0.75"))
    assert again() == ["wide"]
    (tmp_path / "data" / "prior.csv").write_text("0.6,0.4\n")
    assert again(only=["wide"]) == ["wide"]
    assert again() == ["narrow"]
    make_notebook(notebooks / "curves.ipynb", body=BODY + "print('more')\n")
    assert again() == ["narrow", "wide"]
    monkeypatch.setattr(kept, "_of_the_library", lambda: "another")
    assert again() == ["narrow", "wide"]
    assert again(again=True) == ["narrow", "wide"]
    archive = tmp_path / "build" / "notebooks" / "kept" / "wide.zip"
    archive.write_bytes(archive.read_bytes().replace(b"drawn", b"drown"))
    assert again() == ["wide"]


def test_what_a_parameter_names_is_an_input(tmp_path):
    notebook, own = make_notebook(tmp_path / "curves.ipynb"), tmp_path / "mine.csv"
    prints = set()
    for text in ("0.5,0.5", "0.6,0.4"):
        own.write_text(text)
        prints |= {kept.fingerprint(notebook, {"names": [name]}) for name in ("mine.csv", str(own), "other.csv")}
    assert len(prints) == 5


def test_a_check_that_finds_nothing_changed_imports_no_notebook_tools(notebooks, tmp_path, executed):
    run_figures(tmp_path / "figures", notebooks=notebooks)
    tools = {"IPython", "matplotlib", "nbclient", "nbformat", "pandas", "papermill"}
    code = (
        f"{COMMAND.replace('cli.main()', '')}cli.main(standalone_mode=False)\nprint(sorted({tools} & {{*sys.modules}}))"
    )
    command = [sys.executable, "-c", code, notebooks, "figures", "--output", tmp_path / "figures"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.splitlines()[0] == "2 of 2 runs are unchanged and not repeated"
    assert said.splitlines()[-1] == "[]"


def test_two_figures_of_one_name_are_found_before_any_run(notebooks, tmp_path, executed):
    parameters = "figure_name: str = 'drawn'\noutput_dir: str = ''\n"
    make_notebook(notebooks / "drawn.ipynb", parameters, "publish(figure, table, f'{figure_name}_2', output_dir)\n")
    make_notebook(notebooks / "same.ipynb", body="style.publish(figure, table, 'curve_2', output_dir)\n")
    run = "[{0}]\nnotebook = '{0}.ipynb'\n".format
    (notebooks / "runs.toml").write_text(run("drawn") + "parameters = { figure_name = 'curve' }\n" + run("same"))
    with pytest.raises(NotebookRunError, match="written by one run; got curve_2 of drawn and same"):
        run_figures(tmp_path / "figures", notebooks=notebooks)
    assert executed == []


@pytest.mark.parametrize("fork", ["1", "0"])
def test_a_kernel_that_dies_is_named_and_costs_the_others_nothing(notebooks, tmp_path, monkeypatch, capfd, fork):
    monkeypatch.setenv("PAPER_REPRO_FORK", fork)
    make_notebook(notebooks / "dying.ipynb", body="import os\nos._exit(3)\n")
    (notebooks / "runs.toml").write_text('[dying]\nnotebook = "dying.ipynb"\n' + RUNS.split("[wide]")[0])
    with pytest.raises(NotebookRunError) as raised:
        run_figures(tmp_path / "figures", jobs=1, notebooks=notebooks)
    first, second = str(raised.value).splitlines()
    assert re.fullmatch(r"dying: dying\.ipynb failed in cell \[3\]: its kernel ended, .*", first)
    assert second.startswith("The executed notebook is kept: ")
    assert contents(tmp_path / "figures") == {}

    make_notebook(notebooks / "dying.ipynb")
    (notebooks / "runs.toml").write_text(RUNS.split("[wide]")[0])
    capfd.readouterr()
    run_figures(tmp_path / "figures", notebooks=notebooks)
    assert capfd.readouterr().out == "1 of 1 runs are unchanged and not repeated\n"
    assert (tmp_path / "figures" / "curve.csv").read_text() == "curve\n0.25\n"


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ("[a]\nnotebook = 'lost.ipynb'", r"notebook must be one of curves\.ipynb in .*; got 'lost\.ipynb'"),
        ("[a]\nparameters = {}", "notebook must be one of"),
        ("[a]\nnotebook = 'curves.ipynb'\njobs = 1", "keys of a in .* must be notebook and parameters; got jobs"),
        ("a = 1", "a in .* must be a table"),
        ("[a", "the list of runs must be a TOML file"),
        ("['a/b']\nnotebook = 'curves.ipynb'", "the name of a file must have letters.*; got 'a/b'"),
        (
            "[a]\nnotebook = 'curves.ipynb'\nparameters = {bugdet = 1.0}",
            "must be one of budget, names; got 'bugdet'. Did you mean 'budget'",
        ),
        (
            "[a]\nnotebook = 'curves.ipynb'\nparameters = {output_dir = 'x'}",
            "must be one of budget, names; got 'output_dir'. Choose one of these.$",
        ),
        (
            "[a]\nnotebook = 'curves.ipynb'\nparameters = {budget = 'much'}",
            "parameter budget must be of type float; got 'much'",
        ),
        (
            "[a]\nnotebook = 'curves.ipynb'\nparameters = {budget = true}",
            "parameter budget must be of type float; got True",
        ),
    ],
)
def test_a_wrong_list_of_runs_is_named(notebooks, runs, message):
    (notebooks / "runs.toml").write_text(runs)
    with pytest.raises(NotebookRunError, match=message):
        load_runs(notebooks / "runs.toml")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("budget: float = 0.25", "must declare the parameter output_dir"),
        (
            "output_dir: str = ''\nbudget: float = 1 / 4",
            "default of budget in a.ipynb must be a plain value; got 1 / 4",
        ),
    ],
)
def test_a_notebook_without_plain_parameters_is_refused(tmp_path, parameters, message):
    with pytest.raises(NotebookRunError, match=message):
        NotebookRun("a", make_notebook(tmp_path / "a.ipynb", parameters))


def test_unknown_selection(notebooks, tmp_path):
    for name in ("wild", ""):
        with pytest.raises(NotebookRunError, match=f"run must be one of narrow, wide; got '{name}'"):
            run_figures(tmp_path / "figures", only=[name], notebooks=notebooks)
    with pytest.raises(NotebookRunError, match=r"must be the name of a folder; got ''\. Write \. for the current"):
        run_figures("", notebooks=notebooks)


def test_unwritable_folder_is_found_before_any_run(notebooks, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotebookRunError, match=r"folder that you may write to; got .*file/figures"):
        run_figures(tmp_path / "file" / "figures", notebooks=notebooks)
    assert not (tmp_path / "build").exists()


def test_refresh_is_idempotent(notebooks):
    path = notebooks / "curves.ipynb"
    source = nbformat.read(path, as_version=4)
    with pytest.raises(NotebookRunError, match=r"equal to the stored ones; got others in curves\.ipynb"):
        refresh_notebooks(check=True, notebooks=notebooks)
    assert nbformat.read(path, as_version=4) == source

    assert refresh_notebooks(notebooks=notebooks) == [path]
    first = path.read_bytes()
    stored = nbformat.read(path, as_version=4)
    assert [cell.id for cell in stored.cells] == ["title", "parameters", "body"]
    assert [cell.metadata for cell in stored.cells] == [cell.metadata for cell in source.cells]
    assert stored.metadata == source.metadata
    assert stored.cells[2].execution_count == 2
    assert [output.text for output in stored.cells[2].outputs] == ["first\nbudget 0.25\n"]

    assert refresh_notebooks([path], notebooks=notebooks) == []
    assert path.read_bytes() == first


def test_refresh_of_a_failing_notebook_keeps_all(notebooks):
    make_notebook(notebooks / "broken.ipynb", body="1 / 0")
    before = contents(notebooks)
    with pytest.raises(NotebookRunError, match=r"broken\.ipynb failed in cell \[2\]: ZeroDivisionError"):
        refresh_notebooks(notebooks=notebooks)
    assert contents(notebooks) == before


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": {"name": "python3"}}])
def test_a_notebook_without_a_kernel_is_refused_before_it_runs(notebooks, tmp_path, monkeypatch, metadata):
    monkeypatch.setattr(notebook_runs, "execute_all", lambda *_: pytest.fail("nothing may run"))
    path = notebooks / "curves.ipynb"
    path.write_text(json.dumps({**json.loads(path.read_text()), "metadata": metadata}))
    for run in (
        lambda: run_figures(tmp_path / "figures", notebooks=notebooks),
        lambda: refresh_notebooks(notebooks=notebooks),
    ):
        with pytest.raises(
            NotebookRunError, match=r"curves\.ipynb must name its kernel in the metadata; got .*JupyterLab"
        ):
            run()


def test_outside_a_checkout_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr("paper_repro.paths.NOTEBOOKS", tmp_path / "notebooks")
    for run in (lambda: run_figures(tmp_path / "figures"), refresh_notebooks):
        with pytest.raises(NotebookRunError, match="must be run in a clone of the repository"):
            run()


@pytest.mark.parametrize("package", ["papermill", "nbformat"])
def test_a_package_that_is_missing_is_named_with_the_way_to_install_it(monkeypatch, notebooks, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotebookRunError, match=rf"{package} is not installed; .*pip install -e '\.\[notebooks\]'"):
        refresh_notebooks(notebooks=notebooks)


# As `make figures` runs it, on a folder of its own.
COMMAND = """\
import signal
import sys
from pathlib import Path
from paper_repro import cli
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
cli.run_figures.__kwdefaults__["notebooks"] = cli.refresh_notebooks.__kwdefaults__["notebooks"] = Path(sys.argv.pop(1))
cli.main()
"""


@pytest.mark.parametrize(("command", "number"), [("figures", signal.SIGINT), ("notebooks", signal.SIGTERM)])
def test_a_signal_ends_it_at_once_and_leaves_nothing_behind(notebooks, tmp_path, command, number):
    psutil = pytest.importorskip("psutil")
    make_notebook(notebooks / "curves.ipynb", body="import time\nprint(open('started', 'w'))\ntime.sleep(600)\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "curve.csv").write_text("earlier")
    arguments = [*(["--output", tmp_path / "out"] if command == "figures" else []), "--jobs", "2"]
    before = contents(notebooks)
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, notebooks, command, *arguments],
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    started = time.monotonic()
    while not (notebooks / "started").exists() and process.poll() is None and time.monotonic() < started + 60:
        time.sleep(0.05)
    everyone = psutil.Process(process.pid).children(recursive=True)
    assert len(everyone) >= 3  # what runs the notebook, its kernel, and the template of both

    os.killpg(process.pid, number)  # as a terminal does
    said, _ = process.communicate(timeout=30)

    assert process.returncode != 0
    assert said.split() == ["Aborted!"]
    left = psutil.wait_procs(everyone, timeout=10)[1]
    # A process that has ended may wait to be asked how, where nobody asks.
    assert [each for each in left if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
    assert list((tmp_path / "build" / "notebooks").glob("run-*")) == []
    assert contents(tmp_path / "out") == {"curve.csv": b"earlier"}
    (notebooks / "started").unlink()
    assert contents(notebooks) == before
