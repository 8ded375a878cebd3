"""The explorer's page in a browser: its numbers, vertices that are dragged, keys, addresses, a phone; and how it is built."""

import gzip
import json
import math

import numpy as np
import pytest

import paper_repro as pr
from tests.browser import PROGRAM, Browser
from tests.explorer.node import builder, highs, needs_node

pytestmark = needs_node
in_browser = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium here: apt-get install chromium")

SHOWN = "performance.getEntriesByName('shown').length"
DRAWN = "performance.getEntriesByName('drawn').length"
NUMBER = "document.querySelector('#answer .number').firstChild.textContent"
PROOF = "document.querySelector('#answer .number').nextSibling.textContent"
NOTICE = "document.getElementById('notice').checkVisibility() && document.getElementById('notice').textContent"
# The example for which the lower bound of Theorem 3 is false, with which the page opens.
VERTICES = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    highs()
    return builder.build(tmp_path_factory.mktemp("site") / "explorer.html")


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture
def page(browser, path):
    """The page, opened anew and answered; whatever a test did there, nothing went wrong and nobody was asked for anything."""
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.call("Emulation.setEmulatedMedia", features=[])
    browser.complaints.clear()
    browser.requests.clear()
    show(browser, path)
    yield browser
    assert browser.complaints == []
    assert {request.partition("#")[0] for request in browser.requests} <= {path.as_uri(), "about:blank"}


def show(page, path, address=""):
    page.open(path, address)
    page.wait(SHOWN, 30)


def after(page, script):
    """Do something, and wait until the page has answered."""
    page.run("performance.clearMarks('shown')")
    page.run(script)
    page.wait(SHOWN, 30)


def number(page):
    return float(page.run(NUMBER))


def choose(page, name, value):
    field = f"document.getElementById('{name}')"
    after(page, f"((field) => (field.value = '{value}', field.dispatchEvent(new Event('change'))))({field})")


def cells(page, row):
    """The numbers of a row of the matrix, or of several."""
    numbers = "(row) => [...row.cells].slice(1).map((cell) => +cell.textContent)"
    return page.run(f"[...document.querySelectorAll('#matrix {row}')].map({numbers})")


def state(page):
    return dict(part.split("=") for part in page.run("location.hash")[1:].split("&"))


def vertices_of(page):
    return [[float(x) for x in row.split(",")] for row in state(page)["set"].split(";")]


@in_browser
def test_the_first_number_is_that_of_the_package_certified_and_the_false_bound_is_told(page):
    best = pr.optimal_mechanism(pr.SourceSet(VERTICES), distortion=0.55)
    assert number(page) == pytest.approx(best.leakage, abs=5e-7)
    assert page.run(PROOF).startswith("✓ certified")
    told = page.run("[...document.querySelectorAll('#beside tr')].map((row) => row.textContent)")
    assert any("lower bound" in row and "false here" in row for row in told)
    assert np.array(cells(page, "tbody tr")) == pytest.approx(best.mechanism.matrix, abs=5e-5)
    assert cells(page, "tfoot tr")[0] == pytest.approx(best.least_favorable_prior, abs=5e-5)
    assert "Class III" in page.run("document.getElementById('class').textContent")


@in_browser
def test_a_tick_is_shown_only_beside_what_is_certified(page, path):
    """On a line of 12 categories the farthest entries are tiny; at 1e-12 no certificate is found, at 0 everything leaks."""
    even = ",".join([repr(1 / 12)] * 12)
    at = "set={}&notion=dp&graph=line&by=distortion&distortion={}"
    show(page, path, "#" + at.format(even, 0.0005))
    best = pr.optimal_mechanism(
        pr.SourceSet([1 / 12] * 12), distortion=0.0005, notion=pr.DifferentialPrivacy(pr.line(12))
    )
    assert number(page) == pytest.approx(best.leakage, abs=5e-7)
    assert page.run(PROOF).startswith("✓ certified")
    show(page, path, "#" + at.format(even, 1e-12))
    assert page.run(PROOF).startswith("✗ not certified")
    assert "best mechanism found" in page.run("document.querySelector('#beside tr').textContent")
    show(page, path, "#" + at.format(even, 0))
    assert page.run(NUMBER) == "∞"
    assert page.run(PROOF) == "✓ certified: without any change, the leakage is infinite"


