import type { AnyEvent } from "./generated";

export type Unit = "mutation" | "stage" | "cycle";

export const UNITS: readonly Unit[] = ["mutation", "stage", "cycle"];

/** Events that change nothing that is drawn. They are shown together with the one before them. */
const SILENT = new Set<AnyEvent["t"]>(["commandDone", "clockAdvanced", "eventRecorded"]);

/** Whether nothing that is drawn changes by it. */
export function isSilent(event: AnyEvent): boolean {
  return SILENT.has(event.t);
}

/**
 * Where a step forward by `unit` ends that begins after `place` events: after so many events. Null: no boundary is among them, they may
 * go on.
 */
export function boundaryAfter(events: readonly AnyEvent[], place: number, unit: Unit): number | null {
  for (let end = place + 1; end <= events.length; end++) if (isBoundary(events, end, unit)) return end;
  return null;
}

/** Where a step back ends; null: no boundary is among the events before `place`. */
export function boundaryBefore(events: readonly AnyEvent[], place: number, unit: Unit): number | null {
  for (let end = place - 1; end > 0; end--) if (isBoundary(events, end, unit)) return end;
  return null;
}

/** Whether a step by `unit` may end after the first `end` events. */
function isBoundary(events: readonly AnyEvent[], end: number, unit: Unit): boolean {
  const next = events[end];
  if (next && isSilent(next)) return false;
  switch (unit) {
    case "mutation":
      return lastLoud(events, end) >= 0;
    case "stage": {
      const last = events[lastLoud(events, end)];
      return last !== undefined && endsStage(last);
    }
    case "cycle":
      return next !== undefined && begins(next) && hasEnded(events, end);
  }
}

function lastLoud(events: readonly AnyEvent[], end: number): number {
  let place = end - 1;
  while (place >= 0 && isSilent(events[place]!)) place -= 1;
  return place;
}

function endsStage(event: AnyEvent): boolean {
  return event.t === "stageEnded" || event.t === "bindingStageEnded" || event.t === "cycleEnded";
}

/** A cycle goes on, for the eye, until the next pod is popped: its binding and the watch event belong to it. */
function begins(event: AnyEvent): boolean {
  return event.t === "cycleStarted" || (event.t === "queueMoved" && (event.moves ?? []).some((move) => move.popped));
}

/** Whether a cycle ended since one began: the pop that begins one is followed by its cycleStarted. */
function hasEnded(events: readonly AnyEvent[], end: number): boolean {
  for (let place = end - 1; place >= 0; place--) {
    const event = events[place]!;
    if (event.t === "cycleEnded") return true;
    if (begins(event)) return false;
  }
  return true;
}
