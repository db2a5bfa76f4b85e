import type { Comparison } from "../../api/compare";
import "../../i18n/compare";
import { language, plural, t } from "../../i18n/translate";
import type { ClusterChange } from "../../model/compare/clusterChanges";
import { shortKey } from "../../model/names";
import { printCount } from "../../model/text/quantity";
import { RELEASES } from "../../model/sessions/releases";
import { changeInWords } from "./changeInWords";

/** The most names in a sentence. */
const MAX_NAMES = 4;

/**
 * Why two runs part, if the reason is in the clusters or in their lengths, and not in a cycle of both: nodes that only one of them has, with the
 * pods that are placed there, and cycles that only one of them has run. "": another reason.
 */
export function whyInWords(comparison: Comparison): string {
  const { utilisation, placements, divergence } = comparison;
  const sentences: string[] = [];
  for (const [side, other] of [["b", "a"], ["a", "b"]] as const) {
    const nodes = utilisation.nodes.filter((node) => node[side] && !node[other]).map(({ node }) => node);
    if (!nodes.length) continue;
    sentences.push(plural("compare.why.nodes", nodes.length, { side: side.toUpperCase(), nodes: listed(nodes) }));
    const there = placements.pods.filter((pod) => nodes.includes(pod[side]?.node ?? "") && !pod[other]?.node).map(({ pod }) => shortKey(pod));
    if (there.length) sentences.push(plural("compare.why.pods", there.length, { pods: listed(there) }));
  }
  const { a = null, b = null } = divergence?.cycle ?? {};
  const only = a ?? b;
  if (only?.cycle === 1 && !(a && b) && isOfFork(comparison)) sentences.push(t("compare.why.onlyNew", { side: a ? "A" : "B" }));
  else if (only && !(a && b) && !sentences.length) sentences.push(t("compare.why.longer", { other: b ? "A" : "B", cycle: printCount(only.cycle), pod: shortKey(only.pod) }));
  return sentences.join(t("compare.why.between"));
}

/** What was changed in each side, or between two states of one session, since they were the same, and the releases if they differ. */
export function changesInWords(comparison: Comparison, changes: Readonly<Partial<Record<"a" | "b", ClusterChange>>>): string {
  const sentences: string[] = [];
  const release = comparison.settings.find(({ path }) => path === "release");
  if (release) sentences.push(t("compare.why.release", { a: releaseOf(release.a), b: releaseOf(release.b) }));
  for (const side of ["a", "b"] as const) {
    const change = changes[side];
    // A new node is named by `whyInWords`, with the pods that are placed there.
    if (!change || (isNewNode(change) && !change.others)) continue;
    const isOneSession = comparison.a.session === comparison.b.session;
    sentences.push(t(isOneSession ? "compare.why.changedBetween" : "compare.why.changed", { side: side.toUpperCase(), change: changeInWords(change) }));
  }
  return sentences.join(t("compare.why.between"));
}

function releaseOf(setting: unknown): string {
  return typeof setting === "string" ? setting : RELEASES[0];
}

function isNewNode({ command }: ClusterChange): boolean {
  return command.op === "create" && (command.object as { kind?: string }).kind === "Node";
}

/** Whether one side was forked to another release, so that the sides share no events. */
function isOfFork({ sharedOrigin, sharedEvent }: Comparison): boolean {
  return sharedOrigin === true && !sharedEvent;
}

function listed(names: readonly string[]): string {
  const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES - 1), t("compare.more.names", { count: names.length - MAX_NAMES + 1 })] : names;
  return language() === "en" ? new Intl.ListFormat("en", { type: "conjunction" }).format(shown) : shown.join("、");
}
