"""Tables of the seven notions: bounds that are printed, best mechanisms, databases and records published one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from paper_repro.composition import parallel_composition
from paper_repro.curves import with_jumps
from paper_repro.databases import database_leakage_curve, optimal_database_mechanism
from paper_repro.notions import ApproximateDP, Notion, RenyiDP, SibsonInformation
from paper_repro.papers import zhong_bu2022
from paper_repro.sources import SourceSet, load_source_set
from paper_repro.tradeoff import optimal_mechanism

__all__ = ["bound_table", "global_table", "mechanism_table", "profile_table", "record_table"]

_DECIMALS = 6


def bound_table(name: str, notions: Sequence[Notion], distortions: ArrayLike) -> pd.DataFrame:
    """Intervals that Proposition 8 of Zhong and Bu 2022 prints for a Class I set, where they are no single number.

    Columns: ``curve`` (the notion), ``distortion``, ``lower`` and ``upper`` in nats; empty for other classes.

    >>> from paper_repro.notions import RenyiDP
    >>> bound_table("P_I_2", [RenyiDP(2)], [0.3]).round(4).iloc[0].to_dict()
    {'curve': 'Renyi differential privacy', 'distortion': 0.3, 'lower': 0.4906, 'upper': 0.5664}
    """
    source = load_source_set(name)
    rows = []
    for notion in notions if source.source_class == "I" else ():
        for distortion in np.asarray(distortions, dtype=float):
            bounds = zhong_bu2022.proposition_8(
                _paper_name(notion), source.alphabet_size, distortion, source, **_parameters(notion)
            )
            rows.append((notion.name, distortion, bounds.lower, bounds.upper))
    frame = pd.DataFrame(rows, columns=["curve", "distortion", "lower", "upper"])
    wide = (frame["upper"] - frame["lower"]).groupby(frame["curve"]).transform("max") > 10**-_DECIMALS
    return _rounded(frame[wide.to_numpy(dtype=bool)].reset_index(drop=True))


def mechanism_table(name: str, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """The best mechanism of each notion at one distortion, one entry a row.

    Columns: ``notion``, ``leakage`` (least, in nats), ``true`` and ``published`` letters, ``probability``.

    >>> from paper_repro.notions import MaximalLeakage
    >>> mechanism_table("P_II_4", [MaximalLeakage()], 0.3)["probability"].round(2).tolist()[:4]
    [1.0, 0.0, 0.0, 0.0]
    """
    source = load_source_set(name)
    frames = []
    for notion in notions:
        best = optimal_mechanism(source, distortion=distortion, notion=notion)
        true, published = np.indices(best.mechanism.matrix.shape)
        letters = np.array([str(label) for label in source.labels])
        frames.append(
            pd.DataFrame(
                {
                    "notion": notion.name,
                    "leakage": best.leakage,
                    "true": letters[true.ravel()],
                    "published": letters[published.ravel()],
                    "probability": best.mechanism.matrix.ravel(),
                }
            )
        )
    return _rounded(pd.concat(frames, ignore_index=True))


def global_table(
    values: int,
    records: int,
    notions: Sequence[Notion],
    distortions: ArrayLike,
    prior: Sequence[float] = (),
) -> pd.DataFrame:
    """Theorem 7 (uniform prior) or Theorem 6 (another) of Zhong and Bu 2022 against the exact least leakage for databases.

    Parameters
    ----------
    values, records : int
        m and n.
    notions : sequence of Notion
    distortions : array_like in [0, records]
        Expected numbers of records changed.
    prior : sequence of ``values ** records`` probabilities, optional
        In the order of :func:`paper_repro.graphs.databases`; uniform, if empty.

    Returns
    -------
    DataFrame
        ``notion``, ``distortion``, ``exact``, ``lower`` and ``upper``, in nats; the bounds in their corrected reading, and
        between the points of the grid interpolated; ``end``, ``open`` and ``closed`` at the ends of a jump. Without a
        prior, upper bounds of maximal information are those of the uniform prior.

    >>> from paper_repro.notions import MaximalLeakage
    >>> global_table(2, 2, [MaximalLeakage()], [0.4]).round(5).iloc[0, 2:5].to_dict()
    {'exact': 0.87547, 'lower': 0.47, 'upper': 0.94001}
    """
    source = SourceSet(prior) if len(prior) else None
    small = records * np.log(values) <= np.log(2048)
    uniform = SourceSet(np.full(values**records, 1 / values**records)) if small else None
    frames = []
    for notion in notions:
        name, parameters = _paper_name(notion), _parameters(notion)
        rows = []
        for distortion in np.asarray(distortions, dtype=float):
            if source is not None:
                bounds = zhong_bu2022.theorem_6(
                    name, values, records, distortion, source, reading="corrected", **parameters
                )
            elif name == "maximal information" and uniform is None:
                # For the uniform prior alone it is maximal leakage, of Q_D too.
                bounds = zhong_bu2022.theorem_7("maximal leakage", values, records, distortion, reading="corrected")
            else:
                bounds = zhong_bu2022.theorem_7(
                    name, values, records, distortion, uniform, reading="corrected", **parameters
                )
            rows.append((notion.name, distortion, bounds.lower, bounds.upper))
        frame = pd.DataFrame(rows, columns=["notion", "distortion", "lower", "upper"])
        least = partial(database_leakage_curve, values, records, notion=notion, source=source)
        exact = least(frame["distortion"])
        if source is None or notion.gap_unit == "nats":  # only ratios jump, and not for the uniform prior
            frames.append(frame.assign(exact=exact, end=""))
            continue
        places, leakages, ends = with_jumps(lambda place: float(least([place])[0]), frame["distortion"], exact)  # noqa: B023
        exactly = pd.DataFrame({"notion": notion.name, "distortion": places, "exact": leakages, "end": ends})
        bands = {side: np.interp(places, frame["distortion"], frame[side]) for side in ("lower", "upper")}
        frames.append(exactly.assign(**bands))
    columns = ["notion", "distortion", "exact", "lower", "upper", "end"]
    return _rounded(pd.concat(frames, ignore_index=True)[columns])


def profile_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """How many records the best mechanism of each notion changes, for the uniform prior.

    Columns: ``notion``, ``changed`` (0 .. n) and ``probability`` that so many records are changed.

    >>> from paper_repro.notions import MaximalLeakage
    >>> profile_table(2, 2, [MaximalLeakage()], 0.4)["probability"].tolist()
    [0.6, 0.4, 0.0]
    """
    frames = []
    for notion in notions:
        best = optimal_database_mechanism(values, records, distortion=distortion, notion=notion)
        program = notion.profile_program(values, records)
        frames.append(
            pd.DataFrame(
                {
                    "notion": notion.name,
                    "changed": np.arange(records + 1),
                    "probability": program.shell_probabilities(np.asarray(best.log_profile)),
                }
            )
        )
    return _rounded(pd.concat(frames, ignore_index=True))


def record_table(values: int, records: int, notions: Sequence[Notion], distortion: float) -> pd.DataFrame:
    """What publishing records one by one costs: least leakages for the uniform prior, in nats.

    Columns: ``notion``; ``databases``, of any mechanism for whole databases; ``one_by_one``, of the best local mechanism at
    ``distortion / records``, used for every record (parallel composition, Section IV-D, Zhong and Bu 2022).

    >>> from paper_repro.notions import MaximalLeakage
    >>> record_table(2, 2, [MaximalLeakage()], 0.4).round(4).iloc[0, 1:].to_dict()
    {'databases': 0.8755, 'one_by_one': 0.94}
    """
    one = SourceSet(np.full(values, 1 / values))
    rows = [
        (
            notion.name,
            optimal_database_mechanism(values, records, distortion=distortion, notion=notion).leakage,
            parallel_composition(one, records, distortion=distortion, notion=notion).leakage,
        )
        for notion in notions
    ]
    return _rounded(pd.DataFrame(rows, columns=["notion", "databases", "one_by_one"]))


def _paper_name(notion: Notion) -> zhong_bu2022.Notion:
    return cast(zhong_bu2022.Notion, notion.name)


def _parameters(notion: Notion) -> dict[str, float]:
    """The order or delta of a notion, as the paper's functions take them."""
    if isinstance(notion, RenyiDP | SibsonInformation):
        return {"alpha": notion.alpha}
    return {"delta": notion.delta} if isinstance(notion, ApproximateDP) else {}


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Round to the digits that are certified; what is left of a zero is 0."""
    numbers = frame.select_dtypes("float").columns
    frame[numbers] = frame[numbers].round(_DECIMALS) + 0.0
    return frame
