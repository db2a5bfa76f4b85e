import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { brushed, clamped, clockDigits, clockTicks, emptyLanes, eventAt, isOnPlayhead, layoutTimeline, markAt, panned, MIN_WINDOW_EVENTS, xOf, zoomed } from "../../../src/layout/timeline";
import { failuresIn } from "../../../src/model/timeline/failures";
import type { AnyEvent } from "../../../src/model/generated";
import { NO_FILTER, matches, withKinds } from "../../../src/model/timeline/markFilter";
import { LEAD, MarkPages, PAGE } from "../../../src/model/timeline/markPages";
import { Marker, type Mark } from "../../../src/model/timeline/marks";
import { Tallies, type Tally } from "../../../src/model/timeline/tallies";
import { textOfMarks, textOfTally } from "../../../src/views/transport/hoverText";
import { Scrubbing } from "../../../src/views/transport/scrubbing.svelte";

const { events } = JSON.parse(readFileSync(new URL("../../recordings/crowded.json", import.meta.url), "utf8")) as { events: AnyEvent[] };
const marks = new Marker().marksOf(events);

describe("marks", () => {
  it("name the pod of each cycle that ended", () => {
    const cycles = marks.filter((mark) => mark.lane === "cycles");
    expect(cycles).toHaveLength(events.filter((event) => event.t === "cycleEnded").length);
    expect(cycles.every((mark) => mark.subject.includes("/"))).toBe(true);
  });

  it("are filtered by kind and by words, which a minus excludes", () => {
    const mark = (subject: string, kind = "scheduled"): Mark => ({ event: 1, at: 0, lane: "cycles", kind, subject });
    const wanted = matches({ ...withKinds(NO_FILTER, ["cycles/error"], false), words: "web -canary" });
    expect(wanted(mark("default/web-1"))).toBe(true);
    expect(wanted(mark("default/web-1", "error"))).toBe(false);
    expect(wanted(mark("default/web-canary"))).toBe(false);
    expect(wanted(mark("default/api"))).toBe(false);
    expect(withKinds(withKinds(NO_FILTER, ["a"], false), ["a"], true).hidden.size).toBe(0);
  });
});

/** Events as a server gives them: 10,000, of which every fifth ends a cycle. */
const long = Array.from({ length: 10_000 }, (_, i): AnyEvent => {
  const event = i + 1;
  const t = event % 5 === 1 ? "cycleStarted" : event % 5 === 0 ? "cycleEnded" : "clockAdvanced";
  return { t, event, at: event / 100, pod: `default/p${event}`, outcome: "scheduled" } as unknown as AnyEvent;
});
const served = (page: number): AnyEvent[] => long.slice(Math.max(0, page * PAGE - LEAD), (page + 1) * PAGE);

describe("pages of marks", () => {
  it("are requested where they are unknown, and continue with live events", () => {
    const pages = new MarkPages();
    pages.add(long.slice(4_500, 4_600));
    expect(pages.missing(3_900, 4_600, 4_600)).toEqual([3, 4]);
    for (const page of pages.missing(3_900, 4_600, 4_600)) pages.load(page, served(page).filter(({ event }) => event <= 4_600));
    expect(pages.missing(3_900, 4_600, 4_600)).toEqual([]);
    const between = pages.between(3_900, 4_600);
    expect(between.map((mark) => mark.event)).toEqual(long.slice(3_899, 4_600).filter(({ t }) => t === "cycleEnded").map(({ event }) => event));
    expect(between[0]!.subject, "its cycle began on the page before").toBe("default/p3896");
  });

  it("are requested again if they were incomplete", () => {
    const pages = new MarkPages();
    pages.load(0, long.slice(0, 300));
    expect(pages.missing(1, 300, 300)).toEqual([]);
    expect(pages.missing(1, 900, 900)).toEqual([0]);
    pages.add(long.slice(300, 900));
    expect(pages.missing(1, 900, 900)).toEqual([]);
    pages.interrupt();
    expect(pages.missing(1, 2_500, 2_500)).toEqual([0, 1, 2]);
  });

  it("are dropped above a limit", () => {
    const pages = new MarkPages();
    for (let page = 0; page < 40; page++) pages.load(page, [{ ...long[4]!, event: page * PAGE + 1 }]);
    expect(pages.between(1, 40_000).length).toBeLessThanOrEqual(24);
  });
});

