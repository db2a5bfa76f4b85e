import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { fold } from "../../../src/model/state/fold";
import type { AnyEvent, View } from "../../../src/model/generated";
import { observed } from "../../../src/model/state/observed";
import { State } from "../../../src/model/state/state";
import { EventBuffer } from "../../../src/model/timeline/eventBuffer";

interface Recording {
  view: View;
  events: AnyEvent[];
}

/** JSON of members in the order of their names: a map that lost and got back an entry has it elsewhere, and nobody sees where. */
function inOrderOfNames(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Everything that a page draws, in the order in which it draws it. */
function drawn(state: State): unknown {
  const { list, queue, snapshot, cycle, bindings, lastWalk, event, clockSeconds, api, nodeTree, assumed } = state;
  return JSON.parse(
    inOrderOfNames({
      observed: observed(state),
      links: list.toArray(),
      activeQ: queue.activeQ.array,
      backoffQ: queue.backoffQ.array,
      unschedulable: [...queue.unschedulable],
      nominated: [...queue.nominated],
      stale: [...snapshot.stale].sort(([a], [b]) => (a < b ? -1 : 1)),
      assumed: [...assumed].sort(),
      walk: lastWalk && [...lastWalk.visited],
      zones: nodeTree.zones,
      objects: [...api.objects].sort(),
      moment: [cycle, bindings, event, clockSeconds, state.exited, state.nextStartNodeIndex, api.inFlight],
    }),
  );
}

describe.each(["everyday", "changes", "crowded"])("the recording %s", (name) => {
  const { view, events } = JSON.parse(readFileSync(new URL(`../../recordings/${name}.json`, import.meta.url), "utf8")) as Recording;

  it("has the same state at every moment, whether it is reached forward or backward", () => {
    const buffer = new EventBuffer(State.of(view));
    buffer.append(events);
    const moments: string[] = [];
    // Of a long recording not every moment is looked at, but every event is taken back.
    const stride = Math.ceil(events.length / 150);
    const seen = (event: number): boolean => (event - buffer.first) % stride === 0;
    for (let event = buffer.first; event <= buffer.last; event++) {
      buffer.go(event);
      if (seen(event) || event === buffer.last || event === Math.floor((buffer.first + buffer.last) / 2)) moments[event] = JSON.stringify(drawn(buffer.state));
    }
    for (let event = buffer.last; event >= buffer.first; event--) {
      buffer.go(event);
      if (seen(event)) expect(JSON.stringify(drawn(buffer.state)) === moments[event], `event ${event}`).toBe(true);
    }
    for (const event of [buffer.last, buffer.first, Math.floor((buffer.first + buffer.last) / 2), buffer.last]) {
      buffer.go(event);
      expect(JSON.stringify(drawn(buffer.state)) === moments[event], `event ${event}`).toBe(true);
    }
  });

  it("has the state that folding its events gives", () => {
    const buffer = new EventBuffer(State.of(view));
    buffer.append(events);
    buffer.go(buffer.last);
    buffer.go(buffer.first + 40);
    buffer.go(buffer.last);
    const state = State.of(view);
    for (const event of events) fold(state, event);
    expect(drawn(buffer.state)).toEqual(drawn(state));
  });

  it("is buffered up to a limit, and the buffer refuses events after a gap", () => {
    const buffer = new EventBuffer(State.of(view), { behind: 40_000, ahead: 40_000 });
    let next = 0;
    while (next < events.length) {
      const came = events.slice(next, next + 10);
      expect(buffer.append(came)).toBe(true);
      buffer.go(buffer.last);
      next += 10;
    }
    expect(buffer.last).toBe(events[events.length - 1]!.event);
    expect(buffer.last - buffer.first).toBeLessThan(100);
    buffer.go(0);
    expect(buffer.event).toBe(buffer.first);
    expect(buffer.append([{ ...events[0]!, event: buffer.last + 2 }])).toBe(false);
  });
});

describe("events that arrive while the page shows an earlier moment", () => {
  it("are buffered up to the limit", () => {
    const buffer = new EventBuffer(new State(), { behind: 10_000, ahead: 10_000 });
    let event = 0;
    const came = (): AnyEvent => ({ t: "clockAdvanced", event: ++event, at: event }) as unknown as AnyEvent;
    while (buffer.append([came()]));
    expect(buffer.last).toBe(event - 1);
    expect(buffer.event).toBe(0);
  });
});