@in_browser
def test_small_numbers_keep_their_digits(page, path):
    show(page, path, "#set=0.5,0.3,0.2&notion=dp&by=leakage&leakage=20")
    best = pr.optimal_mechanism(pr.SourceSet([0.5, 0.3, 0.2]), leakage=20)
    assert page.run(NUMBER).strip() == f"{best.distortion:.3e}".replace("e-09", " · 10⁻⁹").replace("e-08", " · 10⁻⁸")


@in_browser
def test_the_slider_moves_the_number_and_the_address_brings_it_back(page):
    page.run("document.getElementById('slider').focus()")
    for _ in range(3):
        page.run("performance.clearMarks('shown')")
        page.press("ArrowRight")
        page.wait(SHOWN, 30)
    distortion = float(state(page)["distortion"])
    assert distortion == pytest.approx(0.553)
    best = pr.optimal_mechanism(pr.SourceSet(VERTICES), distortion=distortion).leakage
    assert number(page) == pytest.approx(best, abs=5e-7)
    address = page.run("location.hash")
    page.reload()
    page.wait(SHOWN, 30)
    assert number(page) == pytest.approx(best, abs=5e-7)
    assert page.run("location.hash") == address


@in_browser
def test_a_vertex_is_dragged(page):
    box = "document.querySelector('.vertex circle').getBoundingClientRect()"
    corners = page.run(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")
    page.run("performance.clearMarks('shown')")
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=corners[0], y=corners[1], **mouse)
    for step in (10, 20, 30):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=corners[0] + step, y=corners[1] - step, **mouse)
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=corners[0] + 30, y=corners[1] - 30, **mouse)
    page.wait(SHOWN, 30)
    first, *others = vertices_of(page)
    assert others == VERTICES[1:] and first != VERTICES[0] and sum(first) == pytest.approx(1)
    assert first[2] > 0.2  # up is toward the third letter
    assert number(page) == pytest.approx(
        pr.optimal_mechanism(pr.SourceSet([first, *others]), distortion=0.55).leakage, abs=5e-7
    )


@in_browser
def test_the_keyboard_is_enough(page):
    names = []
    name = "active.getAttribute('aria-label') || active.closest('label')?.textContent || active.id"
    for _ in range(14):
        page.press("Tab")
        names.append(page.run(f"((active) => {name})(document.activeElement)"))
        if names[-1].startswith("Vertex 2"):
            page.run("performance.clearMarks('shown')")
            page.press("ArrowRight", "ArrowUp")
            page.wait(SHOWN, 30)
    wanted = ["Source set", "Vertex 1", "Vertex 3", "Privacy notion", "Categories that are neighbors", "distortion"]
    for told in [*wanted, "Distortion D", "Matrix", "Python line"]:
        assert any(told in name for name in names), (told, names)
    assert vertices_of(page)[1] == [0.285, 0.605, 0.11]


@in_browser
def test_screen_readers_are_told_names(page):
    page.wait(DRAWN, 60)
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    focusable = [
        node for node in tree
        if any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
        and node["role"]["value"] not in ("RootWebArea", "MenuListPopup", "option")
    ]  # fmt: skip
    assert len(focusable) > 8
    assert [node for node in focusable if not node.get("name", {}).get("value")] == []
    assert any(node["role"]["value"] == "status" for node in tree)
    (curve,) = (
        node for node in tree if node["role"]["value"] in ("image", "img") and "Least leakage" in node["name"]["value"]
    )
    assert "from D = 0.5875 on" in curve["name"]["value"]


@in_browser
def test_both_ends_of_a_jump_are_drawn_and_told(page, path):
    show(page, path, "#set=P_II_4&notion=information&distortion=0.1")
    assert math.exp(number(page)) == pytest.approx(10 / 3, abs=1e-5) and "✓" in page.run(PROOF)
    page.wait(DRAWN, 60)
    assert page.run("document.querySelectorAll('#curve .open').length") == 2
    assert "At D = 0.1 it jumps from 1.609438" in page.run("document.getElementById('curve-title').textContent")
    assert page.run("document.querySelectorAll('#curve .closed').length") == 2


