/** An entry of a pod's history, as far as it is needed here. */
interface Entry {
  event: number;
  cycle: number;
  t: string;
}

const API_CALLS = new Set(["apiCallChanged", "apiWritten"]);
const HINTS = new Set(["requeueConsidered", "preEnqueueRan"]);

/** v1.36: what a pod's history has between the start of a cycle and the pod's next one: API calls, and results of hints. Newest first. */
export function followUpsOf<E extends Entry>(entries: readonly E[], cycle: number): { apiCalls: E[]; hints: E[] } {
  const begins = entries.filter(({ t }) => t === "cycleStarted");
  const from = begins.find((entry) => entry.cycle === cycle)?.event ?? Infinity;
  const until = Math.min(...begins.map(({ event }) => event).filter((event) => event > from));
  const after = entries.filter(({ event }) => event > from && event < until);
  return { apiCalls: after.filter(({ t }) => API_CALLS.has(t)), hints: after.filter(({ t }) => HINTS.has(t)) };
}
