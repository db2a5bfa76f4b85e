import type { PodState } from "../../model/generated";
import type { NodeInfo } from "../../model/state/nodeList";
import type { Queued, State } from "../../model/state/state";

/** The pod's location from the scheduler's perspective. */
export type PodLocation =
  | { in: "activeQ" | "backoffQ" | "errorBackoffQ" | "unschedulablePods"; entry: Queued }
  | { in: "cycle" }
  | { in: "cache"; podState: PodState }
  | { in: "nowhere" };

export function locationOf(state: State, pod: string): PodLocation {
  const { activeQ, backoffQ, errorBackoffQ, unschedulable } = state.queue;
  const active = activeQ.get(pod);
  if (active) return { in: "activeQ", entry: active };
  const backoff = backoffQ.get(pod);
  if (backoff) return { in: "backoffQ", entry: backoff };
  const failed = errorBackoffQ.get(pod);
  if (failed) return { in: "errorBackoffQ", entry: failed };
  const waiting = unschedulable.get(pod);
  if (waiting) return { in: "unschedulablePods", entry: waiting };
  const podState = state.podState(pod);
  if (podState) return { in: "cache", podState };
  if (state.cycle?.pod === pod && !state.cycle.outcome) return { in: "cycle" };
  return { in: "nowhere" };
}

/** How many pods wait outside of activeQ. */
export function waitingPods({ queue }: State): number {
  return queue.backoffQ.size + queue.errorBackoffQ.size + queue.unschedulable.size;
}

/** The number of pods in all queues. */
export function pendingPods(state: State | null): number {
  return state === null ? 0 : state.queue.activeQ.size + waitingPods(state);
}

export function nominatedNodeOf(state: State, pod: string): string | null {
  for (const [node, pods] of state.queue.nominated) if (pods.includes(pod)) return node;
  return null;
}

/** A NodeInfo in the cache and in the snapshot; the same object if they are equal. */
export interface TwoValues {
  cache: NodeInfo | null;
  snapshot: NodeInfo | null;
}

export function valuesOf(state: State, node: string): TwoValues {
  const cache = state.list.get(node) ?? null;
  if (!state.snapshot.nodeGenerations.has(node)) return { cache, snapshot: null };
  return { cache, snapshot: state.snapshot.stale.get(node) ?? cache };
}
