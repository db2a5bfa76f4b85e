import type { AnyEvent, CachePod, QueueMoved } from "../generated";
import type { QueueName } from "../queue/queueMoves";

/** A place on the page where a pod can be. */
export type Station =
  | { at: "queue"; name: QueueName }
  | { at: "cycle" }
  | { at: "node"; name: string }
  /** The API server, and the informers at the other end of its watches. */
  | { at: "api" }
  | { at: "informers" };

/** How a moving pod is drawn: queued, assumed, bound according to the API server, or failed or deleted. */
export type PodStyle = "queued" | "assumed" | "added" | "failed";

export interface Leg {
  from: Station;
  to: Station;
  style: PodStyle;
}

/** The path of a pod between panels. `count`: the number of pods that take the same path together. */
export interface Movement {
  pod: string;
  count: number;
  legs: readonly Leg[];
}

const QUEUES = { activeQ: "activeQ", backoffQ: "backoffQ", errorBackoffQ: "errorBackoffQ", unschedulable: "unschedulablePods" } as const;

/**
 * The paths of the pods that events moved, in order. `events` are in the order in which they were applied or, with
 * `back`, reverted: then all paths are reversed.
 */
export function movementsOf(events: readonly AnyEvent[], back: boolean): Movement[] {
  const paths = new Map<string, Leg[]>();
  for (const event of events)
    for (const [pod, leg] of legsOf(event, paths)) {
      const path = paths.get(pod) ?? [];
      path.push(back ? { from: leg.to, to: leg.from, style: leg.style } : leg);
      paths.set(pod, path);
    }
  return together(paths);
}

function legsOf(event: AnyEvent, paths: ReadonlyMap<string, readonly Leg[]>): [string, Leg][] {
  switch (event.t) {
    case "queueMoved":
      return queueLegs(event, paths);
    case "cachePod":
      return cacheLegs(event);
    case "apiWritten":
      if (event.subresource !== "binding" || event.error || !event.detail) return [];
      return [[event.key, { from: { at: "node", name: event.detail }, to: { at: "api" }, style: "assumed" }]];
    default:
      return [];
  }
}

function queueLegs(event: QueueMoved, paths: ReadonlyMap<string, readonly Leg[]>): [string, Leg][] {
  return (event.moves ?? []).flatMap(({ pod, source, target, popped }): [string, Leg][] => {
    const from: Station | null = source ? { at: "queue", name: QUEUES[source] } : null;
    if (popped && from && !target) return [[pod, { from, to: { at: "cycle" }, style: "queued" }]];
    if (!target || source === target) return [];
    const to: Station = { at: "queue", name: QUEUES[target] };
    if (from) return [[pod, { from, to, style: "queued" }]];
    if (event.cause !== "ScheduleAttemptFailure") return [[pod, { from: { at: "informers" }, to, style: "queued" }]];
    // After a failed binding the pod comes from its node, after a failed cycle from the cycle.
    const last = paths.get(pod)?.at(-1)?.to;
    return [[pod, { from: last?.at === "node" ? last : { at: "cycle" }, to, style: "failed" }]];
  });
}

function cacheLegs(event: CachePod): [string, Leg][] {
  const name = event.nodes?.[0]?.node ?? event.state?.node;
  if (!name) return [];
  const node: Station = { at: "node", name };
  switch (event.op) {
    case "assume":
      return [[event.pod, { from: { at: "cycle" }, to: node, style: "assumed" }]];
    case "add":
      return [[event.pod, { from: { at: "informers" }, to: node, style: "added" }]];
    case "remove":
      return [[event.pod, { from: node, to: { at: "api" }, style: "failed" }]];
    default:
      return [];
  }
}

/** Pods with the same path share one animation: a flush moves hundreds. */
function together(paths: ReadonlyMap<string, readonly Leg[]>): Movement[] {
  const movements = new Map<string, Movement>();
  for (const [pod, legs] of paths) {
    const key = JSON.stringify(legs);
    const existing = movements.get(key);
    movements.set(key, existing ? { ...existing, count: existing.count + 1 } : { pod, count: 1, legs });
  }
  return [...movements.values()];
}

/** How its node draws a pod after `done` legs: not yet, as assumed, or, null, as it is. */
export function appearanceOf(legs: readonly Leg[], done: number): "away" | "assumed" | null {
  const arrivals = legs.slice(done).filter((leg) => leg.to.at === "node");
  if (arrivals.length === 0) return null;
  if (arrivals.some((leg) => leg.style === "assumed")) return "away";
  return legs.some((leg) => leg.style === "assumed") ? "assumed" : "away";
}

/** A shorter leg is not visible. */
const MIN_LEG_MILLIS = 80;

/**
 * The duration of each leg, and how many legs of a path can be animated, within `millis` in total and at most `maxLegMillis` each.
 * No legs: there is no time at all.
 */
export function paceOf(legs: number, maxLegMillis: number, millis: number): { legs: number; millis: number } {
  if (maxLegMillis <= 0 || legs === 0) return { legs: 0, millis: 0 };
  const fitting = Math.min(legs, Math.floor(millis / MIN_LEG_MILLIS));
  return fitting === 0 ? { legs: 0, millis: 0 } : { legs: fitting, millis: Math.min(maxLegMillis, millis / fitting) };
}
