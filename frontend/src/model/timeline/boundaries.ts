import type { AnyEvent } from "../generated";

export type Unit = "mutation" | "stage" | "cycle";

export const UNITS: readonly Unit[] = ["mutation", "stage", "cycle"];

/** Events that change nothing visible. They are shown together with the previous event. */
const INVISIBLE = new Set<AnyEvent["t"]>(["commandDone", "clockAdvanced", "eventRecorded"]);

/** Whether an event changes nothing visible. */
export function isInvisible(event: AnyEvent): boolean {
  return INVISIBLE.has(event.t);
}

/**
 * The end of a step forward by `unit` that starts after `index` events, as a number of events. Null: these events contain no boundary, and
 * more may follow.
 */
export function boundaryAfter(events: readonly AnyEvent[], index: number, unit: Unit): number | null {
  for (let end = index + 1; end <= events.length; end++) if (isBoundary(events, end, unit)) return end;
  return null;
}

/** The end of a step back; null: there is no boundary before `index`. */
export function boundaryBefore(events: readonly AnyEvent[], index: number, unit: Unit): number | null {
  for (let end = index - 1; end > 0; end--) if (isBoundary(events, end, unit)) return end;
  return null;
}

/** Whether a step by `unit` may end after the first `end` events. */
function isBoundary(events: readonly AnyEvent[], end: number, unit: Unit): boolean {
  const next = events[end];
  if (next && isInvisible(next)) return false;
  switch (unit) {
    case "mutation":
      return lastVisible(events, end) >= 0;
    case "stage": {
      const last = events[lastVisible(events, end)];
      return last !== undefined && endsStage(last);
    }
    case "cycle":
      return next !== undefined && startsCycle(next) && hasEnded(events, end);
  }
}

function lastVisible(events: readonly AnyEvent[], end: number): number {
  let index = end - 1;
  while (index >= 0 && isInvisible(events[index]!)) index -= 1;
  return index;
}

/** Confirm, the last stage of a binding cycle, has no event of its own: it ends with the binding. */
function endsStage(event: AnyEvent): boolean {
  if (event.t === "bindingEnded") return event.outcome === "confirmed";
  return event.t === "stageEnded" || event.t === "bindingStageEnded" || event.t === "cycleEnded";
}

/** For a viewer, a cycle lasts until the next pod is popped: its binding and the watch event belong to it. */
function startsCycle(event: AnyEvent): boolean {
  return event.t === "cycleStarted" || (event.t === "queueMoved" && (event.moves ?? []).some((move) => move.popped));
}

/** Whether a cycle has ended since the last one started: `cycleStarted` follows the pop that starts a cycle. */
function hasEnded(events: readonly AnyEvent[], end: number): boolean {
  for (let index = end - 1; index >= 0; index--) {
    const event = events[index]!;
    if (event.t === "cycleEnded") return true;
    if (startsCycle(event)) return false;
  }
  return true;
}
