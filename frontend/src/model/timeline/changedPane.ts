import type { AnyEvent } from "../generated";

/** The pane that shows what an event changed; "": none of them, or several. */
export function changedPane(event: AnyEvent): "queue" | "cycle" | "cache" | "" {
  switch (event.t) {
    case "queueMoved":
    case "requeueConsidered":
    case "podNominated":
    case "preEnqueueRan":
      return "queue";
    case "cycleStarted":
    case "stageEnded":
    case "cycleEnded":
    case "bindingStarted":
    case "bindingStageEnded":
    case "bindingEnded":
    case "preemptionStarted":
    case "preemptionStageEnded":
    case "apiCallChanged":
      return "cycle";
    case "cachePod":
    case "cacheNode":
    case "snapshotUpdated":
      return "cache";
    default:
      return "";
  }
}
