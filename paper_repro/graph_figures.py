"""Figures of answers on a graph and of databases; each is drawn from a table alone."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from paper_repro.drawing import COLORS, DASHES, STYLE, as_image, canvas, draw_grid, need_columns, save_figure

__all__ = [
    "as_image",
    "draw_bounds",
    "draw_distances",
    "draw_graph",
    "draw_matrix",
    "draw_utilities",
    "save_figure",
]


def draw_bounds(table: pd.DataFrame, title: str = "") -> Figure:
    """Bounds on min-entropy leakage in bits against the privacy parameter in nats, one line per number of values.

    ``table`` is as of :func:`paper_repro.graph_tables.bound_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["values", "leakage", "bound"])
    with mpl.rc_context(STYLE):
        figure, axes = canvas(7.2, 4.4)
        for number, (values, rows) in enumerate(table.groupby("values", sort=False)):
            color, dashes = COLORS[number % len(COLORS)], DASHES[number % len(DASHES)]
            axes.plot(rows["leakage"], rows["bound"], color=color, linestyle=dashes, clip_on=False)
            end = rows.iloc[-1]
            place = (end["leakage"], end["bound"])
            axes.annotate(f"v = {values}", place, xytext=(5, 0), textcoords="offset points", va="center", color=color)
        axes.set(
            xlabel="privacy parameter of differential privacy (nats)", ylabel="min-entropy leakage (bits)", title=title
        )
        axes.set_xlim(0, float(table["leakage"].max()))
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.25, linewidth=0.6)
    return figure


def draw_graph(edges: pd.DataFrame, title: str = "") -> Figure:
    """A graph of neighbors, its vertices around a circle.

    ``edges`` has the columns ``from`` and ``to``. Raises ValueError if one is missing.
    """
    import networkx as nx

    need_columns(edges, ["from", "to"])
    graph = nx.Graph(list(zip(edges["from"].astype(str), edges["to"].astype(str), strict=True)))
    names = sorted(graph, key=lambda name: (len(name), name))
    with mpl.rc_context(STYLE):
        figure, axes = canvas(5.2, 5.2)
        place = nx.circular_layout(names)
        nx.draw_networkx_edges(graph, place, ax=axes, edge_color="0.55", width=1.0)
        nx.draw_networkx_nodes(
            graph, place, names, ax=axes, node_color="white", edgecolors=COLORS[1], node_size=620, linewidths=1.4
        )
        nx.draw_networkx_labels(graph, place, ax=axes, font_size=9, font_family="DejaVu Sans")
        axes.set(title=title, aspect="equal")
        axes.margins(0.12)
        axes.axis("off")
    return figure


def draw_distances(table: pd.DataFrame, title: str = "") -> Figure:
    """Distances between databases as a shaded table, as of :func:`paper_repro.graph_tables.distance_table`."""
    return draw_grid(table, title, "database", "{:d}")


def draw_matrix(table: pd.DataFrame, title: str = "") -> Figure:
    """A mechanism as a shaded table: row = true answer, column = published one."""
    return draw_grid(table, title, "published answer", "{:.3f}")


def draw_utilities(table: pd.DataFrame, title: str = "") -> Figure:
    """Utilities as a shaded table: rows are priors, columns mechanisms.

    ``table`` is as of :func:`paper_repro.graph_tables.utility_table`. Raises ValueError if a column is missing.
    """
    need_columns(table, ["prior", "mechanism", "utility"])
    wide = table.pivot(index="prior", columns="mechanism", values="utility")
    wide = wide.loc[list(dict.fromkeys(table["prior"])), list(dict.fromkeys(table["mechanism"]))]
    return draw_grid(wide, title, "mechanism", "{:.4f}")
