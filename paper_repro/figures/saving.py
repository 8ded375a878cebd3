"""How every figure is rendered and saved: byte for byte the same each time, said in words too, with its table beside it."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from PIL import Image, PngImagePlugin

from paper_repro.figures.layout import check_text, finding_of
from paper_repro.figures.style import STYLE
from paper_repro.paths import ROOT
from paper_repro.reproduce.files import check_file_name, check_own_folder, replace_files

__all__ = ["about", "framed", "publish", "save_figure"]

_INCH = 96  # pixels of a browser


def publish(
    figure: Figure,
    table: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    description: str,
    inputs: Iterable[str | Path] = (),
    *,
    caption: str = "",
    source: str = "",
    ledger: Iterable[str] = (),
) -> None:
    """Show a figure in a notebook at its size, with alternative text and a caption, and save it as :func:`save_figure` does.

    The ``caption`` says how to read the picture: what a line, a color or a sign means. The finding is the figure's title,
    and the caption does not repeat it.
    """
    from IPython.display import HTML, display

    written = save_figure(figure, table, name, output_dir, description, inputs, source=source, ledger=ledger)
    png = written[0].read_bytes() if written else _rendered(figure, "png", name, _words(description))
    under = [text.rstrip(".") + "." for text in (_words(caption), source and f"Source: {source}") if text]
    display(HTML(framed(png, figure, _words(description), " ".join(under))))  # type: ignore[no-untyped-call]


def framed(png: bytes, figure: Figure, description: str, caption: str) -> str:
    """A picture of a figure as HTML, at its size, with alternative text and a caption."""
    return (
        f'<figure><img src="data:image/png;base64,{base64.b64encode(png).decode()}" '
        f'width="{round(figure.get_figwidth() * _INCH)}" alt="{html.escape(description)}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def save_figure(
    figure: Figure,
    table: pd.DataFrame,
    name: str,
    output_dir: str | Path,
    description: str,
    inputs: Iterable[str | Path] = (),
    *,
    source: str = "",
    ledger: Iterable[str] = (),
) -> list[Path]:
    """Save a figure as PNG, SVG and PDF with its table as CSV; all or none, earlier files being replaced at the end.

    Parameters
    ----------
    figure : Figure
        Its headline is the title of PDF and SVG.
    table : DataFrame
        What the figure was drawn from.
    name : str
        File name without ending.
    output_dir : str or Path
        Made if it does not exist; the empty string saves nothing.
    description : str
        Alternative text, stored in the three pictures; its formulas are written as plain text.
    inputs : paths
        Data files behind the table.
    source : str
        What it is after, as ``"Kalantari et al. 2018, Figure 4"``.
    ledger : names of claims
        Rows of the ledger that judge what is seen, as ``"kalantari2018.table_1"``.

    Returns
    -------
    list of Path
        What was written; the last one, ``<name>.about``, tells the manifest all this.

    Raises
    ------
    ValueError
        If the name is not that of a file in the folder, the folder holds a manifest, or the figure is not ready to be printed:
        of another width than a column (3.5 inches) or a page (7.2), or with text that
        :func:`~paper_repro.figures.layout.check_text` refuses.
    OSError
        If the folder cannot be made or written into; what was there stays as it was.
    """
    check_file_name(name)
    if not output_dir:
        return []
    check_own_folder(output_dir)
    try:
        check_text(figure)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    description = _words(description)
    contents = {f".{kind}": _rendered(figure, kind, name, description) for kind in ("png", "svg", "pdf")}
    contents[".csv"] = table.to_csv(index=False, lineterminator="\n").encode()
    contents[".about"] = about(*finding_of(figure), description, inputs=inputs, source=source, ledger=ledger)
    written = {Path(output_dir) / f"{name}{suffix}": content for suffix, content in contents.items()}
    replace_files(written)
    return list(written)


def about(
    finding: str, subtitle: str, description: str, *, inputs: Iterable[str | Path], source: str, ledger: Iterable[str]
) -> bytes:
    """What a figure or table tells the manifest of itself, as JSON; of the inputs, those of the repository."""
    texts = {"finding": finding, "subtitle": subtitle, "description": description, "source": source}
    lists = {"inputs": list(filter(None, map(_relative, inputs))), "ledger": list(ledger)}
    return (json.dumps({**texts, **lists}, indent=2, ensure_ascii=False) + "\n").encode()


def _rendered(figure: Figure, kind: str, name: str, description: str) -> bytes:
    """The file's bytes; nothing in them tells when or where it was drawn."""
    title = _words(finding_of(figure)[0]) or name
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None, "Title": title, "Description": description},
        "svg": {"Date": None, "Creator": None, "Description": description},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Title": title, "Subject": description},
    }
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        if not isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine | None):
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # arranged once, for all kinds of file
        figure.savefig(buffer, format=kind, metadata=metadata[kind])
    content = buffer.getvalue()
    if kind == "svg":
        return _told(content, name, title, description)
    if kind == "pdf":
        return _in_english(content)
    return _of_few_colors(content)


