/** What a difference of a measure means, as a clause of a sentence: "uses 7.2 fewer nodes". As in schedviz/experiments/results/clauses.py. */
import { plural, t } from "../../i18n/translate";
import type { Column } from "../../model/experiments/results";
import { printDifference } from "../../model/experiments/text";
import { printCount } from "../../model/text/quantity";
import { label, partInWords } from "./measureNames";

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
  "attempts",
  "waiting",
] as const;

/** Smaller differences are given with a decimal. */
const MIN_ROUNDED = 1.5;

/** What a difference of this mean is, after the name of a variant. */
export function clause(column: Column, mean: number): string {
  const change = printDifference({ mean, margin: null, count: 1 }, column.unit);
  const size = roundedSize(mean, column.unit) ?? change.slice(1);
  const measure = MEASURES.find((each) => each === column.measure);
  if (!measure) return t("experiments.has", { change, label: label(column) });
  return t(mean > 0 ? `experiments.more.${measure}` : `experiments.less.${measure}`, {
    ...{ size, change, part: partInWords(column.key.slice(column.measure.length + 1)) },
    ...{ pods: noun("pods", size), nodes: noun("nodes", size) },
  });
}

/** "about 7" instead of 7.2 pods or nodes, which are whole; null: the size is exact, or too small to be rounded. */
function roundedSize(mean: number, unit: Column["unit"]): string | null {
  const size = Math.abs(mean);
  if ((unit !== "pods" && unit !== "nodes") || Number.isInteger(size) || size < MIN_ROUNDED) return null;
  return t("experiments.about", { size: printCount(Math.floor(size + 0.5)) });
}

function noun(unit: "pods" | "nodes", size: string): string {
  return plural(`experiments.noun.${unit}`, size === "1" ? 1 : 2);
}
