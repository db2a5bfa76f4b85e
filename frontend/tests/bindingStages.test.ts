import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { bindingOfCycle, bindingStagesOf } from "../src/model/bindingStages";
import { fold } from "../src/model/fold";
import type { AnyEvent, BindingView, View } from "../src/model/generated";
import { State } from "../src/model/state";

const { view, events } = JSON.parse(readFileSync(new URL("recordings/crowded.json", import.meta.url), "utf8")) as { view: View; events: AnyEvent[] };
const binding = (members: Partial<BindingView>): BindingView => ({ pod: "default/p", node: "n", cycle: 1, ...members });
const names = (of: BindingView, reached: string): string[] => bindingStagesOf(of).filter((stage) => stage.reached === reached).map(({ name }) => name);

describe("the stages of a binding cycle", () => {
  it("are those that ended, the next one and those to come", () => {
    const running = binding({ stages: [{ stage: "WaitOnPermit" }], nextStage: "PreBind" });
    expect(names(running, "ended")).toEqual(["WaitOnPermit"]);
    expect(names(running, "next")).toEqual(["PreBind"]);
    expect(names(running, "ahead")).toEqual(["Bind", "FinishBinding", "PostBind", "Confirm"]);
  });

  it("end with Unreserve after a failure", () => {
    expect(names(binding({ stages: [{ stage: "WaitOnPermit" }], nextStage: "Unreserve" }), "ahead")).toEqual([]);
  });
});

it("follows a scheduling cycle from the assumed pod to the bound pod", () => {
  const state = State.of(view);
  const phases: string[] = [];
  for (const event of events) {
    fold(state, event);
    if (state.cycle && state.cycle.cycle > 1) break;
    const phase = state.cycle && bindingOfCycle(state.cycle, state)?.phase;
    if (phase && phase !== phases.at(-1)) phases.push(phase);
  }
  expect(phases).toEqual(["assumed", "written", "bound"]);
});

it("lights the next main stage also while a stage in between runs", () => {
  const state = State.of(view);
  const cycle = { cycle: 1, pod: "default/p", outcome: "scheduled", node: "n" };
  state.bindings = [binding({ stages: [{ stage: "WaitOnPermit" }, { stage: "PreBind" }, { stage: "Bind" }], nextStage: "FinishBinding" })];
  expect(bindingOfCycle(cycle, state)?.stages.map(({ name, reached }) => [name, reached])).toEqual([
    ["WaitOnPermit", "ended"],
    ["PreBind", "ended"],
    ["Bind", "ended"],
    ["Confirm", "next"],
  ]);
});

it("is not shown for a cycle without a node, nor for a pod that has left its node", () => {
  const state = State.of(view);
  expect(bindingOfCycle({ cycle: 1, pod: "default/p", outcome: "unschedulable" }, state)).toBeNull();
  expect(bindingOfCycle({ cycle: 1, pod: "default/deleted", outcome: "scheduled", node: "n" }, state)).toBeNull();
});
