import "../../i18n/queries";
import "../../i18n/narration";
import { plural, t, type MessageKey } from "../../i18n/translate";
import { backoffWait } from "../../model/queue/backoffWait";
import { bindingOfCycle } from "../../model/cycle/bindingStages";
import { choseNominatedOnly, funnelOf } from "../../model/cycle/cycleStages";
import type { AnyEvent, CycleView } from "../../model/generated";
import { shortKey } from "../../model/names";
import { printCount, printSeconds } from "../../model/text/quantity";
import type { State } from "../../model/state/state";
import { pendingPods, waitingPods } from "../drawer/drawerFacts";

/** Upstream: internal/queue/events.go BackoffComplete */
const BACKOFF_COMPLETE = "BackoffComplete";
const BINDING_STAGES = new Set(["WaitOnPermit", "PreBindPreFlight", "PreBind", "Bind", "PostBind"]);

/** The last stage of a cycle in progress, as the end of a sentence; "": a stage without a sentence. */
export function stageInWords(cycle: CycleView): string {
  const last = cycle.stages?.at(-1);
  if (!last) return t("narration.stage.Pop", { pod: shortKey(cycle.pod) });
  const facts = last.facts ?? {};
  const { feasible, evaluated } = funnelOf(cycle);
  const node = [cycle.node, ...(cycle.stages ?? []).map((view) => view.facts?.["node"])].findLast((name) => typeof name === "string" && name !== "");
  const values = {
    pod: shortKey(cycle.pod),
    node: String(node ?? ""),
    feasible: printCount(feasible),
    evaluated: printCount(evaluated),
    tied: printCount(Number(facts["tied"] ?? 0)),
  };
  const key = `narration.stage.${last.stage}${formOf(last.stage, cycle, feasible, Number(facts["tied"] ?? 0))}` as MessageKey;
  const said = t(key, values);
  return said === key ? "" : said;
}

function formOf(stage: string, cycle: CycleView, feasible: number, tied: number): string {
  if (stage === "Filter") return feasible ? "" : ".none";
  if (stage === "SelectHost") return choseNominatedOnly(cycle) ? ".nominated" : feasible === 1 ? ".only" : tied > 1 ? ".tied" : "";
  if (stage === "Permit") return cycle.stages?.at(-1)?.statuses?.some(({ code }) => code === "Wait") ? ".wait" : "";
  return "";
}

/** The end of a binding's stage; "": another event. */
export function bindingStageInWords(event: AnyEvent, node: string): string {
  if (event.t === "bindingEnded") return event.outcome === "confirmed" ? t("narration.binding.Confirm", { pod: shortKey(event.pod), node: event.node }) : "";
  if (event.t !== "bindingStageEnded" || !BINDING_STAGES.has(event.stage)) return "";
  return t(`narration.binding.${event.stage}` as MessageKey, { pod: shortKey(event.pod), node });
}

/** The binding of the shown cycle's pod, once the API server has accepted it, and when a lesson lets its watch event arrive; "": anything else. */
export function bindingInWords(cycle: CycleView, state: State, isConfirmation: boolean): string {
  const phase = bindingOfCycle(cycle, state)?.phase;
  if (phase !== "written" && !(phase === "bound" && isConfirmation)) return "";
  return t(phase === "written" ? "narration.binding.written" : "narration.binding.bound", { pod: shortKey(cycle.pod), node: cycle.node ?? "" });
}

/** What an imported cluster is, before its scheduler runs. */
export function importInWords(state: State): string {
  const running = plural("narration.running.pods", state.podStates.size);
  if (!state.podStates.size && !pendingPods(state)) return t("narration.imported.none", { nodes: plural("why.nodes", state.nodeTree.numNodes) });
  if (!state.podStates.size) return t("narration.imported.pending", { nodes: plural("why.nodes", state.nodeTree.numNodes), pods: plural("narration.pending.pods", pendingPods(state)) });
  return t("narration.imported", { running, nodes: plural("why.nodes", state.nodeTree.numNodes), waiting: plural("narration.waiting", pendingPods(state)) });
}

/** The pods that the flush of backoffQ moved, after an event of that flush; "": another event. */
export function flushInWords(event: AnyEvent | null, { queue }: State): string {
  if (event?.t !== "queueMoved" || event.cause !== BACKOFF_COMPLETE) return "";
  const next = queue.activeQ.array[0];
  return next === undefined ? "" : plural("narration.flushed", queue.activeQ.size, { pod: shortKey(next.pod) });
}

/** Nothing is left that could be scheduled now: what the pods wait for. */
export function idleInWords(state: State): string {
  const wait = backoffWait(state);
  const gated = [...state.queue.unschedulable.values()].filter((pod) => pod.gated).length;
  const forChange = waitingPods(state) - (wait?.pods ?? 0) - gated;
  if (!wait) {
    if (!gated) return forChange ? plural("narration.idle", forChange) : t("narration.idle.none");
    return forChange ? plural("narration.idle.andGated", forChange, { gated: printCount(gated) }) : plural("narration.idle.gated", gated);
  }
  const forBackoff = wait.seconds ? plural("narration.backoff", wait.pods, { left: printSeconds(wait.seconds, 2) }) : plural("narration.flush", wait.pods);
  return forChange ? t("narration.backoff.and", { backoff: forBackoff, count: printCount(forChange) }) : forBackoff;
}
