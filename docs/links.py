"""Every link of the site leads to something in it, and nothing is fetched from elsewhere."""

import html
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

_LINK = re.compile(r"<(a|embed|iframe|img|link|object|script|source)\b[^>]*?\s(?:href|src|data)=[\"']([^\"']*)[\"']")
_ID = re.compile(r"<[^>]*?\s(?:id|name)=\"([^\"]*)\"")


def broken(site):
    """Return a line for each link of a folder of pages that leads nowhere, and each thing that is fetched from elsewhere."""
    site, found = Path(site), []
    for page in sorted(site.rglob("*.html")):
        text = re.sub(r"(<script\b[^>]*>).*?</script>", r"\1", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for tag, link in sorted(set(_LINK.findall(text))):
            link = html.unescape(link)
            where = f"{page.relative_to(site).as_posix()}: {link}"
            if link.startswith("data:"):
                continue
            if re.match(r"\w+:|//", link):
                if tag != "a" or not link.startswith("https://"):
                    found.append(f"{where} is elsewhere")
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            if not target.is_file():
                found.append(f"{where} leads to no file")
            elif anchor and target.suffix == ".html" and "=" not in anchor and unquote(anchor) not in _anchors(target):
                found.append(f"{where} leads to no place in that page")
    for style in sorted(site.rglob("*.css")):
        elsewhere = re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]*)", style.read_text(encoding="utf-8"))
        found += [f"{style.relative_to(site).as_posix()}: {link} is elsewhere" for link in elsewhere]
    return found


@cache
def _anchors(page):
    return {html.unescape(name) for name in _ID.findall(page.read_text(encoding="utf-8"))} | {"top"}
