import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

import english from "../../../src/i18n/messages/en.experiments.json";
import { addEnglish } from "../../../src/i18n/translate";
import { axisOf } from "../../../src/layout/axis";
import { labelsOf } from "../../../src/layout/scatter";
import { certainty, choose, goalsOf } from "../../../src/model/experiments/choice";
import { defaultAxes } from "../../../src/model/experiments/defaultAxes";
import { Figures } from "../../../src/model/experiments/figures";
import { interval, verdict } from "../../../src/model/experiments/interval";
import type { Column, Results } from "../../../src/model/experiments/results";
import { spaced } from "../../../src/model/experiments/spaced";
import { printDifference, printTicks } from "../../../src/model/experiments/text";
import { label } from "../../../src/views/experiments/measureNames";
import { EXAMPLES, isGenerated } from "../../../src/views/experiments/examples";
import { badgeOf, choiceText } from "../../../src/views/experiments/choiceText";

addEnglish(english);

const column = (key: string, better: Column["better"]): Column => ({ key, measure: key.split(".")[0]!, title: "", unit: "pods", better, isVolatile: false });
const COLUMNS = [column("placed", "higher"), column("nodesUsed", "lower"), column("zoneSkew.max", "lower")];
const [PLACED, NODES, SKEW] = [0, 1, 2];

/** Variants with numbers of each seed, in the order of `COLUMNS`. */
function results(variants: Record<string, number[][]>): Results {
  const rows = Object.values(variants).flatMap((seeds, variant) => seeds.map((numbers, seed) => ({ variant, seed, numbers })));
  return {
    ...{ schedviz: "", name: "", question: "", plan: "", baseline: "a", nodes: 1, pods: 1, columns: COLUMNS, moves: null, coursesAxis: "", series: [] },
    variants: Object.keys(variants).map((name) => ({ name })),
    trials: {
      numbers: rows.map((_, number) => number),
      variants: rows.map(({ variant }) => variant),
      seeds: rows.map(({ seed }) => seed),
      cycles: rows.map(() => 1),
      values: COLUMNS.map((_, place) => rows.map(({ numbers }) => numbers[place] ?? null)),
      errors: {},
    },
  };
}

it("isGenerated recognizes plans that generate their cluster", () => {
  for (const { plan } of EXAMPLES) {
    expect(isGenerated(plan(null))).toBe(true);
    expect(isGenerated(plan({ id: "s", event: null, nodes: 3 }))).toBe(false);
  }
  expect(isGenerated("base:\n  generate: {nodes: 3}\n")).toBe(true);
});

describe("intervals", () => {
  it("use Student's t-distribution, as the server does", () => {
    expect(interval([1, 2, 3, 4, 5])?.margin).toBeCloseTo(2.776 * Math.sqrt(2.5 / 5), 6);
    expect(interval([3])).toEqual({ mean: 3, margin: null, count: 1 });
    expect(interval([])).toBeNull();
  });

  it("decide whether a difference is significant", () => {
    expect(verdict({ mean: -3, margin: 1, count: 3 }, "lower")).toBe("good");
    expect(verdict({ mean: -3, margin: 4, count: 3 }, "lower")).toBe("");
    expect(verdict({ mean: -3, margin: null, count: 1 }, "higher")).toBe("bad");
  });
});

describe("figures", () => {
  const figures = new Figures(results({ a: [[10, 5], [12, 5]], b: [[9, 3], [11, 3]], c: [[8, 5], [9, 5]] }), 0); // prettier-ignore

  it("pair differences by seed", () => {
    expect(figures.difference(1, PLACED)).toEqual({ mean: -1, margin: 0, count: 2 });
    expect(figures.difference(0, PLACED)).toBeNull();
  });

  it("sort variants by a column, or by its difference to the baseline", () => {
    expect(figures.sorted({ column: PLACED, by: "value", descending: false })).toEqual([2, 1, 0]);
    expect(figures.sorted({ column: PLACED, by: "difference", descending: true })).toEqual([0, 1, 2]);
    expect(figures.sorted(null)).toEqual([0, 1, 2]);
  });

  it("have a Pareto front of the variants that none beats in both", () => {
    expect(figures.front(NODES, PLACED)).toEqual([1, 0]);
    expect(figures.front(NODES, NODES)).toEqual([]);
  });

  it("compare only the seeds that all variants have while trials are missing", () => {
    const figures = new Figures(results({ a: [[10, 5], [12, 5], [30, 5]], b: [[10, 5], [12, 5]] }), 0); // prettier-ignore
    expect([figures.seeds, figures.value(0, PLACED)?.mean, figures.value(1, PLACED)?.mean]).toEqual([[0, 1], 11, 11]);
  });

  it("leave out a variant whose trials are incomplete if another one is complete", () => {
    const figures = new Figures(results({ a: [[10, 5], [12, 5]], b: [[10, 5], [12, 5]], c: [[10, 5]] }), 0); // prettier-ignore
    expect([figures.seeds, figures.value(0, PLACED)?.mean, figures.value(2, PLACED)]).toEqual([[0, 1], 11, null]);
  });

  it("find the trial of another variant with the same seed", () => {
    expect(figures.partner(1, 2)).toBe(5);
  });
});

