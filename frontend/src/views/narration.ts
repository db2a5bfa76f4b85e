import { plural, t } from "../i18n/translate";
import type { CycleView, PodGroupCycleView } from "../model/generated";
import { shortKey } from "../model/names";
import { printCount } from "../model/quantity";
import type { Scope } from "../store/scope.svelte";
import { eventInWords } from "./transport/sentences";

/** What led to the shown moment, as a sentence, in the size of the step: an event, or the cycle. Reactive. */
export function narrationOf(scope: Scope): string {
  const state = scope.reading;
  if (!state) return "";
  const event = scope.playback.unit === "mutation" ? scope.lastEvent : null;
  const happened = event ? eventInWords(event) : "";
  if (happened) return happened;
  if (state.podGroup) return groupInWords(state.podGroup);
  return state.cycle ? cycleInWords(state.cycle) : t("narration.none");
}

function groupInWords({ group, outcome = "", pods = [] }: PodGroupCycleView): string {
  const values = { group: shortKey(group), placed: pods.filter(({ node }) => node).length, pods: pods.length };
  switch (outcome) {
    case "scheduled":
      return t("narration.group.scheduled", values);
    case "unschedulable":
      return t("narration.group.unschedulable", values);
    default:
      return t("narration.group.running", values);
  }
}

function cycleInWords({ cycle, pod, outcome, node = "", message = "", nextStage = "", feasibleNodes = 0, allNodes = 0 }: CycleView): string {
  const values = { cycle: printCount(cycle), pod: shortKey(pod) };
  switch (outcome) {
    case "scheduled":
      return plural("narration.scheduled", feasibleNodes, { ...values, node });
    case "unschedulable":
      if (allNodes === 0) return t("narration.unschedulable.none", values);
      return plural("narration.unschedulable", allNodes, values);
    case "error":
      return t("narration.error", { ...values, message });
    case "skipped":
      return t("narration.skipped", values);
    default:
      return t("narration.running", { ...values, stage: nextStage });
  }
}