describe("tallies", () => {
  it("count what the marks count, in a limited number of ranges", () => {
    const tallies = new Tallies();
    for (let i = 0; i < long.length; i += 37) tallies.add(long.slice(i, i + 37));
    expect(tallies.list.length).toBeLessThanOrEqual(800);
    expect(tallies.list.reduce((sum, tally) => sum + tally.cycles, 0)).toBe(2_000);
    tallies.list.slice(1).forEach((tally, i) => {
      expect(tally.firstEvent).toBe(tallies.list[i]!.event + 1);
    });
  });

  it("skip events that the server has counted", () => {
    const tallies = new Tallies();
    tallies.add(long.slice(0, 100));
    const [first] = tallies.list;
    tallies.load([{ ...first!, firstEvent: 1, event: 100, cycles: 20 }]);
    tallies.add(long.slice(50, 110));
    expect(tallies.list.reduce((sum, tally) => sum + tally.cycles, 0)).toBe(22);
  });
});

describe("failures", () => {
  const tally = (firstEvent: number, event: number, counts: Partial<Tally>): Tally => ({
    ...{ firstEvent, event, clockSeconds: 1, cycles: 9, scheduled: 9, unschedulable: 0, errors: 0, preempted: 0, bound: 9, podMoves: 9, nodeChanges: 0 },
    ...counts,
  });
  const mark = (event: number, subject: string, kind: string, lane: Mark["lane"] = "cycles"): Mark => ({ event, at: event / 10, lane, kind, subject });

  it("are failed cycles and bindings, or ranges with at least one", () => {
    const marks = [mark(1, "default/a", "scheduled"), mark(2, "default/b", "unschedulable"), mark(3, "default/a", "lost", "binding"), mark(4, "n", "remove", "nodes")];
    expect(failuresIn(marks, [])).toEqual([
      { event: 2, isError: false },
      { event: 3, isError: true },
    ]);
    expect(failuresIn(null, [tally(1, 100, {}), tally(101, 200, { cycles: 5_000, unschedulable: 1 })])).toEqual([{ event: 151, isError: false }]);
  });

  it("come first in the tooltip, with the names of their pods", () => {
    const few = [mark(101, "default/a", "scheduled"), mark(110, "default/giant", "unschedulable"), mark(112, "default/b", "scheduled")];
    const text = textOfTally(tally(101, 200, { scheduled: 2, unschedulable: 1 }), few);
    expect(text.lines.slice(1, 3)).toEqual([
      { text: "cycle of giant: unschedulable", failed: true },
      { text: "cycle of a: scheduled", failed: false },
    ]);
    expect(textOfTally(tally(101, 200, {}), null).lines).toHaveLength(1);
    expect(textOfMarks(Array.from({ length: 9 }, (_, i) => mark(7, `default/p${i}`, "scheduled"))).lines).toHaveLength(7);
  });
});

describe("the playhead", () => {
  const layout = layoutTimeline(1_000, 76, { first: 0, last: 100 }, { first: 0, last: 100 });
  const middle = layout.area.y + layout.area.h / 2;

  it("can be dragged at its line, and anywhere on the clock", () => {
    expect(isOnPlayhead(layout, 50, xOf(layout, 50) + 5, middle)).toBe(true);
    expect(isOnPlayhead(layout, 50, xOf(layout, 50) + 30, middle)).toBe(false);
    expect(isOnPlayhead(layout, 50, xOf(layout, 90), layout.clock.y + 3)).toBe(true);
    expect(isOnPlayhead(layout, 50, 20, layout.clock.y + 3), "the names of the lanes").toBe(false);
  });

  it("shows the last moment that it was dragged to, and skips those that a running request delays", async () => {
    const sought: number[] = [];
    let arrive = (): void => undefined;
    const scrubbing = new Scrubbing({
      seek(event) {
        sought.push(event);
        return new Promise((resolve) => { arrive = resolve; });
      },
    });
    for (const event of [10, 20, 30]) scrubbing.to(event);
    arrive();
    await Promise.resolve();
    await Promise.resolve();
    expect(sought).toEqual([10, 30]);
  });
});

