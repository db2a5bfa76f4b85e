import type { WatchInFlight } from "../generated";

/** A watch event in flight from the API server to the informers. */
export interface WatchEventInFlight {
  sent: WatchInFlight;
  /** The elapsed share of its latency: 0 to 1. */
  progress: number;
  leftSeconds: number;
}

/** The kind of a resource's objects: Pod for `pods`. Null: none of these kinds. */
export function kindOf(resource: string, kinds: Iterable<string>): string | null {
  for (const kind of kinds) {
    const singular = kind.toLowerCase();
    if (resource === `${singular}s` || resource === `${singular}es` || (singular.endsWith("y") && resource === `${singular.slice(0, -1)}ies`)) return kind;
  }
  return null;
}

/** The watch events in flight, the next to arrive first. An event whose latency is unknown has progress 0. */
export function watchEventsInFlight(inFlight: readonly WatchInFlight[], latencies: ReadonlyMap<string, number>, now: number): WatchEventInFlight[] {
  return inFlight
    .map((sent) => {
      const leftSeconds = Math.max(0, sent.dueSeconds - now);
      const kind = kindOf(sent.resource, latencies.keys());
      const latency = (kind === null ? undefined : latencies.get(kind)) ?? leftSeconds;
      return { sent, leftSeconds, progress: latency > 0 ? Math.max(0, Math.min(1, 1 - leftSeconds / latency)) : 1 };
    })
    .sort((a, b) => a.leftSeconds - b.leftSeconds);
}

/** The steps of the latency slider: fine where events overtake each other, coarse beyond. */
export const LATENCY_STEPS: readonly number[] = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300];

/** The step nearest to a latency. */
export function latencyStep(seconds: number): number {
  let nearest = 0;
  LATENCY_STEPS.forEach((step, i) => {
    if (Math.abs(step - seconds) < Math.abs(LATENCY_STEPS[nearest]! - seconds)) nearest = i;
  });
  return nearest;
}
