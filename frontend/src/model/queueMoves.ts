import type { AnyEvent } from "./generated";

export type QueueName = "activeQ" | "backoffQ" | "errorBackoffQ" | "unschedulablePods";

/** Pods that one event moved in the same way. */
export interface MoveLine {
  event: number;
  atSeconds: number;
  /** The cause, in upstream's words: a ClusterEvent's label, or an operation of the scheduler. */
  cause: string;
  from: QueueName | null;
  to: QueueName | null;
  popped: boolean;
  count: number;
  /** The first of them. */
  pods: readonly string[];
}

const SHOWN = 3;
const NAMES = { activeQ: "activeQ", backoffQ: "backoffQ", errorBackoffQ: "errorBackoffQ", unschedulable: "unschedulablePods" } as const;

/** The moves of an event between the queues, grouped by source and destination. `pod`: of this pod alone. */
export function moveLinesOf(event: AnyEvent, pod: string | null = null): MoveLine[] {
  if (event.t !== "queueMoved") return [];
  const lines = new Map<string, MoveLine & { pods: string[] }>();
  for (const move of event.moves ?? []) {
    if (pod !== null && move.pod !== pod) continue;
    const from = move.source ? NAMES[move.source] : null;
    const to = move.target ? NAMES[move.target] : null;
    // A pod that is updated in place does not move.
    if (from === to) continue;
    const key = `${from}>${to}`;
    const line = lines.get(key) ?? { event: event.event, atSeconds: event.at, cause: event.cause, from, to, popped: false, count: 0, pods: [] };
    line.count += 1;
    line.popped ||= move.popped ?? false;
    if (line.pods.length < SHOWN) line.pods.push(move.pod);
    lines.set(key, line);
  }
  return [...lines.values()];
}
