import "../../i18n/compare";
import { plural, t, type MessageKey } from "../../i18n/translate";
import type { ClusterChange } from "../../model/compare/clusterChanges";

/** A change of the cluster in a few words: "Node added-1 created". */
export function changeInWords({ command, others }: ClusterChange): string {
  const said = t(`compare.change.${command.op === "cordon" && command.on === false ? "uncordon" : command.op}` as MessageKey, { what: objectOf(command) });
  return others ? plural("compare.change.and", others, { said }) : said;
}

function objectOf(command: ClusterChange["command"]): string {
  switch (command.op) {
    case "create":
    case "update": {
      const { kind = "", metadata = {} } = command.object as { kind?: string; metadata?: { name?: string } };
      return `${kind} ${metadata.name ?? ""}`.trim();
    }
    case "delete":
      return `${command.kind} ${command.name}`;
    case "cordon":
    case "drain":
      return `Node ${command.node}`;
    case "evict":
      return `Pod ${command.pod}`;
    default:
      return "";
  }
}
