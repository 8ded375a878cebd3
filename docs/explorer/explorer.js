// Exact optima of privacy-distortion problems in a browser: linear programs by HiGHS, and certificates that trust no solver.
//
// The derivations are those of the Python package: paper_repro/solvers/{diagonal_ratio,diagonal_mass,channel_ratio,channel_lift}.
// A mechanism is judged as it is: its leakage in whole numbers, bounded from below by a prior or by multipliers, in whole
// numbers too. Leakages are in nats; letters, vertices and rows are counted from 0.

// ---- Whole numbers: x stands for fixed(x) / 2^BITS, exact for 0 and for every float of at least SMALLEST ------------------

const BITS = 600; // of a probability: the farthest entry of a line of 12 categories at a distortion of 1e-12 is near 2^-480
const SMALLEST = 2 ** (53 - BITS);
const ONE = 1n << BigInt(BITS);
const fixed = (x) => BigInt(Math.trunc(x * 2 ** BITS));
const sum = (values) => values.reduce((total, x) => total + x, 0);
const whole = (values) => values.reduce((total, x) => total + x, 0n);
const most = (values) => values.reduce((best, x) => (x > best ? x : best));
const least = (values) => values.reduce((best, x) => (x < best ? x : best));
const range = (size) => Array.from({ length: size }, (_, i) => i);
const bits = (n) => n.toString(16).length * 4;
const ULP = 2 ** -51;

// A quotient of whole numbers as a float, right to the last digit or two.
function quotient(above, below) {
  if (above < 0n) return -quotient(-above, below);
  const shift = BigInt(Math.max(0, 80 + bits(below) - bits(above)));
  return Number((above << shift) / below) / 2 ** Number(shift);
}

// Its logarithm, if it is at least 1, else 0; and the same rounded up.
const logarithm = (above, below) => (above <= below ? 0 : Math.log1p(quotient(above - below, below)));
const logarithmUp = (above, below) => logarithm(above, below) * (1 + ULP);

// Weights of vertices as a prior in whole numbers, which sum to something.
const mixture = (weights, vertices) =>
  range(vertices[0].length).map((i) => whole(weights.map((w, v) => fixed(w) * fixed(vertices[v][i]))));
const mixed = (weights, vertices) =>
  range(vertices[0].length).map((i) => sum(weights.map((w, v) => w * vertices[v][i])) / sum(weights));
const rising = (numbers) => [...numbers].sort((one, two) => (one < two ? -1 : one > two ? 1 : 0));

// ---- Linear programs, solved by HiGHS ----------------------------------------------------------------------------------------

export class SolverError extends Error {}

export class LinearSolver {
  constructor(highs) {
    this.highs = highs;
    this.model = highs.createModel();
    this.options = {
      output_flag: false, solver: "simplex", presolve: "off", small_matrix_value: 1e-12,
      primal_feasibility_tolerance: 1e-10, dual_feasibility_tolerance: 1e-10,
    };
    this.model.options.set(this.options);
  }

  // Minimize costs . x subject to rows x <= upper, with equality in the last `equal` of them, x >= 0. Rows are lists of
  // [column, coefficient]; `start` is the basis of a program of the same shape. Duals are of the rows, <= 0 where they are <=.
  // The solver's tolerances are absolute: larger right sides and costs, by `scale`, make them smaller.
  solve({ costs, rows, upper, equal = 0, scale = 1e4 }, start = null) {
    const { highs, model } = this;
    const starts = [0], entries = rows.flat();
    for (const row of rows) starts.push(starts.at(-1) + row.length);
    model.passModel({
      sense: highs.constants.objectiveSense.minimize, numCols: costs.length, numRows: rows.length,
      offset: 0, colCost: costs.map((x) => scale * x), colLower: costs.map(() => 0), colUpper: costs.map(() => highs.infinity),
      rowLower: upper.map((x, row) => (row < rows.length - equal ? -highs.infinity : scale * x)),
      rowUpper: upper.map((x) => scale * x),
      matrix: {
        format: "csr", numRows: rows.length, numCols: costs.length, starts,
        indices: Int32Array.from(entries, ([column]) => column), values: Float64Array.from(entries, ([, x]) => x),
      },
    });
    if (start?.rowStatus.length === rows.length && start.colStatus.length === costs.length) model.setBasis(start);
    const { optimal } = highs.constants.modelStatus;
    for (const retry of [{}, { presolve: "on" }, { presolve: "off", solver: "ipm" }]) {
      model.options.set(retry);
      try {
        model.run();
        if (model.getModelStatus() === optimal) break;
      } catch (error) {
        if (error.name !== "HighsError") throw error;
      }
      model.clearSolver();
    }
    model.options.set(this.options);
    if (model.getModelStatus() !== optimal) throw new SolverError("the linear program was not solved");
    const basis = model.getBasis(), { colValue, rowDual } = model.getSolution();
    return {
      values: Array.from(colValue, (x) => Math.max(0, x / scale)), duals: Array.from(rowDual, (y) => y / scale),
      basis, columns: basis.colStatus, slacks: basis.rowStatus,
    };
  }
}

// ---- Source sets -------------------------------------------------------------------------------------------------------------

export const worstDistortion = (vertices, changes) => most(vertices.map((p) => sum(p.map((x, i) => x * changes[i]))));

// How far, in any letter, a distribution is from the hull of the vertices.
export function distanceToHull(solver, point, vertices) {
  const count = vertices.length;
  const rows = point.flatMap((_, i) => {
    const row = vertices.map((p, v) => [v, p[i]]);
    return [[...row, [count, -1]], [...row.map(([v, x]) => [v, -x]), [count, -1]]];
  });
  const costs = [...vertices.map(() => 0), 1], upper = point.flatMap((x) => [x, -x]);
  return solver.solve({ costs, rows: [...rows, vertices.map((_, v) => [v, 1])], upper: [...upper, 1], equal: 1 }).values[count];
}

