import { t, type MessageKey } from "../../i18n/translate";
import type { AnyEvent, QueueMove } from "../../model/generated";
import type { Mark } from "../../model/timeline/marks";
import { shortKey } from "../../model/names";

const POP_FROM_BACKOFF = "PopFromBackoffQ";

/** Says the events that only v1.36 has, once its sessions have loaded it. */
let ofV136: ((event: AnyEvent) => string) | null = null;

export async function loadSentencesOfV136(): Promise<void> {
  ofV136 = (await import("./sentencesV136")).eventOfV136InWords;
}

/** An event as a sentence. */
export function eventInWords(event: AnyEvent): string {
  switch (event.t) {
    case "cachePod":
      return t(`happened.cachePod.${event.op}`, { pod: shortKey(event.pod), node: event.nodes?.[0]?.node ?? "" });
    case "cacheNode":
      return t(`happened.cacheNode.${event.op}`, { node: event.node });
    case "snapshotUpdated":
      return t("happened.snapshot", { visited: event.visited?.length ?? 0, cloned: event.cloned?.length ?? 0 });
    case "queueMoved":
      return moveInWords(event.moves ?? [], event.cause);
    case "podNominated":
      return t(event.node ? "happened.nominated" : "happened.notNominated", { pod: shortKey(event.pod), node: event.node ?? "" });
    case "cycleStarted":
      return t("happened.cycleStarted", { cycle: event.cycle ?? 0, pod: shortKey(event.pod) });
    case "stageEnded":
      return t("happened.stageEnded", { stage: event.stage });
    case "cycleEnded":
      return t(event.node ? "happened.cycleEnded.on" : "happened.cycleEnded", { cycle: event.cycle ?? 0, outcome: event.outcome, node: event.node });
    case "bindingStarted":
      return t("happened.bindingStarted", { pod: shortKey(event.pod), node: event.node });
    case "bindingStageEnded":
      return t("happened.bindingStageEnded", { pod: shortKey(event.pod), stage: event.stage });
    case "bindingEnded":
      return t(`happened.bindingEnded.${event.outcome}`, { pod: shortKey(event.pod), node: event.node });
    case "apiWritten":
      return writtenInWords(event.error ? "error" : event.verb, event.kind, event.key, event.subresource);
    case "watchSent":
      return t("happened.watchSent", { verb: event.verb, resource: event.resource, name: shortKey(event.key) });
    case "watchDelivered":
      return t("happened.watchDelivered", { verb: event.verb, resource: event.resource, name: shortKey(event.key) });
    case "restarted":
      return t("happened.restarted");
    default:
      return ofV136?.(event) ?? "";
  }
}

/** The same for a mark on the timeline, which has fewer details. */
export function markInWords(mark: Mark): string {
  const name = shortKey(mark.subject);
  switch (mark.lane) {
    case "cycles":
      return t("mark.cycle", { pod: name, outcome: mark.kind });
    case "preemption":
      return t(`mark.${mark.kind}` as MessageKey, { pod: name });
    case "queue":
      return queueInWords(mark.kind, name);
    case "binding":
      return t("mark.binding", { pod: name, outcome: mark.kind });
    case "nodes":
      return t("mark.cacheNode", { what: t(`mark.${mark.kind}` as MessageKey), name });
  }
}

function moveInWords(moves: readonly QueueMove[], cause: string): string {
  const first = moves[0];
  if (!first) return t("happened.queue.none", { cause });
  const queue = queueInWords(first.popped && !first.target ? "Pop" : (first.target ?? "left"), shortKey(first.pod));
  if (cause === POP_FROM_BACKOFF) return t("happened.queue.popFromBackoffQ", { pod: shortKey(first.pod) });
  const more = moves.length > 1 ? ` ${t("happened.queue.more", { count: moves.length - 1 })}` : "";
  return `${queue}${more}${cause && !first.popped ? ` (${cause})` : ""}`;
}

function queueInWords(kind: string, pod: string): string {
  if (kind === "Pop") return t("happened.queue.pop", { pod });
  if (kind === "left") return t("happened.queue.left", { pod });
  return t("happened.queue.to", { pod, queue: kind === "unschedulable" ? "unschedulablePods" : kind });
}

function writtenInWords(verb: string, kind: string, key: string, subresource = ""): string {
  const name = [kind, shortKey(key)].filter(Boolean).join(" ") + (subresource ? `/${subresource}` : "");
  if (verb === "error") return t("happened.api.error", { name });
  if (subresource === "binding") return t("happened.api.binding", { pod: shortKey(key) });
  return t(`happened.api.${verb === "patch" ? "update" : verb}` as MessageKey, { name });
}
