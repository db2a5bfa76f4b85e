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

  clear(since: number): void {
    this.marks = [];
    this.since = since;
  }

  add(event: AnyEvent, pod: string): void {
    const mark = markOf(event, pod);
    if (!mark) return;
    this.marks.push(mark);
    if (this.marks.length > LONGEST) {
      this.marks = this.marks.slice(LONGEST / 4);
      this.since = this.marks[0]!.event - 1;
    }
  }
}

/** `pod` is the pod of the running cycle: an end of a cycle does not name it. */
function markOf(event: AnyEvent, pod: string): Mark | null {
  const mark = (lane: Lane, kind: string, subject: string): Mark => ({ event: event.event, at: event.at, lane, kind, subject });
  switch (event.t) {
    case "cycleEnded":
      return mark("cycles", event.outcome, pod);
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
