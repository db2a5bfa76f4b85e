import type { AnyEvent, View } from "../generated";

/** The state of the engine, where commands apply, whichever moment is shown. */
export interface Head {
  event: number;
  clockSeconds: number;
  /** The running or last cycle; 0: none yet. */
  cycle: number;
  pod: string;
  /** The stage that comes next: an extension point, or one between them such as UpdateSnapshot; "": no cycle is running, or it has just begun. */
  nextStage: string;
}

export function headOf(view: View): Head {
  const { cycle } = view;
  return {
    event: view.event,
    clockSeconds: view.clockSeconds,
    cycle: cycle?.cycle ?? 0,
    pod: cycle?.pod ?? "",
    nextStage: cycle?.outcome ? "" : (cycle?.nextStage ?? ""),
  };
}

export function headAfter(head: Head, event: AnyEvent): Head {
  const now = { ...head, event: event.event, clockSeconds: event.at };
  switch (event.t) {
    case "cycleStarted":
      return { ...now, cycle: event.cycle ?? 0, pod: event.pod, nextStage: "" };
    case "stageEnded":
      return { ...now, nextStage: event.nextStage ?? "" };
    case "cycleEnded":
      return { ...now, nextStage: "" };
    case "restarted":
      return { ...now, cycle: 0, pod: "", nextStage: "" };
    default:
      return now;
  }
}
