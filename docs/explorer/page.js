import {
  DEFAULT, InputError, LIMITS, LinearSolver, NOTIONS, Problem, decode, encode, folded, parseTable, pythonLine, sourceClass, tooLarge,
} from "./explorer.js";

const $ = (id) => document.getElementById(id);
const TABLES = Object.fromEntries(Object.entries(JSON.parse($("sets").textContent)).map(([name, text]) => [name, parseTable(text)]));
const NAMES = Object.keys(TABLES);
const CLASSES = {
  I: "Class I: the uniform prior is in the source set.",
  II: "Class II: one order of the categories sorts every prior of the source set, and none is uniform.",
  III: "Class III: the priors of the source set order the categories differently, and none is uniform.",
};

let solver, state, problem, facts, drawn, running = 0;

// ---- What is asked ------------------------------------------------------------------------------------------------------------

const isThree = () => typeof state.set !== "string" && state.set.vertices.length === 3 && state.set.vertices[0].length === 3;
let pasting = false;

function tableOf(set) {
  if (typeof set !== "string") return set;
  if (!set.startsWith("uniform_")) return TABLES[set];
  const size = Number(set.slice(8));
  return { labels: Array.from({ length: size }, (_, i) => `x${i + 1}`), vertices: [new Array(size).fill(1 / size)] };
}

function fill() {
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  const size = (name) => TABLES[name].vertices[0].length, count = (name) => TABLES[name].vertices.length;
  $("set").append(
    option("three", "three categories, to drag"), option("table", "a table of your own"), option("uniform", "uniform"),
    ...[...NAMES].sort((one, two) => size(one) - size(two)).map((name) =>
      option(name, `${name}: ${count(name) > 1 ? `${count(name)} priors` : "a prior"}, ${size(name)} categories`)),
  );
  $("notion").append(...Object.entries(NOTIONS).map(([key, { name }]) => option(key, name)));
}

// The form as the state has it.
function show() {
  const custom = typeof state.set !== "string";
  if (!custom) pasting = false;
  $("set").value = !custom ? (state.set.startsWith("uniform_") ? "uniform" : state.set) : pasting || !isThree() ? "table" : "three";
  $("letters-field").hidden = $("set").value !== "uniform";
  if (!$("letters-field").hidden) $("letters").value = state.set.slice(8);
  $("table-field").hidden = $("set").value !== "table";
  if (custom && document.activeElement !== $("table")) {
    const { labels, vertices } = state.set;
    $("table").value = [labels, ...vertices].map((row) => row.join(", ")).join("\n");
  }
  $("notion").value = state.notion;
  $("delta-field").hidden = state.notion !== "approximate";
  if (document.activeElement !== $("delta")) $("delta").value = state.delta;
  $("graph-field").hidden = state.notion !== "dp";
  $("graph").value = state.graph;
  for (const radio of $("ask").elements.by) radio.checked = radio.value === state.by;
  const most = state.by === "distortion" ? Math.min(1, Math.ceil(110 * (problem?.free ?? 1)) / 100) : Math.ceil(10 * (facts?.top ?? 5)) / 10;
  const name = state.by === "distortion" ? "Distortion D" : "Leakage in nats";
  Object.assign($("slider"), { min: 0, max: most, step: most > 0.05 && state.by === "distortion" ? 0.001 : most / 200 || 0.001, value: state[state.by], ariaLabel: name });
  $("budget").ariaLabel = `${name}, as a number`;
  if (document.activeElement !== $("budget")) $("budget").value = state[state.by];
}

function change(changes) {
  Object.assign(state, changes);
  history.replaceState(null, "", encode(state));
  $("notice").hidden = true;
  schedule();
}

let waiting = false;
function schedule() {
  if (waiting || !solver) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    update();
  });
}

function number(id, key) {
  const [low, high] = LIMITS[key], x = Number($(id).value), right = $(id).value.trim() !== "" && x >= low && x <= high;
  const told = right ? "" : `${key} must be between ${low} and ${high}; got “${$(id).value}”. ${state[key]} is kept.`;
  $("budget-problem").textContent = told;
  if (right) change({ [key]: x });
}

