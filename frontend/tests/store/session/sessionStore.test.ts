import { readFileSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { AnyEvent, View } from "../../../src/model/generated";
import { observed } from "../../../src/model/state/observed";
import { State } from "../../../src/model/state/state";
import { EventBuffer } from "../../../src/model/timeline/eventBuffer";
import { SessionStore } from "../../../src/store/session/sessionStore.svelte";

interface Recording {
  view: View;
  events: AnyEvent[];
}

const { view, events } = JSON.parse(readFileSync(new URL("../../recordings/crowded.json", import.meta.url), "utf8")) as Recording;
const LAST = events[events.length - 1]!.event;
const TEXT = JSON.stringify(view);
const fresh = (): View => JSON.parse(TEXT) as View;

/** What the state is after an event, made by folding from the beginning. */
function expected(event: number): unknown {
  const buffer = new EventBuffer(State.of(fresh()));
  buffer.append(events);
  buffer.go(event);
  return observed(buffer.state);
}

class FakeSocket {
  static readonly OPEN = 1;
  static last: FakeSocket;
  readyState = 1;
  binaryType = "";
  readonly sent: { type: string; command?: { op: string } }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  constructor() {
    FakeSocket.last = this;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string });
  }
  close(code = 1000): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  deliver(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/** REST over the recording. Its only stored view is the first: what is asked for lies after it. */
const asked: string[] = [];
function serve(url: string): Response {
  const { pathname, searchParams } = new URL(url, "http://x");
  asked.push(`${pathname.split("/").at(-2)!}${searchParams.size ? `?${searchParams}` : ""}`);
  const json = (body: unknown): Response => new Response(JSON.stringify(body), { status: 200 });
  if (pathname.endsWith("/view/")) return json({ event: view.event, chunk: 0, firstEvent: view.event, view: fresh() });
  if (pathname.endsWith("/events/")) {
    const after = Number(searchParams.get("after"));
    return json({ results: events.filter(({ event }) => event > after).slice(0, Number(searchParams.get("limit") ?? 500)) });
  }
  if (pathname.endsWith("/cycles/")) {
    const ended = events.find((event) => event.t === "cycleEnded" && event.cycle === Number(searchParams.get("after")) + 1);
    return json({ results: ended ? [{ cycle: Number(searchParams.get("after")) + 1, lastEvent: ended.event }] : [] });
  }
  return json({});
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 40; i++) await new Promise((done) => setImmediate(done));
};

let store: SessionStore;
let chunk = 0;
const frame = (from: number, to: number): void => {
  chunk += 1;
  const some = events.filter(({ event }) => event > from && event <= to);
  FakeSocket.last.deliver({ type: "frame", chunk, firstChunk: chunk, event: to, events: some });
};

/** A page that has just come: the session is at the recording's beginning, or at its end. */
async function open(at: "beginning" | "end"): Promise<void> {
  chunk = 0;
  store = new SessionStore("s", () => new FakeSocket() as unknown as WebSocket);
  FakeSocket.last.onopen?.();
  if (at === "beginning") FakeSocket.last.deliver({ type: "view", chunk, event: view.event, view: fresh() });
  else {
    const after = (JSON.parse(readFileSync(new URL("../../recordings/crowded.json", import.meta.url), "utf8")) as { after: { view: View } }).after.view;
    FakeSocket.last.deliver({ type: "view", chunk, event: after.event, view: after });
  }
  await settle();
}

beforeEach(() => {
  vi.stubGlobal("location", { protocol: "http:", host: "x", search: "" });
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("fetch", (url: string) => Promise.resolve(serve(url)));
  // In a tab that is not seen messages wait for no frame: see framePace.test.ts.
  vi.stubGlobal("document", { querySelector: () => null, hidden: true });
  asked.length = 0;
});

afterEach(() => {
  store.close();
  vi.unstubAllGlobals();
});

