import type { Queued, State } from "../state/state";

/** How often kube-scheduler moves pods whose backoff has ended to activeQ. Upstream: flushBackoffQCompleted */
const FLUSH_SECONDS = 1;

/** With SchedulerPopFromBackoffQ a pod backs off also during the second that begins at its expiry. Upstream: backoffQOrderingWindowDuration */
const ORDERING_WINDOW_SECONDS = 1;

/** Pods that wait for their backoff. */
export interface BackoffWait {
  /** Pods in backoffQ and errorBackoffQ. With SchedulerPopFromBackoffQ those in backoffQ do not wait: `pop` takes them when activeQ is empty. */
  pods: number;
  /** Virtual seconds until the next flush moves some of them; 0: their backoff has ended, and only the flush is missing. */
  seconds: number;
}

/**
 * How far the clock has to advance, because that of a session moves only on demand; null: no pod waits for a backoff. Pods whose backoff ends
 * within one period of the flush move together, as upstream.
 */
export function backoffWait(state: State): BackoffWait | null {
  const { queue } = state;
  const waiting: Queued[] = [...(queue.popsFromBackoffQ ? [] : queue.backoffQ.array), ...queue.errorBackoffQ.array];
  if (!waiting.length) return null;
  const ends = waiting.map((pod) => backoffLeft(pod, state));
  const first = Math.min(...ends);
  return { pods: waiting.length, seconds: Math.max(...ends.filter((end) => end < first + FLUSH_SECONDS)) };
}

/** Virtual seconds until a pod no longer backs off; 0: it does not. Upstream: isPodBackingoff */
export function backoffLeft(pod: Pick<Queued, "backoffExpirySeconds">, { queue, clockSeconds }: Pick<State, "queue" | "clockSeconds">): number {
  const expiry = pod.backoffExpirySeconds;
  const end = expiry && queue.popsFromBackoffQ ? expiry + ORDERING_WINDOW_SECONDS : expiry;
  return Math.max(end - clockSeconds, 0);
}

/** Whether the scheduler has nothing to do before the clock moves or the cluster changes. Upstream: v1.36 backoff_queue.go popBackoff */
export function hasNothingToSchedule({ queue, bindings, cycle }: State): boolean {
  const isQueueEmpty = queue.activeQ.size === 0 && !(queue.popsFromBackoffQ && queue.backoffQ.size);
  return isQueueEmpty && !bindings.length && (!cycle || Boolean(cycle.outcome));
}
