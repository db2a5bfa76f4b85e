import { describe, expect, it } from "vitest";

import { clausesOf } from "../../../src/model/text/fitError";
import type { CycleView, RejectionView } from "../../../src/model/generated";
import { effectOf, pathOfStatus, type SelectedStatus } from "../../../src/model/cycle/statusPath";

const rejection = (nodes: number, ...reasons: string[]): RejectionView => ({ plugin: "P", code: "Unschedulable", reasons, nodes, first: [] });
const status = (stage: string, code: string): SelectedStatus => ({ stage, code, plugin: "P", reasons: [] });

describe("the clauses of a FitError", () => {
  const MESSAGE = "0/13 nodes are available: 1 had a taint {a: b}, 12 Insufficient cpu. preemption: 0/13 nodes are available: 1 no, 12 no.";

  it("are found in the message, whose text is unchanged", () => {
    const clauses = clausesOf(MESSAGE, [rejection(12, "Insufficient cpu"), rejection(1, "had a taint {a: b}")]);
    expect(clauses.map((clause) => clause.text).join("")).toBe(MESSAGE);
    expect(clauses.filter((clause) => clause.reason !== null).map((clause) => clause.text)).toEqual(["1 had a taint {a: b}", "12 Insufficient cpu"]);
  });

  it("sum the nodes of a reason over all plugins", () => {
    expect(clausesOf(MESSAGE, [rejection(5, "Insufficient cpu"), rejection(7, "Insufficient cpu")]).some((clause) => clause.reason === "Insufficient cpu")).toBe(true);
  });

  it("do not begin within another number", () => {
    expect(clausesOf("12 Insufficient cpu", [rejection(2, "Insufficient cpu")])).toEqual([{ text: "12 Insufficient cpu", reason: null }]);
  });
});

describe("the effect of a Status", () => {
  it.each([
    ["Filter", "Unschedulable", "rejectsNode"],
    ["Filter", "UnschedulableAndUnresolvable", "rejectsNodeForGood"],
    ["Filter", "Pending", "rejectsNodeForGood"],
    ["PreFilter", "UnschedulableAndUnresolvable", "rejectsAllNodes"],
    ["PreFilter", "Pending", "rejectsAllNodes"],
    ["PreFilter", "Skip", "skipsFilter"],
    ["PostFilter", "Success", "nominates"],
    ["PostFilter", "Unschedulable", "findsNoVictims"],
    ["Permit", "Wait", "waits"],
    ["Permit", "Unschedulable", "undoes"],
    ["Reserve", "Pending", "undoes"],
    ["Bind", "Skip", "nextBinder"],
    ["Bind", "Error", "undoes"],
    ["Score", "Error", "ends"],
  ])("at %s, %s %s", (stage, code, effect) => {
    expect(effectOf(status(stage, code))).toBe(effect);
  });

  it("without a feasible node leads through schedulePod, PostFilter and the queue", () => {
    const cycle: CycleView = {
      cycle: 1,
      pod: "default/p",
      outcome: "unschedulable",
      conditionReason: "Unschedulable",
      stages: [{ stage: "Filter" }, { stage: "PostFilter" }, { stage: "HandleSchedulingFailure", facts: { reason: "Unschedulable", requeued: true } }],
    };
    expect(pathOfStatus(status("Filter", "Unschedulable"), cycle, "backoffQ").map((step) => `${step.name} ${step.detail}`.trim())).toEqual([
      "schedulePod FitError",
      "schedulingCycle",
      "RunPostFilterPlugins",
      "handleSchedulingFailure Unschedulable",
      "AddUnschedulableIfNotPresent backoffQ",
      "PodScheduled=False Unschedulable",
      "FailedScheduling Warning",
    ]);
  });

  it("has no path if other nodes were feasible", () => {
    const cycle: CycleView = { cycle: 1, pod: "default/p", outcome: "scheduled", feasibleNodes: 3 };
    expect(pathOfStatus(status("Filter", "Unschedulable"), cycle, "")).toEqual([]);
  });
});
