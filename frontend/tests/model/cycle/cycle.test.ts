import { describe, expect, it } from "vitest";

import { condensedRows, funnelOf, isSameRow, marginOf, mergedRejections, stageRowsOf } from "../../../src/model/cycle/cycleStages";
import { codeOfStage, HANDLED } from "../../../src/views/cycle/outcome";
import { filterParts, rejectionTones } from "../../../src/model/cycle/filterParts";
import { scoresSoFar } from "../../../src/model/cycle/scoresSoFar";
import type { CycleView } from "../../../src/model/generated";

const cycle = (members: Partial<CycleView>): CycleView => ({ cycle: 1, pod: "default/p", ...members });
const stages = (...names: string[]): CycleView["stages"] => names.map((stage) => ({ stage }));

describe("stageRowsOf", () => {
  it("marks stages as ended, next or ahead", () => {
    const rows = stageRowsOf(cycle({ stages: stages("Pop", "SkipPodSchedule", "UpdateSnapshot"), nextStage: "PreFilter" }));
    expect(rows.slice(0, 4).map(({ stage, reached }) => [stage, reached])).toEqual([
      ["Pop", "ended"],
      ["UpdateSnapshot", "ended"],
      ["PreFilter", "next"],
      ["Filter", "ahead"],
    ]);
  });

  it("marks no stage of a cycle that has just started as skipped", () => {
    expect(stageRowsOf(cycle({ stages: [] })).map(({ reached }) => reached)).toEqual(Array(10).fill("ahead"));
  });

  it("keeps skipped stages in their place", () => {
    const rows = stageRowsOf(cycle({ stages: stages("Pop", "UpdateSnapshot", "PreFilter", "Filter", "SelectHost"), nextStage: "Assume" }));
    expect(rows.filter(({ reached }) => reached === "skipped").map(({ stage }) => stage)).toEqual(["PreScore", "Score"]);
  });

  it("folds consecutive stages that were skipped into one line", () => {
    const folded = condensedRows(stageRowsOf(cycle({ stages: stages("Pop", "PreFilter", "Filter", "PostFilter"), outcome: "unschedulable" })));
    expect(folded[folded.length - 1]?.stage).toBe("PreScore · Score · SelectHost · Assume · Reserve · Permit");
  });
});

describe("isSameRow", () => {
  const line = (facts: Record<string, unknown>, reached: "ended" | "next" = "ended") => ({ stage: "Pop", reached, views: [{ stage: "Pop", facts }] });

  it("compares the facts and the progress of two stages", () => {
    expect(isSameRow(line({ priority: 1 }), line({ priority: 1 }))).toBe(true);
    expect(isSameRow(line({ priority: 1 }), line({ priority: 2 }))).toBe(false);
    expect(isSameRow(line({ priority: 1 }), line({ priority: 1 }, "next"))).toBe(false);
  });
});

