import { expect, it } from "vitest";

import type { AnyCommand } from "../../../src/model/generated";
import { TransportControls } from "../../../src/store/session/transportControls";

/** The commands that a step and then a start of play send at 10 s, by the expiries of the backoffs in backoffQ and in errorBackoffQ. */
function sentFor(expiries: number[], { popsFromBackoffQ = false, active = 0, errors = [] as number[] } = {}): AnyCommand[] {
  const sent: AnyCommand[] = [];
  const queue = {
    activeQ: { size: active },
    backoffQ: { size: expiries.length, array: expiries.map((backoffExpirySeconds) => ({ backoffExpirySeconds })) },
    errorBackoffQ: { size: errors.length, array: errors.map((backoffExpirySeconds) => ({ backoffExpirySeconds })) },
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

it("step and play send step and run while a pod can be popped", () => {
  expect(sentFor([], { active: 1 })).toEqual([STEP, RUN]);
  expect(sentFor([10.5], { active: 1 })).toEqual([STEP, RUN]);
  expect(sentFor([10.5], { popsFromBackoffQ: true })).toEqual([STEP, RUN]);
});

it("step and play advance the clock to the end of a backoff if no pod can be popped, or by 0 s if it has ended", () => {
  expect(sentFor([10.5])).toEqual([{ op: "advance", seconds: 0.5 }, { op: "advance", seconds: 0.5 }, RUN]);
  expect(sentFor([9.5])).toEqual([{ op: "advance", seconds: 0 }, { op: "advance", seconds: 0 }, RUN]);
});

it("step and play advance to the end of the second in which backoffs of v1.36 expire", () => {
  const advance = (seconds: number): AnyCommand[] => [{ op: "advance", seconds }, { op: "advance", seconds }, RUN as AnyCommand];

  expect(sentFor([], { popsFromBackoffQ: true, errors: [10, 11] })).toEqual(advance(1));
  expect(sentFor([], { popsFromBackoffQ: true, errors: [9] })).toEqual(advance(0));
  expect(sentFor([], { errors: [10.5] })).toEqual(advance(0.5));
});

it("step and play send step and run if pods wait only for a change in the cluster", () => {
  expect(sentFor([])).toEqual([STEP, RUN]);
});

it("each use of the controls is reported, also where the engine may not be run", () => {
  let uses = 0;
  const controls = new TransportControls({
    playback: { unit: "cycle", inThePast: false, pause: () => undefined, stepBack: () => Promise.resolve() },
    mayRun: false,
  } as unknown as ConstructorParameters<typeof TransportControls>[0]);
  controls.onuse = () => { uses += 1; };
  controls.step();
  controls.stepBack();
  controls.togglePlay();
  expect(uses).toBe(3);
});
