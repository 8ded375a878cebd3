"""Lines as drawn against the exact functions, at random places and in pixels of 300 dots an inch, whatever `points` says."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import shapely

import paper_repro as pr
from paper_repro.databases import database_leakage_curve
from paper_repro.figures import curves, database_leakage, databases_of_records, leakage_curves, robust_response
from paper_repro.figures.registry import set_label
from paper_repro.figures.seven_notions import notion_table
from paper_repro.notions import NOTION_NAMES, notion_by_name
from paper_repro.papers import alvim2011, ghazi2021, kalantari2018, zhong_bu2022
from tests.figures.pictures import SETS, SIX, TEN, load, with_lemma

HALF_A_PIXEL = 0.5
DP, MI = pr.DifferentialPrivacy(), pr.MutualInformation()


def farthest(figure, name, function, places, most=400):
    """How far the function is from the line of that name, at random places where it is drawn or 0, in pixels."""
    figure.draw_without_rendering()
    found = [(axes, line) for axes in figure.axes for line in axes.lines if line.get_gid() == name]
    assert found, name
    worst = 0.0
    for axes, line in found:
        low, high = np.clip([places.min(), places.max()], *sorted(axes.get_xlim()))
        inside = np.unique(np.append(places[(places >= low) & (places <= high)][:most], [low, high]))
        true = np.column_stack([inside, function(inside)])
        true = true[np.isfinite(true[:, 1]) & (true[:, 1] <= axes.get_ylim()[1])]
        pieces = np.split(line.get_xydata(), np.flatnonzero(np.isnan(line.get_ydata())))
        pieces = [piece[np.isfinite(piece).all(axis=1)] for piece in pieces]
        zero = [[axes.get_xlim()[0], 0], [axes.get_xlim()[1], 0]]  # where a curve ends in it
        scale = 300 / figure.dpi
        drawn = [axes.transData.transform(piece) * scale for piece in [*pieces, np.array(zero)] if len(piece) > 1]
        points = shapely.points(axes.transData.transform(true) * scale)
        worst = max(worst, float(shapely.distance(shapely.MultiLineString(drawn), points).max(initial=0.0)))
    return worst


def far_lines(figure, functions, places, most=400):
    found = {name: farthest(figure, name, function, places, most) for name, function in functions.items()}
    return {name: round(pixels, 3) for name, pixels in found.items() if pixels > HALF_A_PIXEL}


@pytest.mark.parametrize(("names", "points"), [(SIX, 10), (SIX, 60), (TEN, 10)], ids=["4-10", "4-60", "5-10"])
def test_curves_and_what_they_save_against_randomized_response(names, points, rng):
    table = leakage_curves.comparison_table(load(*names), points=points, show_printed=False)
    claims = leakage_curves.printed_table(load(names[1]), points=points)
    even = np.vectorize(partial(kalantari2018.theorem_1, SETS[names[0]].alphabet_size))
    claims = claims.assign(randomized_response=even(claims["distortion"]))
    figure = leakage_curves.draw_comparison(pd.concat([table, claims], ignore_index=True))
    places = np.append(rng.uniform(0.005, 1, 1500), rng.uniform(0.005, 0.05, 500))
    exact = {name: pr.exact_curve(SETS[name]).leakage for name in names}
    saved = {f"{set_label(names[1])} saved": lambda d: even(d) - exact[names[1]](d)}
    assert far_lines(figure, {**exact, **saved}, places, most=2000) == {}

    formula = np.vectorize(partial(kalantari2018.theorem_2, SETS[names[1]]))
    claimed = {
        f"{names[1]} as printed": formula,
        f"{set_label(names[1])} saved as printed": lambda d: even(d) - formula(d),
    }
    last = claims["distortion"].max()
    assert far_lines(figure, claimed, rng.uniform(0.02, last - 1e-6, 150)) == {}


@pytest.mark.parametrize("name", ["P_I_10", "P_II_10"])
def test_two_notions_on_one_axis(name, rng):
    figure = curves.draw_curves(with_lemma(name))
    functions = {notion.name: partial(pr.leakage_curve, SETS[name], notion=notion) for notion in (DP, MI)}
    assert far_lines(figure, functions, rng.uniform(0.005, 1, 1000), most=30) == {}


@pytest.mark.parametrize(
    ("name", "points", "slow"),
    [("P_I_2", 10, ("Sibson",)), ("P_II_4", 2, ("Renyi", "Sibson")), ("P_II_4", 10, ("Renyi", "Sibson", "maximal i"))],
)
def test_all_notions(name, points, slow, rng):
    notions = [notion_by_name(notion, delta=0.1) for notion in NOTION_NAMES if not notion.startswith(slow)]
    figure = curves.draw_curves(notion_table(SETS[name], notions, 0.01, 0.7, points))
    functions = {notion.name: partial(pr.leakage_curve, SETS[name], notion=notion) for notion in notions}
    assert far_lines(figure, functions, rng.uniform(0.01, 0.7, 1000), most=40) == {}


def test_printed_intervals(rng):
    notions = [pr.RenyiDP(2), pr.SibsonInformation(2)]
    figure = curves.draw_curves(notion_table(SETS["P_I_2"], notions, 0.005, 0.6, 10))
    for band, notion in zip(figure.axes[0].collections, notions, strict=True):
        bound = lambda d: zhong_bu2022.proposition_8(notion.name, 2, d, SETS["P_I_2"], alpha=2)  # noqa: B023, E731
        places = rng.uniform(0.01, 0.6, 200)
        scale = 300 / figure.dpi
        drawn = shapely.Polygon(figure.axes[0].transData.transform(band.get_paths()[0].vertices) * scale).boundary
        for side in ("lower", "upper"):
            true = np.column_stack([places, [getattr(bound(place), side) for place in places]])
            points = shapely.points(figure.axes[0].transData.transform(true) * scale)
            assert shapely.distance(drawn, points).max() <= HALF_A_PIXEL, (notion, side)


@pytest.mark.parametrize(
    ("values", "records", "prior", "most"), [(2, 2, (), 60), (50, 1000, (), 40), (2, 2, (0.4, 0.3, 0.2, 0.1), 12)]
)
def test_databases(values, records, prior, most, rng):
    names = [name for name in NOTION_NAMES if not prior or name.startswith(("approximate", "maximal l"))]
    notions = [notion_by_name(name, delta=0.1) for name in names]
    low, high = 0.01 * records, 0.98 * records if values > 2 else 0.6 * records
    table = databases_of_records.global_table(values, records, notions, np.linspace(low, high, 10), prior)
    figure = databases_of_records.draw_global(table)
    source = pr.SourceSet(prior) if prior else None
    functions = {n.name: partial(database_leakage_curve, values, records, notion=n, source=source) for n in notions}
    assert far_lines(figure, functions, rng.uniform(low, high, 1000), most) == {}


def test_bounds_of_min_entropy_leakage(rng):
    figure = database_leakage.draw_theorem_1(database_leakage.theorem_1_table(100, [2, 10, 100], 12.0, 10))
    functions = {f"v = {v}": np.vectorize(partial(alvim2011.theorem_1, v, 100)) for v in (2, 10, 100)}
    assert far_lines(figure, functions, rng.uniform(0, 12, 400)) == {}


def test_a_wrong_prior(rng):
    source = SETS["P_IIIb_6"]
    figure = robust_response.draw_responses(robust_response.response_table(source, 1, np.linspace(0, 4, 10)))
    wrong = lambda e: source.worst_case_distortion(ghazi2021.rr_with_prior(source.vertices[0], e))  # noqa: E731
    best = lambda e: pr.optimal_mechanism(source, leakage=e).distortion  # noqa: E731
    functions = {"RRWithPrior, worst case over the set": np.vectorize(wrong), "robust optimum": np.vectorize(best)}
    assert far_lines(figure, functions, rng.uniform(0, 4, 100)) == {}