// Class I: the hull has the uniform distribution; II: one order of the letters sorts every vertex; III: all others.
export function sourceClass(solver, vertices) {
  const size = vertices[0].length;
  if (distanceToHull(solver, new Array(size).fill(1 / size), vertices) <= 1e-9) return "I";
  const order = falling(range(size).map((i) => sum(vertices.map((p) => p[i]))));
  return vertices.every((p) => order.every((i, rank) => !rank || p[order[rank - 1]] >= p[i] - 1e-12)) ? "II" : "III";
}

const falling = (p) => range(p.length).sort((i, j) => p[j] - p[i] || i - j);

// The least distortion at which nothing needs to leak, the answer to give then, and the weights of the prior that proves it.
export function perfectPrivacy(solver, vertices) {
  const count = vertices.length, size = vertices[0].length, spent = vertices.map((p) => others(p));
  const letters = new Array(size).fill(0);
  if (count === 1) {
    letters[falling(vertices[0])[0]] = 1;
    return { distortion: least(spent[0]), letters, weights: [1] };
  }
  const rows = letters.map((_, j) => [...spent.map((s, v) => [v, -s[j]]), [count, 1]]);
  const found = solver.solve({
    costs: [...vertices.map(() => 0), -1], rows: [...rows, vertices.map((_, v) => [v, 1])],
    upper: [...letters, 1], equal: 1,
  });
  const answer = normalized(found.duals.slice(0, size).map((y) => -y));
  return { distortion: worst(spent, answer), letters: answer, weights: normalized(found.values.slice(0, count)) };
}

const worst = (table, answer) => most(table.map((row) => sum(row.map((x, j) => x * answer[j]))));
const others = (p) => p.map((_, j) => sum(p.filter((_, i) => i !== j)));

function normalized(weights) {
  const clipped = weights.map((w) => Math.max(0, w)), total = sum(clipped);
  return clipped.map((w) => (total > 0 ? w / total : 1 / clipped.length));
}

// ---- Mechanisms ----------------------------------------------------------------------------------------------------------------

// What each letter gives away goes to the others in proportion to what they keep; `changes` are the probabilities of change.
export function fromChanges(changes) {
  const kept = changes.map((d) => 1 - d), all = sum(kept);
  return changes.map((d, i) => {
    const rest = all - kept[i];
    return kept.map((a, j) => (i === j ? a : rest > 0 ? (a * d) / rest : 0));
  });
}

const changesOf = (matrix) => matrix.map((row, i) => sum(row.filter((_, j) => j !== i)));
const columnsOf = (matrix) => matrix[0].map((_, j) => matrix.map((row) => fixed(row[j])));
const tiny = (matrix) => matrix.flat().some((x) => x > 0 && x < SMALLEST);

// ---- Differential privacy where all letters are neighbors, and approximate: the same on a longer axis --------------------------

class Ratio {
  constructor(solver, vertices, delta = 0) {
    Object.assign(this, { solver, vertices, delta, perfect: perfectPrivacy(solver, vertices) });
    this.free = (1 - delta) * this.perfect.distortion;
  }

  atDistortion(budget) {
    const D = budget / (1 - this.delta), { vertices } = this, count = vertices.length, size = vertices[0].length;
    if (D === 0) return { changes: vertices[0].map(() => 0), weights: vertices.map(() => 1 / count) };
    const peaks = range(size).map((i) => most(vertices.map((p) => p[i])));
    const scales = peaks.map((peak) => (peak > D ? D / peak : 1));
    const rows = vertices.map((p) => [...p.map((x, i) => [i, x / Math.max(peaks[i], D)]), [size, -1]]);
    rows.push(...scales.map((scale, i) => [[i, scale], [size, -1]]));
    const costs = [...scales.map((scale) => -scale), size - 1];
    const upper = [...vertices.map(() => 0), ...scales.map(() => 1 - D)];
    const found = this.solver.solve({ costs, rows, upper }, this.start);
    this.start = found.basis;
    const sigma = 1 + found.values[size];
    const changes = scales.map((scale, i) =>
      found.columns[i] === 1 && found.slacks[count + i] !== 1 ? 1 : (D + scale * found.values[i]) / sigma);
    return { changes, weights: normalized(found.duals.slice(0, count).map((y) => -y)) };
  }

  atLeakage(leakage) {
    const { vertices, perfect } = this, count = vertices.length, size = vertices[0].length, total = size + Math.expm1(leakage);
    const rows = vertices.map((p) => [...p.map((x, i) => [i, x]), [size, -1]]);
    rows.push(...range(size).map((i) => [[i, 1], [size + 1, 1]]));
    rows.push([...range(size).map((i) => [i, 1 / total]), [size + 1, 1]]);
    const upper = [...vertices.map(() => 0), ...range(size).map(() => total), size - 1];
    const found = this.solver.solve({ costs: [...range(size).map(() => 0), 1, 1], rows, upper, equal: 1 }, this.turn);
    this.turn = found.basis;
    const share = found.values[size + 1];
    const changes = range(size).map((i) =>
      found.columns[i] === 1 && found.slacks[count + i] !== 1 ? 1 : (found.values[i] + share) / total);
    const enough = worstDistortion(vertices, changes) >= perfect.distortion * (1 - 1e-14);
    return { changes: enough ? null : changes, weights: normalized(found.duals.slice(0, count).map((y) => -y)) };
  }

  least(leakage) {
    const { changes } = this.atLeakage(leakage);
    return changes ? (1 - this.delta) * worstDistortion(this.vertices, changes) : this.free;
  }

  matrix({ changes }) {
    const matrix = changes ? fromChanges(changes) : this.vertices[0].map(() => this.perfect.letters);
    return matrix.map((row, i) => row.map((x, j) => (i === j ? this.delta + (1 - this.delta) * x : (1 - this.delta) * x)));
  }

  // The largest of all columns' ratios of what exceeds delta to the least entry.
  leakage(matrix) {
    let above = 1n, below = 1n;
    const delta = fixed(this.delta);
    for (const column of columnsOf(matrix)) {
      const top = most(column) - delta, low = least(column);
      if (top > 0n && low === 0n) return Infinity;
      if (top > 0n && top * below > above * low) [above, below] = [top, low];
    }
    return tiny(matrix) ? Infinity : logarithmUp(above, below);
  }