def _of_few_colors(png: bytes) -> bytes:
    """A PNG of 256 colors, which are enough for lines, texts and shades: less than half the size."""
    if not png.startswith(b"\x89PNG"):
        return png
    buffer, told = io.BytesIO(), PngImagePlugin.PngInfo()
    with Image.open(io.BytesIO(png)) as image:
        for key, text in image.text.items():  # type: ignore[attr-defined]
            told.add_text(key, text)
        few = image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(buffer, "png", pnginfo=told, dpi=image.info["dpi"], optimize=True)
    return buffer.getvalue()


def _told(svg: bytes, name: str, title: str, description: str) -> bytes:
    """An SVG that a screen reader tells: its title and description, by ids that differ from figure to figure."""
    if not svg.startswith(b"<?xml"):
        return svg
    key = re.sub(r"\W", "-", name)
    opening, rest = re.match(rb"(.*?<svg [^>]*)(>.*)", svg, re.DOTALL).groups()  # type: ignore[union-attr]
    said = (
        f' role="img" lang="en" aria-labelledby="{key}-title {key}-desc">\n <title id="{key}-title">{html.escape(title)}</title>'
        f'\n <desc id="{key}-desc">{html.escape(description)}</desc>'
    )
    return opening + said.encode() + rest[1:]


def _in_english(pdf: bytes) -> bytes:
    """A PDF whose catalog names the language, for screen readers, and has the title shown: an update appended, as PDF allows."""
    if not pdf.startswith(b"%PDF"):
        return pdf
    root = re.search(rb"/Root (\d+) 0 R", pdf)
    size, start = re.search(rb"/Size (\d+)", pdf), re.search(rb"startxref\n(\d+)", pdf)
    catalog = root and re.search(rb"\n" + root[1] + rb" 0 obj\n<<(.*?)>>\nendobj", pdf, re.DOTALL)
    assert root and size and start and catalog, "what matplotlib writes"
    told = catalog[1].rstrip() + b" /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> "
    info = re.search(rb"/Info \d+ 0 R", pdf)
    return b"".join(
        [
            pdf,
            root[1] + b" 0 obj\n<<" + told + b">>\nendobj\n",
            b"xref\n0 1\n0000000000 65535 f \n" + root[1] + b" 1\n%010d 00000 n \n" % len(pdf),
            b"trailer\n<< /Size " + size[1] + b" /Root " + root[1] + b" 0 R " + (info[0] if info else b""),
            b" /Prev " + start[1] + b" >>\nstartxref\n",
            b"%d\n%%%%EOF\n" % (len(pdf) + len(root[1] + b" 0 obj\n<<" + told + b">>\nendobj\n")),
        ]
    )


def _words(text: str) -> str:
    r"""A text without the marks of its formulas.

    >>> _words(r"$\mathcal{P}_{\mathrm{II}}^{(6)}$ below $D = 0.3$, $P_1\geq P_2$")
    'P_II^(6) below D = 0.3, P_1 ≥ P_2'
    """
    signs = {
        r"\geq": " ≥ ",
        r"\leq": " ≤ ",
        r"\cap": "∩",
        r"\cup": "∪",
        r"\delta": "δ",
        r"\alpha": "α",
        r"\varepsilon": "ε",
        r"\epsilon": "ε",
        r"\log": "log ",
    }
    for sign, letter in signs.items():
        text = text.replace(sign, letter)
    text = re.sub(r"\\(?:mathcal|mathrm|mathbf|mathit|overline|bar|hat)|\\[,;!]", "", text)
    return " ".join(re.sub(r"(?<!\\)[{}$]", "", text).replace("\\", "").split())


def _relative(path: str | Path) -> str:
    """A path inside the repository as the manifest names it; empty for files elsewhere."""
    resolved = Path(path).resolve()
    return resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else ""
