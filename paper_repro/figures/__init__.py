"""One module a notebook, with the notebook's name: its tables, and the drawings made from them."""

from paper_repro.errors import optional

for _module in ("matplotlib", "pandas"):
    optional(_module, "plot")