  // No mechanism of this distortion leaks less, whatever the weights; a hair of the prior that needs most moves its jump away.
  leastLeakage({ weights }, budget, found) {
    let best = 0;
    const D = fixed(budget), room = ONE - fixed(this.delta);
    for (const hair of [0, ...range(24).map((n) => 2 ** (2 * n - 50))]) {
      const prior = mixture(weights.map((w, v) => (1 - hair) * w + hair * this.perfect.weights[v]), this.vertices);
      best = Math.max(best, leastLeakageOfPrior(prior, D, room));
      if (found - best <= 1e-11) break;
    }
    return best;
  }

  leastDistortion({ weights }, leakage) {
    const prior = rising(mixture(weights, this.vertices)), all = whole(prior);
    const t = fixed(Math.exp(leakage) * (1 + ULP)), bounds = [];
    let tail = 0n;
    prior.forEach((p, n) => {
      const rest = BigInt(prior.length - 1 - n);
      bounds.push(quotient(t * tail + rest * all * ONE, (t + rest * ONE) * all));
      tail += p;
    });
    return (1 - this.delta) * least(bounds) * (1 - ULP);
  }
}

// Of a prior in whole numbers, at a distortion D / room: response on the letters that are likely enough is optimal.
function leastLeakageOfPrior(prior, D, room) {
  const sorted = rising(prior), all = whole(sorted);
  if (D * all >= (all - sorted.at(-1)) * room) return 0;
  let tail = 0n, best = null;
  sorted.slice(0, -1).forEach((p, n) => {
    const rest = BigInt(sorted.length - 1 - n), above = rest * all * (room - D), below = D * all - tail * room;
    if (below > 0n && (!best || above * best[1] < best[0] * below)) best = [above, below];
    tail += p;
  });
  return best ? logarithm(...best) * (1 - ULP) : Infinity;
}

// ---- Maximal leakage: as little probability as possible is kept ------------------------------------------------------------

class Mass {
  constructor(solver, vertices) {
    Object.assign(this, { solver, vertices, perfect: perfectPrivacy(solver, vertices) });
    this.free = this.perfect.distortion;
    this.never = vertices[0].map((_, i) => vertices.every((p) => p[i] === 0));
  }

  atDistortion(D) {
    const { vertices } = this, count = vertices.length, size = vertices[0].length;
    if (D === 0) return { changes: this.never.map(Number), weights: vertices.map(() => 1 / count) };
    const peaks = range(size).map((i) => most(vertices.map((p) => p[i])));
    const scales = peaks.map((peak) => (peak > D ? D / peak : 1));
    const rows = vertices.map((p) => p.map((x, i) => [i, x / Math.max(peaks[i], D)]));
    rows.push(...scales.map((scale, i) => [[i, scale]]));
    const found = this.solver.solve({ costs: scales.map((scale) => -scale), rows, upper: rows.map(() => 1) }, this.start);
    this.start = found.basis;
    return this._proposal(scales.map((scale, i) => scale * found.values[i]), found.duals);
  }

  atLeakage(leakage) {
    const { vertices } = this, count = vertices.length, size = vertices[0].length;
    const changed = Math.max(0, size - Math.exp(leakage) * (1 - ULP));
    if (changed <= sum(this.never.map(Number))) return this.atDistortion(0);
    const rows = vertices.map((p) => [...p.map((x, i) => [i, x]), [size, -1]]);
    rows.push(...range(size).map((i) => [[i, 1]]), range(size).map((i) => [i, 1]));
    const upper = [...vertices.map(() => 0), ...range(size).map(() => 1), changed];
    const found = this.solver.solve({ costs: [...range(size).map(() => 0), 1], rows, upper, equal: 1 }, this.turn);
    this.turn = found.basis;
    return this._proposal(found.values.slice(0, size), found.duals);
  }

  _proposal(changes, duals) {
    const weights = normalized(duals.slice(0, this.vertices.length).map((y) => -y));
    const clipped = changes.map((d) => Math.min(1, d));
    return { changes: sum(clipped) > clipped.length - 1 + 1e-12 ? null : clipped, weights };
  }

  least(leakage) {
    const { changes } = this.atLeakage(leakage);
    return changes ? worstDistortion(this.vertices, changes) : this.free;
  }

  matrix({ changes }) {
    return changes ? fromChanges(changes) : this.vertices[0].map(() => this.perfect.letters);
  }

  leakage(matrix) {
    return logarithmUp(whole(columnsOf(matrix).map(most)), ONE);
  }

  // For one prior the likeliest letters are kept, the last of them in part.
  leastLeakage({ weights }, budget) {
    const prior = rising(mixture(weights, this.vertices)), all = whole(prior);
    let left = fixed(budget) * all, count = BigInt(prior.length);
    for (const p of prior) {
      if (left < p * ONE) return Math.max(0, logarithm(count * p * ONE - left, p * ONE) * (1 - ULP));
      left -= p * ONE;
      count -= 1n;
    }
    return 0;
  }

  leastDistortion({ weights }, leakage) {
    const prior = rising(mixture(weights, this.vertices)), all = whole(prior);
    let given = BigInt(prior.length) * ONE - fixed(Math.exp(leakage) * (1 + ULP)), spent = 0n;
    for (const p of prior) {
      const part = given < 0n ? 0n : given < ONE ? given : ONE;
      spent += part * p;
      given -= part;
    }
    return quotient(spent, all * ONE) * (1 - ULP);
  }
}

// ---- Programs over the whole channel, at a given s = 1/t: graphs of neighbors, and maximal information -------------------------

class Channel {
  constructor(solver, vertices) {
    Object.assign(this, { solver, vertices, perfect: perfectPrivacy(solver, vertices), solutions: new Map() });
    this.size = vertices[0].length;
    this.free = this.perfect.distortion;
  }

  // The worst distortion is column `place`; the sums of the rows come last, equal to 1.
  _spending(place) {
    const { size, vertices } = this, at = (i, j) => i * size + j;
    const spent = vertices.map((p) => [...p.flatMap((x, i) => range(size).filter((j) => j !== i && x).map((j) => [at(i, j), x])), [place, -1]]);
    return [spent, range(size).map((i) => range(size).map((j) => [at(i, j), 1]))];
  }

