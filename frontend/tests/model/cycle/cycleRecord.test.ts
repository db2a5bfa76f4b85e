import { describe, expect, it } from "vitest";

import { matrixOf, type CycleRecord } from "../../../src/model/cycle/cycleRecord";

const plugin = (weight: number, weighted: Record<string, number>): NonNullable<CycleRecord["scores"]>[string] => ({
  weight,
  raw: weighted,
  normalized: weighted,
  weighted,
});

const RECORD: CycleRecord = {
  pod: "default/p",
  outcome: "scheduled",
  node: "n3",
  startNodeIndex: 2,
  feasible: ["n3", "n4"],
  filter: [{ node: "n1", plugin: "TaintToleration", code: "UnschedulableAndUnresolvable", reasons: ["had a taint"] }],
  scores: { ImageLocality: plugin(1, { n3: 10, n4: 2 }), NodeResourcesFit: plugin(1, { n3: 50, n4: 53 }) },
  totals: { n3: 60, n4: 55 },
  tied: ["n3"],
};

describe("the matrix of a cycle", () => {
  const matrix = matrixOf(RECORD, ["n1", "n2", "n3", "n4", "n5"]);

  it("lists every node once, in the order of evaluation, nodes that were not evaluated last", () => {
    expect(matrix.rows.map((row) => [row.node, row.kind])).toEqual([
      ["n3", "feasible"],
      ["n4", "feasible"],
      ["n1", "rejected"],
      ["n5", "unseen"],
      ["n2", "unseen"],
    ]);
    expect(matrix.counts).toEqual({ feasible: 2, rejected: 1, unseen: 2 });
  });

  it("says how far a node is behind the winner, and because of which plugin", () => {
    expect(matrix.byNode.get("n4")).toMatchObject({ behind: 5, lostTo: "ImageLocality" });
    expect(matrix.byNode.get("n3")).toMatchObject({ behind: 0, lostTo: "" });
  });

  it("lists only evaluated nodes without the snapshot's list", () => {
    expect(matrixOf(RECORD, []).rows).toHaveLength(3);
  });
});