function listen() {
  $("ask").addEventListener("submit", (event) => event.preventDefault());
  $("set").addEventListener("change", () => {
    const value = $("set").value;
    pasting = value === "table";
    if (value === "three") change({ set: isThree() ? state.set : structuredClone(DEFAULT.set) });
    else if (value === "table") change({ set: structuredClone(tableOf(state.set)) });
    else change({ set: value === "uniform" ? `uniform_${$("letters").value}` : value });
  });
  $("letters").addEventListener("input", () => {
    const size = Number($("letters").value);
    if (Number.isInteger(size) && size >= 2 && size <= 60) change({ set: `uniform_${size}` });
  });
  $("table").addEventListener("input", () => {
    try {
      const set = parseTable($("table").value);
      $("table-problem").textContent = "";
      change({ set });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      $("table-problem").textContent = `${error.message}. The last table that could be read is shown.`;
    }
  });
  $("notion").addEventListener("change", () => change({ notion: $("notion").value }));
  $("graph").addEventListener("change", () => change({ graph: $("graph").value }));
  $("delta").addEventListener("input", () => number("delta", "delta"));
  for (const radio of $("ask").elements.by) radio.addEventListener("change", () => switchBudget(radio.value));
  $("slider").addEventListener("input", () => {
    $("budget").value = $("slider").value;
    number("slider", state.by);
  });
  $("budget").addEventListener("input", () => number("budget", state.by));
  addEventListener("hashchange", () => location.hash !== encode(state) && enter());
  new ResizeObserver(() => { if (drawn) draw(); }).observe($("curve"));
}

// The other budget starts where this one ended.
function switchBudget(by) {
  const value = facts?.optimum?.[by];
  change({ by, ...(Number.isFinite(value) ? { [by]: Math.round(value * 1e6) / 1e6 } : {}) });
}

// ---- The answer ---------------------------------------------------------------------------------------------------------------

const nats = (x) => (Number.isFinite(x) ? digits(x) : "∞");
// Six decimals, or four significant digits of what is smaller; 0 is 0 alone.
const digits = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 ? x.toFixed(6) : scientific(x.toExponential(3)));
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const short = (x) => (x >= 0.01 ? x.toPrecision(2) : power(x));
const scientific = (text) => text.replace(/e([-+]\d+)/, (_, exponent) => ` · 10${[...exponent].map((sign) => RAISED[sign] ?? "").join("")}`);
const power = (x) => scientific(Math.max(x, 1e-15).toExponential(0));

function update() {
  const { labels, vertices } = tableOf(state.set);
  $("python").textContent = pythonLine(state, vertices, labels);
  const much = tooLarge(state, vertices);
  if (much) {
    problem = facts = drawn = null;
    running++;
    show();
    say(`${much}. In Python: ${$("python").textContent}`);
    for (const id of ["curve", "legend", "matrix", "simplex"]) $(id).replaceChildren();
    delete $("matrix").dataset.shape;
    $("beside").tBodies[0].replaceChildren();
    $("answer").textContent = $("curve-title").textContent = $("class").textContent = "";
    $("simplex-figure").hidden = true;
    return;
  }
  const asked = JSON.stringify([vertices, state.notion, state.notion === "dp" && state.graph, state.notion === "approximate" && state.delta]);
  try {
    const anew = asked !== problem?.asked;
    if (anew) {
      problem = Object.assign(new Problem(solver, vertices, state), { asked });
      facts = {};
    }
    facts.optimum = problem.optimum({ [state.by]: state[state.by] });
    answer();
    performance.mark("answered");
    if (anew) {
      facts.class = sourceClass(solver, vertices);
      facts.bounds = facts.class === "III" && state.notion === "dp" && state.graph === "clique" ? folded(solver, vertices) : null;
      for (const side of facts.bounds ? ["lower", "upper"] : []) facts[side] = new Problem(solver, facts.bounds[side]);
      if (facts.bounds && String(facts.bounds.lower) === String(facts.bounds.upper)) facts.lower = facts.upper;
      facts.top = problem.top();
    }
    show();
    beside();
    mechanism(labels);
    simplex();
    if (anew) curves();
    else if (drawn?.own === problem) drawn.move(facts.optimum);
    performance.clearMarks("shown");
    performance.mark("shown");
  } catch (error) {
    console.warn(error);
    say(`No optimum was found on this page (${error.message}). In Python: ${$("python").textContent}`);
  }
}

