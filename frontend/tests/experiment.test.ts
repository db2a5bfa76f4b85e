import { describe, expect, it } from "vitest";

import { axisOf, stacked } from "../src/layout/axis";
import { Figures, interval, label, printDifference, verdict, type Column, type Results } from "../src/model/experiment";

const column = (key: string, better: Column["better"]): Column => ({ key, measure: key.split(".")[0]!, title: "", unit: "pods", better });
const PLACED = column("placed", "higher");
const NODES = column("nodesUsed", "lower");

function results(variants: Record<string, [placed: number, nodes: number][]>): Results {
  const trials = Object.entries(variants).flatMap(([variant, seeds]) =>
    seeds.map(([placed, nodesUsed], seed) => ({ number: 0, variant, seed, values: { placed, nodesUsed }, error: "", cycles: 1 })),
  );
  const named = Object.keys(variants).map((name) => ({ name, note: "", failed: 0, error: "" }));
  return { name: "", question: "", plan: "", baseline: "a", columns: [PLACED, NODES], variants: named, trials };
}

describe("intervals", () => {
  it("use Student's t, as the server does", () => {
    expect(interval([1, 2, 3, 4, 5])?.margin).toBeCloseTo(2.776 * Math.sqrt(2.5 / 5), 6);
    expect(interval([3])).toEqual({ mean: 3, margin: null, count: 1 });
    expect(interval([])).toBeNull();
  });

  it("decide whether a difference is beyond chance", () => {
    expect(verdict({ mean: -3, margin: 1, count: 3 }, "lower")).toBe("good");
    expect(verdict({ mean: -3, margin: 4, count: 3 }, "lower")).toBe("");
    expect(verdict({ mean: -3, margin: null, count: 1 }, "higher")).toBe("bad");
  });
});

describe("figures", () => {
  const figures = new Figures(results({ a: [[10, 5], [12, 5]], b: [[9, 3], [11, 3]], c: [[8, 5], [9, 5]] }), "a"); // prettier-ignore

  it("pair differences by seed", () => {
    expect(figures.difference("b", "placed")).toEqual({ mean: -1, margin: 0, count: 2 });
    expect(figures.difference("a", "placed")).toBeNull();
  });

  it("sort variants by a column", () => {
    expect(figures.sorted(PLACED, false)).toEqual(["c", "b", "a"]);
    expect(figures.sorted(null, false)).toEqual(["a", "b", "c"]);
  });

  it("have a Pareto front of the variants that none beats in both", () => {
    expect(figures.front(NODES, PLACED)).toEqual(["b", "a"]);
    expect(figures.front(NODES, NODES)).toEqual([]);
  });
});

describe("printing", () => {
  it("has words for columns and points for shares", () => {
    expect(label(column("nodesUsed", ""))).toBe("nodes used");
    expect(label(column("utilization.cpu", ""))).toBe("utilization · cpu");
    expect(printDifference({ mean: -0.021, margin: 0.004, count: 5 }, "share")).toBe("−2.1 ± 0.4 pp");
  });
});

describe("axes", () => {
  it("have round ticks inside the range", () => {
    const { ticks, at } = axisOf([30, 40], 0, 100);
    expect(ticks).toEqual([30, 32, 34, 36, 38, 40]);
    expect(at(35)).toBeCloseTo(50);
  });

  it("have a range for equal values", () => {
    expect(axisOf([5, 5], 0, 100).at(5)).toBeCloseTo(50);
  });
});

describe("labels", () => {
  it("move up where they would lie on another", () => {
    expect(stacked([{ x: 10, y: 50 }, { x: 20, y: 50 }, { x: 300, y: 50 }])).toEqual([50, 35, 50]); // prettier-ignore
  });
});