  solve(s) {
    if (this.solutions.has(s)) return this.solutions.get(s);
    const found = this.program(s);
    const changes = changesOf(found.matrix);
    found.distortion = worstDistortion(this.vertices, changes);
    if (found.distortion > this.free) Object.assign(found, { matrix: null, distortion: this.free });
    if (this.solutions.size > 500) this.solutions.clear();
    this.solutions.set(s, found);
    return found;
  }

  least(leakage) {
    return this.solve(Math.exp(-leakage)).distortion;
  }

  atLeakage(leakage) {
    const all = this.everything();
    return leakage >= this.leakage(all.matrix) ? all : this.solve(Math.exp(-leakage));
  }

  // The largest s whose least distortion keeps the budget: Newton's method from both sides, guarded by bisection. The curve may
  // jump at the budget itself, which then counts as reached.
  atDistortion(budget) {
    if (budget === 0) return this.everything();
    const enough = budget * (1 + 1e-12);
    let low = this.solve(this.first(budget)), high = null, top = 1, guess = this.last ?? low.s * 1.3;
    if (low.distortion > enough) low = this.solve(low.s * (1 - 1e-9));
    for (let trial = 0; trial < 80 && top > low.s * (1 + 3e-12); trial++) {
      const last = this.solve(low.s < guess && guess < top ? guess : (low.s + top) / 2);
      if (last.distortion <= enough) low = last;
      else [high, top] = [last, last.s];
      guess = 0;
      if (trial % 4 < 3) {
        for (const from of [last, high, low]) {
          if (!from?.slope) continue;
          const newton = from.s + (budget - from.distortion) / from.slope, beside = newton * (from === high ? 1 - 1e-12 : 1 + 1e-12);
          if (low.s < beside && beside < top) { guess = beside; break; }
        }
      }
    }
    this.last = low.s;
    return low;
  }

  matrix({ matrix }) {
    return matrix ?? range(this.size).map(() => this.perfect.letters);
  }

  // Multipliers of a slightly smaller leakage, which they prove to be too little.
  leastLeakage({ s }, budget) {
    const D = fixed(budget);
    for (let step = 0.9e-11; step < 1e-3; step *= 10) {
      const lower = s * (1 + step);
      if (lower >= 1) break;
      const [above, below] = this.bound(this.solve(lower), lower);
      if (above * ONE > D * below) return -Math.log(lower) * (1 - ULP);
    }
    return 0;
  }

  leastDistortion(found, leakage) {
    const bound = this.bound(found, Math.exp(-leakage) * (1 - ULP));
    return Math.max(0, quotient(...bound)) * (1 - ULP);
  }
}

class Graph extends Channel {
  constructor(solver, vertices, edges) {
    super(solver, vertices);
    this.pairs = edges.flatMap(([i, j]) => [[i, j], [j, i]]);
    this.distances = distances(this.size, edges);
  }

  first(budget) {
    const bar = Math.min(budget, this.free) * (1 - 1e-12);
    return Math.min(0.999, bar / ((this.size - 1) * (1 - bar)));
  }

  everything() {
    return { s: 0, matrix: range(this.size).map((i) => range(this.size).map((j) => Number(i === j))), weights: this.vertices.map(() => 1) };
  }

  program(s) {
    const { size, pairs, vertices } = this, place = size * size;
    const compared = pairs.flatMap(([giver, taker]) => range(size).map((j) => [[giver * size + j, s], [taker * size + j, -1]]));
    const [spent, sums] = this._spending(place);
    const rows = [...compared, ...spent, ...sums];
    const upper = rows.map((_, row) => (row < rows.length - size ? 0 : 1));
    const found = this.solver.solve({ costs: [...range(place).map(() => 0), 1], rows, upper, equal: size }, this.start);
    this.start = found.basis;
    const multipliers = found.duals.slice(0, compared.length).map((y) => Math.max(0, -y));
    const slope = sum(multipliers.map((y, row) => y * found.values[compared[row][0][0]]));
    // The least channel above that keeps the ratios exactly, whatever the solver's rounding.
    const raised = range(size).map((k) => range(size).map((j) =>
      most(range(size).map((i) => found.values[i * size + j] * s ** this.distances[i][k]))));
    const matrix = raised.map((row) => row.map((x) => x / sum(row)));
    const weights = normalized(found.duals.slice(compared.length, compared.length + vertices.length).map((y) => -y));
    return { s, matrix, slope, weights, multipliers };
  }

  leakage(matrix) {
    let above = 1n, below = 1n;
    const exact = matrix.map((row) => row.map(fixed));
    for (const [giver, taker] of this.pairs) {
      for (const j of range(this.size)) {
        const [x, y] = [exact[giver][j], exact[taker][j]];
        if (x && !y) return Infinity;
        if (x * below > above * y) [above, below] = [x, y];
      }
    }
    return tiny(matrix) ? Infinity : logarithmUp(above, below);
  }

  // sum_i min_j [P_i d_ij + s y_gj - y_kj], for any multipliers y >= 0, as a fraction: see channel_ratio.py.
  bound({ weights, multipliers }, s) {
    const { size, pairs } = this, prior = mixture(weights, this.vertices), all = whole(prior), step = fixed(s);
    const reduced = prior.map((p, i) => range(size).map((j) => (i === j ? 0n : (p * ONE) / all * ONE)));
    pairs.forEach(([giver, taker], c) => {
      for (const j of range(size)) {
        const y = fixed(multipliers[c * size + j]);
        reduced[giver][j] += y * step;
        reduced[taker][j] -= y * ONE;
      }
    });
    return [whole(reduced.map(least)), ONE * ONE];
  }
}

class Information extends Channel {
  first(budget) {
    // The identity, mixed with an even choice of all letters as far as the budget allows.
    const { size, vertices } = this, share = Math.min(1, (budget * size) / (size - 1)), even = share / size;
    return least(vertices.flatMap((p) => p.map((x) => (x * (1 - share) + even) / (1 - share + even)))) * (1 - 1e-12);
  }