@in_browser
@pytest.mark.parametrize(
    ("address", "arguments"),
    [
        ("notion=approximate&delta=0.1&distortion=0.3", {"notion": pr.ApproximateDP(0.1), "distortion": 0.3}),
        ("notion=leakage&distortion=0.3", {"notion": pr.MaximalLeakage(), "distortion": 0.3}),
        ("notion=dp&graph=ring&distortion=0.3", {"notion": pr.DifferentialPrivacy(pr.ring(6)), "distortion": 0.3}),
        ("notion=dp&leakage=1.5", {"leakage": 1.5}),
    ],
)
def test_every_notion_and_either_budget(page, path, address, arguments):
    show(page, path, f"#set=P_IIIa_6&{address}")
    best = pr.optimal_mechanism(pr.load_source_set("P_IIIa_6"), **arguments)
    assert number(page) == pytest.approx(best.leakage if "distortion" in arguments else best.distortion, abs=1e-6)
    assert "✓" in page.run(PROOF)


@in_browser
def test_choices_are_made_in_the_form(page):
    choose(page, "set", "P_II_6")
    choose(page, "notion", "leakage")
    best = pr.optimal_mechanism(pr.load_source_set("P_II_6"), distortion=0.55, notion=pr.MaximalLeakage())
    assert number(page) == pytest.approx(best.leakage, abs=5e-7)
    after(page, "document.querySelector('[value=leakage][type=radio]').click()")
    assert number(page) == pytest.approx(best.distortion, abs=1e-5)
    choose(page, "set", "uniform")
    assert state(page)["set"] == "uniform_6"


@in_browser
def test_a_pasted_table_is_solved_and_a_bad_row_named(page):
    choose(page, "set", "table")
    paste = "((table, text) => (table.focus(), table.value = text, table.dispatchEvent(new Event('input'))))"
    paste += "(document.getElementById('table'), '%s')"
    after(page, paste % r"red;blue;green\n0,5;0,3;0,2")
    assert number(page) == 0  # at .55 nothing needs to leak
    assert page.run("[...document.querySelectorAll('#matrix thead th')].map((cell) => cell.textContent)") == [
        "red",
        "blue",
        "green",
    ]
    page.run(paste % r"red;blue;green\n0,5;0,3;0,2\n0,5;0,3;many")
    told = page.run("document.getElementById('table-problem').textContent")
    assert "Row 3, column green must be a probability; got “many”" in told and "last table" in told
    assert page.run("document.getElementById('table').value").endswith("many")  # nothing of the user's is lost


@in_browser
def test_what_cannot_be_is_one_line(page, path):
    show(page, path, "#notion=magic&distortion=0.4")
    assert "“magic”" in page.run(NOTICE) and number(page) == pytest.approx(math.log(3), abs=5e-7)
    page.open(path, "#set=uniform_14&notion=information&distortion=0.2")
    page.wait(NOTICE)
    assert (
        "pr.optimal_mechanism(pr.SourceSet([1 / 14] * 14), distortion=0.2, notion=pr.MaximalInformation())"
        in page.run(NOTICE)
    )
    choose(page, "set", "P_II_4")  # and back to what it can do
    assert len(cells(page, "tbody tr")) == 4 and not page.run(NOTICE)
    show(page, path)
    page.run(
        "((field) => (field.value = '7', field.dispatchEvent(new Event('input'))))(document.getElementById('budget'))"
    )
    assert "distortion must be between 0 and 1; got “7”. 0.55 is kept." in page.run(
        "document.getElementById('budget-problem').textContent"
    )


@in_browser
def test_without_webassembly_it_says_so(page, path):
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.WebAssembly")["identifier"]
    page.open(path)
    assert "no WebAssembly" in page.wait(NOTICE)
    assert page.run("document.getElementById('python').textContent").startswith("pr.optimal_mechanism(")
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


