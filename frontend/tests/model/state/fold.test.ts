import { readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { fold } from "../../../src/model/state/fold";
import type { AnyEvent, PreemptionView, View } from "../../../src/model/generated";
import { observed } from "../../../src/model/state/observed";
import { State } from "../../../src/model/state/state";

interface Recording {
  /** The release of the scheduler; absent: v1.27.1. */
  release?: string;
  view: View;
  events: AnyEvent[];
  after: { view: View; state: unknown };
  /** The engine's state after each command, told by the number of its last event. */
  states?: { event: number; state: unknown }[];
}

const { RECORDINGS } = process.env;
const FOLDER = RECORDINGS ? pathToFileURL(`${RECORDINGS}/`) : new URL("../../recordings/", import.meta.url);

const plain = (state: State, release?: string): unknown => JSON.parse(JSON.stringify(observed(state, release)));

/** What a page draws of a pod group's cycle; members that the engine omits have their defaults. */
function podGroupOf({ podGroup }: State): unknown {
  if (!podGroup) return null;
  const cycles = (podGroup.cycles ?? []).map(({ cycle, pod, nextStage, stages }) => [cycle, pod, nextStage ?? "", (stages ?? []).map(({ stage }) => stage)]);
  const pods = (podGroup.pods ?? []).map(({ pod, cycle = 0, node = "", code = "", message = "", permit = "", outcome = "" }) => [
    pod, cycle, node, code, message, permit, outcome,
  ]);
  const { group, nextStage = "", outcome = "", message = "", placement = "" } = podGroup;
  return { group, nextStage, outcome, message, placement, pods, cycles, stages: (podGroup.stages ?? []).map(({ stage }) => stage) };
}

describe.each(readdirSync(FOLDER).filter((name) => name.endsWith(".json")))("the recording %s", (name) => {
  const recording = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Recording;
  const state = State.of(recording.view);
  const awaited = [...(recording.states ?? [])];
  const folded: unknown[] = [];
  const look = (): void => {
    while (awaited.length && awaited[0]!.event <= state.event) {
      awaited.shift();
      folded.push(plain(state, recording.release));
    }
  };
  for (const event of recording.events) {
    look();
    fold(state, event);
  }
  look();

  it("folds to the engine's state after each command", () => {
    expect(folded).toEqual((recording.states ?? []).map((one) => one.state));
  });

  it("folds to the preemptions and pending API calls of the engine", () => {
    const whole = (preemptions: readonly PreemptionView[]): unknown => preemptions.map((one) => ({ cycle: 0, plugin: "", evicted: 0, ...one }));
    expect(whole(state.preemptions)).toEqual(whole(recording.after.view.preemptions));
    expect(state.apiCalls).toEqual(recording.after.view.apiCalls);
  });

  it("folds to the cache, snapshot and queue of the engine", () => {
    expect(plain(state, recording.release)).toEqual(recording.after.state);
  });

  it("folds to the view of the engine, with equal heap arrays and stale items", () => {
    const folded = State.of(recording.after.view);
    expect(state.event).toBe(folded.event);
    expect(state.clockSeconds).toBe(folded.clockSeconds);
    expect(state.nextStartNodeIndex).toBe(folded.nextStartNodeIndex);
    expect(state.queue.activeQ.array).toEqual(folded.queue.activeQ.array);
    expect(state.queue.backoffQ.array).toEqual(folded.queue.backoffQ.array);
    expect(state.queue.errorBackoffQ.array).toEqual(folded.queue.errorBackoffQ.array);
    expect(state.queue.inFlight).toEqual(folded.queue.inFlight);
    expect([...state.queue.unschedulable.keys()].sort()).toEqual([...folded.queue.unschedulable.keys()].sort());
    expect(Object.fromEntries(state.snapshot.stale)).toEqual(Object.fromEntries(folded.snapshot.stale));
    expect(state.list.toArray()).toEqual(folded.list.toArray());
    expect(state.assumed).toEqual(folded.assumed);
    expect(state.bindings.map(({ pod, node, nextStage }) => ({ pod, node, nextStage }))).toEqual(
      folded.bindings.map(({ pod, node, nextStage }) => ({ pod, node, nextStage: nextStage ?? "" })),
    );
    expect(Object.fromEntries(state.api.objects)).toEqual(Object.fromEntries(folded.api.objects));
    expect(state.cycle?.cycle).toBe(folded.cycle?.cycle);
    expect(podGroupOf(state)).toEqual(podGroupOf(folded));
    expect(Object.fromEntries(state.snapshot.assumedPods)).toEqual(Object.fromEntries(folded.snapshot.assumedPods));
  });
});
