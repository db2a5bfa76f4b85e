import { expect, it } from "vitest";

import type { AnyCommand } from "../src/model/generated";
import { TransportControls } from "../src/store/transportControls";

/** The commands that a step and then a start of play send at 10 s, by the ends of the backoffs in backoffQ. */
function sentFor(ends: number[], { popsFromBackoffQ = false, active = 0 } = {}): AnyCommand[] {
  const sent: AnyCommand[] = [];
  const queue = {
    activeQ: { size: active },
    backoffQ: { size: ends.length, array: ends.map((backoffExpirySeconds) => ({ backoffExpirySeconds })) },
    errorBackoffQ: { size: 0, array: [] },
    popsFromBackoffQ,
  };
  const controls = new TransportControls({
    playback: { unit: "cycle", rate: 2, inThePast: false, pause: () => undefined, expectStep: () => undefined, follow: () => undefined },
    connection: { send: (command: AnyCommand) => sent.push(command) },
    mayRun: true,
    running: false,
    current: { queue, bindings: [], cycle: null, clockSeconds: 10 },
  } as unknown as ConstructorParameters<typeof TransportControls>[0]);
  controls.step();
  controls.togglePlay();
  return sent;
}

const STEP = { op: "step", unit: "cycle" };
const RUN = { op: "run", rate: 2 };

it("steps and runs while a pod can be popped", () => {
  expect(sentFor([], { active: 1 })).toEqual([STEP, RUN]);
  expect(sentFor([10.5], { active: 1 })).toEqual([STEP, RUN]);
  expect(sentFor([10.5], { popsFromBackoffQ: true })).toEqual([STEP, RUN]);
});

it("advances the clock to the end of a backoff if no pod can be popped, and runs the flush if the backoff has ended", () => {
  expect(sentFor([10.5])).toEqual([{ op: "advance", seconds: 0.5 }, { op: "advance", seconds: 0.5 }, RUN]);
  expect(sentFor([9.5])).toEqual([{ op: "advance", seconds: 0 }, { op: "advance", seconds: 0 }, RUN]);
});

it("steps in vain if pods wait only for a change in the cluster", () => {
  expect(sentFor([])).toEqual([STEP, RUN]);
});
