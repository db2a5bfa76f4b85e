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
  return { pod: lead.pod, kind, from: lead.a?.node ?? "", to: lead.b?.node ?? "", others, othersMove: moved - (kind === "moved" ? 1 : 0) === others };
}

function kindOf({ a, b }: Differing): ResultKind {
  if (!a) return "added";
  if (!b) return "gone";
  if (a.node && b.node) return "moved";
  return b.node ? "placed" : "pending";
}