function say(text) {
  $("notice").textContent = text;
  $("notice").hidden = false;
}

function answer() {
  const { leakage, distortion, gap, unit, certified } = facts.optimum, byDistortion = state.by === "distortion";
  const main = document.createElement("span"), proof = document.createElement("span");
  main.className = "number";
  main.append(byDistortion ? nats(leakage) : digits(distortion), " ");
  const small = document.createElement("small");
  small.textContent = byDistortion ? `nats, the least leakage at distortion ${state.distortion}` : `the least distortion at ${state.leakage} nats`;
  main.append(small);
  proof.className = certified ? "good" : "bad";
  const units = unit === "nats" ? " nats" : "";
  proof.textContent = !certified ? `✗ not certified: ${Number.isFinite(gap) ? `less may be possible, by up to ${short(gap)}${units}` : "less may be possible"}`
    : !Number.isFinite(leakage) ? "✓ certified: without any change, the leakage is infinite"
    : `✓ certified: no mechanism ${unit === "nats" ? "leaks" : "changes"} less by more than ${short(gap)}${units}`;
  const ratio = document.createElement("div");
  ratio.textContent = byDistortion && leakage > 0 && leakage < 30 ? `e to this power is ${+Math.exp(leakage).toPrecision(10)}.`
    : leakage === 0 ? "No leakage is needed: the published category may be independent of the true one." : "";
  $("answer").replaceChildren(main, proof, ratio);
}

function beside() {
  const { optimum, bounds } = facts, D = optimum.distortion, byDistortion = state.by === "distortion";
  const at = byDistortion ? state.distortion : D;
  const rows = [[optimum.certified ? "optimum, certified" : "best mechanism found", byDistortion ? optimum.leakage : state.leakage, `worst-case distortion ${digits(D)}`]];
  const truth = rows[0][1], more = (x) => (Math.abs(x - truth) < 5e-7 ? "the same" : `${nats(Math.abs(x - truth))} ${x > truth ? "more" : "less"}`);
  const response = problem.randomizedResponse(at);
  rows.push(["randomized response", response, more(response)]);
  if (bounds) {
    const [lower, upper] = ["lower", "upper"].map((side) => facts[side].optimum({ distortion: Math.min(1, at) }).leakage);
    const how = bounds.hull ? "" : " (the vertices alone folded, as in the paper's tables)";
    rows.push([`Theorem 3, upper bound`, upper, `${more(upper)}${how}`]);
    rows.push([`Theorem 3, lower bound`, lower, optimum.certified && lower > truth + 1e-9 ? `false here: ${more(lower)} than the optimum` : `${more(lower)}${bounds.inside ? "" : "; its proof does not cover this set"}`]);
  }
  $("beside").tBodies[0].replaceChildren(...rows.map(([name, value, told]) => {
    const row = document.createElement("tr"), head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = `${nats(value)} nats`;
    row.insertCell().textContent = told;
    if (told.startsWith("false")) row.lastChild.className = "bad";
    return row;
  }));
}

const cell = (x) => (x === 0 || x === 1 ? `${x}` : x < 5e-5 ? x.toExponential(0) : x.toFixed(4));

