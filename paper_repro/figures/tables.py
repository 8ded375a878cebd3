"""Tables as tables: CSV, Markdown and LaTeX files and HTML in a notebook, with fractions kept and print set against exact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from paper_repro.figures.registry import UNREACHABLE
from paper_repro.figures.saving import about
from paper_repro.reproduce.files import check_file_name, check_own_folder, replace_files
from paper_repro.reproduce.formulas import html_text, latex_text, markdown_text

__all__ = ["differs", "leakage_text", "number_text", "number_texts", "publish_table", "save_table", "table_html"]

_LARGEST = 99  # denominator of a number that is written as a fraction
_SAME = 1e-8  # tables have eight decimals
# Dark text on a light cell, in a dark notebook too; what differs is said in words as well.
_MARKED = f"background-color: {UNREACHABLE['facecolor']}; color: #000000; font-weight: bold;"
_QUIET = 'style="color: #595959; font-weight: normal"'
_PRINT = re.compile(r" \$\\neq\$ .* in print$")


def publish_table(
    frame: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    finding: str,
    subtitle: str = "",
    inputs: Iterable[str | Path] = (),
    *,
    printed: pd.DataFrame | None = None,
    form: Literal["auto", "both"] = "auto",
    note: str = "",
    data: pd.DataFrame | None = None,
    source: str = "",
    ledger: Iterable[str] = (),
) -> None:
    """Show a table in a notebook as :func:`table_html` has it, and save it as :func:`save_table` does, with its errors."""
    from IPython.display import HTML, display

    save_table(
        frame, name, output_dir, finding, subtitle, inputs,
        printed=printed, form=form, note=note, data=data, source=source, ledger=ledger,
    )  # fmt: skip
    display(HTML(table_html(number_texts(frame, printed, form), name, finding, subtitle, note)))  # type: ignore[no-untyped-call]


def save_table(
    frame: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    finding: str,
    subtitle: str = "",
    inputs: Iterable[str | Path] = (),
    *,
    printed: pd.DataFrame | None = None,
    form: Literal["auto", "both"] = "auto",
    note: str = "",
    data: pd.DataFrame | None = None,
    source: str = "",
    ledger: Iterable[str] = (),
) -> list[Path]:
    """Save a table as CSV, Markdown and LaTeX (packages booktabs and xcolor), all or none; earlier files are replaced at the end.

    Parameters
    ----------
    frame : DataFrame
        Numbers or texts; the index names the rows. Texts and names may have formulas between dollar signs.
    name : str
        File name without ending.
    output_dir : str or Path
        Made if it does not exist; the empty string saves nothing.
    finding, subtitle : str
        The caption: what is found, and what it is of.
    inputs : paths
        Data files behind the table.
    printed : DataFrame of str, of the same rows and columns, optional
        The numbers as a paper prints them, as ``"0.2412"`` or ``"4/9"``, empty where it has none; those that differ are marked.
    form : "auto" or "both"
        How numbers are written: see :func:`number_texts`.
    note : str
        What stands below the table.
    data : DataFrame, optional
        What the CSV has instead of ``frame``.
    source : str
        What it is after, as ``"Alvim et al. 2011, Table 1"``.
    ledger : names of claims
        Rows of the ledger that judge what is seen.

    Returns
    -------
    list of Path
        What was written; the last one, ``<name>.about``, is for the manifest.

    Raises
    ------
    ValueError
        If the name is not that of a file in the folder, the folder holds a manifest, or ``printed`` has other rows or columns.
    OSError
        If the folder cannot be made or written into; what was there stays as it was.
    """
    check_file_name(name)
    texts = number_texts(frame, printed, form)
    if not output_dir:
        return []
    check_own_folder(output_dir)
    contents = {
        ".csv": (frame.reset_index() if data is None else data).to_csv(index=False, lineterminator="\n"),
        ".md": _markdown(texts, finding, subtitle, note),
        ".tex": _latex(texts, name, finding, subtitle, note),
        ".about": about(finding, subtitle, note, inputs=inputs, source=source, ledger=ledger).decode(),
    }
    written = {Path(output_dir) / f"{name}{suffix}": content.encode() for suffix, content in contents.items()}
    replace_files(written)
    return list(written)


def number_texts(
    frame: pd.DataFrame, printed: pd.DataFrame | None = None, form: Literal["auto", "both"] = "auto"
) -> pd.DataFrame:
    r"""The cells of a table as texts: fractions if all its numbers are such, else aligned decimals; ``both`` has the two.

    A fraction has a denominator of at most 99 and is within 1e-8. Where ``printed`` differs by more than its own rounding, the
    text says so. Raises ValueError if ``printed`` has other rows or columns.

    >>> number_texts(pd.DataFrame({"a": [2 / 7, 0.0]})).to_dict("list")
    {'a': ['2/7', '0']}
    >>> exact, printed = pd.DataFrame({"a": [0.241522, 2 / 7]}), pd.DataFrame({"a": ["0.2412", "0.2857"]})
    >>> number_texts(exact, printed, "both").to_dict("list")
    {'a': ['0.2415 $\\neq$ 0.2412 in print', '0.2857 (2/7)']}
    """
    if printed is not None and not (printed.index.equals(frame.index) and printed.columns.equals(frame.columns)):
        raise ValueError("what is printed must have the rows and columns of the table it is compared with")
    values = np.array([value for value in frame.to_numpy(dtype=object).flat if _is_number(value)], dtype=float)
    values = values[np.isfinite(values)]
    decimals = next((d for d in range(4) if np.allclose(values, values.round(d), rtol=0, atol=_SAME)), 4)
    fractions = form == "auto" and decimals == 4 and all(map(_fraction, values))

    def written(value: Any, said: str) -> str:
        if not _is_number(value):
            return str(value)
        near = _fraction(float(value)) if fractions or (form == "both" and decimals == 4) else ""
        text = near if fractions else f"{value:.{decimals}f}" + f" ({near})" * bool(near)
        return text + rf" $\neq$ {said} in print" * bool(said and differs(said, float(value)))

    other = frame.map(lambda _: "") if printed is None else printed
    rows = zip(frame.to_numpy(dtype=object), other.to_numpy(dtype=object), strict=True)
    cells = [[written(value, str(said)) for value, said in zip(*row, strict=True)] for row in rows]
    return pd.DataFrame(cells, index=frame.index, columns=frame.columns)


def leakage_text(leakage: float) -> str:
    r"""A leakage in nats as it is named in a subtitle: as a logarithm where it is that of a whole number above 1.

    >>> leakage_text(float(np.log(3))), leakage_text(0.5)
    ('$\\epsilon = \\log 3$', '$\\epsilon = 0.5$')
    """
    whole = leakage > _SAME and abs(np.exp(leakage) - np.round(np.exp(leakage))) < _SAME
    return rf"$\epsilon = \log {np.exp(leakage):.0f}$" if whole else rf"$\epsilon = {leakage:.4g}$"


def number_text(value: float) -> str:
    """A dimensionless number as :func:`number_texts` writes it alone: a fraction of small terms, or four decimals.

    >>> number_text(2 / 7), number_text(0.53462)
    ('2/7', '0.5346')
    """
    return _fraction(value) or f"{value:.4f}"


def differs(printed: str, exact: float) -> bool:
    """Whether a printed number, a decimal or a fraction, is not the exact one: they differ by more than half its last digit.

    Both are dimensionless.

    >>> differs("0.2412", 0.241522), differs("0.2857", 2 / 7), differs("4/11", 4 / 11)
    (True, False, False)
    """
    places = len(printed.partition(".")[2]) if "." in printed else None
    return abs(float(Fraction(printed)) - exact) > (_SAME if places is None else 0.5 * 10.0**-places + _SAME)


def table_html(texts: pd.DataFrame, name: str, finding: str, subtitle: str = "", note: str = "") -> str:
    """A table of texts as HTML: caption above, note below, cells that differ from print marked by color and in words.

    The name tells the styles of the tables of one page apart.
    """
    said = html_text(finding) + (f"<br><span {_QUIET}>{html_text(subtitle)}</span>" if subtitle else "")
    told = f'<p style="color: #595959">{html_text(note)}</p>' if note else ""
    styler = _styled(texts, name, _html)
    styler.set_table_attributes('style="font-variant-numeric: tabular-nums"')
    styler.set_table_styles(
        [
            {"selector": "td", "props": "text-align: right; white-space: nowrap; padding: 0.2em 0.6em"},
        ]
    )
    return f"<figure><figcaption><strong>{said}</strong></figcaption>{styler.to_html()}{told}</figure>"


def _styled(texts: pd.DataFrame, name: str, written: Callable[[object], str]) -> Styler:
    """The styled table, its headers written; ids in it are the same each time."""
    columns = pd.Index([written(str(column)) for column in texts.columns], name=written(_corner(texts)) or None)
    named = pd.DataFrame(texts.to_numpy(), index=[written(str(row)) for row in texts.index], columns=columns)

    def style(text: Any) -> str:
        return _MARKED if _PRINT.search(text) else "text-align: center" if text in ("•", "") else ""

    return Styler(named, uuid=re.sub(r"\W", "-", name), cell_ids=False).format(written).map(style)


def _html(cell: object) -> str:
    return html_text(str(cell))


def _latex_cell(cell: object) -> str:
    return latex_text(str(cell))


def _corner(texts: pd.DataFrame) -> str:
    """What the rows and the columns are."""
    rows, columns = (str(names.name or "") for names in (texts.index, texts.columns))
    return rf"{rows} $\downarrow$, {columns} $\rightarrow$" if rows and columns else rows or columns


def _markdown(texts: pd.DataFrame, finding: str, subtitle: str, note: str) -> str:
    lines = [[_corner(texts), *map(str, texts.columns)]]
    lines += [[str(row), *texts.loc[row]] for row in texts.index]
    rows = ["| " + " | ".join(_bold(markdown_text(cell), cell) for cell in line) + " |" for line in lines]
    rows.insert(1, "|---|" + "---:|" * len(texts.columns))
    parts = [f"**{markdown_text(finding)}**", markdown_text(subtitle), "\n".join(rows), markdown_text(note)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _bold(shown: str, text: str) -> str:
    return f"**{shown}**" if _PRINT.search(text) else shown


def _latex(texts: pd.DataFrame, name: str, finding: str, subtitle: str, note: str) -> str:
    caption = " ".join(text if text.endswith((".", "?")) else f"{text}." for text in (finding, subtitle, note) if text)
    return _styled(texts, name, _latex_cell).to_latex(
        hrules=True, caption=latex_text(caption), label=f"tab:{name}", position_float="centering", convert_css=True,
        column_format="l" + "r" * len(texts.columns),
    )  # fmt: skip


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating)


def _fraction(value: float) -> str:
    """A number as a fraction of small terms; empty if it is none."""
    near = Fraction(value).limit_denominator(_LARGEST)
    return str(near) if abs(float(near) - value) < _SAME else ""
