import type { AnyEvent } from "./generated";

/** The lanes of the timeline, from the top. */
export const LANES = ["cycles", "queue", "cache", "api"] as const;
export type Lane = (typeof LANES)[number];

/** One mark on the timeline. `kind` decides its colour: an outcome, a queue, an operation or a verb. */
export interface Mark {
  event: number;
  at: number;
  lane: Lane;
  kind: string;
  /** What the mark is about: a pod, a node, an object. */
  subject: string;
}

const LONGEST = 60_000;

/** What happened since the page has come (and what it was told of before), as marks in order of event. */
export class History {
  marks: Mark[] = [];
  /** The event before the first that is known. */
  since = 0;
  /** An end of a cycle does not name its pod. */
  private podOfCycle = "";

  clear(since: number): void {
    this.marks = [];
    this.since = since;
  }

  /** Events from before `since`, without a gap. */
  prepend(events: readonly AnyEvent[]): void {
    const first = events[0];
    if (!first) return;
    const later = this.marks;
    const podOfCycle = this.podOfCycle;
    this.marks = [];
    for (const event of events) this.add(event);
    this.marks.push(...later);
    if (later.length) this.podOfCycle = podOfCycle;
    this.since = first.event - 1;
  }

  add(event: AnyEvent): void {
    if (event.t === "cycleStarted") this.podOfCycle = event.pod;
    const mark = markOf(event, this.podOfCycle);
    if (!mark) return;
    this.marks.push(mark);
    if (this.marks.length > LONGEST) {
      this.marks = this.marks.slice(LONGEST / 4);
      this.since = this.marks[0]!.event - 1;
    }
  }
}

function markOf(event: AnyEvent, podOfCycle: string): Mark | null {
  const mark = (lane: Lane, kind: string, subject: string): Mark => ({ event: event.event, at: event.at, lane, kind, subject });
  switch (event.t) {
    case "cycleEnded":
      return mark("cycles", event.outcome, podOfCycle);
    case "queueMoved": {
      const first = event.moves?.[0];
      return first ? mark("queue", first.popped ? "Pop" : (first.target ?? "left"), first.pod) : null;
    }
    case "cachePod":
      return mark("cache", event.op, event.pod);
    case "cacheNode":
      return mark("cache", event.op, event.node);
    case "apiWritten":
      return mark("api", event.error ? "error" : event.verb, event.key);
    default:
      return null;
  }
}