function mechanism(labels) {
  const { matrix, prior, forcing } = facts.optimum, table = $("matrix");
  $("class").textContent = `${CLASSES[facts.class]} Row: true category; column: published category. Below, ${forcing
    ? "the least favorable prior of the source set, which alone forces the optimum." : "the prior of the source set that has the largest distortion; alone it does not force the optimum."}`;
  const shape = JSON.stringify(labels);
  if (table.dataset.shape !== shape) {
    const head = (row, text, scope) => Object.assign(row.appendChild(document.createElement("th")), { textContent: text, scope });
    table.dataset.shape = shape;
    table.replaceChildren();
    const top = table.createTHead().insertRow();
    top.insertCell();
    for (const label of labels) head(top, label, "col");
    const body = table.createTBody();
    for (const [part, name] of [...labels.map((label) => [body, label]), [table.createTFoot(), "prior"]]) {
      const row = part.insertRow();
      head(row, name, "row");
      for (const _ of labels) row.insertCell();
    }
  }
  const values = [...matrix.flat(), ...prior];
  table.querySelectorAll("tbody td, tfoot td").forEach((entry, n) => {
    const text = cell(values[n]);
    if (entry.textContent === text) return; // most stay as they are
    entry.textContent = text;
    entry.style.setProperty("--share", text);
  });
}

// ---- The curve ----------------------------------------------------------------------------------------------------------------

// All curves of one problem, a slice of time after the other; what is asked in between comes first.
async function curves() {
  const turn = ++running, found = {}, { top } = facts, own = problem;
  $("curve").classList.add("stale");
  const pixels = { across: $("curve").clientWidth || 600, down: height() };
  const wanted = { exact: problem, ...(facts.bounds ? { upper: facts.upper, lower: facts.lower } : {}) };
  try {
    for (const [name, one] of Object.entries(wanted)) {
      if (name === "lower" && one === wanted.upper) { found.lower = found.upper; continue; }
      const steps = one.curve(top, pixels);
      for (let until = performance.now() + 12, step = steps.next(); ; step = steps.next()) {
        if (step.done) { found[name] = step.value; break; }
        if (performance.now() > until) {
          await new Promise((done) => setTimeout(done));
          if (turn !== running) return;
          until = performance.now() + 12;
        }
      }
    }
  } catch (error) {
    if (turn === running) say(`The curve could not be completed (${error.message}).`);
    return;
  }
  if (turn !== running) return;
  drawn = { ...found, own, top };
  $("curve").classList.remove("stale");
  draw();
  performance.mark("drawn");
}

const height = () => Math.min(380, Math.max(240, 0.62 * ($("curve").clientWidth || 600)));
const svg = (name, attributes = {}, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
};

function ticks(high) {
  const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((size) => high / size <= 6.5) ?? high;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, n) => +(n * step).toFixed(6));
}

