import type { AnyEvent, QueueMove } from "../generated";

/** The lanes of the timeline, from the top. */
export const LANES = ["cycles", "preemption", "queue", "binding", "nodes"] as const;
export type Lane = (typeof LANES)[number];

/** The kinds of marks on each lane, the nearest to being scheduled first. `left`: the pod departed from the queue without being popped, for example because it was deleted. */
export const KINDS: Record<Lane, readonly string[]> = {
  cycles: ["scheduled", "unschedulable", "error", "skipped"],
  preemption: ["nominated", "victim", "failed"],
  queue: ["Pop", "activeQ", "backoffQ", "errorBackoffQ", "unschedulable", "left"],
  binding: ["confirmed", "failed", "lost"],
  nodes: ["add", "update", "remove"],
};

/** A mark on the timeline. */
export interface Mark {
  event: number;
  at: number;
  lane: Lane;
  /** One of the lane's KINDS, or a kind of a newer server. */
  kind: string;
  /** The pod or node concerned. */
  subject: string;
}

/** Makes marks from events in order: the end of a cycle does not name its pod, its beginning does. */
export class Marker {
  private podOfCycle = "";

  markOf(event: AnyEvent): Mark | null {
    const mark = (lane: Lane, kind: string, subject: string): Mark => ({ event: event.event, at: event.at, lane, kind, subject });
    switch (event.t) {
      case "cycleStarted":
        this.podOfCycle = event.pod;
        return null;
      case "cycleEnded":
        return mark("cycles", event.outcome, this.podOfCycle);
      case "podNominated":
        return event.node ? mark("preemption", "nominated", event.pod) : null;
      case "apiWritten":
        return event.byScheduler && event.verb === "delete" && event.kind === "Pod" && !event.error ? mark("preemption", "victim", event.key) : null;
      case "preemptionStageEnded":
        return event.error ? mark("preemption", "failed", event.victim || event.preemptor) : null;
      case "queueMoved": {
        const first = event.moves?.[0];
        return first ? mark("queue", queueKindOf(first), first.pod) : null;
      }
      case "bindingEnded":
        return mark("binding", event.outcome, event.pod);
      case "cacheNode":
        return mark("nodes", event.op, event.node);
      default:
        return null;
    }
  }

  marksOf(events: readonly AnyEvent[]): Mark[] {
    return events.map((event) => this.markOf(event)).filter((mark) => mark !== null);
  }
}

function queueKindOf({ popped, target }: QueueMove): string {
  return popped && !target ? "Pop" : (target ?? "left");
}

/** The index of the first mark at or after an event. */
export function firstMark(marks: readonly Mark[], event: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]!.event < event) low = middle + 1;
    else high = middle;
  }
  return low;
}
