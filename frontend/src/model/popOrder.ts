import type { Queued } from "./state";

/** Why a pod leaves activeQ before another. */
export interface Decision {
  by: "priority" | "timestamp" | "heap";
  /** What the first has more of: points of priority, or seconds of waiting. */
  margin: number;
}

/**
 * The comparison that puts the first before the second; by `heap` where both are equal and the layout of the heap decides.
 *
 * Upstream: plugins/queuesort/priority_sort.go Less.
 */
export function decisionBetween(first: Queued, second: Queued): Decision {
  if (first.priority !== second.priority) return { by: "priority", margin: first.priority - second.priority };
  if (first.timestampSeconds !== second.timestampSeconds) return { by: "timestamp", margin: second.timestampSeconds - first.timestampSeconds };
  return { by: "heap", margin: 0 };
}