function draw() {
  if (!drawn || drawn.own !== problem) return;
  const { exact, upper, lower, top } = drawn, width = $("curve").clientWidth, tall = height();
  const left = 42, right = 12, above = 10, below = 40, size = problem.size;
  const end = Math.max(problem.free, Math.min(1, ((size - 1) / size) * (1 - problem.delta))) * 1.04 || 1;
  const x = (D) => left + (D / end) * (width - left - right), y = (nats) => tall - below - (nats / (top * 1.04)) * (tall - above - below);
  // From the right to the left; the pen is lifted over jumps.
  const path = (points, lifted = []) => points.map((p, n) =>
    `${n && !lifted.includes(p) ? "L" : "M"}${x(p.distortion).toFixed(1)} ${y(p.leakage).toFixed(1)}`).join("");
  const whole = ({ points }) => [...(points[0].distortion < end ? [{ distortion: end, leakage: 0 }] : []), ...points];
  const parts = [];
  for (const D of ticks(end)) parts.push(svg("line", { class: "grid", x1: x(D), x2: x(D), y1: above, y2: tall - below }), svg("text", { x: x(D), y: tall - below + 15, "text-anchor": "middle" }, D));
  for (const e of ticks(top)) parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(e), y2: y(e) }), svg("text", { x: left - 6, y: y(e) + 4, "text-anchor": "end" }, e));
  parts.push(svg("text", { x: (left + width - right) / 2, y: tall - 6, "text-anchor": "middle" }, "worst-case distortion D"));
  parts.push(svg("text", { x: -(above + tall - below) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, "leakage (nats)"));
  // What no mechanism reaches: below the curve, and to the left of what is drawn of it.
  const last = exact.points.at(-1);
  parts.push(svg("path", { class: "below", d: `${path(exact.points)}L${x(0)} ${y(last.leakage)}V${y(0)}Z` }));
  if (x(problem.free) - x(0) > 150) parts.push(svg("text", { class: "inside", x: x(0) + 10, y: y(0) - 10 }, "no mechanism"));
  parts.push(svg("path", { class: "axis", d: `M${left} ${above}V${tall - below}H${width - right}` }));
  const response = Array.from({ length: 400 }, (_, n) => ({ distortion: (end * (n + 1)) / 400 }))
    .map((p) => ({ ...p, leakage: problem.randomizedResponse(p.distortion) })).filter((p) => p.leakage <= top);
  if (upper) parts.push(svg("path", { class: "upper", d: path(whole(upper)) }));
  parts.push(svg("path", { class: "exact", d: path(whole(exact), exact.jumps.map((jump) => exact.points.find((p) => p.distortion === jump.distortion && p.leakage === jump.high))) }));
  parts.push(svg("path", { class: "response", d: path(response) }));
  if (lower) parts.push(svg("path", { class: "lower", d: path(whole(lower)) }));
  for (const jump of exact.jumps) {
    if (jump.high > top) continue;
    const [from, to] = [jump.high, jump.low].map((leakage) => ({ cx: x(jump.distortion), cy: y(leakage), r: 4 }));
    parts.push(svg("line", { class: "jump", x1: from.cx, x2: to.cx, y1: from.cy, y2: to.cy }), svg("circle", { class: "open", ...from }), svg("circle", { class: "closed", ...to }));
  }
  const guide = svg("path", { class: "guide" }), here = svg("circle", { class: "here", r: 6 });
  parts.splice(parts.findIndex((part) => part.getAttribute("class") === "below") + 1, 0, guide);
  parts.push(here);
  drawn.move = ({ distortion, leakage }) => {
    const cx = x(state.by === "distortion" ? state.distortion : distortion), cy = y(Math.min(leakage, top));
    for (const part of [guide, here]) part.style.display = cx <= width ? "" : "none";
    guide.setAttribute("d", `M${cx} ${y(0)}V${cy}H${left}`);
    here.setAttribute("transform", `translate(${cx} ${cy})`);
  };
  drawn.move(facts.optimum);
  $("curve").setAttribute("viewBox", `0 0 ${width} ${tall}`);
  $("curve").style.height = `${tall}px`;
  $("curve").replaceChildren(...parts);
  const jumps = exact.jumps.map((jump) => `At D = ${+jump.distortion.toFixed(6)} it jumps from ${nats(jump.high)} (the limit from below, open) to ${nats(jump.low)} nats (closed).`);
  $("curve-title").textContent = `Least leakage, measured by ${NOTIONS[state.notion].name}, against distortion: 0 nats from D = ${+problem.free.toFixed(6)} on. ${jumps.join(" ")}`;
  const names = { exact: "optimum", response: "randomized response", ...(upper ? { upper: "Theorem 3, upper", lower: "Theorem 3, lower" } : {}) };
  $("legend").replaceChildren(...Object.entries(names).map(([name, text]) => {
    const item = document.createElement("li"), sample = svg("svg", { viewBox: "0 0 34 10", "aria-hidden": "true" });
    sample.append(svg("path", { class: name, d: "M1 5H33" }));
    item.append(sample, text);
    return item;
  }));
}

// ---- Three letters ------------------------------------------------------------------------------------------------------------

const SIDE = 264, HIGH = (SIDE * Math.sqrt(3)) / 2, LEFT = 20, TOP = 22;
const spot = (p) => [LEFT + SIDE * (p[1] + p[2] / 2), TOP + HIGH * (1 - p[2])];

