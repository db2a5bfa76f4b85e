/** The names of measures and of their columns. The English ones are those of schedviz/experiments/table.py. */
import { t, type MessageKey } from "../../i18n/translate";
import type { Column } from "../../model/experiments/results";

/** `nodesUsed` → `nodes used`, `utilization.cpu` → `utilization · cpu`. A measure of the user's own is named by its key. */
export function label({ key, measure }: Pick<Column, "key" | "measure">): string {
  const message = `experiments.measure.${measure}`;
  const known = t(message as MessageKey);
  const words = known !== message ? known : measure.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return key.length > measure.length ? `${words} · ${key.slice(measure.length + 1)}` : words;
}

/** As `label`, at the beginning of a sentence. */
export function heading(column: Pick<Column, "key" | "measure">): string {
  const text = label(column);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