describe("the figures of a cycle", () => {
  it("add up to the number of all nodes", () => {
    const funnel = funnelOf(
      cycle({ allNodes: 1523, stages: [{ stage: "Filter", facts: { evaluated: 850, feasible: 578, start: 200 } }] }),
    );
    expect(funnel.feasible + funnel.rejected + funnel.notEvaluated).toBe(1523);
    expect(funnel.start).toBe(200);
  });

  it("merge rejections with the same plugin, code and reasons", () => {
    const of = (nodes: number, reason: string) => ({ plugin: "P", code: "Unschedulable", reasons: [reason], nodes, first: [`n${nodes}`] });
    expect(mergedRejections([of(2, "a"), of(9, "b"), of(1, "a")]).map(({ nodes, first }) => [nodes, first])).toEqual([
      [9, ["n9"]],
      [3, ["n2", "n1"]],
    ]);
  });

  it("name the winner's margin and the plugin that contributed most to it", () => {
    const score = (plugin: string, weighted: number) => ({ plugin, weight: 1, raw: weighted, normalized: weighted, weighted });
    const margin = marginOf(
      cycle({
        winner: { node: "a", total: 120, scores: [score("Fit", 70), score("Image", 50)] },
        runnerUp: { node: "b", total: 110, scores: [score("Fit", 75), score("Image", 35)] },
      }),
    );
    expect(margin).toEqual({ by: 10, plugin: "Image" });
    expect(marginOf(cycle({}))).toBeNull();
  });

  it("name all plugins that contributed equally to the margin", () => {
    const scores = (first: number, second: number) => ["Fit", "Balanced"].map((plugin, i) => ({ plugin, weight: 1, raw: 0, normalized: 0, weighted: [first, second][i]! }));
    const margin = marginOf(cycle({ winner: { node: "a", total: 36, scores: scores(18, 18) }, runnerUp: { node: "b", total: 0, scores: scores(0, 0) } }));
    expect(margin).toEqual({ by: 36, plugin: "Fit, Balanced" });
  });

  it("have a part for each plugin that rejected nodes, and all parts add up to all nodes", () => {
    const rejection = (plugin: string, code: string, nodes: number, reason = "r") => ({ plugin, code, reasons: [reason], nodes, first: [] });
    const parts = filterParts(
      cycle({
        allNodes: 100,
        stages: [
          {
            stage: "Filter",
            facts: { evaluated: 60, feasible: 10, start: 0 },
            rejections: [rejection("Taint", "UnschedulableAndUnresolvable", 8), rejection("Fit", "Unschedulable", 30), rejection("Fit", "Unschedulable", 10, "s")],
          },
        ],
      }),
    );
    expect(parts.map(({ kind, plugin, code, nodes }) => [kind, plugin, code, nodes])).toEqual([
      ["feasible", "", "Success", 10],
      ["rejected", "Fit", "Unschedulable", 40],
      ["rejected", "Taint", "UnschedulableAndUnresolvable", 8],
      ["rejected", "", "", 2],
      ["unseen", "", "", 40],
    ]);
    expect(rejectionTones(parts)).toEqual([]);
    expect(rejectionTones(parts.slice(1))).toEqual(["unschedulable", "unresolvable"]);
  });
});

describe("the scores of a running cycle", () => {
  const scored = { stage: "Score", facts: { plugins: ["Fit", "Taint"], nodes: 5, best: [{ node: "a", raw: [81, 0] }, { node: "b", raw: [79, 0] }] } };
  const normalized = {
    stage: "NormalizeScore",
    facts: { weights: [1, 3], best: [{ node: "a", normalized: [81, 100], total: 381 }, { node: "b", normalized: [79, 100], total: 379 }] },
  };

  it("are raw after Score, and weighted with a total after NormalizeScore", () => {
    const raw = scoresSoFar(cycle({ stages: [scored], nextStage: "NormalizeScore" }));
    expect(raw).toMatchObject({ isNormalized: false, nodes: [{ node: "a", scores: [{ plugin: "Fit", raw: 81 }, { plugin: "Taint", raw: 0 }] }, { node: "b" }] });
    const whole = scoresSoFar(cycle({ stages: [scored, normalized], nextStage: "SelectHost" }));
    expect(whole).toMatchObject({ isNormalized: true, nodes: [{ node: "a", total: 381, scores: [{ weighted: 81 }, { weighted: 300 }] }, { total: 379 }] });
  });

  it("belong to the stage Score, and are missing in sessions of older servers", () => {
    expect(stageRowsOf(cycle({ stages: [scored, normalized], nextStage: "SelectHost" })).map(({ stage }) => stage)).not.toContain("NormalizeScore");
    expect(scoresSoFar(cycle({ stages: [{ stage: "Score", facts: { plugins: [], nodes: 5 } }] }))).toBeNull();
  });
});

describe("the mark of a stage", () => {
  it("is neutral for the handling of a failure, which is neither a success nor a failure itself", () => {
    expect(codeOfStage({ stage: "HandleSchedulingFailure", reached: "ended", views: [{ stage: "HandleSchedulingFailure", facts: { reason: "Unschedulable", requeued: true } }] })).toBe(HANDLED);
    expect(codeOfStage({ stage: "Pop", reached: "ended", views: [{ stage: "Pop" }] })).toBe("Success");
  });
});
