import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { fold } from "../../../src/model/state/fold";
import type { AnyEvent, View } from "../../../src/model/generated";
import { State } from "../../../src/model/state/state";

const { view, events } = JSON.parse(readFileSync(new URL("../../recordings/crowded.json", import.meta.url), "utf8")) as { view: View; events: AnyEvent[] };

it("podKeys has every pod by its key in the queue, in the cycle and in the cache, whose keys are uids", () => {
  const state = State.of(view);
  const known = state.podKeys();
  expect([...known].every((key) => key.startsWith("default/"))).toBe(true);
  const begins = events.findIndex(({ t }) => t === "cycleStarted");
  const ends = events.findIndex(({ t }) => t === "cycleEnded");
  for (const event of events.slice(0, begins)) fold(state, event);
  for (const event of events.slice(begins, ends + 1)) {
    fold(state, event);
    expect(state.podKeys()).toEqual(known);
  }
  const popped = state.cycle!.pod;
  expect(state.queue.activeQ.get(popped)).toBeUndefined();
  expect(state.podState(popped)?.node).toBe(state.cycle!.node);
});

it("podState finds the cache's state of a pod by its key", () => {
  const state = State.of(view);
  for (const event of events) fold(state, event);
  const [uid, kept] = [...state.podStates][0]!;
  expect(uid).not.toBe(kept.pod);
  expect(state.podState(kept.pod)).toBe(kept);
  expect(state.podState(uid)).toBeUndefined();
});
