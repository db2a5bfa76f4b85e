/** What a difference of a measure means, as a clause of a sentence: "uses 7.2 fewer nodes". As in schedviz/experiments/clauses.py. */
import { plural, t } from "../../i18n/translate";
import type { Column } from "../../model/experiments/results";
import { printDifference } from "../../model/experiments/text";
import { label } from "./measureNames";

const MEASURES = [
  "placed",
  "pending",
  "pendingReason",
  "nodesUsed",
  "nodesEmpty",
  "cost",
  "totalCost",
  "utilization",
  "stranded",
  "fragmentation",
  "zoneSkew",
  "nodeSpread",
  "victims",
  "pdbViolations",
  "waiting",
] as const;

/** What a difference of this mean is, after the name of a variant. */
export function clause(column: Column, mean: number): string {
  const change = printDifference({ mean, margin: null, count: 1 }, column.unit);
  const size = change.slice(1);
  const measure = MEASURES.find((each) => each === column.measure);
  if (!measure) return t("experiments.has", { change, label: label(column) });
  return t(mean > 0 ? `experiments.more.${measure}` : `experiments.less.${measure}`, {
    ...{ size, change, part: column.key.slice(column.measure.length + 1) },
    ...{ pods: noun("pods", size), nodes: noun("nodes", size) },
  });
}

function noun(unit: "pods" | "nodes", size: string): string {
  return plural(`experiments.noun.${unit}`, size === "1" ? 1 : 2);
}
