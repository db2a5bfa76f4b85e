/** Where a pod is in a run: `node` is "" while it is pending. Null: the run does not know it. */
interface Where {
  node: string;
}

interface Differing {
  pod: string;
  a: Where | null;
  b: Where | null;
}

export type ResultKind = "moved" | "placed" | "pending" | "added" | "gone";

/** What run B does differently from run A, as seen from one pod, and how many other pods differ in which way. */
export interface ComparisonResult {
  pod: string;
  kind: ResultKind;
  /** Its node in A and in B; "": none. */
  from: string;
  to: string;
  /** The number of other pods with another place. */
  others: number;
  /** All others have moved to another node. */
  othersMove: boolean;
  /** Several pods, all of which differ in this way: scheduled only in B (`placed`) or only in A (`pending`). Null: they differ in several ways. */
  alike: PodsAlike | null;
}

interface PodsAlike {
  kind: "placed" | "pending";
  count: number;
  /** The node that all of them have; "": several. */
  node: string;
}

/**
 * The result of a comparison; null: every pod has the same place. `first`: the pod of the first cycle that differs, which is told first if its
 * place differs. `moved`: the number of all pods on another node; `leftOut`: differing pods that are not listed.
 */
export function resultOf(differing: readonly Differing[], { first, moved, leftOut }: { first: string; moved: number; leftOut: number }): ComparisonResult | null {
  const lead = differing.find(({ pod }) => pod === first) ?? differing[0];
  if (!lead) return null;
  const kind = kindOf(lead);
  const others = differing.length - 1 + leftOut;
  const alike = leftOut ? null : alikeOf(differing, kind);
  return { pod: lead.pod, kind, from: lead.a?.node ?? "", to: lead.b?.node ?? "", others, othersMove: moved - (kind === "moved" ? 1 : 0) === others, alike };
}

function alikeOf(differing: readonly Differing[], kind: ResultKind): PodsAlike | null {
  if ((kind !== "placed" && kind !== "pending") || differing.length === 1 || differing.some((one) => kindOf(one) !== kind)) return null;
  const nodes = new Set(differing.map(({ a, b }) => (kind === "placed" ? b : a)?.node ?? ""));
  return { kind, count: differing.length, node: nodes.size === 1 ? [...nodes][0]! : "" };
}

function kindOf({ a, b }: Differing): ResultKind {
  if (!a) return "added";
  if (!b) return "gone";
  if (a.node && b.node) return "moved";
  return b.node ? "placed" : "pending";
}