describe("the timeline's window", () => {
  const whole = { first: 0, last: 10_000 };

  it("is marked in a strip with the whole session, unless the lanes show all of it", () => {
    const part = layoutTimeline(1_000, 76, { first: 200, last: 700 }, whole);
    expect(part.overview.h).toBeGreaterThan(0);
    expect(part.area.y).toBeGreaterThan(part.overview.h);
    expect(isOnPlayhead(part, 500, xOf(part, 500), part.overview.y + 3)).toBe(false);
    const all = layoutTimeline(1_000, 76, whole, whole);
    expect([all.overview.h, all.area.y, all.clock]).toEqual([0, 0, part.clock]);
    expect(all.lanes.nodes.h).toBeGreaterThan(part.lanes.nodes.h);
  });

  it("maps events to positions and back", () => {
    const layout = layoutTimeline(1_000, 76, { first: 200, last: 700 }, whole);
    for (const event of [200, 333, 700]) expect(eventAt(layout, xOf(layout, event))).toBe(event);
    const mark: Mark = { event: 333, at: 1, lane: "queue", kind: "Pop", subject: "default/a" };
    expect(markAt(layout, [mark], xOf(layout, 333) - 2, layout.lanes.queue.y + 3)).toBe(mark);
    expect(markAt(layout, [mark], xOf(layout, 333) - 2, layout.lanes.cycles.y + 3)).toBeNull();
  });

  it("zooms around an event, and stays within the session", () => {
    const near = zoomed({ first: 200, last: 700 }, whole, 0.5, 300);
    expect(near).toEqual({ first: 250, last: 500 });
    expect(zoomed(near, whole, 1e6, 300)).toEqual(whole);
    const nearest = zoomed(near, whole, 1e-6, 300);
    expect(nearest.last - nearest.first).toBe(MIN_WINDOW_EVENTS);
    expect(panned(near, whole, -9_999)).toEqual({ first: 0, last: 250 });
    expect(panned(near, whole, 99_999)).toEqual({ first: 9_750, last: 10_000 });
    expect(clamped({ first: -50, last: 99_999 }, whole)).toEqual(whole);
    expect(brushed(4_000, 4_002, whole)).toEqual({ first: 3_991, last: 4_011 });
    expect(brushed(5_000, 4_000, whole)).toEqual({ first: 4_000, last: 5_000 });
  });

  it("labels folded idle time, the longest first, without overlaps", () => {
    const layout = layoutTimeline(1_000, 76, { first: 0, last: 400 }, whole);
    const times = Array.from({ length: 400 }, (_, i) => ({ event: i + 1, seconds: i * 0.001 + (i > 200 ? 300 : 0) + (i > 205 ? 2 : 0), exact: true }));
    const ticks = clockTicks(layout, times);
    expect(ticks.filter((tick) => tick.idleSeconds).map((tick) => Math.round(tick.idleSeconds))).toEqual([300]);
    for (let i = 1; i < ticks.length; i++) expect(ticks[i]!.x - ticks[i - 1]!.x).toBeGreaterThanOrEqual(ticks[i - 1]!.idleSeconds ? 184 : 96);
  });

  it("puts the label of idle time before its mark at the right edge", () => {
    const layout = layoutTimeline(1_000, 76, { first: 0, last: 100 }, { first: 0, last: 100 });
    const times = [{ event: 1, seconds: 0, exact: true }, { event: 20, seconds: 0, exact: true }, { event: 21, seconds: 60, exact: true }, { event: 98, seconds: 60, exact: true }, { event: 99, seconds: 90, exact: true }];
    const folds = clockTicks(layout, times).filter((tick) => tick.idleSeconds > 0);
    expect(folds.map((tick) => tick.isBefore)).toEqual([false, true]);
    for (const tick of clockTicks(layout, times)) if (!folds.includes(tick)) expect(tick.x + 96 <= folds[1]!.x - 184 || tick.x >= folds[1]!.x).toBe(true);
  });
});

describe("the decimals of the clock's labels", () => {
  const digitsOf = (...seconds: number[]): number => clockDigits(seconds.map((each) => ({ x: 0, seconds: each, idleSeconds: 0, isBefore: false })));

  it("are as few as distinguish them", () => {
    expect(digitsOf(0.001, 0.002, 0.003)).toBe(3);
    expect(digitsOf(0.001, 0.0012)).toBe(4);
    expect(digitsOf(1, 31)).toBe(1);
  });

  it("round no time to another millisecond than that of the clock", () => {
    expect(digitsOf(0.004, 1.009)).toBe(3);
    expect(digitsOf(1.5, 90.0123)).toBe(1);
  });

  it("do not follow the rounding of sums", () => {
    expect(digitsOf(0.1 + 0.2, 0.3, 0.4)).toBe(1);
    expect(digitsOf(0.002, 0.0029999999999)).toBe(3);
  });
});

describe("the lanes on which nothing has happened", () => {
  const whole = { first: 0, last: 100 };

  it("are folded, and the others share their height and a lower timeline", () => {
    const [all, some] = [layoutTimeline(1_000, 76, whole, whole), layoutTimeline(1_000, 76, whole, whole, new Set(["preemption", "nodes"] as const))];
    expect(some.height).toBeLessThan(all.height);
    expect(some.lanes.preemption.h).toBe(0);
    expect(some.lanes.queue.y).toBe(some.lanes.cycles.y + some.lanes.cycles.h);
    expect(some.lanes.cycles.h).toBeGreaterThan(all.lanes.cycles.h);
    expect(some.clock.y).toBeGreaterThanOrEqual(some.area.y + some.area.h);
  });

  it("are known from the marks, or from the tallies of a session with too many marks", () => {
    expect(emptyLanes([{ lane: "nodes" }, { lane: "cycles" }], [])).toEqual(new Set(["preemption"]));
    expect(emptyLanes(null, [{ preempted: 2, nodeChanges: 0 }])).toEqual(new Set(["nodes"]));
    expect(emptyLanes(null, [])).toEqual(new Set());
  });
});
