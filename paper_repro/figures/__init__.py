"""One module a notebook, with the notebook's name: its tables, and the drawings made from them."""
