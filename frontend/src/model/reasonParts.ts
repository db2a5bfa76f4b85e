/** The parts of a bar that shows for how many nodes a scheduler message gives each reason. */
/** A part of the bar. The last one may be of nodes without a reason, whose `clause` is null. */
export interface ReasonPart<Clause> {
  clause: Clause | null;
  /** Nodes. */
  count: number;
  /** A CSS colour. */
  color: string;
  /** Whether to draw each node. */
  hasCells: boolean;
}

/** The reasons in the order in which they are listed, as on cards. All further ones are grey. */
const COLORS = ["var(--unschedulable)", "var(--unresolvable)", "var(--wait)", "var(--waterline)"];
const OTHER = "var(--skip)";
const NO_REASON = "var(--line-strong)";
/** More nodes than this are too narrow to be drawn one by one. */
const MAX_CELLS = 60;

export const reasonColor = (index: number): string => COLORS[index] ?? OTHER;

/** Empty if a bar says nothing: the message counts no nodes. Nodes that have several reasons are in several parts. */
export function reasonParts<Clause extends { count: number }>(clauses: readonly Clause[], nodes: number): ReasonPart<Clause>[] {
  const counted = clauses.filter(({ count }) => count > 0);
  if (!nodes || !counted.length) return [];
  const sum = counted.reduce((total, { count }) => total + count, 0);
  const hasCells = sum <= nodes && nodes <= MAX_CELLS;
  const parts: ReasonPart<Clause>[] = counted.map((clause) => ({ clause, count: clause.count, color: reasonColor(clauses.indexOf(clause)), hasCells }));
  if (sum < nodes) parts.push({ clause: null, count: nodes - sum, color: NO_REASON, hasCells });
  return parts;
}
