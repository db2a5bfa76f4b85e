import type { Queued, State } from "./state";

/** How often kube-scheduler moves pods whose backoff has ended to activeQ. Upstream: flushBackoffQCompleted */
const FLUSH_SECONDS = 1;

/** Pods that wait for their backoff. */
export interface BackoffWait {
  /** Pods in backoffQ and errorBackoffQ. In v1.36 those in backoffQ do not wait: an empty activeQ is filled from there. */
  pods: number;
  /** Virtual seconds until the next flush moves some of them; 0: their backoff has ended, and only the flush is missing. */
  seconds: number;
}

/**
 * How far the clock has to advance, because that of a session moves only on demand; null: no pod waits for a backoff. Pods whose backoff ends
 * within one period of the flush move together, as upstream.
 */
export function backoffWait({ queue, clockSeconds }: State): BackoffWait | null {
  const waiting: Queued[] = [...(queue.popsFromBackoffQ ? [] : queue.backoffQ.array), ...queue.errorBackoffQ.array];
  if (!waiting.length) return null;
  const ends = waiting.map(({ backoffExpirySeconds }) => Math.max(backoffExpirySeconds - clockSeconds, 0));
  const first = Math.min(...ends);
  return { pods: waiting.length, seconds: Math.max(...ends.filter((end) => end < first + FLUSH_SECONDS)) };
}

/** Whether the scheduler has nothing to do before the clock moves or the cluster changes. Upstream: v1.36 backoff_queue.go popBackoff */
export function hasNothingToSchedule({ queue, bindings, cycle }: State): boolean {
  const isQueueEmpty = queue.activeQ.size === 0 && !(queue.popsFromBackoffQ && queue.backoffQ.size);
  return isQueueEmpty && !bindings.length && (!cycle || Boolean(cycle.outcome));
}