describe("the shown moment", () => {
  it("follows live events", async () => {
    await open("beginning");
    frame(view.event, LAST);
    await settle();
    expect(store.event).toBe(LAST);
    expect(store.playback.waitingCount).toBe(0);
    expect(store.change.events.length).toBe(LAST - view.event);
  });

  it("moves back and forward over buffered events without requests", async () => {
    await open("beginning");
    frame(view.event, LAST);
    await settle();
    asked.length = 0;
    for (const unit of ["cycle", "stage", "mutation"] as const) {
      await store.playback.stepBack(unit);
      await settle();
      expect(observed(store.state!)).toEqual(expected(store.event));
    }
    const { event } = store;
    await store.playback.stepBack("cycle");
    store.controls.step("cycle");
    await settle();
    expect(store.event).toBeGreaterThanOrEqual(event);
    expect(asked).toEqual([]);
    expect(FakeSocket.last.sent.filter(({ type }) => type === "command")).toEqual([]);
  });

  it("stays in the past while new events are counted", async () => {
    await open("beginning");
    frame(view.event, 200);
    await settle();
    await store.playback.stepBack("cycle");
    const { event } = store;
    frame(200, LAST);
    await settle();
    expect(store.event).toBe(event);
    expect(store.playback.inThePast).toBe(true);
    expect(store.playback.waitingCount).toBe(LAST - event);
    expect(store.permalink.at).toBe(event);
    store.playback.follow();
    await Promise.resolve();
    expect(store.event).toBe(LAST);
    expect(observed(store.state!)).toEqual(expected(LAST));
  });

  it("is fetched with the events around it if it is not buffered", async () => {
    await open("end");
    await store.playback.seek(150);
    expect(store.event).toBe(150);
    expect(observed(store.state!)).toEqual(expected(150));
    asked.length = 0;
    await store.playback.stepBack("stage");
    store.controls.step("stage");
    store.controls.step("mutation");
    await settle();
    expect(asked).toEqual([]);
    store.playback.follow();
    await settle();
    expect(FakeSocket.last.readyState, "the newest state is asked for again").toBe(3);
  });

  it("can be stepped from far behind to the head, where a step moves the engine", async () => {
    await open("end");
    await store.playback.seek(view.event);
    for (let i = 0; i < 400 && store.playback.inThePast; i++) {
      store.controls.step("cycle");
      await settle();
    }
    expect(store.event).toBe(LAST);
    expect(observed(store.state!)).toEqual(expected(LAST));
    store.controls.step("cycle");
    expect(FakeSocket.last.sent.at(-1)?.command).toEqual({ op: "step", unit: "cycle" });
  });

  it("is the end of the cycle that a permalink names", async () => {
    chunk = 0;
    await open("end");
    store.goTo({ cycle: 3, select: { kind: "pod", name: "default/a" }, tab: "history" });
    await settle();
    expect(store.state!.cycle?.cycle).toBe(3);
    expect(store.state!.cycle?.outcome).not.toBe("");
    expect(store.permalink).toEqual({ at: store.event, select: { kind: "pod", name: "default/a" }, tab: "history" });
    store.goTo({ cycle: 99_999 });
    await settle();
    expect(store.notices.visible.at(-1)?.text).toContain("99999");
  });

  it("is that of a permalink, also if the first view is older", async () => {
    await open("beginning");
    store.goTo({ at: 150 });
    frame(view.event, 100);
    await settle();
    expect(store.event).toBeLessThan(100);
    frame(100, LAST);
    await settle();
    expect(store.event).toBe(150);
    expect(store.permalink.at).toBe(150);
    expect(observed(store.state!)).toEqual(expected(150));
  });

  it("is the end of the cycle of a permalink, also if the first view is older", async () => {
    await open("beginning");
    store.goTo({ cycle: 3 });
    await settle();
    frame(view.event, LAST);
    await settle();
    expect(store.state!.cycle?.cycle).toBe(3);
    expect(store.playback.waitingCount).toBe(LAST - store.event);
  });

  it("is the head if a permalink names an event that has not happened", async () => {
    await open("beginning");
    store.goTo({ at: LAST + 1000 });
    frame(view.event, LAST);
    FakeSocket.last.deliver({ type: "status", session: { status: "ready", event: LAST } });
    await settle();
    expect(store.event).toBe(LAST);
    expect(store.playback.inThePast).toBe(false);
  });

  it("is never before the first moment that the server has", async () => {
    await open("end");
    await store.playback.seek(0);
    expect(store.event).toBe(view.event);
    await store.playback.stepBack();
    expect(store.event).toBe(view.event);
  });
});

describe("steps of the engine", () => {
  it("by mutation show the events of one engine step one by one", async () => {
    await open("beginning");
    store.controls.step("mutation");
    frame(view.event, 60);
    await settle();
    expect(store.event).toBeLessThan(60);
    expect(store.playback.inThePast).toBe(true);
    expect(store.head.event).toBe(60);
    const { event } = store;
    store.controls.step("mutation");
    await settle();
    expect(store.event).toBeGreaterThan(event);
    expect(FakeSocket.last.sent.filter(({ type }) => type === "command")).toHaveLength(1);
  });
});

describe("the head", () => {
  it("has the stage before which a command would apply", async () => {
    await open("beginning");
    const filtered = events.find((event) => event.t === "stageEnded" && event.stage === "PreFilter")!;
    frame(view.event, filtered.event);
    await settle();
    expect(store.head.nextStage).toBe("Filter");
    expect(store.head.cycle).toBe(store.state!.cycle!.cycle);
  });
});
