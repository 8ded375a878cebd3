// Solve the problems of a JSON file with the explorer's module: node optima.mjs <module> <loader of highs> <problems>.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, loader, problems] = process.argv.slice(2);
const { LinearSolver, Problem, decode, encode, folded, parseTable, pythonLine, sourceClass } = await import(pathToFileURL(module));
const { default: load } = await import(pathToFileURL(loader));
const solver = new LinearSolver(await load());

const finite = (x) => (x === Infinity ? "inf" : x);
const answers = {
  optimum({ vertices, budget, ...about }) {
    const found = new Problem(solver, vertices, about).optimum(budget);
    return { ...found, leakage: finite(found.leakage), bound: finite(found.bound), gap: finite(found.gap) };
  },
  curve({ vertices, highest, ...about }) {
    const steps = new Problem(solver, vertices, about).curve(highest);
    let step = steps.next();
    while (!step.done) step = steps.next();
    return step.value;
  },
  folded({ vertices, distortion }) {
    const { lower, upper, ...about } = folded(solver, vertices);
    const at = (set) => new Problem(solver, set).optimum({ distortion }).leakage;
    return { ...about, lower: at(lower), upper: at(upper) };
  },
  response: ({ vertices, distortion, ...about }) => new Problem(solver, vertices, about).randomizedResponse(distortion),
  class: ({ vertices }) => sourceClass(solver, vertices),
  table: ({ text }) => parseTable(text),
  address: ({ hash, names }) => ({ ...decode(hash, names), again: encode(decode(hash, names).state) }),
  python: ({ state, vertices, labels }) => pythonLine(state, vertices, labels),
};
const found = JSON.parse(readFileSync(problems, "utf8")).map(({ kind, ...problem }) => {
  try {
    return answers[kind](problem);
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(found));
