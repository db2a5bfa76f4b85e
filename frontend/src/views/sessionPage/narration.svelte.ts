import { plural, t } from "../../i18n/translate";
import { hasNothingToSchedule } from "../../model/queue/backoffWait";
import { triedNominatedOnly } from "../../model/cycle/cycleStages";
import type { CycleView, PodGroupCycleView } from "../../model/generated";
import { isClusterImport } from "../../model/sessions/importedFiles";
import { shortKey } from "../../model/names";
import { printCount } from "../../model/text/quantity";
import type { SessionStore } from "../../store/session/sessionStore.svelte";
import { eventInWords } from "../transport/sentences";

type Stages = typeof import("./stageInWords");

/** Describes what is smaller than a cycle; loaded with the first step. */
let stages = $state.raw<Stages | null>(null);

/** Load what describes single stages. Until then a cycle in progress is only named. */
export async function loadStageSentences(): Promise<void> {
  stages ??= await import("./stageInWords");
}

/**
 * What led to the shown moment, as a sentence, in the size of the step: an event, a stage, or the cycle. Reactive. `isConfirmation`: the moment is
 * where a lesson let the watch event of a binding arrive.
 */
export function narrationOf(store: SessionStore, isConfirmation = false): string {
  const state = store.reading;
  if (!state) return "";
  const { unit } = store.playback;
  const event = unit === "cycle" ? null : store.lastEvent;
  const ofBinding = event && stages?.bindingStageInWords(event, state.bindings.find(({ pod }) => "pod" in event && pod === event.pod)?.node ?? "");
  if (ofBinding) return ofBinding;
  const happened = unit === "mutation" && event && event.t !== "stageEnded" ? eventInWords(event) : "";
  if (happened) return happened;
  if (stages && isIdle(store)) return stages.idleInWords(state);
  const flushed = stages?.flushInWords(store.lastEvent, state);
  if (flushed) return flushed;
  if (state.podGroup) return groupInWords(state.podGroup);
  if (state.cycle) return (unit === "cycle" && stages?.bindingInWords(state.cycle, state, isConfirmation)) || cycleInWords(state.cycle);
  const { follows } = store.summary;
  if (follows?.detached === false) return t("narration.follows", { source: follows.source });
  return stages && isClusterImport(store.summary.report) ? stages.importInWords(state) : t("narration.none");
}

/** Whether the last command found nothing to schedule. */
function isIdle(store: SessionStore): boolean {
  return Boolean(store.connection.lastResult) && isAtRest(store);
}

/** Whether the newest moment is shown, and the scheduler has nothing to do at it. */
function isAtRest({ playback, running, reading }: SessionStore): boolean {
  return !playback.inThePast && !running && reading !== null && hasNothingToSchedule(reading);
}

/** Whether the scheduler has run and has nothing left to schedule. A followed cluster never ends. */
export function hasEnded(store: SessionStore): boolean {
  return store.summary.follows?.detached !== false && Boolean(store.reading?.cycle) && isAtRest(store);
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

function cycleInWords(view: CycleView): string {
  const { cycle, pod, outcome, node = "", message = "", feasibleNodes = 0, allNodes = 0 } = view;
  const values = { cycle: printCount(cycle), pod: shortKey(pod) };
  switch (outcome) {
    case "scheduled":
      if (triedNominatedOnly(view)) return t("narration.scheduled.nominated", { ...values, node });
      return plural("narration.scheduled", feasibleNodes, { ...values, node });
    case "unschedulable":
      if (allNodes === 0) return t("narration.unschedulable.none", values);
      return plural("narration.unschedulable", allNodes, values);
    case "error":
      return t("narration.error", { ...values, message });
    case "skipped":
      return t("narration.skipped", values);
    default:
      return t("narration.running", { ...values, what: stages?.stageInWords(view) || values.pod });
  }
}