function simplex() {
  const shown = isThree() && $("set").value === "three";
  $("simplex-figure").hidden = !shown;
  if (!shown) return;
  const { labels, vertices } = state.set, corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(spot), points = (list) => list.map((p) => p.join()).join(" ");
  const svgRoot = $("simplex");
  if (!svgRoot.querySelector(".vertex")) {
    svgRoot.setAttribute("viewBox", `0 0 ${SIDE + 2 * LEFT} ${HIGH + TOP + 24}`);
    svgRoot.replaceChildren(
      svg("polygon", { class: "axis", points: points(corners) }),
      ...[[[0.5, 0.5, 0], [0, 0, 1]], [[0.5, 0, 0.5], [0, 1, 0]], [[0, 0.5, 0.5], [1, 0, 0]]].map(([a, b]) => {
        const [[x1, y1], [x2, y2]] = [spot(a), spot(b)];
        return svg("line", { class: "border", x1, y1, x2, y2 });
      }),
      svg("polygon", { class: "hull" }), svg("path", { class: "prior" }),
      ...corners.map(([x, y], i) => svg("text", { class: "corner", x, y: y + (i < 2 ? 17 : -8), "text-anchor": "middle" })),
      ...vertices.map((_, v) => vertex(v)),
    );
  }
  svgRoot.querySelectorAll(".corner").forEach((text, i) => (text.textContent = labels[i]));
  svgRoot.querySelector(".hull").setAttribute("points", points(vertices.map(spot)));
  const [px, py] = spot(facts.optimum.prior);
  svgRoot.querySelector(".prior").setAttribute("d", `M${px} ${py - 7}L${px + 7} ${py}L${px} ${py + 7}L${px - 7} ${py}Z`);
  vertices.forEach((p, v) => {
    const handle = svgRoot.querySelectorAll(".vertex")[v], [x, y] = spot(p);
    handle.setAttribute("transform", `translate(${x} ${y})`);
    handle.setAttribute("aria-label", `Vertex ${v + 1}: ${p.map((q, i) => `${labels[i]} ${q}`).join(", ")}`);
  });
}

function vertex(v) {
  const handle = svg("g", { class: "vertex", tabindex: 0, role: "button", "aria-roledescription": "draggable point" });
  handle.append(svg("circle", { class: "reach", r: 20 }), svg("circle", { r: 8 }), svg("text", { x: 10, y: -9 }, v + 1));
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform($("simplex").getScreenCTM().inverse());
    const third = 1 - (at.y - TOP) / HIGH, second = (at.x - LEFT) / SIDE - third / 2;
    move(v, [1 - second - third, second, third], 0.01);
  });
  handle.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [-1, 1, 0], ArrowLeft: [1, -1, 0], ArrowUp: [-0.5, -0.5, 1], ArrowDown: [0.5, 0.5, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const step = event.shiftKey ? 0.1 : 0.01;
    move(v, state.set.vertices[v].map((p, i) => p + step * way[i]), 0.005);
  });
  return handle;
}

// To the nearest distribution of a grid.
function move(v, wanted, grid) {
  const cut = wanted.map((p) => Math.max(0, p)), total = cut.reduce((all, p) => all + p, 0);
  const [, second, third] = cut.map((p) => Math.round(p / total / grid));
  const steps = Math.round(1 / grid), last = Math.min(third, steps - second);
  const vertices = state.set.vertices.map((p, n) => (n === v ? [steps - second - last, second, last].map((count) => +(count * grid).toFixed(3)) : p));
  change({ set: { ...state.set, vertices } });
}

// ---- Beginning ----------------------------------------------------------------------------------------------------------------

// What the address asks for; what it cannot have is told.
function enter() {
  const found = decode(location.hash, NAMES);
  state = found.state;
  if (found.problem) say(found.problem);
  else $("notice").hidden = true;
  show();
  schedule();
}

async function unpacked() {
  const packed = Uint8Array.from(atob($("solver").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  return Module({ instantiateWasm: (imports, done) => (WebAssembly.instantiate(module, imports).then(done), {}) });
}

async function begin() {
  fill();
  enter();
  listen();
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
    $("answer").textContent = "";
    say("This browser has no WebAssembly, which the solver needs. Open this page in a newer browser, or use the Python line below.");
    $("python").textContent = pythonLine(state, tableOf(state.set).vertices, tableOf(state.set).labels);
    return;
  }
  try {
    solver = new LinearSolver(await unpacked());
  } catch (error) {
    $("answer").textContent = "";
    say(`The solver could not be started (${error.message}). Open this page in a newer browser, or use the Python line below.`);
    return;
  }
  update();
}

begin();
