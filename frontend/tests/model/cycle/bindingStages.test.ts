import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { bindingOfCycle, bindingStagesOf } from "../../../src/model/cycle/bindingStages";
import { fold } from "../../../src/model/state/fold";
import type { AnyEvent, BindingView, View } from "../../../src/model/generated";
import { State } from "../../../src/model/state/state";

const { view, events } = JSON.parse(readFileSync(new URL("../../recordings/crowded.json", import.meta.url), "utf8")) as { view: View; events: AnyEvent[] };
const binding = (members: Partial<BindingView>): BindingView => ({ pod: "default/p", node: "n", cycle: 1, ...members });
const names = (of: BindingView, reached: string, release = "v1.27.1"): string[] =>
  bindingStagesOf(of, release).filter((stage) => stage.reached === reached).map(({ name }) => name);

describe("the stages of a binding cycle", () => {
  it("are split into ended, next and ahead", () => {
    const running = binding({ stages: [{ stage: "WaitOnPermit" }], nextStage: "PreBind" });
    expect(names(running, "ended")).toEqual(["WaitOnPermit"]);
    expect(names(running, "next")).toEqual(["PreBind"]);
    expect(names(running, "ahead")).toEqual(["Bind", "FinishBinding", "PostBind", "Confirm"]);
    expect(names(running, "ahead", "v1.36")).toEqual(["Bind", "PostBind", "Confirm"]);
  });

  it("end with Unreserve after a failure", () => {
    expect(names(binding({ stages: [{ stage: "WaitOnPermit" }], nextStage: "Unreserve" }), "ahead")).toEqual([]);
  });
});

it("bindingOfCycle follows the pod of a scheduling cycle from assumed to bound", () => {
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

it("bindingOfCycle ends the wait for the watch event with the event that confirms the pod in the cache", () => {
  const state = State.of(view);
  const phases = new Map<string, string | undefined>();
  for (const event of events) {
    fold(state, event);
    if (state.cycle && state.cycle.cycle > 1) break;
    const found = state.cycle && bindingOfCycle(state.cycle, state);
    if (event.t === "cachePod" && event.op === "add") phases.set(`${event.t} ${event.op}`, found?.phase);
    if (event.t === "bindingStageEnded" && event.stage === "PostBind") phases.set(event.stage, found?.phase);
    if (event.t === "cachePod" && event.op === "add") expect(found?.stages.map(({ reached }) => reached)).toEqual(["ended", "ended", "ended", "ended"]);
  }
  expect([...phases]).toEqual([["PostBind", "written"], ["cachePod add", "bound"]]);
});

it("bindingOfCycle marks the next main stage while a stage between two main ones runs", () => {
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

it("a cycle without a node has no binding, and neither has one whose pod is no longer on its node", () => {
  const state = State.of(view);
  expect(bindingOfCycle({ cycle: 1, pod: "default/p", outcome: "unschedulable" }, state)).toBeNull();
  expect(bindingOfCycle({ cycle: 1, pod: "default/deleted", outcome: "scheduled", node: "n" }, state)).toBeNull();
});
