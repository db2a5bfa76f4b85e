/** The names of measures and of their columns. The English ones are those of schedviz/experiments/results/table.py. */
import { capitalized } from "../../i18n/phrase";
import { t, type MessageKey } from "../../i18n/translate";
import type { Column } from "../../model/experiments/results";

/** Measures of a resource, whose names say which: "stranded CPU", "memory fragmentation". */
const OF_RESOURCE = ["utilization", "meanUtilization", "nodeUtilization", "stranded", "fragmentation"];

/** The parts of columns that have words of the language. */
const PARTS = ["cpu", "memory", "all", "most", "mean", "max", "p10", "p50", "p90", "p99"] as const;

/** Parts that are an adjective of the measure. */
const STATISTICS = ["mean", "max"];

/** The columns that have a name of their own, instead of the names of the measure and of the part. */
const NAMED = ["attempts.all", "attempts.most", "waiting.p50", "waiting.p99", "waiting.max"] as const;

/** `nodesUsed` → `nodes used`, `utilization.cpu` → `CPU utilization of all nodes`. A measure of the user's own is named by its key. */
export function label({ key, measure }: Pick<Column, "key" | "measure">): string {
  const named = NAMED.find((each) => each === key);
  if (named) return t(`experiments.column.${named}`);
  const message = `experiments.measure.${measure}`;
  const known = t(message as MessageKey);
  const words = known !== message ? known : measure.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const part = key.slice(measure.length + 1);
  if (!part) return words;
  // "mean node spread", "max zone skew".
  if (STATISTICS.includes(part)) return t("experiments.measure.of", { part: partInWords(part), measure: words });
  if (!OF_RESOURCE.includes(measure)) return `${words} · ${part}`;
  if (measure === "stranded") return t("experiments.measure.of.stranded", { part: partInWords(part), measure: words });
  // "cpu p10": a resource and a statistic of it.
  const [resource = "", statistic] = part.split(" ");
  const ofResource = t("experiments.measure.of", { part: partInWords(resource), measure: words });
  return statistic ? `${ofResource} · ${partInWords(statistic)}` : ofResource;
}

/** The part of a column's key: resources of every node and statistics have words of the language, and other parts are named by their key. */
export function partInWords(part: string): string {
  const known = PARTS.find((each) => each === part);
  return known ? t(`experiments.part.${known}`) : part;
}

/** As `label`, at the beginning of a sentence. */
export function heading(column: Pick<Column, "key" | "measure">): string {
  return capitalized(label(column));
}