  everything() {
    const known = this.vertices[0].map((_, i) => this.vertices.some((p) => p[i] > 0));
    const answer = known.indexOf(true);
    const matrix = known.map((is, i) => known.map((_, j) => Number(j === (is ? i : answer))));
    return { s: 0, matrix, weights: this.vertices.map(() => 1) };
  }

  program(s) {
    const { size, vertices } = this, count = vertices.length, cells = size * size, place = cells + size;
    const outputs = vertices.flatMap((p) => range(size).map((j) => [...p.flatMap((x, i) => (x ? [[i * size + j, -x]] : [])), [cells + j, s]]));
    const [spent, sums] = this._spending(place);
    const caps = range(cells).map((cell) => [[cell, 1], [cells + (cell % size), -1]]);
    const rows = [...outputs, ...spent, ...caps, ...sums];
    const upper = rows.map((_, row) => (row < rows.length - size ? 0 : 1));
    const found = this.solver.solve({ costs: [...range(place).map(() => 0), 1], rows, upper, equal: size }, this.start);
    this.start = found.basis;
    const multipliers = found.duals.slice(0, count * size).map((y) => Math.max(0, -y));
    return {
      s, multipliers,
      matrix: this._mended(range(size).map((i) => found.values.slice(i * size, i * size + size)), s),
      slope: sum(multipliers.map((y, row) => y * found.values[cells + (row % size)])),
      weights: normalized(found.duals.slice(count * size, count * size + count).map((y) => -y)),
      rows: found.duals.slice(-size),
    };
  }

  // Without rounding: what is missed of the ratios is mended by mixing in a constant row.
  _mended(values, s) {
    const { size, vertices } = this;
    const peaks = range(size).map((j) => most(values.map((row) => row[j])));
    const cleared = values.map((row) => row.map((x, j) => (peaks[j] < 1e-14 ? 0 : x)));
    const matrix = cleared.map((row) => row.map((x) => x / sum(row)));
    const missed = range(size).map((j) => {
      const output = least(vertices.map((p) => sum(p.map((x, i) => x * matrix[i][j]))));
      return Math.max(0, s * most(matrix.map((row) => row[j])) - output) / (1 - s);
    });
    const all = 1 + sum(missed);
    return all === 1 ? matrix : matrix.map((row) => row.map((x, j) => (x + missed[j]) / all));
  }

  leakage(matrix) {
    let above = 1n, below = 1n;
    const priors = this.vertices.map((p) => p.map(fixed));
    for (const column of columnsOf(matrix)) {
      const top = most(column);
      if (!top) continue;
      for (const prior of priors) {
        const output = whole(column.map((x, i) => x * prior[i])), all = whole(prior);
        if (!output) return Infinity;
        if (top * all * below > above * output) [above, below] = [top * all, output];
      }
    }
    return tiny(matrix) ? Infinity : logarithmUp(above, below);
  }

  // sum_i n_i + min(m, m / t) with m = min_j [Y_j - t E_j], for any n and y >= 0, as a fraction: see channel_lift.py. Divisions
  // round down, which a little more in E makes up for.
  bound({ weights, multipliers, rows }, s, vertices = this.vertices) {
    const { size } = this, step = fixed(s), prior = mixture(weights, this.vertices), all = whole(prior);
    const exact = vertices.map((p) => p.map(fixed)), sums = exact.map(whole), n = rows.map(fixed);
    const columns = range(size).map((j) => {
      const y = vertices.map((_, v) => fixed(multipliers[v * size + j]));
      const owed = n.map((charge, i) => {
        const rest = whole(y.map((x, v) => (x * exact[v][i]) / sums[v])) + charge - (i === j ? 0n : (prior[i] * ONE) / all);
        return rest > 0n ? rest + BigInt(y.length) : 0n;
      });
      return whole(y) * step - whole(owed) * ONE;
    });
    const gain = least(columns); // m / t, times ONE^2
    return gain >= 0n ? [whole(n) * ONE + gain, ONE * ONE] : [whole(n) * step + gain, ONE * step];
  }

  // Whether the prior of the weights forces the result by itself; its multiplier of an output is the sum of the vertices'.
  forces({ weights, multipliers, rows }, leakage, distortion) {
    const sums = range(this.size).map((j) => sum(this.vertices.map((_, v) => multipliers[v * this.size + j])));
    const bound = this.bound({ weights, multipliers: sums, rows }, Math.exp(-leakage) * (1 - ULP), [mixed(weights, this.vertices)]);
    return distortion - quotient(...bound) <= 1e-9 * distortion;
  }
}

function distances(size, edges) {
  const found = range(size).map((i) => range(size).map((j) => (i === j ? 0 : Infinity)));
  for (const [i, j] of edges) found[i][j] = found[j][i] = 1;
  for (const k of range(size)) for (const i of range(size)) for (const j of range(size)) {
    found[i][j] = Math.min(found[i][j], found[i][k] + found[k][j]);
  }
  return found;
}

export const GRAPHS = {
  ring: (size) => (size < 3 ? GRAPHS.line(size) : range(size).map((i) => [i, (i + 1) % size])),
  line: (size) => range(size - 1).map((i) => [i, i + 1]),
  clique: (size) => range(size).flatMap((i) => range(i).map((j) => [j, i])),
};

// ---- Problems ----------------------------------------------------------------------------------------------------------------

export const NOTIONS = {
  dp: { name: "differential privacy", python: ({ graph }, size) => (graph === "clique" ? "" : `pr.DifferentialPrivacy(pr.${graph}(${size}))`) },
  approximate: { name: "pointwise (ε, δ)-differential privacy", python: ({ delta }) => `pr.ApproximateDP(${delta})` },
  leakage: { name: "maximal leakage", python: () => "pr.MaximalLeakage()" },
  information: { name: "maximal information", python: () => "pr.MaximalInformation()" },
};

// What a page can do at once; the rest is for Python.
const MOST = { diagonal: 60, coefficients: 2400, channel: 12, lift: 1000 };

