import type { AnyEvent } from "./generated";

export type Unit = "mutation" | "stage" | "cycle";

export const UNITS: readonly Unit[] = ["mutation", "stage", "cycle"];

/** Events that change nothing that is drawn. They are revealed together with the one before them. */
const SILENT = new Set<AnyEvent["t"]>(["commandDone", "clockAdvanced", "eventRecorded"]);

/** Whether nothing that is drawn changes by it. */
export function isSilent(event: AnyEvent): boolean {
  return SILENT.has(event.t);
}

/** How many of the waiting events one step by `unit` reveals; all of them where no boundary is among them. */
export function revealed(waiting: readonly AnyEvent[], unit: Unit): number {
  const end = unit === "cycle" ? endOfCycle(waiting) : waiting.findIndex((event) => ends(event, unit)) + 1;
  return end > 0 ? withSilentTail(waiting, end) : waiting.length;
}

function ends(event: AnyEvent, unit: "mutation" | "stage"): boolean {
  if (unit === "mutation") return !isSilent(event);
  return event.t === "stageEnded" || event.t === "bindingStageEnded" || event.t === "cycleEnded";
}

/** A cycle goes on, for the eye, until the next pod is popped: its binding and the watch event belong to it. */
function endOfCycle(waiting: readonly AnyEvent[]): number {
  const ended = waiting.findIndex((event) => event.t === "cycleEnded");
  if (ended < 0) return 0;
  const next = waiting.findIndex((event, place) => place > ended && begins(event));
  return next < 0 ? waiting.length : next;
}

function begins(event: AnyEvent): boolean {
  return event.t === "cycleStarted" || (event.t === "queueMoved" && (event.moves ?? []).some((move) => move.popped));
}

function withSilentTail(waiting: readonly AnyEvent[], from: number): number {
  let end = from;
  while (end < waiting.length && isSilent(waiting[end]!)) end += 1;
  return end;
}