@in_browser
def test_a_phone_shows_all_of_it(page, path):
    page.resize(400, 800)
    for address in (
        "",
        "#set=P_IIIc_10&notion=dp&distortion=0.3",
        "#set=a,b;0.5,0.5&notion=approximate&delta=0.1&leakage=1",
    ):
        show(page, path, address)
        page.wait(DRAWN, 60)
        assert page.run("document.documentElement.scrollWidth") <= 400
        beyond = page.run(
            "[...document.querySelectorAll('body *')].filter((part) => part.checkVisibility()"
            " && !part.closest('.scroll, svg, pre, script, table') && part.getBoundingClientRect().right > 400.5)"
            ".map((part) => part.outerHTML.slice(0, 80))"
        )
        assert beyond == []


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_are_told_apart_without_color_and_seen_in_the_dark(page, path, scheme):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    show(page, path)
    page.wait(DRAWN, 60)
    styles = page.run(
        "['exact', 'response', 'upper', 'lower'].map((name) => getComputedStyle(document.querySelector(`#curve .${name}`)))"
        ".map(({stroke, strokeDasharray, strokeWidth}) => [stroke, strokeDasharray + strokeWidth])"
    )
    assert len({dash for _, dash in styles}) == 4
    ground = luminance(page.run("getComputedStyle(document.body).backgroundColor"))
    for color, _ in styles:
        light, dark = sorted([luminance(color), ground], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3


def luminance(color):
    parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@in_browser
@pytest.mark.parametrize("notion", ["dp", "leakage"])
def test_the_number_follows_the_slider_with_8_vertices_of_20_letters(page, path, notion):
    rng = np.random.default_rng(8)
    vertices = np.round(rng.dirichlet(np.ones(20), size=8), 4)
    vertices[:, 0] += 1 - vertices.sum(axis=1)
    table = ";".join(",".join(f"{x:.4f}" for x in row) for row in vertices)
    show(page, path, f"#set={table}&notion={notion}&distortion=0.2")
    page.wait(DRAWN, 60)
    step = """(async () => {
      const slider = document.getElementById("slider");
      for (let n = 0; n < 30; n++) {
        await new Promise((done) => setTimeout(() => requestAnimationFrame(done)));
        performance.clearMarks("shown");
        slider.value = 0.2 + 0.01 * n;
        slider.dispatchEvent(new Event("input"));
        while (!performance.getEntriesByName("shown").length) await new Promise(requestAnimationFrame);
      }
    })()"""
    page.call("Runtime.evaluate", expression=step, awaitPromise=True, returnByValue=True)
    best = pr.optimal_mechanism(
        pr.SourceSet(vertices), distortion=0.49, notion=None if notion == "dp" else pr.MaximalLeakage()
    )
    assert number(page) == pytest.approx(best.leakage, abs=1e-6)


def test_the_page_is_small_whole_and_the_same_each_time(path, tmp_path):
    page = path.read_bytes()
    assert len(gzip.compress(page, 9)) <= 2_000_000
    assert builder.build(tmp_path / "again.html").read_bytes() == page
    text = page.decode()
    assert "Permission is hereby granted" in text  # what the solver's license asks for
    assert not any(mark in text for mark in ("/*STYLE*/", "/*SOLVER*/", "/*MODULE*/", "/*SETS*/", "/*LOADER*/"))
    assert json.loads(text.split('id="sets">')[1].split("</script>")[0]).keys() == set(pr.sources.source_set_names())


def test_the_lock_has_a_hash_and_no_address():
    lock = json.loads((builder.SOURCE / "package-lock.json").read_text(encoding="utf-8"))
    assert {name for name in lock["packages"] if name} == {"node_modules/highs"}
    assert all(entry["integrity"].startswith("sha512-") for name, entry in lock["packages"].items() if name)
    assert not any("resolved" in entry for entry in lock["packages"].values())


def test_a_build_that_fails_says_why_and_leaves_the_page_that_was_there(tmp_path, monkeypatch):
    page = tmp_path / "explorer.html"
    page.write_text("as it was", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(builder.BuildError, match="needs npm"):
        builder.build(page, tmp_path / "kept")
    monkeypatch.undo()
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(builder.BuildError, match="npm cannot fetch highs") as told:
        builder.build(page, tmp_path / "kept")
    assert "\n" not in str(told.value)
    assert page.read_text(encoding="utf-8") == "as it was" and not list(tmp_path.glob("*.new"))
