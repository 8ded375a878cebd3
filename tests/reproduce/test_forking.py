"""Processes forked from a template: as if started anew, and gone with whatever asked for them."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from paper_repro.paths import NOTEBOOKS
from paper_repro.reproduce.forking import Template, notebook_modules
from tests.reproduce.small import make_notebook

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
psutil = pytest.importorskip("psutil")

# One thread: what several share is not forked.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SHOW = """\
import decimal, json, os, random, sys
import numpy
drawn = [random.random(), numpy.random.rand()]
json.dump([__name__, sys.argv, os.getcwd(), os.environ["COLOR"], "PATH" in os.environ, sys.path[0], drawn], sys.stdout)
raise SystemExit(7)
"""


@pytest.fixture
def source():
    started = Template.start(["numpy"], ENVIRONMENT)
    yield started
    started.close()


def run(source, folder, module, *arguments, environment=ENVIRONMENT):
    with open(folder / "said", "wb") as said, open(os.devnull, "rb") as nothing:
        return source.fork(
            module, arguments, environment, str(folder), [nothing.fileno(), said.fileno(), said.fileno()]
        )


def test_a_fork_is_as_a_process_started_anew(source, tmp_path):
    (tmp_path / "show.py").write_text(SHOW)
    drawn = []
    for word in ("blue", "red"):
        process = run(source, tmp_path, "show", "-x", environment={"COLOR": word})
        assert process.wait(30) == 7
        name, arguments, folder, color, path, first, numbers = json.loads((tmp_path / "said").read_text())
        assert (name, arguments, folder) == ("__main__", [str(tmp_path / "show.py"), "-x"], str(tmp_path))
        assert (color, path, first) == (word, False, str(tmp_path))
        drawn += numbers
    assert len(set(drawn)) == 4


def test_signals_reach_a_fork_and_its_end_is_told(source, tmp_path):
    (tmp_path / "wait.py").write_text("import time\nprint('waiting', flush=True)\ntime.sleep(600)\n")
    for number, status in ((signal.SIGINT, 1), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)):
        process = run(source, tmp_path, "wait")
        while not (tmp_path / "said").read_text():
            time.sleep(0.02)
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(number)
        assert process.wait(30) in (status, -number)
        process.kill()  # it has ended, and that is all


def test_nothing_outlives_the_template_or_whoever_started_it(source, tmp_path):
    (tmp_path / "wait.py").write_text("import time\nprint('waiting', flush=True)\ntime.sleep(600)\n")
    process = run(source, tmp_path, "wait")
    forked = psutil.Process(process.pid)
    source.process.kill()
    assert process.wait(30) == -signal.SIGKILL
    assert psutil.wait_procs([forked], timeout=10)[1] == []
    assert run(source, tmp_path, "wait") is None  # so that callers start processes as usual

    code = (
        "import os, sys; from paper_repro.reproduce.forking import Template; t = Template.start([], os.environ);"
        "p = t.fork('wait', [], dict(os.environ), sys.argv[1], [0, 1, 2]); print(t.process.pid, p.pid, flush=True);"
        "os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    starter = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    said, _ = starter.communicate(timeout=60)  # its end is read when the forks are gone too
    numbers = [int(word) for word in said.split() if word.isdigit()]
    assert len(numbers) == 2
    left = [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]
    assert psutil.wait_procs(left, timeout=10)[1] == []


def test_where_a_package_starts_threads_nothing_is_forked(tmp_path, monkeypatch):
    (tmp_path / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[60], daemon=True).start()\n"
    )
    several = Template.start(["threaded"], {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)})
    assert run(several, tmp_path, "json") is None
    several.close()


def test_the_template_of_the_notebooks_does_fork(tmp_path):
    """With all that the notebooks import: a package that starts a thread would make every kernel import it all again."""
    (tmp_path / "show.py").write_text(
        "import sys\nprint(*sorted({'pandas', 'seaborn', 'papermill'} & {*sys.modules}))\n"
    )
    real = Template.start(notebook_modules(sorted(NOTEBOOKS.glob("*.ipynb"))), ENVIRONMENT)
    process = run(real, tmp_path, "show")
    assert process is not None, f"the template has {len(os.listdir(f'/proc/{real.process.pid}/task'))} threads"
    assert process.wait(60) == 0
    assert (tmp_path / "said").read_text() == "pandas papermill seaborn\n"
    real.close()


def test_it_can_be_switched_off_and_is_on_linux_alone(monkeypatch):
    assert Template.start([], {**ENVIRONMENT, "PAPER_REPRO_FORK": "0"}) is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert Template.start([], ENVIRONMENT) is None


def test_what_notebooks_import_is_imported_once(tmp_path):
    notebook = make_notebook(tmp_path / "curves.ipynb", body="%matplotlib inline\nimport lost")
    other = make_notebook(tmp_path / "other.ipynb", body="import json.tool as tool\nfrom paper_repro import figures")
    found = notebook_modules([notebook, other, tmp_path / "missing.ipynb"])
    assert {"ipykernel.kernelapp", "papermill", "json.tool", "paper_repro.figures", "seaborn"} <= {*found}
    assert "lost" not in found
    assert "seaborn" not in notebook_modules([notebook])
