/** What the commands of a case's fix change, in words. */
import "../../i18n/lessons";
import { t } from "../../i18n/translate";
import type { AnyCommand } from "../../model/generated";

const ZONE = "topology.kubernetes.io/zone";

type Verb = "add" | "change" | "delete" | "replace";

interface Change {
  verb: Verb;
  /** Such as "Node node-a1". */
  what: string;
  /** The zone of a node that is added; "": none, or something else. */
  zone: string;
}

/** "Added Node node-a1"; a pod that is deleted and created again is replaced. Commands that only pass time say nothing. */
export function fixInWords(commands: readonly AnyCommand[]): string {
  return changesOf(commands).map(({ verb, what }) => t(`cases.did.${verb}`, { what })).join("; ");
}

/** What a button that sends the commands does: "Add a node in zone-a", "Replace Pod small-1". "Apply the fix" if it changes several things, or none. */
export function buttonInWords(commands: readonly AnyCommand[]): string {
  const [change, ...others] = changesOf(commands);
  if (!change || others.length) return t("cases.apply");
  return change.zone ? t("cases.do.addNode", { zone: change.zone }) : t(`cases.do.${change.verb}`, { what: change.what });
}

function changesOf(commands: readonly AnyCommand[]): Change[] {
  const changes = new Map<string, Change>();
  const note = (verb: Verb, what: string, zone = ""): void => void changes.set(what, { verb, what, zone });
  for (const command of commands) {
    if (command.op === "create") {
      const { what, zone } = objectOf(command.object);
      note(changes.get(what)?.verb === "delete" ? "replace" : "add", what, zone);
    } else if (command.op === "update") note("change", objectOf(command.object).what);
    else if (command.op === "delete") note("delete", `${command.kind} ${command.name}`);
  }
  return [...changes.values()];
}

function objectOf(object: Record<string, unknown>): { what: string; zone: string } {
  const { kind = "", metadata } = object as { kind?: string; metadata?: { name?: string; labels?: Record<string, string> } };
  return { what: `${kind} ${metadata?.name ?? ""}`, zone: kind === "Node" ? (metadata?.labels?.[ZONE] ?? "") : "" };
}
