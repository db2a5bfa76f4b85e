import "../../i18n/v136";
import { t } from "../../i18n/translate";
import type { AnyEvent, PreemptionStageEnded, RequeueConsidered } from "../../model/generated";
import { shortKey } from "../../model/names";

/** An event that only v1.36 has as a sentence; "": another event. */
export function eventOfV136InWords(event: AnyEvent): string {
  switch (event.t) {
    case "requeueConsidered":
      return requeueInWords(event);
    case "preEnqueueRan":
      return event.rejected ? t("happened.gated", { pod: shortKey(event.pod), plugin: event.rejected.plugin }) : t("happened.notGated", { pod: shortKey(event.pod) });
    case "inFlightChanged":
      return event.done ? t("happened.landed") : t("happened.inFlight", { what: (event.added ?? []).map((entry) => entry.event || shortKey(entry.pod ?? "")).join(", ") });
    case "preemptionStarted":
      return t("happened.preemptionStarted", { pod: shortKey(event.preemptor), node: event.node, count: event.victims.length });
    case "preemptionStageEnded":
      return preemptionInWords(event);
    case "apiCallChanged":
      return t(`happened.apiCall.${event.outcome}`, { pod: shortKey(event.pod), type: event.call?.type ?? "" });
    default:
      return "";
  }
}

function requeueInWords({ eventLabel, decisions = [] }: RequeueConsidered): string {
  const withHints = decisions.filter((decision) => decision.hints?.length);
  if (!withHints.length) return t(eventLabel === "AssignedPodAdd" ? "happened.considered.assigned" : "happened.considered", { label: eventLabel });
  const counted = (move: boolean): number => withHints.reduce((sum, decision) => sum + ((decision.queue != null) === move ? decision.pods.length : 0), 0);
  return t("happened.hints", { label: eventLabel, moved: counted(true), stayed: counted(false) });
}

function preemptionInWords({ preemptor, stage, victim = "", nextStage = "", error = "" }: PreemptionStageEnded): string {
  const values = { pod: shortKey(preemptor), victim: shortKey(victim), stage, error };
  if (error) return t("happened.preemption.failed", values);
  if (victim) return t(nextStage ? "happened.preemption.evicted" : "happened.preemption.ended", values);
  return t("happened.preemption.stage", values);
}