// Why a problem is too much for a page, or nothing.
export function tooLarge({ notion, graph = "clique" }, vertices) {
  const count = vertices.length, size = vertices[0].length;
  if (notion === "information" && (size > MOST.channel || size * size * count > MOST.lift)) {
    return `Maximal information for ${size} categories and ${count} vertices takes too long for this page`;
  }
  if (notion === "dp" && graph !== "clique" && size > MOST.channel) {
    return `A graph of ${size} categories takes too long for this page, which takes at most ${MOST.channel}`;
  }
  if (size > MOST.diagonal || size * count > MOST.coefficients) {
    return `${size} categories and ${count} vertices take too long for this page`;
  }
  return "";
}

// Everything for one source set and one notion: optima at budgets, and the curve.
export class Problem {
  constructor(solver, vertices, { notion = "dp", delta = 0, graph = "clique" } = {}) {
    Object.assign(this, { solver, vertices, notion, graph, delta: notion === "approximate" ? delta : 0 });
    this.size = vertices[0].length;
    this.program =
      notion === "leakage" ? new Mass(solver, vertices)
      : notion === "information" ? new Information(solver, vertices)
      : notion === "dp" && graph !== "clique" && this.size > 1 ? new Graph(solver, vertices, GRAPHS[graph](this.size))
      : new Ratio(solver, vertices, this.delta);
    this.free = this.program.free;
  }

  // The best mechanism at { distortion } or at { leakage }: evaluated from the matrix, with the gap to what no mechanism beats.
  optimum({ distortion = null, leakage = null }) {
    const { program, vertices } = this, atDistortion = leakage === null;
    const slack = Math.min(1e-12, 1e-11 * this.free) * Number(distortion > 0);
    const enough = atDistortion ? distortion >= this.free - slack : leakage === 0;
    const found = enough ? { changes: null, matrix: null, weights: program.perfect.weights }
      : atDistortion ? program.atDistortion(distortion) : program.atLeakage(leakage);
    const matrix = program.matrix(found);
    const result = { matrix, leakage: program.leakage(matrix), distortion: worstDistortion(vertices, changesOf(matrix)) };
    const prior = mixed(found.weights, vertices);
    const bound = atDistortion
      ? (enough ? 0 : distortion === 0 ? this.leakageOfNoChange() : program.leastLeakage(found, distortion, result.leakage))
      : (enough ? this.free : found.s === 0 ? 0 : program.leastDistortion(found, leakage));
    const gap = atDistortion ? (result.leakage === bound ? 0 : result.leakage - bound) : result.distortion - bound;
    const kept = atDistortion ? result.distortion <= distortion + Math.max(2 * slack, 2e-12 * distortion) : result.leakage <= leakage + 1e-11 * Math.max(1, leakage);
    const forcing = !program.forces || vertices.length === 1 || !found.multipliers || program.forces(found, result.leakage, result.distortion);
    const closed = atDistortion ? gap <= 1e-9 : gap <= 1e-9 * result.distortion + 1e-15;
    return { ...result, prior, forcing, bound, gap, unit: atDistortion ? "nats" : "distortion", certified: kept && closed };
  }

  // What every mechanism of distortion 0 leaks at least: it publishes each category that occurs as it is.
  leakageOfNoChange() {
    const { program, vertices, notion } = this;
    const occur = range(this.size).filter((i) => vertices.some((p) => p[i] > 0));
    if (notion === "leakage") return Math.log1p(occur.length - 1) * (1 - ULP);
    if (notion === "information") return Math.log(1 / least(occur.map((i) => least(vertices.map((p) => p[i]))))) * (1 - ULP);
    const linked = (i, k) => i !== k && (!program.distances || program.distances[i][k] < Infinity);
    return occur.some((i) => occur.some((k) => linked(i, k))) ? Infinity : 0;
  }

  // What randomized response on all letters costs: its leakage at a distortion.
  randomizedResponse(distortion) {
    const size = this.size, D = distortion / (1 - this.delta);
    if (D >= (size - 1) / size) return 0;
    if (this.notion === "leakage") return Math.log(size * (1 - D));
    const other = D / (size - 1);
    if (this.notion !== "information") return D > 0 ? Math.log((1 - D) / other) : Infinity;
    const rarest = least(this.vertices.flat());
    return Math.log((1 - D) / (rarest * (1 - D) + (1 - rarest) * other));
  }

  // Where a picture of the curve ends: the leakage at a small distortion.
  top() {
    return this.free > 0 ? Math.max(0.1, Math.min(30, this.optimum({ distortion: this.free / 30 }).leakage)) : 1;
  }

  // Points { leakage, distortion } of the curve, and its jumps { distortion, low, high }, in a plane of so many pixels; a
  // generator that stops after each program, so that a page stays alive.
  *curve(highest, pixels = { across: 600, down: 360 }) {
    const { free } = this;
    if (!(free > 0)) return { points: [{ leakage: 0, distortion: 0 }], jumps: [] };
    const at = (leakage) => ({ leakage, distortion: leakage === 0 ? free : this.program.least(leakage) });
    const points = [];
    for (const n of range(25)) points.push(at((highest * n) / 24)), yield;
    for (let n = 0; n + 1 < points.length;) {
      const [one, two] = [points[n], points[n + 1]];
      const across = ((one.distortion - two.distortion) / free) * pixels.across, down = ((two.leakage - one.leakage) / highest) * pixels.down;
      if (down < 0.5 || Math.hypot(across, down) < 1.5) { n++; continue; }
      const middle = at((one.leakage + two.leakage) / 2);
      yield;
      const off = Math.abs(middle.distortion - (one.distortion + two.distortion) / 2) / free * pixels.across * down / Math.hypot(across, down);
      points.splice(n + 1, 0, middle);
      if (off < 0.2) n += 2;
    }
    const jumps = [], same = (one, two) => Math.abs(one.distortion - two.distortion) <= 1e-11 * free;
    for (let n = 0; n + 1 < points.length; n++) {
      let last = n;
      while (last + 1 < points.length && same(points[n], points[last + 1])) last++;
      if (last === n || !(points[n].distortion > 1e-11)) continue;
      const level = points[n].distortion;
      const low = n ? yield* corner(at, points[n], points[n - 1], level, free) : points[n];
      const high = last + 1 < points.length ? yield* corner(at, points[last], points[last + 1], level, free) : points[last];
      if (high.leakage - low.leakage > 1e-3) {
        points.splice(n, last - n + 1, low, high);
        jumps.push({ distortion: level, low: low.leakage, high: high.leakage });
        last = n + 1;
      }
      n = last;
    }
    return { points, jumps };
  }
}

