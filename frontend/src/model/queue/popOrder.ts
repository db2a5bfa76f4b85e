import { leavesActiveQBefore, type Queued } from "../state/state";

/** Why activeQ pops one pod before another. */
export interface Decision {
  by: "priority" | "timestamp" | "heap";
  /** The difference: in priority, or in seconds of waiting. */
  margin: number;
}

/**
 * The comparison that puts the first pod before the second; `heap`: they are equal, and the heap's layout decides.
 *
 * Upstream: plugins/queuesort/priority_sort.go Less.
 */
export function decisionBetween(first: Queued, second: Queued): Decision {
  if (first.priority !== second.priority) return { by: "priority", margin: first.priority - second.priority };
  if (first.timestampSeconds !== second.timestampSeconds) return { by: "timestamp", margin: second.timestampSeconds - first.timestampSeconds };
  return { by: "heap", margin: 0 };
}

/** The pod that activeQ pops second: the first of the head's children. */
export function secondOf([, left, right]: readonly Queued[]): Queued | null {
  if (!left || !right) return left ?? null;
  return leavesActiveQBefore(right, left) ? right : left;
}
