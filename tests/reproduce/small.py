"""A notebook of two cells, as small as what runs notebooks can be tried on."""

from pathlib import Path

import nbformat

PARAMETERS = """\
budget: float = 0.25  # chance of a change
names: list = ["curve"]  # what to draw
output_dir: str = ""  # empty: write nothing
"""
# Text stands for figures: the runs move files and never look inside.
BODY = """\
from pathlib import Path
from paper_repro.reproduce.parameters import check_parameters
check_parameters(globals())
if budget > 1:
    raise ValueError(f"budget must be at most 1, got {budget}")
for name in names if output_dir else []:
    Path(output_dir, f"{name}.csv").write_text(f"{name}\\n{budget}\\n")
    Path(output_dir, f"{name}.svg").write_text(f"<svg id='{name}'/>")
    Path(output_dir, f"{name}.about").write_text('{"inputs": ["data/prior.csv"], "finding": "It falls."}')
print("first", flush=True)
print(f"budget {budget:.2f}")
"""


def make_notebook(path: Path, parameters: str = PARAMETERS, body: str = BODY, *, stored: bool = False) -> Path:
    """Write the notebook; with what it prints, if its outputs are to be ``stored``."""
    cells = [nbformat.v4.new_markdown_cell("# Curves", id="title")]
    cells += [nbformat.v4.new_code_cell(parameters, id="parameters", metadata={"tags": ["parameters"]})]
    cells += [nbformat.v4.new_code_cell(body, id="body")]
    if stored:
        cells[2].outputs = [nbformat.v4.new_output("stream", name="stdout", text="first\nbudget 0.25\n")]
        cells[1].execution_count, cells[2].execution_count = 1, 2
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path