// Where a level piece of the curve ends, between a point on it and one off it.
function* corner(at, on, off, level, free) {
  let before = null;
  for (let trial = 0; trial < 60 && Math.abs(off.leakage - on.leakage) > 1e-11; trial++) {
    const slope = before && (off.distortion - before.distortion) / (off.leakage - before.leakage);
    let place = slope && trial % 3 ? off.leakage + ((level - off.distortion) / slope) * (1 - 1e-12) : NaN;
    if (!((place - on.leakage) * (place - off.leakage) < 0)) place = (on.leakage + off.leakage) / 2;
    const found = at(place);
    yield;
    if (Math.abs(found.distortion - level) <= 1e-12 * free) on = found;
    else [before, off] = [off, found];
  }
  return { leakage: on.leakage, distortion: level };
}

// ---- Theorem 3 of Kalantari, Sankar and Sarwate: bounds by folding, for sets of Class III --------------------------------------

// The two source sets whose optima are its bounds, for the largest ratio over the letters, and whether the lower one is proved to
// hold. The hull is folded for three letters, the vertices alone for more, as the paper's tables do. Permutations that only swap
// ties are left out. See paper_repro/papers/folding.py.
export function folded(solver, vertices) {
  const size = vertices[0].length, pieces = size === 3 ? regionsOfHull(vertices) : regionsOfPoints(vertices);
  const images = pieces.map(({ order, part }) => part.map((p) => order.map((i) => p[i])));
  const first = pieces[0].order, ranks = pieces.map(({ order }) => order.map((i) => first.indexOf(i)));
  const classes = alike(ranks, size);
  const average = (p) => {
    const spread = [...p];
    for (const group of classes) for (const i of group) spread[i] = sum(group.map((j) => p[j])) / group.length;
    return spread;
  };
  const shared = images.slice(1).reduce((common, image) => (size === 3 ? intersection(common, image) : common.filter((p) => image.some((q) => near(p, q)))), images[0]);
  const lower = shared.length ? shared.map(average) : images[0];
  const unfold = (p) => range(size).map((i) => p[first.indexOf(i)]);
  const inside = !shared.length || lower.every((p) => distanceToHull(solver, unfold(p), vertices) <= 1e-9);
  return { lower: distinct(lower), upper: distinct(images.flat().map(average)), inside, permutations: pieces.length, hull: size === 3 };
}

const near = (p, q) => p.every((x, i) => Math.abs(x - q[i]) <= 1e-12);
const distinct = (points) => points.filter((p, n) => points.findIndex((q) => near(p, q)) === n);

function alike(permutations, size) {
  const root = range(size), find = (i) => (root[i] === i ? i : find(root[i]));
  for (const permutation of permutations) permutation.forEach((j, i) => (root[find(i)] = find(j)));
  return range(size).filter((i) => find(i) === i).map((top) => range(size).filter((i) => find(i) === top));
}

function regionsOfPoints(vertices) {
  const pieces = new Map();
  for (const p of vertices) {
    const order = falling(p), key = order.map((i) => String(i).padStart(3, "0")).join();
    pieces.set(key, { order, part: [...(pieces.get(key)?.part ?? []), p] });
  }
  return [...pieces].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, piece]) => piece);
}

// Pieces of a hull of three letters in the regions of the six orders, in which it has its full dimension.
function regionsOfHull(vertices) {
  const hull = hullOf(vertices), pieces = [];
  for (const order of [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]) {
    let part = hull;
    for (const [i, j] of [[order[0], order[1]], [order[1], order[2]]]) {
      // Letters that tie throughout stay in alphabetical order.
      if (i > j && hull.every((p) => Math.abs(p[i] - p[j]) <= 1e-12)) part = [];
      part = clipped(part, (p) => p[i] - p[j]);
    }
    part = hullOf(part);
    if (part.length && dimension(part) === dimension(hull)) pieces.push({ order, part });
  }
  return pieces;
}

const dimension = (hull) => Math.min(2, hull.length - 1);

// The corners of a hull, around it.
function hullOf(points) {
  const sorted = distinct(points).sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const chain = (list) => {
    const found = [];
    for (const p of list) {
      while (found.length > 1 && turn(found.at(-2), found.at(-1), p) <= 1e-13) found.pop();
      found.push(p);
    }
    return found.slice(0, -1);
  };
  return sorted.length < 2 ? sorted : distinct([...chain(sorted), ...chain([...sorted].reverse())]);
}

// What of a polygon, segment or point has a value of at least 0.
function clipped(part, value) {
  return distinct(part.flatMap((p, n) => {
    const q = part[(n + 1) % part.length], a = value(p), b = value(q);
    const found = a >= -1e-13 ? [p] : [];
    if ((a > 1e-13 && b < -1e-13) || (a < -1e-13 && b > 1e-13)) found.push(p.map((x, i) => x + (a / (a - b)) * (q[i] - x)));
    return found;
  }));
}

function intersection(one, two) {
  const ends = hullOf(two);
  let left = hullOf(one);
  const cut = (value) => (left = hullOf(clipped(left, value)));
  const line = (a, b) => (p) => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
  const along = (a, b) => (p) => (p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1]);
  if (ends.length === 1) for (const i of [0, 1]) cut((p) => p[i] - ends[0][i]), cut((p) => ends[0][i] - p[i]);
  else ends.forEach((a, n) => cut(line(a, ends[(n + 1) % ends.length])));
  if (ends.length === 2) cut(along(ends[0], ends[1])), cut(along(ends[1], ends[0]));
  return left;
}

