"""The explorer's module, run by Node."""

import json
import shutil
import subprocess

import pytest

from docs import build_explorer as builder
from paper_repro.paths import ROOT

needs_node = pytest.mark.skipif(
    not (shutil.which("node") and shutil.which("npm")),
    reason="there is no Node.js with npm here: apt-get install nodejs npm",
)


def highs():
    """The folder of the solver, fetched when it is first needed; tests are skipped where it cannot be."""
    try:
        return builder.fetch_highs()
    except builder.BuildError as error:
        pytest.skip(str(error))


def answers(folder, problems, module=builder.SOURCE / "explorer.js"):
    """What the module finds for problems, one dictionary each; ``kind`` says what is asked."""
    asked = folder / "problems.json"
    asked.write_text(json.dumps(problems), encoding="utf-8")
    command = ["node", ROOT / "tests" / "explorer" / "optima.mjs", module]
    command += [highs() / "build" / "highs.mjs", asked]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
