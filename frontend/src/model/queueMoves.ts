import type { AnyEvent } from "./generated";

export type QueueName = "activeQ" | "backoffQ" | "errorBackoffQ" | "unschedulablePods";

/** Pods that one event moved the same way. */
export interface MoveLine {
  event: number;
  atSeconds: number;
  /** Why, in upstream's words: a ClusterEvent's label, or what the scheduler did. */
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

/** What an event moved between the queues, grouped by the way taken. `pod`: that pod alone. */
export function moveLinesOf(event: AnyEvent, pod: string | null = null): MoveLine[] {
  if (event.t !== "queueMoved") return [];
  const lines = new Map<string, MoveLine & { pods: string[] }>();
  for (const move of event.moves ?? []) {
    if (pod !== null && move.pod !== pod) continue;
    const from = move.source ? NAMES[move.source] : null;
    const to = move.target ? NAMES[move.target] : null;
    // A pod that changes in place goes nowhere.
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
