/** What the commands of a case's fix change, in words. */
import "../../i18n/lessons";
import { t } from "../../i18n/translate";
import type { AnyCommand } from "../../model/generated";

/** "Added Node node-a1"; a pod that is deleted and created again is replaced. Commands that only pass time say nothing. */
export function fixInWords(commands: readonly AnyCommand[]): string {
  const done = new Map<string, "add" | "change" | "delete" | "replace">();
  for (const command of commands) {
    if (command.op === "create") {
      const what = nameOf(command.object);
      done.set(what, done.get(what) === "delete" ? "replace" : "add");
    } else if (command.op === "update") done.set(nameOf(command.object), "change");
    else if (command.op === "delete") done.set(`${command.kind} ${command.name}`, "delete");
  }
  return [...done].map(([what, how]) => t(`cases.did.${how}`, { what })).join("; ");
}

function nameOf(object: Record<string, unknown>): string {
  const { kind = "", metadata } = object as { kind?: string; metadata?: { name?: string } };
  return `${kind} ${metadata?.name ?? ""}`;
}
