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

/** The reasons in the order in which they are listed, as on cards. All further ones are grey, and those that are not to be acted on. */
const COLORS = ["var(--unschedulable)", "var(--unresolvable)", "var(--wait)", "var(--waterline)"];
const OTHER = "var(--skip)";
const NO_REASON = "var(--line-strong)";
/** More nodes than this are too narrow to be drawn one by one. */
const MAX_CELLS = 60;

/** A reason: how many nodes it is about, and whether it stands apart, below those to act on. */
interface Reason {
  count: number;
  isAside?: boolean | undefined;
}

/** The colour of one of the reasons of a message. */
export function reasonColor<Clause extends Reason>(clauses: readonly Clause[], clause: Clause): string {
  return clause.isAside ? OTHER : COLORS[clauses.filter(({ isAside }) => !isAside).indexOf(clause)] ?? OTHER;
}

/** In the order of the list. Empty if a bar says nothing: the message counts no nodes. Nodes that have several reasons are in several parts. */
export function reasonParts<Clause extends Reason>(clauses: readonly Clause[], nodes: number): ReasonPart<Clause>[] {
  const counted = clauses.filter(({ count }) => count > 0).toSorted((a, b) => Number(a.isAside ?? false) - Number(b.isAside ?? false));
  if (!nodes || !counted.length) return [];
  const sum = counted.reduce((total, { count }) => total + count, 0);
  const hasCells = sum <= nodes && nodes <= MAX_CELLS;
  const parts: ReasonPart<Clause>[] = counted.map((clause) => ({ clause, count: clause.count, color: reasonColor(clauses, clause), hasCells }));
  if (sum < nodes) parts.push({ clause: null, count: nodes - sum, color: NO_REASON, hasCells });
  return parts;
}