// ---- What users write: tables, addresses, and the line that does the same in Python ------------------------------------------

export class InputError extends Error {}

// A table of probabilities, one distribution a row, as it is pasted: commas, semicolons or tabs, with or without letters' names.
export function parseTable(text) {
  const lines = text.split(/\r?\n/).map((line, n) => ({ line: line.trim(), row: n + 1 })).filter(({ line }) => line && !line.startsWith("#"));
  if (!lines.length) throw new InputError("The table must have a prior; got no line. Write one prior per line, such as 0.5, 0.3, 0.2");
  const separator = ["\t", ";", ","].find((sign) => lines[0].line.includes(sign)) ?? /\s+/;
  const split = ({ line, row }) => ({ row, cells: line.split(separator).map((cell) => cell.trim()) });
  const number = (cell) => {
    const plain = separator === "," ? cell : cell.replace(",", ".");
    const [, above, below] = /^([\d.]+)\s*\/\s*([\d.]+)$/.exec(plain) ?? [];
    return above ? above / below : plain === "" ? NaN : Number(plain);
  };
  const rows = lines.map(split);
  const names = ({ cells }) => cells.every((cell) => Number.isNaN(number(cell)))
    || (cells.every((cell) => /^\d+$/.test(cell)) && new Set(cells).size === cells.length && sum(cells.map(Number)) !== 1);
  const header = names(rows[0]) ? rows.shift().cells : null;
  if (!rows.length) throw new InputError("The table must have a prior; got names of categories only. Write one prior per line below them");
  const size = header?.length ?? rows[0].cells.length;
  if (header && new Set(header).size < size) throw new InputError(`Names of categories must be distinct; got ${header.join(", ")} in row 1. Rename one`);
  const vertices = rows.map(({ row, cells }) => {
    if (cells.length !== size) throw new InputError(`Row ${row} must have ${size} numbers, one for each category; got ${cells.length}. Write 0 for a category that never occurs`);
    const values = cells.map((cell, column) => {
      const x = number(cell);
      if (x >= 0 && x <= 1) return x;
      throw new InputError(`Row ${row}, column ${header ? header[column] : column + 1} must be a probability; got “${cell}”. Write a number between 0 and 1`);
    });
    if (Math.abs(sum(values) - 1) > 1e-9) throw new InputError(`Row ${row} must sum to 1; got ${+sum(values).toPrecision(10)}. Correct it`);
    return values;
  });
  return { labels: header ?? range(size).map((i) => `x${i + 1}`), vertices };
}

// Where the lower bound of Theorem 3 is false.
export const DEFAULT = {
  set: { labels: ["x1", "x2", "x3"], vertices: [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3]] },
  notion: "dp", delta: 0.1, graph: "clique", by: "distortion", distortion: 0.55, leakage: 1,
};

// The state of the page as an address, and back. What an edited address says and cannot be is told, and the default taken.
export function encode(state) {
  const kept = new URLSearchParams({ set: typeof state.set === "string" ? state.set : tableText(state.set), notion: state.notion });
  if (state.notion === "approximate") kept.set("delta", state.delta);
  if (state.notion === "dp" && state.graph !== "clique") kept.set("graph", state.graph);
  kept.set(state.by, state[state.by]);
  return `#${kept}`.replaceAll("%2C", ",").replaceAll("%3B", ";");
}

const tableText = ({ labels, vertices }) => [...(labels.every((label, i) => label === `x${i + 1}`) ? [] : [labels.map((label) => label.replace(/[,;]/g, " "))]), ...vertices].map((row) => row.join(",")).join(";");

export function decode(hash, names) {
  const state = structuredClone(DEFAULT), problems = [], asked = new URLSearchParams(hash.replace(/^#/, ""));
  const wrong = (key, value, allowed) => problems.push(`${key} “${value}” in the address: ${allowed}`);
  for (const [key, value] of asked) {
    if (key === "set") {
      if (names.includes(value) || (/^uniform_\d+$/.test(value) && inside(+value.slice(8), 2, 60))) state.set = value;
      else {
        try {
          if (!/[,;]/.test(value)) throw new InputError("not a set that is known, nor a table");
          state.set = parseTable(value.replaceAll(";", "\n"));
        } catch (error) {
          if (!(error instanceof InputError)) throw error;
          wrong("set", value.slice(0, 60), error.message[0].toLowerCase() + error.message.slice(1));
        }
      }
    } else if (key === "notion" || key === "graph") {
      const known = Object.keys(key === "notion" ? NOTIONS : GRAPHS);
      if (known.includes(value)) state[key] = value;
      else wrong(key, value, `none of ${known.join(", ")}`);
    } else if (key === "delta" || key === "distortion" || key === "leakage") {
      const [low, high] = LIMITS[key], x = Number(value);
      if (value.trim() !== "" && inside(x, low, high)) {
        state[key] = x;
        if (key !== "delta") state.by = key;
      } else wrong(key, value, `no number between ${low} and ${high}`);
    } else wrong("the name", key, "nothing that this page knows");
  }
  return { state, problem: problems.length ? `${problems[0]}${problems.length > 1 ? `, and ${problems.length - 1} more` : ""}; the default is shown in its place.` : "" };
}

export const LIMITS = { delta: [0, 0.9], distortion: [0, 1], leakage: [0, 20] };
const inside = (x, low, high) => x >= low && x <= high;

// What does the same in Python.
export function pythonLine(state, vertices, labels) {
  const own = `pr.SourceSet(${JSON.stringify(vertices)}${labels.every((label, i) => label === `x${i + 1}`) ? "" : `, labels=${JSON.stringify(labels)}`})`;
  const set = typeof state.set !== "string" ? own
    : state.set.startsWith("uniform_") ? `pr.SourceSet([1 / ${state.set.slice(8)}] * ${state.set.slice(8)})` : `pr.load_source_set("${state.set}")`;
  const notion = NOTIONS[state.notion].python(state, vertices[0].length);
  return `pr.optimal_mechanism(${set}, ${state.by}=${state[state.by]}${notion ? `, notion=${notion}` : ""})`;
}
