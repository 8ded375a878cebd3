"""The page ``ledger.html`` in a browser: search, filters, keys, addresses, a phone; no error, and no request to anyone."""

from collections import Counter
from dataclasses import replace

import pytest

from paper_repro.claims import read_ledger
from paper_repro.figures.ledger_pages import ledger_pages
from tests.browser import PROGRAM, Browser

pytestmark = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium here: apt-get install chromium")

RECORD = read_ledger()
FORMULA = (
    r"$\epsilon^*(\mathcal{P}, D) = \log\frac{(M-1)(1-D)}{D} < \sum_{i=1}^{M} \max_{P \in \mathcal{P}} P_i D_i^{2}$"
)
ROWS = [
    replace(row, weight="misprint", statement=f"{row.statement} {FORMULA}") if i == 3 else row
    for i, row in enumerate(RECORD)
]
CHOSEN = ROWS[3]

SHOWN = "rows.filter((row) => row.checkVisibility()).length"
OPEN = "rows.filter((row) => row.open).map((row) => row.id)"
FOCUSED = "document.activeElement.closest('details, input')?.id"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "ledger.html"
    path.write_text(ledger_pages(ROWS)["ledger.html"], encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture
def page(browser, path):
    """The page, opened anew; whatever a test did there, nothing went wrong and nobody was asked for anything."""
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.open(path)
    browser.requests.clear()
    yield browser
    assert browser.complaints == []
    assert {request.partition(":")[0] for request in browser.requests} <= {"file", "data", "about"}
    assert {request.partition("#")[0] for request in browser.requests if request.startswith("file")} <= {path.as_uri()}


def tick(page, field, value):
    page.run(f"boxes.find((box) => box.name === '{field}' && box.value === '{value}').click()")


def test_every_row_is_there(page):
    assert page.run(SHOWN) == len(ROWS)
    assert page.run("document.getElementById('status').textContent") == f"{len(ROWS)} of {len(ROWS)}"
    assert page.run("document.getElementById('status').getAttribute('role')") == "status"


def test_the_search_takes_all_words_in_any_order_and_formulas_by_their_source(page):
    page.press("/")
    assert page.run(FOCUSED) == "search"
    page.press("12 PROPOSITION zhong")
    found = page.run("rows.filter((row) => row.checkVisibility()).map((row) => row.id)")
    assert "zhong_bu2022.proposition_12" in found
    assert len(found) < 30
    page.press("Escape")
    assert page.run(SHOWN) == len(ROWS)
    page.press(r"\log\frac{(M-1)(1-D)}{D}")
    assert page.run("rows.filter((row) => row.checkVisibility()).map((row) => row.id)") == [CHOSEN.name]


def test_filters_choose_and_count(page):
    tick(page, "verdict", "refuted")
    tick(page, "verdict", "loose")
    tick(page, "paper", "zhong_bu2022")
    count = Counter(row.verdict for row in ROWS if row.paper == "zhong_bu2022")
    assert page.run(SHOWN) == count["refuted"] + count["loose"]
    assert page.run("sections.filter((section) => !section.hidden).length") == 1
    told = page.run(
        "Object.fromEntries(boxes.map((box) => [box.value, box.nextElementSibling.lastElementChild.textContent]))"
    )
    assert int(told["holds"]) == count["holds"]
    assert int(told["alvim2011"]) == sum(
        row.paper == "alvim2011" and row.verdict in ("refuted", "loose") for row in ROWS
    )
    page.run("document.getElementById('clear').click()")
    assert page.run(SHOWN) == len(ROWS)
    tick(page, "weight", "misprint")
    assert page.run(SHOWN) == sum(row.weight == "misprint" for row in ROWS)


def test_the_keyboard_is_enough(page):
    page.press("/", "ArrowDown")
    assert page.run(FOCUSED) == ROWS[0].name
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert page.run(FOCUSED) == ROWS[1].name
    page.press("Enter")
    assert page.run(OPEN) == [ROWS[1].name]
    page.press(" ")
    assert page.run(OPEN) == []
    # By Tab from the search past Clear and the head of the filters to the first of them, and Space ticks it.
    page.run("document.getElementById('search').focus()")
    page.press("Tab", "Tab", "Tab", " ")
    assert page.run("boxes.filter((box) => box.checked).map((box) => box.value)") == ["alvim2011"]


def test_the_address_holds_what_is_chosen_and_open(page):
    tick(page, "paper", CHOSEN.paper)
    page.run(f"document.getElementById('{CHOSEN.name}').firstElementChild.click()")
    address = page.run("location.hash")
    assert CHOSEN.name in address and CHOSEN.paper in address
    page.reload()
    assert page.run(OPEN) == [CHOSEN.name]
    assert page.run(SHOWN) == sum(row.paper == CHOSEN.paper for row in ROWS)
    assert page.run("location.hash") == address
    assert page.run("document.activeElement.closest('details').id") == CHOSEN.name


def test_a_link_to_a_row_opens_it_though_filters_hide_it(page, path):
    page.open(path, "#zhong_bu2022.proposition_12")
    assert page.run(OPEN) == ["zhong_bu2022.proposition_12"]
    tick(page, "paper", "alvim2011")
    page.run(f"location.hash = '{ROWS[-1].name}'")
    assert page.run(f"document.getElementById('{ROWS[-1].name}').checkVisibility()")
    assert ROWS[-1].name in page.run(OPEN)
    top = page.run(f"document.getElementById('{ROWS[-1].name}').getBoundingClientRect().top")
    assert 0 <= top < page.run("innerHeight")


def test_formulas_are_set_as_formulas(page):
    page.run(f"document.getElementById('{CHOSEN.name}').firstElementChild.click()")
    box = f"document.getElementById('{CHOSEN.name}').querySelector('mfrac')"
    top, bottom = (f"{box}.children[{i}].getBoundingClientRect()" for i in (0, 1))
    assert page.run(f"{top}.bottom <= {bottom}.top + 1 && {top}.height > 0")


@pytest.mark.parametrize("width", [400, 320])
def test_a_phone_shows_all_without_scrolling_sideways(page, path, width):
    page.resize(width, 800)
    page.open(path, f"#row={CHOSEN.name}")
    assert page.run("innerWidth") == width
    assert page.run("document.documentElement.scrollWidth") <= width
    assert not page.run("document.getElementById('filters').open")
    page.run("document.getElementById('filters').open = true")
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("search.getBoundingClientRect().width") > 100


def contrast(page, selector):
    """Contrast of a text to its background, by the formula of the WCAG."""
    style = f"getComputedStyle(document.querySelector('{selector}'))"
    colors = [page.run(f"{style}.color"), page.run(f"{style}.backgroundColor")]
    if colors[1] == "rgba(0, 0, 0, 0)":
        colors[1] = page.run("getComputedStyle(document.body).backgroundColor")
    lights = []
    for color in colors:
        parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_by_day_and_by_night(page, scheme):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    background = page.run("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    verdicts = [f"label .{row.verdict.replace(' ', '-')}" for row in ROWS]
    for selector in {"h1", "header a", "dt", ".said", "legend", "label span", *verdicts}:
        assert contrast(page, selector) >= 4.5, selector