describe("a choice", () => {
  it("is the variant that is best in the first measure that differs, unless it is worse in a more important one", () => {
    const figures = new Figures(results({ a: [[10, 5, 1], [12, 5, 1]], fewer: [[10, 3, 4], [12, 3, 4]], lossy: [[8, 1, 1], [10, 1, 1]] }), 0); // prettier-ignore
    const choice = choose(figures, goalsOf(figures))!;
    expect([choice.variant, choice.gains, choice.costs, choice.ties]).toEqual([1, [NODES], [SKEW], []]);
    expect(choice.dropped.map(({ variant, column }) => [variant, column])).toEqual([[2, PLACED], [0, NODES]]); // prettier-ignore
    expect(certainty(figures, 1, 0, NODES)).toEqual({ level: "strong", agreeing: 2, seeds: 2 });
    expect(defaultAxes(figures, choice)).toEqual([NODES, SKEW]);
  });

  it("is the baseline if no variant is significantly better", () => {
    const figures = new Figures(results({ a: [[10, 5], [12, 5]], same: [[10, 5], [12, 5]], noisy: [[10, 3], [12, 8]] }), 0); // prettier-ignore
    const choice = choose(figures, goalsOf(figures))!;
    expect([choice.variant, choice.isBaseline, choice.ties]).toEqual([0, true, [1, 2]]);
  });

  it("follows another goal", () => {
    const figures = new Figures(results({ a: [[10, 5, 4]], even: [[10, 9, 1]] }), 0);
    expect(choose(figures, goalsOf(figures))!.variant).toBe(0);
    expect(choose(figures, goalsOf(figures, SKEW))!.variant).toBe(1);
  });
});

describe("the sentences about a choice", () => {
  interface Recorded {
    results: Results;
    summary: { headline: string; reasons: string[]; costs: string[]; level: string; certainty: string[]; alternatives: string[]; others: string[]; words: [string, string][] };
  }
  const recorded = JSON.parse(readFileSync(new URL("../../recordedExperiments/summaries.json", import.meta.url), "utf8")) as Recorded[];

  it.each(recorded)("equal those of the CLI: $results.name", ({ results: found, summary }) => {
    const figures = new Figures(found, found.variants.findIndex(({ name }) => name === found.baseline));
    const text = choiceText(figures, choose(figures, goalsOf(figures))!);
    expect({ ...text, words: text.words.map(({ word, meaning }) => [word, meaning]) }).toEqual({ ...summary, levelName: text.levelName });
  });

  it("call it preliminary while trials follow", () => {
    const figures = new Figures(results({ a: [[10, 5], [10, 6]], b: [[10, 3], [10, 4]] }), 0); // prettier-ignore
    const choice = choose(figures, goalsOf(figures))!;
    expect([choiceText(figures, choice).headline, badgeOf(choice, false)]).toEqual([expect.stringMatching(/^Choose b instead of a/), "recommended"]);
    expect([choiceText(figures, choice, true).headline, badgeOf(choice, true)]).toEqual([expect.stringMatching(/^Preliminary: Choose b/), "best so far"]);
  });
});

describe("columns", () => {
  it("of a curve are reduced to evenly spaced ones", () => {
    const curve = Array.from({ length: 101 }, (_, load) => column(`curve.${load}`, "lower"));
    expect(spaced([column("placed", "higher"), ...curve], 5)).toEqual([0, 1, 26, 51, 76, 101]);
  });
});

describe("printed numbers", () => {
  it("have two decimals if they are prices", () => {
    expect(printDifference({ mean: 1.5, margin: null, count: 1 }, "price")).toBe("+1.50");
  });

  it("have readable column names, and percentage points for differences of shares", () => {
    expect(label(column("nodesUsed", ""))).toBe("nodes used");
    expect(label(column("nodeSpread.mean", ""))).toBe("mean node spread");
    expect(label(column("utilization.cpu", ""))).toBe("CPU utilization of all nodes");
    expect(printDifference({ mean: -0.021, margin: 0.004, count: 5 }, "share")).toBe("−2.1 ± 0.4 pp");
  });

  it("have enough digits to show that a difference exceeds its margin", () => {
    expect(printDifference({ mean: 2, margin: 1.96, count: 5 }, "nodes")).toBe("+2.00 ± 1.96");
  });

  it("have the same number of decimals on one axis", () => {
    expect(printTicks([0, 0.2, 0.4], "share")).toEqual(["0%", "20%", "40%"]);
  });
});

describe("axes", () => {
  it("have round ticks within the range", () => {
    const { ticks, at } = axisOf([30, 40], 0, 100);
    expect(ticks).toEqual([30, 32, 34, 36, 38, 40]);
    expect(at(35)).toBeCloseTo(50);
  });

  it("do not go below 0 if no value does", () => {
    expect(axisOf([0, 40], 0, 100).at(0)).toBe(0);
    expect(axisOf([-5, 40], 0, 100).at(-5)).toBeGreaterThan(0);
  });

  it("have a non-empty range if all values are equal", () => {
    expect(axisOf([5, 5], 0, 100).at(5)).toBeCloseTo(50);
  });
});

describe("labels", () => {
  const box = { left: 0, right: 400, top: 10, bottom: 200 };
  const at = (x: number, y: number): { x: number; y: number } => ({ x, y });

  it("do not overlap, and stay within the box", () => {
    const labels = labelsOf([at(100, 50), at(120, 50), at(300, 15)], () => "a variant", box);
    expect(labels.map(({ y }) => y)).toEqual([38, 72, 37]);
  });

  it("do not cover marks and dots where there is another place", () => {
    expect(labelsOf([at(100, 80)], () => "a variant", box, [at(110, 66), at(90, 98)]).map(({ y }) => y)).toEqual([80 - 27]);
  });

  it("are shared by points at the same position", () => {
    expect(labelsOf([at(100, 50), at(101, 51)], (group) => String(group.length), box).map(({ text }) => text)).toEqual(["2"]);
  });
});
